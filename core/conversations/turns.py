"""Turns out of what a record says: whose words, which time, how much of a tool's output.

Every format of records is read the same way: its reader hands each utterance to a `Reading`, which cleans it, joins an
answer that was written in pieces, takes injected blocks out of a user's words and cuts what tools printed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote, urlsplit

from core.conversations.conversation import Conversation, Turn
from core.conversations.events import (
    EDITS,
    SHELLS,
    Call,
    Compaction,
    Event,
    Question,
    Reminder,
    call_event,
    ends,
    follow_ups,
    settled,
    shortened,
)
from core.conversations.lines import INJECTED, Line, block_ends, first_line
from core.conversations.records import Document, Record, parse_object

# Of a longer output, or of longer context, the beginning and the end are kept: nothing durable is in the middle of a
# listing, while errors and results stand at its end. What people and assistants say is never cut. In characters; a
# little more is let through uncut.
TOOL_HEAD = 5000
TOOL_TAIL = 3000
CALL_VALUE = 200
CALL_CHARACTERS = 1000
EDIT_VALUE = 1200
EDIT_CHARACTERS = 3000
"""Of an edit more is kept than of other calls: it is what was done."""
DOCUMENT_VALUE, DOCUMENT_CHARACTERS = 6000, 8000
"""Of a document that is written still more is kept: it is what the assistant says."""
COMMAND_CHARACTERS = 2000
UNCUT_CHARACTERS = 40_000
"""What is kept of a call, or of what came back, for who reads the conversation itself."""
_UNCUT: ContextVar[bool] = ContextVar("uncut", default=False)

_PROSE = (".md", ".markdown", ".mdx", ".rst", ".txt", ".adoc")
_STAMP = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d")


def is_document(path: Any) -> bool:
    """Whether a file holds prose, by its name."""
    return isinstance(path, str) and "\n" not in path and path.lower().endswith(_PROSE)


def clean(text: str) -> str:
    """Text that can be written as UTF-8, with plain line ends: half of a surrogate pair becomes U+FFFD."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text.replace("\r\n", "\n") if "\r" in text else text


def cut(text: str, head: int = TOOL_HEAD, tail: int = TOOL_TAIL) -> str:
    """The first `head` and the last `tail` characters of a long text, with a line between that says what is missing."""
    first, last = ends(text, head, tail)
    number = len(text) - len(first) - len(last)
    return f"{first}\n[… {number} characters left out …]\n{last}" if number else text


@contextmanager
def uncut() -> Iterator[None]:
    """Conversations that are read in here keep what tools were given and gave back nearly whole: a person or an agent
    reads them. A harvest, the index and the rules live on the ends."""
    token = _UNCUT.set(True)
    try:
        yield
    finally:
        _UNCUT.reset(token)


def _kept(text: str, head: int, tail: int) -> str:
    if _UNCUT.get():
        head, tail = UNCUT_CHARACTERS * 3 // 4, UNCUT_CHARACTERS // 4
    return cut(text, head, tail)


def text_of(content: Any) -> str:
    """The text of a message: a string, or the text blocks of a list. Pictures and unknown blocks give nothing."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts = [
        row if isinstance(row, str) else row["text"]
        for row in content
        if isinstance(row, str) or (isinstance(row, dict) and isinstance(row.get("text"), str))
    ]
    return "\n".join(parts)


def iso_time(value: Any) -> str:
    """ISO 8601, from a string that is one already or from seconds or milliseconds since 1970; "" for all else."""
    if isinstance(value, str):
        return clean(value) if len(value) < 40 and _STAMP.match(value) else ""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return ""
    try:
        seconds = value / 1000 if abs(value) > 1e11 else value
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError, OSError):
        return ""


def kind_of(value: Any, key: str = "type") -> str:
    """The member `key` of an object when it is a string, else ""."""
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, str) else ""


def table_of(value: Any) -> dict[str, Any]:
    """The value when it is an object, else an empty one: what records hold is not always what it was."""
    return value if isinstance(value, dict) else {}


def list_of(value: Any) -> list[Any]:
    """The value when it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def tables_of(value: Any) -> list[dict[str, Any]]:
    """The objects in a list, empty for all else."""
    return [row for row in list_of(value) if isinstance(row, dict)]


