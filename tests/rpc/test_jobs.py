"""Commands in the background, as a client sees them."""

from support.cli import Cli
from support.rpc_wire import wired

SERVES = {"tool_calls": [{"name": "bash", "arguments": {"command": "echo listening; sleep 600", "background": True}}]}


def test_a_job_is_told_listed_looked_at_and_ended(cli: Cli) -> None:
    with wired(cli, model=cli.script(SERVES, {"text": "it runs"}), permission="full") as wire:
        assert wire.ask("trimtab.jobs") == {"jobs": []}
        wire.prompt("serve")
        (begun,) = [r for r in wire.seen if r["type"] == "trimtab.job"]
        assert (begun["event"], begun["sessionId"]) == ("started", wire.ask("get_state")["sessionId"])
        (row,) = wire.ask("trimtab.jobs")["jobs"]
        assert row == begun["job"]
        assert (row["id"], row["command"], row["running"]) == ("j1", "echo listening; sleep 600", True)
        tail = wire.ask("trimtab.jobs", action="tail", jobId="j1", lines=5)
        assert (tail["job"]["id"], tail["text"]) == ("j1", "listening")
        assert "there is no job 'j9'" in wire.fail("trimtab.jobs", action="kill", jobId="j9")
        assert "there is no job ''" in wire.fail("trimtab.jobs", action="tail")
        assert "lines is 0" in wire.fail("trimtab.jobs", action="tail", jobId="j1", lines=0)
        (ended,) = wire.ask("trimtab.jobs", action="kill", jobId="all")["jobs"]
        assert (ended["running"], ended["ending"], ended["failed"]) == (False, "ended by the person", False)
        assert wire.ask("trimtab.jobs")["jobs"] == [ended]
        assert [r["event"] for r in wire.seen if r["type"] == "trimtab.job"] == ["started", "ended"]


def test_a_job_that_ends_by_itself_is_told(cli: Cli) -> None:
    command = "until [ -e go ]; do sleep 0.02; done; exit 3"
    call = {"name": "bash", "arguments": {"command": command, "background": True}}
    with wired(cli, model=cli.script({"tool_calls": [call]}, {"text": "it runs"}), permission="full") as wire:
        wire.prompt("build")
        cli.file("go", "")
        ended = wire.until(lambda r: r["type"] == "trimtab.job" and r["event"] == "ended")[-1]
        assert ended["job"]["failed"] is True
        assert "3" in ended["job"]["ending"]
