"""Documents about customers and products: what a sales agent reads too much of."""

from random import Random

from trimtab.lab.tasks.material.names import amount, code, company, day, person, place, product
from trimtab.lab.tasks.material.prose import sentence

TRAITS = (
    "ingress rating",
    "operating range",
    "approval",
    "surface treatment",
    "firmware line",
    "spare part set",
    "packing unit",
    "service plan",
)
WISHES = (
    "budget ceiling",
    "delivery window",
    "framework number",
    "required approval",
    "delivery point",
    "contact for orders",
    "payment key",
)
_TRAIT_IS = (
    "{subject}: {what} {value}.",
    "The {what} of {subject} is {value}.",
    "{subject} is sold with {what} {value} only.",
    "From this year on {subject} carries the {what} {value}.",
)
_WISH_IS = (
    "{subject} told us that their {what} is {value}.",
    "On file for {subject}: {what} {value}.",
    "{what} of {subject}, as agreed on the phone: {value}.",
    "Please note for {subject} that the {what} is {value}.",
)
_SOFT = (
    "The visit at {place} went well and lasted longer than planned.",
    "{person} prefers to be called after lunch.",
    "They compared us with {company} and found our catalogue easier to read.",
    "A sample of the {product} was left with the workshop.",
    "The invoice of {day} was paid late, without any dispute.",
    "They would like to see the {product} in use before they decide.",
    "Photographs of the {product} are in the shared folder.",
    "{company} runs two sites and is about to open a third near {place}.",
)


def customer(rng: Random) -> str:
    """A customer at a place."""
    return f"{company(rng)} of {place(rng)}"


def article(rng: Random) -> str:
    """A product with its model number."""
    return f"the {product(rng)} {rng.randint(100, 999)}"


def trait_value(rng: Random) -> str:
    """What a trait of a product can be, such as `TR-884-KX`."""
    return code(rng, rng.choice(("TR-###-@@", "IPX#-####", "@@##/###-@", "REV-#####")))


def wish_value(rng: Random, what: str) -> str:
    """What a customer can insist on."""
    if what == WISHES[0]:
        return f"{amount(rng, 1_000, 90_000)} EUR"
    return code(rng, rng.choice(("FW-####-@@", "DP-####-#", "@@@-#####", "KEY-#####-@")))


def trait(rng: Random, subject: str, what: str, value: str) -> str:
    """Say what trait a product has."""
    return _capital(rng.choice(_TRAIT_IS).format(subject=subject, what=what, value=value))


def wish(rng: Random, subject: str, what: str, value: str) -> str:
    """Say what a customer insists on."""
    return _capital(rng.choice(_WISH_IS).format(subject=subject, what=what, value=value))


def note(rng: Random) -> str:
    """A sentence of a visit report or a data sheet; three of ten say something exact about somebody else."""
    dice = rng.random()
    if dice < 0.15:
        what = rng.choice(WISHES)
        return wish(rng, customer(rng), what, wish_value(rng, what))
    if dice < 0.3:
        return trait(rng, article(rng), rng.choice(TRAITS), trait_value(rng))
    if dice < 0.6:
        return sentence(rng)
    return rng.choice(_SOFT).format(
        place=place(rng), person=person(rng), company=company(rng), product=product(rng), day=day(rng)
    )


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