def text_in(value: Any, key: str) -> str:
    """A text, or that of the member `key` where an object is around it."""
    return text_of(value.get(key) if isinstance(value, dict) else value)


def truth_of(value: Any) -> bool | None:
    """What says yes or no; None for all else."""
    return value if isinstance(value, bool) else None


def whole_of(value: Any) -> int | None:
    """A whole number, such as an exit status; None for all else."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def word(value: Any, limit: int = 1000) -> str:
    """A name, title or path out of a record: one line, "" for anything that is no short string."""
    if not isinstance(value, str) or len(value) > limit:
        return ""
    return clean(value).replace("\n", " ").replace("\0", "").strip()


def path_of(address: Any) -> str:
    """The path in an address such as `file:///srv/app`, "" for any other."""
    try:
        return unquote(urlsplit(address).path) if isinstance(address, str) and address.startswith("file://") else ""
    except ValueError:
        return ""


@dataclass
class _Entry:
    role: str
    texts: list[str]
    time: str
    start: int
    end: int
    events: list[Event] = field(default_factory=list)
    agent: str = ""
    doubtful: bool = False


@dataclass
class Reading:
    """Collects the turns of one conversation in their order. `skipped` counts records that were not understood.

    `injected` names the tags around text that was not said by whom it stands with; see `lines.INJECTED`. `model` is the
    language model that answered last and `branch` what was checked out, as far as the records told; `agent` is the
    sub-agent that speaks. In a `delegated` session an assistant wrote what stands as the user's words.

    `place` is where that stands which is read next: its time (ISO 8601 or ""), its first and last byte; see `at`.
    """

    injected: Mapping[str, str] = field(default_factory=lambda: INJECTED)
    skipped: int = 0
    entries: list[_Entry] = field(default_factory=list)
    place: tuple[str, int, int] = ("", 0, 0)
    agent: str = ""
    delegated: bool = False
    model: str = ""
    branch: str = ""
    _begun: bool = False
    _waiting: dict[str, tuple[_Entry, int]] = field(default_factory=dict)
    _early: list[Event] = field(default_factory=list)
    _shared: set[str] = field(default_factory=set)  # ids under which calls of several tools wait

    def at(self, record: Record, time: Any = "") -> None:
        """What follows stands in this record; `time` in any form that `iso_time` reads."""
        self.place = (iso_time(time), record.start, record.end)

    def values(self, records: Iterable[Record], time: str = "timestamp") -> Iterator[dict[str, Any]]:
        """The objects of records, each while what follows stands in it; `time` is the member with its time, "" for
        none. What is no object is counted."""
        for record in records:
            if record.value is None:
                self.skipped += 1
            else:
                self.at(record, record.value.get(time) if time else "")
                yield record.value

    def dated(self, time: Any) -> None:
        """The time of what follows, where the record itself tells it; `time` as for `at`."""
        self.place = (iso_time(time), *self.place[1:])

    @property
    def about(self) -> dict[str, Any]:
        """The place as the members of an event."""
        return dict(zip(("time", "start", "end"), self.place, strict=True))

    def say(self, role: str, text: str) -> None:
        """One utterance; nothing when there are no words in it. Pieces of an answer that follow each other join.
        `agent` of the reading tells which sub-agent speaks."""
        text = clean(text)
        text = (_kept(text, TOOL_HEAD, TOOL_TAIL) if role in ("tool", "system") else text).strip("\n").rstrip()
        if not text.strip():
            return
        self._begun = self._begun or role in ("user", "assistant")
        time, start, end = self.place
        last = self.entries[-1] if self.entries else None
        if role == "assistant" and last and last.role == role and last.agent == self.agent:
            last.texts.append(text)
            last.start, last.end = min(last.start, start), max(last.end, end)
        else:
            self.entries.append(_Entry(role, [text], time, start, end, self._early, self.agent))
            self._early = []

    def note(self, event: Event, id: str = "") -> None:
        """An event of the turn that was said last. A call with an `id` waits for its result."""
        if not self.entries:
            self._early.append(event)
            return
        row = self.entries[-1]
        if isinstance(event, Call) and id:
            event = replace(event, id=id)
            if (before := self._waiting_call(id)) is not None and before.tool != event.tool:
                self._shared.add(id)
            self._waiting[id] = (row, len(row.events))
        row.events.append(event)

    def result(
        self,
        text: str,
        *,
        id: str = "",
        failed: bool | None = None,
        status: int | None = None,
        refused: bool = False,
        change: Callable[[Call], Call] = lambda event: event,
    ) -> None:
        """What a call gave back is a turn of the tool, and the end of the call's event."""
        self.settle(id, text, failed=failed, status=status, refused=refused, change=change)
        self.say("tool", text)

    def settle(
        self,
        id: str,
        text: str,
        *,
        failed: bool | None = None,
        status: int | None = None,
        refused: bool = False,
        change: Callable[[Call], Call] = lambda event: event,
    ) -> None:
        """The event of the call `id` has ended; `change` fills what only the reader of the format knows."""
        event = self._waiting_call(id)
        if event is None:
            return
        row, at = self._waiting.pop(id)
        self._shared.discard(id)
        row.events[at] = change(settled(event, clean(text), self.place[1], failed, status, refused))

    def waits(self, id: str, tool: str) -> bool:
        """Whether a call of `tool`, and of no other, waits for the result that names `id`. The user answers through the
        tool's own questions only: any other tool may give back what looks like an answer."""
        event = self._waiting_call(id)
        return event is not None and event.tool == tool and id not in self._shared

    def _waiting_call(self, id: str) -> Call | None:
        row, at = self._waiting.get(id, (None, 0))
        if row is None:
            return None
        event = row.events[at]
        assert isinstance(event, Call)
        return event

    def person(self, text: str, *, typed: bool = False) -> None:
        """What stands in a user's message: at most one turn of theirs, and turns for the blocks put into it. `typed`:
        by the user, also in a delegated session."""
        if self.delegated and not typed:
            self.say("system", text)
            return
        text = clean(text)
        lines = [Line(row, 0, 0) for row in text.split("\n")] if "<" in text else []
        blocks = block_ends(lines, self.injected, message=True) if lines else {}
        if not blocks:
            self.say("user", text)
            return
        own: list[str] = []
        put_in: list[tuple[str, list[str]]] = []
        last = -1
        for number, line in enumerate(lines):
            if number <= last:
                put_in[-1][1].append(line.text)
            elif number in blocks:
                last, role = blocks[number]
                if not put_in or put_in[-1][0] != role:
                    put_in.append((role, []))
                put_in[-1][1].append(line.text)
            else:
                own.append(line.text)
        for role, rows in put_in:
            if role == "system":
                self.remind("\n".join(rows))
            else:
                self.say(role, "\n".join(rows))
        self.say("user", "\n".join(own))

    def summary(self, text: str) -> None:
        """What the tool put in the place of all that went before: the one text of its own that is never cut. Where
        nothing went before in this file, nobody can tell whose words it repeats: it counts as a tool's."""
        text = clean(text).strip()
        if not text:
            return
        begins = not self._begun
        self.say("system", "…")
        self.entries[-1].texts = [text]
        self.entries[-1].doubtful = begins
        self.note(Compaction(text=text, **self.about))

    def remind(self, text: str) -> None:
        """Text that the tool put in: nobody said it, and a model need not see it."""
        if text.strip():
            self.say("system", text)
            self.note(Reminder(text=shortened(clean(text)), **self.about))

    def call(self, tool: Any, given: Any, id: Any = "") -> None:
        """A tool is called. A shell's command is the assistant's own word, like in a transcript of text; of any other
        call the tool's name and the beginning of each argument are kept. `id` is what its result will name."""
        name = word(tool, 200) or "tool"
        command = command_of(given) if name.lower() in SHELLS else ""
        self._say_call(name, given, command)
        self.called(tool, given, id)

    def called(self, tool: Any, given: Any, id: Any = "") -> None:
        """The event of a call whose words were said another way."""
        name = word(tool, 200) or "tool"
        command = command_of(given) if name.lower() in SHELLS else ""
        self.note(call_event(name, given, command, *self.place), word(id, 200))

    def _say_call(self, name: str, given: Any, command: str) -> None:
        if command and len(command) <= COMMAND_CHARACTERS:
            fence = "```"
            while fence in command:
                fence += "`"
            self.say("assistant", f"{fence}bash\n{command}\n{fence}")
            return
        rows = [name]
        writes = name.lower() in EDITS or "*** Begin Patch" in command
        value_length, length = (EDIT_VALUE, EDIT_CHARACTERS) if writes else (CALL_VALUE, CALL_CHARACTERS)
        if writes and isinstance(given, dict) and any(map(is_document, given.values())):
            value_length, length = DOCUMENT_VALUE, DOCUMENT_CHARACTERS
        for key, value in [("command", command)] if command else _members(given):
            shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
            shown = clean(shown)
            room = (value_length - 60, 60) if key else (value_length * 2, value_length)
            rows.append(f"{key}: {_kept(shown, *room)}" if key else _kept(shown, *room))
        self.say("tool", _kept("\n".join(rows), length - 300, 300))

    def conversation(
        self,
        name: str,
        kind: str,
        *,
        id: Any = "",
        title: Any = "",
        folder: Any = "",
        started: Any = "",
        ended: Any = "",
        model: Any = "",
        repository: Any = "",
        branch: Any = "",
    ) -> Conversation:
        """The conversation that was read. Without a title the user's first line is it, without times the turns'."""
        turns = tuple(map(_turn, self.entries))
        times = [turn.time for turn in turns if turn.time]
        return Conversation(
            word(id, 200) or name,
            kind,
            turns,
            word(title, 300) or first_line(turns),
            word(folder, 4096),
            iso_time(started) or (times[0] if times else ""),
            iso_time(ended) or (times[-1] if times else ""),
            self.skipped,
            word(model, 100) or word(self.model, 100),
            word(repository, 300),
            word(branch, 300) or word(self.branch, 300),
        )


