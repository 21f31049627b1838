"""Waiting until a job has printed a text: all that it printed is searched once, however much that is.

file with all of it ──what is new, as it is shown──▶ is the text there?      no file: the head and the tail that are kept
"""

import codecs
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

import anyio

from trimtab.coding.jobs.job import Job, open_output
from trimtab.coding.tools.failures import ToolFailure
from trimtab.coding.tools.terminal import plain, settled

Waited: TypeAlias = Literal["printed", "ended", "nothing"]
"""What came first, if anything did in time."""
_PAUSE_S = 0.1
_PIECE = 1 << 20


@dataclass(slots=True)
class Search:
    """For `text`, in a file that grows."""

    text: str
    _read: int = 0
    _decoder: codecs.IncrementalDecoder = field(
        default_factory=lambda: codecs.getincrementaldecoder("utf-8")("replace")
    )
    _shown: str = ""
    """The end of what was searched, in which the text may have begun."""
    _rest: str = ""
    """The beginning of an escape sequence that may go on."""

    def goes_on_in(self, file: Path) -> bool:
        """Whether the text stands in what is new in `file`, or began before. Reads the disk."""
        try:
            with open(open_output(file), "rb") as opened:
                opened.seek(self._read)
                while piece := opened.read(_PIECE):
                    self._read += len(piece)
                    if self._finds(self._decoder.decode(piece)):
                        return True
        except OSError:
            return False
        return False

    def _finds(self, new: str) -> bool:
        raw = self._rest + new
        whole = settled(raw)
        self._rest = raw[whole:]
        shown = self._shown + plain(raw[:whole])
        self._shown = shown[-len(self.text) :]
        return self.text in shown


async def wait_for_text(job: Job, text: str) -> Waited:
    """Wait until `text` stands in what the job printed, or it ends. Raises `ToolFailure` for a job whose output goes past us."""
    if job.capture is None and job.running:
        raise ToolFailure(f"what job {job.id} prints goes straight to a file: wait without until, or read {job.file}")
    search = Search(text)
    while True:
        running, news = job.running, job.news
        if await anyio.to_thread.run_sync(_printed, search, job):
            return "printed"
        if not running:
            return "ended"
        await news.wait()
        await anyio.sleep(_PAUSE_S)


def _printed(search: Search, job: Job) -> bool:
    """Whether the job has printed it. Reads the disk."""
    return (job.file is not None and search.goes_on_in(job.file)) or search.text in job.printed()[0]
