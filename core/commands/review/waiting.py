"""What waits for a word of the user, of every kind, as one list. Only looks; decide.py does what is answered."""

from __future__ import annotations

import errno
import hashlib
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache, cached_property, partial
from typing import Any

from core.base import files
from core.base.entry import statement_key, statement_mark
from core.base.markdown import BY_HAND, Bullet, Provenance, bullet_line, parse_bullets, sanitise_line
from core.base.paths import Paths
from core.base.project import GLOBAL
from core.base.ready import kept_ready
from core.base.result import ErrorInfo, KnowledgeError, attempt, disk_errors
from core.commands.bullets import TITLES, change_all
from core.commands.project import EVERY, find_project, projects_named
from core.commands.quarantine import HELD, HeldItem, quarantine_list
from core.commands.statements import LineChange, all_lines, refresh_digest
from core.commands.text import collected, count
from core.commands.workspace import Clock, Workspace, utc_now
from core.experience.record import MISLED_OFTEN, Served, served
from core.factindex.facts import Fact
from core.factindex.index import read_index
from core.factindex.record import read_history, record_path
from core.give import still
from core.harvest.proofs import Missing, Proofs, find_missing, marks
from core.harvest.recovery import Recovered, with_store
from core.knowledge.alike import Alike, Placed, Superseding, age_of, alike, offers_in, placed, superseding
from core.knowledge.answers import NAME as ANSWERS
from core.knowledge.answers import silenced
from core.knowledge.bullet_text import BulletRef
from core.knowledge.categories import CATEGORIES, CATEGORY_FILES, read_category
from core.knowledge.changes import Change, append_changes
from core.knowledge.edit import Edited, could_not_write, new_edit_run
from core.knowledge.ledger import Entry, seen_ledger
from core.knowledge.lines import PlannedFile, ensure_lines, require_lines
from core.knowledge.log import carry_out
from core.knowledge.projects import OTHER, Projects, domains_in, entry_name, here_in, known_projects, nearness
from core.knowledge.removed import REMOVED, Removed, RemovedStatement, read_removed
from core.knowledge.same import id_letters
from core.knowledge.swap import EDITOR_WAIT, EditorWait

FINISHED = ("finishes", "answers")
"""What models offer of tasks and questions."""
GIT_SECONDS = 4.0
"""How long git is asked, for all lines together, what it still has."""
UNCONFIRMED_DAYS = 365
"""A fact that no conversation has confirmed for this long, and that was harvested as long ago, is stale, as one is that
has expired."""


@dataclass(frozen=True)
class Waiting:
    """One thing that waits. `id` is what a user types; `text` is what it says, `other` what stands against it (the
    newer statement, the one it is like; "" for none), `lines` all that vanished, `quote` what a held item came with.
    `why` is a few words; `yes` and `no` are what these answers do. `file` is below the knowledge folder, `day`
    (YYYY-MM-DD) and `source`, a conversation's name, are of `text`, and `project` is what its projects are called; ""
    for what is not known. `key` names it in the record of answers, `of` is what it was made of, `bullet` its line."""

    kind: str
    key: str
    text: str
    why: str
    yes: str
    no: str
    of: Any
    bullet: Bullet | None = None
    other: str = ""
    lines: tuple[str, ...] = ()
    quote: str = ""
    file: str = ""
    day: str = ""
    source: str = ""
    project: str = ""

    @property
    def id(self) -> str:
        """Seven letters, made of what it says."""
        return id_letters(f"{self.kind}\n{self.key}")

    def to_json(self) -> dict[str, Any]:
        row: dict[str, Any] = {"id": self.id}
        for name in ("kind", "text", "other", "quote", "why", "yes", "no", "file", "day", "source", "project"):
            row[name] = getattr(self, name) or None
        return {**row, "lines": list(self.lines)}


