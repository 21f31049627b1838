"""Tables: rows as databases print them, and listings of records as JSON."""

import json
from random import Random

from trimtab.lab.tasks.material.names import amount, code, company, day, person, place, product, service

MEASURES = (
    "net_revenue",
    "gross_margin",
    "returns",
    "freight_cost",
    "open_claims",
    "units_shipped",
    "churned_value",
    "late_fees",
)
COLUMNS = "week | region | segment | measure | value"


def week(rng: Random) -> str:
    """A calendar week, such as `2031-W17`."""
    return f"{rng.randint(2027, 2033)}-W{rng.randint(1, 52):02d}"


def region(rng: Random) -> str:
    """A region of sales, such as `NE-Kiln-Yard-27`."""
    return f"{rng.choice(('NE', 'NW', 'SE', 'SW', 'CE'))}-{place(rng).replace(' ', '-')}-{rng.randint(10, 99)}"


def extreme(rng: Random, *, high: bool) -> str:
    """A value that stands out: very high, or under zero."""
    return amount(rng, 9_000_001, 99_000_000) if high else f"-{amount(rng, 10_000, 900_000)}"


def measure_row(rng: Random, *, at: str = "", where: str = "", what: str = "", value: str = "") -> str:
    """A row of a result: a measure in a week and a region. What isn't given is drawn."""
    segment = rng.choice(("retail", "trade", "export", "online"))
    if not value and rng.random() < 0.02:
        value = extreme(rng, high=rng.random() < 0.5)
    return f"{at or week(rng)} | {where or region(rng)} | {segment} | {what or rng.choice(MEASURES)} | {value or amount(rng)}"


def article(rng: Random) -> str:
    """A product with its size."""
    return f"{product(rng)} {rng.randint(10, 99)}"


def customer(rng: Random) -> str:
    """A customer with its branch."""
    return f"{company(rng)} {rng.randint(10, 99)}"


def sku(rng: Random) -> str:
    """An article number, such as `KQ-40718-B`."""
    return code(rng, "@@-#####-@")


def stock_row(rng: Random, *, number: str = "", name: str = "", short: bool = False, pack: str = "") -> str:
    """A row of a stock list. `short`: less is there than the level at which one orders, and nothing is under way; so it is for no other row."""
    level = rng.randint(40, 900)
    stock = rng.randint(0, level - 20) if short else level + rng.randint(5, 4_000)
    coming = 0 if short else rng.choice((0, 0, rng.randint(50, 900)))
    if not short and rng.random() < 0.12:
        stock, coming = rng.randint(0, level - 20), level + rng.randint(1, 400)
    lead = rng.randint(3, 60)
    return f"{number or sku(rng)} | {name or article(rng)} | stock {stock} | reorder at {level} | on order {coming} | lead {lead} d | pack {pack or code(rng, 'PK-####-@')}"


def ledger_row(rng: Random, *, account: str = "", period: str = "", value: str = "") -> str:
    """A row of an account: period, account, text, amount."""
    words = rng.choice(("freight", "accrual", "rent", "refund", "licence", "audit", "transfer", "write-off"))
    return (
        f"{period or day(rng)[:7]} | {account or ledger_account(rng)} | {words} {company(rng)} | {value or amount(rng)}"
    )


def ledger_account(rng: Random) -> str:
    """An account, such as `4410-Heron Wharf`."""
    return f"{rng.randint(1000, 8999)}-{place(rng)}"


def record(rng: Random, **given: str) -> str:
    """A record of a business system as one line of JSON. What isn't given is drawn."""
    fields = {
        "id": code(rng, "rec_&&&&&&&&"),
        "kind": rng.choice(("quote", "order", "hold", "claim", "shipment")),
        "customer": customer(rng),
        "owner": person(rng),
        "created": day(rng),
        "total": amount(rng, 100, 90_000),
        "status": rng.choice(("open", "closed", "pending", "expired")),
        "source": service(rng),
    }
    return json.dumps(fields | given)
