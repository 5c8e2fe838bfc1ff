"""aider: what the person typed, what the tool printed and what the assistant answered must not be mixed up."""

from core.conversations.events import Command, Commit, Edit
from core.conversations.read import read_conversation

# Two blanks end a line of the person and of the tool; `@@` stands for them here.
CHAT = """
# aider chat started at 2025-07-15 11:38:37

> Aider v0.85.1@@
> Git repo: .git with 16 files@@

#### add a comment@@
#### at the top@@

Here is the change.

#### A heading of the answer

> quoted by nobody

> Tokens: 3.2k sent@@
> Run shell command? (Y)es/(N)o [Yes]: y@@

#### Add file to the chat? (Y)es/(N)o [Yes]: skip@@

#### thanks@@

# aider chat started at 2025-07-16 09:00:00

#### next one@@
""".replace("@@", "  ")


def test_prompts_of_several_lines_are_one_turn_and_a_heading_of_the_answer_is_none() -> None:
    conversation = read_conversation("h", CHAT.encode())
    said = [turn.text for turn in conversation.turns if turn.role == "user"]
    assert said == ["add a comment\nat the top", "thanks", "next one"]
    answers = [turn.text for turn in conversation.turns if turn.role == "assistant"]
    assert answers == ["Here is the change.\n\n#### A heading of the answer"]
    assert conversation.started == "2025-07-15T11:38:37"
    assert conversation.title == "add a comment"


def test_an_answer_to_a_question_of_the_tool_is_not_something_the_person_asked_for() -> None:
    assert not any("(Y)es" in turn.text for turn in read_conversation("h", CHAT.encode()).turns if turn.role == "user")


def test_published_examples_without_a_banner_are_read_too() -> None:
    page = (
        b"---\nparent: Examples\n---\n\n# Hello\n\n"
        b'<div class="chat-transcript" markdown="1">\n\n> $ aider  \n\n#### what is this?\n\nA game.\n</div>\n'
    )
    turns = read_conversation("h", page).turns
    assert [(turn.role, turn.text) for turn in turns][1:] == [
        ("tool", "$ aider"),
        ("user", "what is this?"),
        ("assistant", "A game."),
    ]


def test_a_file_with_nothing_but_a_start_is_an_empty_conversation() -> None:
    conversation = read_conversation("h", b"\n# aider chat started at 2025-01-24 09:22:56\n\n")
    assert (conversation.format, conversation.turns) == ("aider", ())


OLD = """
# aider chat started at 2024-08-20 10:00:00

> Aider v0.50.1@@
> Models: gpt-4o with diff edit format@@

#### add a comment@@
#### at the top

Here is the change.

#### A heading of the answer

> Tokens: 3.2k sent@@
> Applied edit to app/main.py@@
> Commit 1a2b3c4 feat: add a comment@@

#### /run make test

> 3 passed@@
> Added 1 line of output to the chat.@@

#### thanks
""".replace("@@", "  ")


def test_prompts_of_old_versions_without_blanks_at_their_end_are_the_persons() -> None:
    turns = read_conversation("h", OLD.encode()).turns
    assert [turn.text for turn in turns if turn.role == "user"] == [
        "add a comment\nat the top", "/run make test", "thanks",
    ]  # fmt: skip
    assert [turn.text for turn in turns if turn.role == "assistant"] == [
        "Here is the change.\n\n#### A heading of the answer"
    ]


def test_edits_commits_and_what_the_person_had_run_are_events() -> None:
    found = [event for turn in read_conversation("h", OLD.encode()).turns for event in turn.events]
    edit, commit, command = found
    assert isinstance(edit, Edit) and (edit.path, edit.failed) == ("app/main.py", False)
    assert isinstance(commit, Commit) and (commit.hash, commit.subject) == ("1a2b3c4", "feat: add a comment")
    assert isinstance(command, Command) and (command.words, command.output) == ("make test", "3 passed")


def test_the_session_tells_its_model_and_folder() -> None:
    told = "> Model: some/model with whole edit format  \n> Cur working dir: /srv/app  \n> Git repo"
    chat = CHAT.replace("> Git repo", told, 1)
    read = read_conversation("h", chat.encode())
    assert (read.model, read.folder) == ("some/model", "/srv/app")
