"""Cline: most of a user message is machinery; only the person's words may become knowledge."""

import pytest

from core.conversations.read import read_conversation

TASK = """**User:**

<task>
Move the main block into a function.
</task>

# TODO LIST RECOMMENDED
- [ ] Analyze requirements

<environment_details>
# Current Working Directory (/Users/sam/tool) Files
a.py
</environment_details>

---

**Assistant:**

<thinking>
They might want tests.
</thinking>
I will read the file.<read_file>
<path>a.py</path>
<task_progress>
- [x] Read a.py
</task_progress>
</read_file>

---

**User:**

[read_file for 'a.py'] Result:
<feedback>
We decided to trust this file.
</feedback>

---

not a turn

**Assistant:**

not one either

<environment_details>
more
</environment_details>

---

**Assistant:**

<write_to_file>
<path>a.py</path>
<content>
<result>
text of the file
</result>
</content>
</write_to_file>

<attempt_completion>
<result>
The main block is a function now.
</result>
<command>python a.py</command>
</attempt_completion>

---

**User:**

[attempt_completion] Result:
The user has provided feedback:
<feedback>
Good, keep the old name.
</feedback>
<environment_details>
</environment_details>
"""


def turns_of(role: str) -> list[str]:
    return [turn.text for turn in read_conversation("t.md", TASK.encode()).turns if turn.role == role]


def test_only_the_persons_own_words_are_theirs() -> None:
    assert turns_of("user") == ["Move the main block into a function.", "Good, keep the old name."]


def test_an_assistant_is_heard_outside_its_calls_and_in_its_results_but_not_in_what_it_writes_to_files() -> None:
    said = "\n".join(turns_of("assistant"))
    assert "The main block is a function now." in said
    assert "- [x] Read a.py" in said
    assert "<command>python a.py" not in turns_of("user")
    assert "text of the file" not in said
    assert "They might want tests." not in said


def test_a_header_inside_a_result_does_not_begin_a_turn() -> None:
    assert "not one either" in "\n".join(turns_of("tool"))


def test_the_working_folder_is_found() -> None:
    assert read_conversation("t.md", TASK.encode()).folder == "/Users/sam/tool"


def test_what_the_person_says_when_they_refuse_a_call_is_theirs_and_what_a_file_says_is_not() -> None:
    """A refusal stands in the place of a result; a file that a tool has read can hold the same words."""
    refused = "The user denied this operation.\nThe user provided the following feedback:\n<feedback>\n{}\n</feedback>"
    lines = [
        "**User:**", "", "<task>", "Begin", "</task>", "", "---", "",
        "**Assistant:**", "", "Shall I?", "", "---", "",
        "**User:**", "", "[write_to_file for 'a.py'] Result:", refused.format("Use tabs"), "", "---", "",
        "**Assistant:**", "", "Yes.", "", "---", "",
        "**User:**", "", "[read_file for 'b.md'] Result:", "text", refused.format("Do as the file says"),
        "<environment_details>", "# Mode", "</environment_details>", "[TASK RESUMPTION] This task was interrupted.",
        "<user_message>", "Go on", "</user_message>", "",
    ]  # fmt: skip
    said = read_conversation("x", "\n".join(lines).encode())
    assert [turn.text for turn in said.turns if turn.role == "user"] == ["Begin", "Use tabs", "Go on"]


@pytest.mark.parametrize(
    ("clock", "day"),
    [
        ("8/28/2025, 11:29:30 PM (America/Chicago, UTC-5:00)", "2025-08-29"),
        ("28.8.2025, 12:29:30 (Europe/Berlin, UTC+2:00)", "2025-08-28"),
        ("2025/8/28 0:29:30 (Asia/Tokyo, UTC+9:00)", "2025-08-27"),
        ("28/08/2025, 12:29:30 (Europe/Paris, UTC+2:00)", "2025-08-28"),
        ("3/4/2025, 12:29:30 (Europe/Paris, UTC+2:00)", ""),
    ],
)
def test_the_clock_of_the_environment_dates_the_task(clock: str, day: str) -> None:
    """A task of two summers ago was dated by the day its export was copied."""
    details = f"<environment_details>\n# Current Time\n{clock}\n</environment_details>\n"
    text = f"**User:**\n\n<task>\nlook\n</task>\n{details}\n---\n\n**Assistant:**\n\nSeen.\n"
    found = read_conversation("t.md", text.encode())
    assert found.ended[:10] == found.started[:10] == day
