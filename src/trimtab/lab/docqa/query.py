"""Queries: a document and one question about it, made of the tasks that the lab has.

    Task (generated, or of a published benchmark) ──queries_of──▶ Query, one for each of its questions

The document is what the story of the task shows to its reader, in the order in which it does; so distractors, repeats and withdrawn figures are in it, and the
evidence stands in it word for word.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from trimtab.lab.tasks.score import Verdict, verdict_of
from trimtab.lab.tasks.task import Question, Task, chain
from trimtab.types.messages import ToolResult

_READING = frozenset({"read_chunk", "read"})
"""Tools of the stories that show a part of a document."""


@dataclass(frozen=True, slots=True)
class Query:
    """A question about a document. `name` is unique; `seed` names the group whose rollouts are compared. `evidence`: texts of the document that the answer rests on."""

    name: str
    family: str
    seed: int
    document: str
    question: Question
    evidence: tuple[str, ...] = ()

    def judge(self, answer: str | None) -> Verdict:
        """Say whether an answer is right."""
        return verdict_of(self.question, answer)


def queries_of(task: Task) -> Iterator[Query]:
    """Yield a query for each question of a task whose evidence stands in what the story reads. None of a task whose story reads nothing."""
    document = document_of(task)
    for number, question in enumerate(task.questions, 1):
        evidence = tuple(dict.fromkeys(task.points[point].text for point in question.points))
        if document and all(text in document for text in evidence):
            yield Query(f"{task.name}/{number}", task.family, task.seed, document, question, evidence)


def document_of(task: Task) -> str:
    """Return all that the story of a task reads, as one text; what is read twice stands in it twice. Named pieces stand under their names."""
    names = {
        call.id: str((call.arguments or {}).get("name", ""))
        for message in chain(task.recording)
        for call in getattr(message, "tool_calls", ())
    }
    read = [m for m in chain(task.recording) if isinstance(m, ToolResult) and m.tool_name in _READING]
    return "\n\n".join(_titled(names.get(result.call_id, ""), result.text) for result in read)


def _titled(name: str, text: str) -> str:
    """A piece under its name; a line that numbers a chunk goes, because the chunks of this environment are others."""
    first, _, rest = text.partition("\n")
    body = rest if first.startswith("[chunk ") else text
    return f"# {name}\n\n{body.strip()}" if name else body.strip()
