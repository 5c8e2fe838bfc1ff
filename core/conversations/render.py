"""A conversation as a language model is shown it: a header, then the turns, calls beside what came of them.

`[role]` stands on a line of its own above the words, one blank line between turns. What costs tokens and teaches
nothing is left out (reminders of the tool, echoes of lists, files that were merely read) or cut in the middle (logs);
what people and assistants said is never cut. The numbers were chosen by what they lose of the passages that readers
kept (`tests/quality/kept.jsonl`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.conversations.conversation import Conversation, Turn
from core.conversations.events import (
    Call,
    Command,
    Compaction,
    Delegation,
    Edit,
    Event,
    FileRead,
    Hook,
    OtherCall,
    Plan,
    Question,
    Reminder,
    Search,
    Todos,
)
from core.conversations.turns import cut

TOOLS = {
    "claude_code": "Claude Code", "codex": "Codex", "aider": "aider", "specstory": "SpecStory",
    "gemini_cli": "Gemini CLI", "opencode": "OpenCode", "cursor": "Cursor", "chatgpt": "ChatGPT",
    "claude_ai": "Claude.ai", "cline": "Cline", "cline_tasks": "Cline", "copilot_cli": "Copilot CLI",
    "goose": "Goose", "llm": "llm", "swe_agent": "SWE-agent", "manual_slop": "Manual Slop", "home": "Manual Slop",
    "droid": "Droid", "grok": "Grok Build", "kimi": "Kimi", "hermes": "Hermes", "pi": "Pi or OpenClaw",
    "antigravity": "Antigravity", "qwen": "Qwen Code", "amp": "Amp", "crush": "Crush", "kiro": "Kiro",
    "continue_dev": "Continue", "vscode": "VS Code", "deepseek": "DeepSeek Harness", "zed": "Zed",
    "devin": "Devin",
}  # fmt: skip
"""What people call the tool that a format belongs to."""

SHOWN: dict[type[Event], tuple[int, int]] = {
    Command: (1400, 1800),
    FileRead: (300, 100),
    Search: (500, 100),
    Edit: (200, 200),
    Delegation: (6000, 4000),
    Question: (3000, 1000),
    Plan: (600, 200),
    OtherCall: (1200, 400),
}
"""Of what a call gave back: characters from its beginning and from its end."""
_READER = r"(?:(?:cat|bat|nl|head|Get-Content|gc)\b(?![^|]*<<)|sed\s+-n\b)"
READS = re.compile(rf"(?:cd\s+\S+\s*&&\s*)?{_READER}[^;&>|]*(?:\|\s*{_READER}[^;&>|]*)*\Z", re.IGNORECASE)
"""A command line that prints a file, and does nothing else."""
PRINTED = (900, 300)
"""Of a file that such a command printed."""
FAILED_EDIT = (160, 10)
"""Of an edit that did not find its place: below its first words it repeats what it looked for."""
REMINDED = (400, 100)
WORDS = 160
"""Of a command in the label of its result."""

_REMINDER = re.compile(r"\s*<system-reminder>.*?(?:</system-reminder>|\Z)", re.DOTALL)
_LABEL = re.compile(
    r"^(?=\[(?:user|assistant|tool|system|sub-agent|summary|no result|hook)\b)", re.IGNORECASE | re.MULTILINE
)


def header(conversation: Conversation) -> str:
    """What the file knows about the session, a line each; "" where it knows nothing."""
    day = (conversation.ended or conversation.started)[:10]
    begun = conversation.started[:10]
    tool = TOOLS.get(conversation.format, "")
    rows = (
        ("Tool", f"{tool} ({conversation.model})" if tool and conversation.model else tool or conversation.model),
        ("Day", f"{begun} to {day}" if begun and begun != day else day),
        ("Folder", conversation.folder),
        ("Repository", conversation.repository),
        ("Branch", conversation.branch),
        ("Title", conversation.title),
    )
    return "".join(f"{name}: {' '.join(value.split())}\n" for name, value in rows if value.strip())


def rendered_turns(conversation: Conversation) -> tuple[str, ...]:
    """One text a turn, in their order; "" for a turn that is left out."""
    turns = conversation.turns
    events = [event for turn in turns for event in turn.events]
    paired = any(isinstance(event, Call) and event.answered for event in events)
    results: dict[int, list[Call]] = {}
    for event in events:
        if isinstance(event, Call) and event.result >= 0:
            results.setdefault(event.result, []).append(event)
    last_todos = next((event for event in reversed(events) if isinstance(event, Todos) and event.items), None)
    reports = {_squeezed(event.output) for event in events if isinstance(event, Delegation) and event.output}
    return tuple(_rendered(turn, results, paired, last_todos, reports) for turn in turns)


def with_results(conversation: Conversation) -> tuple[range, ...]:
    """The turns' numbers in groups: a turn that calls stands with the turns of what came back, the others alone."""
    turns = conversation.turns
    at_start = {turn.start: number for number, turn in enumerate(turns) if turn.role == "tool" and turn.start >= 0}
    groups: list[range] = []
    first = 0
    while first < len(turns):
        last = number = first
        while number <= last:
            results = (at_start.get(event.result, -1) for event in turns[number].events if isinstance(event, Call))
            last = max(last, *(at for at in results if at <= number + MAX_TURNS_BETWEEN), last)
            number += 1
        groups.append(range(first, last + 1))
        first = last + 1
    return tuple(groups)


