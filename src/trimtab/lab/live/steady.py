"""What a scripted agent is shown says the same in every run: not in which folder it works, on which day, nor how fast that is.

    call  ──meant──▶ real paths ──▶ permissions, tools        they do what they do, where they do it
    result ──shown──▶ stable paths, no durations ──▶ the conversation, which engine and policy count

A few tokens decide what is hidden, so a temp folder's name would make another run of the same story. Ids are drawn from a seed for the same reason (`workshop.work`).
"""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from msgspec import structs

from trimtab.agent.ports import Answer, Hooks, Proceed, ToolOutput
from trimtab.coding.instructions.section import Section, joined
from trimtab.coding.logs import outputs_beside
from trimtab.coding.prompts import describe_tools, load_prompt
from trimtab.coding.session import Session
from trimtab.types.messages import Part, Text, ToolCall
from trimtab.types.tools import Cut

PLACE = "/agent"
"""Where the agent works, as it is told."""
DAY = "2026-01-01"
"""The day, as it is told."""
_RAN = re.compile(r"^(Ran \d+ tests? in )\d+\.\d+s$", re.MULTILINE)
"""What the tests say of how long they took."""

_SHOWN = re.compile(rf"{PLACE}/(?:outputs/(\d+)|(?:work|home)\b)")
_TOOK = "duration_ms"
"""What details say of how long a command took."""


class Places:
    """Real paths and what is shown for them, both ways. `outputs`: the folder of long outputs, whose files have names of chance."""

    def __init__(self, folder: Path, outputs: Path | None) -> None:
        roots = {str(folder), os.path.realpath(folder)}
        self._roots = sorted(roots, key=len, reverse=True)
        self._outputs = [] if outputs is None else [str(outputs), os.path.realpath(outputs)]
        self._files: dict[str, str] = {}
        names = "|".join(map(re.escape, self._outputs))
        self._file = re.compile(rf"(?:{names})/([\w.-]+\w)") if names else None

    def shown(self, text: str) -> str:
        """A text with what is shown in place of what is real."""
        if self._file is not None:
            text = self._file.sub(lambda found: self._numbered(found[0]), text)
        for root in self._roots:
            text = text.replace(root, PLACE)
        return text

    def meant(self, text: str) -> str:
        """A text with what is real in place of what is shown."""
        return _SHOWN.sub(self._real, text)

    def _real(self, found: re.Match[str]) -> str:
        return self._files.get(found[0], found[0]) if found[1] else found[0].replace(PLACE, self._roots[0])

    def _numbered(self, path: str) -> str:
        real = os.path.realpath(path)
        known = next((name for name, file in self._files.items() if file == real), None)
        if known is None:
            known = f"{PLACE}/outputs/{len(self._files) + 1}"
            self._files[known] = real
        return known


class Steady:
    """Hooks around those of the session: calls come in with what is shown, results go out with it."""

    def __init__(self, inner: Hooks, places: Places) -> None:
        self._inner = inner
        self._places = places

    async def before_tool(self, call: ToolCall) -> Proceed | Answer:
        """What the inner hooks say of the call as it is meant."""
        arguments = _changed(call.arguments, self._places.meant)
        meant = call if arguments == call.arguments else structs.replace(call, arguments=arguments)
        verdict = await self._inner.before_tool(meant)
        if isinstance(verdict, Answer):
            return Answer(self._steady(verdict.output))
        return verdict if verdict.call is not None or meant is call else Proceed(meant)

    async def after_tool(self, call: ToolCall, output: ToolOutput) -> ToolOutput:
        """What the inner hooks say, as it is shown."""
        return self._steady(await self._inner.after_tool(call, output))

    def _steady(self, output: ToolOutput) -> ToolOutput:
        parts = tuple(self._part(part) for part in output.parts)
        return replace(output, parts=parts, details=self._details(output.details), cut=self._cut(output.cut))

    def _part(self, part: Part) -> Part:
        if not isinstance(part, Text):
            return part
        return structs.replace(part, text=_RAN.sub(r"\g<1>0.000s", self._places.shown(part.text)))

    def _cut(self, cut: Cut | None) -> Cut | None:
        return cut if cut is None or cut.where is None else structs.replace(cut, where=self._places.shown(cut.where))

    def _details(self, details: dict[str, Any] | None) -> dict[str, Any] | None:
        if details is None:
            return None
        timeless = {name: 0 if name == _TOOK else value for name, value in details.items()}
        return {name: _changed(value, self._places.shown) for name, value in timeless.items()}


def make_steady(session: Session, folder: Path) -> None:
    """Have a session that was just opened in `folder` say the same in every run."""
    log, project = session.log, session.project
    outputs = None if log.path is None else outputs_beside(log.path)
    agent = session.agent
    agent.hooks = Steady(agent.hooks, Places(folder, outputs))
    told = {"cwd": f"{PLACE}/{project.cwd.name}", "date": DAY, "platform": project.platform}
    texts = (load_prompt("system", {}), describe_tools(agent.tools), load_prompt("place", told))
    prompt = joined(Section("", "", text) for text in texts)
    settings = structs.replace(project.settings, system_prompt=prompt)
    session.project = replace(project, loaded=replace(project.loaded, settings=settings))
    session.instructions.project = session.project


def _changed(value: Any, change: Callable[[str], str]) -> Any:
    """A JSON value with all its texts changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {key: _changed(inner, change) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_changed(inner, change) for inner in value]
    return value
