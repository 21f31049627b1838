"""Settings as lines for people: `tools.bash.timeout_s = 60.0  # user config (…), line 3`. Each line without its comment is TOML."""

from collections.abc import Iterable, Iterator

from trimtab.coding.telling.printable import one_line
from trimtab.config.in_force import Row
from trimtab.config.mistakes import show_path
from trimtab.config.toml_text import value_text


def setting_lines(rows: Iterable[Row], *, origin: bool = False) -> Iterator[str]:
    """A line for each row; what isn't set is a comment. `origin` says where each value comes from; a default is marked in any case."""
    for row in rows:
        name = show_path(row.key)
        if row.value is None:
            yield one_line(f"# {name} is not set")
            continue
        comment = str(row.origin) if row.origin else "default"
        shown = f"  # {comment}" if origin or row.origin is None else ""
        yield one_line(f"{name} = {value_text(row.value)}{shown}")
