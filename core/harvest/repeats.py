"""What a plan says again. The same turn in a snapshot, a fork or a history of one session is one source, in one
project: it confirms nothing. What another conversation says again takes the wording of the file, so that what a plan
keeps of it (quote, evidence, facts) is found by the line that stands.

Of one and the same turn words may also be much alike, as long as no figure and no negation differs.

A conversation that went on since its last harvest gets a plan that takes over what still stands, for that plan alone
proves all parts. What the user removed stays away, whichever of the earlier harvests had written it, and so does what
an undo took back. Open tasks and questions are told as they stood when a harvest read them: one that the rest of the
conversation has settled goes, unless the user has touched it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from core.base import files
from core.base.entry import statement_key
from core.base.markdown import Bullet, Provenance, bullet_line, parse_bullets, sanitise_line, split_provenance
from core.base.paths import Paths
from core.base.project import same_key
from core.harvest.proofs import Proofs
from core.knowledge.alike import differs_in_value, flat
from core.knowledge.bullet_text import held_item, with_quote
from core.knowledge.categories import CATEGORY, CATEGORY_FILES, QUARANTINE, TASKS_FILE, bullets_in, read_text
from core.knowledge.changes import EDIT_RUN, UNDO_RUN, read_changes
from core.knowledge.confirmed import confirmed_bullets, read_confirmed
from core.knowledge.file_notes import note_now, read_records
from core.knowledge.journal import FrozenPlan
from core.knowledge.ledger import Entries, table_in
from core.knowledge.lines import PlannedFile, absent_lines, key_of
from core.knowledge.same import mark_of_text

if TYPE_CHECKING:
    from core.harvest.answer import Item
    from core.harvest.distil import Harvest

ALIKE = 85
KEYED = ("rows", "quotes", "evidence", "steps")
"""The tables of a plan's facts that are keyed by the marks of its lines."""


