"""`knowledge worked`: how what was found has served, told by the user or an agent, or read in a transcript."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from core.base import files
from core.base.choices import OUTCOMES, TASK_TYPES
from core.base.result import KnowledgeError, attempt
from core.base.secrets.redact import redact
from core.commands.library.documents import opened_library
from core.commands.library.use import inferred_from, library_record, served_by_library, used_in
from core.commands.project import Scope, find_project
from core.commands.row import NAMED, listed, needed, option, top
from core.commands.search import opened_search
from core.commands.statements import Found, resolve_bullet, text_of
from core.commands.text import one_line
from core.commands.transcript import locate, read, with_turn
from core.commands.workspace import Workspace, utc_now
from core.conversations.conversation import Conversation
from core.conversations.events import Call
from core.experience import record
from core.experience.record import CHUNK as CHUNK
from core.experience.record import Use
from core.knowledge.categories import read_text
from core.knowledge.check import Finding
from core.knowledge.entries import noted_file
from core.search.store import COLUMNS, Row

if TYPE_CHECKING:
    from core.library.use.inference import Heard

MAX_HEARD = 500
"""The conversations whose use of the library is inferred after a harvest; of each at most 200 KB are held."""
HEARD_PATIENCE = 2.0
"""The seconds for which a harvest waits at its end for another program that writes the library."""


_RETRIEVED = re.compile(rf"\bretrieval\b.{{0,40}}?{CHUNK.pattern}", re.DOTALL)
"""The key beside the id, in every answer of ours."""


@dataclass(frozen=True)
class Worked:
    """What is known of one thing: `name` as it is recorded (its words, a place, the id of a chunk), how it served by
    kind of task, how many of these uses were of earlier words, why it misled; `written` says that one use was added."""

    name: str
    served: dict[str, dict[str, int]]
    earlier: int
    misled: dict[str, str]
    written: bool


def worked(
    workspace: Workspace,
    what: str,
    outcome: str = "",
    why: str = "",
    task: str = "",
    *,
    by: str = "user",
    scope: Scope | None = None,
) -> Worked:
    """Write down how one thing served, or without an outcome tell how it has. `what` is as `find` prints it: the key
    of an entry or a chunk, `session:turn`, or the words of a statement. With a `scope` only what that may be told.
    Raises KnowledgeError for what there is not."""
    of, place = _named(workspace, what.strip(), scope)
    of_library = bool(CHUNK.fullmatch(of))
    if outcome and of_library:
        library_record(workspace, chunk=[of], task=task, outcome=outcome, notes=why, scope=scope)
    elif outcome:
        now, said, where = utc_now().isoformat(), redact(why).text, used_in(workspace, scope)
        use = Use(of, outcome, now, task or "other", said, by, place, project=where)
        record.record(workspace.paths.experience, [use])
    if of_library and (workspace.config.library_url or scope is not None):
        known = served_by_library(workspace, of, scope)
    else:
        tells = scope.tells_use if scope is not None and not scope.everything else None
        known = record.served(workspace.paths.experience, [of], tells).get(of, record.Served())
    tally = {name: dict(row) for name, row in known.tally.items()}
    return Worked(of, tally, known.earlier, dict(known.misled), bool(outcome))


def _named(workspace: Workspace, what: str, scope: Scope | None) -> tuple[str, str]:
    """What a use belongs to, and its place in a conversation ("" for a statement)."""
    if CHUNK.fullmatch(what):
        return what, ""
    tells = _telling(scope) if scope is not None else lambda row: True
    bullet = attempt(resolve_bullet, workspace.paths, "any", what, tells)
    if not isinstance(bullet, KnowledgeError):
        return text_of(bullet.value.refs[0]), ""
    kind, _, key = what.partition(":")
    with closing(opened_search(workspace, find_project(workspace))) as index:
        asked = f"SELECT {COLUMNS} FROM entries WHERE key = ?1 OR (key = ?2 AND kind = ?3)"
        rows = [Row(*row) for row in index.database.execute(asked, (what, key, kind))]
    for row in rows:
        if scope is None or scope.tells_entry(row.entry()):
            return row.text.partition("\n")[0] if row.kind in ("bullet", "note") else row.text, ""
    if not re.fullmatch(r".+:\d+", what) or not (scope is None or workspace.config.search_conversations):
        raise bullet
    called, turn = with_turn(what)
    if scope is None:
        place = f"{locate(workspace, called).name}:{turn}"
    else:  # what the index does not hold yet says only when it is read where it was held
        place = f"{read(workspace, called, number=1, allowed=scope.tells_conversation).name}:{turn}"
    return place, place


def _telling(scope: Scope) -> Callable[[Found], bool]:
    """Which lines may be told: a note belongs to the file that it is about, which is asked once for all its lines."""

    @cache
    def told_of(file: str) -> bool | None:
        source = noted_file(read_text(scope.workspace.paths.knowledge / file))
        return scope.tells_file(source) if os.path.isabs(source) else None

    def tells(row: Found) -> bool:
        told = told_of(row.file) if row.category == "files" else None
        return scope.tells(row.bullet) if told is None else told

    return tells


class UsageReader:
    """Listens to a harvest: how what `find` told a conversation, and what it asked of the library, served in it.
    `record` writes it down afterwards. It holds nothing up and fails nothing: the packages of the library are loaded
    when there is such a conversation, and whatever goes wrong is one sentence."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._is_library = bool(workspace.config.library_url) or files.exists(workspace.paths.library)
        self.uses: list[Use] = []
        self.heard: list[Heard] = []
        self._missed = 0

    def __call__(self, conversation: Conversation) -> None:
        """A conversation was read, in any thread."""
        calls = [event for turn in conversation.turns for event in turn.events if isinstance(event, Call)]
        has_found = any("find" in event.tool or "find" in getattr(event, "words", "") for event in calls)
        has_asked = self._has_asked(conversation)
        if not has_found and not has_asked:
            return
        if self._workspace.config.redact:
            from core.harvest.distil import redacted_conversation

            conversation = redacted_conversation(conversation)[0]
        if has_found:
            from core.experience.heard import uses_in  # its tables of words take a while to load

            self.uses += uses_in(conversation)
        try:
            if has_asked and len(self.heard) < MAX_HEARD:
                from core.library.use.inference import heard_in

                self.heard.append(heard_in(conversation))
                return
        except ImportError:  # the packages of the library are not there: `record` says so
            pass
        self._missed += has_asked

    def _has_asked(self, conversation: Conversation) -> bool:
        for turn in conversation.turns if self._is_library else ():
            if turn.role in ("tool", "assistant"):
                said = "\n".join((turn.text, *(event.output for event in turn.events if isinstance(event, Call))))
                if _RETRIEVED.search(said):
                    return True
        return False

    def record(self) -> list[str]:
        """What became of it, as notes; none where there was nothing new."""
        notes = []
        number = attempt(record.record, self._workspace.paths.experience, self.uses) if self.uses else None
        if isinstance(number, KnowledgeError):
            notes.append(str(number.error))
        elif number is not None and number.value:
            notes.append(f"learned how {number.value} things that were found served")
        if not self.heard and not self._missed:
            return notes
        try:
            with opened_library(self._workspace, HEARD_PATIENCE) as library:
                done = sum(len(inferred_from(library, one)) for one in self.heard)
        except KnowledgeError as failed:
            asked = len(self.heard) + self._missed
            return [*notes, f"what {asked} conversations used of the library was not recorded: {failed.error}"]
        missed = f"{self._missed} more conversations asked it, and how that went was not read"
        notes += [f"the library learned how {done} uses went"] if done else []
        return [*notes, missed] if self._missed else notes


