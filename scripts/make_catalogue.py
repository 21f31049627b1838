"""Build `catalogue.json` from `models.toml` and the prices that `genai-prices` knows.

    python scripts/make_catalogue.py            write it
    python scripts/make_catalogue.py --check    exit 1 when models.toml has changed since it was written

Only facts are taken over: numbers, per model id. A price that depends on the hour counts at its dearest hour of the day
of the run, so that a budget is never exceeded by the clock. A model that `genai-prices` doesn't know has no price.
"""

import argparse
import sys
import tomllib
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec

from trimtab.providers.catalogue import Contents, ProviderInfo
from trimtab.types.models import CacheRules, ModelInfo, Price

FOLDER = Path(__file__).parents[1] / "src/trimtab/providers/catalogue"
_FIELDS = {
    "input": "input_mtok",
    "output": "output_mtok",
    "cache_read": "cache_read_mtok",
    "cache_write": "cache_write_mtok",
    "cache_write_1h": "cache_write_1h_mtok",
}


def main() -> int:
    """Write or check the catalogue."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare everything but the prices; write nothing")
    args = parser.parse_args()
    source = tomllib.loads((FOLDER / "models.toml").read_text(encoding="utf-8"))
    target = FOLDER / "catalogue.json"
    if args.check:
        written = msgspec.json.decode(target.read_bytes(), type=Contents)
        bare = tuple(msgspec.structs.replace(m, prices=()) for m in written.models)
        if (written.providers, bare) != (providers_of(source), models_of(source)):
            print("catalogue.json is older than models.toml: run `make catalogue`", file=sys.stderr)
            return 1
        return 0
    models = tuple(with_prices(m, source["providers"][m.provider].get("prices", "")) for m in models_of(source))
    today = datetime.now(UTC).date().isoformat()
    contents = Contents(f"genai-prices {version('genai-prices')}, as of {today}", providers_of(source), models)
    target.write_bytes(msgspec.json.format(msgspec.json.encode(contents), indent=1) + b"\n")
    missing = [m.ref for m in models if not m.prices]
    print(
        f"{target.name}: {len(models)} models, {len(contents.providers)} providers, no price for: {', '.join(missing)}"
    )
    return 0


def providers_of(source: dict[str, Any]) -> tuple[ProviderInfo, ...]:
    """The providers of models.toml."""
    known = set(ProviderInfo.__struct_fields__)
    tables = source["providers"].items()
    return tuple(
        msgspec.convert({"name": n, **{k: v for k, v in t.items() if k in known}}, ProviderInfo) for n, t in tables
    )


def models_of(source: dict[str, Any]) -> tuple[ModelInfo, ...]:
    """The models of models.toml, without prices."""
    return tuple(
        model_of(name, table, model_id, row)
        for name, table in source["providers"].items()
        for model_id, row in table.get("models", {}).items()
    )


def model_of(provider: str, table: dict[str, Any], model_id: str, row: dict[str, Any]) -> ModelInfo:
    """One model: the provider's defaults under what its own row says."""
    defaults = table.get("defaults", {})
    merged = {**defaults, **row}
    unsure = merged.pop("unsure", [])
    notes = [merged.pop("note")] if "note" in merged else []
    if unsure:
        notes.append(f"not confirmed: {', '.join(unsure)}")
    if "cache" in merged:
        merged["cache"] = msgspec.convert({**defaults.get("cache", {}), **merged["cache"]}, CacheRules)
    unknown = set(merged) - set(ModelInfo.__struct_fields__)
    if unknown:
        raise SystemExit(f"{provider}/{model_id}: unknown fields {sorted(unknown)}")
    fields = {
        "provider": provider,
        "id": model_id,
        "api": table["api"],
        "source": "catalogue",
        "note": "; ".join(notes),
    }
    return msgspec.convert(msgspec.to_builtins({**merged, **fields}), ModelInfo)


def with_prices(model: ModelInfo, prices_id: str) -> ModelInfo:
    """The model with the price tiers that `genai-prices` knows for it."""
    from genai_prices.data import providers

    provider = next((p for p in providers if p.id == prices_id), None)
    priced = provider.find_model(model.id) if provider else None
    if priced is None:
        return model
    midnight = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    hours = [price_tiers(priced.get_prices(midnight + timedelta(hours=h))) for h in range(24)]
    return msgspec.structs.replace(model, prices=max(hours, key=lambda tiers: [(t.input, t.output) for t in tiers]))


def price_tiers(price: Any) -> tuple[Price, ...]:
    """Tiers from one `genai_prices.types.ModelPrice`, cheapest prompt size first; () when it has no token price."""
    raw = {ours: getattr(price, theirs) for ours, theirs in _FIELDS.items()}
    if raw["input"] is None or raw["output"] is None:
        return ()
    starts = sorted({0, *(t.start for v in raw.values() for t in getattr(v, "tiers", ()))})
    return tuple(Price(above=s, **{k: at(v, s) for k, v in raw.items() if v is not None}) for s in starts)


def at(value: Any, prompt: int) -> float:
    """The price in USD per million tokens for prompts that begin the tier at `prompt` tokens."""
    if isinstance(value, Decimal | int | float):
        return float(value)
    reached = [t.price for t in value.tiers if prompt and prompt >= t.start]
    return float(reached[-1] if reached else value.base)


if __name__ == "__main__":
    raise SystemExit(main())
