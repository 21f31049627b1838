"""What a person typed while the agent was busy. Two queues, because there are two wishes.

*Steering* changes the course of the running turn: it is delivered before the next model request, all of it at once. A *follow-up* waits
until the turn is done and then begins a new one, one at a time. Both survive a cancel and a failure: nothing typed is lost, and
`recall` gives it back to be edited.
"""

from collections.abc import Sequence

from trimtab.types.messages import User


class Inbox:
    """The two queues. `steering` and `follow_ups` show what waits, oldest first; notes go along with what is delivered next and begin nothing."""

    def __init__(self) -> None:
        self._notes: list[User] = []
        self._steering: list[User] = []
        self.one_at_a_time = False
        """Whether each request brings one word of steering, instead of all that waits."""
        self._follow_ups: list[User] = []

    @property
    def steering(self) -> tuple[User, ...]:
        """What waits for the next model request."""
        return tuple(self._steering)

    @property
    def follow_ups(self) -> tuple[User, ...]:
        """What waits for the end of the turn."""
        return tuple(self._follow_ups)

    def steer(self, message: User) -> None:
        """Queue for the running turn."""
        self._steering.append(message)

    def note(self, message: User) -> None:
        """Queue for the next request, whenever there is one."""
        self._notes.append(message)

    def take_notes(self) -> tuple[User, ...]:
        """Take all notes."""
        taken = tuple(self._notes)
        self._notes.clear()
        return taken

    def follow_up(self, message: User) -> None:
        """Queue for after it."""
        self._follow_ups.append(message)

    def recall(self) -> tuple[User, ...]:
        """Take everything back, steering first."""
        taken = (*self._steering, *self._follow_ups)
        self._steering.clear()
        self._follow_ups.clear()
        return taken

    def take_steering(self) -> tuple[User, ...]:
        """Take all steering, or the first of it where one goes at a time, for delivery; the notes in front."""
        waiting = 1 if self.one_at_a_time else len(self._steering)
        taken = (*self.take_notes(), *self._steering[:waiting])
        del self._steering[:waiting]
        return taken

    def give_back(self, messages: Sequence[User]) -> None:
        """Put steering back that could not be delivered, before what came since."""
        self._steering[:0] = messages

    def take_opening(self) -> tuple[User, ...]:
        """Take what begins the next turn: steering that came too late for the last one, else one follow-up."""
        if self._steering:
            return self.take_steering()
        return (self._follow_ups.pop(0),) if self._follow_ups else ()
