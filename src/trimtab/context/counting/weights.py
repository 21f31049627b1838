"""What each kind of character costs, by vocabulary: figures, no code.

`ALONE` guesses a vocabulary's count from classes of characters when no tokenizer is at hand. Fitted by non-negative least squares on relative error over
results and answers of recorded coding sessions, and made-up or public base64, hex, hashes, numbers, compact JSON, emoji, boxes and texts in
thirteen languages. Median error on what coding agents read and write: 3-4 %; base64 -9 %, hex +3 %, compact JSON of ids under 5 %, Chinese
and Japanese 3-9 %, Polish and Ukrainian -12 to -19 %, Vietnamese +33 %.
"""

from trimtab.context.counting.classes import Weights, weights

NOTHING = weights()

O200K = weights(
    word=0.923, long=0.158, upper=0.498, hump=0.556, digit=0.309, number=0.755, punct=0.021, signs=0.743, gap=1.042, indent=1.047,
    control=1.711, latin=0.431, script=0.306, kana=0.636, han=0.968, hangul=0.714, symbol=0.365, astral=1.944,
)  # fmt: skip
CL100K = weights(
    word=0.944, long=0.150, upper=0.592, hump=0.535, digit=0.316, number=0.739, punct=0.057, signs=0.599, gap=1.046, indent=1.005,
    line=0.032, control=1.241, latin=1.378, script=0.501, kana=0.979, han=1.174, hangul=1.125, symbol=0.393, astral=3.067,
)  # fmt: skip
QWEN35 = weights(
    word=0.870, long=0.279, upper=0.475, hump=0.626, digit=0.957, number=0.426, punct=0.014, signs=0.700, gap=1.507, indent=1.074,
    line=0.262, latin=0.456, script=0.315, kana=0.379, han=0.903, hangul=0.652, symbol=0.382, astral=2.851,
)  # fmt: skip

ALONE: dict[str, Weights] = {"o200k_base": O200K, "o200k_harmony": O200K, "cl100k_base": CL100K, "qwen3.5": QWEN35}
"""By vocabulary."""

CLAUDE_4 = weights(
    long=0.704, upper=0.173, digit=0.280, signs=0.558, line=0.766,
    latin=0.27, script=0.19, kana=0.40, han=0.53, hangul=0.45, symbol=0.23, astral=1.2,
)  # fmt: skip
"""Beside 0.663 x o200k, Claude 3 to 4.6. Fitted on 8,890 reported prompts of Opus 4.5, Opus 4.6 and Sonnet 4.5; what scripts other than
Latin cost comes from a comparison of vocabularies (Chinese: 1.47 x o200k)."""

CLAUDE_47 = weights(
    long=1.169, upper=0.472, digit=0.020, signs=0.852, indent=0.016,
    latin=0.27, script=0.19, kana=0.40, han=0.40, hangul=0.45, symbol=0.23, astral=1.2,
)  # fmt: skip
"""Beside 0.867 x o200k, Claude 4.7 and later. Fitted on 2,202 reported counts of Opus 4.7; other scripts as above (Chinese: 1.49 x o200k)."""
