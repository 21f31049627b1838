"""The page: one file that holds everything it shows. No script, no font, no address to fetch from; it can be mailed, printed, and read in ten years.

Report + Facts + pictures ──page──▶ HTML
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources

from trimtab.lab.bench.folder import Manifest, Opened
from trimtab.lab.bench.grounds import TAKES
from trimtab.lab.corpora.intervals import Interval
from trimtab.lab.report.checklist import CHECKLIST
from trimtab.lab.report.markup import Html, join, prose, tag
from trimtab.lab.report.reading import Run, Timing
from trimtab.lab.report.sections import Figure, Part, Report, Section
from trimtab.lab.report.table import NOTHING, Column, Table, told
from trimtab.lab.report.words import Said

TITLE = "Trimtab lab report"
GUIDE = (
    ("Tier", "Where a number comes from: T0 generated tasks (part real: made of published texts), T1 replays of recorded sessions, T2 a scripted agent in real repositories with real tests, T3 a live model. Success in T2 weighs most; T1 assumes that later actions don't change."),
    ("Interval", "Of 95 %, by drawing anew, two arms always by the same draws. In tables and plots it is about these very families (of recordings: projects): tasks are drawn within each, then tellings. By prices, and so at the gate, it is about families that nobody saw: they are drawn too, which makes it wider. Of training: seeds, then tasks."),
    ("Cost", "Dollars with the prompt cache, summaries and reloads among them, as a share of what keeping everything costs at the same prices, cut off hard where it doesn't fit."),
    ("Verdict", "Beside keeping everything. “over-compressed”: tokens down, and the interval of success is below. “not managing”: success equal, tokens within 5 %. “good”: success above, or equal with fewer tokens. “worse”: the rest. Once beside a window that holds everything, once as it is sent, where keeping everything fails when it doesn't fit."),
    ("Claim", TAKES),
    ("Bounds", "“optimistic”: what was hidden is fetched at once. “pessimistic”: the original call is made again, too. “fails”: what was hidden is missed. “expected”: by the chance that a stub is noticed."),
    ("bound", "An arm of this kind knows the future. It shows what could be had; no policy is its rival."),
)  # fmt: skip
"""How to read the page."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What the page says about how it was made. `date` is the caller's; `to_root`: the way from the page's folder to the repository, None where there is none."""

    versions: Mapping[str, str]
    command: str
    date: str = ""
    manifests: tuple[Manifest, ...] = ()
    timings: tuple[Timing, ...] = ()
    runs: tuple[Run, ...] = ()
    opened: tuple[Opened, ...] = ()
    notes: tuple[str, ...] = ()
    to_root: str | None = None


def page(report: Report, facts: Facts, picture: Callable[[Figure], Html]) -> str:
    """Return the page. `picture` gives the plot of a figure that has data."""
    style = resources.files("trimtab.lab.report").joinpath("page.css").read_text("utf-8")
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", TITLE),
        Html(f"<style>\n{style}</style>"),
    )
    main = tag(
        "main",
        _summary(report.summary),
        *(_section(section, picture) for section in report.sections),
        _checklist(facts.to_root),
        _guide(),
        _facts(facts),
    )
    said = f"Trimtab {facts.versions.get('trimtab', '')}" + (f" · {facts.date}" if facts.date else "")
    header = tag("header", tag("h1", TITLE), tag("p", said, class_="sub"), _contents(report.sections))
    body = tag("body", tag("a", "To the summary", class_="skip", href="#summary"), header, main)
    return "<!doctype html>\n" + tag("html", head, body, lang="en") + "\n"


def _contents(sections: Sequence[Section]) -> Html:
    entries = [
        ("summary", "In short"),
        *(
            (section.anchor, section.title.split(":")[0] if not section.warns else section.title)
            for section in sections
        ),
        ("checklist", "Checklist"),
        ("guide", "How to read it"),
        ("facts", "How it was made"),
    ]
    items = [tag("li", tag("a", title, href=f"#{anchor}")) for anchor, title in entries]
    return tag("nav", tag("ul", *items), aria_label="Contents")


