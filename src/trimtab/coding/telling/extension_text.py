"""What of others acts in a session, in lines for people: each extension with its place and what it registered, each hook with its place, and what doesn't act, with why."""

from collections.abc import Iterator

from trimtab.coding.check import Check
from trimtab.coding.extensions.acting import Acting
from trimtab.coding.telling.printable import one_path

_WHOSE = {"package": "installed", "yours": "yours", "project": "this project's"}
_MEND = {
    True: "Put it there, or take the hook out: until then each call that it guards is refused.",
    False: "Put it there, or take the hook out: it fails each time, and is passed over.",
}
NONE = "no extensions and no hooks. An extension is NAME.py in {home}/extensions, or in .trimtab/extensions of a project that you trust; a hook is [[hooks.POINT]] in config.toml"


def extension_lines(extensions: Acting) -> tuple[str, ...]:
    """All of it."""
    lines = tuple(_lines(extensions))
    if not extensions.project.settings.extensions.enabled:
        return ("extensions and hooks are turned off (extensions.enabled)",)
    return lines or (NONE.format(home=extensions.project.home.config),)


def _lines(extensions: Acting) -> Iterator[str]:
    for one in extensions.loaded:
        yield f"{one.name} ({_WHOSE[one.found.whose]}): {', '.join(one.registered) or 'it registered nothing'}"
        yield f"  {one.found.where}"
    for hook, why in extensions.shell:
        match = hook.match.text
        about = f" for {match}" if match else ""
        yield f"{hook.who} at {hook.point}{about}, {hook.limit_s:g} s" + (f"; it doesn't act: {why}" if why else "")
        yield f"  {hook.origin}"
    for left in extensions.left_out:
        yield f"{left.name} ({_WHOSE[left.whose]}) is left out: {left.why}"
        yield f"  {left.where}"


def extension_checks(extensions: Acting) -> Iterator[Check]:
    """The same for the doctor, who looks for what commands name too."""
    from trimtab.coding.extensions.shell_hooks import missing_of  # noqa: PLC0415 - most sessions have no hooks

    for one in extensions.loaded:
        found = f"{one.name} ({_WHOSE[one.found.whose]}): {', '.join(one.registered) or 'nothing'}; {one.found.where}"
        yield Check("ok", "extension", found)
    for hook, why in extensions.shell:
        said = f"{hook.who.removeprefix('hook ')} at {hook.point}; {hook.origin}"
        if not why and (missing := missing_of(hook, extensions.project)):
            yield Check("missing", "hook", f"{said}: there is no {one_path(missing)}", _MEND[hook.point == "tool_call"])
        else:
            yield Check("note", "hook", f"{said}; {why}") if why else Check("ok", "hook", said)
    for left in extensions.left_out:
        off = left.why.startswith("turned off")
        yield Check("ok" if off else "note", "extension", f"{left.name} is left out: {left.why}; {left.where}")