MAX_TURNS_BETWEEN = 20
"""A result that stands more turns than this behind its call is no longer beside it."""


def transcript(conversation: Conversation) -> str:
    """The whole conversation, the header above it."""
    head = header(conversation)
    body = "\n".join(text for text in rendered_turns(conversation) if text)
    return f"{head}\n{body}" if head else body


def _rendered(
    turn: Turn, results: dict[int, list[Call]], paired: bool, last_todos: Todos | None, reports: set[str]
) -> str:
    words = turn.text.replace("\x00", "")
    label = turn.role
    calls = [event for event in turn.events if isinstance(event, Call)]
    if turn.role == "system":
        if any(isinstance(event, Compaction) for event in turn.events):
            label = "summary of what went before"
        elif any(isinstance(event, Reminder) for event in turn.events):
            return ""
        else:
            words = cut(words, *REMINDED)
    elif turn.role == "tool" and calls:
        if all(isinstance(event, Todos) for event in calls):
            if last_todos not in calls:
                return ""
            words = "\n".join(f"- [{state or '?'}] {text}" for text, state in last_todos.items) if last_todos else words
            label = "assistant's list of steps"
        else:
            label = f"assistant calls {calls[0].tool}"
            if len(calls) == 1 and calls[0].result > turn.start and not isinstance(calls[0], Edit):
                # A transcript in which a call and what it gave back stand in one block.
                words = cut(words, *SHOWN.get(type(calls[0]), SHOWN[OtherCall]))
    elif turn.role == "tool" and turn.start in results:
        event = _answered_by(turn, results[turn.start])
        if isinstance(event, Todos):
            return ""
        label = f"tool: {_outcome(event)}"
        words = cut(_REMINDER.sub("", words), *_lengths(event))
    if turn.agent:
        if turn.role == "assistant" and _squeezed(words) in reports:
            return ""  # the report stands where it was handed over
        words = cut(words, 400, 200) if turn.role == "tool" else words
        label = f"sub-agent: {label}"
    missing = [event for event in calls if paired and not event.answered and isinstance(event, Command | Edit)]
    notes = [f"[no result was recorded: {_short(_what(event))}]" for event in missing]
    notes += [
        f"[hook {_short(event.words)}: {'failed' if event.failed else 'ran'}] {event.output}".rstrip()
        for event in turn.events
        if isinstance(event, Hook) and event.failed
    ]
    tail = "".join(f"{note}\n" for note in notes)
    return f"[{label}]\n{_LABEL.sub(' ', words)}\n{tail}"


def _lengths(event: Call) -> tuple[int, int]:
    """So much of what a call gave back is shown. What failed is shown as the command it was."""
    if isinstance(event, Command) and not event.failed and READS.match(event.words.strip()):
        return PRINTED
    if isinstance(event, Edit) and event.failed:
        return FAILED_EDIT
    return SHOWN.get(type(event), SHOWN[OtherCall])


def _answered_by(turn: Turn, events: Sequence[Call]) -> Call:
    """The call whose result this turn is; several can stand in one record."""
    head = turn.text.strip()[:80]
    return next((event for event in events if head and event.output[:80] == head), events[0])


def _outcome(event: Call) -> str:
    said = f"result of {_short(_what(event))}"
    if event.refused:
        return f"{said}; the person refused it"
    status = event.status if isinstance(event, Command) else None
    if event.failed:
        return f"{said}; FAILED" + (f" with exit status {status}" if status is not None else "")
    return said


def _what(event: Call) -> str:
    if isinstance(event, Command | Search | OtherCall | Delegation):
        return event.words or event.tool
    return f"{event.tool} {event.path}" if isinstance(event, Edit | FileRead) else event.tool


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= WORDS else f"{line[: WORDS - 40]} … {line[-36:]}"


def _squeezed(text: str) -> str:
    return re.sub(r"\W+", "", text)[:400]