def _turn(row: _Entry) -> Turn:
    """A turn with its events; what a command line made (a commit, a push) stands behind it."""
    events = [made for event in row.events for made in (event, *follow_ups(event))] if row.events else []
    words = "\n\n".join(row.texts)
    return Turn(row.role, words, row.time, row.start, row.end, tuple(events), row.agent, row.doubtful)


def _members(given: Any) -> list[tuple[str, Any]]:
    """The arguments of a call by name; of several edits in one call those of each."""
    if not isinstance(given, dict):
        return [("", given)] if given else []
    several = tables_of(given.get("edits"))
    if not several:
        return list(given.items())
    return [row for row in given.items() if row[0] != "edits"] + [row for edit in several for row in edit.items()]


def command_of(given: Any) -> str:
    """The command line in the arguments of a shell: a string, or a list such as `["bash", "-lc", "make"]`."""
    if isinstance(given, dict):
        given = next(
            (given[key] for key in ("command", "cmd", "script", "commandLine", "CommandLine") if key in given), ""
        )
    if isinstance(given, list):
        words = [row for row in given if isinstance(row, str)]
        if len(words) == 3 and words[1].startswith("-") and words[1].endswith("c"):
            return words[2].strip()
        return " ".join(f"'{row}'" if " " in row else row for row in words).strip()
    return given.strip() if isinstance(given, str) else ""


