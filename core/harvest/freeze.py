"""Stage 4: freeze what a harvest will write: every line and its file, decided once. From then on nothing but the plan
is written (batch.py), also after a crash.

`committer.py` makes a plan in this order: `freeze` (items to lines), `without_moved` and `with_old_dates` (a second
harvest keeps the lines of the first, where the user has them), `Grown.onto` (what a conversation gave before it went
on), `repeats.py` (what snapshots of one session say), `KeptAway.without` (what the user removed or struck through) and
`lines.noting_tail` (what stands unfinished in each file).

What a plan says beside its lines is for the fact index: the domain, and what the model said about a row.

Kept in the plan under `facts`: `{"domain": …, "repositories": […], "rows": {mark: {"kind", "confidence", "tags",
"domain", "about", "by_tool"}}, "quotes": {mark: quote}}` with `mark` the beginning of the sha256 of a line's text, so
that a line whose date changes keeps its row. `repositories` are those of the files that got a note; `about` is the file
that a line is a note on; `by_tool` says of a line of any category that only a tool's output, or a page, told it;
`quotes` are the passages that showed items to be true, for conversations go; `evidence` tells where each stands:
`{mark: {"turn", "start", "end", "said"}}` with the number of the turn (from 0), its bytes in the file, and a mark of
what was said in it; `steps` are those of playbooks, as lists. Plans without it, and readers that do not know
it, lose nothing but this.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from core.base.entry import statement_mark
from core.base.markdown import Provenance, bullet_line, parse_bullets, sanitise_line, sanitise_name, split_provenance
from core.base.paths import Paths
from core.base.project import GLOBAL, domain_of, repository_root
from core.base.result import ErrorInfo
from core.harvest.landed import Standing
from core.harvest.named_paths import allowed_path, source_file
from core.knowledge.bullet_text import QUOTE_CHARACTERS, held_item, with_quote
from core.knowledge.categories import CATEGORIES, CATEGORY, CATEGORY_FILES, QUARANTINE, TASKS_FILE, read_text
from core.knowledge.changes import EDIT_RUN, read_changes, removed_by_hand
from core.knowledge.file_notes import NoteRecords, SourceFile, apply_binding, bind
from core.knowledge.journal import FrozenPlan
from core.knowledge.lines import PlannedFile
from core.knowledge.projects import is_persons
from core.knowledge.removed import REMOVED, Removed, read_removed
from core.knowledge.same import mark_of_text

if TYPE_CHECKING:
    from core.harvest.answer import Item

ABOUT_CHARACTERS = 1024
QUOTED, UNQUOTED = 0.8, 0.6
"""The confidence of what a model says with a passage that was found in the conversation, and without one."""


def note_as_fact(item: Item) -> str:
    """What the note on a file that was not found says as a fact."""
    return sanitise_line(f"{item.path}: {item.text}" if item.path else item.text, None)


def plan_facts(items: Sequence[Item], folder: str, noted: Iterable[str], *, quotes_checked: bool) -> dict[str, Any]:
    """What a plan keeps for the fact index. `folder` is the working folder of the conversation, "" when unknown;
    `noted` are the source files that it left a note about, all of them known to be there."""
    domain, repositories = domain_of(folder), _repositories(noted)
    if domain == GLOBAL and len(repositories) == 1:
        domain = repositories[0]
    rows: dict[str, dict[str, Any]] = {}
    kept = [item for item in items if not item.held]
    for item in kept:
        row: dict[str, Any] = {"by_tool": True} if item.by_tool else {}
        if item.category == "files" and item.path:
            rows[mark_of_text(note_as_fact(item))] = {"about": item.path[:ABOUT_CHARACTERS], **row}
        if item.category in ("facts", "playbooks", "questions"):
            row |= _lesson_of(item, quotes_checked=quotes_checked)
        if row:
            rows[mark_of_text(item.text)] = row
    quotes = {mark_of_text(item.text): quote for item in kept if (quote := sanitise_line(item.quote, QUOTE_CHARACTERS))}
    evidence = {
        mark_of_text(item.text): {"turn": item.turn, "start": item.start, "end": item.end}
        | ({"said": item.said} if item.said else {})
        for item in kept
        if item.turn >= 0
    }
    steps = {mark_of_text(item.text): list(item.steps) for item in kept if len(item.steps) > 1}
    if not rows and not quotes and not steps and domain == GLOBAL:
        return {}
    more = {"repositories": repositories, "quotes": quotes, "evidence": evidence, "steps": steps}
    return {"domain": domain, "rows": rows} | {key: value for key, value in more.items() if value}


def _lesson_of(item: Item, *, quotes_checked: bool) -> dict[str, Any]:
    """What a model said about an item; where it does not say how certain it is, its quote tells."""
    confidence = item.confidence
    if confidence is None and quotes_checked:
        confidence = QUOTED if item.quote.strip() else UNQUOTED
    said = {"kind": item.kind, "confidence": confidence, "tags": list(item.tags), "domain": item.domain}
    return {key: value for key, value in said.items() if value not in (None, "", [])}


def _repositories(paths: Iterable[str]) -> list[str]:
    """The domains of the repositories in which files lie that a conversation taught something about, `global` for those
    that lie in none."""
    return sorted({domain_of(repository_root(os.path.dirname(path))) for path in paths})


def persons_of(items: Iterable[Item]) -> list[str]:
    """The marks of the lines that are the user's rather than a project's: as the model says, else by what they say.
    What a tool told is its project's, whatever it is called."""
    return sorted({mark_of_text(item.text) for item in items if not item.held and _is_persons(item)})