def _heading(level: int, title: str, anchor: str) -> Html:
    link = tag("a", "#", class_="anchor", href=f"#{anchor}", aria_label=f"Link to {title}")
    return tag(f"h{level}", f"{title} ", link, id=anchor)


def _summary(said: Iterable[Said]) -> Html:
    entries = [
        join([tag("dt", one.about), tag("dd", tag("ul", *(tag("li", prose(line)) for line in one.lines)))])
        for one in said
    ]
    return tag("section", _heading(2, "In short", "summary"), tag("dl", *entries), class_="short")


def _section(section: Section, picture: Callable[[Figure], Html]) -> Html:
    heading = _heading(2, section.title, section.anchor)
    lines = [tag("p", prose(line), class_="warn" if section.warns else "scope") for line in section.lines]
    parts = [_part(part, picture) for part in section.parts]
    if section.folded:
        return tag("section", heading, *lines, tag("details", tag("summary", "Show its tables"), *parts))
    return tag("section", heading, *lines, *parts)


def _part(part: Part, picture: Callable[[Figure], Html]) -> Html:
    if isinstance(part, Figure):
        return _figure(part, picture)
    return join([_heading(3, part.title, f"{part.name}-table"), _table(part)])


def _figure(figure: Figure, picture: Callable[[Figure], Html]) -> Html:
    table = figure.table
    name = f"{table.name}-plot"
    if not table.rows:
        return tag("figure", tag("figcaption", tag("b", table.title)), tag("p", f"No data: {table.missing}", class_="warn"), id=name)  # fmt: skip
    caption = tag("figcaption", tag("b", table.title), f" {figure.caption} ", tag("span", table.scope, class_="scope"))
    own = figure.kind in ("path", "ablation", "bounds")  # these tables stand beside their plots
    below = None if own else tag("details", tag("summary", "The figures of this plot"), _table(table))
    return tag("figure", caption, tag("div", picture(figure), class_="plot", tabindex="0"), below, id=name)


def _table(table: Table) -> Html:
    if not table.rows:
        return tag("p", f"No data: {table.missing or 'no row says anything of it.'}", class_="warn")
    columns = [column for column in table.columns if any(row.get(column.key) not in (None, "") for row in table.rows)]
    head = tag("tr", *(tag("th", column.title, scope="col", class_=_side(column), title=column.about or None) for column in columns))  # fmt: skip
    body = [
        tag("tr", *(_cell(row.get(column.key), column, first=place == 0) for place, column in enumerate(columns)), class_="mark" if number in table.marks else None)
        for number, row in enumerate(table.rows)
    ]  # fmt: skip
    caption = tag("caption", prose(" · ".join(part for part in (table.scope, table.about) if part)))
    whole = tag("table", caption, tag("thead", head), tag("tbody", *body))
    return tag("div", whole, class_="scroll", tabindex="0", role="region", aria_label=table.title)


def _side(column: Column) -> str:
    if column.form != "text":
        return "number"
    return "text wide" if column.key in ("does", "note") else "text"


def _cell(cell: object, column: Column, *, first: bool) -> Html:
    assert cell is None or isinstance(cell, str | int | float | Interval)
    text = told(cell, column.form)
    if column.key in ("verdict", "as_sent", "says") and text != NOTHING and text:
        inner: Html = tag("span", text, class_=f"says {text.replace(' ', '-')}")
    elif isinstance(cell, Interval) and " [" in text:
        value, _, interval = text.partition(" [")
        inner = join([value, " ", tag("span", f"[{interval}", class_="interval")])
    elif column.key in ("arm", "play", "variant"):
        inner = tag("code", text) if text != NOTHING else join([text])
    else:
        inner = join([text])
    if first:
        return tag("th", inner, scope="row", class_=_side(column))
    return tag("td", inner, class_=_side(column))


