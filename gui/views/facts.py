"""The view of the fact index: filtered by category, domain and word, edited in place; pairs to merge, what is wrong.

First the facts as rows and what was typed, as plain functions; then the editor, then the view.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast

import dearpygui.dearpygui as dpg

from core.base.figures import count
from core.base.markdown import without_emphasis
from core.base.result import ErrorInfo, KnowledgeError
from core.commands import fact_feed
from core.commands.fact_edits import FactRow, delete_fact, edit_fact, facts_view, merge_facts
from core.commands.fact_edits import FactsView as FactsRead
from core.commands.facts import Pair, Problem, similar_pairs
from core.commands.panel.bullets import local_day
from core.commands.workspace import Workspace, utc_now
from gui.shell import Shell
from gui.toolkit.editor import EditorKind, SmallField, Typed, shortened
from gui.toolkit.flow_rows import FlowRow, RowAction, matching
from gui.toolkit.layout import Chip, ChipRow
from gui.toolkit.theme import Look
from gui.views.knowledge_rows import change, two_words
from gui.views.list_view import OTHER_WORDS, SIDEWAYS, Editing, ListView, Teach, beside, insisting
from gui.views.looks import FACT_CATEGORIES, Looks, capital, joined, tags_words

# kinds of rows beside the facts themselves -> (word on the chip, colour, what its tooltip says)
KINDS: dict[str, tuple[str, str, str]] = {
    "stale": ("Expired", "too-large", "facts whose day has passed; no new conversation starts with them"),
    "alike": ("Alike", "accent", "pairs that nearly say the same, to be made one"),
    "wrong": ("Not valid", "failed", "items that are left out of the index, and why"),
}
ACTIONS = (
    RowAction("merge", "arrow-up", "Merge: keep the first, the second becomes a part of it", "M", "Keep first"),
    RowAction(
        "merge-other", "arrow-down", "Merge: keep the second, the first becomes a part of it", "Shift+M", "Keep second"
    ),
    RowAction("edit", "pencil", "Edit words, confidence, tags and expiry", "Enter"),
    RowAction("copy", "copy", "Copy", "Ctrl+C"),
    RowAction("open", "external-link", "Open its file in the editor", "O"),
    RowAction("delete", "trash-2", "Delete: no harvest brings it back", "Delete"),
)
UNKNOWN = Looks("", "circle", "accent")
FACT_CAN = frozenset({"edit", "copy", "open", "delete"})
Key = tuple[str, ...]  # ("fact", id), ("alike", id, id), ("wrong", file, line, number)


@dataclass(frozen=True)
class Facts:
    """What the view shows: rows of each kind ("": the facts), what is behind a row, domains with their numbers, those
    with the most facts first. `mark` is the state of the files when they were read last (empty: they were changing)."""

    view: FactsRead = field(default_factory=lambda: FactsRead((), ()))
    rows: Mapping[str, tuple[FlowRow, ...]] = field(default_factory=dict)
    found: Mapping[str, FactRow] = field(default_factory=dict)
    pairs: Mapping[Key, Pair] = field(default_factory=dict)
    problems: Mapping[Key, Problem] = field(default_factory=dict)
    domains: tuple[tuple[str, int], ...] = ()
    mark: list[Any] = field(default_factory=list, compare=False)


def gather(workspace: Workspace, before: Facts | None) -> Facts:
    """Read all facts; on a worker. The very same object when nothing has changed."""
    try:
        mark = fact_feed.state_of(workspace, utc_now()) or []
    except OSError:
        mark = []
    if before is not None and mark and before.mark == mark:
        return before
    read = facts_view(workspace)
    if before is not None and before.view == read:
        before.mark[:] = mark
        return before
    return facts_of(read, mark)


def facts_of(view: FactsRead, mark: list[Any] | None = None) -> Facts:
    """Everything that is shown of one reading."""
    pairs: dict[Key, Pair] = {
        ("alike", pair.first.id, pair.second.id): pair for pair in similar_pairs(row.fact for row in view.rows)
    }
    problems: dict[Key, Problem] = {
        ("wrong", problem.file, str(problem.line), str(number)): problem for number, problem in enumerate(view.problems)
    }
    rows = tuple(row_of(row) for row in view.rows)
    kinds = {
        "": rows,
        "stale": tuple(row for row, one in zip(rows, view.rows, strict=True) if one.fact.stale),
        "alike": tuple(pair_row(key, pair) for key, pair in pairs.items()),
        "wrong": tuple(problem_row(key, problem) for key, problem in problems.items()),
    }
    domains = Counter(row.fact.domain for row in view.rows).most_common()
    return Facts(view, kinds, {row.fact.id: row for row in view.rows}, pairs, problems, tuple(domains), mark or [])


def row_of(row: FactRow) -> FlowRow:
    """One fact as a row: its words, then its confidence as a bar and a figure, domain, confirmations, age, tags."""
    fact = row.fact
    _, sign, color, _ = FACT_CATEGORIES.get(fact.category, UNKNOWN)
    expiry = f"{'expired' if fact.stale else 'expires'} {local_day(fact.expires)}" if fact.expires else ""
    said = f"in {count(fact.source_count, 'conversation')}" if fact.source_count else ""
    last = fact.last_confirmed or fact.first_seen
    about = [fact.domain, said, local_day(last) if last else ""]
    about.insert(0 if fact.stale else len(about), expiry)
    meta = joined(sure_words(row), *about, tags_words(fact.tags))
    tone = "text"
    if fact.stale:
        sign, color, tone = "hourglass", "too-large", "hint"
    words = without_emphasis(fact.fact)
    return FlowRow(("fact", fact.id), words, meta, sign, color, tone, FACT_CAN, share=fact.confidence)


def sure_words(row: FactRow) -> str:
    """How sure a fact is, and how sure it was."""
    faded = f", was {row.stated:.2f}: not heard again in {count(row.unconfirmed, 'conversation')}"
    return f"{row.fact.confidence:.2f}{faded if row.fact.confidence < row.stated else ''}"


def pair_row(key: Key, pair: Pair) -> FlowRow:
    """Two facts that are alike as one row."""
    meta = joined(f"{pair.likeness:.0f} % alike", pair.first.id, pair.second.id)
    words, can = two_words(pair.first.fact, pair.second.fact), frozenset({"merge", "merge-other", "copy"})
    return FlowRow(key, words, meta, "link", "accent", "text", can)


def problem_row(key: Key, problem: Problem) -> FlowRow:
    """What keeps an item out of the index, with its place."""
    where = f"{problem.file}:{problem.line}" if problem.line else problem.file
    words, can = capital(problem.message), frozenset({"open", "copy"})
    return FlowRow(key, words, joined(where, problem.id), "circle-alert", "failed", "text", can)


def chosen(data: Facts, kind: str, categories: Collection[str], domains: Collection[str]) -> list[FlowRow]:
    """The rows of one kind in these categories and domains (none: all)."""
    rows = list(data.rows.get(kind, ()))
    if kind == "wrong" or not (categories or domains):
        return rows
    return [row for row in rows if any(_fits(data, name, categories, domains) for name in cast(Key, row.key)[1:])]


def _fits(data: Facts, name: str, categories: Collection[str], domains: Collection[str]) -> bool:
    fact = data.found[name].fact
    return (not categories or fact.category in categories) and (not domains or fact.domain in domains)


# --- what was typed --------------------------------------------------------------------------------------------------


def tags_in(words: str) -> list[str]:
    """Tags as they are typed: with commas, spaces or number signs between them, each once."""
    return list(dict.fromkeys(part for part in words.replace(",", " ").replace("#", " ").split() if part))


def values_of(row: FactRow, words: str, confidence: str, tags: str, expires: str) -> dict[str, Any]:
    """What is other than in `row`; raises KnowledgeError for a confidence that is no number. The command checks the
    rest."""
    text = confidence.strip().replace(",", ".")
    try:
        sure = float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        raise KnowledgeError(
            "bad-field", f"the confidence is a number from 0.0 to 1.0, not {confidence.strip()!r}"
        ) from None
    wanted: Sequence[tuple[str, Any, Any]] = (
        ("fact", words, row.fact.fact),
        ("confidence", sure, row.stated),
        ("tags", tags_in(tags), list(row.fact.tags)),
        ("expires", expires.strip(), row.fact.expires),
    )
    return {key: now for key, now, before in wanted if now != before}


def same_words(one: FactRow, other: FactRow) -> bool:
    """Whether a fact still stands in its file as it was seen."""
    keys = ("fact", "tags", "expires", "category", "domain")
    return one.stated == other.stated and all(getattr(one.fact, key) == getattr(other.fact, key) for key in keys)


STAYS = "Id and dates stay"
SAID = "Changed the fact"


class FactSession(Editing[FactRow]):
    """The editor of the list of facts."""

    KIND = EditorKind(
        again=("Save mine anyway", "Look the fact up in the file as it is now, and put your words there"),
        theirs=("Show theirs", "Leave the file as it is; your words can be brought back"),
        small=(
            SmallField("confidence", 64, "Confidence", "0.0 to 1.0, or a percentage"),
            SmallField("tags", 190, "Tags", "lower-case letters, digits and hyphens, with spaces between"),
            SmallField("expires", 104, "Expires", "a day such as 2026-12-31, or nothing", "Expires"),
        ),
    )

    def edit(self, row: FactRow) -> None:
        self.open(row, row.fact.fact, STAYS, small=small_of(row))

    def key_of(self, target: FactRow) -> Hashable:
        return ("fact", target.fact.id)

    def reopen(self, target: FactRow, typed: Typed) -> None:
        self.open(target, target.fact.fact, STAYS, mine=typed.words, small=typed.small)

    def save(self, target: FactRow) -> None:
        """Write what was changed into the fact as it was seen."""
        changes = self._changes(target)
        if changes is None:
            return
        if changes:
            self.write(
                target, lambda workspace: edit_fact(workspace, target.fact.id, changes, seen=target.sha256), said=SAID
            )
        else:
            self.close()

    def again(self, target: FactRow) -> None:
        """Look at the file as it is now and write at once, unless other words stand there: those are shown first."""
        changes, typed = self._changes(target), self.editor.now
        if changes is None:
            return
        wanted, looked = changes, list[FactRow]()

        def failed(now: FactRow, error: ErrorInfo) -> None:
            if error.code == OTHER_WORDS:
                there = looked[0]
                note = f"Now it says: {shortened(there.fact.fact)}"
                before, now_there = small_of(target), small_of(there)
                small = {name: mine if mine != before[name] else now_there[name] for name, mine in typed.small.items()}
                self.open(there, there.fact.fact, note, "Put mine there", mine=typed.words, small=small)
            else:
                self.refused(now, error)

        act = insisting(lambda workspace: written_again(workspace, target, wanted, looked))
        self.write(target, act, failed, SAID)

    def _changes(self, target: FactRow) -> dict[str, Any] | None:
        """What was changed; None when that is no fact, and the user has been told why."""
        typed = self.editor.now
        try:
            return values_of(target, typed.words, **typed.small)
        except KnowledgeError as failed:
            self.editor.refuse(str(failed.error))
            return None


def small_of(row: FactRow) -> dict[str, str]:
    """What the small fields say of a fact."""
    return {"confidence": f"{row.stated:g}", "tags": " ".join(row.fact.tags), "expires": row.fact.expires}


def written_again(workspace: Workspace, target: FactRow, changes: Mapping[str, Any], looked: list[FactRow]) -> Any:
    """Write onto the file as it is now; on a worker. `looked` gets the fact as it stands there."""
    view = facts_view(workspace)
    looked[:] = [row for row in view.rows if row.fact.id == target.fact.id]
    if not looked:
        raise KnowledgeError(
            "no-match", f"{target.fact.id} is gone from the files", hint="copy your words before you leave"
        )
    if not same_words(looked[0], target):
        raise KnowledgeError(OTHER_WORDS, "other words stand there now")
    return edit_fact(workspace, target.fact.id, changes, seen=looked[0].sha256)


DOMAINS = 8  # so many have a chip; the field finds the others
TURNS = {"X": "stale", "A": "alike", "V": "wrong"}  # keys that show one of `KINDS`, and everything again
KEYS = {"M": "merge", "Shift+M": "merge-other", "F2": "edit", "E": "edit", "O": "open", "Delete": "delete",
        "Ctrl+C": "copy"}  # fmt: skip
TEACH = {
    "empty": Teach(
        "lightbulb",
        "No facts in the index yet",
        "Every harvest turns what it learned into facts with an id,\n"
        "a confidence that fades, and the conversations that confirmed it.",
        command="knowledge harvest --apply",
    ),
    "nothing": Teach(
        "funnel", "Nothing matches", "No fact fits what is chosen above.", action="Show all facts", act="clear"
    ),
}


def next_chip(now: set[str], chips: Mapping[str, Chip], by: int) -> set[str]:
    """One chip after the other, and none of them; what is chosen then."""
    wanted = beside(["", *chips], next(iter(now)) if len(now) == 1 else "", by)
    for name, chip in chips.items():
        chip.set_on(name == wanted)
    return {wanted} if wanted else set()


class FactsView(ListView[Facts]):
    """Facts with their confidence, age and confirmations."""

    name = "facts"
    gather = staticmethod(gather)
    keys = (
        ("Left, Right", "Another category"),
        ("Alt+Up", "The lines that the facts come from"),
        ("Shift+Left, Shift+Right", "Another domain"),
        ("A, V, X", "Pairs that are alike, what is not valid, what has expired"),
        ("F2, E, Enter", "Edit the fact"),
        ("Ctrl+Enter", "Save what is written"),
        ("M, Shift+M", "Merge two that are alike into the first, or the second"),
        ("O", "Open its file"),
        ("Ctrl+C", "Copy the fact"),
        ("Delete", "Delete the fact"),
    )
    DATA = Facts
    FILTER = "Filter by word, tag or domain"
    ACTIONS = ACTIONS
    ACTION_KEYS = KEYS
    TEACH = TEACH
    SHARES = True
    session: FactSession

    def __init__(self, look: Look, shell: Shell) -> None:
        super().__init__(look, shell, Facts())
        self.kind = ""
        self.categories: set[str] = set()
        self.domains: set[str] = set()
        self.session = FactSession(look, shell, self.list, on_arrange=self.rearrange)

    def above(self, parent: int, view: int) -> None:
        """Chips of the categories; of domains and of what there is beside the facts."""
        row = ChipRow(self._look, parent, view)
        self.chips = {
            name: row.add(looks.name, looks.color, partial(self._category, name))
            for name, looks in FACT_CATEGORIES.items()
        }
        places = ChipRow(self._look, parent, view)
        self.places = [places.add("", "muted", partial(self._domain, number)) for number in range(DOMAINS)]
        self.kinds = {name: places.add(label, color, partial(self._kind, name), tip)
                      for name, (label, color, tip) in KINDS.items()}  # fmt: skip
        for chip in (*self.kinds.values(), *self.places):
            dpg.configure_item(chip.item, show=False)
        self.at_rest = self.chips["fact"].item

    # --- what is shown ---

    def take(self, data: Facts) -> None:
        """Count what the chips stand for."""
        counts = Counter(found.fact.category for found in data.view.rows)
        for name, chip in self.chips.items():
            chip.set_count(counts[name])
        for name, chip in self.kinds.items():
            chip.set_count(len(data.rows.get(name, ())))
            dpg.configure_item(chip.item, show=chip.count > 0 or self.kind == name)
        self.domains &= {name for name, _ in data.domains}
        for number, chip in enumerate(self.places):
            there = number < len(data.domains) and len(data.domains) > 1
            dpg.configure_item(chip.item, show=there)
            if there:
                chip.name = data.domains[number][0]
                chip.set_count(data.domains[number][1])
                chip.set_on(chip.name in self.domains)

    def rows(self) -> tuple[Sequence[FlowRow], int]:
        """The facts, or what is beside them, in the categories and domains that are chosen."""
        some = chosen(self.data, self.kind, self.categories, self.domains)
        return matching(some, self.words), len(self.data.rows.get(self.kind, ()))

    def teach(self, total: int) -> str:
        return "nothing" if self.filtered else "empty"

    @property
    def filtered(self) -> bool:
        return bool(self.words or self.kind or self.categories or self.domains)

    def clear(self) -> None:
        """Show every fact again."""
        self.kind = ""
        self.categories, self.domains = set(), set()
        for chip in (*self.chips.values(), *self.kinds.values(), *self.places):
            chip.set_on(False)
        super().clear()

    def do(self, key: str) -> bool:
        """Another category, another domain, another kind."""
        plain = key.removeprefix("Shift+")
        if key in SIDEWAYS:
            self.categories = next_chip(self.categories, self.chips, SIDEWAYS[key])
        elif plain in SIDEWAYS:
            there = {chip.name: chip for chip, _ in zip(self.places, self.data.domains, strict=False)}
            self.domains = next_chip(self.domains, there, SIDEWAYS[plain])
        elif key in TURNS:
            self._kind(TURNS[key], self.kind != TURNS[key])
            return True
        else:
            return False
        self.arrange(keep=False)
        return True

    def _category(self, name: str, _on: bool) -> None:
        self.categories ^= {name}
        self.arrange(keep=False)

    def _domain(self, number: int, _on: bool) -> None:
        self.domains ^= {self.places[number].name}
        self.arrange(keep=False)

    def _kind(self, name: str, on: bool) -> None:
        self.kind = name if on else ""
        for other, chip in self.kinds.items():
            chip.set_on(other == self.kind)
            dpg.configure_item(chip.item, show=chip.count > 0 or other == self.kind)
        self.arrange(keep=False)

    # --- what the user does ---

    def select(self, row: FlowRow) -> None:
        """The inspector shows the fact, of a pair the first; of what is not valid its place in the file."""
        key = cast(Key, row.key)
        wrong = self.data.problems.get(key)
        self._shell.select(*(("file", wrong.file, wrong.line) if wrong is not None else ("fact", key[1])))

    def open(self, row: FlowRow) -> None:
        """Edit it, or open the file of what cannot be edited here."""
        name = "edit" if "edit" in row.can else "open"
        if name in row.can:
            self.act(name, row)

    def act(self, name: str, row: FlowRow) -> None:
        key = cast(Key, row.key)
        acts: dict[str, Callable[[], object]] = {
            "copy": lambda: self._shell.copy(row.text, "Copied the words"),
            "edit": lambda: self.begin_edit(row),
            "delete": lambda: self._delete(key),
            "merge": lambda: self._merge(key[1], key[2]),
            "merge-other": lambda: self._merge(key[2], key[1]),
            "open": lambda: self._open_file(key),
        }
        acts[name]()

    def _open_file(self, key: Key) -> None:
        """The file of a fact; of what is wrong, at its line."""
        wrong = self.data.problems.get(key)
        file, line = (wrong.file, wrong.line) if wrong is not None else (self.data.found[key[1]].file, 0)
        self._shell.open_path(str(self._shell.workspace.paths.knowledge / file), line)

    def edit(self, row: FlowRow) -> None:
        found = self.data.found.get(cast(Key, row.key)[1])
        if found is not None:
            self.session.edit(found)

    def _delete(self, key: Key) -> None:
        found = self.data.found.get(key[1])
        if found is not None:
            self.list.leave(key)
            said = f"Deleted the fact: {shortened(found.fact.fact)}"
            change(self._shell, "The fact", partial(delete_fact, fact_id=found.fact.id, seen=found.sha256), said)

    def _merge(self, keep: str, gone: str) -> None:
        seen = self.data.found[keep].sha256
        change(self._shell, "The merge", lambda workspace: merge_facts(workspace, keep, gone, seen=seen),
               f"Merged {gone} into {keep}")  # fmt: skip
