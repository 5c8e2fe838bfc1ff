"""Joins the fact index to the store: what committed harvests taught, fed into it after a run, an undo or on demand.

Everything is computed from the archived plans and the record of the fact index, so a feed that a crash cut off is made
up for by the next one. It blocks nothing: a failure is reported, and the next run tries again.

What a user let out of the quarantine counts as taught too. Nothing is kept of it beside changes.jsonl.

Where a fact belongs is the repository of the conversation or of a file.

A model's own word for a place counts only where it is the name of a project that conversations worked in, or of a
repository in which a file lies that this one left a note about, or of a tool that keeps conversations ("claude-code"):
then it is about the agent, and stands below `agents/`. No folder is made of free words.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from core.base import files, locks
from core.base.entry import FACT_CHARACTERS, as_fact, statement_key
from core.base.markdown import bullet_line, parse_bullets, sanitise_line, split_provenance
from core.base.paths import Paths, shipped_root
from core.base.project import GLOBAL, UNPLACED, domain_of, is_below, project_root
from core.base.result import KnowledgeError, attempt
from core.base.secrets.redact import redact
from core.commands.fact_follow import bullets_of_store, change_bullets
from core.commands.history.runs import UNDO_RUN
from core.commands.text import count
from core.commands.workspace import Clock, Workspace, utc_now
from core.factindex import held, index
from core.factindex.bootstrap import FILE_NOTE
from core.factindex.facts import (
    DAMAGE,
    DISK_FAILED,
    FOLDERS,
    Problem,
    fact_places,
    is_domain,
    sort_key,
)
from core.factindex.feed import OF_CATEGORY, Lesson, Taught, kind_of
from core.factindex.record import History, Key, append_records, read_history, record_path
from core.factindex.sync import Harvests, SyncReport, cut_off, project, sync
from core.harvest.freeze import QUOTED, UNQUOTED
from core.knowledge import projects
from core.knowledge.bullet_text import held_item
from core.knowledge.categories import CATEGORY, QUARANTINE, read_category
from core.knowledge.changes import EDIT_RUN, Change, read_changes
from core.knowledge.check import Finding
from core.knowledge.journal import FrozenPlan, Pending, read_journal, states_by_sha
from core.knowledge.ledger import seen_ledger
from core.knowledge.log import carry_over
from core.knowledge.same import mark_of_text
from core.knowledge.swap import clear_leftovers, replace_expected
from core.sources.tools import SOURCES

AGENTS = frozenset(source.name.replace("_", "-") for source in SOURCES)
"""The tools as domains. A project of the same name is a project."""


@dataclass(frozen=True)
class Places:
    """The domain of one conversation, the names that a row of it may use, and every known project: folder -> domain."""

    domain: str
    names: frozenset[str]
    projects: Mapping[str, str]

    def of(self, said: str, about: str) -> str:
        """The domain of one of its facts: `said` is the model's word, `about` the file that it is a note on ("" for
        none): a file below a known project belongs there, whoever spoke of it."""
        if os.path.isabs(about):
            path = os.path.normpath(about)
            if around := [folder for folder in self.projects if is_below(path, folder)]:
                return self.projects[max(around, key=len)]
        if said in self.names:
            return said
        agent = said.replace("_", "-")
        return agent if agent in AGENTS else self.domain


class ReadProjects:
    """The projects that the ledger knows, read when they are first needed."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths

    @cached_property
    def _all(self) -> projects.Projects:
        """Raises KnowledgeError for a ledger that cannot be read: a fact that went to the wrong place stays there."""
        return projects.projects_of(seen_ledger(self._paths))

    @cached_property
    def folders(self) -> Mapping[str, str]:
        """The root of each project that the ledger knows -> its domain."""
        known = {root: projects.domain_in(root, self._all) for root in self._all.places if os.path.isabs(root)}
        return {root: domain for root, domain in known.items() if _is_place(domain)}

    def named(self, conversation: str) -> Places:
        """Those of a conversation that lines cite by this name."""
        known = {self.folders[root] for root in self._all.get(conversation, ()) if root in self.folders}
        return Places(known.pop() if len(known) == 1 else GLOBAL, frozenset(), self.folders)

    def places_of(self, plan: FrozenPlan, entry: Mapping[str, Any]) -> Places:
        """Those of the conversation that a plan and its entry are about. A plan from before domains were kept has the
        project of its entry alone."""
        facts, folder = plan.facts, str(entry.get("project") or "")
        own = self.folders.get(str(entry.get("project_root") or "") or project_root(folder), "")
        own = own or str(facts.get("domain") or "")
        if not _is_place(own):
            own = domain_of(folder)
        repositories = facts.get("repositories")
        names = {str(name) for name in repositories} if isinstance(repositories, list) else set()
        names = {name for name in (*names, *self.folders.values(), own) if _is_place(name)}
        unplaced = GLOBAL if projects.is_users(entry) else UNPLACED
        return Places(own if _is_place(own) else unplaced, frozenset(names), self.folders)