@dataclass(frozen=True)
class Look:
    """What the kinds are gathered from. `everything`: also what is asked only of whoever wants to see it; `glance`:
    without looking through the plans of every harvest."""

    workspace: Workspace
    now: datetime
    everything: bool = False
    glance: bool = False

    @property
    def today(self) -> str:
        return self.now.astimezone(UTC).date().isoformat()

    @cached_property
    def proposed(self) -> list[Superseding]:
        """What `_proposed` gives: three kinds ask, and comparing is what takes time."""
        return _proposed(self.workspace.paths, None)


def waiting(
    workspace: Workspace, kinds: Iterable[str] = (), *, everything: bool = False, now: Clock = utc_now
) -> list[Waiting]:
    """All that waits, or that of some kinds, without what the user answered with no or later. `everything` has also
    vanished lines that look like an edit by hand, and those of harvests that are long over. Raises KnowledgeError for
    what cannot be read."""
    look = Look(workspace, now(), everything)
    silent = silenced(workspace.paths, look.today)
    projects = known_projects(workspace.paths, workspace.environment)
    chosen = [kind for kind in KINDS if kind in (kinds or KINDS)]
    rows = (row for kind in chosen for row in GATHERED[kind](look))
    return [_told(row, projects) for row in rows if row.key not in silent]


def counted(workspace: Workspace, problems: list[ErrorInfo], *, now: Clock = utc_now) -> dict[str, int]:
    """How much waits of each kind, without what is alike: a glance compares nothing pair by pair but what a file of the
    cache does not know yet, and takes the word of the last run for what vanished. `problems` hears of what could not
    be read; that counts as nothing."""
    paths, look = workspace.paths, Look(workspace, now(), glance=True)
    silent = silenced(paths, look.today)

    def pairs() -> list[int]:
        try:
            kinds = [pair.kind in FINISHED for pair in proposals(paths, problems)]
        except KnowledgeError as failed:
            problems.append(failed.error)
            return [0, 0]
        return [kinds.count(False), kinds.count(True)]

    counts = dict.fromkeys(KINDS[:-1], 0)
    for kind in ("held", "vanished", "kept-away", "stale"):
        with collected(problems):
            counts[kind] = sum(row.key not in silent for row in GATHERED[kind](look))
    # Comparing all bullets takes a third of a second at 10,000 conversations.
    inputs = [*(paths.knowledge / name for name in (*CATEGORY_FILES, REMOVED)), paths.ledger, paths.state / ANSWERS]
    place, before = workspace.cache / "ready" / "outdated", len(problems)
    whole = lambda: len(problems) == before  # noqa: E731
    found = kept_ready(place, inputs, pairs, asked=look.today, whole=whole)
    counts["outdated"], counts["finished"] = found
    return counts


def of_project(workspace: Workspace, rows: Iterable[Waiting], project: str) -> list[Waiting]:
    """Those of the project of a folder, and those that are the user's in any project; of "all" every one."""
    if project == EVERY:
        return list(rows)
    projects = known_projects(workspace.paths, workspace.environment)
    here = here_in(str(find_project(workspace, project)), projects, workspace.environment)
    domains = (*domains_in(here, projects), GLOBAL)

    def is_near(row: Waiting) -> bool:
        return row.project in domains if row.bullet is None else nearness((row.bullet,), projects, here) != OTHER

    return [row for row in rows if is_near(row)]


def _told(row: Waiting, projects: Projects) -> Waiting:
    """With where its line comes from."""
    bullet = row.bullet
    came = bullet.provenance if bullet is not None else None
    if bullet is None or came is None:
        return row
    project = projects_named(bullet, projects)
    return replace(row, day=came.date, source="" if came.source == BY_HAND else came.source, project=project)


COMPARED = ("facts", "decisions", "questions", "playbooks", "tasks_open")
CONTRADICTED = ("facts", "decisions")


def similar(paths: Paths) -> list[Alike]:
    """Pairs of bullets of one category that are alike without being the same, the likest first."""
    return alike(_placed(paths, COMPARED))