def _is_persons(item: Item) -> bool:
    if item.category not in ("facts", "decisions", "playbooks") or item.scope == "project" or item.domain:
        return False
    return not item.by_tool and (item.scope == "person" or is_persons(item.text))


def freeze(
    items: Sequence[Item],
    conversation: str,
    date: str,
    roots: Sequence[str],
    paths: Paths,
    records: NoteRecords,
    before_rename: Callable[[], None] = lambda: None,
) -> FrozenPlan:
    """Decide the exact lines of every file. `date` is the UTC day of the conversation, YYYY-MM-DD; `roots` are the
    folders in which a note may be bound to a file.

    A note whose path is not allowed or not there becomes a fact `path: note`. It still counts under `files`; how many
    there are stands in the entry as `notes_as_facts`, those outside the roots as `notes_outside`, and as `from_tools`
    how many items only a tool's output told.
    Renames notes when their source file was renamed or its inode was reused, after `before_rename`, which writes what
    earlier plans still want of notes under their old names; raises OSError when that fails.
    """
    provenance = Provenance(sanitise_name(conversation), date)
    lines: dict[str, dict[str, None]] = {}
    headers: dict[str, str] = {}
    done: dict[str, None] = {}
    notes: NoteRecords = {}
    counts = {row.name: 0 for row in CATEGORIES}
    held: dict[str, int] = {}
    unfound = outside = by_tool = 0
    for item in items:
        row = CATEGORY[item.category]
        if item.held:
            about = f" {item.path}" if item.path else ""
            text = sanitise_line(f"[{item.held}] {item.category}{about}: {with_quote(item.text, item.quote)}", None)
            _add(lines, headers, QUARANTINE, "# Quarantine", bullet_line(text, provenance))
            held[item.held] = held.get(item.held, 0) + 1
            continue
        counts[item.category] += 1
        by_tool += item.by_tool
        if item.category == "files":
            source = source_file(item.path, roots)
            if source is not None:
                name = _bind_note(source, paths, records, notes, before_rename)
                _add(lines, headers, name, f"# {sanitise_line(source.path, None)}", bullet_line(item.text, provenance))
                continue
            unfound += 1
            outside += bool(item.path) and allowed_path(item.path, roots) is None
            fact = bullet_line(note_as_fact(item), provenance)
            _add(lines, headers, CATEGORY["facts"].file, CATEGORY["facts"].header, fact)
        elif item.category == "tasks_done":
            _add(lines, headers, row.file, row.header)
            done[bullet_line(item.text, provenance)] = None
        else:
            _add(lines, headers, row.file, row.header, bullet_line(item.text, provenance))
    planned = tuple(
        PlannedFile(name, headers[name], tuple(rows), tuple(done) if name == TASKS_FILE else ())
        for name, rows in lines.items()
    )
    counted = {
        "quarantined": sum(held.values()),
        "held_by": held,
        "notes_as_facts": unfound,
        "notes_outside": outside,
        "from_tools": by_tool,
    }
    return FrozenPlan(planned, counts, notes, {key: value for key, value in counted.items() if value})


def _add(lines: dict[str, dict[str, None]], headers: dict[str, str], name: str, header: str, line: str = "") -> None:
    headers.setdefault(name, header)
    rows = lines.setdefault(name, {})
    if line:
        rows[line] = None


def _bind_note(
    source: SourceFile, paths: Paths, records: NoteRecords, notes: NoteRecords, before_rename: Callable[[], None]
) -> str:
    binding = bind(source, records)
    if binding.aside is not None or (binding.move and binding.move != binding.note):
        before_rename()
    apply_binding(paths, binding, records)
    notes[binding.note] = binding.record
    return f"files/{binding.note}"