def _is_place(domain: str) -> bool:
    return is_domain(domain) and domain != GLOBAL


NAMED = (*DAMAGE, "duplicate-id")
"""What the doctor calls damage; any other problem is a slip in one item."""
MAX_LINES_NAMED = 5


def check_facts(workspace: Workspace) -> Iterator[Finding]:
    """A sync that was cut, items that are not valid, an index that differs from its files. Writes nothing."""
    paths = workspace.paths
    place, mend = paths.knowledge / index.NAME, partial(sync_facts, workspace)
    try:
        if cut_off(paths.state):
            message = "a sync of the fact index was interrupted; the next one finishes it"
            yield Finding("facts-unfinished", message, str(paths.log), mend)
        facts, found, _ = project(paths.knowledge, paths.state, utc_now())
    except OSError as error:
        yield Finding("facts-unreadable", f"the facts cannot be read: {error.strerror}", str(error.filename or ""))
        return
    for number, problem in enumerate(found.problems):
        where = paths.knowledge / problem.file
        yield Finding(problem.code, problem.error.message, str(where), note=problem.code not in NAMED, at=number)
    if workspace.config.fact_index and (long := lines_too_long(paths)):
        more = f" and {len(long) - MAX_LINES_NAMED} more" if len(long) > MAX_LINES_NAMED else ""
        named = ", ".join(long[:MAX_LINES_NAMED]) + more
        message = f"longer than a fact may be ({FACT_CHARACTERS} characters), so not in the fact index: {named}"
        yield Finding("facts-too-long", message, note=True)
    read = attempt(index.read_index, paths.knowledge)
    if isinstance(read, KnowledgeError):
        if facts or read.error.code != "no-index":
            yield Finding(read.error.code, read.error.message, str(place), mend, note=not files.exists(place))
    elif read.value != sorted(facts, key=sort_key):
        message = "the fact index is older than its YAML files ('knowledge facts sync' writes it again)"
        yield Finding("facts-stale", message, str(place), mend, note=True)  # an edit by hand does that


LOCK_SECONDS = 5.0
OFFLINE = 0.5
"""The confidence of what the offline rules find."""
_CATEGORY_OF_FILE = {CATEGORY[name].file: name for name in OF_CATEGORY}


def sync_facts(
    workspace: Workspace,
    *,
    undone: str = "",
    accept_removals: bool = False,
    run: str = "",
    now: Clock = utc_now,
) -> SyncReport:
    """Bring YAML files, record and index together. `undone` names a run that was taken back just now,
    `accept_removals` says that facts which are missed may go. What the user changed in the YAML files is done to the
    bullets too, as a part of the edit `run`, where one has just changed them. Raises KnowledgeError when another
    process is at it for longer than `LOCK_SECONDS`, or the disk refuses."""
    paths = workspace.paths

    def harvests(history: History) -> Harvests:
        if not workspace.config.fact_index:
            return Harvests()  # nothing new goes in; what people write still reaches the index
        found = committed_harvests(paths, history, undone, workspace.config.redact)
        return replace(found, bullets=bullets_of_store(paths))

    with _alone(paths):
        kept = [aside for folder in _folders(paths.knowledge) for aside in clear_leftovers(folder)]
        again = workspace.config.fact_index and _begin_again(paths)
        done = sync(
            paths.knowledge, paths.state, harvests, now(), replace=replace_expected, accept_removals=accept_removals
        )
        _leave_schema(paths)
        if again and done.total:
            done.notes.append("all files of the fact index were gone: its facts were made again of the bullets")
        done.notes += [f"an interrupted save left {aside}: compare it with the file beside it" for aside in kept]
    if done.dropped or done.reworded:
        notes, records = change_bullets(workspace, done.dropped, done.reworded, run, now)
        with _alone(paths):
            append_records(record_path(paths.state), records)
        done.notes += notes
    return done


