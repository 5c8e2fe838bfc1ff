"""Connections: what was written into the files of other tools, planned as plain data, carried out, and taken back.

The record lies in the user's settings folder with a copy of each file as it was. Whoever takes a connection back gets
that copy where nobody has changed the file since, to the byte; else only our own parts leave it. A file of another tool
is written only whole, and only where it still is what the plan saw.
"""

from __future__ import annotations

import json
import os
import shlex
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.agents import json_text
from core.agents.entries import as_row, has, is_changed, of_row, put, sha, take
from core.agents.tools import AGENT, END, HINTS, PARTS, START, Agent, Entry, Program
from core.base import files
from core.base.homes import own_target
from core.base.paths import user_folder
from core.base.result import ErrorInfo, KnowledgeError, Ok, attempt, disk_errors
from core.base.secrets.redact import redact

MAX_BYTES = 64 << 20
RECORD_BYTES = 4 << 20


@dataclass(frozen=True)
class FileChange:
    """One file of a tool as it is and as it will be; None: it is not there."""

    tool: str
    path: Path
    before: bytes | None
    after: bytes | None
    parts: tuple[str, ...] = ()

    @property
    def is_change(self) -> bool:
        return self.before != self.after

    def to_json(self) -> dict[str, Any]:
        """Both as text without secrets; `existed` and `exists` tell an empty file from none."""
        return {
            "tool": self.tool,
            "path": str(self.path),
            "before": shown_text(self.before),
            "after": shown_text(self.after),
            "existed": self.before is not None,
            "exists": self.after is not None,
        }


def shown_text(data: bytes | None) -> str:
    """A file of another tool as it may be shown: such files hold keys, and what is shown is copied into reports."""
    return redact((data or b"").decode("utf-8", "replace")).text


@dataclass(frozen=True)
class Plan:
    """All that a tool needs, or none of it: `errors` say what stands in the way of it."""

    tool: str
    changes: tuple[FileChange, ...] = ()
    notes: tuple[str, ...] = ()
    errors: tuple[ErrorInfo, ...] = ()


@dataclass(frozen=True)
class Standing:
    """Whether a tool is connected. `parts` are the parts that stand, `missing` those of a connection that was made and
    are gone, `problems` sentences on why what stands does not work, `less` what a connection with this tool does not
    give. `outdated`: another version wrote what stands, or it was written for another home."""

    tool: str
    title: str
    there: bool
    connected: bool
    parts: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    less: str = ""
    outdated: bool = False


# --- the record ------------------------------------------------------------------------------------------------------


@dataclass
class Record:
    """What was done, by tool and file. A row: `before` and `after` are sha256 ("" for no file), `copy` the name of the
    copy, `folders` those that were made, `entries` what was put in."""

    folder: Path
    tools: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)

    @property
    def file(self) -> Path:
        return self.folder / "record.json"

    def write(self) -> None:
        """Raises OSError."""
        if self.tools:
            files.make_folder(self.folder)
            files.write_atomic(self.file, json.dumps(self.tools, indent=1).encode(), 0o600)
        else:
            files.remove_file(self.file)
            files.remove_if_empty(self.folder)

    def copy_of(self, row: Mapping[str, Any]) -> Path | None:
        """The copy that a row names, which lies in our own folder whatever stands in the record."""
        name = os.path.basename(str(row.get("copy", "")))
        return self.folder / name if name else None

    def drop_copy(self, row: Mapping[str, Any]) -> None:
        if (copy := self.copy_of(row)) is not None:
            files.discard(copy)


def read_record(environment: Mapping[str, str]) -> Record:
    """The record of this user; an empty one where there is none, or none that can be read."""
    record = Record(user_folder(environment) / "connections")
    for tool, rows in (files.read_object(record.file, RECORD_BYTES) or {}).items():
        if isinstance(rows, dict) and all(isinstance(row, dict) for row in rows.values()):
            record.tools[str(tool)] = rows
    return record


def _read(path: Path) -> bytes | None:
    """The bytes of a file of the user's own, None where there is none. Raises OSError."""
    try:
        return files.read_file(own_target(path), MAX_BYTES).data
    except FileNotFoundError:
        return None


# --- connecting ------------------------------------------------------------------------------------------------------


TO_END_HINTS = "with it come hints: 'knowledge hints' lists them, 'knowledge hints --off EVENT' ends them"


