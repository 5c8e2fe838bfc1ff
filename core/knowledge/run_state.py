"""How a store stands at this moment: its run, its digest, and which of its files were changed by hand.

`look` reads the lock, the journal and the files; `store_state` says what follows from that, and reads nothing. The
command line, the panel and whoever else tells of a run say what stands here, in these words.

A run holds the lock from its first byte to its last and keeps a journal for as long as it owes anything. So a journal
whose lock nobody holds is that of a run that was ended from outside, whatever else stands in the files.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from core.base import files, locks
from core.base.checked_lines import Record
from core.base.figures import count
from core.base.paths import Paths
from core.knowledge.changes import EDIT_RUN, UNDO_RUN, Change
from core.knowledge.digest import HEADER, written_once
from core.knowledge.journal import read_journal, states_by_sha

NEVER, HERE, ELSEWHERE, INTERRUPTED, DONE = "never", "here", "elsewhere", "interrupted", "done"
"""How a run stands: none ever ended, this program is at work, another one is, one was cut off, the last one ended."""
WRITTEN, DELETED, DIFFERENT, EMPTY = "written", "deleted", "different", "empty"
UNWRITTEN, MISSING, OFF, UNREADABLE = "never written", "missing", "off", "unreadable settings"
"""How the digest stands. `missing`: it is not there, and nobody knows whether it ever was."""
LOOKS = 3


@dataclass(frozen=True)
class RunState:
    """How the run stands. `state` is one of the five; `work` is the command that holds the lock (`harvest`, `undo`)
    and `process` its process id. `through` of `of` conversations have been read (`of` 0: nobody knows how many);
    `owed` is how many of them were read by a run that was cut off and are not in the files as a whole yet."""

    state: str
    work: str = ""
    process: int = 0
    through: int = 0
    of: int = 0
    owed: int = 0

    @property
    def at_work(self) -> bool:
        """Whether a program is changing the store now."""
        return self.state in (HERE, ELSEWHERE)

    @property
    def words(self) -> str:
        """One sentence without its full stop."""
        far = f": {self.through:,} of {self.of:,} conversations read" if self.of else ""
        if self.state == HERE:
            return f"this program is at work ({self.work or 'a command'}){far}"
        if self.state == ELSEWHERE:
            holder = f"{self.process or ''} {self.work}"
            return locks.at_work(holder.rstrip()) + far
        if self.state == INTERRUPTED:
            if not (self.through or self.owed):
                return "the last harvest was cut off before it wrote anything into your files"
            if not self.owed:
                return "the last harvest was cut off before its end; what it read is in your files"
            whose = count(self.owed, "conversation that it read is", "conversations that it read are")
            return f"the last harvest was cut off: {whose} not in your files yet"
        return "nothing has been harvested yet" if self.state == NEVER else "the last harvest left nothing half done"


@dataclass(frozen=True)
class DigestStands:
    """How the digest stands. `state` is one of the eight, `words` one sentence without its full stop."""

    state: str
    words: str


@dataclass(frozen=True)
class StoreState:
    """Both, as they were at one moment."""

    run: RunState
    digest: DigestStands


@dataclass(frozen=True)
class Seen:
    """What was read. `holder` is who holds the lock (process id and command), None for nobody; `process` is ours;
    `records` are those of the journal, None where there is none; `archived` says that a run has ended. `digest` is the
    text of digest.md, None where there is none, `would` what the files would give (None: nothing), `once` says that one
    was written before. `problem` is why the settings cannot be read; a digest may have `limit` bytes (0: unknown)."""

    holder: str | None = None
    process: int = 0
    records: tuple[Record, ...] | None = None
    archived: bool = False
    digest: str | None = None
    would: str | None = None
    once: bool = False
    enabled: bool = True
    problem: str = ""
    limit: int = 0


def look(paths: Paths) -> tuple[str | None, tuple[Record, ...] | None]:
    """Who holds the lock, and the journal (None where there is none), as they stood together at one moment. Raises
    OSError."""

    def once() -> tuple[str | None, tuple[Record, ...] | None]:
        holder = locks.holder_of(paths.lock)
        return holder, tuple(read_journal(paths.journal)) if files.exists(paths.journal) else None

    for _ in range(LOOKS):
        # A run may have begun or ended between the two: then one of them has changed since.
        before, now = once(), once()
        if now[0] == before[0] and (now[1] is None) == (before[1] is None):
            break
    return now


def store_state(seen: Seen) -> StoreState:
    """What follows from what was read. Pure."""
    run = _run(seen)
    return StoreState(run, _digest(seen, run))


def _run(seen: Seen) -> RunState:
    records = seen.records or ()
    talks = {sha: row for sha, row in states_by_sha(records).items() if row.plan or row.entry}
    through, of = len(talks), _planned(records)
    if seen.holder is not None:
        process, _, work = seen.holder.partition(" ")
        number = int(process) if process.isdecimal() else 0
        state = HERE if number and number == seen.process else ELSEWHERE
        return RunState(state, work, number, through, max(of, through) if of else 0)
    if seen.records is not None:
        owed = sum(row.plan is not None and not row.done for row in talks.values())
        return RunState(INTERRUPTED, "", 0, through, max(of, through) if of else 0, owed)
    return RunState(DONE if seen.archived else NEVER)


def _planned(records: Iterable[Record]) -> int:
    """How many conversations the run of a journal set out to read, 0 where it does not say."""
    numbers = [row.get("of") for row in records if row.get("t") == "run"]
    return numbers[-1] if numbers and isinstance(numbers[-1], int) else 0


def _digest(seen: Seen, run: RunState) -> DigestStands:
    if seen.problem:
        return DigestStands(UNREADABLE, "nothing is put into prompts while the settings cannot be read")
    if not seen.enabled:
        return DigestStands(OFF, "switched off: not put into prompts")
    if seen.digest is None:
        if run.at_work and not seen.once:
            return DigestStands(UNWRITTEN, "not written yet: the run that is at work writes it at its end")
        if run.state == INTERRUPTED and not seen.once:
            return DigestStands(UNWRITTEN, "not written yet: the harvest was cut off")
        if seen.would is None:
            return DigestStands(UNWRITTEN, "not written yet: there is nothing to put into it")
        if seen.once:
            return DigestStands(DELETED, "you deleted digest.md: nothing is put into prompts")
        if seen.archived:
            return DigestStands(MISSING, "there is no digest.md: nothing is put into prompts")
        return DigestStands(UNWRITTEN, "not written yet: the next harvest writes it")
    if not seen.digest.strip():
        return DigestStands(EMPTY, "digest.md is empty: nothing is put into prompts")
    if seen.digest == seen.would:
        return DigestStands(WRITTEN, "in every new conversation")
    if not seen.digest.startswith(HEADER):
        return DigestStands(DIFFERENT, "its words are your own")
    end = "the run that is at work renews it at its end" if run.at_work else "the next harvest renews it"
    if 0 < seen.limit < len(seen.digest.encode("utf-8", "replace")):
        why = f"it is larger than your limit of {seen.limit:,} bytes"
    else:
        why = "your files or the limit have changed since"
    return DigestStands(DIFFERENT, f"{why}: {end}")


def digest_seen(paths: Paths) -> tuple[str | None, bool]:
    """The text of digest.md, None where there is none, and whether one was written before. Raises OSError."""
    try:
        text = files.read_file(paths.digest).data.decode("utf-8", "replace")
    except FileNotFoundError:
        return None, written_once(paths)
    return text, True


# --- changed by hand -------------------------------------------------------------------------------------------------


def harvested_lines(changes: Sequence[Change], records: Iterable[Record] = ()) -> dict[str, set[str]]:
    """The lines that harvests have put into each file and not taken out again: those of the runs that ended, and those
    that stand in the plans of the run at work."""
    lines_of: dict[str, set[str]] = {}
    for row in changes:
        if row.run.startswith((EDIT_RUN, UNDO_RUN + EDIT_RUN)):
            continue
        lines = lines_of.setdefault(row.file, set())
        lines.update(row.added)
        lines.difference_update(set(row.removed) - set(row.added))
    for state in states_by_sha(records).values():
        for planned in state.plan.files if state.plan is not None else ():
            lines_of.setdefault(planned.name, set()).update(planned.all_lines)
    return lines_of


def changed_lines(text: str, harvested: set[str], owed: Iterable[str] = ()) -> tuple[int, int]:
    """How a file differs from what harvests wrote: lines in it that are the user's, and lines that they took out or
    worded again. Headings and empty lines count for nothing; `owed` are lines that may not have been written yet."""
    here = {line for line in map(str.rstrip, text.split("\n")) if line and not line.startswith("#")}
    wrote = {line.rstrip() for line in harvested if line.strip() and not line.startswith("#")}
    return len(here - wrote), len(wrote - here - {line.rstrip() for line in owed})


def owed_lines(records: Iterable[Record]) -> Mapping[str, set[str]]:
    """The lines that the run at work, or one that was cut off, has planned for each file and may not have written."""
    owed: dict[str, set[str]] = {}
    for state in states_by_sha(records).values():
        for planned in state.plan.files if state.plan is not None and not state.done else ():
            owed.setdefault(planned.name, set()).update(planned.all_lines)
    return owed
