"""What a yes, a no or a later does to what waits. Each answer is carried out by the command that always did it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, NamedTuple

from core.base.entry import statement_key
from core.base.markdown import parse_bullets
from core.base.result import ErrorInfo, KnowledgeError, attempt
from core.commands.bullets import change_all
from core.commands.fact_edits import confirm_fact, delete_fact, merge_facts
from core.commands.quarantine import HeldItem, accept_all, drop_all, quarantine_list
from core.commands.review.waiting import KINDS, Waiting, replace_old, settle_missing
from core.commands.statements import Found, bullets_of, refresh_digest
from core.commands.workspace import Clock, Workspace, utc_now
from core.knowledge.alike import Placed
from core.knowledge.answers import remember_answer
from core.knowledge.bullet_text import LOOK_AGAIN
from core.knowledge.categories import CATEGORY, read_text
from core.knowledge.changes import read_changes
from core.knowledge.edit import add_lines, bring_back, new_edit_run, section_of

YES, NO, LATER = "yes", "no", "later"
ANSWERS = (YES, NO, LATER)
LATER_DAYS = 7
"""What is answered with later is asked again after so many days."""


@dataclass(frozen=True)
class Decision:
    """One answer, and what came of it. `run` takes it back."""

    waiting: Waiting
    answer: str
    run: str
    warning: str = ""

    def to_json(self) -> dict[str, Any]:
        """Stable keys for `--json`."""
        row = {"id": self.waiting.id, "kind": self.waiting.kind, "text": self.waiting.text, "answer": self.answer}
        return {**row, "run": self.run, "warning": self.warning or None}


@dataclass(frozen=True)
class Decided:
    """What was answered; `errors` are about those that wait still."""

    rows: tuple[Decision, ...] = ()
    errors: list[ErrorInfo] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """The document of `knowledge review yes --json`."""
        failed = [{"path": error.path, "error": error.message, "code": error.code} for error in self.errors]
        return {"decided": self.rows, "failed": failed}


class Done(NamedTuple):
    """What carried an answer out says: the run that takes it back, what did not work beside it, why some wait still,
    and their keys."""

    run: str
    warning: str = ""
    errors: Sequence[ErrorInfo] = ()
    left: frozenset[str] = frozenset()


class At(NamedTuple):
    """What an answer is carried out with; `run` is the edit that it is a part of."""

    workspace: Workspace
    run: str
    now: Clock


Rows = Sequence[Waiting]


def decide(workspace: Workspace, rows: Rows, answer: str, *, now: Clock = utc_now) -> Decided:
    """Carry one answer out for all of them: what one cannot do keeps none of the others from it."""
    decided, errors = list[Decision](), list[ErrorInfo]()
    at = At(workspace, new_edit_run(now()), now)
    for batch in _batches(rows, answer):
        done = attempt(_carried_out, at, batch, answer)
        if isinstance(done, KnowledgeError):
            errors.append(done.error)
            continue
        run, warning, wrong, left = done.value
        errors += wrong
        decided += [Decision(row, answer, run, warning) for row in batch if row.key not in left]
    return Decided(tuple(decided), errors)


def _batches(rows: Rows, answer: str) -> Iterator[Rows]:
    """Those that are answered in one step: what only is remembered, and what one write does for all of a kind."""
    for kind in KINDS:
        of_kind = [row for row in rows if row.kind == kind]
        if answer != LATER and (kind, answer) in ONE_BY_ONE:
            yield from ([row] for row in of_kind)
        elif of_kind:
            yield of_kind


def _carried_out(at: At, rows: Rows, answer: str) -> Done:
    asked = rows[0].kind, answer
    if asked in ONE_BY_ONE:
        return ONE_BY_ONE[asked](at, rows[0])
    if asked in TOGETHER:
        return TOGETHER[asked](at, rows)
    until = at.now() + timedelta(days=LATER_DAYS) if answer == LATER else None
    return _remembered(at, rows, until.date().isoformat() if until is not None else "")


def _remembered(at: At, rows: Rows, until: str = "") -> Done:
    remember_answer(at.workspace.paths, [row.key for row in rows], until, at.run)
    return Done(at.run)


# --- of each kind ----------------------------------------------------------------------------------------------------


def _let_in(at: At, rows: Rows) -> Done:
    done = accept_all(at.workspace, _held_now(at, rows), run=at.run, now=at.now)
    held = {item.ref.raw for item in quarantine_list(at.workspace)} if done.errors else set[str]()
    left = frozenset(row.key for row in rows if any(item.ref.raw in held for item in row.of))
    return Done(done.run, done.warning, done.errors, left)


def _drop(at: At, rows: Rows) -> Done:
    """The same from another conversation is not asked again."""
    done = drop_all(at.workspace, _held_now(at, rows), run=at.run, now=at.now)
    return _remembered(at, rows)._replace(warning=done.warning)


def _held_now(at: At, rows: Rows) -> list[HeldItem]:
    """The items where they stand by now."""
    wanted = {item.ref.raw for row in rows for item in row.of}
    items = [item for item in quarantine_list(at.workspace) if item.ref.raw in wanted]
    if {item.ref.raw for item in items} != wanted:
        raise _changed("quarantine.md")
    return items


def _settle(at: At, rows: Rows, back: bool) -> Done:
    missing = [row.of for row in rows]
    return Done(at.run, settle_missing(at.workspace, missing, back=back, run=at.run, now=at.now))


def _replace(at: At, row: Waiting) -> Done:
    pair = row.of
    new = pair.new if pair.new is pair.old else _placed_now(at, pair.new)
    old = _placed_now(at, pair.old)
    done = replace_old(at.workspace, old, new, pair.act, run=at.run, now=at.now)
    return Done(done.run, done.warning)


def _merge(at: At, row: Waiting) -> Done:
    one, other = row.of
    if isinstance(one, Placed):
        old, new = _placed_now(at, one), _placed_now(at, other)
        done = replace_old(at.workspace, old, new, run=at.run, now=at.now)
        return Done(done.run, done.warning)
    merged = merge_facts(at.workspace, one.id, other.id, now=at.now)
    return Done(merged.run, merged.warning)


def _placed_now(at: At, place: Placed) -> Placed:
    """A statement with its lines where they stand by now: an answer before this one may have moved them."""
    found = parse_bullets(read_text(at.workspace.paths.knowledge / place.file))
    now = {bullet.raw: bullet for bullet in found}
    statement = place.statement
    if any(bullet.raw not in now for bullet in (statement.bullet, *statement.others)):
        raise _changed(place.file)
    others = tuple(now[bullet.raw] for bullet in statement.others)
    return replace(place, statement=replace(statement, bullet=now[statement.bullet.raw], others=others))


def _changed(file: str) -> KnowledgeError:
    return KnowledgeError("changed-outside", "a line of it has changed since; nothing was written", file, LOOK_AGAIN)


def _bring_back(at: At, row: Waiting) -> Done:
    """It is no longer kept away, and its line stands again as it stood last, where that is known."""
    paths, moment = at.workspace.paths, at.now()
    key = statement_key(row.of.text)
    lines = [found for found in bullets_of(paths, tuple(CATEGORY)) if statement_key(found.bullet.text) == key]
    struck = [found for found in lines if found.bullet.struck]
    last = _last_line(at, key)
    bring_back(paths, [row.of.text], moment, at.run)
    if row.file or len(struck) < len(lines):
        pass  # it stands, and is shown again
    elif struck:
        refs = [found.ref for found in struck if found.file == struck[0].file]
        change_all(at.workspace, "unstrike", refs, run=at.run, now=at.now)
    elif last is None:
        return Done(at.run, "its line is not known any more: the next conversation that says it brings it")
    else:
        header = CATEGORY[last.category].header if last.category != "files" else ""
        add_lines(paths, last.file, header, [(last.bullet.raw,)], moment, section=section_of(last.category), run=at.run)
    return Done(at.run, refresh_digest(at.workspace))


def _last_line(at: At, key: str) -> Found | None:
    """The last line that said so before a change took it out of a file that is still there."""
    by_file = {row.file: row.name for row in reversed(list(CATEGORY.values())) if row.file}
    for change in reversed(read_changes(at.workspace.paths)):
        name = by_file.get(change.file, "files" if change.file.startswith("files/") else "")
        for line in change.removed if name else ():
            for bullet in parse_bullets(line):
                if not bullet.struck and statement_key(bullet.text) == key:
                    hunks = change.edit.hunks if change.edit is not None else ()
                    done = name == "tasks_open" and any(hunk.section == "done" for hunk in hunks)
                    return Found("tasks_done" if done else name, change.file, bullet)
    return None


def _delete(at: At, row: Waiting) -> Done:
    done = delete_fact(at.workspace, row.of.id, now=at.now)
    return Done(done.run, done.warning)


def _confirm(at: At, row: Waiting) -> Done:
    done = confirm_fact(at.workspace, row.of.id, now=at.now)
    return Done(done.run, done.warning)


TOGETHER: dict[tuple[str, str], Callable[[At, Rows], Done]] = {
    ("held", YES): _let_in,
    ("held", NO): _drop,
    ("vanished", YES): lambda at, rows: _settle(at, rows, True),
    ("vanished", NO): lambda at, rows: _settle(at, rows, False),
}
ONE_BY_ONE: dict[tuple[str, str], Callable[[At, Waiting], Done]] = {
    ("outdated", YES): _replace,
    ("finished", YES): _replace,
    ("alike", YES): _merge,
    ("kept-away", YES): _bring_back,
    ("stale", YES): _delete,
    ("stale", NO): _confirm,
}
"""What stands in neither is only remembered: it is asked no more."""
