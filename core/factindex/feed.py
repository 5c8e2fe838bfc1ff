"""From what harvested conversations taught to changes of the YAML files: decided here, written by sync.py. Pure.

The same text (mark) in the same domain, or in `global`, is the same fact: another conversation confirms it, the same
one does not. What a user has deleted stays deleted. Near-duplicates are left to the user.

Which of the five categories of facts a line is, the model has said, or its words say outright.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from core.base.checked_lines import Record
from core.base.entry import statement_mark
from core.factindex.edits import Operation
from core.factindex.facts import CATEGORIES, GLOBAL, Fact, format_id, marks_of, split_id
from core.factindex.follow import Bullets, Followed, follow
from core.factindex.places import FactFiles, file_for
from core.factindex.record import GONE, KEPT, NEW, SAME, Fed, History, Key, counted, history_of, said_by
from core.factindex.reunite import FAR

_PITFALL = re.compile(
    r"\b(?:pitfalls?|gotchas?|beware|watch out|careful|caveat|footgun|wrongly|mistakenly|by mistake"
    r"|do(?:es)? not assume|don't assume|assumed\b.{0,80}\b(?:but|actual|in fact|instead|not)|turned out to be wrong"
    r"|silently (?:fails?|ignor\w+|drops?|breaks?|overwrit\w+)|easy to miss|common mistake|breaks? when|must never"
    r"|never use|never call|fails? unless)\b",
    re.IGNORECASE,
)
_SYSTEM = (
    r"(?:macos|mac os|osx|windows|linux|wsl|docker|alpine|debian|ubuntu|arm64|apple silicon|safari|firefox|chrome)"
)
_QUIRK = re.compile(
    r"\b(?:quirks?|idiosyncra\w+|oddly|surprisingly|counter-?intuitively|undocumented"
    r"|contrary to (?:its|the) documentation"
    rf"|requires? (?:a |the )?\S+(?: \S+)? on {_SYSTEM}|(?:only|differently|not) (?:works? )?on {_SYSTEM}"
    rf"|on {_SYSTEM}[, ].{{0,60}}\b(?:needs?|requires?|expects?|behaves?|differs?))\b",
    re.IGNORECASE,
)
OF_CATEGORY = {"facts": "fact", "playbooks": "pattern", "questions": "question"}
"""What the harvest's categories become."""


def kind_of(category: str, text: str, said: str = "") -> str:
    """`category` is one of OF_CATEGORY, `said` the model's word ("" for none). Only a statement can be a pitfall or a
    quirk by its words: a question about a pitfall stays a question."""
    if said in CATEGORIES:
        return said
    usual = OF_CATEGORY[category]
    if usual != "fact":
        return usual
    return "pitfall" if _PITFALL.search(text) else "tool-quirk" if _QUIRK.search(text) else usual


@dataclass(frozen=True)
class Lesson:
    """One item of a harvest that may become a fact. `text` is one clean line of at most 280 characters."""

    text: str
    category: str
    domain: str
    confidence: float
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Taught:
    """What one proven harvest taught: `sha` and `run` name it, `path` is where the conversation lay, `day` the UTC date
    of the run."""

    sha: str
    run: str
    path: str
    day: str
    lessons: tuple[Lesson, ...]


@dataclass(frozen=True)
class Harvests:
    """What the store tells: conversations in the order of their harvest, which harvests are committed, which runs were
    taken back, the sizes of the archives that `taught` was read from, which domains are kinds of agents, and what the
    bullets say that facts follow (None: they follow nothing now)."""

    taught: Iterable[Taught] = ()
    committed: AbstractSet[Key] = frozenset()
    undone: AbstractSet[str] = frozenset()
    sizes: dict[str, int] = field(default_factory=dict)
    agents: AbstractSet[str] = frozenset()
    bullets: Bullets | None = None
    too_long: Sequence[str] = ()
    """What is new and longer than a fact may be."""


@dataclass
class Plan:
    """What a sync will do: operations by file, the two parts of a new file's name that its frontmatter needs, the
    records that tell of it, the runs that `wait` for a merge conflict to end, and counts for the report."""

    operations: dict[str, list[Operation]] = field(default_factory=dict)
    made_for: dict[str, list[str]] = field(default_factory=dict)
    records: list[Record] = field(default_factory=list)
    wait: set[str] = field(default_factory=set)
    new: int = 0
    confirmed: int = 0
    gone: int = 0
    taken_back: int = 0
    stayed: list[str] = field(default_factory=list)
    followed: Followed = field(default_factory=Followed)


