"""How a session ended, and what its events and last words leave open: no wording says it better than a call without a
result, a merge that nobody committed, or a request that nothing answered."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from core.base.spoken import APPROVES
from core.conversations.events import (
    DONE_STATES,
    Call,
    Command,
    Commit,
    Delegation,
    Edit,
    OtherCall,
    Plan,
    Push,
    Question,
    Todos,
    call_words,
)
from core.conversations.ran import orders_tool, stopped_by, works
from core.rules import words
from core.rules.failures import ASIDE
from core.rules.prose import by_person, clean, looks_like_code
from core.rules.sentence import Found, found, lost, named
from core.rules.session import Session
from core.rules.units import LEANS, Unit, cut
from core.rules.worth import PAST, numberless, stands

LEAST_UNNAMED = 6
LONGEST_REQUEST = 240
LAST_TURNS = 3
MAX_LEFT, LEAST_LEFT = 3, 4
LATE, SHORT = 0.5, 5
"""From this share of the last message on its end begins; all of a message of so few units is one."""


# --- what is open ---

_open = partial(found, "tasks_open")


def find_unfinished(session: Session) -> Iterator[Found]:
    """What somebody has to look at again after a session: a call without a result, a merge, what was asked last."""
    yield from _in_the_middle(session)
    yield from _unmerged(session)
    if waiting := _waiting(session):
        number, text = waiting
        if text.endswith(("?", "？")):
            yield found("questions", text, number, quote=text, score=60)
        else:
            yield _open(text, number, detail="said at the end of the session, and not begun", quote=text, score=60)


def _in_the_middle(session: Session) -> Iterator[Found]:
    """A session that ends in the middle of a commit or a push."""
    if not session.end.open_call:
        return
    for at, event in session.events:
        if at == session.calls[-1][0] and isinstance(event, Commit | Push):
            what = f"the commit “{event.subject}”" if isinstance(event, Commit) else f"`{event.words}`"
            text = f"Check whether {what} went through{session.on_branch}: the session ends before its result"
            yield _open(text, at, score=60)


_MERGES = re.compile(
    r"\bgit (?P<how>merge|rebase|cherry-pick|pull)\b(?!\s+--(?:abort|continue))(?P<what>[^;&|\n]{0,80})"
)
_CONFLICT = re.compile(r"Automatic merge failed|CONFLICT \(|could not apply")


def _unmerged(session: Session) -> Iterator[Found]:
    """A merge with conflicts that no commit followed."""
    since = max((at for at, row in session.events if isinstance(row, Commit)), default=-1)
    conflict: tuple[int, re.Match[str]] | None = None
    for turn, row in session.commands:
        merged = _MERGES.search(row.words)
        if turn > since and merged and _CONFLICT.search(row.output):
            conflict = (turn, merged)
        elif re.search(r"--abort|--continue|reset --(?:hard|merge)", row.words):
            conflict = None
    if conflict:
        turn, merged = conflict
        shown = re.sub(r"\s--(?:no-\w+|\w+-only)\b|\s\d?>.*$", "", ASIDE.sub(" ", merged["what"]))
        what = " ".join(f"git {merged['how']} {shown}".split())
        text = f"Commit the conflicts of `{what}`{session.on_branch}: worked on, and not committed in the session"
        yield _open(text, turn, score=64)


# --- what was asked last ---

_TO_TOOL = re.compile(r"[/!]\S*(?:[ \t]+\S+){0,2}\Z")
"""An order to the tool itself, as `/exit`."""
_LEANING = re.compile(r"\b(?:this|that|it|these|those|them|above|same|here|me|you|your)\b", re.IGNORECASE)


def _waiting(session: Session) -> tuple[int, str] | None:
    """The user's last words when nothing was said or done about them any more: their turn, and what they are."""
    turns = session.conversation.turns
    asked = [at for at, turn in enumerate(turns) if by_person(turn)]
    number = next((at for at in reversed(asked) if not _TO_TOOL.match(turns[at].text.strip())), -1)
    row = next((row for row in session.exchanges if row.number == number), None)
    if row is None or row.replies or row.events or sum(not turn.agent for turn in turns) < LAST_TURNS:
        return None
    text = " ".join(row.text.split())
    if len(text) > LONGEST_REQUEST or words.POINTING.match(text) or APPROVES.match(text) or looks_like_code(text):
        return None
    named = words.ANCHOR.search(text) or (len(text.split()) >= LEAST_UNNAMED and not _LEANING.search(text))
    return (number, text) if named else None


_HEADING = re.compile(r"^#{1,3}\s+(?:Plan:?\s+|Implementation Plan:?\s+)?(.+?)\s*#*$", re.MULTILINE | re.IGNORECASE)


def find_plan_left(session: Session) -> Iterator[Found]:
    """The last plan, where nobody approved it and nothing was written behind it."""
    plans = [(turn, row) for turn, row in session.events if isinstance(row, Plan) and row.text.strip()]
    if not plans or plans[-1][1].approved is True or session.last_change >= plans[-1][0]:
        return
    heading = _HEADING.search(plans[-1][1].text)
    if heading and not words.GENERIC_TITLE.fullmatch(heading[1]):
        refused = " by the user's word" if plans[-1][1].approved is False else ""
        yield _open(f"Planned and not carried out{refused}: {clean(heading[1])}", plans[-1][0], score=65)


