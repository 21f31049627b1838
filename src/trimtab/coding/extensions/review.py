"""The code of a project for who isn't asked as a session opens: what of it is new or changed, and letting it run (`trimtab trust code`)."""

from collections.abc import Mapping
from dataclasses import dataclass

from trimtab.coding.extensions.find import find_extensions
from trimtab.coding.extensions.host import code_of
from trimtab.coding.extensions.judge import details_of, texts_of
from trimtab.coding.extensions.shell_hooks import shell_hooks
from trimtab.coding.project import Project
from trimtab.coding.trust.code import code_decision, trust_code


@dataclass(frozen=True, slots=True)
class Review:
    """What would be let run: lines that tell of it, those of the texts, and the bytes themselves. `trusted` may run already."""

    lines: tuple[str, ...]
    texts: tuple[str, ...]
    pending: Mapping[str, bytes]
    trusted: tuple[str, ...]
    unreadable: Mapping[str, str]


def review_code(project: Project) -> Review:
    """Look at the code of a trusted project; nothing of it runs. Raises `ConfigError`."""
    found, _ = find_extensions(project)
    items = code_of(project, found, shell_hooks(project))
    decision = code_decision(project.home.trust_file, project.trust.root, items)
    pending = {**decision.new, **decision.changed}
    lines, texts = details_of(project, decision), tuple(texts_of(pending))
    return Review(lines, texts, pending, tuple(decision.trusted), decision.unreadable)


def let_run(project: Project, review: Review) -> None:
    """Let what was reviewed run from now on. Raises `ConfigError`."""
    trust_code(project.home.trust_file, project.home.trusted_code, project.trust.root, review.pending)
