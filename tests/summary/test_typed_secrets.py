"""Passwords that were typed into commands: what an option means is its program's to say."""

import pytest

from trimtab.context.summary.redact import redact

GONE = "[secret: value]"


@pytest.mark.parametrize(
    "text",
    [
        "mysql -p{}",
        "mysql -u root -p'{}' db",
        'mysqldump --host h -p"{}" db',
        "mysql shop -u me -p{} -e 'select 1'",
        '["mysql", "-u", "root", "-p{}"]',
        "sshpass -p {} ssh h",
        "sshpass -p{} ssh h",
        "sshpass -p '{}' ssh h",
        '["sshpass", "-p", "{}", "ssh", "h"]',
        "redis-cli -h h -a {} ping",
        "mongosh -u a -p {} h",
        "docker login -u me -p {} host",
        "az login -u a -p {}",
        "zip -P {} a.zip b",
        "7z x -p{} a.7z",
        "unrar x -hp{} a.rar",
        "sqlcmd -S h -U sa -P {}",
        "ldapsearch -D cn=a -w {} -b x",
        "curl -sS -u me:{} http://h",
        "curl --user me:{} h",
        "smbclient //h/s -U me%{}",
        "lftp -u me,{} h",
        "openssl rsa -in k -passin pass:{}",
        "htpasswd -bc f me {}",
        "mosquitto_pub -u a -P {} -t x",
        "ipmitool -H h -U a -P {} power",
        "PGPASSWORD={} psql -h h",
        "MYSQL_PWD='{}' mysql",
        "export DB_PASS={}",
        "SSHPASS={} sshpass -e ssh h",
        "REDISCLI_AUTH={} redis-cli",
        "AWS_SECRET_ACCESS_KEY={}",
        "psql --password={} h",
        "tool --api-key={}",
        "Authorization: Bearer {}",
        "-H 'authorization: token {}'",
        '"Authorization": "Basic {}"',
        "npm config set //r/:_authToken={}",
        '{{\\"password\\": \\"{}\\"}}',
    ],
)
def test_a_password_in_a_command_goes_and_the_rest_stays(text: str) -> None:
    left = redact(text.format("hunterzwei"))
    assert "hunterzwei" not in left
    assert GONE in left
    before, _, after = text.replace("{{", "{").replace("}}", "}").partition("{}")
    assert left.startswith(before.rstrip("'\""))
    assert left.endswith(after.lstrip("'\""))
    assert redact(left) == left


@pytest.mark.parametrize(
    "text",
    [
        "mkdir -p a/b/hunter2",
        "ssh -p 2222 me@h",
        "ssh -p22 h",
        "docker run -p 8080:80 img2",
        "cp -p a1 b1",
        "git log -p --stat",
        "patch -p1 < f.patch",
        "ps -p 1234",
        "mysql -u root -p",
        "mysql -p$PW db",
        'mysql -p"$PW" db',
        "mysql -P 3306 db",
        "the mysql server is slow, see -print0",
        "redis-cli -h h -p 6379 ping",
        "grep -a pattern2 file",
        "zip -r a.zip b",
        "unzip -p a.zip",
        "curl -u me http://h",
        "curl -o a:b1 http://h",
        "scp -P 2222 a h:b",
        "PGPASSWORD=$PW psql",
        'PGPASSWORD="$PW" psql',
        "TOKEN=$(cat f1)",
        "run(API_KEY=key)",
        "PWD=/home/x1",
        "use --password to be asked for it",
        "the Authorization: header",
    ],
)
def test_an_option_of_another_program_and_a_variable_stay(text: str) -> None:
    assert redact(text) == text


@pytest.mark.parametrize(
    "word", ["mysql ", 'mysqldump "', "curl -u ", "htpasswd -b ", "--a-", "A_", "authorization: basic "]
)
def test_words_that_begin_a_pattern_over_and_over_take_no_time_to_speak_of(word: str) -> None:
    text = word * 2_000 + "password=1_PASS=-password token"
    assert len(redact(text)) > 1_000
