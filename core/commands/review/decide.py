"""`knowledge review`: what waits, answered one by one, by ids or by kind. What a yes, a no or a later does is carried
out by the command that always did it; the rows of the command stand at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import groupby
from typing import Any, NamedTuple

from core.base.entry import statement_key
from core.base.markdown import parse_bullets
from core.base.result import ErrorInfo, KnowledgeError
from core.commands.bullets import change_all
from core.commands.facts import confirm_fact, delete_fact
from core.commands.quarantine import HeldItem, accept_all, drop_all, quarantine_list
from core.commands.review.waiting import KINDS, Waiting, of_project, replace_old, settle_missing, waiting
from core.commands.row import Argument, Ask, flag, group, listed, nobody, option, single
from core.commands.statements import Found, LineChange, bullets_of, refresh_digest
from core.commands.text import collected, count, one_line
from core.commands.workspace import Clock, Workspace, utc_now
from core.knowledge.alike import Placed
from core.knowledge.answers import remember_answer
from core.knowledge.bullet_text import LOOK_AGAIN
from core.knowledge.categories import CATEGORY, read_text
from core.knowledge.changes import read_changes
from core.knowledge.edit import Edited, add_lines, bring_back, new_edit_run, section_of

YES, NO, LATER = "yes", "no", "later"
ANSWERS = (YES, NO, LATER)
LATER_DAYS = 7
"""The days after which what was answered with later is asked again."""


@dataclass(frozen=True)
class Decision:
    """One answer, and what came of it. `run` takes it back."""

    waiting: Waiting
    answer: str
    run: str
    warning: str = ""

    def to_json(self) -> dict[str, Any]:
        row = {"id": self.waiting.id, "kind": self.waiting.kind, "text": self.waiting.text, "answer": self.answer}
        return {**row, "run": self.run, "warning": self.warning or None}


@dataclass(frozen=True)
class Decided:
    """What was answered; `errors` are about those that wait still."""

    rows: tuple[Decision, ...] = ()
    errors: list[ErrorInfo] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
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
        with collected(errors):
            run, warning, wrong, left = _carried_out(at, batch, answer)
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
    until = (at.now() + timedelta(days=LATER_DAYS)).date().isoformat() if answer == LATER else ""
    return _remembered(at, rows, until)


def _remembered(at: At, rows: Rows, until: str = "") -> Done:
    remember_answer(at.workspace.paths, [row.key for row in rows], until, at.run)
    return Done(at.run)


def _done(made: Edited) -> Done:
    return Done(made.run, made.warning)


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
        raise _changed("quarantine.md", rows[0].text)
    return items


def _settle(at: At, rows: Rows, back: bool) -> Done:
    missing = [row.of for row in rows]
    return Done(at.run, settle_missing(at.workspace, missing, back=back, run=at.run, now=at.now))


def _replace(at: At, row: Waiting) -> Done:
    pair = row.of
    new = pair.new if pair.new is pair.old else _placed_now(at, pair.new)
    old = _placed_now(at, pair.old)
    return _done(replace_old(at.workspace, old, new, pair.act, run=at.run, now=at.now))


def _merge(at: At, row: Waiting) -> Done:
    old, new = (_placed_now(at, place) for place in row.of)
    return _done(replace_old(at.workspace, old, new, run=at.run, now=at.now))


def _placed_now(at: At, place: Placed) -> Placed:
    """A statement with its lines where they stand by now: an answer before this one may have moved them."""
    found = parse_bullets(read_text(at.workspace.paths.knowledge / place.file))
    now = {bullet.raw: bullet for bullet in found}
    statement = place.statement
    if any(bullet.raw not in now for bullet in (statement.bullet, *statement.others)):
        raise _changed(place.file, statement.bullet.text)
    others = tuple(now[bullet.raw] for bullet in statement.others)
    return replace(place, statement=replace(statement, bullet=now[statement.bullet.raw], others=others))


def _changed(file: str, text: str) -> KnowledgeError:
    message = f"this line has changed since, or an answer before took it, and was left as it is: {one_line(text)[:80]}"
    return KnowledgeError("changed-outside", message, file, LOOK_AGAIN)


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
        change_all(at.workspace, LineChange("unstrike", refs, run=at.run), now=at.now)
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
    ("stale", YES): lambda at, row: _done(delete_fact(at.workspace, row.of.id, now=at.now)),
    ("stale", NO): lambda at, row: _done(confirm_fact(at.workspace, row.of.id, now=at.now)),
}
"""What stands in neither is only remembered: it is asked no more."""


SHOWN = 5000
"""At most this much of one text is printed: a playbook that is somewhat too long in whole, a flood not."""
CHOICES = (*ANSWERS, "quit")


@dataclass(frozen=True)
class Queue:
    """What waits."""

    rows: tuple[Waiting, ...]

    def to_json(self) -> dict[str, Any]:
        counts = {kind: sum(row.kind == kind for row in self.rows) for kind in KINDS}
        return {"counts": counts, "waiting": self.rows}


def review(
    workspace: Workspace, *, kind: str = "", project: str = "", ask: Ask = nobody, now: Clock = utc_now
) -> Queue | Decided:
    """`knowledge review`: what waits, of one `kind`, of the `project` of a folder. On a terminal each is asked about;
    whoever names a kind is also shown what is not asked else."""
    rows = waiting(workspace, [kind] if kind else (), everything=bool(kind), now=now)
    rows = of_project(workspace, rows, project) if project else rows
    decided = Decided()
    for at, row in enumerate(rows, start=1):
        shown = f"\n{at} of {len(rows)}, {row.kind}: {row.why}\n{_body(row)}\nyes: {row.yes}; no: {row.no}"
        try:
            chosen = ask(shown, "Your answer?", CHOICES, len(CHOICES) - 1)
        except KeyboardInterrupt:  # what was answered is done, and is told
            break
        if chosen is None:
            return Queue(tuple(rows))
        if CHOICES[chosen] == "quit":
            break
        one = decide(workspace, [row], CHOICES[chosen], now=now)
        decided = Decided((*decided.rows, *one.rows), [*decided.errors, *one.errors])
    return decided if rows else Queue(())


def answer_ids(workspace: Workspace, ids: Sequence[str], *, answer: str, now: Clock = utc_now) -> Decided:
    """`knowledge review yes|no|later ID…`. Nothing is done when one of them names nothing that waits."""
    wanted, found = list(dict.fromkeys(ids)), dict[str, Waiting]()
    for kinds, everything in (*(((kind,), False) for kind in KINDS), (("vanished",), True)):
        if len(found) < len(wanted):
            rows = waiting(workspace, kinds, everything=everything, now=now)
            found |= {row.id: row for row in rows if row.id in wanted and row.id not in found}
    wrong = [name for name in wanted if name not in found]
    if wrong:
        message = f"nothing that waits has the id {' or '.join(wrong)}; an id changes with the words of its line"
        raise KnowledgeError("no-match", message, hint="'knowledge review' shows the ids as they are now")
    return decide(workspace, [found[name] for name in wanted], answer, now=now)


def answer_all(
    workspace: Workspace,
    kind: str,
    *,
    yes: bool = False,
    no: bool = False,
    later: bool = False,
    project: str = "",
) -> Decided:
    """`knowledge review all KIND --yes`, `--no` or `--later`."""
    chosen = [answer for answer, given in ((YES, yes), (NO, no), (LATER, later)) if given]
    if len(chosen) != 1:
        raise KnowledgeError("usage", "give one of --yes, --no and --later")
    rows = waiting(workspace, [kind])
    return decide(workspace, of_project(workspace, rows, project) if project else rows, chosen[0])


# --- how it reads ----------------------------------------------------------------------------------------------------


def review_text(value: Queue | Decided) -> str:
    """The queue by kind, each behind its id, or what was decided."""
    if isinstance(value, Decided):
        return decided_text(value)
    if not value.rows:
        return "nothing waits\n"
    lines: list[str] = []
    for (kind, yes, no), of_kind in groupby(value.rows, key=lambda row: (row.kind, row.yes, row.no)):
        rows = list(of_kind)
        head = f"{kind} ({len(rows)}); yes: {yes}; no: {no}"
        lines += ["", head] if lines else [head]
        for row in rows:
            lines += [f"{row.id}  {row.why}", *(f"         {line}" for line in _body(row).split("\n"))]
    how = "'knowledge review yes ID', 'no ID' or 'later ID' answers, 'knowledge review all KIND --yes' for a whole kind"
    return "\n".join([*lines, "", f"{count(len(value.rows), 'item')} waiting; {how}"]) + "\n"


def _body(row: Waiting) -> str:
    came = ", ".join(filter(None, (row.source, row.day, row.project)))
    lines = [*(line.removeprefix("- ") for line in row.lines)] or [f"{row.text}{f' ({came})' if came else ''}"]
    lines += [f"-> {row.other}"] if row.other else []
    lines += [f'quote: "{row.quote}"'] if row.quote else []
    return "\n".join(
        line if len(line) <= SHOWN else f"{line[:SHOWN]}… ({len(line):,} characters in all)" for line in lines
    )


def decided_text(value: Decided) -> str:
    """Each answer, and how it is taken back."""
    lines = []
    for row in value.rows:
        did = {YES: row.waiting.yes, NO: row.waiting.no}.get(row.answer, f"asked again in {LATER_DAYS} days")
        lines.append(f"{row.answer} ({did}): {row.waiting.text[:SHOWN]}")
    lines += [f"'knowledge undo {run}' takes this back" for run in dict.fromkeys(row.run for row in value.rows)]
    lines += [f"note: {note}" for note in dict.fromkeys(row.warning for row in value.rows) if note]
    return "\n".join(lines or ["nothing was decided"]) + "\n"


_KIND = option("--kind", listed(KINDS), "KIND", choices=KINDS)
_PROJECT = option("--project", "only what is of this project, or the user's in any; or 'all'", "PROJECT")
_IDS = Argument(("ids",), "the ids that 'knowledge review' shows", {"nargs": "+", "metavar": "ID"})


def _answer(answer: str, words: str) -> Any:
    return single(answer, words, "ukqmzrt", answer_ids, decided_text, _IDS, given={"answer": answer})


COMMANDS = (
    group("review", "--kind held",
        single("list", "what waits, and why; on a terminal one by one", "", review, review_text, _KIND, _PROJECT,
               asks=True),
        _answer(YES, "let in, strike the outdated one, put back, bring back, delete the stale one"),
        _answer(NO, "drop, keep both, gone on purpose, stays away, still holds; it is not asked again"),
        _answer(LATER, f"ask again in {LATER_DAYS} days"),
        single(
            "all",
            "answer everything of one kind",
            "held --yes",
            answer_all,
            decided_text,
            Argument(("kind",), listed(KINDS), {"choices": KINDS, "metavar": "KIND"}),
            flag("--yes", "yes to all"),
            flag("--no", "no to all"),
            flag("--later", "later to all"),
            _PROJECT
        ),
    ),
)  # fmt: skip
