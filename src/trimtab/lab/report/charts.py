"""Plots of figure tables: altair makes a specification, `vl-convert` makes the picture, once, when the page is made.

    Table ──chart──▶ specification ──drawn──▶ SVG that takes its colours from the page

Colours in a specification are names in disguise (`ROLES`): in the picture each becomes a variable of the page's style, so one picture is right in light, in dark and in
print. The only module that needs the extra `report`; whoever draws nothing never loads it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import altair as alt

from trimtab.lab.corpora.intervals import Interval
from trimtab.lab.report.bearing import bounded
from trimtab.lab.report.labels import GAP, Frame, placed
from trimtab.lab.report.table import Cell, Form, Table, told

Spec: TypeAlias = dict[str, Any]
Roles: TypeAlias = Mapping[str, str]
"""The role of each arm's colour."""
Record: TypeAlias = dict[str, Any]
ROLES: Mapping[str, str] = {
    name: f"#0a00{number:02x}"
    for number, name in enumerate(
        (
            "paper",
            "ink",
            "soft",
            "grid",
            "keep",
            "rule",
            "peer",
            "random",
            "learned",
            "learned-2",
            "learned-3",
            "bound",
        ),
        1,
    )
}
"""Each role of a colour, by what stands for it in a specification."""
_WIDTH, _HEIGHT, _ROW = 640, 340, 22
_SHAPES = {"keep": ("square", "■"), "rule": ("circle", "●"), "peer": ("triangle-up", "▲"), "random": ("cross", "✚"), "learned": ("diamond", "◆"), "bound": ("triangle-down", "▼")}  # fmt: skip
_PERCENT = "%"
_LETTER = 7.4
"""Pixels of a letter of a label, on the large side: how wide fonts are isn't known until somebody looks."""


@dataclass(frozen=True, slots=True)
class Key:
    """An entry of a legend, which the page writes: it wraps, and a picture's wouldn't."""

    label: str
    role: str
    glyph: str = "●"


@dataclass(frozen=True, slots=True)
class Plot:
    """A specification and its legend."""

    spec: Spec
    legend: tuple[Key, ...] = ()


def _config() -> Spec:
    ink, soft, grid = ROLES["ink"], ROLES["soft"], ROLES["grid"]
    return {
        "background": None,
        "view": {"stroke": None},
        "font": "Helvetica, Arial, sans-serif",
        "axis": {
            "labelColor": soft, "titleColor": soft, "gridColor": grid, "domainColor": grid, "tickColor": grid, "labelFontSize": 12,
            "titleFontSize": 12, "titleFontWeight": "normal", "labelLimit": 240, "titlePadding": 8,
        },
        "title": {"color": ink, "fontSize": 13, "fontWeight": "normal", "anchor": "start"},
    }  # fmt: skip


def pareto(table: Table, roles: Roles) -> Plot:
    """Success against cost, the front as a line, and a name at each arm that there is room for."""
    data = Datasets()
    points: list[Record] = [
        {**row, "says": f"{row['arm']}: cost {told(row['cost'], 'share')}, success {told(row['success'], 'share')}"}
        for row in table.rows
    ]
    kinds = _present(points)
    frame = Frame.around([(point["cost"], point["success"]) for point in points], _WIDTH, _HEIGHT)
    x = alt.X("cost:Q", title="cost, as a share of keeping everything (less is better)", axis=alt.Axis(format=_PERCENT, tickCount=7), scale=alt.Scale(domain=list(frame.x), nice=False))  # fmt: skip
    y = alt.Y("success:Q", title="success", axis=alt.Axis(format=_PERCENT, tickCount=6), scale=alt.Scale(domain=list(frame.y), nice=False))  # fmt: skip
    shape = alt.Shape("kind:N", scale=alt.Scale(domain=kinds, range=[_SHAPES[kind][0] for kind in kinds]), legend=None)
    front = data.add([point for point in points if point["front"] == "yes"])
    line = alt.Chart(front).mark_line(interpolate="step-after", strokeWidth=1.2, strokeDash=[5, 4], color=ROLES["soft"])
    dots = alt.Chart(data.add(points)).mark_point(size=90, filled=True, opacity=0.95)
    layers = (
        line.encode(x=x, y=y),
        *_names_of(data, points, roles, frame, x),
        dots.encode(x=x, y=y, color=_kind_color(points), shape=shape, description="says:N"),
    )
    legend = (*_kinds_key(points, shapes=True), Key("the front: no other arm beats these", "soft", "╌"))
    return Plot(data.spec(alt.layer(*layers).properties(width=_WIDTH, height=_HEIGHT)), legend)


