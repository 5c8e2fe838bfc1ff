"""Turns out of what a record says: whose words, which time, how much of a tool's output.

Every format of records is read the same way: its reader hands each utterance to a `Reading`, which cleans it, joins an
answer that was written in pieces, takes injected blocks out of a person's words and cuts what tools printed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from core.conversations.conversation import Conversation, Turn
from core.conversations.lines import INJECTED, Line, block_ends, first_line

# Of a longer output, or of longer context, the beginning and the end are kept: nothing durable is in the middle of a
# listing, while errors and results stand at its end. What people and assistants say is never cut. In characters; a
# little more is let through uncut.
TOOL_HEAD = 5000
TOOL_TAIL = 3000
CALL_VALUE = 200
CALL_CHARACTERS = 1000
COMMAND_CHARACTERS = 2000

SHELLS = frozenset({
    "bash", "shell", "exec_command", "shell_command", "local_shell", "local_shell_call", "run_shell_command",
    "run_in_terminal", "execute_command", "run_terminal_cmd", "run_command", "container.exec", "developer__shell",
    "powershell", "terminal",
})  # fmt: skip
_STAMP = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d")
_KEY_HEAD = re.compile(r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY")
_KEY_END = re.compile(r"-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY[^\n]*\n?")


def clean(text: str) -> str:
    """Text that can be written as UTF-8, with plain line ends: half of a surrogate pair becomes U+FFFD."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text.replace("\r\n", "\n") if "\r" in text else text


def cut(text: str, head: int = TOOL_HEAD, tail: int = TOOL_TAIL) -> str:
    """The first `head` and the last `tail` characters of a long text, with a line between that says what is missing.

    Never inside a word, so that half of a secret does not pass by the redaction; the rest of a private key that begins
    in the missing part goes with it.
    """
    if len(text) <= head + tail + 200:
        return text
    first, last = text[:head], text[-tail:]
    line, blank = first.rfind("\n"), first.rfind(" ")
    first = first[: max(line if head - line < 1000 else blank, 0)]
    gaps = [at for at in (last.find("\n"), last.find(" ")) if at >= 0]
    last = last[min(gaps) + 1 :] if gaps else ""
    begun = None
    for begun in _KEY_HEAD.finditer(text, len(first), len(text) - len(last)):  # noqa: B007  (the last one matters)
        pass
    if begun and not _KEY_END.search(text, begun.end(), len(text) - len(last)):
        ended = _KEY_END.search(last)
        last = last[ended.end() :] if ended else ""
    number = len(text) - len(first) - len(last)
    return f"{first}\n[… {number} characters left out …]\n{last}"


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


def word(value: Any, limit: int = 1000) -> str:
    """A name, title or path out of a record: one line, "" for anything that is no short string."""
    return clean(value).replace("\n", " ").replace("\0", "").strip() if _short(value, limit) else ""


def _short(value: Any, limit: int) -> bool:
    return isinstance(value, str) and len(value) <= limit


@dataclass
class _Entry:
    role: str
    texts: list[str]
    time: str
    start: int
    end: int
    ran: list[str] = field(default_factory=list)
    call: bool = False


