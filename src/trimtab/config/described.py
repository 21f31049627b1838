"""What the sources say of a struct's fields: the annotation as written, and the text below it. Classes don't keep either."""

import ast
import inspect

import msgspec


def written(struct: type[msgspec.Struct]) -> dict[str, tuple[str, str]]:
    """The annotation and the text of each field, those of its bases too; what has no source to read has no entry."""
    bases = [base for base in struct.__mro__ if base.__module__.startswith("trimtab.")]
    return {name: found for base in reversed(bases) for name, found in _written(base).items()}


def _written(struct: type) -> dict[str, tuple[str, str]]:
    try:
        body = ast.parse(inspect.getsource(struct)).body[0]
    except (OSError, TypeError):
        return {}
    found: dict[str, tuple[str, str]] = {}
    if isinstance(body, ast.ClassDef):
        for node, after in zip(body.body, [*body.body[1:], None], strict=True):
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                said = after.value if isinstance(after, ast.Expr) else None
                text = said.value if isinstance(said, ast.Constant) else ""
                found[node.target.id] = (ast.unparse(node.annotation), str(text))
    return found
