"""Code, settings and API descriptions of a made-up system.

Settings, operations and fields that a story needs look like those around them.
"""

from random import Random

from trimtab.lab.tasks.material.names import SERVICES, code, service

_VERBS = (
    "apply",
    "build",
    "check",
    "close",
    "collect",
    "expand",
    "fetch",
    "load",
    "mark",
    "merge",
    "open",
    "parse",
    "pick",
    "resolve",
    "split",
    "store",
)
_NOUNS = (
    "batch",
    "claim",
    "draft",
    "entry",
    "event",
    "header",
    "item",
    "lease",
    "limit",
    "order",
    "page",
    "policy",
    "quote",
    "record",
    "shard",
    "window",
)
_SUFFIXES = (
    "Amount",
    "Cutoff",
    "Digest",
    "Epoch",
    "Flags",
    "Handle",
    "Index",
    "Kind",
    "Limit",
    "Mode",
    "Origin",
    "Phase",
    "Quota",
    "Ref",
    "Scope",
    "Token",
)
_KEYS = (
    "endpoint",
    "fallback",
    "interval",
    "limit",
    "mode",
    "owner",
    "pool",
    "profile",
    "region",
    "retries",
    "schema",
    "shard",
    "timeout",
    "topic",
)


def path(rng: Random) -> str:
    """A source file."""
    return f"src/{rng.choice(SERVICES)}/{rng.choice(_VERBS)}_{rng.choice(_NOUNS)}{rng.randint(1, 99)}.py"


def function(rng: Random) -> str:
    """The name of a function."""
    return f"{rng.choice(_VERBS)}_{rng.choice(_NOUNS)}_{rng.choice(_NOUNS)}"


def field_name(rng: Random) -> str:
    """The name of a field in an API, such as `settledQuoteRef4`."""
    return f"{rng.choice(_VERBS)}{rng.choice(_NOUNS).title()}{rng.choice(_SUFFIXES)}{rng.randint(2, 99)}"


def operation(rng: Random) -> str:
    """The name of an operation of an API, such as `mergeLeaseWindow.v7`."""
    return f"{rng.choice(_VERBS)}{rng.choice(_NOUNS).title()}{rng.choice(_NOUNS).title()}.v{rng.randint(2, 39)}"


def profile(rng: Random) -> str:
    """The name of a profile in the settings, such as `ledger-proxy-q27`."""
    return f"{service(rng)}-{code(rng, '@##').lower()}"


def client(rng: Random) -> str:
    """A client of an API, such as `ledger-proxy-c`."""
    return f"{service(rng)}-{rng.choice('abcdefgh')}"


def setting(rng: Random, key: str, value: str) -> str:
    """A line of a settings file."""
    return f"  {key}: {value}" + (
        f"  # {rng.choice(_NOUNS)} of the {rng.choice(SERVICES)} team" if rng.random() < 0.3 else ""
    )


def setting_line(rng: Random) -> str:
    """A section head or a setting that nobody asked about."""
    dice = rng.random()
    if dice < 0.2:
        return f"{service(rng)}:"
    if dice < 0.5:
        return setting(rng, f"{client(rng)}_profile", profile(rng))
    return setting(rng, f"{rng.choice(SERVICES)}_{rng.choice(_KEYS)}", str(rng.randint(1, 90_000)))


def operation_line(rng: Random, *, of: str = "", called: str = "") -> str:
    """A line of an API description: which operation a profile serves."""
    return f"- profile {of or profile(rng)} serves {called or operation(rng)} (since 20{rng.randint(27, 33)}, {rng.choice(SERVICES)} team)"


def field_line(rng: Random, *, of: str = "", called: str = "") -> str:
    """A line of a schema: which field of an operation carries what."""
    kind = rng.choice(("string", "integer", "decimal", "boolean", "timestamp"))
    need = rng.choice(("required", "optional", "optional, deprecated soon"))
    return f"{of or operation(rng)}  body.{rng.choice(_NOUNS)}  {called or field_name(rng)}  {kind}, {need}"


def source_line(rng: Random) -> str:
    """A line of source code, with its indentation."""
    a, b, c = rng.choice(_NOUNS), rng.choice(_NOUNS), rng.choice(_VERBS)
    shape = rng.randrange(8)
    if shape == 0:
        return f"\ndef {function(rng)}({a}: {a.title()}, *, {b}: int = {rng.randint(0, 99)}) -> {b.title()}:"
    if shape == 1:
        return f"    if {a}.{b} is None or {a}.{rng.choice(_VERBS)}_count > {rng.randint(2, 900)}:"
    if shape == 2:
        return f'        raise {a.title()}Error(f"no {b} for {{{a}.id!r}}")'
    if shape == 3:
        return f"    for {a} in {function(rng)}({b}, limit={rng.randint(2, 500)}):"
    if shape == 4:
        return f'    log.debug("{c} {a}", extra={{"{b}": {a}.{b}}})'
    if shape == 5:
        return f"    # The {b} has to be there before anybody can {c} the {a}."
    if shape == 6:
        return f"    {a}_{b} = {function(rng)}({a}, {b}.{rng.choice(_NOUNS)})"
    return (
        f'    return {a.title()}({b}={b}, {rng.choice(_NOUNS)}=settings["{rng.choice(SERVICES)}_{rng.choice(_KEYS)}"])'
    )
