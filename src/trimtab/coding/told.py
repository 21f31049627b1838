"""What the model of an open session is told beside the talk, for a page that is written down."""

from trimtab.coding.session import Session
from trimtab.sessions.export.told import Told, ToldSection, ToldTool


def told_in(session: Session) -> Told:
    """The sections of the system prompt with what each costs, and the tools, as they are now."""
    tools, count = session.agent.tools, session.context.engine.tally.text
    sections = session.instructions.sections(tools, window=session.model.context_window)
    return Told(
        tuple(ToldSection(one.name, one.source, count(one.text), one.text) for one in sections if one.text.strip()),
        tuple(ToldTool(tool.spec.name, tool.spec.description, tool.spec.parameters) for tool in tools),
    )