class _Draft:
    """The facts as they will be, beside what they are."""

    def __init__(self, found: FactFiles, history: History) -> None:
        self.found = found
        self.facts: dict[str, Fact] = {name: row.fact for name, row in found.placed.items()}
        self.present = found.taken
        self.removed: set[str] = set()
        self.made: dict[str, Fact] = {}
        self._ahead = {name: _ahead(fact, history) for name, fact in self.facts.items()}
        self._texts: dict[str, dict[str, str]] = {}
        self._last: dict[tuple[str, str], int] = {}
        for name in self.present | history.ids:
            parts = split_id(name)
            if parts is not None and self._last.get(parts[:2], 0) < parts[2] < FAR:
                self._last[parts[:2]] = parts[2]

    def by_text(self, domain: str, mark: str) -> str:
        """The id of the fact that says this now, "" for none."""
        if domain not in self._texts:
            self._texts[domain] = {}
            for fact in chain(self.facts.values(), *self.found.held.values()):
                if fact.domain == domain:
                    self._texts[domain].setdefault(statement_mark(fact.fact), fact.id)
        return self._texts[domain].get(mark, "")

    def add(self, lesson: Lesson, mark: str, day: str) -> Fact:
        key = (lesson.domain, lesson.category)
        self._last[key] = self._last.get(key, 0) + 1
        name = format_id(*key, self._last[key])
        fact = Fact(name, lesson.text, lesson.category, lesson.domain, lesson.confidence, lesson.tags, 1, day, day)
        self.facts[name] = self.made[name] = fact
        self.present.add(name)
        self.by_text(lesson.domain, mark)
        self._texts[lesson.domain].setdefault(mark, name)
        return fact

    def restore(self, fact: Fact) -> None:
        self.facts[fact.id] = self.made[fact.id] = fact
        self.present.add(fact.id)
        self._texts.pop(fact.domain, None)

    def change(self, fact: Fact) -> None:
        self.facts[fact.id] = fact
        if fact.id in self.made:
            self.made[fact.id] = fact

    def count(self, fact: Fact, step: int) -> Fact:
        """The fact as one conversation more (1) or less (-1) says it, unless the file counts that already."""
        ahead = self._ahead.get(fact.id, 0)
        if ahead * step > 0:
            self._ahead[fact.id] = ahead - step
            return fact
        return fact._replace(source_count=max(1, said_by(fact) + step))

    def remove(self, fact: Fact) -> None:
        del self.facts[fact.id]
        self.present.discard(fact.id)
        self.removed.add(fact.id)
        self._texts.pop(fact.domain, None)


def _ahead(fact: Fact, history: History) -> int:
    """How many conversations more than this store knows of are counted in a file: another machine's, which come with
    its plans. Of a fact that is new here, all but the first."""
    known = history.counts.get(fact.id, said_by(fact) if fact.id in history.ids else 1)
    return said_by(fact) - known


def plan_feed(found: FactFiles, records: Sequence[Record], harvests: Harvests, *, let_go: bool = False) -> Plan:
    """Decide everything. `records` is the record so far; of the runs that a user took back, all harvests but those that
    are still committed are taken back here too. Each fact follows its bullet; `let_go` as in `follow`."""
    plan, taught, bullets = Plan(), list(harvests.taught), harvests.bullets
    if not taught and not harvests.undone and bullets is None:
        return plan
    history = history_of(records)
    draft = _Draft(found, history)
    lost = [fed for key, fed in history.fed.items() if fed.run in harvests.undone and key not in harvests.committed]
    witnesses = _witnesses(history, {(one.sha, one.run) for one in lost}) if lost else {}
    for fed in lost:
        _take_back(fed, history, draft, plan, witnesses)
    if lost:
        history = history_of([*records, *plan.records])
    if bullets is not None:
        skipped = {name for fed in lost for _, name, _ in fed.rows}
        plan.followed = follow(found, history, bullets, skipped, let_go=let_go)
        for fact in plan.followed.leave:
            draft.remove(fact)
        for fact, text in plan.followed.reword:
            draft.change(fact._replace(fact=text))
        for fact in plan.followed.back:
            draft.restore(fact)
        plan.records += plan.followed.records
        if plan.followed.records:
            history = history_of([*records, *plan.records])
    taught = [one for one in taught if (one.sha, one.run) not in history.fed]
    plan.wait = _in_conflict(taught, found, bullets)
    for conversation in taught:
        # Of two held lines that say the same the first has fed both.
        if conversation.run not in plan.wait and (conversation.sha, conversation.run) not in history.fed:
            _feed(conversation, history, draft, plan, bullets)
    days = [*(row.get("day", "") for row in plan.records), *(fact.last_confirmed for fact in plan.followed.back)]
    _compile(draft, plan, max(days, default=""), harvests.agents)
    unchanged = {id(row.fact) for row in found.placed.values()}
    if plan.records:
        plan.records += counted((fact for fact in draft.facts.values() if id(fact) not in unchanged), history)
    return plan