@dataclass
class Reading:
    """Collects the turns of one conversation in their order. `skipped` counts records that were not understood.

    `injected` names the tags around text that was not said by whom it stands with; see `lines.INJECTED`. With a `sink`
    each turn is handed on as soon as it is whole and then forgotten, so that a long conversation needs no memory.
    """

    injected: Mapping[str, str] = field(default_factory=lambda: INJECTED)
    skipped: int = 0
    entries: list[_Entry] = field(default_factory=list)
    sink: Callable[[Turn], None] | None = None
    _title: str = ""
    _times: list[str] = field(default_factory=list)

    def say(self, role: str, text: str, time: str = "", start: int = 0, end: int = 0) -> None:
        """One utterance; nothing when there are no words in it. Pieces of an answer that follow each other join."""
        text = clean(text)
        text = (cut(text) if role in ("tool", "system") else text).strip("\n").rstrip()
        if not text.strip():
            return
        last = self.entries[-1] if self.entries else None
        if role == "assistant" and last and last.role == role:
            last.texts.append(text)
            last.start, last.end = min(last.start, start), max(last.end, end)
        else:
            if self.sink is not None:
                self._hand_on(self.sink)
            self.entries.append(_Entry(role, [text], time, start, end))

    def _hand_on(self, sink: Callable[[Turn], None]) -> None:
        """Give the turns that are whole away; what a title and the times are made of stays."""
        for turn in self.turns():
            sink(turn)
            if turn.role == "user" and not self._title:
                self._title = first_line([turn])
            if turn.time:
                self._times = [*self._times[:1], turn.time]
        self.entries.clear()

    def person(self, text: str, time: str = "", start: int = 0, end: int = 0) -> None:
        """What stands in a person's message: at most one turn of theirs, and turns for the blocks put into it."""
        text = clean(text)
        lines = [Line(row, 0, 0) for row in text.split("\n")] if "<" in text else []
        blocks = block_ends(lines, self.injected) if lines else {}
        if not blocks:
            self.say("user", text, time, start, end)
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
            self.say(role, "\n".join(rows), time, start, end)
        self.say("user", "\n".join(own), time, start, end)

    def call(self, tool: Any, given: Any, time: str = "", start: int = 0, end: int = 0) -> None:
        """A tool is called. A shell's command is the assistant's own word, like in a transcript of text; of any other
        call the tool's name and the beginning of each argument are kept."""
        name = word(tool, 200) or "tool"
        command = command_of(given) if name.lower() in SHELLS else ""
        if command and len(command) <= COMMAND_CHARACTERS:
            fence = "```"
            while fence in command:
                fence += "`"
            self.say("assistant", f"{fence}bash\n{command}\n{fence}", time, start, end)
            if self.entries and self.entries[-1].role == "assistant":
                self.entries[-1].ran.append(clean(command))
            return
        rows = [name]
        for key, value in given.items() if isinstance(given, dict) else [("", given)] if given else []:
            shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
            shown = clean(shown)
            rows.append(f"{key}: {cut(shown, CALL_VALUE - 60, 60)}" if key else cut(shown, CALL_VALUE * 2, CALL_VALUE))
        before = len(self.entries)
        self.say("tool", cut("\n".join(rows), CALL_CHARACTERS - 300, 300), time, start, end)
        if self.entries[before:] or (self.sink is not None and self.entries):
            self.entries[-1].call = True

    def turns(self) -> tuple[Turn, ...]:
        """The turns so far."""
        return tuple(
            Turn(row.role, "\n\n".join(row.texts), row.time, row.start, row.end, tuple(row.ran), row.call)
            for row in self.entries
        )

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
    ) -> Conversation:
        """The conversation that was read. Without a title the person's first line is it, without times the turns'."""
        if self.sink is not None:
            self._hand_on(self.sink)
        turns = self.turns()
        times = [*self._times, *(turn.time for turn in turns if turn.time)]
        return Conversation(
            word(id, 200) or name,
            kind,
            turns,
            word(title, 300) or self._title or first_line(turns),
            word(folder, 4096),
            iso_time(started) or (times[0] if times else ""),
            iso_time(ended) or (times[-1] if times else ""),
            self.skipped,
        )


def command_of(given: Any) -> str:
    """The command line in the arguments of a shell: a string, or a list such as `["bash", "-lc", "make"]`."""
    if isinstance(given, dict):
        given = next((given[key] for key in ("command", "cmd", "script", "commandLine") if key in given), "")
    if isinstance(given, list):
        words = [row for row in given if isinstance(row, str)]
        if len(words) == 3 and words[1].startswith("-") and words[1].endswith("c"):
            return words[2].strip()
        return " ".join(f"'{row}'" if " " in row else row for row in words).strip()
    return given.strip() if isinstance(given, str) else ""


def joined(name: str, kind: str, parts: Iterable[Conversation], skipped: int = 0) -> Conversation:
    """Several conversations of one file as one, oldest first, each below a system turn with its title.

    A file is harvested, and may be reclaimed, as a whole: what is read of it must be the whole as well.
    """
    rows = sorted(parts, key=lambda row: row.started)
    if len(rows) == 1:
        return replace(rows[0], skipped=rows[0].skipped + skipped)
    turns: list[Turn] = []
    for row in rows:
        if row.turns:
            start, end = min(turn.start for turn in row.turns), max(turn.end for turn in row.turns)
            turns.append(Turn("system", f"Conversation: {row.title or row.id}", row.started, start, end))
            turns.extend(row.turns)
    ended = max((row.ended for row in rows), default="")
    title = f"{len(rows)} conversations" if rows else ""
    folders = {row.folder for row in rows}
    folder = folders.pop() if len(folders) == 1 else ""
    skipped += sum(row.skipped for row in rows)
    return Conversation(name, kind, tuple(turns), title, folder, rows[0].started if rows else "", ended, skipped)
