"""Where things are kept."""

from pathlib import Path

from trimtab.config.home import find_home


def test_the_home_variable_puts_everything_in_one_folder(tmp_path: Path) -> None:
    home = find_home({"TRIMTAB_HOME": str(tmp_path)})
    assert (home.config_file, home.sessions, home.bodies, home.trust_file) == (
        tmp_path / "config.toml",
        tmp_path / "sessions",
        tmp_path / "bodies",
        tmp_path / "trust.json",
    )


def test_without_it_the_platform_decides() -> None:
    home = find_home({})
    assert home.config.name == home.data.name == "trimtab"