def _begin_again(paths: Paths) -> bool:
    """Where every YAML file is gone and index.json with them, nothing is left to be trusted over the bullets: the
    record of what became of them is set aside, so that the committed plans make the facts again. Where it tells of no
    fact, none was ever there. Raises OSError."""
    record = record_path(paths.state)
    there = files.exists(paths.knowledge / index.NAME) or fact_places(paths.knowledge)
    if there or not files.exists(record) or _tells_of_no_fact(record):
        return False
    for place in (record, paths.state / held.NAME):
        if files.exists(place):
            files.replace_file(place, place.with_name(f"{place.name}.before"))
    return True


def _tells_of_no_fact(record: Path) -> bool:
    """Whether a record is whole, and no fact in it."""
    try:
        found = read_history(record)
    except OSError:
        return False
    return not found[1].ids and not found[1].damaged


SCHEMA = "SCHEMA.md"


def _leave_schema(paths: Paths) -> None:
    """The page that says what the YAML files hold, beside the first index: written once. What the user has there
    already, changes or deletes is theirs. Raises OSError."""
    mark = paths.state / "schema_written"
    if files.exists(mark) or not files.exists(paths.knowledge / index.NAME):
        return
    with contextlib.suppress(FileExistsError):
        files.create_atomic(paths.knowledge / SCHEMA, (shipped_root() / "assets" / SCHEMA).read_bytes())
        files.sync_folder(paths.knowledge)
    with contextlib.suppress(FileExistsError):
        files.create_atomic(mark, b"")


@contextlib.contextmanager
def _alone(paths: Paths) -> Iterator[None]:
    """Within it no other process writes facts, and what can go wrong is a sentence."""
    try:
        carry_over(paths)
        with locks.locked(paths.state / "facts.lock", work="facts", editor_wait=LOCK_SECONDS):
            yield
    except locks.LockHeldError as error:
        hint = "wait until it is done, then 'knowledge facts sync'"
        raise KnowledgeError("lock-held", locks.at_work(error.holder), error.filename or "", hint) from error
    except OSError as error:
        message = f"the facts cannot be written: {error.strerror or error}"
        hint = "'knowledge facts sync' tries again"
        raise KnowledgeError("facts-failed", message, error.filename or "", hint) from error


def _folders(knowledge: Path) -> list[Path]:
    """Those that hold YAML files of facts; no links."""
    tops = [knowledge / name for name in FOLDERS]
    below = (path for top in tops if top.is_dir() and not top.is_symlink() for path in sorted(top.iterdir()))
    return [path for path in (*tops, *below) if path.is_dir() and not path.is_symlink()]


def after_harvest(workspace: Workspace, now: Clock) -> tuple[dict[str, int] | None, list[str], Any]:
    """The feed at the end of a run: counts for the report (None: switched off), notes, and what went wrong or None."""
    if not workspace.config.fact_index:
        return None, [], None
    try:
        report = sync_facts(workspace, now=now)
    except KnowledgeError as failed:
        return None, [], failed.error
    notes = [*report.notes, *left_out(report.problems)]
    counts = {"new": report.new, "confirmed": report.confirmed, "total": report.total, "too_long": len(report.too_long)}
    trouble = next((problem.error for problem in report.problems if problem.code == DISK_FAILED), None)
    return counts, notes, trouble


