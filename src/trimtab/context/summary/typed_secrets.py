"""Passwords as people type them into commands: glued to an option, behind one, in a variable in front, in a header.

    mysql -pX · sshpass -p X · redis-cli -a X · curl -u me:X · docker login -p X · PGPASSWORD=X · --password=X · Authorization: Basic X

What an option means depends on its program: `-p` is a password for mysql, a port for ssh and a wish for mkdir. So the program stands in each
pattern, with no end of a command between. The one rule: a variable (`-p$PW`) is no secret, and what was taken out once is not taken out again.
"""

import re
from dataclasses import dataclass

_VALUE = r"""(?! ["']?\[secret: | "?\$[\w{(] )  (?: '[^'\n]{1,200}' | "[^"\n]{1,200}" | [^\s"',;|&()<>\[\]`]{1,200} )"""
_GLUED = rf"""(?! \s | ["']?, | ["'][\s\]] ) {_VALUE}"""
_BETWEEN = r"""["']?,? [^\n;|&]{0,300}?"""
"""Other words of the same command, in a list of quoted words too."""
_AT_OPTION = r"""(?<=[\s"'])"""
_THEN = r"""(?: ["']?,?\s{1,3} | = )["']?"""
"""Between an option and its value."""


@dataclass(frozen=True, slots=True)
class _Typed:
    """Without one of the `hints` (lower case) a text holds none, and isn't searched."""

    hints: tuple[str, ...]
    pattern: re.Pattern[str]


def _program(names: str, option: str, *hints: str, value: str = _VALUE) -> _Typed:
    """`option` of the programs `names`, and what stands behind it."""
    name = rf"(?P<name> (?<![\w.-]) (?: {names} ) {_BETWEEN} {_AT_OPTION} {option} )"
    return _Typed(hints, re.compile(f"{name} {value}", re.X))


_NAMES = r"(?:\w[\w-]{0,40}-)?(?:password|passwd|passphrase|secret|api-?key|auth-?token|token|storepass|keypass)"
_ENDS = (
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "_PASS",
    "SSHPASS",
    "_PWD",
    "_SECRET",
    "SECRET_ACCESS_KEY",
    "API_KEY",
    "APIKEY",
    "_TOKEN",
    "CLI_AUTH",
)
_ASSIGNED = "|".join(_ENDS)
_SCHEMES = r"Basic|Bearer|Token|Digest|ApiKey"
_TYPED = (
    _program(
        r"""(?:mysql|mariadb)(?:[a-z-][\w-]{0,20}|(?=["']|\s+(?:[\w.]+\s+)?-))""",
        "-p",
        "mysql",
        "mariadb",
        value=_GLUED,
    ),
    _program(r"7z[arz]?|(?:un)?rar", "-h?p", "7z", "rar ", 'rar"', value=_GLUED),
    _program(r"sshpass|mongo[a-z]{0,10}|cqlsh", rf"-p{_THEN}", "sshpass", "mongo", "cqlsh"),
    _program(r"sshpass|mongo[a-z]{0,10}", "-p", "sshpass", "mongo", value=_GLUED),
    _program(r"redis-cli|valkey-cli", rf"-a{_THEN}", "redis-cli", "valkey-cli"),
    _program(
        r"zip|unzip|sqlcmd|bcp|tsql|mosquitto_\w{3,4}|ipmitool",
        rf"-P{_THEN}",
        *("zip", "sql", "bcp", "mosquitto_", "ipmitool"),
    ),
    _program(r"ldap[a-z]{3,10}", rf"-w{_THEN}", "ldap"),
    _program(r"""(?:docker|podman|nerdctl|buildah|skopeo|oc|az|registry)[\s"',]{1,4}login""", rf"-p{_THEN}", "login"),
    _program("curl", rf"""(?:-u|-U|--user|--proxy-user){_THEN}[^\s:"',]{{1,64}}:""", "curl"),
    _program("smbclient|rpcclient", rf"""-U{_THEN}[^\s%"',]{{1,64}}%""", "smbclient", "rpcclient"),
    _program("lftp", rf"""-u{_THEN}[^\s,"']{{1,64}},""", "lftp"),
    _program("openssl", rf"-pass(?:in|out)?{_THEN}pass:", "openssl"),
    _program("htpasswd", r"-\w*b\w*\s+\S{1,200}\s+\S{1,100}\s+", "htpasswd"),
    _Typed(
        tuple(f"{name.lower()}=" for name in _ENDS),
        re.compile(
            rf"""(?P<name> (?<![\w$]) (?: [A-Z][A-Z0-9_]{{0,60}}? )? (?:{_ASSIGNED}) = )
            (?! ["']?\[secret: | "?\$ )  (?: '[^'\n]{{1,200}}' | "[^"\n]{{1,200}}" | [^\s"',;|&()<>\[\]{{}}`]{{3,200}}+ ) (?= [\s"';|&] | $ )""",
            re.X,
        ),
    ),
    _Typed(
        ("-passw", "-passphrase", "-secret", "-api", "-auth", "-token", "-storepass", "-keypass"),
        re.compile(
            rf"""(?P<name> (?<![\w-]) --?{_NAMES} (?: = | {_THEN} (?=[^\s"']{{0,200}}\d) (?=[^\s"']{{0,200}}[A-Za-z]) ) ) {_VALUE}""",
            re.X,
        ),
    ),
    _Typed(
        ("authorization",),
        re.compile(
            rf"""(?P<name> \bauthorization \\{{0,3}}["']? \s{{0,3}} [:=] \s{{0,3}} \\{{0,3}}["']? (?:{_SCHEMES}) \s{{1,3}} )
            (?!\[secret:|\$) [^\s"'\\,;]{{4,2000}}""",
            re.X | re.I,
        ),
    ),
    _Typed(
        ("_authtoken=", "_auth=", "_password="),
        re.compile(rf"(?P<name> :_(?:authToken|auth|password)= ) {_VALUE}", re.X),
    ),
)


def without_typed(text: str, lower: str) -> str:
    """Return `text`, whose lower case is `lower`, with each of them replaced by `[secret: value]`."""
    for typed in _TYPED:
        if any(hint in lower for hint in typed.hints):
            text = typed.pattern.sub(_hidden, text)
    return text


def _hidden(match: re.Match[str]) -> str:
    return f"{match['name']}[secret: value]"
