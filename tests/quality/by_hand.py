"""`python -m tests.quality.by_hand FOLDER [MINUTES]`: a reader stands in for the model.

Set `provider = "command"`, `command = ["python", "/THE/CLONE/tests/quality/by_hand.py", "/tmp/desk"]` (programs are
asked in a folder of their own), `jobs` and `request_timeout_seconds` (at most 86400) as the reader needs them. Each
prompt comes on the standard input and is left as `FOLDER/<id>.prompt.md`; the program waits until
`FOLDER/<id>.answer.json` is there and whole, and prints it. `<id>` is made of the prompt, so that the same question
finds its answer again, and a run that was ended goes on. To write the answer to a file of another name first and
rename it is safest; one that is not JSON yet is waited for, except where the prompt asks for a summary: there any
text is an answer as soon as it does not grow any more. An answer that is meant to be no JSON (a fence around it,
words before it, a broken end) goes into `FOLDER/<id>.answer.txt` and is printed as is.
"""

from __future__ import annotations

import hashlib
import json
import sys
import time
from pathlib import Path

EVERY_SECONDS = 0.5
MINUTES = 24 * 60.0


def ask(prompt: str, folder: Path, minutes: float = MINUTES) -> str | None:
    """The reader's answer to a prompt, None when none came in time."""
    folder.mkdir(parents=True, exist_ok=True)
    name = hashlib.sha256(prompt.encode("utf-8", "replace")).hexdigest()[:16]
    answer, raw = folder / f"{name}.answer.json", folder / f"{name}.answer.txt"
    question = folder / f"{name}.prompt.md"
    if not question.exists():
        waiting = question.with_suffix(".new")
        waiting.write_text(prompt, encoding="utf-8")
        waiting.rename(question)
    until, before = time.monotonic() + minutes * 60, ""
    while True:
        if raw.is_file():
            return raw.read_text(encoding="utf-8")
        text = answer.read_text(encoding="utf-8") if answer.is_file() else ""
        if text.strip() and (_is_json(text) or (text == before and '"facts"' not in prompt)):
            return text
        before = text
        if time.monotonic() > until:
            return None
        time.sleep(EVERY_SECONDS)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def main() -> int:
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    minutes = float(sys.argv[2]) if len(sys.argv) > 2 else MINUTES
    found = ask(sys.stdin.read(), Path(sys.argv[1]), minutes)
    if found is None:
        print(f"no answer came within {minutes:g} minutes", file=sys.stderr)
        return 1
    print(found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
