"""A fact and the bullet that it was made of are one entry: what happens to one of them happens to the other. Pure.

A fact that the harvest made goes when its bullet goes, gets the bullet's new words, and comes back with it. What the
user changes in a YAML file is told, so that the caller changes the bullet, and only then writes down that it did. Many
facts of one file at once are left as they are: that is the mark of a file that was lost, not of somebody who corrects.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from core.base.checked_lines import Record
from core.base.entry import FACT_CHARACTERS, statement_mark
from core.factindex.facts import Fact, fact_from, marks_of, split_id
from core.factindex.held import is_sudden
from core.factindex.places import FactFiles
from core.factindex.record import NEW, SAME, History

REDACTED = "[redacted: "
"""The words of such a fact are not those of its bullet."""


@dataclass(frozen=True)
class Bullets:
    """What the category files say: all statements that stand, as facts would say them, by their marks (`live`), the
    text that took the place of another (`replaced`, from mark to text), and the marks of what was removed."""

    live: Mapping[str, str] = field(default_factory=dict)
    replaced: Mapping[str, str] = field(default_factory=dict)
    removed: frozenset[str] = frozenset()
    purged: Callable[[str], bool] = lambda text: False
    """Whether a text was removed for good: nothing is kept of such a fact, whoever wrote it."""

    def now(self, text: str) -> str:
        """The words that a statement has by now, "" where no line says it any more. Of one with a secret nobody can
        tell: the words of its bullet are others."""
        said, seen = statement_mark(text), set[str]()
        while said not in self.live and REDACTED not in text:
            if said in seen or said not in self.replaced:
                return ""
            seen.add(said)
            text = self.replaced[said]
            said = statement_mark(text)
        return text if len(text) <= FACT_CHARACTERS else ""


@dataclass
class Followed:
    """What a sync does: facts that leave, get other words, or come back, and the records that tell of it. For the
    caller: bullets to take out (`dropped`: mark -> ids of the facts that went), and to give other words (`reworded`:
    mark -> id of the fact, its text)."""

    leave: list[Fact] = field(default_factory=list)
    reword: list[tuple[Fact, str]] = field(default_factory=list)
    back: list[Fact] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    held: list[Fact] = field(default_factory=list)
    """The facts that have no bullet any more, and stay for the time being: they are too many at once."""
    again: int = 0
    """Those that come back of which the text was lost, and which are made again of their bullets."""
    settled: set[str] = field(default_factory=set)
    """Those that were lost and are not missed: their bullet was removed, or another fact says the same."""
    dropped: dict[str, list[str]] = field(default_factory=dict)
    reworded: dict[str, tuple[str, str]] = field(default_factory=dict)


def follow(
    found: FactFiles,
    history: History,
    bullets: Bullets,
    skipped: AbstractSet[str] = frozenset(),
    *,
    let_go: bool = False,
) -> Followed:
    """Decide it all. A fact that no harvest made is the user's own, and follows nothing; those `skipped` go with a
    harvest that is taken back. With `let_go` the facts that are missed may go, and their bullets stay."""
    done = Followed()
    _after_bullets(found, history, bullets, skipped, done)
    _after_facts(found, history, skipped, let_go, done)
    _make_again(found, history, bullets, skipped, done)
    return done


def is_of_bullet(history: History, fact_id: str, text: str) -> bool:
    """Whether a fact has the words of the bullet that a harvest made it of. Else they are the user's own."""
    return _made_of(history, fact_id, statement_mark(text)) in marks_of(text)


def _made_of(history: History, fact_id: str, said: str) -> str:
    """The mark of the bullet that a fact which says `said` follows, "" where no harvest made it."""
    parts = split_id(fact_id)
    seen = parts is not None and (parts[0], said) in history.seen
    return history.made.get(fact_id, "") or (said if seen else "")