def plan_connection(agent: Agent, program: Program, environment: Mapping[str, str], record: Record) -> Plan:
    """What the files of a tool would become. Nothing is written."""
    errors, changes = list[ErrorInfo](), list[FileChange]()
    known = record.tools.get(agent.name, {})
    for file, entries in _by_file(agent.entries(program, environment)):
        try:
            current = _read(file)
            _require_writable(file)
        except OSError as error:
            errors.append(_left(file, error, agent))
            continue
        row = known.get(str(file))
        stands = row is not None and not _outdated(file, row, entries)
        stands = stands and all(has(entry, current) for entry in entries if entry.part)
        data = current if stands else _without_ours(current, file, row, record)
        for entry in entries:
            if stands and has(entry, data):
                continue
            new = attempt(put, entry, data)
            if isinstance(new, KnowledgeError):
                if not (entry.part or new.error.code != "taken"):
                    continue  # it has a version of its own
                errors.append(_left(file, new, agent))
                break
            data = new.value
        else:
            parts = tuple(entry.part for entry in entries if entry.part)
            changes.append(FileChange(agent.name, file, current, data, parts))
    if errors:
        return Plan(agent.name, errors=tuple(errors))
    notes = [] if agent.is_there(environment) else [f"{agent.title} was not found on this computer"]
    notes += [agent.to_do] if agent.to_do and any(row.is_change for row in changes) else []
    notes += [TO_END_HINTS] if any(HINTS in row.parts and row.is_change for row in changes) else []
    return Plan(agent.name, tuple(changes), tuple(notes))


def _by_file(entries: Iterable[Entry]) -> list[tuple[Path, list[Entry]]]:
    found: dict[Path, list[Entry]] = {}
    for entry in entries:
        found.setdefault(entry.file, []).append(entry)
    return list(found.items())


def _require_writable(file: Path) -> None:
    """Raises OSError for a file that its owner keeps from being written: renaming over it would get round that."""
    if file.exists():
        if not stat.S_ISREG(file.stat().st_mode):
            raise OSError(0, "it is no regular file", str(file))
        if not file.stat().st_mode & stat.S_IWUSR:
            raise PermissionError(0, "it is read-only", str(file))
    folder = next(parent for parent in Path(os.path.realpath(file)).parents if parent.exists())
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(0, f"its folder {folder} is read-only", str(file))


def _left(file: Path, error: OSError | KnowledgeError, agent: Agent) -> ErrorInfo:
    """Why a file is left as it is."""
    if isinstance(error, KnowledgeError):
        code, why, hint = error.error.code, error.error.message, error.error.hint
        if code == "taken":
            hint = f"take that entry out if you want {agent.title} to be connected by this command"
    else:
        read_only = isinstance(error, PermissionError)
        hint = "make it writable, or connect the tool by hand" if read_only else "mend that, then connect again"
        code, why = "file-refused", str(error.strerror or error)
    return ErrorInfo(code, f"this file is left as it is: {why}", str(file), hint)


def _outdated(file: Path, row: Mapping[str, Any] | None, wanted: Sequence[Entry]) -> list[Entry]:
    """What an earlier connection put into a file and would not put there now."""
    return [entry for entry in of_row(file, row or {}) if entry.part and entry not in wanted]


def _without_ours(data: bytes | None, file: Path, row: Mapping[str, Any] | None, record: Record) -> bytes | None:
    """The file without what an earlier connection put there, so that it can be put there as it is wanted now."""
    if row is None or data is None:
        return data
    taken = attempt(_taken_back, data, file, row, record)
    return taken.value if isinstance(taken, Ok) else data


def _taken_back(data: bytes | None, file: Path, row: Mapping[str, Any], record: Record) -> bytes | None:
    """What a file becomes when its connection is taken back."""
    copy = record.copy_of(row)
    try:
        before = files.read_file(copy, MAX_BYTES).data if copy is not None else None
    except OSError:
        before, copy = None, Path()
    if data is None:
        return None
    if copy != Path() and sha(before) == str(row.get("before", "")) and sha(data) == row.get("after"):
        return before
    entries = of_row(file, row)
    left: bytes | None = data
    for entry in sorted(entries, key=lambda entry: not entry.part):
        if left is None or (not entry.part and _needed(left, before, entries)):
            continue
        left = take(entry, left, before)
    if not row.get("before") and left is not None and left.strip() in (b"", b"{}"):
        return None
    return left


def _needed(data: bytes, before: bytes | None, entries: Sequence[Entry]) -> bool:
    """Whether somebody else's entries came since, which need what such a file needs (the version of its form)."""
    places = {entry.path[:1] for entry in entries if entry.part}
    kept = [place for place in places if json_text.value_at(data, place) is not None]
    return any(before is None or json_text.value_at(before, place) is None for place in kept)


