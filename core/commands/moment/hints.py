"""`knowledge hints`: what was handed to agents without being asked, why, and how it went; and the row of `knowledge
hint`, which a tool's hook runs.

How it went is read out of the transcript after a session: a command that was recommended was run and passed (followed),
was run and failed (contradicted), or was not run (ignored); of another line, whether somebody said that it holds no
more (contradicted), or its own words came up in what the agent said or did then.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from core.base import files
from core.base.choices import HINT_EVENTS, SPOKEN_ROLES
from core.base.command_line import command_key, is_told
from core.base.result import KnowledgeError
from core.commands.row import NAMED, OURS, listed, needed, option, top, whole_number
from core.commands.settings import config_set
from core.commands.text import count, one_line
from core.commands.workspace import Workspace
from core.conversations.conversation import Turn
from core.conversations.read import read_conversation
from core.experience import record
from core.experience.record import Use
from core.give.handed import OUTCOME, append, rows_of
from core.give.hint import main as run_hint
from core.knowledge.check import Finding

QUIET_SECONDS = 600
"""How long a transcript must have been left alone before it is read for how a hint went."""
KEPT_DAYS = 120
"""How long a hint that was handed out is remembered."""
OWN_WORDS = 2
"""The words that only the hint had and that come up again where it was followed."""
DENIED_WORDS = 3
"""The words of a hint in a sentence that says it holds no more."""
_DENIES = re.compile(
    r"\b(?:no longer|not any ?more|outdated|obsolete|out of date|(?:is|was|that's) (?:wrong|incorrect|not true)|"
    r"(?:does not|doesn't) exist|(?:has been|was|were) (?:removed|replaced|renamed))\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?。])\s+|\n+")
_OWN = re.compile(r"[\w./#:-]*[\w]")
FOLLOWED, IGNORED, CONTRADICTED = "followed", "ignored", "contradicted"
_TASK_OF = {"failure": "debugging", "command": "implementation_howto"}
"""At which event a line was handed out -> what it was for."""
_AS_OUTCOME = {FOLLOWED: "win", IGNORED: "miss", CONTRADICTED: "misleading"}


@dataclass(frozen=True)
class GivenHint:
    """One line that was handed out: `at` in ISO 8601, to which tool and session, at which event, why, how strongly, and
    how it went (`followed`, `ignored`, `contradicted`; "" while nobody knows)."""

    at: str
    tool: str
    session: str
    project: str
    event: str
    text: str
    why: str
    score: float
    went: str


@dataclass(frozen=True)
class HintsReport:
    """The newest hints first, how all of them went, and which events are on."""

    hints: tuple[GivenHint, ...]
    counts: Mapping[str, int]
    on: tuple[str, ...]
    trouble: str = ""


def hints(workspace: Workspace, off: str = "", on: str = "", limit: int = 20) -> HintsReport:
    """What was handed out; with `off` or `on` an event is switched first. Raises KnowledgeError for an event that there
    is not."""
    if limit < 1:
        raise KnowledgeError("usage", "--limit must be at least 1")
    events = workspace.config.hints
    if off or on:
        for name in filter(None, (off, on)):
            if name not in HINT_EVENTS:
                raise KnowledgeError("usage", f"there is no event {name!r}", hint=f"choose of {listed(HINT_EVENTS)}")
        events = tuple(name for name in HINT_EVENTS if name != off and (name in events or name == on))
        config_set(workspace, "hints", str(list(events)).replace("'", '"'))
    rows = sorted(_all(workspace), key=lambda row: row.at, reverse=True)
    went = Counter(row.went or "not known yet" for row in rows)
    return HintsReport(tuple(rows[:limit]), went, events, _trouble(workspace))


def _files(workspace: Workspace) -> list[str]:
    with suppress(OSError):
        names = sorted(os.listdir(workspace.paths.hints))
        return [str(workspace.paths.hints / name) for name in names if name.endswith(".jsonl")]
    return []


def _all(workspace: Workspace) -> Iterator[GivenHint]:
    for path in _files(workspace):
        rows = list(rows_of(path))
        went = {row.get("of"): str(row.get("went", "")) for row in rows if row.get("event") == OUTCOME}
        for at, row in enumerate(rows):
            if row.get("event") in HINT_EVENTS:
                told = {name: str(row.get(name, "")) for name in ("tool", "session", "project", "event", "text", "why")}
                yield GivenHint(_time(row), score=float(row.get("score", 0.0)), went=went.get(at, ""), **told)


def _time(row: Mapping[str, Any]) -> str:
    return datetime.fromtimestamp(int(row.get("at", 0)), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _trouble(workspace: Workspace) -> str:
    with suppress(OSError):
        return files.read_or_empty(workspace.paths.hints / "trouble").decode("utf-8", "replace").strip()
    return ""


def check_hints(workspace: Workspace) -> Iterator[Finding]:
    """For `knowledge doctor`: the last trouble that a hook of hints had and was silent about."""
    if trouble := _trouble(workspace):
        yield Finding(
            "hint-trouble", f"a hook had trouble and was silent: {trouble}", str(workspace.paths.hints), note=True
        )
    if empty := [path for path in _files(workspace) if not os.path.getsize(path)]:
        yield Finding(
            "hint-trouble", "a hook could not write what it would hand out: is the disk full?", empty[0], note=True
        )


# --- how it went ------------------------------------------------------------------------------------------------------


def judge(workspace: Workspace, now: float | None = None) -> int:
    """Read out of the transcripts of sessions that are over how their hints went, once; returns how many were judged.
    A session whose transcript is gone stays unknown. Old files go."""
    now = time.time() if now is None else now
    judged = 0
    for path in _files(workspace):
        rows = list(rows_of(path))
        known = {row.get("of") for row in rows if row.get("event") == OUTCOME}
        waiting = [(at, row) for at, row in enumerate(rows) if row.get("event") in HINT_EVENTS and at not in known]
        transcript = next((str(row["transcript"]) for _, row in waiting if row.get("transcript")), "")
        try:
            state = os.stat(transcript or path)
            if now - os.stat(path).st_mtime > KEPT_DAYS * 86_400:
                files.remove_file(workspace.paths.hints / os.path.basename(path))
                continue
            if not transcript or now - state.st_mtime < QUIET_SECONDS:
                continue
            turns = read_conversation(os.path.basename(transcript), files.read_file(transcript).data).turns
        except OSError:
            continue
        for at, row in waiting:
            went = how_it_went(row, turns)
            append(Path(path), json.dumps({"event": OUTCOME, "of": at, "went": went}).encode() + b"\n")
            by, when = f"hook of {row.get('tool', '')}", _time(row)
            text, why, session = (str(row.get(name, "")) for name in ("text", "why", "session"))
            use = Use(text, _AS_OUTCOME[went], when, _TASK_OF.get(str(row.get("event")), "other"), why, by, "", session)
            record.record(workspace.paths.experience, [replace(use, once=f"{path}:{at}")])
            judged += 1
    return judged


def how_it_went(row: Mapping[str, Any], turns: Sequence[Turn]) -> str:
    """Whether a hint was followed, ignored or contradicted in the turns of its session that came after it."""
    when = _time(row)
    after = [turn for turn in turns if turn.time and _utc(turn.time) >= when]
    instead = str(row.get("instead", ""))
    if instead:
        ran = [event for turn in after for event in turn.commands if is_told(instead, command_key(event.words))]
        if not ran:
            return IGNORED
        return FOLLOWED if any(not event.failed for event in ran) else CONTRADICTED
    before = " ".join(turn.text for turn in turns if turn not in after)
    asked = next((turn.text for turn in after if turn.role == "user"), "")
    told = set(_words(before)) | set(_words(asked))
    whole = str(row.get("text", ""))
    text = whole.rpartition(" → ")[0] or whole  # without the place behind it
    said = {word for word in _words(text) if len(word) > 3}
    own = said - told
    if not _DENIES.search(text):
        sentences = (one for turn in after if turn.role in SPOKEN_ROLES for one in _SENTENCE.split(turn.text))
        if any(_DENIES.search(one) and len(said & set(_words(one))) >= DENIED_WORDS for one in sentences):
            return CONTRADICTED
    did = set(_words(" ".join(turn.text for turn in after if turn.role != "user")))
    return FOLLOWED if len(own & did) >= min(OWN_WORDS, len(own) or 1) else IGNORED


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _OWN.findall(text)]


def _utc(time_: str) -> str:
    try:
        return datetime.fromisoformat(time_).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except ValueError:
        return ""


# --- at the command line --------------------------------------------------------------------------------------------


def hints_text(report: HintsReport) -> str:
    rows = []
    for row in report.hints:
        rows.append(f"{row.at[:16].replace('T', ' ')}  {row.event}, {row.tool}: {one_line(row.text)}")
        rows.append(
            f"  {one_line(row.why)}; score {row.score:g}; {row.went or 'not known yet'}; {one_line(row.project)}"
        )
    told = ", ".join(f"{number} {name}" for name, number in sorted(report.counts.items()))
    told = told or "they come by the hooks that 'knowledge connect' writes"
    rows.append(f"{count(sum(report.counts.values()), 'hint')}: {told}")
    rows.append(f"on: {', '.join(report.on) or 'nothing'}")
    rows += [f"last trouble: {one_line(report.trouble)}"] if report.trouble else []
    return "\n".join(rows) + "\n"


def hint(tool: str) -> str:
    """What a hook runs. The program itself comes here only when it was started in another way than by its name."""
    run_hint([tool], sys.stdout.write)
    return ""


OF_TOOLS = "prompt (UserPromptSubmit of the tool), command or file (PreToolUse), or failure (PostToolUseFailure)"
"""HINT_EVENTS with the names that tools have for them."""

COMMANDS = (
    top(
        "hint", "claude_code", hint, str,
        needed("tool", "the tool whose hook asks: claude_code or codex"), anywhere=True, words=OURS,
    ),
    top(
        "hints",
        "--off prompt",
        hints,
        hints_text,
        option("--off", f"hand out nothing more at this event: {OF_TOOLS}", "EVENT", choices=HINT_EVENTS),
        option("--on", "hand something out at this event again", "EVENT", choices=HINT_EVENTS),
        whole_number("--limit", "at most N of them (default: 20)", 20),
        words=NAMED,
    ),
)  # fmt: skip
