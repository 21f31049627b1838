"""Names, codes and amounts: what can be mistaken for each other.

Key points and the decoys around them are drawn by the same functions, so nothing about the form of a code says which one matters.
"""

from collections.abc import Callable
from random import Random


def _words(text: str, *, by: str = " ") -> tuple[str, ...]:
    return tuple(text.split(by))


FIRST = _words(
    "Ada Anouk Bela Bram Carys Chidi Dagny Davor Edda Elio Farah Fergus Greta Hamid Ilse Imre Jonas Juno Kaya Kofi Lena Lucan Maeve Milos Nadia "
    "Nils Oona Orla Pavel Petra Quim Rania Rolf Sade Soren Tamar Teo Ulla Vigo Wanda Yara Zeno"
)
LAST = _words(
    "Abara Almqvist Bakker Barros Castell Cernik Dahl Duarte Eklund Erdem Falk Ferrand Garrick Haldane Holub Ibarra Jansen Kessler Kovac Lindqvist "
    "Marchetti Moreau Nakata Novak Okafor Ostrow Pellegrin Quist Radley Rossi Sandoval Strand Tamm Thorne Urbina Varga Vestergaard Wynne Yilmaz Zeller"
)
PLACES = _words(
    "Alder Reach|Ash Bridge|Barrow Lane|Birch Hollow|Brook End|Cinder Hill|Coldwater|Copper Row|Dune Point|East Quay|Elm Cross|Fallow Field|Fern Bank|"
    "Flint Street|Gull Rock|Harrow Mill|Heron Wharf|High Moor|Iron Gate|Juniper Way|Kestrel Park|Kiln Yard|Larch Ridge|Lower Mere|Marl Pit|Mill Race|"
    "North Lock|Oak Spur|Old Tannery|Otter Weir|Pebble Cove|Quarry Side|Reed Fen|Rook Tower|Saddle Pass|Salt Works|Slate Edge|South Pier|Stone Ford|"
    "Thorn Gate|Upper Glen|Vine Court|West Basin|Willow Tarn|Wren Corner|Yew Terrace",
    by="|",
)
COMPANY_HEADS = _words(
    "Aster Boreal Calder Delphin Ember Fathom Gannet Hollin Ivory Jasper Keel Lumen Mistral Nimbus Orchard Pallas Quill Rowan Sable Tundra Umber "
    "Vantage Wicket Xylo Yarrow Zephyr"
)
COMPANY_TAILS = (
    "Foods",
    "Freight",
    "Instruments",
    "Labs",
    "Logistics",
    "Marine",
    "Optics",
    "Paper",
    "Rail",
    "Retail",
    "Textiles",
    "Works",
)
SERVICES = _words(
    "billing cart catalog checkout consent courier credit dispatch export fraud gateway geocode identity image import inventory invoice ledger mailer "
    "media notify offers orders payout planner pricing profile quota rating refund relay render returns router search session shipment stock tax "
    "tenant tracker upload vault voucher webhook"
)
PARTS = (
    "api",
    "cache",
    "consumer",
    "core",
    "cron",
    "edge",
    "indexer",
    "proxy",
    "reader",
    "scheduler",
    "sync",
    "worker",
    "writer",
)
GOODS = _words(
    "ball valve|bench clamp|cable drum|carton sealer|chain hoist|coolant hose|desk lamp|dock plate|door closer|drill chuck|dust filter|ear defenders|"
    "fan belt|feed roller|flange gasket|floor scale|foil wrap|fuse holder|gear pump|glass cutter|hand truck|heat sink|hinge set|label printer|"
    "lens cloth|limit switch|lock washer|motor mount|needle bearing|oil can|pallet jack|paper guide|pipe bracket|power strip|relay socket|"
    "safety glove|sensor cable|shelf bracket|spray nozzle|steel rule|strap buckle|thermal pad|thread tape|tool tray|torque wrench|valve stem|"
    "wall anchor|wire brush|work light|zip bag",
    by="|",
)
FINISHES = (
    "black",
    "blue",
    "brushed",
    "clear",
    "compact",
    "green",
    "grey",
    "heavy",
    "long",
    "narrow",
    "red",
    "short",
    "white",
    "wide",
    "zinc",
)
LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ"


def person(rng: Random) -> str:
    """A first name, an initial and a last name."""
    return f"{rng.choice(FIRST)} {rng.choice(LETTERS)}. {rng.choice(LAST)}"


def company(rng: Random) -> str:
    """A company."""
    return f"{rng.choice(COMPANY_HEADS)} {rng.choice(COMPANY_TAILS)}"


def place(rng: Random) -> str:
    """A place."""
    return rng.choice(PLACES)


def service(rng: Random) -> str:
    """A service of a system, such as `stock-writer`."""
    return f"{rng.choice(SERVICES)}-{rng.choice(PARTS)}"


def product(rng: Random) -> str:
    """Something that a warehouse holds, such as `zinc lock washer`."""
    return f"{rng.choice(FINISHES)} {rng.choice(GOODS)}"


def code(rng: Random, pattern: str) -> str:
    """Fill a pattern: `#` a digit, `@` a capital, `&` a hexadecimal digit; the rest stays."""
    return "".join(_SLOTS[c][rng.randrange(len(_SLOTS[c]))] if c in _SLOTS else c for c in pattern)


_SLOTS = {"#": "0123456789", "@": LETTERS, "&": "0123456789abcdef"}


def amount(rng: Random, low: int = 1_000, high: int = 9_000_000) -> str:
    """A sum with two decimals and thousands, such as `48,213.77`."""
    return f"{rng.randint(low, high):,}.{rng.randint(0, 99):02d}"


def day(rng: Random) -> str:
    """A date, such as `2031-04-17`."""
    return f"{rng.randint(2027, 2033)}-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}"


def unlike(rng: Random, text: str) -> str:
    """A code of the same form as `text`, of which one digit is another; a code without digits gets one at its end."""
    places = [i for i, c in enumerate(text) if c.isdigit()] or [len(text) - 1]
    at = rng.choice(places)
    return text[:at] + rng.choice([d for d in "0123456789" if d != text[at]]) + text[at + 1 :]


def fresh(rng: Random, draw: Callable[[Random], str], taken: set[str]) -> str:
    """Draw what isn't taken yet, and take it."""
    while (drawn := draw(rng)) in taken:
        pass
    taken.add(drawn)
    return drawn
