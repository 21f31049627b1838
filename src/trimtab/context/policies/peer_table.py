"""The peers, as data: what each is known to do, where that was read, and what isn't known.

`known` says how: `documented` by its maker, `read` in its source (by us or by whoever published it), `measured` on recorded sessions, `guessed`. A row
is right for its date; agents change their figures with any version.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from trimtab.context.policies.peer import Clear, Compaction, Level, Peer, Tidy

Known: TypeAlias = Literal["documented", "read", "measured", "guessed"]


@dataclass(frozen=True, slots=True)
class PeerRow:
    """One peer. `unknown` says what was guessed or left out."""

    peer: Peer
    agent: str
    source: str
    date: str
    known: Known
    unknown: str

    @property
    def name(self) -> str:
        """The name of the policy."""
        return self.peer.name


_CLAUDE_CODE_TOOLS = ("Read", "Bash", "Grep", "Glob", "WebSearch", "WebFetch", "Edit", "Write")
_CLAUDE_CODE_FULL = Compaction(above=Level(below=13_000, reserve=20_000))
_OPENCODE_PRUNE = Clear(keep_tokens=40_000, keep_turns=2, at_least=20_000, protect=("skill",), when="turn")
_OPENCODE_FULL = Compaction(above=Level(below=0, reserve=32_000))
_DCP_PROTECTED = (
    "task",
    "todowrite",
    "todoread",
    "discard",
    "extract",
    "batch",
    "write",
    "edit",
    "plan_enter",
    "plan_exit",
)

PEERS: tuple[PeerRow, ...] = (
    PeerRow(
        Peer(
            clear=(Clear(keep_results=5, only=_CLAUDE_CODE_TOOLS, when="cold"),),
            compaction=_CLAUDE_CODE_FULL,
            name="claude-code",
        ),
        agent="Claude Code 2.1",
        source="https://zhanghandong.github.io/harness-engineering-from-cc-to-ai-coding/en/part3/ch09.html and"
        " https://manavgup.github.io/shipai/deep-dives/claude-code/06-context-autocompact.html; recorded sessions compact at 155k-170k of 200k",
        date="2026",
        known="read",
        unknown="After a compaction it attaches files and state again; how much differs, so nothing is kept here. It calls the cache cold after"
        " 60 minutes; here the engine says when. Clearing on the server, which breaks no cache, is its maker's alone and left out.",
    ),
    PeerRow(
        Peer(
            clear=(
                Clear(
                    above=Level(below=33_000, reserve=20_000),
                    keep_results=3,
                    at_least=20_000,
                    only=_CLAUDE_CODE_TOOLS,
                ),
            ),
            compaction=_CLAUDE_CODE_FULL,
            name="claude-code-micro",
        ),
        agent="Claude Code 2.0",
        source="constants of version 2.0.76 as published by readers of its bundle: 3 results stay, 20,000 tokens must go, above a warning level 20,000 below the compaction's",
        date="2025-12",
        known="read",
        unknown="Its rule for pictures is left out.",
    ),
    PeerRow(
        Peer(compaction=Compaction(above=Level(share=0.9), keep_user_tokens=20_000), name="codex"),
        agent="Codex CLI",
        source="https://github.com/openai/codex (90 % of the window, 20,000 tokens of user messages kept); recorded sessions compact at 204k-236k of 258k",
        date="2026",
        known="read",
        unknown="Compaction on the server is opaque and left out. Its summary stands behind the user's messages; ours stands in front of what it replaces.",
    ),
    PeerRow(
        Peer(clear=(_OPENCODE_PRUNE,), compaction=_OPENCODE_FULL, name="opencode"),
        agent="opencode",
        source="https://github.com/okwinds/openagentic-sdk/blob/main/docs/plans/opencode-parity-v2-06-compaction.md (of packages/opencode/src/session/compaction.ts)",
        date="2026-01",
        known="read",
        unknown="It adds the last answer to the size that it compares.",
    ),
    PeerRow(
        Peer(
            tidy=Tidy(duplicates=True, failed_turns=4, protect=_DCP_PROTECTED),
            clear=(_OPENCODE_PRUNE,),
            compaction=_OPENCODE_FULL,
            name="opencode-dcp",
        ),
        agent="opencode with the Dynamic Context Pruning plugin",
        source="https://github.com/vbgate/opencodedocs (defaults of dcp.jsonc, lib/config.ts)",
        date="2026-01-23",
        known="read",
        unknown="Every 10 results it asks its model to prune; what a model then does can't be replayed, so only its automatic strategies are here.",
    ),
    PeerRow(
        Peer(compaction=Compaction(above=Level(below=16_384), keep_tokens=20_000, when="turn"), name="pi"),
        agent="pi",
        source="https://github.com/earendil-works/pi (docs/compaction.md: reserveTokens 16384, keepRecentTokens 20000)",
        date="2026",
        known="documented",
        unknown="When it checks is taken from tau, which follows it: between runs, and when a request doesn't fit.",
    ),
    PeerRow(
        Peer(compaction=Compaction(above=Level(below=16_384), keep_tokens=20_000, when="turn"), name="tau"),
        agent="tau 0.4.8",
        source="https://github.com/huggingface/tau, installed and run: checks before a prompt, after a run and on overflow, never between steps",
        date="2026",
        known="measured",
        unknown="It moves the border of what it keeps on to the next user message where there is one; here it falls between groups.",
    ),
    PeerRow(
        Peer(clear=(Clear(keep_results=5),), name="swe-agent"),
        agent="SWE-agent",
        source="https://github.com/SWE-agent/SWE-agent (history processor of the last 5 observations, as in its first paper)",
        date="2024",
        known="documented",
        unknown="Newer defaults differ by configuration. The first observation, which always stays there, is the task; here that is the first prompt.",
    ),
    PeerRow(
        Peer(clear=(Clear(keep_results=10),), name="swe-agent-10"),
        agent="SWE-agent with observation masking",
        source="https://arxiv.org/abs/2508.21433 (masking beyond the last 10)",
        date="2025-08",
        known="documented",
        unknown="",
    ),
    PeerRow(
        Peer(clear=(Clear(above=Level(tokens=100_000), keep_results=3),), name="clear-tool-uses"),
        agent="Anthropic context editing, clear_tool_uses_20250919",
        source="https://docs.claude.com/en/docs/build-with-claude/context-editing (defaults: trigger 100,000 input tokens, keep 3 tool uses, no minimum, nothing excluded)",
        date="2025-11-08",
        known="documented",
        unknown="It runs on the server; there is no compaction beside it, so at the limit our ladder acts.",
    ),
    PeerRow(
        Peer(
            clear=(Clear(above=Level(tokens=30_000), keep_results=3, at_least=5_000, protect=("web_search",)),),
            name="clear-tool-uses-example",
        ),
        agent="Anthropic context editing, with the parameters of its documentation's example",
        source="https://docs.claude.com/en/docs/build-with-claude/context-editing",
        date="2025-11-08",
        known="documented",
        unknown="",
    ),
)
"""All rows, by agent."""
