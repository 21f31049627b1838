"""A desk that keeps what commands say, and does their work at once."""

from trimtab.coding.commands.registry import run_command
from trimtab.coding.session import Session


class Desk:
    """Where commands say what they say; work is done at once."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.said: list[str] = []
        self.todo: list[object] = []

    def tell(self, text: str) -> None:
        self.said.append(text)

    def work(self, turn: object, *, is_turn: bool = True) -> None:
        self.todo.append(turn)

    async def run(self, line: str) -> str:
        self.said.clear()
        name, _, rest = line.partition(" ")
        await run_command(self, name, rest)  # type: ignore[arg-type]
        for work in self.todo:
            await work()  # type: ignore[operator]
        self.todo.clear()
        return "\n".join(self.said)
