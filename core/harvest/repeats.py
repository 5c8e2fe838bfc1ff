"""What a plan says again. The same turn in a snapshot, a fork or a history of one session is one source: its line
stands once. The same words from another conversation confirm: they take the wording that the file has.

Words are the same when they differ in nothing but case, punctuation and articles; of one and the
same turn they may also be much alike, as long as no figure and no negation differs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from core.base.markdown import Provenance, bullet_line, parse_bullets, split_provenance
from core.base.paths import Paths
from core.harvest.freeze import mark_of_text
from core.harvest.proofs import Proofs
from core.knowledge.alike import content_words, differs_in_value
from core.knowledge.categories import CATEGORY_FILES, read_text
from core.knowledge.journal import FrozenPlan
from core.knowledge.ledger import Entries
from core.knowledge.same import normalised

ALIKE = 85
KEYED = ("rows", "quotes", "evidence", "steps")
"""The tables of a plan's facts that are keyed by the marks of its lines."""


class Repeats:
    """Looks up what stands in the files, and what this run is about to write there."""

    def __init__(self, paths: Paths, entries: Entries, proofs: Proofs) -> None:
        self._paths, self._entries, self._proofs = paths, entries, proofs
        self._by_words: dict[str, dict[tuple[str, ...], list[str]]] = {}
        self._turns: dict[str, list[tuple[str, str]]] = {}
        self._names: dict[str, list[str]] | None = None

    def settled(self, plan: FrozenPlan) -> FrozenPlan:
        """The plan with the lines of others where it repeats them."""
        evidence = _table(plan.facts, "evidence")
        moved: dict[str, str] = {}
        done = []
        for planned in plan.files:
            if planned.name not in CATEGORY_FILES:
                done.append(planned)
                continue
            self._read(planned.name)
            lines = [self._line(planned.name, line, evidence, moved) for line in planned.lines]
            ends = [self._line(planned.name, line, evidence, moved) for line in planned.done]
            done.append(replace(planned, lines=tuple(dict.fromkeys(lines)), done=tuple(dict.fromkeys(ends))))
        facts = {key: _renamed(value, moved) if key in KEYED else value for key, value in plan.facts.items()}
        settled = replace(plan, files=tuple(done), facts=facts)
        self._note(settled)
        return settled

    def _line(self, file: str, line: str, evidence: Mapping[str, Any], moved: dict[str, str]) -> str:
        text, provenance = split_provenance(line[2:])
        if provenance is None:
            return line
        turn = _turn(evidence, mark_of_text(text))
        same = [one for one in self._by_words[file].get(content_words(text), ()) if one != line]
        for other in same:
            words, origin = split_provenance(other[2:])
            if (
                turn
                and origin is not None
                and origin.source != provenance.source
                and self._heard(origin, words) == turn
            ):
                return _moved(text, words, other, moved)
        for known, other in self._turns.get(turn, ()) if turn else ():
            words, origin = split_provenance(other[2:])
            if known == file and origin is not None and origin.source != provenance.source and _alike(text, words):
                return _moved(text, words, other, moved)
        wordings = [split_provenance(other[2:])[0] for other in same]
        if wordings and normalised(text) not in map(normalised, wordings):
            return _moved(text, wordings[-1], bullet_line(wordings[-1], provenance), moved)
        return line

    def _heard(self, origin: Provenance, text: str) -> str:
        """The turn that a line of an earlier harvest was taken from, "" where nobody knows."""
        if self._names is None:
            self._names = {}
            for sha, entry in self._entries.items():
                name = str(entry.get("name") or str(entry.get("path", "")).rpartition("/")[2])
                self._names.setdefault(name, []).append(sha)
        for sha in self._names.get(origin.source, ()):
            try:
                plan = self._proofs.plan(sha, self._entries.get(sha))
            except OSError:
                continue
            if plan is not None and (turn := _turn(_table(plan.facts, "evidence"), mark_of_text(text))):
                return turn
        return ""

    def _read(self, file: str) -> None:
        """The lines of a file, those that are struck through left out; once a run, for what it writes is noted. Of a
        file that cannot be read there are none: whoever writes into it tells that, and the plan must be made."""
        if file in self._by_words:
            return
        found = self._by_words[file] = {}
        try:
            text = read_text(self._paths.knowledge / file)
        except OSError:
            return
        for bullet in parse_bullets(text):
            if not bullet.struck and not bullet.more and bullet.provenance is not None:
                found.setdefault(content_words(bullet.text), []).append(bullet.raw)

    def _note(self, plan: FrozenPlan) -> None:
        """What the plan will write, before it stands there."""
        evidence = _table(plan.facts, "evidence")
        for planned in plan.files:
            if planned.name not in CATEGORY_FILES:
                continue
            for line in (*planned.lines, *planned.done):
                text = split_provenance(line[2:])[0]
                rows = self._by_words.setdefault(planned.name, {}).setdefault(content_words(text), [])
                if line not in rows:
                    rows.append(line)
                if turn := _turn(evidence, mark_of_text(text)):
                    self._turns.setdefault(turn, []).append((planned.name, line))


def _moved(text: str, words: str, line: str, moved: dict[str, str]) -> str:
    moved[mark_of_text(text)] = mark_of_text(words)
    return line


def _alike(one: str, other: str) -> bool:
    from rapidfuzz import fuzz

    first, second = normalised(one), normalised(other)
    return not differs_in_value(first, second) and fuzz.token_sort_ratio(first, second) >= ALIKE


def _turn(evidence: Mapping[str, Any], mark: str) -> str:
    row = evidence.get(mark)
    said = row.get("said") if isinstance(row, dict) else ""
    return said if isinstance(said, str) else ""


def _table(facts: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = facts.get(key)
    return found if isinstance(found, dict) else {}


def _renamed(table: Any, moved: Mapping[str, str]) -> Any:
    return {moved.get(key, key): value for key, value in table.items()} if isinstance(table, dict) else table
