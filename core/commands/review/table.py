"""`knowledge review`: what waits, answered one by one, by ids or by kind; its row, and how it reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from core.base.result import KnowledgeError
from core.commands.daily.connect import Ask, nobody
from core.commands.review.decide import ANSWERS, LATER, LATER_DAYS, NO, YES, Decided, decide
from core.commands.review.waiting import KINDS, Waiting, of_project, waiting
from core.commands.row import Argument, flag, group, listed, option, single
from core.commands.text import count
from core.commands.workspace import Clock, Workspace, utc_now

SHOWN = 5000
"""At most this much of one text is printed: a playbook that is somewhat too long in whole, a flood not."""
CHOICES = (*ANSWERS, "quit")


@dataclass(frozen=True)
class Queue:
    """What waits."""

    rows: tuple[Waiting, ...]

    def to_json(self) -> dict[str, Any]:
        """The document of `knowledge review --json`."""
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
        chosen = ask(shown, "Your answer?", CHOICES, len(CHOICES) - 1)
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
    now: Clock = utc_now,
) -> Decided:
    """`knowledge review all KIND --yes`, `--no` or `--later`."""
    chosen = [answer for answer, given in ((YES, yes), (NO, no), (LATER, later)) if given]
    if len(chosen) != 1:
        raise KnowledgeError("usage", "give one of --yes, --no and --later")
    rows = waiting(workspace, [kind], now=now)
    return decide(workspace, of_project(workspace, rows, project) if project else rows, chosen[0], now=now)


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
        lines += [*[""] * bool(lines), f"{kind} ({len(rows)}); yes: {yes}; no: {no}"]
        for row in rows:
            lines += [f"{row.id}  {row.why}", *(f"         {line}" for line in _body(row).split("\n"))]
    how = "'knowledge review yes ID', 'no ID' or 'later ID' answers, 'knowledge review all KIND --yes' for a whole kind"
    return "\n".join([*lines, "", f"{count(len(value.rows), 'item')} waiting; {how}"]) + "\n"


def _body(row: Waiting) -> str:
    came = ", ".join(filter(None, (row.source, row.day, row.project)))
    lines = [*(line.removeprefix("- ") for line in row.lines)] or [f"{row.text}{f' ({came})' if came else ''}"]
    lines += [f"-> {row.other}"] * bool(row.other) + [f'quote: "{row.quote}"'] * bool(row.quote)
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
_PROJECT = option("--project", "only what is of the project of this folder, or the user's in any", "DIR")
_IDS = Argument(("ids",), "the ids that 'knowledge review' shows", {"nargs": "+", "metavar": "ID"})


def _answer(answer: str, words: str) -> Any:
    return single(answer, words, "ukqmzrt", answer_ids, decided_text, _IDS, given={"answer": answer})


COMMANDS = (
    group("review", "", "--kind held",
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