def _names_of(data: "Datasets", points: Sequence[Record], roles: Roles, frame: Frame, x: Any) -> Iterator[Any]:
    """The names of the arms that matter, each where it lies on nothing; a halo keeps lines out of them."""
    shown = [point["arm"] if point["arm"] in roles or point["front"] != "no" else "" for point in points]
    by_arm = {point["arm"]: point for point in points}
    where = placed([(point["cost"], point["success"]) for point in points], shown, frame)
    y = alt.Y("at:Q", title="success")
    for side, align, dx in (("right", "left", GAP), ("left", "right", -GAP)):
        here = [{**by_arm[one.name], "at": by_arm[one.name]["success"] + frame.up(one.above)} for one in where if one.side == side]  # fmt: skip
        if not here:
            continue
        words = alt.Chart(data.add(here)).encode(x=x, y=y, text="arm:N")
        style = {"align": align, "dx": dx, "fontSize": 11.5}
        yield words.mark_text(**style, color=ROLES["paper"], stroke=ROLES["paper"], strokeWidth=4)
        yield words.mark_text(**style, color=ROLES["ink"])


def weights(table: Table, roles: Roles) -> Plot:
    """Reward over the weight of cost."""
    return _lines(table, roles, "weight", "reward", "weight of cost in the reward", "reward", "number", "")


def noticed(table: Table, roles: Roles) -> Plot:
    """Success over the chance that a stub is noticed."""
    return _lines(
        table, roles, "chance", "success", "chance that a stub is noticed", "success", "share", _PERCENT, bound=False
    )


def _lines(
    table: Table,
    roles: Roles,
    x: str,
    y: str,
    x_title: str,
    y_title: str,
    form: Form,
    spelt: str,
    *,
    bound: bool = True,
) -> Plot:
    data = Datasets()
    rows = [
        {**row, "says": f"{row['arm']} at {told(row[x], 'number')}: {told(row[y], form)}"}
        for row in table.rows
        if bound or roles.get(str(row["arm"])) != "bound"
    ]
    arms = list(dict.fromkeys(str(row["arm"]) for row in rows))
    base = alt.Chart(data.add(rows)).encode(
        x=alt.X(f"{x}:Q", title=x_title, axis=alt.Axis(tickCount=6)),
        y=alt.Y(f"{y}:Q", title=y_title, axis=alt.Axis(format=spelt, tickCount=6), scale=alt.Scale(zero=False)),
        color=alt.Color(
            "arm:N", scale=alt.Scale(domain=arms, range=[ROLES[_role(arm, roles)] for arm in arms]), legend=None
        ),
    )
    dots = base.mark_point(filled=True, size=45, opacity=1).encode(description="says:N")
    legend = tuple(Key(arm, _role(arm, roles), "━") for arm in arms)
    return Plot(data.spec((base.mark_line(strokeWidth=2) + dots).properties(width=_WIDTH, height=280)), legend)


def curves(table: Table, roles: Roles) -> Plot:
    """A panel an arm: the median with the middle half, and keeping everything as a thin line in each."""
    data = Datasets()
    arms = list(dict.fromkeys(str(row["arm"]) for row in table.rows))
    kept = [row for row in table.rows if roles.get(str(row["arm"])) == "keep"]
    top = max(float(_number(row["high"])) for row in table.rows)
    last = max(float(_number(row["step"])) for row in table.rows)
    y_scale, x_scale = alt.Scale(domain=[0, top * 1.04], nice=False), alt.Scale(domain=[1, last])
    panels = []
    for arm in arms:
        mine = [dict(row) for row in table.rows if row["arm"] == arm]
        color = ROLES[_role(arm, roles)]
        x = alt.X("step:Q", title="request", scale=x_scale, axis=alt.Axis(grid=False, tickCount=4))
        y = alt.Y("median:Q", title="tokens", scale=y_scale, axis=alt.Axis(format="~s", tickCount=4))
        band = alt.Chart(data.add(mine)).mark_area(opacity=0.22, color=color).encode(x=x, y=alt.Y("low:Q", title="tokens", scale=y_scale), y2="high:Q")  # fmt: skip
        line = alt.Chart(data.add(mine)).mark_line(strokeWidth=2, color=color).encode(x=x, y=y)
        behind = alt.Chart(data.add([dict(row) for row in kept])).mark_line(strokeWidth=1, strokeDash=[3, 3], color=ROLES["soft"]).encode(x=x, y=y)  # fmt: skip
        layers = (band, line) if not kept or roles.get(arm) == "keep" else (behind, band, line)
        panels.append(alt.layer(*layers).properties(width=188, height=130, title=arm))
    legend = (Key("median", "ink", "━"), Key("middle half", "grid", "■"))
    return Plot(
        data.spec(alt.concat(*panels, columns=3, spacing=26)),
        (*legend, Key("keeping everything", "soft", "╌")) if kept else legend,
    )