# --- one conversation ------------------------------------------------------------------------------------------------


def _in_conflict(taught: Iterable[Taught], found: FactFiles, bullets: Bullets | None) -> set[str]:
    """The runs that say what stands in a file with a merge conflict: what stays of it, the user has not decided yet. A
    run is fed as a whole, so it waits as a whole, and the next sync asks again."""
    open_facts = {(fact.domain, statement_mark(fact.fact)) for fact in found.in_conflict}
    return {
        one.run
        for one in (taught if open_facts else ())
        for lesson in one.lessons
        for mark in marks_of(lesson.text if bullets is None else bullets.now(lesson.text))[:1]
        if not open_facts.isdisjoint({(lesson.domain, mark), (GLOBAL, mark)})
    }


def _feed(taught: Taught, history: History, draft: _Draft, plan: Plan, bullets: Bullets | None) -> None:
    said = history.marks_of(taught.sha, taught.path)
    rows: list[list[Any]] = []
    for lesson in taught.lessons:
        if bullets is not None:
            text = bullets.now(lesson.text)
            if not text:
                continue
            lesson = replace(lesson, text=text)
        marks = marks_of(lesson.text)
        mark = marks[0]
        if not said.isdisjoint(marks):
            continue
        said.add(mark)
        name = _present(lesson.domain, marks, history, draft)
        # What the text had become before a user deleted it.
        deleted = "" if name else _seen(lesson.domain, marks, history) or _seen(GLOBAL, marks, history)
        if deleted:
            rows.append([mark, deleted, GONE])
            plan.gone += 1
            continue
        if name and name not in draft.facts:
            rows.append([mark, name, KEPT])  # it stands there, but is not valid: nobody changes it but the user
            continue
        elsewhere = _is_from_elsewhere(name, history, draft, taught.day)
        if elsewhere:  # another machine has made it of this very line, and counted it
            fact = draft.facts[name]
            history.ids.add(name)
        elif name:
            old = draft.facts[name]
            more = draft.count(old, 1)
            fact = more._replace(last_confirmed=max(old.last_confirmed, taught.day))
            draft.change(fact)
            plan.confirmed += more is not old
        else:
            fact = draft.add(lesson, mark, taught.day)
            plan.new += 1
        rows.append([mark, fact.id, SAME if name and not elsewhere else NEW, fact.confidence, fact.last_confirmed])
    record = {"t": "fed", "sha": taught.sha, "run": taught.run, "path": taught.path, "day": taught.day, "items": rows}
    plan.records.append(record)
    for mark, name, *_ in rows:
        parts = split_id(name)
        history.seen.setdefault((parts[0] if parts else "", mark), name)
        for key in (f"sha:{taught.sha}", f"path:{taught.path}"):
            history.marks.setdefault(key, set()).add(mark)
    history.fed[taught.sha, taught.run] = Fed(taught.sha, taught.run, taught.day, ())


def _present(domain: str, marks: Sequence[str], history: History, draft: _Draft) -> str:
    """The id of the fact that this text confirms, "" for none: one that says the same now, or one that the text has
    become before, under whatever words a user has given it since, or into which it was merged."""
    for place in dict.fromkeys((domain, GLOBAL)):
        name = draft.by_text(place, marks[0])
        if name:
            return name
        name = _seen(place, marks, history)
        for _ in range(len(history.merged) + 1):
            if not name or name in draft.present:
                break
            name = history.merged.get(name, "")
        if name in draft.present and not _is_of_another_machine(name, history, draft):
            return name
    return ""