def _checklist(to_root: str | None) -> Html:
    rows = [
        tag(
            "tr",
            tag("th", line.what, scope="row", class_="text"),
            tag("td", line.how, class_="text wide"),
            tag("td", join([*(_proof(proof, to_root) for proof in line.proofs), *(tag("code", c) for c in line.commands)], "<br>"), class_="text"),
        )
        for line in CHECKLIST
    ]  # fmt: skip
    head = tag("tr", *(tag("th", title, scope="col", class_="text") for title in ("asked for", "how", "proof")))
    table = tag("table", tag("thead", head), tag("tbody", *rows))
    about = "What a production context manager must do, each line with tests of this repository that prove it: `python -m pytest NODE`."
    return tag(
        "section",
        _heading(2, "Checklist of a production context manager", "checklist"),
        tag("p", prose(about)),
        tag("div", table, class_="scroll", tabindex="0", role="region", aria_label="Checklist"),
    )


def _proof(node: str, to_root: str | None) -> Html:
    file, _, test = node.partition("::")
    words = join([tag("code", file), tag("br"), tag("span", test.replace("_", " ").removeprefix("test "), class_="test")])  # fmt: skip
    return words if to_root is None else tag("a", words, href=f"{to_root}/{file}".removeprefix("./"), title=node)


def _guide() -> Html:
    entries = [join([tag("dt", term), tag("dd", prose(text))]) for term, text in GUIDE]
    return tag("section", _heading(2, "How to read it", "guide"), tag("dl", *entries))


def _facts(facts: Facts) -> Html:
    commands = [*facts.timings, Timing(command=facts.command)]
    made = [
        tag("tr", tag("td", tag("code", one.command), class_="text wide"), tag("td", _seconds(one.seconds), class_="number"), tag("td", one.machine or NOTHING, class_="text"))
        for one in commands
    ]  # fmt: skip
    head = tag("tr", *(tag("th", title, scope="col", class_=side) for title, side in (("command", "text"), ("took", "number"), ("machine", "text"))))  # fmt: skip
    lines = [f"The test part was opened on {one.at} for {one.candidate}." for one in facts.opened]
    lines += dict.fromkeys(
        f"Rows by Trimtab {one.trimtab} on Python {one.python}"
        + (
            f"; the last bench in their folder was asked for {', '.join(f'{key} {value}' for key, value in one.arguments.items())}."
            if one.arguments
            else "."
        )
        for one in facts.manifests
    )
    lines += [
        _runs(stage, [run for run in facts.runs if run.stage == stage])
        for stage in sorted({run.stage for run in facts.runs})
    ]
    lines += facts.notes
    return tag(
        "section",
        _heading(2, "How it was made", "facts"),
        tag("p", _REBUILT if facts.timings else _UNTOLD),
        tag("div", tag("table", tag("thead", head), tag("tbody", *made)), class_="scroll", tabindex="0", role="region", aria_label="Commands"),
        tag("p", "Versions: " + ", ".join(f"{name} {version}" for name, version in sorted(facts.versions.items())) + "."),
        tag("ul", *(tag("li", line) for line in lines)) if lines else None,
    )  # fmt: skip


_REBUILT = "These commands rebuild it. The same rows give the same page, byte for byte, so how long making it took isn't on it."
_UNTOLD = "How its rows were played isn't on record in these folders. The same rows give the same page, byte for byte, so how long making it took isn't on it."


def _runs(stage: str, runs: Sequence[Run]) -> str:
    timed = [run.seconds for run in runs if run.seconds]
    took = f"{_seconds(sum(timed))} in all" if len(timed) == len(runs) else "how long they took isn't on record"
    decisions = sum(run.decisions for run in runs)
    of = f"of the stage “{stage}”" if stage else "whose record names no stage"
    return f"Training runs {of}: {len(runs):,}, {took}" + (f", {decisions:,} decisions." if decisions else ".")


def _seconds(seconds: float | None) -> str:
    if seconds is None:
        return NOTHING
    return f"{seconds:.1f} s" if seconds < 90 else f"{seconds / 60:.1f} min"