def _after_bullets(
    found: FactFiles, history: History, bullets: Bullets, skipped: AbstractSet[str], done: Followed
) -> None:
    away: dict[str, list[Fact]] = {}
    said_now = {mark for row in found.placed.values() for mark in marks_of(row.fact.fact)}
    for name, row in found.placed.items():
        said = statement_mark(row.fact.fact)
        made = _made_of(history, name, said)
        if said in bullets.live and made and made not in marks_of(row.fact.fact):
            done.records.append({"t": "reworded", "id": name, "mark": said})
        if said in bullets.live or name in skipped or REDACTED in row.fact.fact:
            continue
        if bullets.purged(row.fact.fact):
            done.leave.append(row.fact)
            continue
        if not made:
            continue
        if made not in marks_of(row.fact.fact) and said not in bullets.removed:
            # The user gave the fact other words, which its bullet gets; but two machines may have given one number.
            if made in bullets.live and made not in said_now:
                done.reworded[made] = name, row.fact.fact
            continue
        new = bullets.now(row.fact.fact)
        if new:
            done.reword.append((row.fact, new))
            done.records.append({"t": "reworded", "id": name, "mark": statement_mark(new)})
        else:
            away.setdefault(row.file, []).append(row.fact)
    for file, facts in away.items():
        sure = [fact for fact in facts if statement_mark(fact.fact) in bullets.removed]
        unsure = [fact for fact in facts if statement_mark(fact.fact) not in bullets.removed]
        if is_sudden(len(unsure), len(found.by_name[file].placed) - len(sure)):
            done.held += unsure
        else:
            sure = facts
        done.leave += sure
        done.records += [{"t": "left", "id": fact.id, "fact": fact.to_json()} for fact in sure]
    taken = found.taken
    here = {(row.fact.domain, statement_mark(row.fact.fact)) for row in found.placed.values()}
    for name, fields in history.left.items():
        fact = fact_from(fields)
        mark = statement_mark(fact.fact)
        if name not in taken and mark in bullets.live and (fact.domain, mark) not in here:
            done.back.append(fact)
            done.records.append({"t": "back", "id": name})


def _make_again(
    found: FactFiles, history: History, bullets: Bullets, skipped: AbstractSet[str], done: Followed
) -> None:
    """What the bullet and the record still tell of a lost fact. A file that is broken may yet be mended."""
    here = {(row.fact.domain, statement_mark(row.fact.fact)) for row in found.placed.values()}
    fed: dict[str, list[str]] = {}
    for row in history.fed.values():
        for _, name, what in row.rows:
            if what in (NEW, SAME):
                fed.setdefault(name, []).append(row.day)
    for file, names in found.lost.items():
        read = found.by_name.get(file)
        for name in names if read is None or not read.broken else ():
            mark, parts = history.made.get(name, ""), split_id(name)
            text = bullets.live.get(mark, "") or bullets.now(bullets.replaced.get(mark, ""))
            said = statement_mark(text)
            if (parts is not None and (parts[0], said) in here) or (not text and mark in bullets.removed):
                done.settled.add(name)
                continue
            if not text or parts is None or name in skipped or name not in history.known:
                continue
            if said != mark:
                done.records.append({"t": "reworded", "id": name, "mark": said})
            confidence, last = history.known[name]
            days = fed.get(name) or [last]
            done.back.append(Fact(name, text, parts[1], parts[0], confidence, (), len(days), min(days), last))
            done.again += 1


def _after_facts(found: FactFiles, history: History, skipped: AbstractSet[str], let_go: bool, done: Followed) -> None:
    taken = found.taken | history.left.keys() | history.merged.keys() | skipped
    done.records += [{"t": "back", "id": name} for name in sorted((history.told or set()) & found.taken)]
    said = {name for fed in history.fed.values() for _, name, what in fed.rows if what in (NEW, SAME)}
    gone = [name for name in history.made if name in said and name not in taken]
    new = [name for name in gone if name not in (history.told or ())]
    if history.told is None or let_go:  # in a store that did not follow them so far what went before stays as it is
        done.records.append({"t": "told", "ids": sorted(new)})
        return
    if found.problems or is_sudden(len(new), len(new) + len(found.placed)):
        return  # an item that is not valid may be one of them: they wait until the files are whole
    still = {mark for row in found.placed.values() for mark in marks_of(row.fact.fact)}
    for name in new:
        if history.made[name] not in still:
            done.dropped.setdefault(history.made[name], []).append(name)
    if elsewhere := sorted(name for name in new if history.made[name] in still):
        done.records.append({"t": "told", "ids": elsewhere})