def _is_of_another_machine(name: str, history: History, draft: _Draft) -> bool:
    """Whether a number that this store had given stands before words that were never said here: a fact of another
    machine has it now, and what this one said of it, and may have deleted, is not said of that."""
    fact = draft.facts.get(name)
    return fact is not None and history.made.get(name, "") not in ("", *marks_of(fact.fact))


def _seen(domain: str, marks: Sequence[str], history: History) -> str:
    return next((name for mark in marks if (name := history.seen.get((domain, mark), ""))), "")


def _is_from_elsewhere(name: str, history: History, draft: _Draft, day: str) -> bool:
    """Whether the fact that stands already was made by another machine, of the line that is fed now: nothing is known
    of it here, and it was first seen on the day of the conversation."""
    known = name in history.ids or name in draft.made or name not in draft.facts
    return not known and draft.facts[name].first_seen == day


# --- taking a harvest back -------------------------------------------------------------------------------------------


def _witnesses(history: History, lost: AbstractSet[Key]) -> dict[str, list[Fed]]:
    """The harvests that are not taken back, by the ids of the facts that they made or confirmed."""
    found: dict[str, list[Fed]] = {}
    for key, fed in history.fed.items():
        for _, name, what in fed.rows if key not in lost else ():
            if what in (NEW, SAME):
                found.setdefault(name, []).append(fed)
    return found


def _take_back(fed: Fed, history: History, draft: _Draft, plan: Plan, witnesses: dict[str, list[Fed]]) -> None:
    """Take the facts of one harvest out again. One that a user has changed, or that another harvest has confirmed,
    stays; a confirmation is counted back."""
    kept: list[list[str]] = []
    known: dict[str, list[Any]] = {}
    for mark, name, what in fed.rows:
        fact = draft.facts.get(name)
        others = witnesses.get(name, [])
        if fact is None:
            if what == GONE or (what == NEW and name not in draft.removed and name not in draft.present):
                kept.append([mark, name])  # deleted by hand before the undo: it stays so
            continue
        if (what == NEW or name in history.made) and not others and _is_as_made(fact, mark, history):
            draft.remove(fact)
            plan.taken_back += 1
        elif what in (NEW, SAME):
            if what == NEW and not others:
                plan.stayed.append(name)
                continue
            days = [one.day for one in others]
            last = fact.last_confirmed
            if last == fed.day:
                last = max([*days, fact.first_seen])
            less = fact if fact.source_count is None else draft.count(fact, -1)
            draft.change(less._replace(last_confirmed=last))
            known[name] = [fact.confidence, last]
    plan.records.append({"t": "undone", "sha": fed.sha, "run": fed.run, "kept": kept, "known": known})


def _is_as_made(fact: Fact, mark: str, history: History) -> bool:
    """Whether a fact still is what the harvest wrote: same words, same confidence, nothing added."""
    confidence = history.known.get(fact.id, [fact.confidence])[0]
    return mark in marks_of(fact.fact) and fact.confidence == confidence and not fact.expires and not fact.related


# --- operations ------------------------------------------------------------------------------------------------------

_FOLLOWS = ("fact", "source_count", "last_confirmed")


def _compile(draft: _Draft, plan: Plan, day: str, agents: AbstractSet[str]) -> None:
    found = draft.found
    for name, row in found.placed.items():
        if name in draft.removed:
            raw = found.by_name[row.file].text[row.item.start : row.item.end]
            plan.operations.setdefault(row.file, []).append({"op": "remove", "id": name, "raw": raw})
            continue
        fact = draft.facts[name]
        if fact is row.fact:
            continue
        before = {key: row.item.fields.get(key) for key in _FOLLOWS}
        after = {key: getattr(fact, key) or None for key in _FOLLOWS if getattr(fact, key) != getattr(row.fact, key)}
        after = {key: value for key, value in after.items() if value != before[key]}
        if after:
            change = {"op": "set", "id": name, "from": {key: before[key] for key in after}, "to": after}
            plan.operations.setdefault(row.file, []).append(change)
    for fact in draft.made.values():
        file = file_for(found, fact.domain, fact.category, agents)
        plan.operations.setdefault(file, []).append({"op": "add", "fact": fact.to_json()})
        if file not in found.by_name:
            plan.made_for[file] = [fact.domain, fact.category]
    for rows in plan.operations.values():
        if day:
            rows.append({"op": "date", "day": day})
