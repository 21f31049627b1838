"""`/memo`: what is kept beside the conversation of this session, in view of the model by its first line."""

from trimtab.coding.commands.kept import Held, Shelf, kept_command
from trimtab.coding.session import Session

_NO_TOOL = "the model can't read them: its tool `memo` is off"


def _shelf(session: Session) -> Shelf:
    memos = session.context.host.memos

    def held() -> list[Held]:
        return [Held(info.key, info.summary, info.size) for info in memos.infos()]

    def text(key: str) -> str | None:
        memo = memos.read(key)
        return None if memo is None else memo.content

    def add(key: str, summary: str, text: str) -> object:
        return memos.write(key, text, summary=summary)

    def forget(key: str) -> bool:
        return memos.delete(key) is not None

    on = any(tool.spec.name == "memo" for tool in session.agent.tools)
    return Shelf(held, text, add, forget, "" if on else _NO_TOOL)


COMMAND = kept_command("memo", "what is kept beside this conversation", _shelf)
