"""Restraint: a memory full of junk is worse than an empty one. None of this may come out as knowledge."""

from __future__ import annotations

import pytest

from core.conversations.conversation import Conversation, Turn
from core.conversations.events import Command, Edit
from core.rules.distil import distil_offline

FACT = "It turned out that the proxy strips `Authorization` headers."
RICH = (
    f"{FACT}\n\nWe decided to keep SQLite because it is enough.\n\n- [ ] Rotate the signing key\n\n"
    "TODO: renew the certificate of the mirror\n\nOpen question: who owns the backup job?\n"
)


def items(*turns: tuple[str, str]) -> list[dict[str, str]]:
    conversation = Conversation("c", "test", tuple(Turn(role, text) for role, text in turns))
    return [row for rows in distil_offline(conversation).values() for row in rows]


def test_the_rich_text_gives_items_when_it_is_said() -> None:
    """The control for the tests below: the same text, said by the assistant, is worth something."""
    assert len(items(("user", "and?"), ("assistant", RICH), ("tool", "exit code 0"), ("user", "ok"))) >= 5


PARTS = "`worker/upload.py`, `worker/resume.py`, `worker/retry.py` and `worker/store.py`"
WHY = "because `read_all()` keeps the whole body in memory and the container has 1 GB."


@pytest.mark.parametrize(
    ("text", "tool", "kept"),
    [
        (f"The upload worker in `worker/upload.py` drops files above 2 GB silently, {WHY}", "claude_code", True),
        (f"The upload worker in `worker/upload.py` might drop files above 2 GB silently, {WHY}", "claude_code", False),
        (f"The upload worker in `worker/upload.py` drops files above 2 GB silently, {WHY}", "chatgpt", False),
        (f"Added `read_chunks()` to `worker/upload.py` and `worker/resume.py`, {WHY}", "claude_code", False),
        (f"Verified that {PARTS} are in `HEAD` and in `origin/main`, and that no test of `tests/upload` fails.",
         "claude_code", False),
        (f"The worker for uploads consists of {PARTS}, with the classes `Store`, `Body` and `Chunk`.",
         "claude_code", False),
    ],
    ids=["limit and reason", "a guess", "a talk about anything", "done", "looked at", "no limit, no reason"],
)  # fmt: skip
def test_a_fact_limits_or_explains_and_is_of_a_project(text: str, tool: str, kept: bool) -> None:
    """Of 99 facts of 139 real conversations more than half told what was done, or what any model knows."""
    talk = Conversation("c", tool, (Turn("user", "Look at the uploads, please."), Turn("assistant", text)))
    assert bool(distil_offline(talk)["facts"]) is kept


@pytest.mark.parametrize("everywhere", [False, True])
def test_what_the_shell_prints_below_every_command_is_no_failure(everywhere: bool) -> None:
    """A line of the shell's start stood below what passed, too, and was told as why a command fails here."""
    lacks = "bash: dump_state: command not found"
    rows = [("make lint", "3 files checked"), ("node --test", "12 passed"), ("pnpm build", "")]
    turns = [Turn("user", "Build it, please.")]
    for words, output in rows:
        shown = f"{output}\n{lacks}" if everywhere or not output else output
        run = Command(tool="Bash", words=words, output=shown, answered=True, failed=not output)
        turns.append(Turn("tool", words, events=(run,)))
    told = distil_offline(Conversation("c", "claude_code", (*turns, Turn("assistant", "That is all."))))["facts"]
    assert any("dump_state" in row["statement"] for row in told) is not everywhere


@pytest.mark.parametrize("changed_after", [False, True])
def test_what_was_found_before_the_last_change_is_no_fact(changed_after: bool) -> None:
    """The change overtakes it, or tells it: all 4 wrong ones of 38 facts of real sessions were of that kind."""
    fact = Turn("assistant", f"The upload worker in `worker/upload.py` drops files above 2 GB silently, {WHY}")
    edit = Edit(tool="Edit", path="worker/upload.py", how="changed", answered=True, failed=False)
    change = Turn("assistant", "I read it in pieces now.", events=(edit,))
    said = (fact, Turn("user", "Mend it."), change) if changed_after else (change, Turn("user", "And?"), fact)
    talk = Conversation("c", "claude_code", (Turn("user", "Look at the uploads, please."), *said))
    assert bool(distil_offline(talk)["facts"]) is not changed_after


@pytest.mark.parametrize("role", ["tool", "system"])
def test_tool_output_and_injected_context_give_nothing(role: str) -> None:
    """A web page or a file must not be able to plant a decision or a command."""
    assert items(("user", "look"), (role, RICH), ("tool", "exit code 0"), ("assistant", "Ok.")) == []


