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


def test_what_the_last_answer_lists_as_remaining_is_open() -> None:
    answer = (
        "The parser works. Remaining:\n\n- too early a list\n\n## Parser\n\nRemaining work:\n\n"
        "- Windows paths in the importer\n- A test for empty input\n\nThat is all I saw.\n\n- the old lexer\n"
    )
    assert statements("tasks_open", ("user", "and?"), ("assistant", answer), ("user", "fine")) == [
        "Windows paths in the importer",
        "A test for empty input",
    ]


def test_a_request_that_nobody_took_up_stays_open() -> None:
    assert statements("tasks_open", ("assistant", "Done."), ("user", "Can you also port the importer to Windows?")) == [
        "Also port the importer to Windows"
    ]


def test_looking_around_is_no_procedure() -> None:
    """Whoever reads playbooks wants to run them again; what a session only looked at is of no use."""
    for commands in (
        "npm view left-pad version\nnpm ls",
        "tool hooks --help\ntool --version",
        "git push\ngit ls-remote",
    ):
        turns = (("user", "go"), ("assistant", f"```bash\n{commands}\n```"), ("tool", "exit code: 0"))
        assert not harvest(*turns)["playbooks"], commands
    turns = (("user", "go"), ("assistant", "```bash\nnpm ci\nnpm publish\n```"), ("tool", "exit code: 0"))
    assert [row["steps"] for row in harvest(*turns)["playbooks"]] == ["npm ci && npm publish"]


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
        ("We don't want a cap on the `limit` parameter.", "We don't want a cap on the `limit` parameter.", ""),
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


def test_what_the_person_asked_last_is_open_until_it_is_answered() -> None:
    asked = "Which of the two mirrors holds the newer snapshot?"
    assert statements("questions", ("assistant", "Done."), ("user", asked)) == [asked]
    assert statements("questions", ("user", asked), ("assistant", "The second.")) == []


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


# --- playbooks


COMMANDS = "To publish the docs:\n\n```bash\nmake html\n# look at it\nrsync -a build/ docs@mirror:/srv/docs\n```\n"


@pytest.mark.parametrize(
    "after", [("tool", "build succeeded\nsent 12 files\nexit code 0"), ("user", "That worked, thanks!")]
)
def test_commands_that_worked_are_a_playbook(after: tuple[str, str]) -> None:
    assert only("playbooks", ("user", "how?"), ("assistant", COMMANDS), after) == [
        {
            "name": "To publish the docs",
            "steps": "make html && rsync -a build/ docs@mirror:/srv/docs",
            "quote": "make html",
        }
    ]


@pytest.mark.parametrize(
    "after",
    [
        ("tool", "make: *** Error 2"),
        ("tool", "3 passed, 1 failed"),
        ("tool", "some text"),
        ("user", "that works but not on Windows"),
        ("user", "no"),
    ],
)
def test_commands_that_failed_or_whose_end_is_unknown_are_none(after: tuple[str, str]) -> None:
    assert harvest(("user", "how?"), ("assistant", COMMANDS), after)["playbooks"] == []


def test_what_was_said_last_names_a_playbook() -> None:
    """A title that begins with how the tests went an hour ago tells nobody what the commands are for."""
    text = "All new tests pass. Let me build the wheel and try it:\n\n```bash\nmake wheel && make try\n```"
    (row,) = only("playbooks", ("user", "how?"), ("assistant", text), ("user", "That worked."))
    assert row["name"] == "Build the wheel and try it"


@pytest.mark.parametrize(
    "steps",
    [
        'git add core/x.py && git commit -m "fix the reader of tags"',
        "rm .git/hooks/pre-push || true && git config core.hooksPath hooks || true",
        f"INPUT='{{}}' && printf '{'x' * 90}' && make",
        "make dist >/tmp/dist.log && make sign >/tmp/sign.log",
    ],
)
def test_what_only_this_day_needed_is_no_playbook(steps: str) -> None:
    """Playbooks are looked up to be run again: one commit's message in them hides those that can be."""
    fence = f"How to go on:\n\n```bash\n{steps}\n```"
    assert harvest(("user", "how?"), ("assistant", fence), ("user", "That worked."))["playbooks"] == []


def test_a_playbook_is_named_after_its_commands_where_nothing_announces_them() -> None:
    text = COMMANDS.replace("To publish the docs:", "The server is slow today.")
    (row,) = only("playbooks", ("user", "how?"), ("assistant", text), ("user", "That worked."))
    assert row["name"] == "make html, rsync"


# --- files


def test_a_description_of_a_file_is_bound_to_its_path() -> None:
    answer = (
        "Overview:\n\n- `src/lexer.py`: holds the token table and never reads a file itself\n- `src/b.py`: update it\n"
    )
    rows = only("files", ("user", "where?"), ("assistant", answer), ("user", "thanks"))
    assert [(row["path"], row["note"]) for row in rows] == [
        ("src/lexer.py", "Holds the token table and never reads a file itself")
    ]


def test_the_absolute_path_that_the_conversation_shows_is_used() -> None:
    rows = only(
        "files",
        ("tool", "/srv/app/src/lexer.py\n/srv/app/src/other.py"),
        ("assistant", "The bug was in `src/lexer.py`: the table is built twice."),
    )
    assert [row["path"] for row in rows] == ["/srv/app/src/lexer.py"]


def test_two_files_of_that_name_are_not_told_apart_by_guess() -> None:
    rows = only(
        "files",
        ("tool", "/a/src/lexer.py /b/src/lexer.py"),
        ("assistant", "The bug was in `src/lexer.py`: the table is built twice."),
    )
    assert [row["path"] for row in rows] == ["src/lexer.py"]


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


def test_a_shown_session_that_ends_well_is_a_playbook() -> None:
    """Commands behind prompts together with what they printed: the proof stands in the same block."""
    text = (
        "<agent-response>\nIn this order:\n\n```console\n$ python -m pytest -q\n41 passed in 2.13s\n"
        "$ git push --tags\n * [new tag] v2.1.0\n```\n</agent-response>\n"
    )
    steps = [row["steps"] for row in distil_offline(read_conversation("x", text.encode()))["playbooks"]]
    assert steps == ["python -m pytest -q && git push --tags"]
    broken = text.replace("41 passed", "error: 3 failed, 41 passed")
    assert not distil_offline(read_conversation("x", broken.encode()))["playbooks"]


def test_a_todo_behind_another_sentence_is_a_task() -> None:
    """`Perfect. TODO: …` is how people write it; only looking at the start of a line would lose it."""
    text = "<user-prompt>\nPerfect. TODO: put the release steps into the guide.\n</user-prompt>\n"
    found = distil_offline(read_conversation("x", text.encode()))["tasks_open"]
    assert [row["statement"] for row in found] == ["Put the release steps into the guide."]
