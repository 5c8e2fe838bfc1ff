"""`knowledge worked`: how what was found has served, told by the user or an agent, or read in a transcript."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from core.base.choices import OUTCOMES, TASK_TYPES
from core.base.result import KnowledgeError, attempt
from core.base.secrets.redact import redact
from core.commands.project import find_project
from core.commands.row import NAMED, listed, needed, option, single
from core.commands.search import opened_search
from core.commands.statements import resolve_bullet, text_of
from core.commands.table import SUMMARY
from core.commands.text import one_line
from core.commands.transcript import locate, with_turn
from core.commands.workspace import Workspace, utc_now
from core.conversations.conversation import Conversation
from core.conversations.events import Call
from core.experience import record
from core.experience.heard import uses_in
from core.experience.record import Use
from core.knowledge.check import Finding

CHUNK = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}")


@dataclass(frozen=True)
class Worked:
    """What is known of one thing: `name` as it is recorded (its words, a place, the id of a chunk), how it served by
    kind of task, how many of these uses were of earlier words, why it misled; `written` says that one use was added."""

    name: str
    served: dict[str, dict[str, int]]
    earlier: int
    misled: dict[str, str]
    written: bool

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def worked(
    workspace: Workspace,
    what: str,
    outcome: str = "",
    why: str = "",
    task: str = "",
    *,
    by: str = "user",
    allowed: Callable[[str], bool] | None = None,
) -> Worked:
    """Write down how one thing served, or without an outcome tell how it has. `what` is as `find` prints it: the key
    of an entry or a chunk, `session:turn`, or the words of a statement. Raises KnowledgeError for what there is not."""
    of, place = _named(workspace, what.strip(), allowed)
    if outcome:
        use = Use(of, outcome, utc_now().isoformat(), task or "other", redact(why).text, by, place)
        record.record(workspace.paths.experience, [use])
    known = record.served(workspace.paths.experience, [of]).get(of, record.Served())
    tally = {name: dict(row) for name, row in known.tally.items()}
    return Worked(of, tally, known.earlier, dict(known.misled), bool(outcome))


def _named(workspace: Workspace, what: str, allowed: Callable[[str], bool] | None) -> tuple[str, str]:
    """What a use belongs to, and its place in a conversation ("" for a statement)."""
    if CHUNK.fullmatch(what):
        return what, ""
    bullet = attempt(resolve_bullet, workspace.paths, "any", what)
    if not isinstance(bullet, KnowledgeError):
        return text_of(bullet.value.refs[0]), ""
    kind, _, key = what.rpartition(":")
    index = opened_search(workspace, find_project(workspace))
    try:
        asked = "SELECT text, kind FROM entries WHERE key = ?1 OR (key = ?2 AND kind = ?3) LIMIT 1"
        row = index.database.execute(asked, (what, key, kind)).fetchone()
    finally:
        index.close()
    if row is not None:
        return str(row[0]).partition("\n")[0] if row[1] in ("bullet", "note") else str(row[0]), ""
    if not re.fullmatch(r".+:\d+", what):
        raise bullet
    called, turn = with_turn(what)
    place = f"{locate(workspace, called, allowed).name}:{turn}"
    return place, place


class FoundReader:
    """Listens to a harvest: how what `find` told a conversation served in it. `record` writes it down afterwards."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self.uses: list[Use] = []

    def __call__(self, conversation: Conversation) -> None:
        """A conversation was read, in any thread."""
        if not any("find" in event.tool or "find" in getattr(event, "words", "")
                   for turn in conversation.turns for event in turn.events if isinstance(event, Call)):  # fmt: skip
            return
        if self._workspace.config.redact:
            from core.harvest.distil import redacted_conversation

            conversation = redacted_conversation(conversation)[0]
        self.uses += uses_in(conversation)

    def record(self) -> str:
        """What became of it, as a note; "" where there was nothing new."""
        if not self.uses:
            return ""
        number = attempt(record.record, self._workspace.paths.experience, self.uses)
        if isinstance(number, KnowledgeError):
            return str(number.error)
        return f"learned how {number.value} things that were found served" if number.value else ""


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
    rows += [f"  {done.earlier} of these on an earlier version"] * bool(done.earlier)
    return "\n".join(rows if done.served else [*rows, "  not used yet"]) + "\n"


COMMANDS = (
    single(
        "worked",
        SUMMARY["worked"],
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
