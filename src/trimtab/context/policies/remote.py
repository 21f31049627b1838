"""`remote`: a policy that lives behind a URL. It only says where; the engine asks whoever drives it (`Consult`), and judges the answer."""

from collections.abc import Sequence
from dataclasses import dataclass

from trimtab.context.actions import Action
from trimtab.context.seeing.observation import Observation


@dataclass(frozen=True, slots=True)
class Remote:
    """Decides elsewhere. `url` takes the observation as JSON and gives `{"actions": […]}`; `timeout_s` in seconds."""

    url: str = ""
    timeout_s: float = 5.0
    name: str = "remote"

    def decide(self, observation: Observation) -> Sequence[Action]:
        """Return nothing: without somebody who can reach the server there is no answer."""
        return ()