def check_experience(workspace: Workspace) -> Iterator[Finding]:
    """For `knowledge doctor`: whether the record can be read."""
    path = workspace.paths.experience
    said = record.problem(path)
    if said:
        message = f"how things served cannot be read: {said}; without the file the record begins anew"
        yield Finding("experience-damaged", message, str(path))


def worked_text(done: Worked) -> str:
    """The lines of `knowledge worked`."""
    rows = [f"{'written down for' if done.written else 'how it served'}: {one_line(done.name)}"]
    for task, counts in done.served.items():
        why = f': "{one_line(done.misled[task])}"' if done.misled.get(task) else ""
        rows.append(f"  {task}: {record.in_words(counts)}{why}")
    rows += [f"  {done.earlier} of these on an earlier version"] if done.earlier else []
    return "\n".join(rows if done.served else [*rows, "  not used yet"]) + "\n"


COMMANDS = (
    top(
        "worked",
        "facts.1a2b3c --outcome misleading --why 'the port has changed' --task factual_lookup",
        worked,
        worked_text,
        needed("what", "what 'find' printed behind the arrow, the id of a line, or its words", "WHAT"),
        option("--outcome", f"{listed(OUTCOMES)}; without it: how it has served", "OUTCOME", choices=OUTCOMES),
        option("--why", "why: what is learned from most", "TEXT"),
        option("--task", f"what it was for: {listed(TASK_TYPES)}", "TASK", choices=("", *TASK_TYPES)),
        words=NAMED,
    ),
)