def carry_out(plan: Plan, agent: Agent, program: Program, environment: Mapping[str, str], record: Record) -> None:
    """Write what a plan says: the copies first, then the record, then the files. What cannot be written is taken back,
    so that a tool is connected or it is not."""
    rows = dict(record.tools.get(agent.name, {}))
    entries = dict(_by_file(agent.entries(program, environment)))
    done: list[FileChange] = []
    try:
        files.make_folder(record.folder)
        for change in plan.changes:
            if not change.is_change and str(change.path) not in rows:
                continue  # it was like that before: by the user's own hand
            written = [row for row in entries.get(change.path, []) if row.part in ("", *change.parts)]
            rows[str(change.path)] = _noted(change, written, rows.get(str(change.path)), record)
        record.tools[agent.name] = rows
        record.write()
        for change in plan.changes:
            if change.is_change:
                _write(change)
                done.append(change)
    except OSError as error:
        for change in reversed(done):
            _undo(change, rows[str(change.path)])
        _forget(agent.name, record)
        message = f"{agent.title} is not connected: {error.strerror or error}"
        raise KnowledgeError("file-refused", message, error.filename or "", "nothing was changed") from error


def _noted(
    change: FileChange, entries: Sequence[Entry], old: Mapping[str, Any] | None, record: Record
) -> dict[str, Any]:
    """The row of a file. The copy is of the file without us: that of an earlier connection where nothing else came."""
    clean = _without_ours(change.before, change.path, old, record)
    record.drop_copy(old or {})
    name = ""
    if clean is not None:
        name = f"{change.tool}-{sha(str(change.path).encode())[:8]}-{change.path.name}"
        files.write_atomic(record.folder / name, clean, 0o600)
    made = [str(folder) for folder in change.path.parents if not folder.exists()]
    made += list((old or {}).get("folders", ())) if not made else []
    return {
        "before": sha(clean),
        "after": sha(change.after),
        "copy": name,
        "folders": made,
        "entries": [as_row(entry) for entry in sorted(entries, key=lambda entry: entry.form == "own")],
    }


def _write(change: FileChange) -> None:
    """Raises OSError, also for a file that is another by now."""
    if _read(change.path) != change.before:
        raise OSError(0, "it has changed in this moment; try again", str(change.path))
    if change.after is None:
        files.remove_file(Path(os.path.realpath(change.path)))
        return
    files.make_folder(Path(os.path.realpath(change.path)).parent)
    files.write_atomic(change.path, change.after)


def _undo(change: FileChange, row: Mapping[str, Any]) -> None:
    try:
        _write(FileChange(change.tool, change.path, change.after, change.before))
        _drop_folders(row)
    except OSError:
        return  # the next 'connect --remove' has the record


def _drop_folders(row: Mapping[str, Any]) -> None:
    for folder in row.get("folders", ()):
        if os.path.isdir(str(folder)):
            files.remove_if_empty(Path(str(folder)))


def _forget(tool: str, record: Record) -> None:
    """Drop the rows of a tool whose files do not hold anything of ours."""
    rows = record.tools.get(tool, {})
    for path in list(rows):
        file = Path(path)
        try:
            data = _read(file)
        except OSError:
            continue
        if not any(entry.part and has(entry, data) for entry in of_row(file, rows[path])):
            record.drop_copy(rows[path])
            _drop_folders(rows[path])
            del rows[path]
    if not rows:
        record.tools.pop(tool, None)
    record.write()


# --- taking back -----------------------------------------------------------------------------------------------------


def plan_removal(agent: Agent, program: Program, environment: Mapping[str, str], record: Record) -> Plan:
    """What the files of a tool become without us. Where there is no record of it, what this program would write is
    taken out, and nothing else."""
    changes, errors, notes = list[FileChange](), list[ErrorInfo](), list[str]()
    rows: Mapping[str, Mapping[str, Any]] = record.tools.get(agent.name, {})
    if not rows:
        rows = {
            str(file): {"entries": [as_row(entry) for entry in entries], "before": "-", "copy": "-"}
            for file, entries in _by_file(agent.entries(program, environment))
        }
    for path, row in rows.items():
        file = Path(path)
        try:
            current = _read(file)
            if agent.name not in record.tools:
                row = {**row, "entries": _unrecorded(file, row, current)}
            left = _taken_back(current, file, row, record)
            if left != current:
                _require_writable(file)
        except (OSError, KnowledgeError) as error:
            errors.append(_left(file, error, agent))
            continue
        if left != current or str(file) in record.tools.get(agent.name, {}):
            changes.append(FileChange(agent.name, file, current, left))
            found = [entry for entry in of_row(file, row) if entry.part in PARTS]
            gone = [PARTS[entry.part] for entry in found if not has(entry, current)]
            if gone and current is not None:
                notes.append(
                    f"{file}: somebody has changed or removed this since: {', '.join(gone)}; it stays as it is"
                )
    return Plan(agent.name, tuple(changes), tuple(notes), tuple(errors))


