"""What each action of the context does, in the words of its reference: `make_docs` puts them into docs/actions.md.

    ACTIONS (the code's) + REFERENCE (words, parameters, an example each) ──▶ an overview, and a section for each action

A parameter is a key of a free dict, so no struct tells of it. `tests/docs` compares the names here with those that the planning of each action reads.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from struct_tables import code, table

from trimtab.context.actions import ACTIONS, ALIASES
from trimtab.context.editing.runs import KEEP_SHARE
from trimtab.context.shorten.fold import FoldRule

_FOLD = FoldRule()


@dataclass(frozen=True, slots=True)
class Param:
    """A parameter: its name, type, default (empty: none) and meaning."""

    name: str
    type: str
    default: str
    text: str


@dataclass(frozen=True, slots=True)
class Reference:
    """An action: in a line, in full, what its targets are, its parameters, and an example that runs. `kind`: what the log calls its edit, where that is another word."""

    line: str
    text: str
    targets: str
    example: str
    params: tuple[Param, ...] = ()
    kind: str = ""


_ITEMS = "items, or parts of them"
_WISHES = Param("instructions", "text", "", "wishes about the summary, for the model that writes it")

REFERENCE: Mapping[str, Reference] = {
    "keep": Reference(
        "nothing",
        "Leaves everything as it is. A policy that wants nothing may as well return no action. One that names targets takes back what"
        " it wanted of them before and what still waits, because made then it would have cost more than it saved.",
        "none, or items",
        """\
from conversation import talk

done = talk().execute({"action": "keep"})
print(done["done"], done["edits"])  # → True []
""",
    ),
    "elide": Reference(
        "hides a body behind a stub",
        "Puts a stub in place of each body. It says what stood there, how large that was, and how it is read again.",
        _ITEMS,
        """\
from conversation import result, talk

context = talk()
context.execute({"action": "elide", "target": "c1", "params": {"summary": "150 requests, then the disk was full"}})
print(result(context, "c1"))
# → [archived c1~flcoqxtl: read, 1,659 tokens, 153 lines; kept outside this conversation]
# → 150 requests, then the disk was full
""",
        (
            Param(
                "summary",
                "text",
                "",
                "stands below the stub; of several targets, below the newest, to which the others point",
            ),
            Param(
                "names",
                "integer",
                "0",
                "tokens for a line with names out of the body (paths, ids, figures) that stand nowhere else; at most a quarter of the body",
            ),
            Param("said_in", "call id", "", "the call in which a summary stands already, in place of `summary`"),
        ),
    ),
    "summarize": Reference(
        "puts a summary in place of a body",
        "Puts a text in place of each body, below a line that says so. Without `summary` a text is made for each target by itself: by"
        " the summarizer where there is one, else of the rows and blocks of the body.",
        _ITEMS,
        """\
from conversation import result, talk

context = talk()
context.execute({"action": "summarize", "target": "c1", "params": {"max_tokens": 60, "keep_first": 1}})
print(result(context, "c1").splitlines()[-2:])  # → ['[… 147 lines left out …]', 'ERROR disk is full']
""",
        (
            Param(
                "summary",
                "text",
                "",
                "the text; of several targets it stands in the newest, to which the others point. Then nothing below matters",
            ),
            Param("max_tokens", "integer", "a fifth of the body, 200 at least", "how long the text may be"),
            _WISHES,
            Param("mode", '`"digest"`', "", "ask no model"),
            Param("keep_first", "integer", "0", "without a model: rows or blocks that stay whole at the beginning"),
            Param("keep_last", "integer", "0", "the same at the end"),
            Param(
                "keep_fields",
                "text or list of texts",
                "",
                "without a model: fields that stay in each row; of other texts, words whose lines stay",
            ),
        ),
    ),
    "fold": Reference(
        "keeps head, tail and the lines that matter",
        "Keeps the first and the last lines of a body, those that speak of a failure and those that hold a wanted word. A gap mark"
        " counts what is missing.",
        _ITEMS,
        """\
from conversation import result, talk

