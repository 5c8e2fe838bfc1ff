"""A conversation as a language model is shown it: a header, then the turns, calls beside what came of them.

`[role]` stands on a line of its own above the words, one blank line between turns. What costs tokens and teaches
nothing is left out (reminders of the tool, echoes of lists, files that were merely read) or cut in the middle (logs);
what people and assistants said is never cut. The numbers were chosen by what they lose of the passages that readers
kept (`tests/quality/kept.jsonl`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from core.base.choices import TOOLS
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
from core.conversations.shorten import LEFT_OUT, Once, outlined, plain, short_commands, short_fences, without_addresses

SHOWN: dict[type[Event], tuple[int, int]] = {
    Command: (200, 350),
    FileRead: (300, 0),
    Search: (120, 40),
    Edit: (120, 120),
    Delegation: (6000, 4000),
    Question: (3000, 1000),
    Plan: (600, 200),
    OtherCall: (500, 250),
}
"""Of what a call gave back: characters from its beginning and from its end."""
CODE = (60, 0)
"""Of a file of code or data that a command printed."""
DATA = (200, 0)
"""Of data that it printed for a program."""
FAILED = (500, 800)
"""Of a command that failed."""
TELLING = 300
"""The characters of lines between them that tell of an error or a limit."""
WEB = (1500, 500)
"""Of what a search of the web gave back, without its addresses."""
GIVEN, GIVEN_EDIT = (800, 300), (160, 60)
"""Of what a tool was called with; of an edit, which lies in the repository."""
FENCED, FENCED_COMMAND = (200, 100), (800, 300)
"""Of a block of code in what the assistant said; of a block in a turn that ran commands, which are its blocks."""
_READER = r"(?:(?:cat|bat|nl|head|Get-Content|gc)\b(?![^|]*<<)|sed\s+-n\b)"
READS = re.compile(rf"(?:cd\s+\S+\s*&&\s*)?{_READER}[^;&>|]*(?:\|\s*{_READER}[^;&>|]*)*\Z", re.IGNORECASE)
"""A command line that prints a file, and does nothing else."""
PRINTED = (700, 100)
"""Of a file that such a command printed."""
_LOOKS = re.compile(
    r"(?:ls|find|fd|tree|rg|grep|wc|which|pwd|du|df|ps|stat|file|nl)\b|(?:docker|podman)\s+(?:ps|images)\b|"
    r"git\s+(?:-C\s+\S+\s+)?(?:diff|show|log|status|branch|ls-files|blame|grep|tag|remote|rev-parse|rev-list)\b|"
    r"(?:gh|glab)\s+\w+\s+(?:list|diff)\b|(?:npm|pnpm|yarn|bun)\s+(?:view|ls|list|info)\b"
)
"""A command that looks for something, as a tool's search does."""
_BESIDE = re.compile(r"(?:cd|echo|printf|true|:)\b|\Z")
_JOINT = re.compile(r"(?:&&|\|\||;|\n)\s*")
_STREAMS = re.compile(r"\d?>\s*(?:&\d|/dev/null)")
_DATA = re.compile(r"\s*[{\[]\s*[\"{\[]")
"""Data that a command printed for a program."""
FAILED_EDIT = (160, 10)
"""Of an edit that did not find its place: below its first words it repeats what it looked for."""
REMINDED = (120, 40)
_RUN = (FAILED, DATA, SHOWN[Command], SHOWN[OtherCall])
WORDS = 60
"""Of a command in the label of its result; it stands whole above it."""
LEAST_SAID = 200
"""The characters from which what the assistant says twice is shown once."""

_REMINDER = re.compile(r"\s*<system-reminder>.*?(?:</system-reminder>|\Z)", re.DOTALL)
_CODE = re.compile(
    r"\.(?:py|pyi|js|mjs|cjs|ts|tsx|jsx|go|rs|java|kt|c|h|cc|cpp|hpp|cs|rb|php|swift|sql|css|scss|html|vue|svelte|sh|"
    r"lock|json|jsonl|xml|svg|csv)\b",
    re.IGNORECASE,
)
_REPLACED = re.compile(r"^old_?(?:str|string|text): .*?(?=^new)|^replace_?all: false\n", re.DOTALL | re.I | re.M)
"""Of an edit what it replaced."""
_WEB = re.compile(r"web|url|google|fetch", re.IGNORECASE)
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
    calls = [call for turn in turns for call in turn.calls]
    results: dict[int, list[Call]] = {}
    for call in calls:
        if call.result >= 0:
            results.setdefault(call.result, []).append(call)
    delegated = [call for call in calls if isinstance(call, Delegation)]
    shown = _Shown(
        results=results,
        paired=any(call.answered for call in calls),
        todos=next((call for call in reversed(calls) if isinstance(call, Todos) and call.items), None),
        handed={_squeezed(text) for one in delegated for text in (one.words, one.output) if text},
        told={turn.start for turn in turns if turn.role == "tool" and turn.start in results},
    )
    return tuple(_rendered(turn, shown) for turn in turns)


