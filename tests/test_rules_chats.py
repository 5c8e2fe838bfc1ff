"""The embedded distiller: what a user would miss if it were not found, each in the plainest form it comes in."""

from __future__ import annotations

import pytest

from core.conversations.conversation import Conversation, Turn
from core.conversations.read import read_conversation
from core.rules.distil import CATEGORIES, MAX_ITEMS, distil_offline

Harvest = dict[str, list[dict[str, str]]]


def harvest(*turns: tuple[str, str], folder: str = "") -> Harvest:
    conversation = Conversation("c", "test", tuple(Turn(role, text) for role, text in turns), folder=folder)
    found = distil_offline(conversation)
    words = [text for role, text in turns if role in ("user", "assistant")]
    assert tuple(found) == CATEGORIES
    for rows in found.values():
        for row in rows:
            assert row["quote"] and "\n" not in row["quote"]
            assert any(row["quote"] in text for text in words), row
    assert found == distil_offline(conversation)
    return found


def only(category: str, *turns: tuple[str, str]) -> list[dict[str, str]]:
    found = harvest(*turns)
    assert not {name for name, rows in found.items() if rows} - {category}, found
    return found[category]


def statements(category: str, *turns: tuple[str, str]) -> list[str]:
    return [row["statement"] for row in only(category, *turns)]


# --- tasks


def test_boxes_are_tasks_in_any_language() -> None:
    text = (
        "- [ ] Rotate the signing key\n* [x] Moved the DNS zone\n"
        "1. [ ] Резервная копия базы данных\n- [X] 数据库 迁移 完成"
    )
    found = harvest(("user", text))
    assert [row["statement"] for row in found["tasks_open"]] == [
        "Rotate the signing key",
        "Резервная копия базы данных",
    ]
    assert [row["statement"] for row in found["tasks_done"]] == ["Moved the DNS zone", "数据库 迁移 完成"]


def test_the_last_state_of_a_box_counts() -> None:
    found = harvest(
        ("assistant", "- [ ] Port the lexer to Rust\n- [ ] Delete the old lexer"),
        ("user", "go on"),
        ("assistant", "- [x] Port the lexer to Rust\n- [ ] Delete the old lexer"),
        ("user", "stop here for today"),
    )
    assert [row["statement"] for row in found["tasks_done"]] == ["Port the lexer to Rust"]
    assert [row["statement"] for row in found["tasks_open"]] == ["Delete the old lexer"]


def test_a_plan_that_a_later_list_has_replaced_is_not_open_any_more() -> None:
    found = harvest(
        ("assistant", "- [ ] Port the lexer to Rust by hand\n- [ ] Benchmark the old lexer"),
        ("user", "generate it instead"),
        ("assistant", "- [ ] Generate the lexer from a grammar"),
        ("user", "stop here for today"),
    )
    assert [row["statement"] for row in found["tasks_open"]] == ["Generate the lexer from a grammar"]


@pytest.mark.parametrize("mark", ["TODO: ", "FIXME: ", "- TODO(sam): ", "**TODO:** ", "Action item: ", "todo: "])
def test_a_line_that_says_todo_is_an_open_task(mark: str) -> None:
    assert statements("tasks_open", ("user", f"Notes.\n\n{mark}renew the certificate of the mirror")) == [
        "Renew the certificate of the mirror"
    ]


def test_a_request_that_nobody_took_up_stays_open() -> None:
    asked = "Can you also port the importer `read.py` to Windows?"
    turns = ("user", "hm"), ("assistant", "Done."), ("user", asked)
    assert statements("questions", *turns) == [asked]
    assert statements("questions", *turns, ("assistant", "It is ported.")) == []


# --- decisions


@pytest.mark.parametrize(
    ("said", "statement", "detail"),
    [
        (
            "We decided to keep SQLite because the data fits on one disk.",
            "We decided to keep SQLite",
            "the data fits on one disk.",
        ),
        ("Let us go with Postgres for the queue.", "Let us go with Postgres for the queue.", ""),
        ("We chose httpx over requests because we need HTTP/2.", "We chose httpx over requests", "we need HTTP/2."),
        ("Decision: releases happen on Tuesdays.", "Releases happen on Tuesdays.", ""),
        ("No, the primary form should be the `app://` scheme.", "The primary form should be the `app://` scheme.", ""),
        ("We never test the HTTP library itself.", "We never test the HTTP library itself.", ""),
    ],
)
def test_a_choice_is_kept_with_its_reason(said: str, statement: str, detail: str) -> None:
    rows = only("decisions", ("user", f"Good. {said} What next?"), ("assistant", "Ok."))
    assert [(row["statement"], row["detail"], row["quote"]) for row in rows] == [(statement, detail, said)]