def proposals(paths: Paths, problems: list[ErrorInfo] | None = None) -> list[Superseding]:
    """What a newer statement seems to contradict, and what a model has said to be outdated, finished or answered. Of
    all that would take the place of one statement the newest alone, and nothing where the user has dismissed that or
    put it off. `problems` hears of a ledger whose offers could not be read; the others are given all the same."""
    return _newest(paths, _proposed(paths, problems))


def _newest(paths: Paths, proposed: Iterable[Superseding]) -> list[Superseding]:
    pairs = sorted(proposed, key=lambda pair: age_of(pair.new))
    newest = {(pair.old.file, pair.old.bullet.line, pair.act): pair for pair in pairs}
    dismissed = silenced(paths, utc_now().date().isoformat())
    asked = [pair for pair in newest.values() if pair.key not in dismissed]
    return sorted(asked, key=lambda pair: (pair.old.file, pair.old.bullet.line))


def _proposed(paths: Paths, problems: list[ErrorInfo] | None) -> list[Superseding]:
    rows = _placed(paths, CONTRADICTED)
    return list({pair.key: pair for pair in (*superseding(rows), *_offered(paths, problems))}.values())


def replace_old(
    workspace: Workspace, old: Placed, new: Placed, act: str = "supersede", *, run: str = "", now: Clock = utc_now
) -> Edited:
    """A statement gives way to another: all lines that say the old one, in one write."""
    words = f"{sanitise_line(new.bullet.text, None)} {new.bullet.provenance}" if act == "supersede" else ""
    lines = (old.bullet, *old.statement.others)
    refs = [BulletRef(old.file, row.line, row.raw) for row in lines]
    return change_all(workspace, LineChange(act, refs, words, keep_secrets=True, run=run), now=now)


def _offered(paths: Paths, problems: list[ErrorInfo] | None) -> list[Superseding]:
    """What models have offered, as the ledger keeps it; none where it, or a file, cannot be read."""
    ledger, rows = attempt(seen_ledger, paths), attempt(_placed, paths, (*COMPARED, "tasks_done"))
    if isinstance(ledger, KnowledgeError) or isinstance(rows, KnowledgeError):
        if problems is not None:
            problems += [found.error for found in (ledger, rows) if isinstance(found, KnowledgeError)]
        return []
    return offers_in(ledger.value, rows.value)


def _placed(paths: Paths, categories: tuple[str, ...]) -> list[Placed]:
    rows: list[Placed] = []
    for category in CATEGORIES:
        if category.name not in categories:
            continue
        with disk_errors("unreadable", "the bullets cannot be read"):
            rows += placed(category.name, category.file, read_category(paths, category.name))
    return rows


def missing_list(
    workspace: Workspace, *, everything: bool = False, told: bool = False, now: Clock = utc_now
) -> list[Missing]:
    """What is missing of the harvests within the grace period and of those whose conversation is in the trash; with
    `everything` of all harvests, and single lines that look like an edit by hand, which are marked; `told` looks only
    at those of which a run has told it."""
    entries = seen_ledger(workspace.paths)
    if told:
        entries = {sha: entries[sha] for sha in marks(entries)}
    return _missing_of(workspace, entries, entries if everything else (), everything, now())


def _missing_of(
    workspace: Workspace, entries: Mapping[str, Entry], also: Iterable[str], single: bool, now: datetime
) -> list[Missing]:
    paths = workspace.paths
    with disk_errors("unreadable", "the files cannot be looked at"):
        return find_missing(paths, entries, Proofs(paths), now, workspace.config.trash_days, also, single=single)


def settle_missing(
    workspace: Workspace,
    rows: Sequence[Missing],
    *,
    back: bool,
    run: str = "",
    now: Clock = utc_now,
    editor_wait: EditorWait = EDITOR_WAIT,
) -> str:
    """Put the lines `back`, or write down that they are gone on purpose; what was dealt with since is passed over. One
    undo of `run` takes it back. Returns a sentence about what did not work beside it, or ""."""
    wanted: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        wanted.setdefault((row.sha256, row.file), set()).update(row.lines)

    def settle(store: Recovered) -> str:
        found = _missing_of(workspace, store.entries, {row.sha256 for row in rows}, True, now())
        seen = ((row, wanted.get((row.sha256, row.file), set())) for row in found)
        still = [replace(row, lines=tuple(line for line in row.lines if line in lines)) for row, lines in seen if lines]
        return _settle_lines(workspace, still, back, run or new_edit_run(now()), now())

    return with_store(workspace.paths, "review", now(), settle, editor_wait)