@dataclass
class _Shown:
    """What the turns of one conversation need to know of each other: the calls by the byte of their `results`; whether
    results are told at all; the last list of steps; the squeezed words `handed` to sub-agents and by them; the results
    that have a turn of their own (`told`); what was `called` in the turn above; what was `said`, and the lines that
    were shown: those of tools (`once`) and, apart, those of the assistant (`spoken`), for what the assistant says of an
    output may be quoted where the output may not."""

    results: dict[int, list[Call]]
    paired: bool
    todos: Todos | None
    handed: set[str]
    told: set[int]
    called: tuple[Call, ...] = ()
    said: set[str] = field(default_factory=set)
    once: Once = field(default_factory=Once)
    spoken: Once = field(default_factory=Once)


def with_results(conversation: Conversation) -> tuple[range, ...]:
    """The turns' numbers in groups: a turn that calls stands with the turns of what came back, the others alone."""
    turns = conversation.turns
    at_start = {turn.start: number for number, turn in enumerate(turns) if turn.role == "tool" and turn.start >= 0}
    groups: list[range] = []
    first = 0
    while first < len(turns):
        last = number = first
        while number <= last:
            results = (at_start.get(call.result, -1) for call in turns[number].calls)
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


def _rendered(turn: Turn, shown: _Shown) -> str:
    """One turn with its label and what is to be noted of its calls; "" where it is left out."""
    words = turn.text.replace("\x00", "")
    told = _BY_ROLE.get(turn.role, _person)(turn, words, shown)
    if told is None:
        return ""
    label, words = told
    if turn.agent:
        words = outlined(words, 200, 150) if turn.role == "tool" else words
        label = f"sub-agent: {label}"
    shown.called = turn.calls
    tail = "".join(f"{note}\n" for note in _notes(turn, shown))
    return f"[{label}]\n{_LABEL.sub(' ', words)}\n{tail}"


_Told = tuple[str, str] | None
"""The label and the words of a turn; None where it is left out."""


def _person(turn: Turn, words: str, shown: _Shown) -> _Told:
    """What a person said, and what a sub-agent was told, unless it stands where it was handed over."""
    return None if turn.agent and _squeezed(words) in shown.handed else (turn.role, words)


def _assistant(turn: Turn, words: str, shown: _Shown) -> _Told:
    """What the assistant said, once, its code shortened."""
    said = _squeezed(words)
    if turn.agent and said in shown.handed:
        return None  # the report stands where it was handed over
    if len(said) >= LEAST_SAID and said in shown.said:
        words = LEFT_OUT
    shown.said.add(said)
    if turn.commands:  # whole: results are told by their command
        return turn.role, short_fences(short_commands(words), *FENCED_COMMAND)
    return turn.role, shown.spoken.said(short_fences(words, *FENCED))


def _system(turn: Turn, words: str, shown: _Shown) -> _Told:
    """What the tool itself put in: a summary whole, a reminder not at all."""
    if any(isinstance(event, Compaction) for event in turn.events):
        return "summary of what went before", words
    if any(isinstance(event, Reminder) for event in turn.events):
        return None
    return turn.role, _output(words, REMINDED, shown)


def _tool(turn: Turn, words: str, shown: _Shown) -> _Told:
    """Calls, the result of one, or what a tool printed and no call asked for."""
    calls = turn.calls
    if calls and all(isinstance(one, Todos) for one in calls):
        return _steps(calls, words, shown)
    if calls:
        return _call(turn, words, shown)
    if turn.start in shown.results:
        return _result(turn, words, shown)
    words = _output(words, SHOWN[Command], shown)
    return (turn.role, words) if _squeezed(words) else None


