"""A browser on this machine, where there is a screen for one. One that would take over the terminal isn't opened."""

import sys
from collections.abc import Callable, Mapping


def has_browser(env: Mapping[str, str]) -> bool:
    """Whether a browser can be shown here, and not on the machine that one came from."""
    away = env.get("SSH_CONNECTION") or env.get("SSH_TTY")
    return not away and (sys.platform == "darwin" or bool(env.get("DISPLAY") or env.get("WAYLAND_DISPLAY")))


def opener(env: Mapping[str, str]) -> Callable[[str], bool]:
    """What opens an address and says whether it could."""

    def open_url(url: str) -> bool:
        if not has_browser(env):
            return False
        import webbrowser  # noqa: PLC0415 - few logins need one

        try:
            browser = webbrowser.get()
            in_terminal = isinstance(browser, webbrowser.GenericBrowser) and not isinstance(
                browser, webbrowser.BackgroundBrowser
            )
            return not in_terminal and browser.open(url)
        except (webbrowser.Error, OSError):
            return False

    return open_url