def test_what_an_assistant_narrates_is_no_decision() -> None:
    told = "I'll use a set instead of a list because lookups dominate here."
    assert not any(harvest(("user", "go"), ("assistant", told)).values())


# --- facts


@pytest.mark.parametrize(
    ("said", "statement"),
    [
        ("It turned out that the proxy strips `Authorization` headers.", "The proxy strips `Authorization` headers."),
        ("Root cause: go-git 5.16 was deleting untracked folders.", "Go-git 5.16 was deleting untracked folders."),
        ("Note that `libfoo` requires glibc 2.31.", "`libfoo` requires glibc 2.31."),
        ("We found that the NAS drops idle SMB connections.", "The NAS drops idle SMB connections."),
    ],
)  # fmt: skip
def test_what_was_learned_is_a_fact(said: str, statement: str) -> None:
    turns = ("user", "what is wrong?"), ("assistant", f"Let me see.\n\n{said}"), ("user", "thanks")
    assert statements("facts", *turns) == [statement]


def test_what_a_person_says_about_their_own_systems_is_a_fact() -> None:
    said = "Our billing API returns 404 for closed accounts."
    turns = ("user", "which code?"), ("assistant", "I cannot see it."), ("user", said), ("assistant", "Ok.")
    assert statements("facts", *turns) == [said]


# --- questions


@pytest.mark.parametrize(
    ("said", "statement"),
    [
        ("Open question: who owns the backup job?", "Who owns the backup job?"),
        ("Unresolved question: does the cache survive a restart?", "Does the cache survive a restart?"),
        ("To be decided: how much memory the worker gets", "How much memory the worker gets"),
        ("## Open questions\n\n- Do retries count per host or in total?", "Do retries count per host or in total?"),
    ],
)  # fmt: skip
def test_what_is_called_open_is_a_question(said: str, statement: str) -> None:
    assert statements("questions", ("user", "sum up"), ("assistant", said), ("user", "ok")) == [statement]


# --- the answer as a whole


def test_the_same_statement_is_kept_once() -> None:
    fact = "It turned out that the NAS drops idle SMB connections."
    assert len(only("facts", ("assistant", fact), ("user", "hm"), ("assistant", f"**{fact}**"))) == 1


def test_a_category_holds_the_best_items_only_and_in_spoken_order() -> None:
    boxes = "\n".join(f"- [ ] Migrate service number {number}" for number in range(40))
    rows = only("tasks_open", ("user", boxes))
    assert len(rows) == MAX_ITEMS
    numbers = [int(row["statement"].split()[-1]) for row in rows]
    assert numbers == sorted(numbers)


def test_a_wrapped_sentence_is_one_statement_with_one_line_as_its_quote() -> None:
    text = "It turned out that the staging proxy strips every `Authorization` header\nwhich is longer than 4096 bytes."
    (row,) = only("facts", ("assistant", text))
    assert row["statement"].endswith("header which is longer than 4096 bytes.")
    assert row["quote"] == text.split("\n")[0]


def test_emphasis_and_links_are_left_out_of_statements() -> None:
    (row,) = only(
        "facts", ("assistant", "**Note that** the [mirror](https://example.org/x) *always* needs `rsync` 3.2.")
    )
    assert row["statement"] == "The mirror always needs `rsync` 3.2."


def test_a_todo_behind_another_sentence_is_a_task() -> None:
    """`Perfect. TODO: …` is how people write it; only looking at the start of a line would lose it."""
    text = "<user-prompt>\nPerfect. TODO: put the release steps into the guide.\n</user-prompt>\n"
    found = distil_offline(read_conversation("x", text.encode()))["tasks_open"]
    assert [row["statement"] for row in found] == ["Put the release steps into the guide."]
