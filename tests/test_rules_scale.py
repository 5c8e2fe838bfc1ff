"""Large and hostile conversations: a harvest must end, and what it takes must grow no faster than the text."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from core.conversations.conversation import Conversation, Turn
from core.conversations.read import read_conversation
from core.rules.distil import MAX_ITEMS, distil_offline
from tests.corpus import CORPUS, TEXT_FORMATS, sample
from tests.cpu_time import grows_faster

FILES = sample(sorted(path for name in TEXT_FORMATS for path in (CORPUS / "conversations" / name).rglob("*.md")), 2)
MEGABYTE = 1_000_000
NOISE = 0.005
"""What is quadratic by lines, not by characters, takes 0.3 s for the larger text: less than noise of 0.02 s would let
through."""

PIECES = {
    "one character": "a",
    "backticks": "`",
    "stars": "*",
    "brackets": "[",
    "link openings": "[a](",
    "short lines": "ab c\n",
    "bullets": "- a b\n",
    "one long line of cues": "the root cause is X because we decided to use a instead of b ",
    "lines of cues": "The root cause is X because we decided to use a instead of b.\n",
    "long lines of cues": ("because the root cause is " * 70) + "\n\n",
    "sentence ends": ("we decided . A. B? C! " * 80) + "\n\n",
    "paths": ("- " + "a/b.c/" * 60 + "x.py: holds a thing\n"),
    "file notes": "- `src/lexer.py`: holds the token table of everything\nThe bug was in `src/lexer.py`: twice.\n",
    "boxes": "- [ ] port the lexer to Rust\n",
    "fences": "```bash\ngit a\ngit b\n```\n",
    "open fences": "```\n",
    "open tags": "<think>\n",
    "tags": "<think>\n</think>\n",
    "questions in a channel": "[10:00] <ada> bo: does anybody know how it is set up here?\n<bo> cy: it is not\n",
    "votes": "**Ada:** the group will do that\n> *Bo:* +1\n",
    "names with colons": "Ada: we will merge it, Bo to write the guide?\nBo: fine\n",
    "commands below leads": "Do this:\n\ngit push --force x\n\n",
    "instructions": "Check the log and restart it. Verify that it runs.\n\n",
    "turns": "User: is it x?\nAssistant: It turned out that `a_b` needs 2 of them.\n",
}


@functools.cache
def read_and_distilled(path: Path) -> tuple[Conversation, dict[str, list[dict[str, str]]]]:
    conversation = read_conversation(path.name, path.read_bytes())
    return conversation, distil_offline(conversation)


def distil(text: str) -> None:
    found = distil_offline(read_conversation("x", text.encode()))
    assert all(len(rows) <= MAX_ITEMS for rows in found.values())


@pytest.mark.parametrize("name", PIECES)
def test_eight_times_the_text_does_not_take_much_more_than_eight_times_as_long(name: str) -> None:
    piece = PIECES[name]
    small, large = (piece * (length // len(piece) + 1) for length in (8_000, 64_000))
    assert not grows_faster(lambda: distil(small), lambda: distil(large), 30, NOISE)


@pytest.mark.parametrize("name", PIECES)
def test_a_long_message_of_a_session_is_read_in_linear_time(name: str) -> None:
    piece = PIECES[name]

    def read(length: int) -> None:
        text = piece * (length // len(piece) + 1)
        turns = (
            Turn("user", text),
            Turn("assistant", text),
            Turn("user", "go on with `rates.py`"),
            Turn("assistant", text),
        )
        distil_offline(Conversation("c", "claude_code", turns))

    assert not grows_faster(lambda: read(8_000), lambda: read(64_000), 30, NOISE)


@pytest.mark.parametrize("text", ["a" * MEGABYTE, "ab c\n" * 200_000, "\x00" * MEGABYTE, "<" * MEGABYTE])
def test_a_megabyte_of_nothing_gives_nothing(text: str) -> None:
    assert not any(distil_offline(read_conversation("x", text.encode())).values())


def test_deep_nesting_is_read_to_its_end() -> None:
    lines = [" " * (depth % 200) + "- " * (depth % 50) + "level" for depth in range(20_000)]
    text = "\n".join([*lines, "", "- [ ] Rotate the signing key"])
    found = distil_offline(read_conversation("x", text.encode()))
    assert [row["statement"] for row in found["tasks_open"]] == ["Rotate the signing key"]


@pytest.mark.skipif(not FILES, reason="the corpus of real conversations is not beside this checkout")
def test_every_quote_from_a_real_conversation_stands_in_its_file() -> None:
    """A quote that is not in the source would send the item to quarantine."""
    for path in FILES:
        conversation, found = read_and_distilled(path)
        source = path.read_bytes().decode("utf-8", "replace")
        told = "\n".join(turn.text for turn in conversation.turns)
        for rows in found.values():
            assert len(rows) <= MAX_ITEMS
            for row in rows:
                assert row["quote"] in source, path
                assert row["quote"] in told, path


@pytest.mark.skipif(not FILES, reason="the corpus of real conversations is not beside this checkout")
def test_real_conversations_give_a_few_items_each() -> None:
    """Restraint on real data: rules that flood the knowledge, or that find nothing any more, show here."""
    counts = [sum(len(rows) for rows in read_and_distilled(path)[1].values()) for path in FILES]
    assert sum(count > 0 for count in counts) >= len(counts) // 8
    assert max(counts) <= 2 * MAX_ITEMS
    assert sum(counts) <= 4 * len(counts)
