"""What the shorteners keep of real tool results: share of tokens against share of distinctive strings, for each kind of text.

Run: TRIMTAB_DATA=FOLDER python -m benchmarks.shorteners. FOLDER holds `long-results/results.jsonl.gz`, one `{"text", …}` a line. Tokens are
bytes over 3.6 here: only shares are printed. A head and tail of the same size stands beside compress: what choosing lines is worth.
"""

import gzip
import json
import os
import sys
from collections import defaultdict
from pathlib import Path
from statistics import mean

from trimtab.context.shorten.cap import cap_text
from trimtab.context.shorten.compress import Extractive, compress, distinct_strings
from trimtab.context.shorten.fold import fold
from trimtab.context.shorten.kinds import kind_of
from trimtab.context.shorten.pieces import Refused

SHARE = 0.3
KEY = "4kq2m7xa"


def tokens(text: str) -> int:
    """Tokens, roughly."""
    return -(-len(text.encode()) * 10 // 36)


def kept(text: str, shown: str) -> tuple[float, float]:
    """Share of tokens and of distinctive strings that `shown` has of `text`."""
    strings = set(distinct_strings(text))
    return tokens(shown) / tokens(text), len(strings & set(distinct_strings(shown))) / max(len(strings), 1)


def measure(folder: Path) -> dict[str, dict[str, list[tuple[float, float]]]]:
    """Kind of text → shortener → what each text kept."""
    found: dict[str, dict[str, list[tuple[float, float]]]] = defaultdict(lambda: defaultdict(list))
    with gzip.open(folder / "long-results" / "results.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            text = json.loads(line)["text"]
            of = found[kind_of(text)]
            of["fold"].append(kept(text, fold(text, key=KEY).text))
            chosen = compress(text, role="tool", share=SHARE, compressor=Extractive(tokens), key=KEY)
            if isinstance(chosen, Refused):
                of["refused"].append((0, 0))
                continue
            of["compress"].append(kept(text, chosen.text))
            of["head and tail"].append(kept(text, cap_text(text, tokens(chosen.text), tokens, key=KEY)[0]))
    return found


def main() -> int:
    """Print the table."""
    folder = os.environ.get("TRIMTAB_DATA")
    if not folder:
        print("NOT MEASURED: TRIMTAB_DATA names no folder", file=sys.stderr)
        return 0
    for kind, of in sorted(measure(Path(folder)).items()):
        for name, rows in of.items():
            size, strings = (100 * mean(row[i] for row in rows) for i in (0, 1))
            print(f"{kind:8} {name:14} n={len(rows):3}  tokens {size:5.1f} %  strings {strings:5.1f} %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
