"""`knowledge search` and `knowledge show`: what was found, best first, and one conversation to be read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any

from core.base.choices import SEARCH_KINDS, SPOKEN_ROLES
from core.base.markdown import split_lines
from core.cli.table import NAMED, Argument, flag, listed, needed, option, repeated, single, whole_number
from core.cli.text import count, one_line, size

if TYPE_CHECKING:
    from core.commands.conversations import BuildReport
    from core.commands.search import FoundReport, VectorsReport
    from core.commands.transcript import Shown

LINES = 6
"""So many lines of one hit are shown."""
SPEAKERS = {"user": "you", "assistant": "assistant", "tool": "tool", "system": "put in by the tool", "": ""}
WIDE = 320
"""So much of a line that a tool gave back."""


def search_text(report: FoundReport) -> str:
    """Each hit with its number; below it, where it stands and why it was found."""
    lines = [_built(report.built)] if report.built is not None else []
    if report.built is not None and not report.query:
        return "\n".join(lines) + "\n"
    lines += [one_line(report.note)] if report.note else []
    if not report.hits:
        what = f"nothing found for {one_line(report.query)!r}" if report.query else "nothing found"
        return "\n".join([*lines, f"{what} in {report.searched}"]) + "\n"
    rows = [*lines]
    for number, hit in enumerate(report.hits, start=1):
        rows += _entry(number, hit) if hasattr(hit, "entry") else _conversation(number, hit)
    rows.append(f"{count(len(report.hits), 'hit')} shown, {report.searched} searched")
    first: Any = next((hit for hit in report.hits if not hasattr(hit, "entry")), None)
    if first is not None:
        turn = f":{first.turn}" if first.turn else ""
        rows.append(f"'knowledge show {one_line(first.name)}{turn}' reads on")
    return "\n".join(rows) + "\n"


def _entry(number: int, hit: Any) -> Iterator[str]:

    entry = hit.entry
    lines = split_lines(entry.text) or [""]
    yield f"{number}. {lines[0]} {entry.provenance}".rstrip()
    yield from (f"   {line}" for line in lines[1:LINES])
    if len(lines) > LINES:
        yield f"   … {count(len(lines) - LINES, 'line')} more"
    about = [f"{entry.kind} {one_line(entry.key)}"]
    about += [one_line(entry.title)] if entry.kind == "note" and entry.title else []
    about += [one_line(", ".join(entry.tags))] if entry.tags and entry.kind != "note" else []
    yield f"   ({'; '.join([*about, one_line(', '.join(hit.why))])})"
    yield from (f"   also {one_line(source)}" for source in hit.confirmations)


def _conversation(number: int, hit: Any) -> Iterator[str]:
    """Its title and day, what was said in its best turn, and what it is."""

    yield f"{number}. {one_line(hit.title) or '(no title)'} [{hit.day}]"
    if hit.text:
        lines = [line.strip() for line in split_lines(hit.text) if line.strip()]
        yield f"   {SPEAKERS.get(hit.role, hit.role)}, turn {hit.turn}: {lines[0] if lines else ''}"
        yield from (f"     {line}" for line in lines[1:LINES])
        if len(lines) > LINES:
            yield f"     … {count(len(lines) - LINES, 'line')} more"
    about = [f"conversation {one_line(hit.name)}", hit.tool, hit.folder, hit.branch, count(hit.turns, "turn")]
    about += [f"{len(hit.places)} of them match"] if len(hit.places) > 1 else []
    about += ["in the trash"] if hit.in_trash else []
    about += [", ".join(hit.why)]
    yield f"   ({'; '.join(one_line(one) for one in about if one)})"


def _entries(number: int) -> str:
    return count(number, "entry").replace("entrys", "entries")


def vectors_text(report: VectorsReport) -> str:
    """How many entries and turns can be found by meaning now."""
    turns = f" and {count(report.turns, 'turn')} of conversations" if report.turns else ""
    left = f"; {count(report.waiting, 'turn')} left for the next time" if report.waiting else ""
    return f"{_entries(report.entries)}{turns} can be found by meaning ({report.embedder}){left}\n"


def _built(built: BuildReport) -> str:
    held = f"{count(built.conversations, 'conversation')} with {count(built.turns, 'turn')}, {size(built.bytes)}"
    rows = [f"read: {built.read}, taken out: {built.gone}; the index holds {held}"]
    if built.unread:
        rows.append(f"could not be read: {built.unread}")
    if built.waiting:
        rows.append(f"left for the next time: {built.waiting}")
    return "\n".join(rows + [f"note: {one_line(note)}" for note in built.notes])


# --- show ------------------------------------------------------------------------------------------------------------


def show_text(shown: Shown) -> str:
    """A conversation for a reader, as markdown, or the command that goes on with it."""
    conversation = shown.conversation
    if shown.style == "resume":
        return f"{conversation.resume}\n"
    return "\n".join(_markdown(conversation) if shown.style == "markdown" else _readable(conversation)) + "\n"


def _readable(talk: Any) -> Iterator[str]:
    yield talk.title or talk.name
    about = [talk.tool, talk.folder, talk.branch, _period(talk), count(talk.count, "turn")]
    about += ["in the trash"] if talk.in_trash else []
    yield "; ".join(one_line(one) for one in about if one)
    if talk.resume:
        yield f"go on with it: {one_line(talk.resume)}"
    for turn in talk.turns:
        yield ""
        yield f"── {_speaker(turn)}  {turn.number}{_clock(turn.time)}"
        yield from _body(turn)
        for item in turn.items:
            place = f"{item.file}:{item.line}" if item.line else f"{item.file}, not there any more"
            yield f"   ◂ {item.category}: {one_line(item.text)} ({place})"
    loose = [item for item in talk.items if not item.turn]
    if loose:
        yield ""
        yield "harvested from it, the turn is not known:"
        yield from (f"   ◂ {item.category}: {one_line(item.text)}" for item in loose)
    if talk.next is not None:
        yield ""
        reads_on = f"'knowledge show {one_line(talk.name)}:{talk.next}' reads on"
        yield f"turns {talk.first} to {talk.next - 1} of {talk.count}; {reads_on}"


def _body(turn: Any) -> Iterator[str]:
    """Words as they are; what a tool gave back by its first and last lines."""

    lines = split_lines(turn.text.strip())  # all are indented: none can pass for a line of ours
    if turn.role != "tool":
        yield from (f"   {line}".rstrip() for line in lines)
        return
    left = len(lines) - 2 * LINES
    shown = lines if left <= 0 else [*lines[:LINES], f"… {count(left, 'line')} …", *lines[-LINES:]]
    yield from (f"   {line if len(line) <= WIDE else line[:WIDE] + ' …'}".rstrip() for line in shown)


def _markdown(talk: Any) -> Iterator[str]:
    """Headings for turns; what tools gave back in fences that nothing in it closes."""
    yield f"# {one_line(talk.title or talk.name)}"
    yield ""
    about = (("Conversation", talk.name), ("Tool", talk.tool), ("Folder", talk.folder), ("Branch", talk.branch),
             ("Day", _period(talk)))  # fmt: skip
    yield from (f"- {name}: {one_line(value)}" for name, value in about if value)
    for turn in talk.turns:
        yield ""
        yield f"## {turn.number}. {_speaker(turn)}{_clock(turn.time)}"
        yield ""
        if turn.role == "tool":
            fence = "```"
            while fence in turn.text:
                fence += "`"
            yield from (fence, turn.text.strip("\n"), fence)
        else:
            yield _harmless(turn.text.strip("\n"))
        for item in turn.items:
            yield f"> {item.category}: {one_line(item.text)}"


def _harmless(text: str) -> str:
    """Words that cannot pass for a heading of ours, nor hide what follows in a fence that they leave open."""
    text = re.sub(r"^(?=## \d+\. )", r"\\", text, flags=re.MULTILINE)
    fences = re.findall(r"^ {0,3}(`{3,}|~{3,})", text, re.MULTILINE)
    return f"{text}\n{fences[-1]}" if len(fences) % 2 else text


def _speaker(turn: Any) -> str:
    name = "tool call" if turn.is_call else SPEAKERS.get(turn.role, turn.role)
    return f"{name} (sub-agent {one_line(turn.agent)})" if turn.agent else name


def _period(talk: Any) -> str:
    return f"{talk.started[:10]} to {talk.ended[:10]}" if talk.started[:10] != talk.ended[:10] else talk.started[:10]


def _clock(time: str) -> str:
    """The time of a turn as the person's clock has it."""

    try:
        return f"  {datetime.fromisoformat(time).astimezone():%Y-%m-%d %H:%M}" if time else ""
    except (ValueError, OverflowError):
        return ""


