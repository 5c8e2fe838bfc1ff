"""`knowledge config`: what the settings are, where each comes from, and the change of one. `knowledge trust`: what a
folder's own settings and knowledge may do, and a user's yes to them (base/trust.py and base/config.py say why)."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from core.base import files
from core.base.config import NEW_FILE, Config, FolderFile, changed_config, load_config, writable_config_file
from core.base.exchange import is_loopback
from core.base.homes import is_home, why_refused
from core.base.paths import PROJECT_FOLDER, project_paths
from core.base.project import folders_around, repository_root
from core.base.result import KnowledgeError, disk_errors
from core.base.settings import SETTINGS, parse_setting, unknown_key
from core.base.trust import Trust, Yes, allow, folder_mark, forget, place_of, read_trust, unread
from core.commands.row import group, needed, optional, single
from core.commands.text import one_line
from core.commands.workspace import Clock, Workspace, reopened, utc_now
from core.knowledge.projects import here_in, known_projects


@dataclass(frozen=True)
class SettingValue:
    """One setting as it is in force: its key, its value, the file that value comes from, and what would be accepted."""

    key: str
    value: Any
    origin: str
    accepted: str


@dataclass(frozen=True)
class Settings:
    """All settings. `file` is the one that was found; `writable` is the one that a change goes to, and has gone to when
    `written` is true."""

    file: str
    writable: str
    settings: tuple[SettingValue, ...]
    warnings: tuple[str, ...]
    written: bool = False


def config_show(workspace: Workspace, key: str = "") -> Settings:
    """Every setting in the order of the shipped file, or only the one that is called `key`."""
    loaded = workspace.loaded
    values = {key: list(value) if isinstance(value, tuple) else value for key, value in vars(loaded.config).items()}
    rows = tuple(SettingValue(row.key, values[row.key], loaded.origins[row.key], row.accepted) for row in SETTINGS)
    writable = writable_config_file(loaded, workspace.environment)
    chosen = tuple(row for row in rows if key in ("", row.key))
    if not chosen:
        raise unknown_key(key)
    return Settings(str(loaded.file), str(writable), chosen, loaded.warnings)


def config_set(workspace: Workspace, key: str, value: str, seen: str | None = None) -> Settings:
    """Change one value and no other byte; that setting as it is now. `seen` is the sha256 of the file that the user
    saw, if they saw it."""
    wanted = parse_setting(key, value)
    if key in ("sources", "search_sources", "archive_without") and isinstance(wanted, tuple):
        from core.commands.sources import unknown_names, unknown_sources

        if problem := unknown_sources(wanted) if key == "sources" else unknown_names(key, wanted):
            raise KnowledgeError("bad-setting", problem)
    file = writable_config_file(workspace.loaded, workspace.environment)
    _write_setting(workspace, file, key, wanted, seen)
    again = reopened(workspace)
    shown = config_show(again, key.rpartition(".")[2])
    [now], warnings = shown.settings, shown.warnings
    if now.origin != str(file) and again.loaded.folder is not None:
        warnings += (f"{now.origin} narrows {now.key} here, so {file} holds in other folders",)
    return replace(shown, warnings=warnings, written=True)


def _write_setting(workspace: Workspace, file: Path, key: str, value: Any, seen: str | None) -> None:
    """Put one value into the file; raises KnowledgeError when it is another by now, or cannot be written."""
    with disk_errors("config-failed", "the settings file could not be changed", file):
        data = file.read_bytes() if file.exists() else b""
        if seen is not None and hashlib.sha256(data).hexdigest() != seen:
            message = "the settings file has changed since you saw it"
            raise KnowledgeError("changed-outside", message, file, "look again")
        changed = changed_config(data, key, value)
        if changed == data and file.exists():
            return
        if workspace.loaded.found_by == "./config.toml":  # allowed as it was: what the user sets here is too
            allow(workspace.environment, {file: hashlib.sha256(changed).hexdigest()})
        files.make_folder(file.parent)
        files.write_atomic(file, changed)


def reads_here(config: Config) -> bool:
    """Whether what reads the conversations is asked on this computer: by its address, where it has one."""
    from core.llm.generate import LOCAL, PROVIDERS

    spec = PROVIDERS.get(config.provider)
    return config.provider == LOCAL or is_loopback(config.base_url or (spec.base_url if spec is not None else ""))


def settings_to_open(workspace: Workspace) -> Path:
    """The file that a user may write their settings into, made where they have none: the shipped one is not theirs,
    and the next update takes back what was written there."""
    file = writable_config_file(workspace.loaded, workspace.environment)
    with disk_errors("config-failed", "the settings file could not be made", file):
        if not files.exists(file):
            files.make_folder(file.parent)
            files.write_atomic(file, NEW_FILE.encode())
    return file


# --- what a folder's own settings and knowledge may do ----------------------------------------------------------------

FOLDER_SETTINGS, PROJECT, FILE, REPOSITORY = "settings", "project", "file", "repository"
TRUSTED, WAITING, HARMLESS, REFUSED, CHANGED, GONE = "trusted", "waiting", "harmless", "refused", "changed", "gone"


@dataclass(frozen=True)
class TrustRow:
    """One thing that a yes is about.

    `kind`: `settings` (a config.toml), `project` (a `.manual_slop`, whatever it will hold), `file` (one file in a
    project, as it is) or `repository` (the `.git` of a copy of a project, which gets that project's lines). `state`:
    `trusted`, `waiting`, `harmless` (settings that only narrow), `refused` (no yes helps), and of what was allowed once
    `changed` or `gone`. `says` is what it would do or holds, `mark` what was looked at.
    """

    path: str
    kind: str
    state: str
    says: tuple[str, ...] = ()
    at: str = ""
    mark: str = ""


@dataclass(frozen=True)
class TrustReport:
    """`here`: what lies around the current folder. `allowed`: all else that was allowed. `changed`: what this command
    allowed or forgot."""

    action: str
    here: tuple[TrustRow, ...]
    allowed: tuple[TrustRow, ...]
    changed: tuple[TrustRow, ...] = ()
    warnings: tuple[str, ...] = ()


def trust_list(workspace: Workspace) -> TrustReport:
    """What waits here for the user's word, and what was allowed."""
    return _report(workspace, "list")


def trust_allow(workspace: Workspace, file: str = "", *, seen: str | None = None, now: Clock = utc_now) -> TrustReport:
    """Allow what waits here, or one file or project; `seen` is the `mark` that the user looked at, for one file."""
    around = [] if file else here(workspace)
    waiting = [row for row in around if row.state == WAITING]
    rows = _named(workspace, file) if file else waiting or [row for row in around if row.state == REFUSED]
    for row in rows:
        if row.state == REFUSED:
            raise KnowledgeError("not-own", row.says[0], row.path)
        if seen is not None and seen != row.mark:
            message = "this has changed since you saw it; nothing was allowed"
            raise KnowledgeError("changed-outside", message, row.path, "look")
    allow(workspace.environment, {Path(row.path): row.mark for row in rows}, now)
    return _report(reopened(workspace), "allow", tuple(rows))


def trust_forget(workspace: Workspace, file: str = "") -> TrustReport:
    """Take back what was allowed here, or one file or project."""
    known = read_trust(workspace.environment)
    around = [row.path for row in here(workspace)]  # a project of which every file was allowed has no row there
    around += [str(place_of(project_paths(folder).home)) for folder in folders_around(workspace.cwd)]
    if file:
        path = place_of(Path(os.path.abspath(workspace.cwd / os.path.expanduser(file))))
        around = [str(path / "config.toml"), str(path / PROJECT_FOLDER), str(path / ".git")]
        around += [str(path)] if not path.is_dir() or path.name in (PROJECT_FOLDER, ".git") else []
    gone = [name for name in known.rows if any(name == row or name.startswith(row + os.sep) for row in around)]
    if not gone and file:
        raise KnowledgeError("no-file", "that was never allowed", file, "'knowledge trust' lists what was")
    rows = tuple(_record_row(name, known.rows[name]) for name in gone)
    forget(workspace.environment, gone)
    return _report(reopened(workspace), "forget", rows)


def here(workspace: Workspace) -> list[TrustRow]:
    """What lies around the current folder and needs a yes, or has one: its settings, and the project's knowledge."""
    rows = [_settings_row(found)] if (found := _settings(workspace, workspace.cwd)) is not None else []
    for folder in folders_around(workspace.cwd):
        if files.exists(project_paths(folder).home) and not is_home(folder / PROJECT_FOLDER, workspace.paths.home):
            rows += [row] if (row := _project_row(workspace, folder)) is not None else []
    return [*rows, *_repository_rows(workspace, workspace.cwd)]


NOT_TRUSTED = "not-trusted"


def unanswered(workspace: Workspace) -> list[TrustRow]:
    """What lies here, would be read, and is not: a face with a screen asks about it."""
    in_force = workspace.loaded.folder is not None
    rows = [row for row in here(workspace) if row.kind != FOLDER_SETTINGS or in_force]
    return [row for row in rows if row.state == WAITING or (row.state == REFUSED and row.kind == PROJECT)]


def asked(row: TrustRow) -> str:
    """One sentence about something that waits or is refused, for a user who may answer at once."""
    if row.state == REFUSED:
        return row.says[0]
    if row.kind == REPOSITORY:
        return f"This repository {row.says[0]}: {row.path}"
    if row.kind == PROJECT:
        return f"This project's own knowledge is not read before you trust it: {row.path}"
    return f"This folder's own settings do not count before you trust them: {row.path}"


def _settings(workspace: Workspace, folder: Path) -> FolderFile | None:
    """The folder's own settings file, also where another one is in force."""
    asked = {name: value for name, value in workspace.environment.items() if name != "SLOP_CONFIG"}
    try:
        return load_config(None, asked, folder).folder
    except KnowledgeError:
        return None


def _settings_row(found: FolderFile) -> TrustRow:
    path = str(place_of(found.path))
    if found.problem:
        return TrustRow(path, FOLDER_SETTINGS, REFUSED, (found.problem,), mark=found.sha256)
    says = tuple(f"{key} = {words}" for key, words in found.waiting)
    state = TRUSTED if found.trusted else WAITING if found.waiting else HARMLESS
    return TrustRow(path, FOLDER_SETTINGS, state, says, mark=found.sha256)


def _project_row(workspace: Workspace, project: Path, named: bool = False) -> TrustRow | None:
    """None for what is empty, unless the user `named` it: a yes may come before what it is about."""
    path = str(place_of(project_paths(project).home))
    if refused := why_refused(project):
        return TrustRow(path, PROJECT, REFUSED, (refused,))
    mark = folder_mark(project)
    if named:
        return TrustRow(path, PROJECT, WAITING, mark=mark)
    if read_trust(workspace.environment).has_folder(project):
        return TrustRow(path, PROJECT, TRUSTED, mark=mark)
    waiting = unread(project, workspace.environment)
    return TrustRow(path, PROJECT, WAITING, (f"holds {' and '.join(waiting)}",), mark=mark) if waiting else None


def _repository_rows(workspace: Workspace, folder: Path) -> list[TrustRow]:
    """The repository around a folder, where it claims to be a project that was worked on elsewhere first."""
    if not repository_root(os.path.abspath(folder)):
        return []
    try:
        known = known_projects(workspace.paths, workspace.environment)
    except KnowledgeError:
        return []
    here = here_in(os.path.abspath(folder), known, workspace.environment)
    if not here.root:
        return []
    root = Path(here.root)
    path, mark = str(place_of(root / ".git")), folder_mark(root)
    if here.waits:
        return [
            TrustRow(path, REPOSITORY, WAITING, (f"is a copy of {here.waits}, whose lines it would get",), mark=mark)
        ]
    trusted = read_trust(workspace.environment).has_repository(root)
    return [TrustRow(path, REPOSITORY, TRUSTED, mark=mark)] if trusted else []


def _named(workspace: Workspace, file: str) -> list[TrustRow]:
    """What a user means by a path: a settings file, a project's folder or its `.manual_slop`, a file in that, or a
    folder with any of them."""
    path = Path(os.path.abspath(workspace.cwd / os.path.expanduser(file)))
    inside = next((folder for folder in path.parents if folder.name == PROJECT_FOLDER), None)
    if not files.exists(path):
        message = "there is nothing of that name"
        raise KnowledgeError("no-file", message, path, "'knowledge trust' lists what waits here")
    if is_home(path if path.name == PROJECT_FOLDER else inside or path / PROJECT_FOLDER, workspace.paths.home):
        raise KnowledgeError("usage", "a home is your own and needs no yes", path)
    if path.name == ".git" and (rows := _repository_rows(workspace, path.parent)):
        return rows
    if path.name == PROJECT_FOLDER:
        path = path.parent
    elif inside is not None:
        if refused := why_refused(inside.parent):
            raise KnowledgeError("not-own", refused, inside)
        with disk_errors("unreadable", "it cannot be read", path):
            return [TrustRow(str(place_of(path)), FILE, WAITING, mark=files.sha256_of_file(path))]
    folder = path if path.is_dir() else path.parent
    rows = []
    if path.name == "config.toml" or path.is_dir():
        found = _settings(workspace, folder)
        rows += [_settings_row(found)] if found is not None else []
    if path.is_dir() and files.exists(folder / PROJECT_FOLDER):
        rows += [row] if (row := _project_row(workspace, folder, named=True)) is not None else []
    rows += _repository_rows(workspace, folder) if path.is_dir() else []
    if not rows:
        hint = f"name a config.toml with settings of ours, or a project that has {PROJECT_FOLDER}"
        raise KnowledgeError("no-file", "there is nothing in it that needs a yes", path, hint)
    return rows


def _report(workspace: Workspace, action: str, changed: tuple[TrustRow, ...] = ()) -> TrustReport:
    known, around = read_trust(workspace.environment), tuple(here(workspace))
    mine = {row.path for row in around}
    allowed = tuple(_record_row(path, row, known) for path, row in sorted(known.rows.items()) if path not in mine)
    return TrustReport(action, around, allowed, changed, (known.problem,) if known.problem else ())


def _record_row(path: str, row: Yes, known: Trust | None = None) -> TrustRow:
    place = Path(path)
    kind = FOLDER_SETTINGS if place.name == "config.toml" else FILE
    if row.is_folder:
        kind = REPOSITORY if place.name == ".git" else PROJECT
    state = TRUSTED
    if known is not None:
        if not files.exists(place.parent if row.is_folder else place):
            state = GONE
        elif not (row.mark == folder_mark(place.parent) if row.is_folder else _is_same(known, place)):
            state = CHANGED
    return TrustRow(path, kind, state, at=row.at, mark=row.mark)


def _is_same(known: Trust, path: Path) -> bool:
    try:
        return known.has_file(path, files.sha256_of_file(path))
    except OSError:
        return False


# --- at the command line --------------------------------------------------------------------------------------------


def config_text(settings: Settings) -> str:
    width = max(len(row.key) for row in settings.settings)
    values = [json.dumps(row.value, ensure_ascii=False) for row in settings.settings]
    column = min(40, max(map(len, values)))
    rows = [
        f"{row.key:<{width}} = {value:<{column}}  # {row.origin}"
        for row, value in zip(settings.settings, values, strict=True)
    ]
    where = f"written to {settings.writable}"
    if not settings.written:
        where = f"'knowledge config set KEY VALUE' writes {settings.writable}"
    return "\n".join([*rows, where]) + "\n"


def trust_text(report: TrustReport) -> str:
    rows = []
    for row in report.here:
        rows += _named_text(f"here, {row.state}", row)
    if not report.here:
        rows.append("here: nothing that needs a word of yours")
    for row in report.allowed:
        now = "" if row.state == "trusted" else f", {row.state} since"
        rows.append(f"allowed {row.at[:10]}{now}: {one_line(row.path)}")
    if any(row.state == "waiting" for row in report.here):
        rows.append("'knowledge trust allow' lets in what waits here")
    return "\n".join(rows) + "\n"


def changed_text(what: str, nothing: str, report: TrustReport) -> str:
    rows = [line for row in report.changed for line in _named_text(what, row)]
    return "\n".join(rows or [nothing]) + "\n"


def _named_text(what: str, row: TrustRow) -> list[str]:
    """A folder or file, and below it what it would do."""
    return [f"{what}: {one_line(row.path)}", *(f"  {one_line(words)}" for words in row.says)]


_FILE = optional("file", "a config.toml, a project's folder, or a file in its .manual_slop")


_KEY = "a setting's name, such as digest_enabled"


def _keys() -> list[str]:
    return [row.key for row in SETTINGS]


COMMANDS = (
    group(
        "config",
        "set provider ollama",
        single(
            "show",
            "every setting, or only KEY, with the file that its value comes from",
            "provider",
            config_show,
            config_text,
            optional("key", _KEY)._replace(offers=_keys),
        ),
        single(
            "set",
            "change one setting in your own config.toml",
            "jobs 2",
            config_set,
            config_text,
            needed("key", _KEY)._replace(offers=_keys),
            needed("value", "its new value"),
        ),
    ),
    group(
        "trust",
        "allow",
        single("list", "what waits here for your word, and what you have allowed", "", trust_list, trust_text),
        single(
            "allow",
            "allow what waits here, or FILE",
            "",
            trust_allow,
            partial(changed_text, "allowed", "nothing here waits for your word"),
            _FILE,
        ),
        single(
            "forget",
            "take back what was allowed here, or FILE",
            ".",
            trust_forget,
            partial(changed_text, "forgotten", "nothing here was allowed"),
            _FILE,
        ),
    ),
)
