"""Which context tools a model has, by profile: the setting `context.tools`."""

from trimtab.context.settings import Profile
from trimtab.context.tools.archive import archive_tool
from trimtab.context.tools.host import ContextTool, ContextToolHost, Refuse
from trimtab.context.tools.memo import memo_tool
from trimtab.context.tools.recall import recall_tool


def context_tools(profile: Profile, host: ContextToolHost, *, refuse: Refuse) -> tuple[ContextTool, ...]:
    """Return the tools of a profile: none, those to put aside and find again, or all. `refuse` looks at whatever a tool would write."""
    if profile == "off":
        return ()
    basic = (archive_tool(host), memo_tool(host, refuse=refuse), recall_tool(host))
    if profile == "archive":
        return basic
    # The rest of the pilot's tools; most sessions have the basic ones.
    from trimtab.context.tools.context_status import context_status_tool  # noqa: PLC0415
    from trimtab.context.tools.edit_context import edit_context_tool  # noqa: PLC0415
    from trimtab.context.tools.memory import memory_tool  # noqa: PLC0415
    from trimtab.context.tools.plan import plan_tool  # noqa: PLC0415

    return (
        *basic,
        plan_tool(host),
        edit_context_tool(host),
        memory_tool(host, refuse=refuse),
        context_status_tool(host),
    )