COMMANDS = (
    single(
        "search",
        "find anything in the store and in conversations, best first",
        "flaky login test --kind conversation --since 2026-05",
        ".search:search_everything",
        search_text,
        Argument(("query",), "any words; in quotation marks: a phrase", {"nargs": "*", "metavar": "QUERY"}),
        option("--kind", f"only {listed(SEARCH_KINDS)}", "KIND", choices=SEARCH_KINDS),
        option("--since", "only what is dated from then on: 2026, 2026-05, 2026-05-31, yesterday, monday", "DATE"),
        option("--before", "only what is dated before then", "DATE"),
        repeated("--tag", "only what has this tag, such as decisions (repeatable)", "T"),
        option("--project", "only what belongs to this folder", "DIR"),
        repeated("--source", "only conversations of this source, such as claude_code (repeatable)", "NAME"),
        option("--role", f"only what was said by {listed(SPOKEN_ROLES)}", "ROLE", choices=SPOKEN_ROLES),
        whole_number("--limit", "at most N hits (default: 10)", 10),
        flag("--build", "first read every conversation that is not in the index yet"),
        long=True,
        words=NAMED,
    ),
    single(
        "show",
        "read one conversation, from a turn on, or print the command that goes on with it in its tool",
        "claude_code/0f3c9a52:41",
        ".transcript:show",
        show_text,
        needed("name", "its name as 'knowledge search' and provenances tell it, or its path; :TURN begins there"),
        flag("--markdown", "as markdown"),
        flag("--resume", "only the command line that goes on with it in its own tool"),
        whole_number("--limit", "at most N turns (default: all)"),
        paged=True,
        words=NAMED,
    ),
    single(
        "vectors",
        "make what a search by meaning compares, of entries and of conversations; a stop loses nothing",
        "",
        ".search:build_vectors",
        vectors_text,
        option("--project", "with what belongs to this folder", "DIR"),
        long=True,
    ),
)
