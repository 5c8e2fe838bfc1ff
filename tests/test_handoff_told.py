"""What a hand-off tells of a session's place, of what was only looked at, refused, or never answered, and of tables."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from core.conversations.read import read_conversation
from core.rules.handoff import _prose, handoff
from core.rules.session import read_session
from tests.cli_call import call
from tests.cpu_time import grows_faster
from tests.shop import edited, kept, shop_fixture, turn  # noqa: F401 - pytest finds the fixture by itself
from tests.test_handoff_end import REFUSED, STEPS, of_tool, said

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="lines of a POSIX shell")

TOLD = """Both are mended:

| File | What it does |
|---|---|
| `src/scale.py` | weighs |

Start it:

```bash
make scale
```
"""


def rows(kind: str, shop: Path) -> list[Any]:
    todos = {"todos": [{"content": text, "status": state} for text, state in STEPS]}
    later = [turn("user", "now oil the scale of the shop", 20, "s9", shop), *said("It is oiled.", 21, shop)]
    wiped = {"file_path": f"{shop}/scale.py"}
    return {
        "table": [*said(TOLD, 1, shop), turn("user", "count the coins of the till", 3, "s9", shop), *later],
        "steps": of_tool("TodoWrite", todos, "Todos have been modified", 1, shop),
        "refused": [row for at in (1, 3) for row in of_tool("Edit", wiped, REFUSED, at, shop, failed=True)],
        "read": of_tool("Read", {"file_path": f"{shop}/till.py"}, "a = 1", 1, shop),
        "linted": [
            *edited(shop / "scale.py", "a", "b", 1, "s9", shop),
            *of_tool("read_lints", {"paths": ["scale.py"]}, "{}", 3, shop),
            *said("It is mended.", 5, shop),
        ],
    }[kind]


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("table", "Both are mended: - `src/scale.py` — weighs; Start it: `make scale`"),
        ("steps", "breaks off at work: behind `TodoWrite` (turn 2) the assistant said nothing more"),
        ("refused", "scale.py` (2 times, turns 2 to 4)"),
        ("read", "- no edit is recorded; looked at last: `till.py`\n"),
        ("linted", "- `read_lints` (turn 4: no error shown)"),
    ],
)
def test_a_hand_off_tells_what_happened(shop: Path, kind: str, told: str) -> None:
    kept(
        "s9", [turn("user", "Mend the scale of the shop so that it weighs the coins", 0, "s9", shop), *rows(kind, shop)]
    )
    out = call("handoff", "s9")[1]
    assert told in out, out
    assert "build is recorded" not in out


def test_long_last_words_keep_their_commands_and_leave_out_what_is_ticked_off(shop: Path) -> None:
    """Who goes on read ten ticked boxes, and "to check:" with nothing behind it."""
    code = "```python\n" + "coins = 1\n" * 400 + "```"
    words = (
        f"- [x] Cut the tray\n\nThe scale weighs.\n\n{code}\n\nTo check it:\n\n```bash\nmake scale\nmake tray\n```\n"
    )
    kept("s9", [turn("user", "Mend the scale of the shop so that it weighs", 0, "s9", shop), *said(words, 1, shop)])
    out = call("handoff", "s9")[1]
    assert "To check it: `make scale; make tray`" in out and "Cut the tray" not in out and "coins" not in out, out


def test_an_answer_is_whole_where_there_is_room(shop: Path) -> None:
    """Of a list of what is to be done next, the items behind the first were left out of a hand-off of 2 kB."""
    items = "\n".join(f"- Drawer {number}: it sticks, oil the rails and count what lies in it" for number in range(30))
    later = [turn("user", "now save that", 3, "s9", shop), *said("It is saved.", 4, shop)]
    begun = turn("user", "Look at all drawers of the shop", 0, "s9", shop)
    kept("s9", [begun, *said(f"These drawers stick:\n\n{items}", 1, shop), *later])
    assert "Drawer 29" in (out := call("handoff", "s9")[1]), out


def test_a_short_request_stands_beside_the_question_that_came_back(shop: Path) -> None:
    kept(
        "s9",
        [
            turn("user", "Add tests", 0, "s9", shop),
            *said("For which module?", 1, shop),
            turn("user", "the till and the cart", 2, "s9", shop),
            *said("They stand in `till.py`.", 3, shop),
        ],
    )
    out = call("handoff", "s9")[1]
    assert all(words in out for words in ("Add tests", "For which module?", "the till and the cart")), out


def test_a_line_of_a_table_with_many_blanks_is_read_in_linear_time() -> None:
    assert not grows_faster(lambda: _prose("| " + " " * 4_000), lambda: _prose("| " + " " * 32_000), 30)


HISTORY = """
_**User (2025-07-15 10:00:00Z)**_

mend the scale

---

_**Agent (model-4 2025-07-15 10:00:05Z)**_

<tool-use data-tool-type="write" data-tool-name="edit_file"><details>
<summary>Tool use: **edit_file** • Edit file: /srv/shop/src/scale.py</summary>

</details></tool-use>

_**Agent (model-4 2025-07-15 10:00:09Z)**_

`src/scale.py` is mended.
"""


def of_history(text: str, folder: str) -> str:
    return handoff(read_session(read_conversation("x", text.encode())), {"Tool": "tool", "Folder": folder})


def test_a_hand_off_tells_the_root_from_paths_that_are_told_in_two_ways() -> None:
    """The folder of the only file that was written was told for the project."""
    out = of_history(f"<!-- Generated by SpecStory, Markdown v2 -->\n{HISTORY}", "/home/me/Downloads")
    assert "- Folder: /srv/shop\n" in out and "- `src/scale.py`" in out and "- Tool: tool, model-4\n" in out, out


def test_a_hand_off_tells_what_came_instead_of_an_answer_and_what_was_written_unseen() -> None:
    head = "# aider chat started at 2025-07-15 10:00:00\n\n> Aider v0.86.2  \n\n#### weigh the coins of the till  \n"
    failed = of_history(f"{head}> model.APIError: Invalid character in URL  \n> Retrying in 0.2 seconds...  \n", "/srv")
    assert "- the request was not answered; what came was: model.APIError: Invalid character in URL\n" in failed, failed
    wrote = "> till.py  \n> Allow edits to file that has not been added to the chat? (Y)es/(N)o [Yes]: y  \n"
    wrote += "> tray.py  \n> Create new file? (Y)es/(N)o [Yes]: y  \n"
    wrote += "> Applied edit to till.py  \n> Applied edit to tray.py  \n"
    out = of_history(f"{head}\nIt weighs.\n\n{wrote}", "/srv")
    assert "- `till.py` (changed without being in the chat)" in out and "- `tray.py` (created)" in out, out