class Repeats:
    """Looks up what stands in the files, and what this run is about to write there. `notes` get what could not be
    looked up."""

    def __init__(self, paths: Paths, entries: Entries, proofs: Proofs, notes: list[str]) -> None:
        self._paths, self._entries, self._proofs, self._notes = paths, entries, proofs, notes
        self._by_words: dict[str, dict[str, list[str]]] = {}
        self._turns: dict[str, list[tuple[str, str]]] = {}
        self._names: dict[str, list[str]] | None = None
        self._places: dict[str, set[str]] = {}

    def settled(self, plan: FrozenPlan) -> FrozenPlan:
        """The plan with the lines of others where it repeats them."""
        evidence = table_in(plan.facts, "evidence")
        moved: dict[str, str] = {}
        done = []
        for planned in plan.files:
            if planned.name not in CATEGORY_FILES:
                done.append(planned)
                continue
            self._read(planned.name)
            place = _place(plan.entry)
            lines = [self._line(planned.name, line, evidence, moved, place) for line in planned.lines]
            ends = [self._line(planned.name, line, evidence, moved, place) for line in planned.done]
            done.append(replace(planned, lines=tuple(dict.fromkeys(lines)), done=tuple(dict.fromkeys(ends))))
        facts = {key: _renamed(value, moved) if key in KEYED else value for key, value in plan.facts.items()}
        settled = replace(plan, files=tuple(done), facts=facts)
        self._note(settled)
        return settled

    def _line(self, file: str, line: str, evidence: Mapping[str, Any], moved: dict[str, str], place: str) -> str:
        text, provenance = split_provenance(line[2:])
        if provenance is None:
            return line
        turn = _turn(evidence, mark_of_text(text))
        same = [one for one in self._by_words[file].get(statement_key(text), ()) if one != line]
        for other in same:
            words, origin = split_provenance(other[2:])
            if (
                turn
                and origin is not None
                and origin.source != provenance.source
                and self._heard(origin, words) == turn
                and not self._is_elsewhere(origin.source, place)
            ):
                return _moved(text, words, other, moved)
        for known, other in self._turns.get(turn, ()) if turn else ():
            words, origin = split_provenance(other[2:])
            if known != file or origin is None or origin.source == provenance.source:
                continue
            if _alike(text, words) and not self._is_elsewhere(origin.source, place):
                return _moved(text, words, other, moved)
        wordings = [split_provenance(other[2:])[0] for other in same]
        if wordings and text not in wordings:
            return _moved(text, wordings[-1], bullet_line(wordings[-1], provenance), moved)
        return line

    def _heard(self, origin: Provenance, text: str) -> str:
        """The turn that a line of an earlier harvest was taken from, "" where nobody knows."""
        for sha in self._known().get(origin.source, ()):
            try:
                plan = self._proofs.plan(sha, self._entries.get(sha))
            except OSError:
                continue
            if plan is not None and (turn := _turn(table_in(plan.facts, "evidence"), mark_of_text(text))):
                return turn
        return ""

    def _known(self) -> dict[str, list[str]]:
        """A conversation's name -> the hashes of what it was."""
        if self._names is None:
            self._names = {}
            for sha, entry in self._entries.items():
                name = str(entry.get("name") or str(entry.get("path", "")).rpartition("/")[2])
                self._names.setdefault(name, []).append(sha)
        return self._names

    def _is_elsewhere(self, source: str, place: str) -> bool:
        """Whether a conversation is known to be of another project than the one that is asked about."""
        told = {_place(self._entries.get(sha, {})) for sha in self._known().get(source, ())}
        places = (told | self._places.get(source, set())) - {""}
        return bool(place and places) and not any(same_key(one, place) for one in places)

    def _read(self, file: str) -> None:
        """The lines of a file, those that are struck through left out; once a run, for what it writes is noted. Of a
        file that cannot be read there are none: whoever writes into it tells that, and the plan must be made."""
        if file in self._by_words:
            return
        found = self._by_words[file] = {}
        try:
            bullets = parse_bullets(read_text(self._paths.knowledge / file))
        except OSError:
            return
        try:
            bullets = confirmed_bullets(read_confirmed(self._paths), file, bullets)
        except OSError as error:
            note = f"who said what again cannot be read ({error.strerror}): a fork of a session may count as one more"
            self._notes += [note] if note not in self._notes else []
        for bullet in bullets:
            if not bullet.struck:
                said = (bullet_line(bullet.text, one) for one in (bullet.provenance, *bullet.again))
                found.setdefault(bullet.key, []).extend(said)

    def _note(self, plan: FrozenPlan) -> None:
        """What the plan will write, before it stands there."""
        evidence = table_in(plan.facts, "evidence")
        for planned in plan.files:
            if planned.name not in CATEGORY_FILES:
                continue
            for line in (*planned.lines, *planned.done):
                text, provenance = split_provenance(line[2:])
                if provenance is not None:
                    self._places.setdefault(provenance.source, set()).add(_place(plan.entry))
                rows = self._by_words.setdefault(planned.name, {}).setdefault(statement_key(text), [])
                if line not in rows:
                    rows.append(line)
                if turn := _turn(evidence, mark_of_text(text)):
                    self._turns.setdefault(turn, []).append((planned.name, line))


def _place(entry: Mapping[str, Any]) -> str:
    """By what the project of a conversation is known again, "" where nobody knows it."""
    root = str(entry.get("project_root") or "")
    return str(entry.get("project_key") or "") or (f"path:{root}" if root else "")


def _moved(text: str, words: str, line: str, moved: dict[str, str]) -> str:
    moved[mark_of_text(text)] = mark_of_text(words)
    return line


def _alike(one: str, other: str) -> bool:
    from rapidfuzz import fuzz  # much that commits a harvest compares nothing

    first, second = flat(statement_key(one)), flat(statement_key(other))
    return not differs_in_value(first, second) and fuzz.token_sort_ratio(first, second) >= ALIKE


