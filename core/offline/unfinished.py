"""What a session leaves unfinished, as its events tell: calls without a result, conflicts, commits nobody pushed."""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.conversations.events import Call, Command, Commit, Edit, PullRequest, Push
from core.offline.closing import BRANCH, MAIN, commits_of
from core.offline.sessions import ASIDE, Session
from core.offline.statements import Found
from core.offline.substance import BY_TOOL, COMMITS


def find_unfinished(session: Session) -> Iterator[Found]:
    """What somebody has to look at again after a session."""
    yield from _begun(session)
    yield from _unmerged(session)
    yield from _unpushed(session)


# --- what ends without a result ---


def _begun(session: Session) -> Iterator[Found]:
    """A session that ends in the middle of a commit or push leaves it open."""
    calls = [(turn, row) for turn, row in session.events if isinstance(row, Call)]
    if not session.paired or not calls:
        return
    turn, last = calls[-1]
    if isinstance(last, Edit) and not last.answered and last.path:
        yield from _broken_off(session, turn, last)
    if not isinstance(last, Command) or last.answered or turn < len(session.conversation.turns) - 2:
        return
    where = f" on branch {session.conversation.branch}" if session.conversation.branch else ""
    for row in (row for at, row in session.events if at == turn and isinstance(row, Commit | Push)):
        what = f"the commit “{row.subject}”" if isinstance(row, Commit) else f"`{row.words}`"
        text = f"Check whether {what} went through{where}: the session ends before its result"
        yield Found("tasks_open", {"statement": text, "detail": "", "quote": ""}, 60, turn)


LEAST_EDITS = 3


def _broken_off(session: Session, turn: int, last: Edit) -> Iterator[Found]:
    """Work that the session breaks off in the middle of: the file it was at, and those it had written."""
    edits = [row for _, row in session.events if isinstance(row, Edit) and row.path and row.answered]
    if len(edits) < LEAST_EDITS or turn < len(session.conversation.turns) - 2:
        return
    names = list(dict.fromkeys(name for row in edits if row.how != "deleted" for name in row.names))
    shown = ", ".join(f"`{name}`" for name in names[:MAX_FILES_LISTED])
    text = f"Check `{last.path}` and go on: the session breaks off while it is written, after changes of {shown}"
    yield Found("tasks_open", {"statement": text, "detail": "", "quote": ""}, 60, turn)


_MERGES = re.compile(
    r"\bgit (?P<how>merge|rebase|cherry-pick|pull)\b(?!\s+--(?:abort|continue))(?P<what>[^;&|\n]{0,80})"
)
_CONFLICT = re.compile(r"Automatic merge failed|CONFLICT \(|could not apply")
MAX_FILES_LISTED = 4


def _unmerged(session: Session) -> Iterator[Found]:
    """A merge with conflicts that no commit followed."""
    ended = [at for at, (_, row) in enumerate(session.events) if isinstance(row, Commit)]
    since = ended[-1] + 1 if ended else 0
    rest = session.events[since:]
    where = f" on branch {session.conversation.branch}" if session.conversation.branch else ""
    conflict: tuple[int, re.Match[str]] | None = None
    for turn, row in rest:
        if not isinstance(row, Command):
            continue
        merged = _MERGES.search(row.words)
        if merged and _CONFLICT.search(row.output):
            conflict = (turn, merged)
        elif "--abort" in row.words or "reset --hard" in row.words or "reset --merge" in row.words:
            conflict = None
    if conflict:
        turn, merged = conflict
        shown = re.sub(r"\s--(?:no-\w+|\w+-only)\b|\s\d?>.*$", "", ASIDE.sub(" ", merged["what"]))
        what = " ".join(f"git {merged['how']} {shown}".split())
        text = f"Commit the conflicts of `{what}`{where}: they were worked on, and not committed in the session"
        yield Found("tasks_open", {"statement": text, "detail": "", "quote": ""}, 64, turn)


# --- what was not pushed ---

_OF_PUSH = re.compile(
    r"\b(?:push|pull request|PR|merge request|MR|pousse[rz]?|sube|subir|hochladen)\b|推送|プッシュ|푸시", re.IGNORECASE
)


def _unpushed(session: Session) -> Iterator[Found]:
    """Commits that were ordered in a session and never pushed in it."""
    called = {row.start: row.output for row in session.commands if COMMITS.search(row.words)}
    made = [row for _, row in commits_of(session) if row.start in called and not BY_TOOL.match(row.subject)]
    sent = any(isinstance(row, Push | PullRequest) for _, row in session.events)
    on = [found["branch"] for row in made if (found := BRANCH.search(called[row.start]))]
    if not session.paired or sent or not on or on[-1] in MAIN:
        return
    if not any(_OF_PUSH.search(turn.text) for turn in session.conversation.turns if turn.role == "user"):
        return  # nobody asked for it
    turn = max(turn for turn, row in session.events if row is made[-1])
    text = f"Push branch {on[-1]}: “{made[-1].subject}” was committed and not pushed in the session"
    yield Found("tasks_open", {"statement": text, "detail": "", "quote": ""}, 56, turn)
