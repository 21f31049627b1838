"""A session whose models are scripts, each of a provider of its own: who is asked, who fails, who stands in.

cast = Cast.at(tmp_path, a=[FAILS], b=[says("here")])
async with cast.open(roles={"main": [cast.ref("a"), cast.ref("b")]}) as session: …
"""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trimtab.agent.events import Notice
from trimtab.coding.choose import AtFile, Choice
from trimtab.coding.opening import open_session
from trimtab.coding.person import NOBODY, Person
from trimtab.coding.project import Project, open_project
from trimtab.coding.session import Session

FAILS: dict[str, Any] = {"error": {"status": 529, "body": {"error": {"message": "Overloaded"}}}}
"""An answer that is none: the provider is overloaded."""


def fails(status: int, message: str = "no", **more: Any) -> dict[str, Any]:
    """A failure with that status."""
    return {"error": {"status": status, "body": {"error": {"message": message}}}, **more}


def says(text: str, *, tokens: int = 100, output: int = 10, **more: Any) -> dict[str, Any]:
    """An answer that took so many tokens."""
    return {"text": text, "usage": {"input": tokens, "output": output}, **more}


@dataclass
class Cast:
    """Scripts by the name of their provider, in a folder of their own."""

    root: Path
    scripts: dict[str, Path]
    rows: dict[str, dict[str, Any]] = field(default_factory=dict)

    @classmethod
    def at(cls, root: Path, **scripts: Sequence[Mapping[str, Any]]) -> "Cast":
        """Write the scripts."""
        (root / "work").mkdir(exist_ok=True)
        files = {}
        for name, lines in scripts.items():
            files[name] = root / f"{name}.jsonl"
            files[name].write_text("".join(json.dumps(line) + "\n" for line in lines))
        return cls(root, files)

    def ref(self, name: str) -> str:
        """The model of a script."""
        return f"{name}/{self.scripts[name]}"

    def refs(self, *names: str) -> list[str]:
        """Several of them."""
        return [self.ref(name) for name in names]

    def settings(self, *, retries: int = 0, **settings: Any) -> dict[str, Any]:
        """Settings with a provider for each script; `rows` says more of a model. A token costs a millionth of a dollar."""
        providers = {
            name: {"api": "scripted", "max_retries": retries, "models": [self._row(name)]} for name in self.scripts
        }
        return {"providers": providers, **settings}

    def _row(self, name: str) -> dict[str, Any]:
        row = {"id": str(self.scripts[name]), "context_window": 200_000, **self.rows.get(name, {})}
        return {"price_input": 1.0, "price_output": 1.0, **row} if row.pop("priced", True) else row

    def project(self, **settings: Any) -> Project:
        """The project with these settings."""
        env = {"TRIMTAB_HOME": str(self.root / "home"), "PATH": "/usr/bin:/bin"}
        return open_project(self.root / "work", overrides=self.settings(**settings), env=env)

    @asynccontextmanager
    async def open(
        self, choice: Choice | None = None, *, person: Person = NOBODY, **settings: Any
    ) -> AsyncIterator[Session]:
        """A session, by default in `session.jsonl`."""
        project = self.project(**settings)
        async with open_session(project, choice or AtFile(self.root / "session.jsonl"), person=person) as session:
            yield session

    def entries(self, kind: str) -> list[dict[str, Any]]:
        """The entries of a kind in `session.jsonl`."""
        lines = [json.loads(line) for line in (self.root / "session.jsonl").read_text().splitlines()]
        return [line for line in lines if line["type"] == kind]


class Ears:
    """What a session tells, as its notices."""

    def __init__(self, session: Session) -> None:
        self._watcher = session.feed.subscribe()
        self._heard: list[str] = []

    @property
    def notices(self) -> list[str]:
        """All until now."""
        self._heard += [event.message for event in self._watcher.pending() if isinstance(event, Notice)]
        return self._heard
