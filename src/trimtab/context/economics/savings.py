"""What context edits saved and what they cost, in tokens and money: the account behind `status` and the log.

    a request    its bill beside the bill of the same request without any edit
    an edit      the cache that it broke, the call that wrote its text

A value; each request and each edit gives the next one. The comparison is honest about its one assumption: the session would have gone on in the
same calls without the edits.
"""

from dataclasses import asdict, dataclass, replace

from trimtab.context.economics.bill import Bill
from trimtab.types.models import add_costs


@dataclass(frozen=True, slots=True)
class Savings:
    """Sums over a session. Money is in USD, and None from the first request on whose price isn't known.

    `prompt_tokens`, `read_tokens`: of what was sent. `kept_prompt_tokens`, `kept_usd`: had nothing been edited. `broken_tokens`: cached tokens
    that changes of what was sent made worthless. `text_tokens`, `text_usd`: calls that wrote summaries.
    """

    requests: int = 0
    edits: int = 0
    batches: int = 0
    prompt_tokens: int = 0
    read_tokens: int = 0
    kept_prompt_tokens: int = 0
    broken_tokens: int = 0
    text_tokens: int = 0
    usd: float | None = 0.0
    kept_usd: float | None = 0.0
    text_usd: float | None = 0.0

    def with_request(self, sent: Bill, unedited: Bill, *, broken: int = 0) -> "Savings":
        """Add a request and what it would have been. `broken`: tokens that it would have read from the cache, had nothing changed."""
        return replace(
            self,
            requests=self.requests + 1,
            prompt_tokens=self.prompt_tokens + sent.prompt,
            read_tokens=self.read_tokens + sent.read,
            kept_prompt_tokens=self.kept_prompt_tokens + unedited.prompt,
            broken_tokens=self.broken_tokens + broken,
            usd=add_costs(self.usd, sent.usd),
            kept_usd=add_costs(self.kept_usd, unedited.usd),
        )

    def with_batch(self, edits: int, *, text_tokens: int = 0, text_usd: float | None = 0.0) -> "Savings":
        """Add a batch of edits that were applied together; `text_tokens` and `text_usd` are of the calls that wrote what they show."""
        return replace(
            self,
            edits=self.edits + edits,
            batches=self.batches + 1,
            text_tokens=self.text_tokens + text_tokens,
            text_usd=add_costs(self.text_usd, text_usd),
        )

    @property
    def saved_tokens(self) -> int:
        """Prompt tokens that were not sent."""
        return self.kept_prompt_tokens - self.prompt_tokens

    @property
    def saved_usd(self) -> float | None:
        """Money saved, the price of summaries taken off; negative: the edits cost more than they saved."""
        if self.usd is None or self.kept_usd is None or self.text_usd is None:
            return None
        return self.kept_usd - self.usd - self.text_usd

    def as_data(self) -> dict[str, int | float | None]:
        """All figures, for JSON."""
        return {**asdict(self), "saved_tokens": self.saved_tokens, "saved_usd": self.saved_usd}
