"""What kind of text something is, by samples in the shapes that tools print."""

import json

import pytest

from trimtab.context.shorten.kinds import kind_of
from trimtab.context.shorten.refuse import refusal

ROWS = [{"id": i, "name": f"item-{i}", "tags": ["a", "b"]} for i in range(20)]
SAMPLES = {
    "json": {
        "an object": json.dumps({"a": 1}),
        "pretty": json.dumps(ROWS, indent=2),
        "a line each": "\n".join(json.dumps(row) for row in ROWS),
        "behind a heading": "Process exited with code 0\nOutput:\n" + json.dumps(ROWS),
    },
    "diff": {
        "git": "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n-b\n+c\n d\n",
        "a hunk in a review": "Comment on this:\n@@ -10,2 +10,3 @@ def f():\n x = 1\n+y = 2\n",
    },
    "table": {
        "markdown": "| name | size |\n|------|------|\n" + "".join(f"| item {i} | {i} |\n" for i in range(9)),
        "csv": "id,name,size,price\n" + "".join(f"{i},item {i},{i * 3},{i}.50\n" for i in range(9)),
        "tabs": "".join(f"{i}\tjob {i}\tdone\tsome words\n" for i in range(9)),
    },
    "log": {
        "stamped": "".join(f"2026-01-01T10:00:{i:02d}Z request {i} was served\n" for i in range(30)),
        "go test": "".join(
            f"ok  \texample.org/pkg{i}\t0.{i}s\n--- FAIL: Test{i} (0.01s)\n    x_test.go:{i}: got it\n"
            for i in range(9)
        ),
        "levels": "".join(f"WARN: cache is nearly full, {i} left\n" for i in range(9)),
    },
    "listing": {
        "paths": "".join(f"src/app/module_{i}.py\n" for i in range(20)),
        "grep": "".join(f"src/app/module.py:{i}:    return value_{i}(x)\n" for i in range(20)),
        "ls": "total 8\n" + "".join(f"-rw-r--r-- 1 user group {i} Jan 1 10:00 file{i}\n" for i in range(9)),
    },
    "code": {
        "python": "import os\n\n\ndef main() -> None:\n    for name in os.listdir('.'):\n        print(name)\n    return None\n",
        "numbered go": "".join(
            f"{i:6}→{line}\n"
            for i, line in enumerate(
                [
                    "package x",
                    "",
                    "func F(a int) error {",
                    "\tif a == 0 {",
                    "\t\treturn nil",
                    "\t}",
                    "\treturn run(a)",
                    "}",
                ]
            )
        ),
        "c": '#include <stdio.h>\nint main(void) {\n    printf("x");\n    return 0;\n}\n',
    },
    "prose": {
        "a paragraph": "The river was high that spring, and the ferry did not run. We waited for three days.\nThen it cleared up.\n",
        "markdown": "# Plan\n\nFirst we read the old notes, all of them.\n\n- One thing is to ask Ada.\n- Another is to wait until it is done.\n",
        "nothing": " \n",
    },
}


@pytest.mark.parametrize(
    ("kind", "text"),
    [pytest.param(kind, text, id=f"{kind}: {name}") for kind, of in SAMPLES.items() for name, text in of.items()],
)
def test_a_text_is_told_by_its_lines(kind, text):
    assert kind_of(text) == kind
    assert (refusal(text, role="tool") is None) == (kind not in ("code", "diff"))