context = talk()
context.execute({"action": "fold", "target": "c1", "params": {"keep": ["page_77"], "head": 2, "tail": 1}})
print(result(context, "c1"))
# → [folded c1~flcoqxtl: 66 of 1,659 tokens; all of it kept outside this conversation]
# → app.log
# → GET /page_0 took 0 ms
# → [… 76 lines, 3-78 ~flcoqxtl]
# → GET /page_77 took 5 ms
# → [… 72 lines, 80-151 ~flcoqxtl]
# → ERROR disk is full
""",
        (
            Param("keep", "text or list of texts", "", "words whose lines stay, in any case of letters"),
            Param("head", "integer", str(_FOLD.head), "lines that stay at the beginning"),
            Param("tail", "integer", str(_FOLD.tail), "lines that stay at the end"),
            Param("matches", "integer", str(_FOLD.matches), "lines between them that stay at most"),
        ),
    ),
    "truncate": Reference(
        "keeps one passage",
        "Keeps what stands from one sentence through another, word for word. One of the two is enough: then it goes from the beginning,"
        " or to the end.",
        _ITEMS,
        """\
from conversation import result, talk

context = talk()
context.execute({"action": "truncate", "target": "c1", "params": {"first": "GET /page_149"}})
print(result(context, "c1").splitlines()[-2:])  # → ['GET /page_149 took 5 ms', 'ERROR disk is full']
""",
        (
            Param("first", "text", "the beginning", "where the passage begins, copied from the body"),
            Param("last", "text", "the end", "where it ends, copied from the body"),
        ),
    ),
    "compress": Reference(
        "keeps a share of the tokens",
        "Keeps whole lines that say what no other kept line says. Code, diffs and a person's words are refused: with lines missing they"
        " would be wrong, not short. [A compressor of yours](embedding.md#functions-of-yours) may do it instead.",
        _ITEMS,
        """\
from conversation import result, talk

context = talk()
context.execute({"action": "compress", "target": "c1", "params": {"share": 0.1}})
print(result(context, "c1").splitlines()[0])
# → [compressed c1~flcoqxtl: 137 of 1,659 tokens; all of it kept outside this conversation]
""",
        (
            Param("share", "number between 0 and 1", "0.3", "the part of its tokens that stays"),
            Param("keep", "text or list of texts", "", "words that make a line worth more"),
            Param("otherwise", '`"elide"`', "", "what can't be shortened so is hidden, as `elide` does it"),
            Param("names", "integer", "0", "tokens of names that a stub keeps then"),
        ),
    ),
    "expire": Reference(
        "marks what will soon not matter",
        "Changes nothing now. When the time has come, `expired` of the item is true, and `rules` and the ladder hide it before what still"
        " matters.",
        "items",
        """\
from conversation import talk

context = talk()
context.execute({"action": "expire", "target": "c1", "params": {"after_steps": 0}})
print([item["id"] for item in context.observe()["active_context"] if item.get("expired")])  # → ['e3']
""",
        (
            Param("after_steps", "integer", "", "requests from now on"),
            Param(
                "when_superseded",
                "true or false",
                "true without `after_steps`, else false",
                "also when a newer item makes it stale (`superseded_by`)",
            ),
        ),
    ),
    "drop": Reference(
        "takes out, without a stub",
        "Takes messages out. A call goes with its results, and a result with its call.",
        "items, or the id of a note or a summary",
        """\
from conversation import talk

context = talk()
context.execute({"action": "drop", "target": "c1", "reason": "it says nothing new"})
print(len(context.messages()), context.observe()["archive"]["e3"])  # → 3 c1
""",
    ),
    "reload": Reference(
        "brings back",
        "Shows again what was recorded: the whole where it fits a page, else one page of it. A page is an eighth of the room, 500"
        " tokens at least. What was brought back, the [guards](#who-may-do-what) keep policies away from for five requests. Where there"
        " is no room for it, `execute` takes it back and says so.",
        "items, hidden or shortened",
        """\
from conversation import result, talk

context = talk()
context.execute({"action": "elide", "target": "c1"})
context.execute({"action": "reload", "target": "c1", "params": {"page": 2}})
print(result(context, "c1").splitlines()[-1])  # → ERROR disk is full
""",
        (Param("page", "integer", "1", "which page, from 1"),),
        kind="restore",
    ),
    "offload": Reference(
        "puts pointers in place of large arguments",
        "Puts a pointer in place of each argument of 200 tokens or more. The call itself stays.",
        "a call (`ENTRY#N`), an assistant item (all its calls), or a result (the call that it answers)",
        """\
import json

from conversation import talk

