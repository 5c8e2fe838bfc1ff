"""The view that searches everything: results as you type, ranked, marked, and with the reason for each.

First what was found as rows with their matched words marked, as plain functions; then the view.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dearpygui.dearpygui as dpg

from core.base.figures import count
from core.base.markdown import split_provenance
from core.base.result import Err, Ok, Result
from core.base.search_entry import SearchEntry
from core.commands.conversations import ConversationHit, build
from core.commands.panel.bullets import all_bullets, local_day
from core.commands.search import search_everything
from core.commands.statements import Found
from core.commands.workspace import Workspace
from gui.shell import INDEX, Shell
from gui.state import State
from gui.toolkit.editor import broken
from gui.toolkit.flow_rows import SEPARATOR, FlowRow, RowAction, wrap_of
from gui.toolkit.icons import icon
from gui.toolkit.jobs import Job
from gui.toolkit.keys import LETTERS
from gui.toolkit.layout import ChipRow, lowered
from gui.toolkit.letters import END
from gui.toolkit.theme import Look
from gui.toolkit.typeset import visible
from gui.toolkit.widgets import Button, text, text_field
from gui.views.list_view import ListView, Teach
from gui.views.looks import CATEGORIES, ENTRY_KINDS, Looks, capital, short_folder, short_name
from gui.views.reader_rows import one_line_of

if TYPE_CHECKING:
    from core.commands.search import Hit

LIMIT = 60
EXCERPT, SAID, BEFORE = 420, 240, 90
"""So many letters of a long text are shown, of what was said, and so many of them before the first match."""
MARKS = 10
SHORTEST = 3
ACTIONS = (
    RowAction("go", "arrow-right", "Show it where it stands", "Enter"),
    RowAction("read", "book-open", "Read the conversation, at this place", "Enter"),
    RowAction("copy", "copy", "Copy", "Ctrl+C"),
    RowAction("open", "external-link", "Open its file in the editor", "Ctrl+O"),
)
_TERMS = re.compile(r"(?:exact|words|part of the name|begins like|part of a word): (.*)", re.DOTALL)
_SCRIPTS = "\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef"  # written without blanks, or with word endings
_WIDE = re.compile(f"[{_SCRIPTS}]")
_NO_WORD_BEFORE = rf"(?<![^\W{_SCRIPTS}])"


@dataclass(frozen=True)
class Asked:
    """A wish from elsewhere (the palette) to search for these words; each is a new object, so that it is heard."""

    words: str


@dataclass(frozen=True)
class Findings:
    """The answer to `query` among entries of `kind` ("": all), conversations among them. `counts` says how many of each
    kind there are among the best; `notes` are sentences about what could not be searched or asked; `entries` is how
    many there are in all. `waits`: there are conversations that are not read yet."""

    query: str = ""
    kind: str = ""
    hits: tuple[Hit | ConversationHit, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    entries: int = 0
    notes: tuple[str, ...] = ()
    waits: bool = False


def kind_of(hit: Hit | ConversationHit) -> str:
    """The kind of a hit, a key of `ENTRY_KINDS`."""
    return "conversation" if isinstance(hit, ConversationHit) else hit.entry.kind


def find(workspace: Workspace, query: str, kind: str = "") -> Result[Findings]:
    """Search; on a worker. With a kind, the best of that kind, and beside them the counts of all kinds."""
    if not query.strip():
        return Ok(Findings(query, kind))
    best = search_everything(workspace, (query,), limit=LIMIT)
    if isinstance(best, Err):
        return best
    counts = Counter(map(kind_of, best.value.hits))
    report = best.value
    if kind:
        only = search_everything(workspace, (query,), kind=kind, limit=LIMIT)
        if isinstance(only, Err):
            return only
        report = only.value
        counts[kind] = len(report.hits)
    notes = (*((report.note,) if report.note else ()), *(BUILD_HINT.sub("", told) for told in report.warnings))
    waits = any(told.startswith(NOT_YET) for told in report.warnings)
    return Ok(Findings(query, kind, report.hits, dict(counts), report.entries + report.conversations, notes, waits))


NOT_YET = "not searched yet"
BUILD_HINT = re.compile(r"; 'knowledge search --build' .*")


def rows(found: Findings, fits: Callable[[str], bool]) -> list[FlowRow]:
    """The hits as rows, best first; their texts are broken into lines that `fits(line)`."""
    keyed: dict[str, FlowRow] = {}
    for hit in found.hits:
        row = row_of(hit, fits)
        keyed.setdefault(str(row.key), row)
    return list(keyed.values())


def key_of(hit: Hit | ConversationHit) -> str:
    """What names a hit among all of them."""
    if isinstance(hit, ConversationHit):
        return f"conversation:{hit.path}:{hit.name}"
    return f"{hit.entry.kind}:{hit.entry.path}:{hit.entry.key}"


def conversation_row(hit: ConversationHit, fits: Callable[[str], bool]) -> FlowRow:
    """A conversation as a row: its title, its best turn, and which of its turns speak of it."""
    terms, looks = terms_of(hit.why), ENTRY_KINDS["conversation"]
    who = SPEAKERS.get(hit.role, capital(hit.role))
    begin = f"{who}, turn {hit.turn:,}:  " if hit.turn else ""
    said = " ".join(_SIGNS.sub(" ", visible(hit.text)).split())
    quote = broken(begin + excerpt(said, terms, SAID), fits) if said else ""
    title = broken(one_line_of(hit.title) or short_name(hit.name), fits)
    text = "\n".join(line.rstrip() for part in (title, quote) if part for line in part.split("\n"))
    many = f"in {count(len(hit.places), 'turn')}" if len(hit.places) > 1 else ""
    folder = short_folder(hit.project or hit.folder).rpartition("/")[2]
    turns = f"{many} of {hit.turns:,}" if many else count(hit.turns, "turn")
    about = (local_day(hit.day) if hit.day else "", hit.tool, folder, turns, "in the trash" if hit.in_trash else "",
             hit.branch, why_words(hit.why))  # fmt: skip
    meta = SEPARATOR.join(one_line_of(part) for part in about if part)
    can = frozenset({"read", "go", "copy", "open"} if hit.path else {"read", "copy"}) - {"go"}
    return FlowRow(key_of(hit), text, meta, looks.icon, looks.color, "text", can, marks_of(text, terms))


_SIGNS = re.compile(r"\*\*|`+|\|[-:| ]+\||(?:^|\n)#+ |\|")
SPEAKERS = {"user": "You", "assistant": "Assistant", "tool": "Tool"}


def row_of(hit: Hit | ConversationHit, fits: Callable[[str], bool]) -> FlowRow:
    """One hit as a row: what it says, why it was found, when and where it was said, how often it was confirmed."""
    if isinstance(hit, ConversationHit):
        return conversation_row(hit, fits)
    entry, terms = hit.entry, terms_of(hit.why)
    icon, color = look_of(entry)
    text = broken(excerpt(entry.text, terms), fits)
    text = "\n".join(line.rstrip() for line in text.split("\n"))
    seen = f"confirmed by {count(len(hit.confirmations), 'other')}" if hit.confirmations else ""
    date = local_day(entry.date) if entry.date else ""
    meta = SEPARATOR.join(part for part in (why_words(hit.why), date, source_of(entry), seen) if part)
    can = frozenset({"go", "copy", "open"} if entry.path else {"copy"})
    return FlowRow(key_of(hit), text, meta, icon, color, "text", can, marks_of(text, terms))


def look_of(entry: SearchEntry) -> tuple[str, str]:
    """Icon and colour of its kind; bullets have those of their category."""
    looks = ENTRY_KINDS.get(entry.kind, Looks("", "file", "accent"))
    if entry.kind == "bullet":
        looks = next((CATEGORIES[tag] for tag in reversed(entry.tags) if tag in CATEGORIES), looks)
    return looks.icon, looks.color


def why_words(why: Sequence[str]) -> str:
    """Why it was found, in a few words; not again the words of what stands there letter by letter."""
    exact = next((one.removeprefix("exact: ").lower() for one in why if one.startswith("exact: ")), "")
    said = []
    for one in why:
        words = one.removeprefix("words: ")
        if words != one:
            words = ", ".join(word for word in words.split(", ") if word.lower() not in exact)
        said += [words] if words else []
    return ", ".join(said)


def source_of(entry: SearchEntry) -> str:
    """Where it comes from: its conversation, the source file of a note, the heading of a context file."""
    if entry.provenance:
        _, came = split_provenance(f"x {entry.provenance}")
        if came is not None:
            return short_name(came.source)
        return entry.provenance.strip("[]").removeprefix("from: ")
    if entry.kind == "note":
        return entry.title.replace("\\", "/").rpartition("/")[2]
    if entry.kind == "context":
        return f"context.md, {entry.title}" if entry.title else "context.md"
    if entry.kind == "memory":
        return "memory" + (f", {', '.join(entry.tags)}" if entry.tags else "")
    return "written by hand" if entry.kind == "bullet" else entry.title


def terms_of(why: Sequence[str]) -> tuple[str, ...]:
    """The words to mark, the longest first."""
    found: list[str] = []
    for one in why:
        told = _TERMS.match(one)
        if told is not None:
            found += [told[1]] if one.startswith(("exact", "part of a word")) else told[1].split(", ")
    return tuple(sorted({term.lower() for term in found if term.strip()}, key=lambda term: (-len(term), term)))


def excerpt(text: str, terms: Sequence[str], most: int = EXCERPT) -> str:
    """A text as it is shown: of a long one the part around its first match."""
    if len(text) <= most:
        return text
    places = spans(text, terms)
    begin = max(0, places[0][0] - BEFORE) if places else 0
    if begin:
        begin = text.find(" ", begin, begin + 30) + 1 or begin
    cut = text[begin : begin + most].strip()
    return ("… " if begin else "") + cut + (" …" if begin + most < len(text) else "")


def marks_of(text: str, terms: Sequence[str]) -> tuple[tuple[int, int, int], ...]:
    """The matched words of a broken text as (line, first letter, letter after the last), at most `MARKS`."""
    lines = text.split("\n")
    return tuple((at, *span) for at, line in enumerate(lines) for span in spans(line, terms))[:MARKS]


def spans(text: str, terms: Sequence[str]) -> list[tuple[int, int]]:
    """Where the terms stand in one text, from left to right, none over another. A term that stands nowhere marks the
    words that begin like it: `retry` marks `retries`."""
    low = text.lower()
    if len(low) != len(text):  # a few capital letters become two small ones
        low = text
    taken: list[tuple[int, int]] = []
    for term in terms:
        places = [(one.start(), one.end()) for one in re.finditer(_pattern(term), low)]
        stem = term
        while not places and len(stem) > SHORTEST and len(term) - len(stem) < 3:
            stem = stem[:-1]
            places = [(one.start(), one.end()) for one in re.finditer(rf"{_NO_WORD_BEFORE}{re.escape(stem)}\w*", low)]
        taken += [one for one in places if all(one[1] <= begin or one[0] >= end for begin, end in taken)]
    return sorted(taken)


def _pattern(term: str) -> str:
    """Only where a word begins, a short one only as a whole word; in scripts without blanks, wherever it stands."""
    begin = _NO_WORD_BEFORE if term[0].isalnum() and not _WIDE.match(term[0]) else ""
    end = r"(?!\w)" if begin and len(term) < SHORTEST and term[-1].isalnum() else ""
    return begin + re.escape(term) + end


def bullet_of(workspace: Workspace, entry: SearchEntry) -> Found | None:
    """The bullet or note that a hit means, as it stands in its file now; None when it is gone. On a worker."""
    file, _, line = entry.key.rpartition(":")
    same = [row for row in all_bullets(workspace).rows if row.file == file]
    at = int(line) if line.isdecimal() else 0
    first = entry.text.split("\n", 1)[0]
    near = [row for row in same if row.bullet.line == at] or [row for row in same if first in row.bullet.text]
    return near[0] if near else None


def chip_kinds(found: Findings) -> list[str]:
    """The kinds that have a chip: those among the best, and the one that is chosen."""
    return [kind for kind in ENTRY_KINDS if found.counts.get(kind) or kind == found.kind]


def longest(query: str, hit: ConversationHit) -> str:
    """What the reader marks: the words of the question where the turn has them as they are, else the longest of those
    that were found."""
    words = query.strip().strip('"')
    if words.casefold() in hit.text.casefold():
        return words
    return next((term for term in terms_of(hit.why) if term in hit.text.casefold()), "")


PARTS = ("knowledge", "files", "memories")
HOMES = {"bullet": "knowledge", "note": "files", "memory": "memories", "context": "memories", "fact": "facts"}


KEYS = {"Ctrl+C": "copy", "Ctrl+O": "open"}
TEACH = {
    "begin": Teach(
        "search",
        "Search everything",
        "Conversations, bullets, notes, memories, context files\nand facts, the best first, each with the reason why.\n"
        'Any text will do: session_store.py, C++, "an exact phrase".',
        command='knowledge search "retry policy"',
    ),
    "nothing": Teach(
        "search",
        "Nothing found",
        "No entry has these words, nor anything like them.\nFewer or shorter words find more.",
        action="Clear the search",
        act="clear",
    ),
    "none-of-kind": Teach(
        "funnel", "Nothing of this kind", "Other kinds may have it.", action="Look in everything", act="choose_all"
    ),
}


class SearchView(ListView[Findings]):
    """One field and what it finds."""

    name = "search"
    keys = (
        ("/, any letter", "Search"),
        ("Up, Down", "Choose, also while you type"),
        ("Enter", "Show it where it stands; read a conversation at its best turn"),
        ("Left, Right", "Another kind"),
        ("Ctrl+C", "Copy it"),
        ("Ctrl+O", "Open its file in the editor"),
        ("Esc", "Clear the search"),
    )
    DATA = Findings
    ACTIONS = ACTIONS
    ACTION_KEYS = KEYS
    TEACH = TEACH
    MARKS = MARKS

    def __init__(self, look: Look, shell: Shell) -> None:
        super().__init__(look, shell, Findings())
        self.kind = ""
        self.pending = False
        self._hits: dict[object, Hit | ConversationHit] = {}
        self._asked: object = None
        self._entered = False  # Enter was pressed before the answer came
        self._read: tuple[object, ...] = ()
        self._width = 0
        self._selecting = 0
        self._building: Job | None = None

    def build(self, parent: int) -> None:
        """Make all items."""
        super().build(parent)
        self._look.every_tick(self.tick)
        self._show()

    def add_filter(self, parent: int) -> None:
        """Make the field."""
        self.filter = text_field(self._look, parent, placeholder=f"{icon('search')}  Search everything      /",
                                 on_change=self.typed, anew=True)  # fmt: skip
        self._look.theme(self.filter, "search")

    def below(self, parent: int) -> None:
        """Chips of the kinds, and what could not be searched."""
        chips = ChipRow(self._look, parent, parent)
        self.all = chips.add("All", "accent", lambda _on: self.choose(""))
        self.at_rest = self.all.item
        self.chips = {
            kind: chips.add(looks.name, looks.color, partial(self._chosen, kind)) for kind, looks in ENTRY_KINDS.items()
        }
        line = int(dpg.add_group(horizontal=True, parent=parent))
        self._waits = line
        self.build_all = Button(self._look, line, "", self._build, icon="messages-square", kind="secondary",
                                tip="Read every conversation that is not searched yet, in the background")  # fmt: skip
        self._built = text(self._look, lowered(self._look, line, 7), "", "small", "muted", fit=END)
        dpg.configure_item(line, show=False)
        self.add_remark(parent)

    def refresh(self, state: State) -> None:
        """Search again when the store has changed, or somebody asked elsewhere."""
        asked = state.of(self.name)
        if isinstance(asked, Asked) and asked is not self._asked:
            self._asked = asked
            dpg.set_value(self.filter, asked.words)
            self.kind = ""
            self.typed(asked.words)
        read = (state.home, state.snapshot, *(state.of(part) for part in PARTS))
        if len(read) != len(self._read) or any(one is not other for one, other in zip(read, self._read, strict=True)):
            self._read = read
            self._ask(again=True)

    def opened(self) -> None:
        """Whoever comes here wants to search: what is typed goes into the field."""
        self._look.keys_to(self.filter)

    def press(self, key: str, typing: bool) -> bool:
        """The keys of the view; Enter and the arrows also while somebody types."""
        if key in ("Enter", "Keypad Enter"):
            if self.pending or str(dpg.get_value(self.filter)) != self.data.query:
                self._entered = True  # the rows are still those of other words
                return True
            row = self.list.current or next(iter(self.list.rows), None)
            if row is not None:
                self.open(row)
            return row is not None
        return super().press(key, typing)

    def do(self, key: str) -> bool:
        """A letter goes into the field; another kind."""
        if key in LETTERS:
            self._look.keys_to(self.filter, self._look.words)
        elif key in ("Left", "Right"):
            kinds = ["", *chip_kinds(self.data)]
            self.choose(kinds[(kinds.index(self.kind) + (1 if key == "Right" else -1)) % len(kinds)])
        return key in LETTERS or key in ("Left", "Right")

    def tick(self) -> bool:
        """Break the texts anew when the list has another width."""
        if self.list.width == self._width:
            return False
        self._width = self.list.width
        self.arrange(keep=True)
        return True

    # --- asking ---

    def typed(self, words: str) -> None:
        """Other words stand in the field."""
        self.words = words
        self._ask()

    @property
    def filtered(self) -> bool:
        """Whether anything is asked for."""
        return bool(self.words or self.kind)

    def clear(self) -> None:
        """Search for nothing."""
        self.kind = ""
        super().clear()

    def choose(self, kind: str) -> None:
        """Only this kind, or with "" all."""
        self.kind = kind
        self._name_chips()
        self._ask()

    def choose_all(self) -> None:
        """Every kind."""
        self.choose("")

    def _chosen(self, kind: str, on: bool) -> None:
        self.choose(kind if on else "")

    def _ask(self, again: bool = False) -> None:
        """Search for what is wanted now; one question at a time, and only the answer to the last one is shown."""
        wanted = (self.words, self.kind)
        if self.pending or (not again and wanted == (self.data.query, self.data.kind)):
            return
        self.pending = True
        workspace = self._shell.workspace

        def done(result: Result[Findings]) -> None:
            self.pending = False
            if wanted != (self.words, self.kind):
                self._ask(again=True)
                return
            kept = again and wanted == (self.data.query, self.data.kind)
            self.data = Findings(*wanted, notes=(str(result.error),)) if isinstance(result, Err) else result.value
            self._show(keep=kept)
            if self._entered:
                self._entered = False
                self.press("Enter", True)

        self._shell.submit("The search", lambda _job: find(workspace, *wanted), done)

    def _build(self) -> None:
        """Read all conversations that are not searched yet, on a worker of its own; or stop that."""
        if self._building is not None:
            self._building.cancel()
            return
        workspace = self._shell.workspace

        def done(result: Result[Any]) -> None:
            self._building = None
            self._show_waiting()
            if isinstance(result, Err):
                if result.error.code != "cancelled":
                    self._shell.error(result.error)
                return
            report = result.value
            self._shell.toast(f"{count(report.conversations, 'conversation')} can be searched")
            self._ask(again=True)

        def told(news: Any) -> None:
            dpg.set_value(self._built, f"{news.done:,} of {news.total:,}")

        self._building = self._shell.submit(
            "Reading the conversations",
            lambda job: build(workspace, progress=job.report, cancelled=lambda: job.cancelled),
            done, progress=told, lane=INDEX,
        )  # fmt: skip
        self._show_waiting()

    def _show_waiting(self) -> None:
        """The button that reads what is not searched yet, while there is something."""
        going = self._building is not None
        dpg.configure_item(self._waits, show=going or self.data.waits)
        self.build_all.set_label("Stop" if going else "Read them now", "circle-stop" if going else "messages-square")
        if not going:
            dpg.set_value(self._built, "")

    # --- what is shown ---

    def _show(self, keep: bool = False) -> None:
        self._name_chips()
        self._show_waiting()
        self.tell(self.data.notes)
        hits: dict[object, Hit | ConversationHit] = {}
        for hit in self.data.hits:
            hits.setdefault(key_of(hit), hit)
        self._hits = hits
        if not keep or self.list.selected not in hits:
            self.list.selected = None
        self.arrange(keep)

    def rows(self) -> tuple[Sequence[FlowRow], int]:
        """What was found, in lines that fit, of all that could be."""
        room, font = wrap_of(self._look, self.list.width) - 2, self._look.font_id("text")

        def fits(line: str) -> bool:
            size = dpg.get_text_size(line, font=font)
            return not size or size[0] <= room

        shown = rows(self.data, fits)
        return shown, self.data.entries or len(shown)

    def teach(self, total: int) -> str:
        """Which of `TEACH` stands there when there is no row."""
        if not self.data.query.strip():
            return "begin"
        return "none-of-kind" if self.data.kind else "nothing"

    def _name_chips(self) -> None:
        found, kinds = self.data, chip_kinds(self.data)
        dpg.configure_item(self.all.item, show=bool(found.query.strip()))
        self.all.set_count(sum(found.counts.values()))
        self.all.set_on(not self.kind)
        for kind, chip in self.chips.items():
            dpg.configure_item(chip.item, show=bool(found.query.strip()) and (kind in kinds or kind == self.kind))
            chip.set_count(found.counts.get(kind, 0))
            chip.set_on(kind == self.kind)

    # --- what can be done ---

    def act(self, name: str, row: FlowRow) -> None:
        """Do one of `ACTIONS` to a row."""
        hit = self._hits.get(row.key)
        if hit is None:
            return
        if name == "copy":
            self._shell.copy(hit.text if isinstance(hit, ConversationHit) else hit.entry.text, "Copied what was found")
        elif name == "open":
            path = hit.path.partition("#")[0] if isinstance(hit, ConversationHit) else hit.entry.path
            self._shell.open_path(path)
        else:
            self.open(row)

    def open(self, row: FlowRow) -> None:
        """Open the view in which it stands, with it selected."""
        hit = self._hits.get(row.key)
        if hit is None:
            return
        if isinstance(hit, ConversationHit):
            self._shell.read(name=hit.path or hit.name, turn=hit.turn, words=longest(self.data.query, hit))
            return
        view = HOMES.get(hit.entry.kind, "")
        if f"view.{view}" not in self._shell.actions:
            self.select(row)
            return
        self._look_at(row, lambda: self._shell.run(f"view.{view}"))

    def select(self, row: FlowRow) -> None:
        """Show a hit in the inspector."""
        self._look_at(row)

    def _look_at(self, row: FlowRow, then: Callable[[], object] | None = None) -> None:
        """Show a hit in the inspector, and do something else once it is selected."""
        hit, shell = self._hits.get(row.key), self._shell
        self._selecting += 1
        mine = self._selecting
        if hit is None:
            return
        self.list.select(row.key)
        if isinstance(hit, ConversationHit):
            shell.select("talk", hit.path or hit.name, hit.turn)
            return
        entry, workspace = hit.entry, shell.workspace
        inside = Path(entry.path).is_relative_to(workspace.paths.knowledge)
        if entry.kind not in ("bullet", "note") or not inside:
            shell.select("file", Path(entry.path).relative_to(workspace.paths.knowledge).as_posix() if inside
                         else entry.path)  # fmt: skip
            if then is not None:
                then()
            return

        def looked(result: Result[Any]) -> None:
            if mine != self._selecting:
                return  # another one was chosen meanwhile
            found = None if isinstance(result, Err) else result.value
            if found is None:
                shell.toast("It is not there any more", icon="info", color="accent", seconds=3.0)
                self._ask(again=True)
                return
            shell.select("bullet", found.file, found.bullet.line, found.bullet.raw)
            if then is not None:
                then()

        shell.submit("What was found", lambda _job: bullet_of(workspace, entry), looked)
