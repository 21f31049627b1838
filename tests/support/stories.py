"""Stories to play: a session whose steps are drawn, a task with key points, and how both are set up.

drawn_session(moves) ── moves are words, see MOVES ──▶ Recording
"""

import json
from collections.abc import Sequence
from dataclasses import replace

from support.recordings import MODEL, answered, call, long_session, recording, result, said
from trimtab.context.policies.base import Manners
from trimtab.lab.env.episode import Open, Setup
from trimtab.lab.tasks.task import KeyPoint, Level, Question, Task
from trimtab.sessions.recorded import Answered, Event, Recording
from trimtab.sessions.replay.models import Terms, model_of
from trimtab.types.messages import Assistant, Thinking
from trimtab.types.models import Price

PRICE = Price(input=10.0, output=50.0, cache_read=1.0, cache_write=12.5)
WINDOW = 20_000
MOVES = ("read", "again", "fail", "write", "think", "grep", "ask", "log", "blob")
EARLY = Open(manners=Manners(guarded=False, early=True))
LATE = Open()


def drawn_session(moves: Sequence[str], *, timed: bool = True) -> Recording:
    """A session of these moves, each a request: files read, read again, calls that fail, files written (also with signed thoughts), names used, logs, one endless line, words of the user."""
    events: list[Event] = [said("mend the parser in src/module_0.py", at=0.0 if timed else None)]
    for n, move in enumerate(moves):
        at = 10.0 * n if timed else None
        known = n // 2
        match move:
            case "read":
                made, text = call("Read", f"c{n}", path=f"src/module_{n}.py"), body(n)
            case "again":
                made, text = call("Read", f"c{n}", path=f"src/module_{known}.py"), body(known)
            case "fail":
                made, text = call("Bash", f"c{n}", command="x = 1\n" * 300), "Error: exit 1 in line_number_7"
            case "write":
                made, text = call("Write", f"c{n}", path=f"src/module_{known}.py", content=body(n)), "written"
            case "grep":
                made, text = call("Bash", f"c{n}", command=f"grep -rn handler_{known}_3 src"), f"src/module_{known}.py"
            case "think":
                made, text = call("Write", f"c{n}", path=f"src/new_{n}.py", content=body(n)), "written"
                thought = Thinking("a new file, then", signature="signed")
                events.append(Answered(Assistant((thought, made), "tool_use", model=MODEL), at))
                events.append(result(f"c{n}", text, tool=made.name, at=at))
                continue
            case "blob":
                made, text = call("Bash", f"c{n}", command=f"curl api/{n}"), json.dumps({"rows": [n] * 900})
            case "log":
                made, text = call("Bash", f"c{n}", command=f"make target-{n}"), f"step {n} is fine\n" * 400 + "ERROR: x"
            case _:
                events.append(answered(text=f"part {n} is done", at=at))
                events.append(said(f"go on with src/module_{n}.py, and keep the name handler_{n}_1", at=at))
                continue
        events.append(answered(made, at=at))
        events.append(result(f"c{n}", text, tool=made.name, at=at))
    events.append(answered(text="done"))
    return recording(*events)


def body(number: int) -> str:
    """A file's text, with names that no other file has."""
    return "\n".join(f"def handler_{number}_{line}(): pass  # words that fill the line" for line in range(50))


def cut(session: Recording, answers: int) -> Recording:
    """A session up to so many answers, and nothing of what came later."""
    places = [n for n, event in enumerate(session.events) if isinstance(event, Answered)]
    return replace(session, events=session.events[: places[answers - 1] + 1])


def small_task(*, reads: int = 30, needed: tuple[int, ...] = (28, 29)) -> Task:
    """A task whose key points stand in the second result, and are needed near the end."""
    session = long_session(reads)
    points = tuple(
        KeyPoint(text, "name", 4, needed) for text in ("def handler_1_30(): pass", "def handler_1_31(): pass")
    )
    question = Question("which handler?", needed[-1], ("handler_1_30",), (0, 1))
    return Task("reading", 1, Level(steps=reads), session, points, (question,))


def setup_for(session: Recording, policy: Open = LATE, *, window: int = WINDOW, noticed: float = 0.8) -> Setup:
    """A small window at a dear price."""
    return Setup(model_of(session, Terms(window, PRICE)), policy, noticed=noticed)
