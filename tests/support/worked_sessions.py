"""Sessions for the lab: written out call by call, or any at all for properties.

worked(["Read a.py | def parse_header", "Bash grep parse_header | found"]) is a session of two calls with their results, and an end.
"""

from collections.abc import Iterable

from hypothesis import strategies as st

from support.recordings import answered, call, recording, result, said
from trimtab.lab.corpora.facts import Facts
from trimtab.lab.corpora.points import Point
from trimtab.sessions.recorded import Event, Recording

NAMES = tuple(f"{word}_{kind}" for word in ("parse", "render", "commit", "module") for kind in ("header", "footer.py"))
IDLE = "Bash true | ok"


def worked(lines: Iterable[str]) -> Recording:
    """A session with a request for each line, and one that ends it: `TOOL ARGUMENT | RESULT`. `Read` and `Edit` take a path, all else a command; `*` in a result stands for 400 blanks."""
    events: list[Event] = [said("go")]
    for number, line in enumerate(lines, 1):
        asked, _, text = line.partition(" | ")
        tool, _, argument = asked.partition(" ")
        key = "path" if tool in ("Read", "Edit") else "command"
        events.append(answered(call(tool, f"c{number}", **{key: argument})))
        events.append(result(f"c{number}", text.replace("*", " " * 400), tool=tool))
    return recording(*events, answered(text="done"))


def idle(count: int) -> list[str]:
    """Requests that show and use nothing."""
    return [IDLE] * count


def facts(number: int = 0, **known: int) -> Facts:
    """What is known of a result: 1,000 characters, 20 calls old, unless something else is."""
    usual = {"size": 1_000, "novel": 0, "uses": 0, "used": 0, "age": 20, "idle": 20, "edits": 0}
    return Facts(result=number, **{**usual, **known}, kind="other", error=False)


def point(*candidates: tuple[int, bool], session: str = "s", step: int = 40) -> Point:
    """A decision point with candidates of these sizes, needed or not, oldest first."""
    known = tuple(facts(number, size=size) for number, (size, _) in enumerate(candidates))
    return Point(session, "p", session, step, known, tuple(needed for _, needed in candidates))


@st.composite
def sessions(draw: st.DrawFn, *, least: int = 1, most: int = 40) -> Recording:
    """Any session of `least` to `most` calls over a few files and names. Half of the results are large."""
    line = st.builds(
        "{} {} | {}{}".format,
        st.sampled_from(("Read", "Edit", "Bash", "Grep")),
        st.sampled_from(NAMES),
        st.sampled_from(("", "* ")),
        st.lists(st.sampled_from((*NAMES, "words")), max_size=4).map(" ".join),
    )
    return worked(draw(st.lists(line, min_size=least, max_size=most)))


points = st.lists(st.tuples(st.integers(1, 500), st.booleans()), min_size=1, max_size=12).map(lambda c: point(*c))
"""Any decision point."""