def with_old_dates(paths: Paths, plan: FrozenPlan, names: Iterable[str]) -> FrozenPlan:
    """A second harvest of the same content keeps the lines of the first: same text, same conversation, older date. What
    the user removed of them (told in changes.jsonl) is left out. `names` are what the conversation was called then
    and now. Raises OSError."""
    sources = set(map(sanitise_name, names))
    kept = []
    unwanted: dict[str, set[str]] = {}
    for file, line in removed_by_hand(read_changes(paths), EDIT_RUN):
        text, provenance = split_provenance(line[2:])
        if provenance is not None and provenance.source in sources:
            unwanted.setdefault(file, set()).add(text)
    for planned in plan.files:
        old = {
            bullet.text: bullet.raw
            for bullet in parse_bullets(read_text(paths.knowledge / planned.name))
            if bullet.provenance is not None and bullet.provenance.source in sources
        }

        def keep(line: str, old: dict[str, str] = old) -> str:
            return old.get(split_provenance(line[2:])[0], line)

        out = unwanted.get(planned.name, set()) - old.keys()
        lines, done = _without(planned.lines, out), _without(planned.done, out)
        kept.append(replace(planned, lines=_each(keep, lines), done=_each(keep, done)))
    return replace(plan, files=tuple(kept))


def without_moved(paths: Paths, plan: FrozenPlan) -> FrozenPlan:
    """Of a conversation that was harvested before: a line that the user moved to another file stands there alone.
    Raises OSError."""
    standing = Standing(paths)

    def here(name: str, lines: Sequence[str]) -> tuple[str, ...]:
        return tuple(line for line in lines if name not in CATEGORY_FILES or not standing.moved_to(name, line))

    rows = [replace(row, lines=here(row.name, row.lines), done=here(row.name, row.done)) for row in plan.files]
    return replace(plan, files=tuple(rows))


def _without(lines: Sequence[str], texts: set[str]) -> list[str]:
    return [line for line in lines if split_provenance(line[2:])[0] not in texts]


def _each(keep: Callable[[str], str], lines: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(keep, lines)))


# --- what the user has removed ---------------------------------------------------------------------------------------


class KeptAway:
    """What a harvest does not write, for one run: statements in `removed.md`, as it stands when a plan is made, and
    those that a user has struck through in a file, as they stood when the first plan for that file was made."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths
        self._struck: dict[str, frozenset[str]] = {}
        self.problems: list[ErrorInfo] = []
        """What could not be looked through for the last plan."""

    def without(self, plan: FrozenPlan) -> FrozenPlan:
        """The plan without them; its entry names them by their marks (`kept_away`). A file that cannot be read keeps
        nothing away, and that is told: the plan must be made all the same, for it holds what a model has said."""
        self.problems = []
        removed = self._removed()
        gone: dict[str, str] = {}
        done = []
        for planned in plan.files:
            struck = self._struck_in(planned.name) if planned.all_lines else frozenset[str]()

            def stays(line: str, struck: frozenset[str] = struck, name: str = planned.name) -> bool:
                [bullet] = parse_bullets(line)
                text = held_item(bullet).text if name == QUARANTINE else bullet.text
                if text not in removed and statement_mark(text) not in struck:
                    return True
                # Of what was removed for good not even a mark is kept.
                gone[mark_of_text(bullet.text)] = "" if removed.is_purged(text) else statement_mark(text)
                return False

            lines = tuple(line for line in planned.lines if stays(line))
            done.append(replace(planned, lines=lines, done=tuple(line for line in planned.done if stays(line))))
        if not gone:
            return plan
        facts = {
            key: {mark: row for mark, row in value.items() if mark not in gone} if isinstance(value, dict) else value
            for key, value in plan.facts.items()
        }
        entry = {**plan.entry, "kept_away": sorted(set(gone.values()) - {""})}
        return replace(plan, files=tuple(done), facts=facts, entry=entry)

    def _removed(self) -> Removed:
        try:
            return read_removed(self._paths)
        except OSError as error:
            self._tell(REMOVED, error)
            return Removed()

    def _struck_in(self, name: str) -> frozenset[str]:
        if name not in self._struck:
            try:
                text = read_text(self._paths.knowledge / name)
            except OSError as error:
                self._tell(name, error)
                return frozenset()
            bullets = parse_bullets(text) if "~~" in text else []
            self._struck[name] = frozenset(statement_mark(row.text) for row in bullets if row.struck)
        return self._struck[name]

    def _tell(self, name: str, error: OSError) -> None:
        message = f"the file cannot be looked through for what you removed: {error.strerror}"
        hint = "what it keeps away may stand there a second time"
        self.problems.append(ErrorInfo("unreadable", message, str(self._paths.knowledge / name), hint))
