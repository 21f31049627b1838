"""The page: one file that fetches nothing, says what it lacks, and leads where its links say. Plots are stand-ins here."""

import re
from collections import Counter
from html.parser import HTMLParser

import pytest

from support.bench_rows import row, rows_of
from support.pages import ROOT
from trimtab.lab.bench.folder import Manifest, Opened
from trimtab.lab.report.markup import Html, join, prose, tag
from trimtab.lab.report.page import Facts, page
from trimtab.lab.report.reading import Found, Run, Timing
from trimtab.lab.report.sections import Figure, report_of

FACTS = Facts(
    {"trimtab": "1.2.3"},
    "trimtab report lab",
    "2026-11-30",
    (Manifest(content="c0de", arguments={"part": "test"}),),
    (Timing(command="trimtab bench --part test", seconds=312.4, machine="2 cores"),),
    (Run(stage="rl", seconds=30.0, decisions=400), Run(stage="rl", seconds=90.0, decisions=600)),
    (Opened("2026-11-29", "rl"),),
    ("A line was left out.",),
    "..",
)


class Seen(HTMLParser):
    """What a browser would see: ids, links, elements, and whether everything that is opened is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: Counter[str] = Counter()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        named = dict(attrs)
        self.ids += [named["id"] or ""] if "id" in named else []
        self.links += [named[key] or "" for key in ("href", "src") if key in named]
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def made(found: Found, facts: Facts = FACTS) -> tuple[str, Seen]:
    drawn: list[str] = []

    def picture(figure: Figure) -> Html:
        drawn.append(figure.kind)
        return Html("<svg></svg>")

    text = page(report_of(found), facts, picture)
    seen = Seen()
    seen.feed(text)
    assert seen.open == []
    assert len(drawn) == seen.tags["svg"]
    return text, seen


@pytest.fixture(scope="module")
def whole(found: Found) -> tuple[str, Seen]:
    return made(found)


def test_it_holds_everything_and_fetches_nothing(whole: tuple[str, Seen]) -> None:
    text, seen = whole
    assert not {"script", "link", "img", "iframe", "object"} & seen.tags.keys()
    assert not re.search(r"https?://|@import|url\(", text)


def test_its_links_lead_to_its_own_headings_or_into_the_repository(whole: tuple[str, Seen]) -> None:
    _, seen = whole
    assert [name for name, count in Counter(seen.ids).items() if count > 1] == []
    inner = [link[1:] for link in seen.links if link.startswith("#")]
    assert set(inner) <= set(seen.ids)
    outer = [link for link in seen.links if not link.startswith("#")]
    assert outer
    assert [link for link in outer if not (ROOT / "docs" / link).exists()] == []


def test_away_from_a_repository_proofs_are_named_and_not_linked(found: Found) -> None:
    text, seen = made(Found(found.rows[:13]), Facts({}, "trimtab report"))
    assert all(link.startswith("#") for link in seen.links)
    assert "tests/lab/test_reward.py" in text


def test_every_table_says_its_tier_n_and_seeds(whole: tuple[str, Seen]) -> None:
    captions = re.findall(r"<caption>(.*?)</caption>", whole[0])
    assert len(captions) > 30
    assert [caption for caption in captions if not re.match(r"(T\d · .*n = [\d,]+|a hand-made story)", caption)] == []


def test_a_tier_without_rows_is_said_loudly(whole: tuple[str, Seen]) -> None:
    assert "Skipped: these folders hold no row of T3, a live model." in whole[0]
    assert "T3, a live model. Nothing on this page is about that." in whole[0]


def test_sections_that_say_something_come_first_the_weightiest_in_front(found: Found) -> None:
    def anchors(one: Found) -> list[str]:
        return [section.anchor for section in report_of(one).sections]

    assert anchors(found)[0] == "t2-test"
    assert anchors(found)[-1] == "t3"
    few = Found(tuple(rows_of("T0", "test", stories=3, seeds=(0,))))
    assert anchors(few) == ["t0-test", "path", "hacking", "t2", "t1", "t3", "ablation"]


def test_what_no_data_is_there_for_keeps_its_place_and_says_why() -> None:
    text, _ = made(Found(tuple(rows_of("T0", "test", stories=3, seeds=(0,)))))
    assert "No data: No ablation.json of" in text
    assert "Nothing is claimed here: there are 3 stories, and a claim takes 5." in text
    assert "the figures of the best of each kind are too good" in text
    assert "The gate for a default isn't judged here" in text


def test_one_row_of_one_arm_makes_a_page(found: Found) -> None:
    text, _ = made(Found((row("none"),)))
    assert "There is no learned arm and no rule to compare." in text


def test_real_material_is_a_section_of_its_own_with_all_its_figures() -> None:
    rows = [*rows_of("T0", "validation", stories=6), *rows_of("T0", "real", stories=6)]
    sections = {section.anchor: section for section in report_of(Found(tuple(rows))).sections}
    real = sections["t0-real"]
    assert real.title == "T0 · real: tasks made of published texts, never learned from and never used to choose"
    assert [type(part) for part in real.parts] == [type(part) for part in sections["t0-validation"].parts]
    assert "The best of each kind was chosen on T0 validation." in real.lines
    text, _ = made(Found(tuple(rows)))
    assert '<a href="#t0-real">T0 · real</a>' in text


def test_stories_that_some_arm_did_not_play_are_left_out_and_counted() -> None:
    rows = [row("none", story="a"), row("none", story="b"), row("rules", "rule", story="a")]
    assert "1 stories are left out, because some arm didn't play them." in made(Found(tuple(rows)))[0]


def test_it_says_how_it_was_made_how_long_that_took_and_what_was_opened(whole: tuple[str, Seen]) -> None:
    for words in (
        "2026-11-30",
        "trimtab 1.2.3",
        "<code>trimtab bench --part test</code>",
        "5.2 min",
        "Training runs of the stage “rl”: 2, 2.0 min in all, 1,000 decisions.",
        "The test part was opened on 2026-11-29 for rl.",
        "the last bench in their folder was asked for part test.",
        "These commands rebuild it.",
        "A line was left out.",
    ):
        assert words in whole[0], words


def test_of_what_is_not_on_record_it_says_so_and_claims_no_time(found: Found) -> None:
    runs = (Run(), Run(stage="clone", seconds=200.0), Run(stage="clone"))
    text, _ = made(Found(found.rows[:13]), Facts({}, "trimtab report", runs=runs))
    assert "How its rows were played isn't on record in these folders." in text
    assert "Training runs whose record names no stage: 1, how long they took isn't on record." in text
    assert "Training runs of the stage “clone”: 2, how long they took isn't on record." in text


def test_without_a_date_there_is_none(found: Found) -> None:
    text, _ = made(Found(found.rows[:13]), Facts({"trimtab": "1"}, "trimtab report"))
    assert '<p class="sub">Trimtab 1</p>' in text


def test_a_hostile_name_is_text() -> None:
    evil = '<script>alert("1")</script>'
    text, seen = made(Found((row(evil, "rule", family=evil, project=evil), row("none"))))
    assert seen.tags["script"] == 0
    assert "&lt;script&gt;" in text


def test_markup_is_made_of_escaped_text_alone() -> None:
    assert tag("p", "a < b", Html("<b>c</b>"), class_="x", hidden=True, title='"') == (
        '<p class="x" hidden title="&quot;">a &lt; b<b>c</b></p>'
    )
    assert tag("br") == "<br>"
    assert join(["a", None, Html("<i>")], " · ") == "a · <i>"
    assert prose("`a<b` costs less") == "<code>a&lt;b</code> costs less"
