"""How servers that speak Chat Completions want to be told how much to think: one level, five spellings.

`ModelInfo.thinking_style` names the spelling; "" is OpenAI's own, because most servers that know any know that one.

    effort             {"reasoning_effort": LEVEL}, "none" for off
    toggle             {"thinking": {"type": "enabled" | "disabled"}}
    toggle_effort      the same, with `reasoning_effort` beside it when it is on
    enable_thinking    {"enable_thinking": true | false}
    reasoning          {"reasoning": {"effort": LEVEL}}, "none" for off

Sources: the API references of OpenAI, xAI and Groq (effort), Z.ai and Moonshot (toggle), DeepSeek (toggle_effort), DashScope
(enable_thinking) and OpenRouter (reasoning).
"""

from typing import Any


def thinking_fields(level: str | None, style: str) -> dict[str, Any]:
    """The fields of a Chat Completions body that ask for `level`; {} for None, which leaves it to the server."""
    if level is None:
        return {}
    on = level != "off"
    effort = level if on else "none"
    match style:
        case "toggle":
            return {"thinking": {"type": "enabled" if on else "disabled"}}
        case "toggle_effort":
            return (
                {"thinking": {"type": "enabled"}, "reasoning_effort": level}
                if on
                else {"thinking": {"type": "disabled"}}
            )
        case "enable_thinking":
            return {"enable_thinking": on}
        case "reasoning":
            return {"reasoning": {"effort": effort}}
        case _:
            return {"reasoning_effort": effort}