# --- what the last words leave ---


def find_left(session: Session) -> Iterator[Found]:
    """What the last closing message says is not done, open or to be watched, nothing of it doubted by the user."""
    closing = session.closings[-1] if session.closings else None
    if closing is None or not closing.at_end:
        return
    units = list(cut(closing.turn.text, closing.number, "closing"))
    left = [unit for unit in units if _is_left(unit) and (unit.share >= LATE or len(units) < SHORT)]
    for unit in left[-MAX_LEFT:]:
        yield found("tasks_open", numberless(unit.text), closing.number, quote=unit.quote, score=58)


def _is_left(unit: Unit) -> bool:
    """Whether a unit says by its words or its heading that something is left."""
    text = unit.text
    if not stands(text) or len(text.split()) < LEAST_LEFT or lost(text) or LEANS.match(text) or not named(text):
        return False
    if PAST.match(text):
        return False
    listed = unit.kind != "prose" and words.LEFT_HEADING.match(unit.heading) is not None
    return listed or words.LEFT.search(text) is not None


# --- for who goes on ---

_ONE_BY_ONE = ("taskcreate", "taskupdate")
"""Tools that make and move one step of a list at a time; any other writes the whole list."""


def steps_not_done(session: Session) -> str:
    """The open steps of the assistant's last list, in a line with how many were done; "" where there is none, or where
    words of the assistant end the session and only the last step is not ticked off: that is forgotten more often than
    it is left."""
    steps: dict[str, str] = {}
    turn = -1
    for at, row in session.events:
        if isinstance(row, Todos) and row.items:
            steps = {**(steps if row.tool.lower() in _ONE_BY_ONE else {}), **dict(row.items)}
            turn = at
    steps = {text: state for text, state in steps.items() if state.lower() != "deleted"}
    left = {text: state for text, state in steps.items() if state.lower() not in DONE_STATES}
    ended = ends_with_words(session) and session.closings[-1].number > turn
    if not left or (ended and list(left) == list(steps)[-1:]):
        return ""
    shown = "; ".join(f"“{clean(text)}”{f' ({state})' if 'progress' in state else ''}" for text, state in left.items())
    return f"not ticked off on the assistant's list of steps ({len(steps) - len(left)} of {len(steps)} are): {shown}"


def ends_with_words(session: Session) -> bool:
    """Whether the assistant's words are the last that happened: nobody spoke and nothing ran behind them."""
    turns, closing = session.conversation.turns, session.closings[-1] if session.closings else None
    if closing is None or stopped_by(turns) or _last_call(session) is not None:
        return False
    return not any(by_person(turn) and not orders_tool(turn.text) for turn in turns[closing.number :])


def _last_call(session: Session) -> tuple[int, Call] | None:
    """The last call with its turn, None where words of the assistant stand behind it. What aider writes below an answer
    is what became of that answer."""
    if not session.end.silent or session.conversation.format == "aider":
        return None
    return next((row for row in reversed(session.calls) if works(row[1])), None)


def breaks_off(session: Session) -> str:
    """The work behind which a session ends without a word of the assistant; "" for any other end."""
    asked = max((at for at, turn in enumerate(session.conversation.turns) if by_person(turn)), default=-1)
    last = _last_call(session)
    if last is None or last[0] < asked or isinstance(last[1], Question):
        return ""
    at, row = last
    path = getattr(row, "path", "").removeprefix(f"{session.conversation.folder}/")
    what = (
        f"the edit of `{path}`" if isinstance(row, Edit) else f"`{' '.join(call_words(row).split())[:80] or row.tool}`"
    )
    return f"breaks off at work: behind {what} (turn {at + 1}) the assistant said nothing more"


def edits_not_made(session: Session) -> Iterator[tuple[int, str, str]]:
    """The last edit of a file (its turn, the path, the first line of what came back) that failed, and that no later
    one, no command line and no helper made up for."""
    newest = {path: (at, row) for at, row in session.events if isinstance(row, Edit) for path in row.path.split(", ")}
    helped = max((at for at, row in session.events if isinstance(row, Delegation)), default=-1)
    for path, (at, row) in newest.items():
        name = re.split(r"[\\/]", path)[-1]
        later = helped > at or any(one > at and name in command.words for one, command in session.commands)
        made = any(one > at and _is_same(path, other) for one, edit in session.edits for other in edit.path.split(", "))
        if path and row.failed and not row.refused and not later and not made:
            yield (
                at,
                path,
                row.output.replace("<tool_use_error>", "").strip().split("\n")[0].split("</tool_use_error")[0],
            )


def _is_same(path: str, other: str) -> bool:
    """Whether two paths name one file, as far as they tell: one may be from the folder of the work on."""
    long, short = (f"/{one.removeprefix('./')}" for one in sorted((path, other), key=len, reverse=True))
    return long.endswith(short)


def plan_not_begun(session: Session) -> int:
    """The turn of a plan that the user approved and behind which nothing was written or run; -1 for none."""
    at = max((at for at, row in session.events if isinstance(row, Plan) and row.approved), default=-1)
    later = any(one > at for one, row in session.events if isinstance(row, Edit | Command | Delegation | OtherCall))
    return -1 if later else at
