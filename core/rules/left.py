"""What the last words of a session leave open: items below such a heading, and sentences that say so; that a
repository is asked once to commit what lies there; and the line of the rules for what a model found left there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from core.base.markdown import CONFLICTS_LEFT, NOT_COMMITTED
from core.conversations.events import Commit
from core.rules import words
from core.rules.end import MAX_FILES_LISTED, left_in_git
from core.rules.sentence import Found, found, lost, named
from core.rules.session import Session
from core.rules.units import LEANS, Unit, cut
from core.rules.worth import PAST, numberless, stands

MAX_LEFT, LEAST_WORDS = 3, 4
LATE, SHORT = 0.5, 5
"""From this share of the last message on its end begins; all of a message of so few units is one."""
_ADVICE = re.compile(
    r"^(?:(?:note|tip|consider|optional\w*|maybe|you (?:can|may|might|could)|feel free|if you)\b|none\b|"
    r"no \w+ (?:found|left)|(?:the|this) (?:fix|change)\w*|fixed)\b|"
    r"\b(?:unchanged|untouched|left (?:alone|as[- ]is))\b",
    re.IGNORECASE,
)


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
    if not stands(text) or len(text.split()) < LEAST_WORDS or lost(text) or LEANS.match(text) or not named(text):
        return False
    if PAST.match(text) or _ADVICE.search(text):
        return False
    listed = unit.kind != "prose" and words.LEFT_HEADING.match(unit.heading) is not None
    return listed or words.LEFT.search(text) is not None


# --- commits ---

_TO_COMMIT = re.compile(r"Commit `|Finish `git ")


def to_commit(tasks: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    """The tasks that ask to commit what a session changed."""
    return [task for task in tasks if _TO_COMMIT.match(task["statement"])]


_FILES = re.compile(rf"Commit ((?:`[^`]+`(?:, )?)+).*: {NOT_COMMITTED}", re.DOTALL)


def files_to_commit(task: str) -> list[str]:
    """The names of the files in such a task, without their folders; [] for any other, and where it may not name all."""
    found = _FILES.fullmatch(task)
    names = [name.rpartition("/")[2] for name in re.findall("`([^`]+)`", found[1])] if found else []
    return names if len(names) < MAX_FILES_LISTED else []


def made_commit(session: Session) -> bool:
    """Whether something was committed in a session."""
    return any(isinstance(row, Commit) and row.succeeded for _, row in session.events)


MAX_COMMITTED = 20
"""So many commits of a project are remembered: the harvest of one may be undone."""


def commits_once(
    session: Session, told: Sequence[dict[str, str]], waiting: Sequence[dict[str, Any]], name: str
) -> tuple[Sequence[dict[str, str]], list[dict[str, Any]]]:
    """Of what asks to commit, what an earlier session of the project asks for already, and what waits from now on:
    until something is committed, which is a row of its own, a repository is asked once."""
    rows, committed = list(waiting), made_commit(session)
    row = {"session": name, "words": [], "statement": "", "time": ""}
    if committed:
        before = next((old for old in rows if old.get("committed") and old.get("session") == name), {})
        rows = [*(old for old in rows if old is not before), {**row, **before, "committed": True}]
    commits = [at for at, one in enumerate(rows) if one.get("committed")]
    outdated = commits[-MAX_COMMITTED - 1] if len(commits) > MAX_COMMITTED else -1
    rows = [one for at, one in enumerate(rows) if at > outdated or not (one.get("commit") or one.get("committed"))]
    since = 1 + max((at for at, old in enumerate(rows) if old.get("committed")), default=-1)
    asked = [old.get("session") for old in rows[since:] if old.get("commit")]
    again = told if not committed and any(one != name for one in asked) else ()
    if told and not again and name not in asked:
        rows.append({**row, "commit": True})
    return again, rows


# --- what git's events show ---

_ON_BRANCH = r"(?: on branch [\w./+-]{1,80})?"
_PLAIN = re.compile(
    rf"Commit `[\w.+@-]{{1,60}}`(?:, `[\w.+@-]{{1,60}}`)*{_ON_BRANCH}: {NOT_COMMITTED}|"
    rf"Finish `git [a-z-]+(?: [\w./+@~^-]{{1,80}})?`{_ON_BRANCH}: {CONFLICTS_LEFT}"
)
"""The rules' lines of git, where each name in them is a plain one: a page may have chosen it, and a name of several
words, or with signs of the shell, says something."""
_UNDONE = re.compile(
    r"\b(?:(?:is|are|was|were|has|have) )?not (?:yet )?(?:been )?(?:committed|staged)\b(?: yet)?|"
    r"\b(?:changed and not committed )?when the session ended\b"
)
_TELLING = re.compile(
    r"an?|and|are|at|branch|but|changed?|changes|commit|edited|files?|has|have|in|is|its?|local(?:ly)?|new|of|on|only|"
    r"still|staged|that|the|this|to|uncommitted|unstaged|untracked|was|were|which|with"
)
"""By these a task tells that something is not committed; none of them says what else is to be done."""
_TOKEN = re.compile(r"[^\s`'\"“”‘’,;:()—–]+")


def line_of_git(task: str, session: Session) -> str:
    """The rules' line for a task that says what the events show as not committed: that line itself, or what a model
    says of it; "" for any other. Each word of a model's task must name one of the files, the branch or the project, or
    be one of `_TELLING`. It stands nowhere itself: whatever a page or a tool made the model say, these words are the
    rules' own."""
    line = next((row.fields["statement"] for row in left_in_git(session)), "")
    if not _PLAIN.fullmatch(line):
        return ""
    said = [word.rstrip(".!?") for word in _TOKEN.findall(_UNDONE.sub(" ", task.casefold()))]
    named = {one for one in said if one and not _TELLING.fullmatch(one)}
    named -= {session.conversation.branch.casefold(), session.project.casefold()}
    files = {name.casefold() for name in session.end.files}
    same = named and said[0] == "commit" and all(re.split(r"[\\/]", one)[-1] in files for one in named)
    return line if same or task == line else ""