context = talk()
text = "".join(f"line {n} of the report\\n" for n in range(90))
write = {"name": "write", "arguments": json.dumps({"path": "report.md", "content": text})}
call = {"id": "c3", "type": "function", "function": write}
context.step({"role": "assistant", "content": None, "tool_calls": [call]})
context.step({"role": "tool", "tool_call_id": "c3", "content": "written"})
context.execute({"action": "offload", "target": "c3"})
arguments = context.messages()[-2]["tool_calls"][0]["function"]["arguments"]
print(json.loads(arguments)["content"].split("~")[0])  # → [not the content: archived e6#0
""",
    ),
    "compact": Reference(
        "puts one summary in place of many messages",
        "Puts one summary in place of a run of messages: its targets, or all but the end. The newest request, pinned items and calls"
        " without an answer stay. Without `summary` a model writes it where there is one, else a digest is made, and what stands around"
        " it (where it comes from, the way back) is added.",
        "none, or items: then these, each with its calls and results",
        """\
from conversation import talk

context = talk()
done = context.execute({"action": "compact", "params": {"keep_tokens": 0, "mode": "digest"}})
print(done["edits"][0]["targets"], [message["role"] for message in context.messages()])
# → ['e2', 'e3'] ['user', 'user', 'assistant', 'tool']
""",
        (
            Param("summary", "text", "", "the text, shown as it is; needs targets. Then nothing below matters"),
            Param(
                "keep_tokens",
                "integer",
                f"{KEEP_SHARE * 100:.0f} % of the target line",
                "without targets: tokens of the end that stay, at least its last call with its results",
            ),
            Param(
                "whole",
                "true or false",
                "false",
                "without targets: take the end too, and be as short as the room demands",
            ),
            _WISHES,
            Param(
                "mode", '`"digest"`', "", "ask no model; beside `summary`, what the log is to say of how it was written"
            ),
            Param("names", "integer", "0", "tokens for a line with names out of what goes that stand nowhere else"),
        ),
    ),
    "restate": Reference(
        "says a text at the end",
        "Adds a note at the end of the context: a goal, a plan, what must not be forgotten.",
        "none, or the items that it says again",
        """\
from conversation import talk

context = talk()
context.execute({"action": "restate", "params": {"text": "Find out why it stopped.", "label": "goal"}})
print(context.messages()[-1]["content"])  # → Find out why it stopped.
""",
        (
            Param("text", "text", "none: needed", "what is said"),
            Param(
                "label",
                "text",
                "",
                "what it is; of two notes with one label, the older one counts as stale (`superseded_by`)",
            ),
        ),
    ),
    "pin": Reference(
        "keeps an item as it is",
        "From now on no policy and no ladder touches it, and no other action either, until it is unpinned.",
        "items",
        """\
from conversation import talk

context = talk()
context.execute({"action": "pin", "target": "c1"})
done = context.execute({"action": "hide", "target": "c1"})
print(done["problems"], done["next"])  # → ["'c1' is pinned"] unpin it first, or choose another target
""",
    ),
    "unpin": Reference(
        "takes a pin away",
        "Takes all pins of an item away.",
        "items",
        """\
from conversation import talk

context = talk()
for action in ("pin", "unpin", "hide"):
    done = context.execute({"action": action, "target": "c1"})
print(done["done"], done["used_tokens"] < 3_000)  # → True True
""",
    ),
}


def actions_table() -> str:
    """Each action in a line."""
    rows = []
    for name in ACTIONS:
        words = ", ".join(code(alias) for alias, meant in ALIASES.items() if meant == name)
        params = ", ".join(code(param.name) for param in REFERENCE[name].params)
        rows.append((f"[`{name}`](#{name})", REFERENCE[name].line, params, words))
    return table(("action", "does", "parameters", "also called"), rows)


def action_sections() -> str:
    """A section for each action."""
    return "\n".join(_section(name, REFERENCE[name]) for name in ACTIONS)


def _section(name: str, told: Reference) -> str:
    logged = f" The log calls it {code(told.kind)}." if told.kind else ""
    parts = [f"### `{name}`", f"{told.text}{logged}", f"Targets: {told.targets}."]
    if told.params:
        rows = [(code(p.name), p.type, p.default, p.text) for p in told.params]
        parts.append(table(("parameter", "type", "default", ""), rows).rstrip("\n"))
    parts.append(f"```python\n{told.example}```")
    return "\n\n".join(parts) + "\n"
