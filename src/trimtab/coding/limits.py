"""What a run may take, from the settings."""

from trimtab.agent.limits import Limits
from trimtab.config.settings import Settings
from trimtab.types.errors import ConfigError
from trimtab.types.models import ModelInfo


def limits_of(settings: Settings) -> Limits:
    """The limits that hold for all turns of a run."""
    return Limits(settings.max_cost_usd, settings.max_tokens, settings.max_time_s)


def require_price(settings: Settings, model: ModelInfo) -> None:
    """Raise `ConfigError` when a limit in money is set and nobody knows what the model costs."""
    if settings.max_cost_usd is not None and not model.prices:
        raise ConfigError(
            f"max_cost_usd can't be kept: the price of {model.ref} isn't known",
            hint="Set price_input and price_output of the model in config.toml, or limit tokens instead: --max-tokens.",
        )