def regret(table: Table, roles: Roles) -> Plot:
    """Regret with its interval, the least first."""
    data = Datasets()
    title = "regret: reward of the clairvoyant arm less its own (less is better)"
    rows = [{**_with_ends(row, "regret", "number", str(row["arm"])), "arm": row["arm"], "kind": row["kind"]} for row in table.rows]  # fmt: skip
    base = alt.Chart(data.add(rows)).encode(y=_names([str(row["arm"]) for row in rows], "arm"), color=_kind_color(rows))
    bars = base.mark_rule(strokeWidth=2.5).encode(x=alt.X("low:Q", title=title), x2="high:Q")
    x = alt.X("value:Q", title=title, axis=alt.Axis(tickCount=6), scale=alt.Scale(zero=True))
    dots = base.mark_point(filled=True, size=80, opacity=1).encode(x=x, description="says:N")
    chart = (bars + dots).properties(width=_WIDTH - 140, height=_ROW * len(rows))
    return Plot(data.spec(chart), _kinds_key(rows))


def bounds(table: Table, roles: Roles) -> Plot:
    """Each arm from one bound to the other: cost on the left, success on the right."""
    data = Datasets()
    rows = [dict(row) for row in table.rows]
    order = [str(row["arm"]) for row in rows]
    panels = []
    for low, high, title in (
        ("cost_low", "cost_high", "cost, optimistic to pessimistic"),
        ("success_low", "success_high", "success, “fails” to optimistic"),
    ):
        for row in rows:
            row[f"{low}_says"] = f"{row['arm']}: {told(row[low], 'share')} to {told(row[high], 'share')}"
        first = low == "cost_low"
        y = _names(order, "arm", labels=first)
        x = alt.X(f"{low}:Q", title=title, axis=alt.Axis(format=_PERCENT, tickCount=5), scale=alt.Scale(zero=False))
        base = alt.Chart(data.add(rows)).encode(y=y, x=x, x2=f"{high}:Q", color=_kind_color(rows), description=f"{low}_says:N")  # fmt: skip
        panels.append(base.mark_bar(height=7, cornerRadius=3).properties(width=250, height=_ROW * len(rows)))
    return Plot(data.spec(alt.hconcat(*panels, spacing=24)), _kinds_key(rows))


def path(table: Table, roles: Roles) -> Plot:
    """Success, cost and reward of each step with their intervals, one below the other."""
    data = Datasets()
    steps = [str(row["step"]) for row in table.rows]
    shown: tuple[tuple[str, str, Form, str], ...] = (
        ("success", "success", "share", _PERCENT),
        ("cost", "cost (less is better)", "share", _PERCENT),
        ("reward", "reward", "number", ""),
    )
    panels = []
    for key, title, form, spelt in shown:
        rows = [
            {**_with_ends(row, key, form, str(row["step"])), "place": place}
            for place, row in enumerate(table.rows)
            if isinstance(row.get(key), Interval)
        ]
        y = _names(steps, "step", labels=key == "success")
        x = alt.X("value:Q", title=title, axis=alt.Axis(format=spelt, tickCount=3, labelOverlap=True), scale=alt.Scale(zero=False, padding=8))  # fmt: skip
        base = alt.Chart(data.add(rows)).encode(y=y, x=x)
        trail = base.mark_line(strokeWidth=1, color=ROLES["soft"]).encode(order="place:Q")
        bars = base.mark_rule(strokeWidth=2.5, color=ROLES["learned"]).encode(x=alt.X("low:Q", title=title), x2="high:Q")  # fmt: skip
        dots = base.mark_point(filled=True, size=80, opacity=1, color=ROLES["learned"]).encode(description="says:N")
        panels.append((trail + bars + dots).properties(width=168, height=34 * len(steps)))
    return Plot(data.spec(alt.hconcat(*panels, spacing=22)))