def _settle_lines(workspace: Workspace, chosen: list[Missing], back: bool, run: str, now: datetime) -> str:
    """One file after the other."""
    paths = workspace.paths
    by_file: dict[str, list[Missing]] = {}
    for row in chosen:
        by_file.setdefault(row.file, []).append(row)
    warnings: list[str | None] = []
    for file, rows in by_file.items():
        gone = tuple(dict.fromkeys(line for row in rows for line in row.lines))
        done = tuple(line for line in gone if any(line in row.done for row in rows))
        try:
            if back:
                opened = tuple(line for line in gone if line not in done)
                planned = PlannedFile(file, rows[0].header, opened, done)
                warnings.append(
                    carry_out(paths, Change(now.isoformat(), run, file, gone), partial(_put, paths, planned))
                )
            else:
                append_changes(paths, [Change(now.isoformat(), run, file, (), gone)])
        except OSError as error:
            raise could_not_write(paths.knowledge / file, error) from error
    warnings.append(refresh_digest(workspace) if by_file else "")
    return "; ".join(filter(None, warnings))


def _put(paths: Paths, planned: PlannedFile) -> bool:
    _, new_name = ensure_lines(paths.knowledge, planned)
    if new_name:
        files.sync_folder((paths.knowledge / planned.name).parent)
    if require_lines(paths.knowledge, planned):
        raise OSError(errno.EBUSY, "another program keeps saving the file", str(paths.knowledge / planned.name))
    return True


# --- of each kind ----------------------------------------------------------------------------------------------------


def _held(look: Look) -> Iterator[Waiting]:
    """The same item from several conversations is one."""
    groups: dict[str, list[HeldItem]] = {}
    for item in quarantine_list(look.workspace):
        groups.setdefault(_key("held", item.category, item.path, statement_key(item.text)), []).append(item)
    for key, items in groups.items():
        item = items[-1]
        [bullet] = parse_bullets(item.ref.raw)
        text = f"{item.path}: {item.text}" if item.path else item.text
        why = HELD.get(item.held, item.held or "is not written as a held item is")
        why += f", for {TITLES.get(item.category, item.category)}" if item.category else ""
        yield Waiting(
            "held", key, text, why, "let it in", "drop it", tuple(items), bullet, quote=item.quote, file=item.ref.file
        )


def _pairs(look: Look, finished: bool) -> Iterator[Waiting]:
    """What seems outdated, or what a model says is finished or answered."""
    for pair in _newest(look.workspace.paths, look.proposed):
        if (pair.kind in FINISHED) != finished:
            continue
        kind, yes, no = "outdated", "strike the old one through", "keep both"
        if finished:
            kind, no = "finished", "leave it open"
            yes = "mark the task done" if pair.act == "done" else "strike the question through, with its answer"
        elif pair.new is pair.old:
            yes, no = "strike it through", "keep it"
        other = pair.new.bullet.text if pair.new is not pair.old else ""
        old = pair.old
        yield Waiting(kind, pair.key, old.bullet.text, pair.why, yes, no, pair, old.bullet, other=other, file=old.file)


