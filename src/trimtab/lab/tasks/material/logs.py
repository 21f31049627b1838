"""Logs of services: what runs, what complains, and what broke first.

The line that names the root cause has the form of dozens of others: warnings and errors that led to nothing, or that follow from it.
"""

from random import Random

from trimtab.lab.tasks.material.names import amount, code, place, service

_CALM = (
    "request done method=GET path=/v2/{service}/{n} status=200 took={ms}ms trace={trace}",
    "request done method=POST path=/v2/{service} status=201 took={ms}ms trace={trace}",
    "queue drained topic={service} messages={n} lag=0",
    "checkpoint written segment={n} bytes={big}",
    "connection accepted from 10.{a}.{b}.{c}:{n}",
    "lease renewed holder={service} ttl=30s epoch={n}",
    "cache refreshed keys={n} hits={big} misses={ms}",
    "health check of {service} ok in {ms}ms",
    "scheduled job compact-{service} finished in {ms}ms",
    "replica caught up at offset {big}",
    "config reload: nothing changed (digest {trace})",
    "garbage collection freed {n} kB in {ms}ms",
)
_WORRIED = (
    "slow query on {service}: {ms}0ms, plan {trace}",
    "retry 2/5 towards {service}: connection reset",
    "queue {service} holds {n} messages, above its soft limit",
    "clock of node {place} is off by {ms}ms",
    "deprecated header x-tenant used by {service}",
    "disk of node {place} at 8{d} %",
    "certificate of {service} expires in {ms} days",
    "token bucket of {service} ran dry for {ms}ms",
)
_BROKEN = (
    "{service} refused the batch: {code} (see runbook {run})",
    "transaction {trace} rolled back: {code}",
    "lost the lease on {service}: {code}",
    "could not decode message {n} of {service}: {code}",
    "upstream {service} answered 503: {code}",
    "{code}: snapshot of {service} is older than its journal",
    "worker of {service} died with {code} after {ms}ms",
    "{code}: schema of {service} has no field for tenant {n}",
)
_WIDTH = len("04-01 00:00:00.000")
ERROR_CODES = ("E@@-####-#", "@@@_FAULT_###", "ERR#####-@", "X&&&&&&&&")


def error_code(rng: Random) -> str:
    """A code that an error goes by, such as `EQV-2291-4`."""
    return code(rng, rng.choice(ERROR_CODES))


def stamp(rng: Random, second: int) -> str:
    """A time with milliseconds, on a day of one month. As wide at any time, and in the order of time."""
    return f"04-{second // 86_400 + 1:02d} {second // 3600 % 24:02d}:{second // 60 % 60:02d}:{second % 60:02d}.{rng.randint(0, 999):03d}"


def _filled(rng: Random, template: str, *, fault: str = "", by: str = "") -> str:
    return template.format(
        service=by or service(rng),
        place=place(rng).lower().replace(" ", "-"),
        n=rng.randint(100, 9_999),
        ms=rng.randint(3, 480),
        big=rng.randint(10_000, 9_999_999),
        trace=code(rng, "&&&&&&&&"),
        a=rng.randint(0, 255),
        b=rng.randint(0, 255),
        c=rng.randint(1, 254),
        d=rng.randint(0, 9),
        run=code(rng, "RB-####"),
        code=fault,
    )


class Log:
    """A log that goes on: each line is a little later than the one before."""

    def __init__(self, rng: Random, *, faults: float = 0.06) -> None:
        self.rng = rng
        self.second = rng.randint(0, 80_000)
        self.faults = faults

    def line(self, rng: Random) -> str:
        """The next line: calm in most cases."""
        dice = rng.random()
        if dice < self.faults:
            return self.broken(error_code(rng), service(rng))
        worried = dice < self.faults + 0.12
        return self._stamped("WARN" if worried else "INFO", _filled(rng, rng.choice(_WORRIED if worried else _CALM)))

    def broken(self, fault: str, by: str) -> str:
        """A line that says that a service broke, and by which code."""
        return self._stamped("ERROR", _filled(self.rng, self.rng.choice(_BROKEN), fault=fault, by=by))

    def _stamped(self, level: str, words: str) -> str:
        self.second += self.rng.randint(0, 3)
        return f"{stamp(self.rng, self.second)} {level:<5} {service(self.rng)} {words}"


def in_order(text: str) -> str:
    """Give the lines of a log their times in order: a line that was put between others has none of its own."""
    lines = text.split("\n")
    times = sorted(line[:_WIDTH] for line in lines)
    return "\n".join(time + line[_WIDTH:] for time, line in zip(times, lines, strict=True))


def test_line(rng: Random) -> str:
    """A line of a test run."""
    verdict = "FAILED" if rng.random() < 0.04 else "ok"
    return f"test_{rng.choice(('reads', 'writes', 'keeps', 'rejects', 'merges'))}_{service(rng).replace('-', '_')}_{rng.randint(1, 99)} ... {verdict} ({rng.randint(1, 900)} ms)"


def metric_line(rng: Random) -> str:
    """A line of a metrics listing."""
    return f'{service(rng).replace("-", "_")}_total{{zone="{place(rng).lower().replace(" ", "-")}"}} {amount(rng)}'