def _turn(evidence: Mapping[str, Any], mark: str) -> str:
    row = evidence.get(mark)
    said = row.get("said") if isinstance(row, dict) else ""
    return said if isinstance(said, str) else ""


def _renamed(table: Any, moved: Mapping[str, str]) -> Any:
    return {moved.get(key, key): value for key, value in table.items()} if isinstance(table, dict) else table


# --- a conversation that went on since its last harvest --------------------------------------------------------------

OPEN = ("tasks_open", "questions")
"""What a conversation leaves open: true until it goes on."""
_SETTLES = {"finishes": "tasks_open", "answers": "questions"}


@dataclass
class _Past:
    """What earlier harvests of a conversation wrote: the words of all lines by file, the `lines` of all, and those `by
    rules` among them."""

    words: dict[str, set[str]] = field(default_factory=dict)
    lines: set[tuple[str, str]] = field(default_factory=set)
    by_rules: set[tuple[str, str]] = field(default_factory=set)


class Grown:
    """Looks up what earlier harvests wrote, for one run."""

    def __init__(self, paths: Paths, entries: Entries, proofs: Proofs) -> None:
        self._paths, self._entries, self._proofs = paths, entries, proofs
        self._rows: dict[str, list[tuple[str, str]]] | None = None
        self._outdated: set[tuple[str, str]] = set()

    def onto(self, plan: FrozenPlan, sha256: str, harvest: Harvest) -> FrozenPlan:
        """The plan beside that of the harvest of `sha256`, which is what the conversation was before it grew. Raises
        OSError."""
        chain = list(self._chain(sha256))
        earlier = next((found for sha in chain if (found := self._proofs.plan(sha, self._entries.get(sha)))), None)
        past = self._past(chain)
        rows, notes, old_rows = {one.name: one for one in plan.files}, dict(plan.notes), dict[str, PlannedFile]()
        old_files, old_notes = (earlier.files, earlier.notes) if earlier is not None else ((), {})
        for old in old_files:
            row = old_notes.get(old.name.removeprefix("files/"))
            name = note_now(self._paths, old.name, old.all_lines, row) if old.all_lines else old.name
            if row is not None and name.removeprefix("files/") not in notes:
                notes |= {note: row for note, row in read_records(self._paths).items() if f"files/{note}" == name}
            old_rows[name] = old
            rows.setdefault(name, PlannedFile(name, old.header, ()))
        goes = dict[str, tuple[str, ...]]()
        for name, new in rows.items():
            old = old_rows.get(name, PlannedFile(name, new.header, ()))
            data = files.read_or_empty(self._paths.knowledge / name) if old.all_lines else b""
            gone = {line for absent in absent_lines(data, replace(old, name=name)) for line in absent}
            standing = [line for line in old.all_lines if line not in gone]
            over = _outdated(name, standing, data, past, harvest)
            if over:
                goes[name] = tuple(over)
            said = {key_of(line) for line in old.all_lines} | past.words.get(name, set())
            finished = {key_of(line) for line in over if line in old.lines}
            rows[name] = replace(
                new,
                lines=(*(line for line in old.lines if line in standing and line not in over), *_but(new.lines, said)),
                done=(
                    *(line for line in old.done if line in standing and line not in over),
                    *_but(new.done, said - finished),
                ),
            )
        planned = {one.name for one in plan.files}
        kept = tuple(row for row in rows.values() if row.all_lines or row.name in planned)
        return replace(plan, files=kept, notes=notes, goes=goes)

    def _chain(self, sha256: str) -> Iterator[str]:
        """The hashes of what the conversation was at its harvests, the newest first."""
        seen = set[str]()
        while sha256 and sha256 not in seen:
            seen.add(sha256)
            yield sha256
            sha256 = str(self._entries.get(sha256, {}).get("after", ""))

    def _past(self, chain: Iterable[str]) -> _Past:
        if self._rows is None:
            self._rows = {}
            for change in read_changes(self._paths):
                if change.sha:
                    self._rows.setdefault(change.sha, []).extend((change.file, line) for line in change.added)
                elif not change.run.startswith((EDIT_RUN, UNDO_RUN)):  # a harvest took out what may be true again
                    self._outdated.update((change.file, line) for line in change.removed)
        past = _Past()
        for sha in chain:
            wrote = self._rows.get(sha, ())
            past.lines.update(wrote)
            if self._entries.get(sha, {}).get("provider") == "offline":
                past.by_rules.update(wrote)
            for file, line in set(wrote) - self._outdated:
                past.words.setdefault(file, set()).add(key_of(line))
        return past


