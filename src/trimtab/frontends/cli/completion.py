"""`trimtab completion SHELL`: print the completion script."""

import click
from click.shell_completion import get_completion_class


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> int:
    """Print shell completion. For bash: eval "$(trimtab completion bash)" in ~/.bashrc."""
    kind = get_completion_class(shell)
    assert kind is not None, shell
    click.echo(kind(ctx.find_root().command, {}, "trimtab", "_TRIMTAB_COMPLETE").source())
    return 0
