"""What a yes, a no or a later does to what waits. Each answer is carried out by the command that always did it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, NamedTuple

from core.base.entry import statement_key
from core.base.markdown import parse_bullets
from core.base.result import ErrorInfo, KnowledgeError, attempt
from core.commands.alike import Placed, replace_old
from core.commands.fact_edits import confirm_fact, delete_fact, merge_facts
from core.commands.history.missing import settle_missing
from core.commands.quarantine import accept_all, drop_all, quarantine_list
from core.commands.review.waiting import Waiting
from core.commands.statements import Found, bullets_of, change_all, refresh_digest
from core.commands.workspace import Clock, Workspace, utc_now
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
        return {"decided": [row.to_json() for row in self.rows], "failed": failed}


class Done(NamedTuple):
    """What carried an answer out says: the run that takes it back, and what did not work beside it."""

    run: str
    warning: str = ""


class At(NamedTuple):
    """What an answer is carried out with; `run` is the edit that it is a part of."""

    workspace: Workspace
    run: str
    now: Clock


def decide(workspace: Workspace, rows: Sequence[Waiting], answer: str, *, now: Clock = utc_now) -> Decided:
    """Carry one answer out for all of them, one after the other: what one cannot do keeps none of the others from
    it."""
    decided, errors = list[Decision](), list[ErrorInfo]()
    at = At(workspace, new_edit_run(now()), now)
    for row in rows:
        done = attempt(_carried_out, at, row, answer)
        if isinstance(done, KnowledgeError):
            errors.append(done.error)
        else:
            decided.append(Decision(row, answer, *done.value))
    return Decided(tuple(decided), errors)


def _carried_out(at: At, row: Waiting, answer: str) -> Done:
    paths = at.workspace.paths
    if answer == LATER:
        remember_answer(paths, [row.key], (at.now() + timedelta(days=LATER_DAYS)).date().isoformat(), at.run)
        return Done(at.run)
    if (row.kind, answer) in CARRIED_OUT:
        return CARRIED_OUT[row.kind, answer](at, row)
    remember_answer(paths, [row.key], "", at.run)
    return Done(at.run)


# --- of each kind ----------------------------------------------------------------------------------------------------


def _let_in(at: At, row: Waiting) -> Done:
    done = accept_all(at.workspace, _held_now(at, row), run=at.run, now=at.now)
    if done.errors:
        raise KnowledgeError.of(done.errors[0])
    return Done(done.run, done.warning)


def _drop(at: At, row: Waiting) -> Done:
    """The same from another conversation is not asked again."""
    done = drop_all(at.workspace, _held_now(at, row), run=at.run, now=at.now)
    remember_answer(at.workspace.paths, [row.key], "", at.run)
    return Done(done.run, done.warning)


def _held_now(at: At, row: Waiting) -> list[Any]:
    """The items where they stand by now: those above may have gone."""
    wanted = {item.ref.raw for item in row.of}
    items = [item for item in quarantine_list(at.workspace) if item.ref.raw in wanted]
    if not items:
        raise _changed("quarantine.md")
    return items


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


def _settle(at: At, row: Waiting, back: bool) -> Done:
    return Done(at.run, settle_missing(at.workspace, [row.of], back=back, run=at.run, now=at.now))


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


CARRIED_OUT: dict[tuple[str, str], Callable[[At, Waiting], Done]] = {
    ("held", YES): _let_in,
    ("held", NO): _drop,
    ("outdated", YES): _replace,
    ("finished", YES): _replace,
    ("alike", YES): _merge,
    ("vanished", YES): lambda at, row: _settle(at, row, True),
    ("vanished", NO): lambda at, row: _settle(at, row, False),
    ("kept-away", YES): _bring_back,
    ("stale", YES): _delete,
    ("stale", NO): _confirm,
}
"""What is not here is only remembered: it is asked no more."""
