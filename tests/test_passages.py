"""What the passage of a hit shows of its session: numbers as they were said, and its end as the end."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.search import conversations as stored
from core.search.answering import answering
from core.search.terms import parse_query
from core.search.words import Stems

USER, ASSISTANT, TOOL = "user", "assistant", "tool"


def passage(tmp_path: Path, asked: str, said: list[tuple[str, str]], *places: int, room: int = 1700) -> str:
    """What is shown of a session of these turns that match at `places`."""
    pieces = [stored.Piece(at, role, "2026-05-06", text) for at, (role, text) in enumerate(said)]
    tmp_path.mkdir(exist_ok=True)
    database = stored.open_or_make(tmp_path)
    with stored.writing(database, tmp_path):
        stored.put(database, stored.Held(1, "p", "", "s", "claude_code", turns=len(said)), pieces)
    stems = Stems()
    weighed = answering(database, parse_query(asked, database, stems), stems, 1, places)
    made = weighed.excerpt(room) if weighed is not None else None
    assert made is not None
    return made.text


@pytest.mark.parametrize(
    ("role", "answer"),
    [
        (ASSISTANT, "The proxy listens on these ports:\n8080\n8443\n9090"),
        (
            ASSISTANT,
            "The proxy listens on:\n\n| port | since |\n|---|---|\n| 8080 | 2024 |\n| 8443 | 2025 |\n| 9090 | 2026 |",
        ),
        (USER, "port;since\n8080;2024\n8443;2025\n9090;2026"),
        (TOOL, "8080\n8443\n9090"),
    ],
)
def test_numbers_are_answers(tmp_path: Path, role: str, answer: str) -> None:
    """Lines without a letter were taken for those of a listing: of three ports one was told, of a table its head."""
    told = passage(
        tmp_path, "which ports does the proxy listen on?", [(USER, "Which ports of the proxy?"), (role, answer)], 0, 1
    )
    assert all(port in told for port in ("8080", "8443", "9090")), told


@pytest.mark.parametrize("answer", ["-5", "$120", "+49 30 1234567", "`42`", "✅"])
def test_an_answer_of_a_sign_and_a_number_is_told(tmp_path: Path, answer: str) -> None:
    assert answer in passage(
        tmp_path, "the offset of the clock?", [(USER, "Offset of the clock?"), (ASSISTANT, answer)], 0, 1
    )


@pytest.mark.parametrize("between", [" ", "→"])
def test_brackets_of_a_listing_take_no_room(tmp_path: Path, between: str) -> None:
    """Half of a passage was lines like "125 }", and what aider writes for an empty message."""
    lines = [text for at in range(10, 40) for text in ("{", f"return secrets[{at}]", "}")]
    listing = "\n".join(f"{at}{between}{text}" for at, text in enumerate(lines))
    said = [(USER, "<blank>"), (USER, "Which secrets are returned?"), (TOOL, listing)]
    told = passage(tmp_path, "which secrets are returned?", said, 2, 1)
    assert "return secrets[10]" in told and "}" not in told and "{" not in told and "<blank>" not in told, told


def test_the_end_is_marked_once_and_only_where_it_is(tmp_path: Path) -> None:
    """Turn 3 of 202 was called the last, since only tools had spoken after it."""
    said = [(USER, "Migrate the billing tables"), (ASSISTANT, "Starting with the billing tables.")]
    steps = [(TOOL, f"psql migrate billing step {at}") for at in range(200)]
    assert "the last" not in passage(tmp_path / "long", "billing tables", [*said, *steps], 1, 0)
    short = [*said, (TOOL, "Tokens: 3k sent")]
    told = passage(tmp_path / "short", "billing tables", short, 1, 0, room=100)
    assert told.endswith("Starting with the billing tables.") and told.count("the last") == 1, told


def test_an_error_that_came_again_says_so(tmp_path: Path) -> None:
    """One of three was shown, and an agent told of one."""
    error = "API Error: the answer is empty, check for a proxy"
    said = [turn for at in range(3) for turn in ((USER, f"Audit the package, part {at}"), (ASSISTANT, error))]
    told = passage(tmp_path, "what happened to the audit of the package?", said, 1, 3, 5)
    assert told.count(error) == 1 and f"{error} (more than once)" in told, told
    spoken = [
        turn for at in range(3) for turn in ((USER, f"Is part {at} right?"), (ASSISTANT, "Yes: 12 passed, 0 failed."))
    ]
    assert "once" not in passage(tmp_path / "right", "was a part right, or failed?", spoken, 1, 3, 5)


def test_a_terminal_is_no_question_about_the_end(tmp_path: Path) -> None:
    """ "termin" was looked for in every word: the end of the session took the room of the cure."""
    cure = "Two drivers fight over the screen of the kiosk. Blacklisting `nouveau` cures the terminal of the kiosk."
    said = [(USER, "The terminal on the kiosk flickers"), (ASSISTANT, cure)]
    said += [(USER, "Write the report."), *((ASSISTANT, f"Part {at}: {'abc ' * 60}") for at in range(12))]
    told = passage(tmp_path, "why does the terminal on the kiosk flicker?", said, 1, 0, room=420)
    assert "nouveau" in told and "Two drivers" in told, told