def left_out(problems: Iterable[Problem]) -> list[str]:
    """Sentences about what is no fact although it stands in a YAML file."""
    notes = []
    broken = list(dict.fromkeys(problem.file for problem in problems if problem.code in DAMAGE))
    if broken:
        names = ", ".join(broken[:3]) + (f" and {len(broken) - 3} more" if len(broken) > 3 else "")
        notes.append(f"YAML files of facts were left out: {names} ('knowledge facts validate' tells why)")
    number = len({(problem.file, problem.line) for problem in problems if problem.code not in DAMAGE})
    if number:
        notes.append(f"{count(number, 'item')} left out as not valid ('knowledge facts validate' tells why)")
    return notes


def after_undo(workspace: Workspace, run: str, now: Clock) -> list[str]:
    """Take the facts of a run that was undone out again; notes for the report."""
    there = any(files.exists(workspace.paths.knowledge / name) for name in FOLDERS)
    if not workspace.config.fact_index or not there:
        return []
    fed = sync_facts(workspace, undone=run, now=now)
    notes = [f"{count(fed.taken_back, 'fact')} of the run left the fact index too"] if fed.taken_back else []
    return notes + [f"the fact {name} was changed since, so it stays" for name in fed.stayed]


def after_accept(workspace: Workspace, now: Clock) -> str:
    """What was let out of the quarantine becomes a fact; what went wrong in words, or ""."""
    if not workspace.config.fact_index:
        return ""
    try:
        too_long = sync_facts(workspace, now=now).too_long
    except KnowledgeError as failed:
        return f"it is no fact yet: {failed.error}"
    return f"too long for the fact index ({FACT_CHARACTERS} characters): {len(too_long)}" if too_long else ""


# --- what the store tells --------------------------------------------------------------------------------------------


def committed_harvests(paths: Paths, history: History, undone: str, secrets: bool) -> Harvests:
    """The proven harvests that are not fed yet, in the order of their runs, what was let out of the quarantine since,
    and which fed ones were taken back.

    An archive whose size is the recorded one was fed whole and is not read again; an undo changes it or takes it away.
    Raises OSError.
    """
    sizes: dict[str, int] = {}
    known = ReadProjects(paths)
    lessons = _Lessons(known, secrets)
    taught: list[Taught] = []
    committed: set[Key] = set()
    archives = sorted(paths.plans.glob("*.jsonl")) if paths.plans.is_dir() else []
    fresh = [path for path in archives if history.archives.get(path.stem) != path.stat().st_size]
    for path in fresh:
        run = path.stem
        sizes[run] = path.stat().st_size
        for sha, state in states_by_sha(read_journal(path)).items():
            if not state.done or state.plan is None:
                continue
            committed.add((sha, run))
            if (sha, run) not in history.fed:
                taught.append(lessons.of_plan(sha, run, state, state.plan))
    changes = read_changes(paths)
    taught += lessons.by_hand(changes, history)
    gone = (set(history.archives) - {path.stem for path in archives}) | {path.stem for path in fresh}
    runs = {undone} if undone else set()
    if gone & {run for _, run in history.fed}:
        runs |= {row.run.removeprefix(UNDO_RUN) for row in changes if row.run.startswith(UNDO_RUN)}
    whole = {path.stem for path in archives} - {path.stem for path in fresh}
    agents = AGENTS.difference(known.folders.values()) if taught else AGENTS
    return Harvests(taught, committed, runs - whole, sizes, agents, too_long=tuple(lessons.too_long))


