"""Files and folders on the command line: an empty name is refused, which a path would take for the folder that a person stands in."""

from typing import Any

import click


class Named(click.Path):
    """A path that names something."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path. Fails in words."""
        if value == "":
            self.fail("an empty name is that of nothing; write . for the folder that you are in.", param, ctx)
        return super().convert(value, param, ctx)