def _overtaken(look: Look) -> Iterator[Waiting]:
    """What names a file, function or class that git had and has no more, and what has led agents astray."""
    paths, until = look.workspace.paths, time.monotonic() + GIT_SECONDS
    projects = known_projects(paths, look.workspace.environment)
    rows = _placed(paths, CONTRADICTED)
    record = served(paths.experience, [row.bullet.text for row in rows])
    for row in rows:
        text, came = row.bullet.text, row.bullet.provenance
        misled = record.get(text, Served()).counts().get("misleading", 0)
        why = f"misled {misled} times" if misled >= MISLED_OFTEN else ""
        roots = projects.get(came.source, ()) if came is not None and not why else ()
        root = next((one for one in roots if os.path.isabs(one)), "")
        if root and time.monotonic() < until and (missing := still.gone(root, text)):
            why = f"gone from git since: {', '.join(missing)}"
        if why:
            pair = Superseding(row, row, why, "retract")
            yes, no = "strike it through", "keep it"
            yield Waiting("outdated", pair.key, text, why, yes, no, pair, row.bullet, file=row.file)


def _committed(look: Look) -> Iterator[Waiting]:
    """The files that a session left for a commit, where git has them since."""
    from core.rules.left import files_to_commit  # it loads the rules, and `status` only counts

    until = time.monotonic() + GIT_SECONDS
    projects = known_projects(look.workspace.paths, look.workspace.environment)
    offered = {pair.old.bullet.key for pair in look.proposed if pair.act == "done"}
    rows = (row for row in _placed(look.workspace.paths, ("tasks_open",)) if row.bullet.key not in offered)
    for row in rows:
        text, came = row.bullet.text, row.bullet.provenance
        names = files_to_commit(text)
        roots = projects.get(came.source, ()) if came is not None and names else ()
        root = next((one for one in roots if os.path.isabs(one)), "")
        if came is None or not root or time.monotonic() > until:
            continue
        if commit := still.committed_since(root, names, came.date, until):
            why = f"committed since, in {commit}"
            pair = Superseding(row, row, why, "done", FINISHED[0])
            yes, no = "mark the task done", "leave it open"
            yield Waiting("finished", pair.key, text, why, yes, no, pair, row.bullet, file=row.file)


def _alike(look: Look) -> Iterator[Waiting]:
    """Bullets that nearly say the same, each older one once. What is or was asked as a contradiction is not asked once
    more."""
    paths = look.workspace.paths
    silent = silenced(paths, look.today)
    older = set[str]()
    asked = {_two(pair.old, pair.new) for pair in look.proposed}
    for pair in similar(paths):
        old, new = sorted((pair.first, pair.second), key=age_of)
        two = _two(old, new)
        if two in asked:
            continue
        asked.add(two)
        if Superseding(old, new, "").key in silent or old.bullet.raw in older:
            continue
        older.add(old.bullet.raw)
        yes, why = "strike the older one through", f"{pair.score:.0f} % alike"
        key, of = _key("alike", *sorted(two)), (old, new)
        text, other = old.bullet.text, new.bullet.text
        yield Waiting("alike", key, text, why, yes, "keep both", of, old.bullet, other=other, file=old.file)


def _vanished(look: Look) -> Iterator[Waiting]:
    removed = _removed(look)
    for row in missing_list(look.workspace, everything=look.everything, told=look.glance, now=lambda: look.now):
        said = [(line, bullet) for line in row.lines for bullet in parse_bullets(line) if bullet.text not in removed]
        bullets = [bullet for _, bullet in said]
        if bullets:
            row = replace(row, lines=tuple(dict.fromkeys(line for line, _ in said)))
            why = "gone beside others that stand, as an edit by hand leaves it" if row.single else "gone from its file"
            key = _key("vanished", row.sha256, row.file, *row.lines)
            yes, no, text = "put back", "gone on purpose", bullets[0].text
            yield Waiting("vanished", key, text, why, yes, no, row, bullets[0], lines=row.lines, file=row.file)


