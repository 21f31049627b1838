"""What a plan says about a path, and in which order places are laid on each other."""

from hypothesis import given
from hypothesis import strategies as st

from trimtab.coding.sandbox.plan import Confinement, Place, by_depth, is_in

PATHS = st.lists(st.sampled_from(["a", "b", "c"]), min_size=0, max_size=4).map(lambda names: "/" + "/".join(names))
PLACES = st.lists(st.builds(Place, st.sampled_from(["write", "read"]), PATHS), max_size=6)


def test_the_deeper_place_holds_and_of_two_for_one_path_the_later() -> None:
    plan = Confinement(
        by_depth(
            (
                Place("read", "/p/.git/config"),
                Place("write", "/p"),
                Place("read", "/p/.git/hooks"),
                Place("write", "/p/.git/config"),
            )
        )
    )
    assert plan.places == (Place("write", "/p"), Place("write", "/p/.git/config"), Place("read", "/p/.git/hooks"))
    may = {path: plan.may_write(path) for path in ("/p", "/p/x", "/p/.git/config", "/p/.git/hooks/x", "/q", "/", "/pp")}
    assert may == {
        "/p": True,
        "/p/x": True,
        "/p/.git/config": True,
        "/p/.git/hooks/x": False,
        "/q": False,
        "/": False,
        "/pp": False,
    }


def test_a_folder_between_a_place_to_write_and_one_to_keep_is_named_itself() -> None:
    plan = Confinement(by_depth((Place("write", "/t"), Place("read", "/t/a/b/c"), Place("read", "/u/v/w"))))
    assert plan.guarded() == (
        Place("write", "/t"),
        Place("write", "/t/a"),
        Place("write", "/t/a/b"),
        Place("read", "/u/v/w"),
        Place("read", "/t/a/b/c"),
    )
    assert plan.kept() == ("/t/a/b/c",)


@given(PLACES, PATHS)
def test_what_is_named_more_changes_nothing_about_what_may_be_written(places: list[Place], path: str) -> None:
    plan = Confinement(by_depth(places))
    named = Confinement(plan.guarded())
    assert named.may_write(path) == plan.may_write(path)
    assert [p.path for p in named.places] == sorted({p.path for p in named.places}, key=lambda p: (_depth(p), p))


@given(PLACES)
def test_nothing_around_a_kept_place_can_be_renamed(places: list[Place]) -> None:
    """Each folder around it is a place of its own (a mount), or lies where nothing may be written."""
    plan = Confinement(by_depth(places))
    named = {place.path for place in plan.guarded()}
    for kept in plan.kept():
        folder = kept.rpartition("/")[0]
        while folder:
            assert folder in named or not any(is_in(folder, root) for root in plan.write)
            folder = folder.rpartition("/")[0]


def _depth(path: str) -> int:
    return path.rstrip("/").count("/")