@dataclass
class _Lessons:
    """What lines of the store teach: those that are too long for a fact teach nothing and gather in `too_long`."""

    known: ReadProjects
    secrets: bool
    """Whether secrets are replaced."""
    too_long: list[str] = field(default_factory=list)

    def of_plan(self, sha: str, run: str, state: Pending, plan: FrozenPlan) -> Taught:
        """One committed plan as lessons: the lines of facts.md, playbooks.md and questions.md, with what the model said
        about them. Old plans do not say where they were learned: then it is the project of the entry, or global."""
        entry = {**plan.entry, **(state.entry or {})}
        about = plan.facts.get("rows")
        rows: dict[str, Any] = about if isinstance(about, dict) else {}
        place = self.known.places_of(plan, entry)
        usual = OFFLINE if entry.get("provider") == "offline" else UNQUOTED
        lessons: list[Lesson] = []
        for planned in plan.files:
            category = _CATEGORY_OF_FILE.get(planned.name)
            for line in planned.lines if category else ():
                text = split_provenance(line[2:])[0]
                row = rows.get(mark_of_text(text))
                said = row if isinstance(row, dict) else {}
                lessons += self._of_line(category or "", text, said, place, usual)
        day = str(entry.get("date") or entry.get("at") or "")[:10] or f"{run[:4]}-{run[4:6]}-{run[6:8]}"
        return Taught(sha, run, str(entry.get("path") or state.path), day, tuple(lessons))

    def by_hand(self, changes: list[Change], history: History) -> list[Taught]:
        """What a user let out of the quarantine and is no fact yet, one conversation for each item: an edit took the
        held line out, and put what it says into its file. That they let it in is worth as much as a quote that was
        found. Not the edits that were undone. Raises OSError."""
        rows = [row for row in changes if not row.sha]
        over = {run for _, run in history.fed}
        over |= {row.run.removeprefix(UNDO_RUN) for row in rows if row.run.startswith(UNDO_RUN)}
        rows = [row for row in rows if row.run.startswith(EDIT_RUN) and row.run not in over]
        let_in = {(row.file, line) for row in rows for line in row.added}
        found = []
        for row in (row for row in rows if row.file == QUARANTINE):
            for bullet in parse_bullets("\n".join(row.removed)):
                item = held_item(bullet)
                words = f"{bullet_line(sanitise_line(item.text, None), None)} {item.provenance}".rstrip()
                if item.category not in OF_CATEGORY or (CATEGORY[item.category].file, words) not in let_in:
                    continue
                place = self.known.named(bullet.provenance.source if bullet.provenance is not None else "")
                sha = hashlib.sha256(bullet.raw.encode("utf-8", "replace")).hexdigest()
                lessons = self._of_line(item.category, item.text, {}, place, QUOTED)
                found += [Taught(sha, row.run, "", row.when[:10], (lesson,)) for lesson in lessons]
        return found

    def _of_line(self, category: str, text: str, row: dict[str, Any], place: Places, usual: float) -> list[Lesson]:
        """The lesson of one line, none where it says nothing or is too long."""
        plain = sanitise_line(as_fact(redact(text).text if self.secrets else text), None)
        if len(plain) > FACT_CHARACTERS:
            self.too_long.append(text)
        if not statement_key(plain) or len(plain) > FACT_CHARACTERS:
            return []
        confidence = row.get("confidence")
        about = str(row.get("about") or "")
        domain = place.of(str(row.get("domain") or ""), about)
        if row.get("by_tool") and domain == GLOBAL:
            domain = UNPLACED  # a tool's word of a project that nobody knows is not told in all of them
        tags = tuple(tag for tag in row.get("tags") or () if isinstance(tag, str))
        sure = float(confidence) if isinstance(confidence, (int, float)) and 0 <= confidence <= 1 else usual
        tags = (*tags, FILE_NOTE) if about and FILE_NOTE not in tags else tags
        return [Lesson(plain, kind_of(category, plain, str(row.get("kind") or "")), domain, sure, tags)]


def lines_too_long(paths: Paths) -> list[str]:
    """FILE:LINE of each line that does not fit into the fact index, even without its detail. A file that cannot be read
    has none: others tell of that."""
    found: list[str] = []
    for name in OF_CATEGORY:
        with contextlib.suppress(OSError):
            rows = [row for row in read_category(paths, name) if not row.struck]
            long = [row for row in rows if len(as_fact(row.text)) > FACT_CHARACTERS]
            found += [f"{CATEGORY[name].file}:{row.line}" for row in long]
    return found
