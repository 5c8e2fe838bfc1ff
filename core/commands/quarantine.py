"""The quarantine: items that a harvest held back, until the user lets them in or drops them.

A line there is `- [why] category: text (quote: "…") [from: …]`, for a file note `- [why] files PATH: text …`, as
`harvest/freeze.py` writes it; the quote is there when the item came with one. An accepted item leaves quarantine.md
only after it is proven to be in its file. Several are let in or dropped as one edit, which one undo takes back.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.base import files
from core.base.markdown import bullet_line, parse_bullets, sanitise_line
from core.base.paths import Paths
from core.base.result import ErrorInfo, KnowledgeError
from core.commands.row import Argument, flag, group, option, single
from core.commands.statements import Found, Match, choose, refresh_digest
from core.commands.table import SUMMARY
from core.commands.text import count
from core.commands.workspace import Clock, Workspace, utc_now
from core.harvest.named_paths import source_file
from core.knowledge.bullet_text import HELD as HELD
from core.knowledge.bullet_text import LOOK_AGAIN, BulletRef, ways_to_read
from core.knowledge.bullet_text import HeldItem as HeldItem
from core.knowledge.bullet_text import held_item as held_item
from core.knowledge.categories import CATEGORY, QUARANTINE, read_text
from core.knowledge.changes import read_changes
from core.knowledge.edit import Edited, add_lines, delete_bullets, new_edit_run, read_editable, section_of
from core.knowledge.file_notes import bind_note
from core.knowledge.lines import missing_lines

Takes = Mapping[str, Collection[str]]
"""Action -> the names of its arguments as a user writes them: `--domain`, `ID`."""


def refuse_others(command: str, action: str, takes: Takes, given: Mapping[str, object]) -> None:
    """Raises a usage error that names what of `given` (name -> its value; None, False or nothing in it: not given) the
    action does not take, where there is anything of that kind."""
    known = [name for name, value in given.items() if value or (type(value) is int and value == 0)]
    wrong = [name for name in known if name not in takes[action]]
    if not wrong:
        return
    name, _, narrowed = action.partition(" ")  # `list --similar`: what `list` takes, this does not
    if narrowed and all(one in takes[name] for one in wrong):
        raise KnowledgeError("usage", f"{narrowed} and {' and '.join(wrong)} cannot be used together")
    hints = []
    for name in wrong:
        able = [other for other, names in takes.items() if name in names and " " not in other]
        if able:
            hints.append(f"{name} goes with {' or '.join(able)}")
    raise KnowledgeError(
        "usage", f"'knowledge {command} {action}' takes no {' and no '.join(wrong)}", hint="; ".join(hints)
    )


@dataclass(frozen=True)
class Released:
    """An item left the quarantine. `file` is where it is now ("": dropped), `sha256` that of quarantine.md."""

    run: str
    file: str
    text: str
    sha256: str
    warning: str = ""

    def to_json(self) -> dict[str, Any]:
        """Stable keys for `--json`."""
        return {**vars(self), "file": self.file or None, "warning": self.warning or None}


@dataclass(frozen=True)
class ReleasedMany:
    """Several items left the quarantine in one edit: file ("": dropped) and line of each. `errors` are about those that
    stay."""

    run: str
    items: tuple[tuple[str, str], ...]
    sha256: str
    warning: str = ""
    errors: list[ErrorInfo] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """Stable keys for `--json`."""
        failed = [{"path": error.path, "error": error.message, "code": error.code} for error in self.errors]
        rows = [{"file": file or None, "text": text} for file, text in self.items]
        return {"run": self.run, "released": rows, "failed": failed, "warning": self.warning or None}


CHOOSE = ("MATCH", "--all", "--run")
TAKES: Takes = {"list": ("--run",), "accept": CHOOSE, "drop": CHOOSE}
_NUMBERS = re.compile(r"\d{1,6}(?:-\d{1,6})?(?:,\d{1,6}(?:-\d{1,6})?)*,?")


def quarantine(
    workspace: Workspace, action: str = "list", match: Sequence[str] | str = (), all: bool = False, run: str = ""
) -> list[HeldItem] | Released | ReleasedMany:
    """`knowledge quarantine list|accept|drop`. `match` is words of one item, or the numbers of several; `run` names all
    that a harvest has held back, `all` everything."""
    words = [match] if isinstance(match, str) else list(match)
    refuse_others("quarantine", action, TAKES, {"MATCH": any(words), "--all": all, "--run": run})
    if sum((any(words), all, bool(run))) > 1:
        raise KnowledgeError("usage", "an item's text or number, --all and --run cannot be used together")
    listed = quarantine_list(workspace)
    chosen = _of_run(workspace, listed, run) if run else listed
    if action == "list":
        return chosen
    work = quarantine_accept if action == "accept" else quarantine_drop
    numbers = numbers_of(words, len(listed))
    if not (run or all or numbers):
        return work(workspace, " ".join(words))
    items = chosen if run or all else [listed[number - 1] for number in numbers]
    if not items:
        raise KnowledgeError("no-match", "the quarantine is empty", workspace.paths.quarantine)
    if len(items) == 1 and numbers:
        return work(workspace, items[0].ref)
    many = accept_all if action == "accept" else drop_all
    return many(workspace, items)


def quarantine_list(workspace: Workspace) -> list[HeldItem]:
    """All items held back, oldest first. No quarantine.md: none."""
    try:
        text = read_text(workspace.paths.quarantine)
    except OSError as error:
        raise KnowledgeError(
            "unreadable", f"the quarantine cannot be read: {error.strerror}", workspace.paths.quarantine
        ) from error
    return [held_item(bullet, number) for number, bullet in enumerate(parse_bullets(text), start=1)]


def quarantine_accept(workspace: Workspace, match: Match, *, seen: str | None = None, now: Clock = utc_now) -> Released:
    """Let one item in: it goes into its category file, or a note to its file, with its provenance; what can be a fact
    becomes one. An item that was held back for its length goes in whole."""
    found = _chosen(workspace.paths, match, seen)
    return _one(accept_all(workspace, [found], now=now))


def quarantine_drop(workspace: Workspace, match: Match, *, seen: str | None = None, now: Clock = utc_now) -> Released:
    """Remove one item for good; `knowledge undo RUN` brings it back."""
    found = _chosen(workspace.paths, match, seen)
    return _one(drop_all(workspace, [found], seen=seen, now=now))


def _one(done: ReleasedMany) -> Released:
    if done.errors:
        raise KnowledgeError.of(done.errors[0])
    [(file, text)] = done.items
    return Released(done.run, file, text, done.sha256, done.warning)


def accept_all(workspace: Workspace, items: Sequence[HeldItem], *, now: Clock = utc_now) -> ReleasedMany:
    """Let several items in, each file written once. One that cannot go in stays held and is reported; raises
    KnowledgeError when none can, or when they are in their files and could not leave the quarantine."""
    paths, at, errors = workspace.paths, now(), list[ErrorInfo]()
    run = new_edit_run(at)
    targets: dict[tuple[str, str, str], list[tuple[HeldItem, str]]] = {}
    for item in items:
        if not item.category:
            hint = "copy what you need with 'knowledge add', then drop it"
            message = f"line {item.ref.line} is not a held item"
            errors.append(ErrorInfo("not-an-item", message, str(paths.quarantine), hint))
            continue
        try:
            file, header, section, line = _target(workspace, item)
        except OSError as error:
            errors.append(_stays(error))
            continue
        targets.setdefault((file, header, section), []).append((item, line))
    let_in: list[tuple[HeldItem, str, str]] = []
    warnings: list[str] = []
    for (file, header, section), rows in targets.items():
        lines = [(line, *item.more) for item, line in rows]
        try:
            warnings.append(add_lines(paths, file, header, lines, at, section=section, run=run).warning)
        except KnowledgeError as failed:
            if failed.error.code != "already-there":
                errors.append(failed.error)
                continue
        try:
            absent = missing_lines(files.read_or_empty(paths.knowledge / file), [line for _, line in rows])
        except OSError as error:
            errors.append(_stays(error))
            continue
        let_in += [(item, file, line) for item, line in rows if line.encode() not in absent]
        if absent:
            message = "the item is not in its file when read back; it stays held"
            errors.append(ErrorInfo("not-proven", message, str(paths.knowledge / file)))
    if not let_in:
        raise KnowledgeError.of(errors[0])
    try:
        gone = delete_bullets(paths, [item.ref for item, _, _ in let_in], at, run=run)
    except KnowledgeError as failed:
        where = ", ".join(dict.fromkeys(file for _, file, _ in let_in))
        message = f"the item is in {where}, but it is still in the quarantine too: {failed.error.message}"
        hint = "accept it again, then it only leaves the quarantine"
        raise KnowledgeError(failed.error.code, message, paths.quarantine, hint) from failed
    from core.commands.fact_feed import after_accept

    warnings += [after_accept(workspace, now)]
    return _released(workspace, gone, [(file, line) for _, file, line in let_in], warnings, errors)


def _stays(error: OSError) -> ErrorInfo:
    return ErrorInfo("accept-failed", f"the item stays held: {error.strerror or error}", str(error.filename or ""))


def drop_all(
    workspace: Workspace, items: Sequence[HeldItem], *, seen: str | None = None, now: Clock = utc_now
) -> ReleasedMany:
    """Remove several items; `knowledge undo RUN` brings them back."""
    gone = delete_bullets(workspace.paths, [item.ref for item in items], now(), seen=seen)
    return _released(workspace, gone, [("", item.ref.raw) for item in items], [], [])


def _released(
    workspace: Workspace, gone: Edited, rows: list[tuple[str, str]], warnings: list[str], errors: list[ErrorInfo]
) -> ReleasedMany:
    problems = [text for text in (*warnings, gone.warning, refresh_digest(workspace)) if text]
    return ReleasedMany(gone.run, tuple(rows), gone.sha256, "; ".join(dict.fromkeys(problems)), errors)


# --- which items -----------------------------------------------------------------------------------------------------


def numbers_of(words: Sequence[str], most: int) -> list[int]:
    """The numbers of items in `2 4-6 9,10`; none when anything else is said, or when there is no such item: then the
    words are those of an item."""
    found: dict[int, None] = {}
    for word in words:
        if not _NUMBERS.fullmatch(word):
            return []
        for part in filter(None, word.split(",")):
            first, _, last = part.partition("-")
            if not 1 <= int(first) <= int(last or first) <= most:
                return []
            found |= dict.fromkeys(range(int(first), int(last or first) + 1))
    return list(found)


def held_runs(workspace: Workspace) -> dict[str, str]:
    """Line of quarantine.md -> the harvest that held it back, as changes.jsonl tells. Raises OSError."""
    changes = read_changes(workspace.paths)
    return {line: row.run for row in changes if row.file == QUARANTINE and row.sha for line in row.added}


def accept_seen(workspace: Workspace, items: Sequence[HeldItem], *, drop: bool = False) -> ReleasedMany:
    """Let in (or `drop`) items as a user saw them; raises changed-outside, and nothing is done, when one is not there
    any more."""
    listed = quarantine_list(workspace)
    now = {item.ref: item for item in listed}
    if any(item.ref not in now for item in items):
        raise KnowledgeError("changed-outside", "the quarantine has changed since you saw it", hint=LOOK_AGAIN)
    wanted = [now[item.ref] for item in items]
    return drop_all(workspace, wanted) if drop else accept_all(workspace, wanted)


def _of_run(workspace: Workspace, items: list[HeldItem], run: str) -> list[HeldItem]:
    """Those that one harvest has held back, as changes.jsonl tells."""
    try:
        rows = [row for row in read_changes(workspace.paths) if row.run == run and row.file == QUARANTINE]
    except OSError as error:
        raise KnowledgeError(
            "unreadable", f"the changes cannot be read: {error.strerror}", workspace.paths.changes
        ) from error
    came = {line for row in rows for line in row.added}
    found = [item for item in items if item.ref.raw in came]
    if found:
        return found
    why = "of its items none is held any more" if came else "no run of that name has held anything back"
    raise KnowledgeError("no-match", f"{run}: {why}", workspace.paths.quarantine, "'knowledge undo' lists the runs")


# --- one line --------------------------------------------------------------------------------------------------------


def _chosen(paths: Paths, match: Match, seen: str | None) -> HeldItem:
    """The item that `match` names, in the file as the user saw it."""
    if not files.exists(paths.quarantine):
        raise KnowledgeError("no-match", "the quarantine is empty", paths.quarantine)
    read = read_editable(paths, QUARANTINE)
    changed = KnowledgeError(
        "changed-outside", "the quarantine has changed since you saw it", paths.quarantine, LOOK_AGAIN
    )
    if seen is not None and seen.lower() != read.sha256:
        raise changed
    bullets = parse_bullets(read.data.decode("utf-8").removeprefix("\ufeff"))
    if isinstance(match, BulletRef):
        same = [bullet for bullet in bullets if (bullet.line, bullet.raw) == (match.line, match.raw)]
        if not same:
            raise changed
        return held_item(same[0])
    chosen = choose([Found("quarantine", QUARANTINE, bullet) for bullet in bullets], match, "bullet in the quarantine")
    return held_item(next(bullet for bullet in bullets if bullet.line == chosen.refs[0].line))


def _target(workspace: Workspace, item: HeldItem) -> tuple[str, str, str, str]:
    """Where an item goes: file, first line of a new file, section, and the line itself. Binds a note to its file, of
    which nothing is read: only a model has named it. Raises OSError."""
    paths, row = workspace.paths, CATEGORY[item.category]
    provenance = f" {item.provenance}" if item.provenance else ""
    text = sanitise_line(item.text, None)
    if item.category != "files":
        return row.file, row.header, section_of(item.category), bullet_line(text, None) + provenance
    roots = [os.path.expanduser(root) for root in workspace.config.file_roots]
    read = ((source_file(path, roots), words) for path, words in ways_to_read(f" {item.path}: {item.text}", "files"))
    source, words = next(((found, words) for found, words in read if found is not None), (None, ""))
    text = sanitise_line(words, None)
    if source is None:
        about = f"{item.path}: " if item.path else ""
        facts = CATEGORY["facts"]
        return facts.file, facts.header, "", bullet_line(sanitise_line(about + item.text, None), None) + provenance
    binding = bind_note(paths, source)
    header = f"# {sanitise_line(source.path, None)}"
    return f"files/{binding.note}", header, "", bullet_line(text, None) + provenance


# --- at the command line --------------------------------------------------------------------------------------------


SHOWN = 5000
"""So much of a held item is printed: a playbook that is somewhat too long in whole, a flood not."""


def quarantine_text(value: list[HeldItem]) -> str:
    rows = []
    for row in value:
        about = f" {row.path}" if row.path else ""
        text = row.text if len(row.text) <= SHOWN else f"{row.text[:SHOWN]}… ({len(row.text):,} characters in all)"
        rows.append(f"{row.number}  [{row.held or '?'}] {row.category}{about}: {text} {row.provenance}".rstrip())
        rows += [f'      quote: "{row.quote}"'] * bool(row.quote)
    marks = [mark for mark in HELD if any(row.held == mark for row in value)]
    rows.append(f"{count(len(value), 'item')} held back")
    if value:
        rows.append(f"note: {'; '.join(f'[{mark}] {HELD[mark]}' for mark in marks)}" if marks else "")
        rows.append(
            "'knowledge quarantine accept' lets one in, 'drop' removes it: by its words or number, --run or --all"
        )
    return "\n".join(row for row in rows if row) + "\n"


def released_text(value: Released | ReleasedMany) -> str:
    """Of one item, or of several."""
    items = getattr(value, "items", None) or ((getattr(value, "file", ""), getattr(value, "text", "")),)
    rows = [f"{f'now in {file}' if file else 'dropped'}: {text}" for file, text in items]
    rows += [f"'knowledge undo {value.run}' takes this back"]
    return "\n".join(rows + [f"note: {value.warning}"] * bool(value.warning)) + "\n"


_OF_RUN = option("--run", "every item that this harvest has held back", "RUN")


_WHICH = (
    Argument(
        ("match",),
        "a part of the item's text, or numbers as the list shows them: 3, 5-9",
        {"nargs": "*", "metavar": "MATCH"},
    ),
    flag("--all", "every item that is held back"),
    _OF_RUN,
)


COMMANDS = (
    group(
        "quarantine",
        SUMMARY["quarantine"],
        'accept "port 8080"',
        single("list", "what is held back, and why", "", quarantine, quarantine_text, _OF_RUN),
        single("accept", "let items in", '"port 8080"', quarantine, released_text, *_WHICH, given={"action": "accept"}),
        single("drop", "remove items", "5-9", quarantine, released_text, *_WHICH, given={"action": "drop"}),
    ),
)
