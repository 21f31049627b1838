"""Secrets go, names and code stay."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.talk import hostile
from trimtab.context.summary import redact as shapes
from trimtab.context.summary.redact import redact

SECRETS = [
    ("key", "sk-ant-" + "a1B2c3D4" * 4),
    ("key", "sk_" + "live_" + "a1B2c3D4" * 3),
    ("token", "ghp_" + "a1B2c3D4" * 5),
    ("token", "github_pat_" + "a1B2c3D4" * 5),
    ("token", "glpat-" + "a1B2c3D4" * 3),
    ("token", "xoxb-" + "1234567890-abcdef"),
    ("token", "hf_" + "a1B2c3D4" * 4),
    ("key", "AKIA" + "ABCDEFGH12345678"),
    ("key", "AIza" + "a1B2c3D4" * 5),
    ("token", "eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl"),
]


@pytest.mark.parametrize(("kind", "secret"), SECRETS, ids=[s[:6] for _, s in SECRETS])
def test_a_known_shape_goes_wherever_it_stands(kind, secret):
    assert redact(f"before {secret} behind") == f"before [secret: {kind}] behind"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ('password = "correct horse"', 'password = "correct horse"'),
        ('password: "hunter2"', 'password: "[secret: value]"'),
        ("DB_PASSWORD=hunter22", "DB_PASSWORD=[secret: value]"),
        ("'api_key': 'AAAABBBB'", "'api_key': '[secret: value]'"),
        ("the password is hunter22", "the password is [secret: value]"),
        ("Authorization: Bearer abc123def456ghi", "Authorization: Bearer [secret: token]"),
        ("postgres://me:pa55@db/x", "postgres://[secret: password]@db/x"),
        ("redis://:pa55@db", "redis://[secret: password]@db"),
        ("amqp://u:p@55w0rd@mq:5672/v", "amqp://[secret: password]@mq:5672/v"),
        (
            "AccountName=a;AccountKey=" + "aB3/x+9Z" * 10 + "==;EndpointSuffix=core",
            "AccountName=a;AccountKey=[secret: value];EndpointSuffix=core",
        ),
        ("SharedAccessKey=" + "aB3dx9Z1" * 5 + "=", "SharedAccessKey=[secret: value]"),
        (
            "Server=db;User Id=me;Password=horse;Encrypt=yes",
            "Server=db;User Id=me;Password=[secret: value];Encrypt=yes",
        ),
        ("Pwd=horse;Server=db", "Pwd=[secret: value];Server=db"),
        ("https://x.blob/c?sv=1&sig=" + "aB3dx9Z1" * 4 + "%3D", "https://x.blob/c?sv=1&sig=[secret: token]"),
        ("AWS_SECRET_ACCESS_KEY=abc/def+123456", "AWS_SECRET_ACCESS_KEY=[secret: value]"),
    ],
)
def test_a_value_behind_a_telling_name_goes_and_the_name_stays(text, left):
    assert redact(text) == left


@pytest.mark.parametrize(
    "code",
    [
        "max_tokens=4096",
        "token = settings.token",
        "def login(password: str) -> None:",
        "tokens: 123456",
        "secret = os.environ['X']",
        "see https://example.com:8080/path",
        "pwd = os.getcwd(); print(pwd)",
        "PASSWORD=$(cat file); run",
        "rows.sort(key=lambda row: row.primary_key)",
        "task-list and risk-assessment-of-things",
        "a basic understanding",
    ],
)
def test_code_and_plain_words_stay(code):
    assert redact(code) == code


def test_a_private_key_goes_even_when_its_end_is_missing():
    begin = "-----BEGIN RSA " + "PRIVATE KEY-----"
    assert redact(f"x\n{begin}\nMIIEow\nAAAA") == "x\n[secret: private key]"


@given(hostile)
def test_redacting_twice_changes_nothing(text):
    whole = (
        f'{text} password={text}1a password: "{text}" Bearer {text};Password={text};x://a:{text}@h AccountKey={text}'
    )
    assert redact(redact(whole)) == redact(whole)


def searched_everywhere(text: str) -> str:
    """What `redact` has to come to: every pattern over every text, with no look at what the text holds first."""
    for shape in shapes._SHAPES:
        text = shape.pattern.sub(f"[secret: {shape.kind}]", text)
    for pattern in (shapes._KEYED, shapes._PAIR):
        text = pattern.sub(lambda match: f"{match['name']}[secret: value]", text)
    return shapes._ASSIGNED.sub(shapes._hide, text)


PIECES = [
    *(
        "password",
        "Passwd",
        "PWD",
        "passphrase",
        "secret",
        "SECRET_KEY",
        "credentials",
        "api-key",
        "ApiKey",
        "access_key",
        "auth",
    ),
    *(
        "token",
        "tokens_id",
        "AccountKey",
        "sharedaccesskey",
        "primaryKey",
        "pa\u017f\u017fword",
        "\u212aey",
        "to\u212aen",
    ),
    *("=", ":", "=>", " is ", " ", ";", "\n", '"', "'", "://", "@", "?sig=", "Bearer "),
    *("hunter22", "correct horse", "a1B2c3D4a1B2c3D4", "yes", "value", "[secret: value]"),
    *(secret for _, secret in SECRETS),
]


@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_what_is_passed_over_unsearched_holds_no_secret(text):
    assert redact(text) == searched_everywhere(text)
    assert redact(long := text + " " * 300) == searched_everywhere(long) == redact(long)