def joined(name: str, kind: str, parts: Iterable[Conversation]) -> Conversation:
    """Several conversations of one file as one, oldest first, each below a system turn with its title.

    A file is harvested, and may be reclaimed, as a whole: what is read of it must be the whole as well.
    """
    rows = sorted(parts, key=lambda row: row.started)
    if len(rows) == 1:
        return rows[0]
    turns: list[Turn] = []
    for row in rows:
        if row.turns:
            start, end = min(turn.start for turn in row.turns), max(turn.end for turn in row.turns)
            turns.append(Turn("system", f"Conversation: {row.title or row.id}", row.started, start, end))
            turns.extend(row.turns)
    ended = max((row.ended for row in rows), default="")
    title = f"{len(rows)} conversations" if rows else ""
    skipped = sum(row.skipped for row in rows)
    started = rows[0].started if rows else ""
    told = {key: {getattr(row, key) for row in rows} for key in ("folder", "model", "repository", "branch")}
    same = {key: values.pop() if len(values) == 1 else "" for key, values in told.items()}
    return Conversation(name, kind, tuple(turns), title, started=started, ended=ended, skipped=skipped, **same)


def read_export(
    name: str, kind: str, found: Document, size: int, read_one: Callable[[str, Record], Conversation]
) -> tuple[Conversation, ...]:
    """The conversations of an export, which is an array of them, or one alone."""
    rows = found.records() if "" in found.members else [Record(found.members, 0, size)]
    read = [read_one(f"{name}#{number}", row) for number, row in enumerate(rows, 1)]
    read = read or [Reading().conversation(name, kind)]
    read[-1] = replace(read[-1], skipped=read[-1].skipped + found.torn)
    return tuple(read)