@pytest.mark.parametrize(
    "text",
    [
        f"```\n{FACT}\n- [ ] Rotate the signing key\nTODO: renew the certificate now\n```",
        f"```python\n# TODO: renew the certificate now\n# {FACT}\n```",
        f"~~~\n{FACT}\n~~~",
        f"```\n{FACT}\n- [ ] in a fence that is never closed",
        f"> {FACT}\n> - [ ] Rotate the signing key",
        "> Yesterday we decided to keep SQLite because it is enough.",
        "| a | b |\n| 1 | we decided to keep SQLite because it is enough |",
        f"| a | b |\n| {FACT} | TODO: renew it soon |",
        f"text above\n\n    {FACT}\n    TODO: renew the certificate now\n",
        f"diff --git a/x b/x\n+ {FACT}\n+ - [ ] Rotate the signing key\n",
        "2025-01-02 10:00:00 ERROR The crash was caused by a stale PID file in /run.",
        "[INFO] root cause: the API v2 was not reachable from here",
        "ValueError: the error was caused by x_y being None",
        "x = {'TODO': 'the root cause is API'};",
    ],
)
@pytest.mark.parametrize("role", ["user", "assistant"])
def test_code_quotes_tables_diffs_and_logs_give_nothing(text: str, role: str) -> None:
    assert items(("user", "see"), (role, text), ("assistant", "Ok.")) == []


@pytest.mark.parametrize(
    "text",
    [
        # guesses
        "The root cause might be the proxy in front of the API.",
        "The issue is probably caused by the DNS cache of v2.",
        "Perhaps we decided to use SQLite instead of Postgres?",
        "If we go with SQLite, the API gets simpler.",
        "Should we use httpx instead of requests because of HTTP/2?",
        # instructions and offers
        "You should note that `pip` requires a network.",
        "You can use httpx instead of requests because it knows HTTP/2.",
        "Please make sure that the API only accepts JSON.",
        "Let me check whether the bug is in `src/a.py`.",
        "Let's use `foo()` instead of `bar()` here.",
        # mechanics of the talk
        "I found that file, let me read it.",
        "I still need to see the contents of `README.md`.",
        "It's unclear whether the user means the branch.",
        "I see the issue. The problem is clear now.",
        "This is because it requires that.",
        "It turned out that way.",
        # what everybody knows
        "Python is a programming language which requires indentation.",
        "Remember to commit your changes.",
        # lists that every task has
        "- [x] Analyze requirements\n- [x] Verify the results\n- [ ] Test the implementation\n- [x] Read `main.py`",
        "1. `src/a.py`: Add a new parameter to the function\n2. `src/b.py` - might need an update of its imports",
        "- `src/b.py`: Adds a check that a token is valid before it is used",
        "Next steps:\n\n- Try it out\n- Let me know",
        # looking around is no procedure
        "```bash\nls -la\ngit status\ncat README.md\n```",
        "```bash\ngit log | head\n```",
        "```bash\ncd app && make test\n```",
        "```bash\nexport KEY=<your-key>\nmake deploy\n```",
        "```python\nmake\ngit push\n```",
    ],
)
def test_guesses_instructions_mechanics_and_commonplaces_give_nothing(text: str) -> None:
    assert items(("user", "go"), ("assistant", text), ("tool", "ok, exit code 0"), ("user", "fine")) == []


def test_what_a_person_pasted_is_not_what_they_said() -> None:
    page = ("Lorem ipsum dolor sit amet. " * 500) + "\n\n" + RICH
    assert items(("user", page), ("assistant", "Ok.")) == []


def test_commands_of_the_chat_program_are_no_questions_and_no_requests() -> None:
    assert items(("assistant", "Done."), ("user", "/add which file is it now?")) == []


def test_small_talk_gives_an_empty_harvest() -> None:
    assert items(("user", "hi, how are you?"), ("assistant", "Fine, thanks! How can I help you today?")) == []
    assert items() == []


def test_what_a_test_case_does_is_no_task() -> None:
    """A plan of tests would fill the list of what is left to do with what a machine will do."""
    plan = "**TestTurnEnd**\n\n- Setup: a session at work\n- Action: call `end_turn` with no actions\n- Assert: same"
    assert items(("user", "plan?"), ("assistant", plan)) == []
    assert items(("user", "plan?"), ("assistant", "- Action: call the bank about the card\n")) != []


@pytest.mark.parametrize("name", ["src/app.py", "mypackage.cli", "npm_token", "k8s", "iOS"])
def test_a_name_at_the_beginning_keeps_its_letters(name: str) -> None:
    """`Src/app.py` is another file, and the wrong name would stand in every prompt."""
    (row,) = items(("user", f"Note that {name} must be started with PYTHONPATH=. because of the imports."))
    assert row["statement"].startswith(f"{name} must be started")
