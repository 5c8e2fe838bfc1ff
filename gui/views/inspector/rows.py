"""What the inspector shows of a selected thing, as plain data: read on a worker, tested without a window.

First the shape of a page, then a page for each kind of thing.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from core.base.figures import count, seconds_of, size, tokens
from core.base.markdown import split_provenance, without_emphasis
from core.base.result import KnowledgeError
from core.commands.context import GLOBAL, PROJECT
from core.commands.memories import Memory, read_memory
from core.commands.panel.bullets import BulletView, Event, bullet_view, local_day
from core.commands.panel.conversations import IN_PLACE, IN_TRASH, ConversationView, Given, conversation_view
from core.commands.panel.evidence import WHY, Evidence, evidence_of, how_it_served
from core.commands.panel.files import source_text
from core.commands.panel.overview import FileState
from core.commands.statements import Found, Said
from core.commands.transcript import read as read_conversation
from core.commands.workspace import Workspace
from core.conversations.conversation import Turn
from core.conversations.readable import HarvestedItem, ReadableConversation, ReadableTurn
from gui.shell import Reading
from gui.state import Selection
from gui.toolkit.flow_rows import FlowRow
from gui.toolkit.typeset import visible
from gui.views.knowledge_rows import CAN, USUAL, copied, meta_of, row_of
from gui.views.looks import (
    CATEGORIES,
    MEMORY_CATEGORIES,
    OTHER,
    STATUSES,
    Looks,
    ago,
    capital,
    category_of,
    joined,
    short_folder,
    short_name,
    tags_words,
    who_speaks,
)
from gui.views.reader_rows import clock, in_parts, marked_down
from gui.views.start import hand_words

CHUNK = 1200
"""This many characters of a text stand in one row; a long one is several."""
FILE_BYTES = 200_000
BEFORE = 2
"""The turns before the best one that are shown of a conversation that was found."""
TURNS = 8
"""All turns that are shown of it."""
COPY = frozenset({"copy"})
TEXT = "Text"
"""The part of a file that needs no name where it is the only one."""
# name -> (row, label, icon, kind, tooltip, key). The first of a row is always there: a hidden one would shift the row.
BUTTONS: dict[str, tuple[int, str, str, str, str, str]] = {
    "open": (0, "Open file", "external-link", "secondary", "Open it in the program that the system has for it",
             "Alt+O"),
    "restore": (0, "Restore", "archive-restore", "secondary", "Put it back where it was", "Alt+R"),
    "read": (0, "Read it", "book-open", "secondary", "Read the whole conversation, at this place", "Alt+E"),
    "harvest": (0, "Harvest…", "wheat", "secondary", "Harvest what waits: a dry run first", "Alt+H"),
    "show": (0, "In its view", "eye", "secondary", "Show it in its view", "Alt+V"),
    "from": (0, "What else it gave", "message-square", "secondary",
             "The conversation that it came from, and all that it gave", "Alt+F"),
    "copy": (1, "Copy", "copy", "ghost", "Put it on the clipboard", "Alt+C"),
    "done": (1, "Done", "check", "ghost", "Mark done", "Alt+D"),
    "reopen": (1, "Open again", "undo-2", "ghost", "Bring it back to the open tasks", "Alt+D"),
    "accept": (1, "Let in", "check", "ghost", "Put it where it belongs", "Alt+D"),
    "strike": (1, "", "strikethrough", "ghost", "Strike through, or take the line away", "Alt+S"),
    "delete": (1, "", "trash-2", "ghost", "Delete", "Alt+Delete"),
}  # fmt: skip


@dataclass(frozen=True)
class Part:
    """One part of what is shown below; `empty` says in a sentence that there is nothing."""

    name: str
    rows: tuple[FlowRow, ...]
    empty: str = ""
    counted: bool = True  # whether the number of rows says something


@dataclass(frozen=True)
class Page:
    """One selected thing. `body` is a text that wraps, `facts` are short lines below; `can` names the buttons that are
    offered; `subject` is what they act upon; `copy` goes to the clipboard, by a button called `copied`."""

    icon: str
    color: str
    title: str
    path: str = ""
    body: str = ""
    facts: tuple[str, ...] = ()
    can: frozenset[str] = frozenset()
    parts: tuple[Part, ...] = ()
    warning: str = ""
    subject: Any = None
    copy: str = ""
    copied: str = "Copy"
    at: Any = None  # the key of the row that is brought into sight
    reading: Reading | None = None  # what the reader opens


def rows_of(page: Page) -> list[FlowRow]:
    """All parts in one list, each below its name and number; what is the only text of a file needs no name."""
    rows: list[FlowRow] = []
    for part in page.parts:
        if len(page.parts) > 1 or part.name != TEXT:
            keys = {row.key[:2] if isinstance(row.key, tuple) else row.key for row in part.rows}
            number = f"  {len(keys):,}" if part.counted and part.rows else ""
            rows.append(FlowRow(("part", part.name), part.name + number, text_color="muted", strong=len(part.name),
                                head=True))  # fmt: skip
        rows += part.rows or (FlowRow(("none", part.name), part.empty, text_color="hint"),)
    return rows


def text_rows(text: str) -> tuple[FlowRow, ...]:
    """The text of a file as rows; none of an empty one."""
    pieces = enumerate(in_parts(visible(text), CHUNK))
    return tuple(FlowRow(("text", "all", at), piece, "", "", "hint", "muted", COPY) for at, piece in pieces)


_FROM = re.compile(r"\[from: ([^,\]\n]+)([,\]])")
WHERE = {"in place": "in its place", "trash": "in the trash", "changed": "changed since", "gone": "removed",
         "archive": "kept in the archive"}  # fmt: skip
READERS = {"offline": "read by fixed rules"}
WAYS = ("input", "output")
HAPPENED: dict[str, tuple[str, str, str]] = {
    "harvested": ("Harvested", "wheat", "harvested"),
    "added": ("Written by hand", "plus", "accent"),
    "edited": ("Edited", "pencil", "edited"),
    "struck": ("Struck through", "strikethrough", "hint"),
    "unstruck": ("The line was taken away", "strikethrough", "accent"),
    "moved": ("Moved", "arrow-right", "accent"),
    "accepted": ("Let in from what was held", "shield-check", "harvested"),
    "undone": ("An edit was taken back", "undo-2", "deleted"),
}


def load(workspace: Workspace, selected: Selection, file: FileState | None = None) -> Page:
    """Read what was selected; on a worker."""
    if selected.kind == "conversation":
        return conversation_page(conversation_view(workspace, selected.key))
    if selected.kind == "bullet":
        view = bullet_view(workspace, selected.key, selected.raw, selected.line)
        if view.found is None and view.went is not None and view.went.what == "undone" and view.went.after:
            again = bullet_view(workspace, selected.key, view.went.after, 0)  # the line as it was before that step
            view = again if again.found is not None else view
        line = view.found.bullet.line if view.found is not None else 0
        kept = evidence_of(workspace, view.file, line, view.raw, view.events) if view.found is not None else None
        used = how_it_served(workspace, view.found.bullet.text) if view.found is not None else ""
        return bullet_page(view, kept, used)
    if selected.kind == "talk":
        part = read_conversation(workspace, selected.key, max(1, selected.line - BEFORE), TURNS, seconds=0.0)
        return talk_page(part, selected.line)
    path = os.path.join(workspace.paths.knowledge, selected.key)
    apart = os.path.isabs(selected.key)
    if apart or "memories/" in selected.key:
        with suppress(KnowledgeError):
            return memory_page(read_memory(Path(path), PROJECT if apart else GLOBAL), path)
    text = ""
    with suppress(KnowledgeError):
        text = source_text(workspace, path, FILE_BYTES).text
    return file_page(selected.key, path, file, text)


# --- a conversation --------------------------------------------------------------------------------------------------


def conversation_page(view: ConversationView) -> Page:
    """A conversation: what became of it and what it gave; the reader shows what was said."""
    status = str(view.entry.get("status", ""))
    _, picture, color, _ = STATUSES.get(status, OTHER)
    harvested = status == "harvested"
    warning = "" if harvested else str(view.entry.get("error", "") or "")
    can = {
        "open": bool(view.now),
        "read": bool(view.now),
        "restore": view.where == IN_TRASH,
        "harvest": view.where == IN_PLACE and not harvested,
    }
    given = tuple(line_row(("given", at), row) for at, row in enumerate(view.given))
    parts = (Part("Bullets", given, "Nothing was kept from it." if harvested else "It was not harvested."),)
    return Page(
        picture, color, str(view.entry.get("title") or "") or short_name(view.name), short_folder(view.path), "",
        conversation_facts(view), frozenset(name for name, on in can.items() if on), parts,
        str(view.problem) if view.problem is not None else warning, view,
        copy=view.key.removeprefix("path:"), copied="Copy path" if view.key.startswith("path:") else "Copy hash",
        reading=Reading(view.key),
    )  # fmt: skip


def conversation_facts(view: ConversationView) -> tuple[str, ...]:
    """What became of a conversation, who read it, how long it is: a line each."""
    entry = view.entry
    word = STATUSES.get(str(entry.get("status", "")), OTHER).name
    until = str(entry.get("trashed_until", "")) if view.where == IN_TRASH else ""
    where = WHERE[view.where] + (f" until {local_day(until)}" if until else "")
    read = [READERS.get(str(entry[key]), str(entry[key])) for key in ("provider", "model") if entry.get(key)]
    sent, received = (number if isinstance(number := entry.get(f"{way}_tokens"), int) else 0 for way in WAYS)
    if any(entry.get(f"{way}_tokens") for way in WAYS):
        read.append(f"{tokens(sent)} tokens in, {tokens(received)} out")
    facts = [
        joined(" ".join(filter(None, (word, ago(seconds_of(entry.get("at")))))), where),
        joined(*read),
    ]
    long, turns = (number if isinstance(number := entry.get(name), int) else 0 for name in ("bytes", "turns"))
    if long:
        facts.append(joined(size(long), count(turns, "turn") if turns else "", f"sha {view.key[:10]}…"))
    return tuple(line for line in facts if line)


def line_row(key: tuple[str, int], line: Given | HarvestedItem) -> FlowRow:
    """One line that a conversation taught, and where it stands now."""
    looks, file, number = CATEGORIES[category_of(line.file)], line.file, line.line
    if file.startswith("files/"):
        where = f"a note, line {number}" if number else "its note is gone, or has other words"
    else:
        where = f"{file}:{number}" if number else f"not in {file} any more, or in other words"
    turn = f"turn {line.turn:,}" if isinstance(line, HarvestedItem) and line.turn else ""
    color, tone = (looks.color, "text") if number else ("hint", "hint")
    row = marked_down(key, line.text)
    return replace(row, meta=joined(where, turn), icon=looks.icon, color=color, text_color=tone, can=COPY)


def talk_page(talk: ReadableConversation, at: int) -> Page:
    """A conversation that was found: the turns around the best one, and what it gave."""
    shown = [replace(turn, text=_beginning(turn, at)) for turn in talk.turns]
    turns = tuple(row for turn in shown for row in turn_rows(turn.number - 1, turn, turn.number == at))
    items = tuple(line_row(("item", number), item) for number, item in enumerate(talk.items))
    facts = (
        joined(talk.tool, short_folder(talk.folder), talk.branch),
        joined(local_day(talk.started or talk.day), count(talk.count, "turn")),
        "in the trash" if talk.in_trash else "",
    )
    name = f"Around turn {at:,}" if at else "Conversation"
    parts = (
        Part(name, turns, "Nothing was said in it.", counted=False),
        Part("Bullets", items, "Nothing was harvested here."),
    )
    best = next((row.key for row in turns if row.key[1] == at - 1), None) if at else None  # type: ignore[index]
    title, can = visible(talk.title) or short_name(talk.name), frozenset({"read", "open"})
    return Page("messages-square", "accent", title, short_folder(talk.path), "", tuple(line for line in facts if line),
                can, parts, "", talk, talk.name, "Copy name", at=best,
                reading=Reading(name=talk.path or talk.name, turn=at))  # fmt: skip


def _beginning(turn: ReadableTurn, at: int) -> str:
    """What is shown of a turn beside the best one."""
    most = 4000 if turn.number == at else 200 if turn.role in ("tool", "system") else 600
    return turn.text if len(turn.text) <= most else f"{turn.text[:most].rstrip()} …"


def turn_rows(at: int, turn: Turn | ReadableTurn, here: bool = False) -> list[FlowRow]:
    """One turn, in pieces that are not endlessly long; the one that is `here` stands out."""
    who = who_speaks(turn.role)
    tone = "text" if turn.role in ("user", "assistant") else "muted"
    pieces = list(in_parts(visible(turn.text.strip() or "(nothing)"), CHUNK))
    meta, sign = joined(who.name, _clock(turn.time), "found here" if here else ""), "target" if here else who.icon
    metas, signs = [*[""] * (len(pieces) - 1), meta], [sign, *[""] * (len(pieces) - 1)]
    return [
        FlowRow(("turn", at, number), piece, metas[number], signs[number], who.color, tone, COPY)
        for number, piece in enumerate(pieces)
    ]


def _clock(when: str) -> str:
    return clock(when) or when


# --- a bullet, a source file, a file of the store --------------------------------------------------------------------


def bullet_page(view: BulletView, kept: Evidence | None = None, used: str = "") -> Page:
    """A bullet: its words, where it came from, what showed it to be true, what became of it, how it served."""
    events = tuple(event_row(at, event) for at, event in enumerate(view.events))
    came = view.found is not None and view.found.bullet.provenance is not None
    by_hand = "You wrote it in an editor, or long ago: nothing else is known of it."
    if view.found is None:
        by_hand = "No other record of it is left."
    history = Part("History", events, "Its harvest left no other record." if came else by_hand)
    if view.found is None:
        picture, title, words = gone_words(view)
        return Page(picture, "hint", title, view.file, view.raw[2:], (), frozenset(), (history,), words, view,
                    view.raw[2:])  # fmt: skip
    found = view.found
    _, picture, color, noun = CATEGORIES[found.category]
    one = Said(found, view.others)
    row = row_of((found.category, found.bullet.raw, 1), one) if found.category != "files" else None
    whole = "\n".join((found.bullet.text, *(line.strip() for line in found.bullet.more)))
    body = row.text if row is not None else without_emphasis(whole)
    facts = [row.meta if row is not None else meta_of(found), f"{view.file}:{found.bullet.line}"]
    facts += [f"{capital(used)} (U says how it served)"] if used else []
    if view.by_tool:
        facts.append("only a tool's output said it")
    can = set(CAN.get(found.category, USUAL)) - {"edit"} | {"show", "open"}
    if view.conversation:
        can |= {"from", "read"}
    said = tuple(said_row(at, one) for at, one in enumerate(view.others))
    proof = evidence_rows(kept) if kept is not None else ()
    steps = kept.steps if kept is not None else ()
    run = tuple(FlowRow(("step", at), visible(step), "", "terminal", can=COPY) for at, step in enumerate(steps))
    told = bool(proof or (view.conversation and not steps))
    parts = (
        *((Part("Evidence", proof, "No quote was kept; “Read it” shows the conversation.", False),) if told else ()),
        *((Part("Steps", run),) if run else ()),
        *((Part("Confirmations", said),) if said else ()),
        history,
    )
    words, _ = copied(found)
    turn = (kept.passage.turn if kept.passage is not None else kept.turn) if kept is not None else 0
    return Page(picture, color, noun.capitalize(), "", body, tuple(facts), frozenset(can), parts, "", view,
                "\n".join(steps) or words, "Copy steps" if steps else "Copy",
                reading=Reading(view.conversation, turn=turn))  # fmt: skip


def evidence_rows(kept: Evidence) -> tuple[FlowRow, ...]:
    """The quote in its place: what stands before it, itself, and what follows; none where no quote was kept."""
    if not kept.quote:
        return ()
    place = kept.passage
    if place is None:
        turn = f"turn {kept.turn}" if kept.turn else ""
        meta = joined(turn, WHY.get(kept.problem, kept.problem))
        return (FlowRow(("proof", 0), f"“{visible(kept.quote)}”", meta, "quote", "edited", "text", COPY),)
    who = who_speaks(place.role)
    before, after = (
        [FlowRow(("proof", at, side), piece, "", "", who.color, "hint", COPY)
         for at, piece in enumerate(in_parts(visible(text.strip()), CHUNK))]
        for side, text in enumerate((place.before, place.after), 1)
    )  # fmt: skip
    day = f"{local_day(place.time)} {_clock(place.time)}" if place.time else ""
    meta = joined(capital(who.name), f"turn {place.turn:,} of {place.of:,}", day)
    return (*before, FlowRow(("proof", 0), visible(place.quote), meta, who.icon, who.color, "text", COPY), *after)


def said_row(at: int, found: Found) -> FlowRow:
    """Where else the same was said."""
    came = found.bullet.provenance
    name = short_name(came.source) if came is not None else "written by hand"
    meta = joined(local_day(came.date) if came is not None else "", f"{found.file}:{found.bullet.line}")
    return FlowRow(("said", at), name, meta, "message-square", "accent", "text", COPY)


def gone_words(view: BulletView) -> tuple[str, str, str]:
    """Icon, title and sentence of a line that is not there any more: what took it away, as the journal has it."""
    went = view.went
    if went is None:
        words = "The file was changed outside: this line is gone, or says something else now."
        return "circle-slash", "Not there any more", words
    now = f"It says now: {without_emphasis(split_provenance(went.after[2:])[0])}" if went.after[2:] else ""
    when = f"{local_day(went.when)} {_clock(went.when)}".strip()
    picture, title, words = WENT[went.what]
    return picture, title, " ".join(filter(None, (f"{words}, {when}.", now)))


WENT = {
    "undone": ("undo-2", "Taken back", "The step that wrote this line was taken back"),
    "edited": ("pencil", "Changed or deleted", "This line was changed or deleted with this program"),
    "harvested": ("wheat", "Not there any more", "A harvest took this line away"),
}


def event_row(at: int, event: Event) -> FlowRow:
    """One thing that happened to a bullet."""
    word, picture, color = HAPPENED.get(event.what, (event.what, "history", "hint"))
    if event.before and event.what in ("edited", "undone"):
        word += f"\nbefore: {without_emphasis(split_provenance(event.before[2:])[0])}"
    return FlowRow(("event", at), word, f"{local_day(event.when)} {_clock(event.when)}", picture, color)


def memory_page(memory: Memory, path: str) -> Page:
    """A memory as a user reads it: its words, and in a line what its file says above them."""
    looks = MEMORY_CATEGORIES.get(memory.category, Looks("Memories", "bookmark", "accent"))
    about = joined(local_day(memory.created), tags_words(memory.tags))
    part = Part(TEXT, text_rows(memory.content), "There is nothing in it.", counted=False)
    title = capital(memory.category) if memory.category else "Memory"
    return Page(looks.icon, looks.color, title, short_folder(path), "", (about,) if about else (),
                frozenset({"open"}), (part,), copy=memory.content)  # fmt: skip


def file_page(name: str, path: str, file: FileState | None, text: str) -> Page:
    """A file of the store with its text; names of conversations without their UUIDs."""
    rows = text_rows(_FROM.sub(lambda found: f"[from: {short_name(found[1])}{found[2]}", text))
    facts = []
    if file is not None and file.exists:
        bullets = count(file.bullets, "bullet") if file.bullets is not None else ""
        facts.append(joined(size(file.bytes), f"changed {ago(file.modified)}", bullets))
        facts += [hand_words(file)] if file.by_hand else []
    exists = file.exists if file is not None else bool(text)  # a memory has no line of its own in the overview
    can = frozenset({"open"} if exists else ())
    part = Part(TEXT, rows, "There is nothing in it, or it is not there.", counted=False)
    return Page("file-text", "accent" if exists else "hint", name, short_folder(path), "", tuple(facts), can, (part,),
                copy=path, copied="Copy path")  # fmt: skip


def leads_to(subject: Any, key: Any) -> Selection | None:
    """Where a row leads on: an item to its bullet, a harvest to its conversation, a note to its line."""
    kind, at, *_ = key
    if kind == "given" and subject.given[at].line:
        given = subject.given[at]
        return Selection("bullet", given.file, given.line, given.raw)
    if kind == "event" and subject.events[at].sha:
        return Selection("conversation", subject.events[at].sha)
    if kind == "said":
        found = subject.others[at]
        return Selection("bullet", found.file, found.bullet.line, found.bullet.raw)
    return None
