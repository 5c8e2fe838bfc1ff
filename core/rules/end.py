"""How a session ended, and what its events leave open: no wording says it better than a call without a result, a file
that nobody committed, or a request that nothing answered."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from core.base.markdown import CONFLICTS_LEFT, NO_RESULT, NOT_COMMITTED
from core.conversations.conversation import Turn
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
from core.rules.prose import Sentence, by_person, clean, sentences
from core.rules.sentence import Found, found, is_latin, stems
from core.rules.session import Exchange, Session, rows_of

MAX_FILES_LISTED = 4
LEAST_FILES = 2
LEAST_UNNAMED = 6
LONGEST_REQUEST = 240
LAST_TURNS = 3
MAX_STEPS_LEFT = 3


# --- what is open ---

_open = partial(found, "tasks_open")


def find_unfinished(session: Session) -> Iterator[Found]:
    """What somebody has to look at again after a session: a call without a result, a merge, files and commits that
    nobody sent, what was asked last."""
    yield from _in_the_middle(session)
    yield from left_in_git(session)
    waiting = _waiting(session)
    if waiting:
        number, text, asks, quote = waiting
        stopped = stopped_by([turn for turn in session.conversation.turns if not turn.agent])
        if asks:
            yield found("questions", text, number, quote=quote, score=60)
        else:
            detail = f"ordered at the end of the session, which was {stopped}" if stopped else ""
            detail = detail or "ordered at the end of the session and not begun"
            yield _open(text, number, detail=detail, quote=quote, score=60)


def left_in_git(session: Session) -> Iterator[Found]:
    """The merge or the files that nobody committed, whatever anybody said."""
    conflicts = list(_unmerged(session))
    yield from conflicts or _unsent(session)


def _in_the_middle(session: Session) -> Iterator[Found]:
    """A session that ends in the middle of a commit or a push."""
    if not session.end.open_call:
        return
    for at, event in session.events:
        if at == session.calls[-1][0] and isinstance(event, Commit | Push):
            what = f"the commit “{event.subject}”" if isinstance(event, Commit) else f"`{event.words}`"
            text = f"Check whether {what} went through{session.on_branch}: {NO_RESULT}"
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
        text = f"Finish `{what}`{session.on_branch}: {CONFLICTS_LEFT}"
        yield _open(text, turn, score=64)


_OF_COMMIT = re.compile(r"\bcommit(?!ted)\b|\bcheck (?:it|this) in\b|提交|コミット|커밋", re.IGNORECASE)
_SENT = re.compile(
    r"\b(?<!not )(?<!un)(?:is|are|was|were|been|I(?:['’]ve| have)?|and) (?:now )?(?:committed|pushed)\b", re.I
)
_NOT_TO = re.compile(r"\b(?:don'?t|do not|never|without|no need to|I'?ll|I will|nicht|pas|no)\b", re.IGNORECASE)
_STATUS = re.compile(r"\bgit(?:\s+-[cC]\s+\S+)*\s+(?:status|diff --(?:stat|name-only|name-status))\b")
_DIRTY = re.compile(
    r"^\s*(?:modified|new file|deleted|renamed):|^(?:Changes (?:not staged|to be committed))|"
    r"^\s?[MADRC]{1,2} +\S|\|\s+\d+ [+-]",
    re.MULTILINE,
)


def _unsent(session: Session) -> Iterator[Found]:
    """Work that git showed as not committed at the end, or that the user wanted committed and that was not."""
    end = session.end
    wanted = next((row.text for row in reversed(session.exchanges) if _OF_COMMIT.search(row.text)), "")
    commits = [at for at, row in session.events if isinstance(row, Commit)]
    behind = [row for at, row in session.commands if at > session.last_change >= 0]
    shown_by_git = [row.output for row in behind if _STATUS.search(row.words) and row.answered]
    dirty = bool(shown_by_git) and _DIRTY.search(shown_by_git[-1]) is not None
    closing = session.closings[-1] if session.closings else None
    last = closing.turn.text.rstrip().rsplit("\n", 1)[-1] if closing and closing.at_end else ""
    offered = last.endswith(("?", "？")) and _OF_COMMIT.search(last) is not None
    if closing and closing.at_end and _SENT.search(closing.turn.text):
        return  # the closing message says that it was, by a way that no event shows
    wants = dirty or offered or _OF_COMMIT.search(wanted)
    if not wants or _NOT_TO.search(wanted) or any(at >= session.last_change for at in commits):
        return
    if session.paired and len(end.files) >= LEAST_FILES:  # of a single one `git status` tells enough
        shown = ", ".join(f"`{name}`" for name in end.files[:MAX_FILES_LISTED])
        text = f"Commit {shown}{session.on_branch}: {NOT_COMMITTED}"
        yield _open(text, session.last_change, score=57)


# --- what was asked last ---

_TO_TOOL = re.compile(r"[/!]\S*(?:[ \t]+\S+){0,2}\Z")
"""An order to the tool itself, as `/exit`."""
_ORDERS = re.compile(
    r"^(?:(?:ok(?:ay)?|yes|now|then|and|also|next|so|please|can you|could you|would you|bitte|kannst du|"
    r"s'il te plaît|por favor|请|帮我)[,，.!]?\s*)*"
    r"(?=(?:add|run|set|create|update|write|fix|deploy|test|verify|migrate|configure|implement|remove|replace|rename|"
    r"move|document|enable|disable|delete|install|upgrade|in the|build|make|change|refactor|convert|extract)\b|"
    r"[^\x00-\x7f])",
    re.IGNORECASE,
)
"""What stands in front of the work in an order, and that it is one."""
_LEANING = re.compile(r"\b(?:this|that|it|these|those|them|above|same|here|me|you|your)\b", re.IGNORECASE)


def _waiting(session: Session) -> tuple[int, str, bool, str] | None:
    """The user's last request when nothing was done about it any more: its turn, what it wants, whether it is a
    question, and its words."""
    turns = session.conversation.turns
    asked = [at for at, turn in enumerate(turns) if by_person(turn)]
    number = next((at for at in reversed(asked) if not _TO_TOOL.match(turns[at].text.strip())), -1)
    row = next((row for row in session.exchanges if row.number == number), None)
    if row is None or row.replies or row.events or sum(not turn.agent for turn in turns) < LAST_TURNS:
        return None
    if any(turn.role == "tool" and turn.events for turn in turns[number:]):
        return None
    text = " ".join(row.text.split())
    if not (15 if is_latin(text) else 8) <= len(text) <= LONGEST_REQUEST or words.POINTING.match(text):
        return None
    if text.endswith(("?", "？")):
        return (number, text, True, text) if _names_work(text) else None
    ordered = [(_ORDERS.sub("", part.text), part.text) for part in _sentences(row) if _ORDERS.match(part.text)]
    work, quote = next((one for one in ordered if _names_work(one[0])), ("", ""))
    return (number, work, False, quote) if work else None


def _names_work(text: str) -> bool:
    return bool(words.ANCHOR.search(text)) or (len(text.split()) >= LEAST_UNNAMED and not _LEANING.search(text))


def _sentences(row: Exchange) -> Iterator[Sentence]:
    for part in rows_of(Turn("user", row.text), row.number):
        yield from sentences(part)


_ALL_DONE = re.compile(r"\b(?:all|everything|complete[d]?|done|finished|implemented)\b|完成|完了|완료", re.IGNORECASE)


def find_steps_left(session: Session) -> Iterator[Found]:
    """The steps of the assistant's own list that were not ticked off when the session ended, where others were and no
    closing message behind it says that all is done."""
    lists = [(turn, row.items) for turn, row in session.events if isinstance(row, Todos) and len(row.items) > 1]
    if not lists:
        return
    turn, items = lists[-1]
    left = [text for text, state in items if state.lower() not in DONE_STATES]
    behind = [row for row in session.closings if row.number > turn]
    if not left or len(left) == len(items) or any(_ALL_DONE.search(row.turn.text[:1000]) for row in behind):
        return
    done_since = " ".join(row.words for at, row in session.commands if at > turn)
    left = [text for text in left if not (stems(text) & stems(done_since)) and words.NOT_MEANT.search(text) is None]
    for text in left[-MAX_STEPS_LEFT:]:
        if len(text.split()) >= LEAST_UNNAMED - 2 or not is_latin(text):
            detail = f"left on the list of steps{f' of “{session.subject}”' if session.subject else ''}"
            yield _open(text, turn, detail=detail, score=54)


_HEADING = re.compile(r"^#{1,3}\s+(?:Plan:?\s+|Implementation Plan:?\s+)?(.+?)\s*#*$", re.MULTILINE | re.IGNORECASE)


def find_plan_left(session: Session) -> Iterator[Found]:
    """The last plan, where nobody approved it and nothing was written behind it."""
    plans = [(turn, row) for turn, row in session.events if isinstance(row, Plan) and row.text.strip()]
    if not plans or plans[-1][1].approved is True or session.last_change >= plans[-1][0]:
        return
    heading = _HEADING.search(plans[-1][1].text)
    if heading and not words.GENERIC_TITLE.fullmatch(heading[1]):
        why = words.first_sentence(words.section(plans[-1][1].text, words.CONTEXT)[1])
        refused = " by the user's word" if plans[-1][1].approved is False else ""
        said = f"Planned and not carried out{refused}: {clean(heading[1])}"
        yield _open(said, plans[-1][0], detail=why, score=65)


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
    folder = session.conversation.folder
    path = getattr(row, "path", "").removeprefix(f"{folder}/" if folder else "")
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
            why = row.output.replace("<tool_use_error>", "").strip().split("\n")[0]
            yield at, path, why.split("</tool_use_error")[0]


def _is_same(path: str, other: str) -> bool:
    """Whether two paths name one file, as far as they tell: one may be from the folder of the work on."""
    long, short = (f"/{one.removeprefix('./')}" for one in sorted((path, other), key=len, reverse=True))
    return long.endswith(short)


def plan_not_begun(session: Session) -> int:
    """The turn of a plan that the user approved and behind which nothing was written or run; -1 for none."""
    at = max((at for at, row in session.events if isinstance(row, Plan) and row.approved), default=-1)
    later = any(one > at for one, row in session.events if isinstance(row, Edit | Command | Delegation | OtherCall))
    return -1 if later else at
