"""Prose of reports and handbooks: sentences, paragraphs, findings.

A finding says something exact about a subject. Those that a story needs and those that nobody needs come out of the same templates.
"""

from random import Random

from trimtab.lab.tasks.material.names import amount, day, person, place

WORKS = (
    "pumping station",
    "retaining wall",
    "footbridge",
    "substation",
    "cold store",
    "sorting hall",
    "settling basin",
    "signal box",
    "boiler house",
    "weir",
    "service tunnel",
    "loading dock",
    "water tower",
    "transfer line",
    "culvert",
    "control room",
)
QUANTITIES = (
    ("design flow", "l/s"),
    ("permitted load", "kN"),
    ("annual demand", "MWh"),
    ("leakage", "m3"),
    ("replacement cost", "EUR"),
    ("storage volume", "m3"),
    ("noise budget", "units"),
    ("peak throughput", "t/h"),
    ("insured value", "EUR"),
    ("chloride load", "kg"),
)
_VERBS = (
    "postpone",
    "approve",
    "reject",
    "split",
    "re-tender",
    "shorten",
    "halt",
    "bring forward",
    "reassign",
    "scale back",
    "combine",
    "waive",
)
_THINGS = (
    "the lining works",
    "the second inspection",
    "the valve replacement",
    "the drainage contract",
    "the concrete survey",
    "the access road",
    "the telemetry upgrade",
    "the night shift trial",
    "the spare parts order",
    "the asbestos check",
    "the pile test",
    "the coating programme",
    "the insurance review",
    "the crane hire",
    "the cable renewal",
)
_TERMS = (
    "until the spring readings are signed off",
    "on condition that the river authority agrees",
    "at the contractor's own expense",
    "with a cap of {n} working days",
    "before the school term begins",
    "without exceeding {n} hours of closure",
    "once all {n} neighbours have answered",
    "under the framework of the previous year",
    "only for sections north of marker {n}",
    "as soon as the permit is renewed",
    "for the remaining {n} metres",
    "after reading number {n}",
    "with a report every {n} days",
    "subject to a noise measurement",
)
_AMOUNT_IS = (
    "For {subject} the {quantity} is {value}.",
    "The {quantity} of {subject} was established at {value}.",
    "Measured over the whole season, {subject} shows a {quantity} of {value}.",
    "We put the {quantity} at {subject} down as {value}, which the audit confirmed.",
    "As to {subject}: {quantity}, {value} (final account).",
    "It follows from the second series that {subject} has a {quantity} of {value}.",
)
_DECIDED = (
    "The panel resolved to {value} at {subject}.",
    "For {subject} the conclusion is to {value}.",
    "After some debate it was agreed, for {subject}, to {value}.",
    "The recommendation that carried, on {subject}, was to {value}.",
    "Nothing in the appendix speaks against it: at {subject} the board will {value}.",
)
_RESPONSIBLE = (
    "Responsibility for {subject} lies with {value}.",
    "Questions about {subject} go to {value}, who signed the survey.",
    "{value} keeps the records of {subject} and answers for them.",
    "The inspection of {subject} was led by {value}.",
)
_DRAFTED = (
    "An earlier draft gave {value} for {subject}, which the authors withdrew.",
    "The provisional figure for {subject}, {value}, should not be quoted.",
    "Where older copies say {value} about {subject}, they predate the audit.",
)
_OPENERS = (
    "In the year under review",
    "As in earlier years",
    "During the wet weeks",
    "Between the two surveys",
    "At the northern end",
    "For the most part",
    "Once the scaffolding was down",
    "According to the site diary",
    "With few exceptions",
    "From the second quarter on",
)
_SUBJECTS = (
    "the crew",
    "the contractor",
    "the monitoring group",
    "the local office",
    "the design team",
    "the night shift",
    "the surveyors",
    "the estate department",
    "the operator",
    "the drainage board",
    "the supplier",
    "the reviewer",
)
_ACTIONS = (
    "replaced the worn seals and noted no further movement",
    "found the joints dry and the coating intact",
    "kept to the interval that the manual asks for",
    "moved the gauges by a few metres to spare them from traffic",
    "reported that access was blocked for part of the morning",
    "compared the readings with those of the neighbouring site",
    "repeated the measurement because the first one had been disturbed",
    "asked for drawings that could not be found in the archive",
    "cleared the intake of branches and silt",
    "trained two more people on the new equipment",
    "agreed on a shared calendar with the road authority",
    "left the question of ownership open",
    "closed the remaining remarks of the previous audit",
    "described the odd noise as harmless",
)
_TAILS = (
    "",
    "",
    "",
    ", as the photographs show",
    ", although the weather was poor",
    ", which took two days",
    ", in line with the guideline",
    ", so that no claim arose",
    ", and said so in the minutes",
    ", without extra cost",
)


def site(rng: Random) -> str:
    """A thing that reports are about, such as `the Harrow Mill pumping station`."""
    return f"the {place(rng)} {rng.choice(WORKS)}"


def quantity(rng: Random) -> tuple[str, str]:
    """What was measured, and a value of it with its unit."""
    name, unit = rng.choice(QUANTITIES)
    return name, f"{amount(rng, 1_000, 99_000)} {unit}"


def decision(rng: Random) -> str:
    """What was decided, as what follows `to`."""
    return f"{rng.choice(_VERBS)} {rng.choice(_THINGS)} {rng.choice(_TERMS).format(n=rng.randint(11, 99))}"


def amount_is(rng: Random, subject: str, what: str, value: str) -> str:
    """Say that a quantity of a subject has a value."""
    return _capital(rng.choice(_AMOUNT_IS).format(subject=subject, quantity=what, value=value))


def decided(rng: Random, subject: str, value: str) -> str:
    """Say what was decided about a subject."""
    return rng.choice(_DECIDED).format(subject=subject, value=value)


def responsible(rng: Random, subject: str, value: str) -> str:
    """Say who answers for a subject."""
    return rng.choice(_RESPONSIBLE).format(subject=subject, value=value)


def drafted(rng: Random, subject: str, value: str) -> str:
    """Say that something about a subject was withdrawn."""
    return rng.choice(_DRAFTED).format(subject=subject, value=value)


def sentence(rng: Random) -> str:
    """A sentence that says nothing exact."""
    return f"{rng.choice(_OPENERS)}, {rng.choice(_SUBJECTS)} {rng.choice(_ACTIONS)}{rng.choice(_TAILS)}."


def finding(rng: Random) -> str:
    """A finding about anything: a decoy."""
    subject = site(rng)
    kind = rng.randrange(4)
    if kind == 0:
        return decided(rng, subject, decision(rng))
    if kind == 1:
        return responsible(rng, subject, person(rng))
    what, value = quantity(rng)
    return amount_is(rng, subject, what, value) if kind == 2 else drafted(rng, subject, value)


def paragraph(rng: Random) -> str:
    """A few sentences, among them a finding in two of three paragraphs."""
    said = [sentence(rng) for _ in range(rng.randint(2, 5))]
    if rng.random() < 0.66:
        said.insert(rng.randint(0, len(said)), finding(rng))
    if rng.random() < 0.1:
        said.append(f"The next visit is set for {day(rng)}.")
    return " ".join(said)


def around(rng: Random, key: str) -> str:
    """A paragraph with `key` as one of its sentences."""
    said = [sentence(rng) for _ in range(rng.randint(0, 3))]
    said.insert(rng.randint(0, len(said)), key)
    return " ".join(said)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