def _steps(calls: Sequence[Call], words: str, shown: _Shown) -> _Told:
    """The list of steps as it was in the end."""
    if shown.todos not in calls:
        return None
    if shown.todos:
        words = "\n".join(f"- [{state or '?'}] {text}" for text, state in shown.todos.items)
    return "assistant's list of steps", words


def _call(turn: Turn, words: str, shown: _Shown) -> _Told:
    """What a tool was called with; in some transcripts what it gave back stands in the same block."""
    calls = turn.calls
    if all(isinstance(one, FileRead | Search) and one.result in shown.told for one in calls):
        return None  # the label of the result says what was looked at
    call = calls[0]
    both = len(calls) == 1 and call.result > turn.start and call.result not in shown.told
    words = _REPLACED.sub("", words.removeprefix(f"{call.tool}\n"))
    if both and isinstance(call, FileRead) and _is_code(call):
        words = call.path
    lengths = GIVEN_EDIT if isinstance(call, Edit) else _lengths(call) if both else GIVEN
    return f"assistant calls {call.tool}", _output(words, lengths, shown)


def _result(turn: Turn, words: str, shown: _Shown) -> _Told:
    """What a call gave back, unless it teaches nothing: a list of steps, an edit that was made, a file of code."""
    call = _answered_by(turn, shown.results[turn.start])
    if isinstance(call, Todos) or (isinstance(call, Edit) and call.failed is False) or _is_code(call):
        return None
    label = f"tool: {_outcome(call, named=shown.called != (call,))}"
    words = _REMINDER.sub("", words)
    telling = TELLING if isinstance(call, Command | OtherCall) and _lengths(call) in _RUN else 0
    words = _output(without_addresses(words) if _is_web(call) else words, _lengths(call), shown, telling)
    return (label, words) if call.failed or call.refused or _squeezed(words) else None


_BY_ROLE: dict[str, Callable[[Turn, str, _Shown], _Told]] = {"assistant": _assistant, "system": _system, "tool": _tool}


def _notes(turn: Turn, shown: _Shown) -> Iterator[str]:
    """What the turn's own words do not say: commands and edits without a result, hooks that failed."""
    for event in turn.calls:
        if shown.paired and not event.answered and isinstance(event, Command | Edit):
            yield f"[no result was recorded: {_short(_what(event))}]"
    for hook in turn.events:
        if isinstance(hook, Hook) and hook.failed:
            yield f"[hook {_short(hook.words)}: failed] {hook.output}".rstrip()


def _output(words: str, lengths: tuple[int, int], shown: _Shown, telling: int = 0) -> str:
    """What a tool printed or was given: what was not shown before, its middle left out where it is long."""
    return shown.once.note(outlined(shown.once.rest(plain(words)), *lengths, telling=telling))


def _is_code(event: Call) -> bool:
    """Whether a file of code or data was merely looked at: it lies in the repository, and its edits are shown."""
    return isinstance(event, FileRead) and not event.failed and _CODE.search(event.path) is not None


def _is_web(event: Call) -> bool:
    return isinstance(event, Search) and _WEB.search(event.tool) is not None


def _looks(words: str) -> bool:
    """Whether a command line looks for something or prints files, and does nothing else."""
    steps = [step for step in _JOINT.split(_STREAMS.sub("", words).strip()) if not _BESIDE.match(step)]
    return bool(steps) and all(_LOOKS.match(step) or READS.match(step.strip()) for step in steps)


def _lengths(event: Call) -> tuple[int, int]:
    """The characters of the beginning and of the end of a call's output that are shown. What failed is shown as the
    command it was."""
    if isinstance(event, Command):
        if event.failed:
            return FAILED
        if READS.match(event.words.strip()):
            return CODE if _CODE.search(event.words) else PRINTED
        if _DATA.match(event.output):
            return DATA
        if _looks(event.words):
            return SHOWN[Search]
    if isinstance(event, Edit) and event.failed:
        return FAILED_EDIT
    if _is_code(event):
        return CODE
    if _is_web(event):
        return WEB
    return SHOWN.get(type(event), SHOWN[OtherCall])


def _answered_by(turn: Turn, events: Sequence[Call]) -> Call:
    """The call whose result this turn is; several can stand in one record."""
    head = turn.text.strip()[:80]
    return next((event for event in events if head and event.output[:80] == head), events[0])


def _outcome(event: Call, *, named: bool) -> str:
    """What became of a call, its name left out where it alone stands right above."""
    said = f"result of {_short(_what(event))}" if named else "result"
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