def _unrecorded(file: Path, row: Mapping[str, Any], current: bytes | None) -> list[dict[str, Any]]:
    """The entries that may be taken without a record: in our very words, and what they need only where one stands."""
    entries = [entry for entry in of_row(file, row) if not is_changed(entry, current)]
    stands = any(entry.part and has(entry, current) for entry in entries)
    return [as_row(entry) for entry in entries if entry.part or stands]


def take_back(plan: Plan, agent: Agent, record: Record) -> None:
    """Write what a plan of a removal says, and forget the connection."""
    rows = record.tools.get(agent.name, {})
    with disk_errors("file-refused", f"{agent.title} could not be disconnected", hint="mend that, then run it again"):
        for change in plan.changes:
            if change.is_change:
                _write(change)
            row = rows.pop(str(change.path), None)
            if row is not None:
                record.drop_copy(row)
                _drop_folders(row)
        if not rows:
            record.tools.pop(agent.name, None)
        record.write()


# --- looking ---------------------------------------------------------------------------------------------------------


def entries_of(tool: str, record: Record) -> Iterator[tuple[Entry, list[str]]]:
    """What a connection put into the files of a tool, each with why it does nothing there."""
    for path, row in record.tools[tool].items():
        try:
            data = _read(Path(path))
        except OSError:
            data = None
        gone = [f"it is not found in {path} as it was written ('knowledge connect' writes it again)"]
        for entry in of_row(Path(path), row):
            if entry.part in PARTS:
                yield entry, _why_idle(entry, data or b"") if has(entry, data) else gone


def standing(agent: Agent, program: Program, environment: Mapping[str, str], record: Record) -> Standing:
    """What stands of a connection, and whether it works."""
    there = agent.is_there(environment)
    rows = record.tools.get(agent.name)
    if not rows:
        return Standing(agent.name, agent.title, there, connected=False, less=agent.less)
    parts, missing, problems = list[str](), list[str](), list[str]()
    wanted = dict(_by_file(agent.entries(program, environment)))
    for path, row in rows.items():
        file = Path(path)
        try:
            data = _read(file)
        except OSError as error:
            problems.append(f"{path} cannot be read: {error.strerror or error}")
            continue
        for entry in of_row(file, row):
            if entry.part not in PARTS:
                continue
            if not has(entry, data):
                missing.append(entry.part)
                continue
            parts.append(entry.part)
            problems += _why_idle(entry, data or b"")
    return Standing(
        agent.name,
        agent.title,
        there,
        connected=bool(parts),
        parts=tuple(part for part in PARTS if part in parts),
        missing=tuple(part for part in PARTS if part in missing),
        problems=tuple(dict.fromkeys(problems)),
        files=tuple(rows),
        less=agent.less,
        outdated=any(_outdated(Path(path), row, wanted.get(Path(path), ())) for path, row in rows.items()),
    )


def _why_idle(entry: Entry, data: bytes) -> list[str]:
    """Why an entry that stands does nothing: its program is gone, or the tool's hooks are off."""
    why = []
    words = json.dumps(entry.value)
    for name in _programs(entry):
        if not os.path.exists(name):
            why.append(f"it starts {name}, which is not there any more ('knowledge connect' writes it again)")
    if entry.form == "json" and "command" in words and entry.part in (START, END, HINTS):
        if json_text.value_at(data, ("disableAllHooks",)) is True:
            why.append(f"{entry.file} switches all hooks off (disableAllHooks)")
        if json_text.value_at(data, ("hooksConfig", "enabled")) is False:
            why.append(f"{entry.file} switches all hooks off (hooksConfig.enabled)")
    return why


def _programs(entry: Entry) -> list[str]:
    """The programs and scripts by their whole path that an entry starts."""
    value = entry.value
    if not isinstance(value, dict):
        return []
    lines = [hook.get("command", "") for hook in value.get("hooks", ()) if isinstance(hook, dict)]
    lines += [value[key] for key in ("command", "bash") if isinstance(value.get(key), str)]
    words = [*value["command"]] if isinstance(value.get("command"), list) else []
    for line in lines:
        if os.path.isabs(line) and os.path.exists(line):
            words.append(line)
            continue
        try:
            words += shlex.split(line, posix=os.name != "nt")
        except ValueError:
            continue
    return [word for word in words if os.path.isabs(word) and not word.endswith(os.sep) and _is_code(word)]


def _is_code(word: str) -> bool:
    name = os.path.basename(word).lower()
    return name.endswith(".py") or name.startswith(("python", "knowledge"))


def known_tools(record: Record) -> list[str]:
    """The tools that are connected, in the order of the table."""
    return [name for name in AGENT if name in record.tools]