def ablation(table: Table, roles: Roles) -> Plot:
    """Reward of each variant, with context-aware branch points and with random ones side by side."""
    data = Datasets()
    rows = [
        {
            **_with_ends(
                row,
                "reward",
                "number",
                ", branching ".join(filter(None, map(str, (row["variant"], row["branching"] or "")))),
            ),
            "variant": row["variant"],
            "branching": row["branching"] or "no training",
        }
        for row in table.rows
    ]
    ways = list(dict.fromkeys(str(row["branching"]) for row in rows))
    colors = {"context": "learned", "none": "rule"} | {"random": "random", "no training": "soft"}
    color = alt.Color("branching:N", scale=alt.Scale(domain=ways, range=[ROLES[colors.get(way, "bound")] for way in ways]), legend=None)  # fmt: skip
    variants = list(dict.fromkeys(str(row["variant"]) for row in rows))
    y = _names(variants, "variant")
    offset = alt.YOffset("branching:N", sort=ways)
    x = alt.X("value:Q", title="reward, mean over seeds and tasks", axis=alt.Axis(tickCount=6), scale=alt.Scale(zero=False, padding=8))  # fmt: skip
    base = alt.Chart(data.add(rows)).encode(y=y, yOffset=offset, color=color)
    bars = base.mark_rule(strokeWidth=2.5).encode(
        x=alt.X("low:Q", title="reward, mean over seeds and tasks"), x2="high:Q"
    )
    dots = base.mark_point(filled=True, size=80, opacity=1).encode(x=x, description="says:N")
    chart = (bars + dots).properties(width=_WIDTH - 80, height=52 * len(variants))
    return Plot(
        data.spec(chart),
        tuple(Key(way if way == "no training" else f"branching {way}", colors.get(way, "bound")) for way in ways),
    )


CHARTS: Mapping[str, Callable[[Table, Roles], Plot]] = {
    "pareto": pareto,
    "weights": weights,
    "curves": curves,
    "regret": regret,
    "bounds": bounds,
    "noticed": noticed,
    "path": path,
    "ablation": ablation,
}
"""Each plot by its name."""


def _with_ends(row: Mapping[str, Cell], key: str, form: Form, name: str) -> Record:
    found = row[key]
    assert isinstance(found, Interval)
    low, high = (end if bounded(found) else found.value for end in (found.low, found.high))  # one run has no interval
    return {
        "step": row.get("step"),
        "value": found.value,
        "low": low,
        "high": high,
        "says": f"{name}: {told(found, form)}",
    }


def _names(order: Sequence[str], field: str, *, labels: bool = True) -> Any:
    """The axis with a name a row, as wide as its longest name."""
    wide = _LETTER * max(map(len, order), default=0) + 8
    room = {"minExtent": wide, "maxExtent": wide} if labels else {}
    axis = alt.Axis(grid=False, ticks=False, domain=False, labels=labels, **room)
    return alt.Y(f"{field}:N", sort=list(order), title=None, scale=alt.Scale(domain=list(order)), axis=axis)


def _present(rows: Sequence[Record]) -> list[str]:
    return [kind for kind in _SHAPES if any(row["kind"] == kind for row in rows)]


def _kind_color(rows: Sequence[Record]) -> Any:
    kinds = _present(rows)
    return alt.Color("kind:N", scale=alt.Scale(domain=kinds, range=[ROLES[kind] for kind in kinds]), legend=None)


def _kinds_key(rows: Sequence[Record], *, shapes: bool = False) -> tuple[Key, ...]:
    return tuple(Key(kind, kind, _SHAPES[kind][1] if shapes else "●") for kind in _present(rows))


def _role(arm: str, roles: Roles) -> str:
    return roles.get(arm, "soft")


def _number(cell: Cell) -> float:
    assert isinstance(cell, int | float)
    return cell


class Datasets:
    """The rows that a specification shows, beside it and by name: altair looks at whatever it carries itself, a row at a time."""

    def __init__(self) -> None:
        self._rows: dict[str, list[Record]] = {}

    def add(self, rows: Sequence[Mapping[str, Any]]) -> Any:
        """Keep rows, without their intervals, and return what a chart refers to them by."""
        name = f"data-{len(self._rows)}"
        self._rows[name] = [{k: v for k, v in row.items() if not isinstance(v, Interval)} for row in rows]
        return alt.NamedData(name=name)

    def spec(self, chart: Any) -> Spec:
        """Return a chart as a specification with its rows and the page's style."""
        made: Spec = chart.to_dict(validate=False)  # the tests draw every kind
        return {**made, "datasets": self._rows, "config": _config()}