def _outdated(name: str, standing: Sequence[str], data: bytes, past: _Past, harvest: Harvest) -> list[str]:
    """Those of the standing lines of a file that the conversation as it is now outdates, and nobody has touched."""
    mine = {line for line in standing if (name, line) in past.lines}
    if not mine or name not in (TASKS_FILE, CATEGORY["questions"].file, QUARANTINE):
        return []
    now = _Reading.of(harvest)
    return [
        line
        for category, bullet in _bullets(name, data.decode("utf-8", "replace"))
        if (line := bullet.raw) in mine
        and not bullet.more
        and now.outdates(category, bullet.text, by_rules=(name, line) in past.by_rules)
    ]


def _bullets(name: str, text: str) -> Iterator[tuple[str, Bullet]]:
    """The bullets of a file with their categories; where a user has moved one decides what it is."""
    for category in ("tasks_open", "tasks_done") if name == TASKS_FILE else ():
        yield from ((category, bullet) for bullet in bullets_in(text, category))
    for bullet in parse_bullets(text) if name != TASKS_FILE else ():
        if name != QUARANTINE:
            yield "questions", bullet
        elif (held := held_item(bullet)).category:
            yield held.category, replace(bullet, text=with_quote(held.text, held.quote))


@dataclass(frozen=True)
class _Reading:
    """What the conversation says now: what is `settled` of each category, for a model says so or because the rules find
    it no more, and do find it in what was there before; what the rules have `given`, and whether nobody knows any more
    what was there; the first words of what is done."""

    settled: dict[str, set[str]]
    given: dict[str, set[str]]
    anew: bool
    heads: set[str]

    @staticmethod
    def of(harvest: Harvest) -> _Reading:
        given = _by_category(harvest.by_rules or ())
        before = _by_category(harvest.before or ())
        settled = {category: before[category] - given[category] for category in OPEN}
        for offer in harvest.offers:
            if _SETTLES.get(offer.kind) == offer.category:
                settled[offer.category].add(_said(offer.old))
        done = [item.text for item in harvest.items if item.category == "tasks_done" and not item.held]
        settled["tasks_open"] |= set(map(_said, done))
        heads = {_said(_head(item.text)) for item in harvest.by_rules or () if item.category == "tasks_done"}
        return _Reading(settled, given, harvest.by_rules is not None and harvest.before is None, heads)

    def outdates(self, category: str, text: str, *, by_rules: bool) -> bool:
        """Whether a line that an earlier harvest wrote is no longer true: what was open is settled, what was done is
        told in other words."""
        words = _said(text)
        if words in self.settled.get(category, ()):
            return True
        if not by_rules or words in self.given[category]:
            return False
        return self.anew if category in OPEN else category == "tasks_done" and _said(_head(text)) in self.heads


def _by_category(items: Iterable[Item]) -> defaultdict[str, set[str]]:
    """The words of items as lines have them."""
    found = defaultdict[str, set[str]](set)
    for item in items:
        found[item.category] |= {_said(item.text), _said(with_quote(item.text, item.quote))}
    return found


def _head(text: str) -> str:
    """What was done, without the commit and the details."""
    return text.partition(" — ")[0].partition(" (commit ")[0]


def _said(text: str) -> str:
    return statement_key(sanitise_line(text, None))


def _but(lines: Sequence[str], said: set[str]) -> tuple[str, ...]:
    return tuple(line for line in lines if key_of(line) not in said)
