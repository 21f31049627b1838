"""Hooks around a compaction: one may keep a summary from being written, and one hears what became of it."""

from pathlib import Path
from typing import Any

import pytest

from support.small_window import Heard, SmallRoom, reads, says
from trimtab.agent.events import Notice
from trimtab.coding.commands.compact import compact

pytestmark = pytest.mark.anyio
SUMMARY = "<summary>## Goal\nread\n## Done\nread all of it\n## Critical facts\nnone\n</summary>"


class Desk:
    """A desk that remembers."""

    def __init__(self, session: Any) -> None:
        self.session, self.told = session, []

    def tell(self, text: str) -> None:
        self.told.append(text)


@pytest.mark.parametrize("refuses", [True, False])
async def test_a_summary_may_be_refused_and_what_follows_is_told(tmp_path: Path, refuses: bool) -> None:
    room = SmallRoom.at(tmp_path, window=64_000)
    answer = "Deny('not now')" if refuses else "None"
    extensions = tmp_path / "home" / "extensions"
    extensions.mkdir(parents=True)
    (extensions / "watch.py").write_text(
        "from trimtab.extend import Deny\nAPI = 1\n"
        f"def before(told, here): return {answer}\n"
        "async def after(told, here): await here.tell(f'{told.author} {told.before_tokens > told.after_tokens}')\n"
        "def extend(api):\n    api.before_compaction(before)\n    api.after_compaction(after)\n"
    )
    provider = Heard([reads("a.txt"), reads("b.txt"), says("read"), says(SUMMARY), says(SUMMARY)])
    async with room.open(provider=provider) as session:
        watcher = session.feed.subscribe()
        await session.prompt("read them")
        asked = len(provider.requests)
        desk = Desk(session)
        await compact(desk, "")  # type: ignore[arg-type]
        assert (len(provider.requests) > asked) is not refuses
        notices = [event.message for event in watcher.pending() if isinstance(event, Notice)]
        assert "watch: user True" in notices
        assert ("watch: not now" in desk.told[0]) is refuses