# --- messages as the interfaces of language models have them, and as many tools write them down ----------------------

# Blocks (`text`, `tool_use`, `tool_result`) as in Anthropic's Messages API, and `tool_calls` beside the content as in
# OpenAI's Chat Completions API; both are documented by their makers.

_SILENT = frozenset({
    "thinking", "redacted_thinking", "reasoning", "image", "document", "image_url", "input_image", "token_budget",
    "flag", "voice_note",
})  # fmt: skip


def read_blocks(
    role: str, content: Any, reading: Reading, result: Callable[[dict[str, Any], Reading], None] | None = None
) -> None:
    """One message of `role` user or assistant. `result` reads a block of what a tool gave back where the tool writes
    one of its own."""
    said: list[str] = []
    for block in content if isinstance(content, list) else [content]:
        kind = "text" if isinstance(block, str) else kind_of(block)
        if kind == "text" and role == "assistant":
            reading.say("assistant", text_of([block]))
        elif kind == "text":
            said.append(text_of([block]))
        elif kind in ("tool_use", "server_tool_use", "toolCall"):
            given = block.get("input", block.get("arguments"))
            reading.call(block.get("name"), given, id=text_of(block.get("id") or block.get("name")))
        elif kind == "tool_result":
            (result or read_result)(block, reading)
        elif kind not in _SILENT:
            reading.skipped += 1
    reading.person("\n".join(said))


def read_result(block: dict[str, Any], reading: Reading) -> None:
    """A block `tool_result`."""
    failed = truth_of(block.get("is_error"))
    key = text_of(block.get("tool_use_id") or block.get("name"))
    reading.result(text_of(block.get("content")), id=key, failed=failed)


def read_calls(calls: Any, reading: Reading) -> None:
    """The `tool_calls` of an answer; the function and its arguments may stand one level higher."""
    for call in list_of(calls):
        if not isinstance(call, dict):
            reading.skipped += 1
            continue
        inside = call.get("function")
        asked = inside if isinstance(inside, dict) else call
        given = asked.get("arguments", asked.get("input"))
        reading.call(asked.get("name"), arguments(given), id=text_of(call.get("id") or call.get("tool_call_id")))


def arguments(given: Any) -> Any:
    """The arguments of a call, which many tools keep as JSON inside a string."""
    return parse_object(given) or given if isinstance(given, str) else given


def answered(event: Call, answer: Callable[[int, str], str]) -> Call:
    """A question with its answers; `answer` says which belongs to a question's number (from 0) and words."""
    if not isinstance(event, Question):
        return event
    rows = [(asked, options, answer(at, asked)) for at, (asked, options, _) in enumerate(event.asked)]
    return replace(event, asked=tuple(rows))