def _kept_away(look: Look) -> Iterator[Waiting]:
    """What was said again although it was removed, and lines that say it and came back through a merge or a backup."""
    removed = _removed(look)
    said: dict[str, list[Mapping[str, Any]]] = {}
    for entry in seen_ledger(look.workspace.paths).values() if removed else ():
        for mark in entry.get("kept_away") or ():
            said.setdefault(mark, []).append(entry)
    with disk_errors("unreadable", "the bullets cannot be read"):  # also those that say what was removed
        lines = all_lines(look.workspace.paths) if removed else ()
        standing = {statement_mark(one.bullet.text): one for one in lines if removed.keeps_away(one.bullet)}
    for mark, gone in {statement_mark(row.text): row for row in removed.rows}.items():
        entries, line = said.get(mark, []), standing.get(mark)
        if not entries and line is None:
            continue
        number = count(len(entries), "conversation")
        again = f"{number} said it again" if entries else f"it stands again in {line.file if line else ''}"
        why = f"{gone.how or 'removed'}{f' on {gone.day}' if gone.day else ''}; {again}"
        bullet = line.bullet if line is not None else _as_said(gone, entries)
        file = line.file if line is not None else ""
        key = _key("kept-away", mark)
        yield Waiting("kept-away", key, gone.text, why, "bring it back", "it stays away", gone, bullet, file=file)


def _as_said(gone: RemovedStatement, entries: Sequence[Mapping[str, Any]]) -> Bullet:
    """What was removed, as the last conversation that said it again would have it in a file."""
    last = max(entries, key=lambda entry: str(entry.get("at", "")))
    [bullet] = parse_bullets(bullet_line(gone.text, Provenance(entry_name(last), str(last.get("date") or "")[:10])))
    return bullet


def _stale(look: Look) -> Iterator[Waiting]:
    since = (look.now - timedelta(days=UNCONFIRMED_DAYS)).astimezone(UTC).date().isoformat()
    runs = cache(partial(_runs, look.workspace.paths))  # most stores have no old fact, and never read them
    for fact in _facts(look):
        if why := _why_stale(fact, look.today, since, runs):
            key, why = _key("stale", fact.id, statement_key(fact.fact)), f"{why}: {fact.id}"
            yes, no, day = "delete the fact", "it still holds", fact.last_confirmed
            yield Waiting("stale", key, fact.fact, why, yes, no, fact, day=day, project=fact.domain)


def _facts(look: Look) -> Iterable[Fact]:
    if look.glance:
        return read_index(look.workspace.paths.knowledge)
    from core.commands.facts import current_facts  # these read the YAML files, and a glance the index alone

    return current_facts(look.workspace, look.now)[0]


def _runs(paths: Paths) -> Mapping[str, str]:
    """Fact -> the run that made or confirmed it last, where that can be read. Its id begins with its day."""
    try:
        return read_history(record_path(paths.state))[1].anchored
    except OSError:
        return {}


def _why_stale(fact: Fact, today: str, since: str, runs: Callable[[], Mapping[str, str]]) -> str:
    if fact.unread:
        return ""
    if fact.stale or (fact.expires and today > fact.expires):
        return f"expired on {fact.expires}"
    last = fact.last_confirmed or fact.first_seen
    if last and last < since and runs().get(fact.id, "")[:8] < since.replace("-", ""):
        return f"not confirmed since {last}"
    return ""


GATHERED: dict[str, Callable[[Look], Iterable[Waiting]]] = {
    "held": _held,
    "vanished": _vanished,
    "kept-away": _kept_away,
    "stale": _stale,
    "outdated": lambda look: (*_pairs(look, False), *_overtaken(look)),
    "finished": lambda look: (*_pairs(look, True), *_committed(look)),
    "alike": _alike,
}
"""Kind -> what gathers it, what is cheap first: comparing takes seconds where there are ten thousand bullets."""
KINDS = tuple(GATHERED)


# --- what several kinds need -----------------------------------------------------------------------------------------


def _key(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode("utf-8", "replace")).hexdigest()[:16]


def _two(one: Placed, other: Placed) -> frozenset[str]:
    return frozenset((one.bullet.key, other.bullet.key))


def _removed(look: Look) -> Removed:
    paths = look.workspace.paths
    with disk_errors("unreadable", "what was removed cannot be read", paths.knowledge):
        return read_removed(paths)
