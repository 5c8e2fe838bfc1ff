"""`knowledge config`: what the settings are, where each comes from, and the change of one."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from core.base import files
from core.base.config import NEW_FILE, changed_config, writable_config_file
from core.base.result import Err, Ok, Result, fail
from core.base.settings import SETTINGS, find_setting, parse_setting, unknown_key
from core.base.trust import allow
from core.commands.workspace import Workspace, reopened


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

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def config_show(workspace: Workspace, key: str = "") -> Result[Settings]:
    """Every setting in the order of the shipped file, or only the one that is called `key`."""
    loaded = workspace.loaded
    rows = tuple(
        SettingValue(row.key, _plain(getattr(loaded.config, row.key)), loaded.origins[row.key], row.accepted)
        for row in SETTINGS
    )
    writable = writable_config_file(loaded, workspace.environment)
    chosen = tuple(row for row in rows if key in ("", row.key))
    if not chosen:
        return unknown_key(key)
    return Ok(Settings(str(loaded.file), str(writable), chosen, loaded.warnings))


def config_set(workspace: Workspace, key: str, value: str, seen: str | None = None) -> Result[Settings]:
    """Change one value and no other byte; that setting as it is now. `seen` is the sha256 of the file that the person
    saw, if they saw it."""
    wanted = parse_setting(key, value)
    if isinstance(wanted, Err):
        return wanted
    if key == "sources" and isinstance(wanted.value, tuple):
        from core.commands.sources import chosen_sources, unknown_sources

        unknown = [name for name in wanted.value if isinstance(chosen_sources([name]), Err)]
        if unknown:
            return fail("bad-setting", unknown_sources(unknown))
    file = writable_config_file(workspace.loaded, workspace.environment)
    refused = _write_setting(workspace, file, key, wanted.value, seen)
    if refused is not None:
        return refused
    again = reopened(workspace)
    if isinstance(again, Err):
        return again
    shown = config_show(again.value, _key_of(key))
    origin = again.value.loaded.origins[_key_of(key)]
    if isinstance(shown, Err):
        return shown
    warnings = shown.value.warnings
    if origin != str(file) and again.value.loaded.folder is not None:
        warnings += (f"{origin} narrows {_key_of(key)} here, so {file} holds in other folders",)
    return Ok(replace(shown.value, warnings=warnings, written=True))


def _write_setting(workspace: Workspace, file: Path, key: str, value: Any, seen: str | None) -> Err | None:
    """Put one value into the file; Err when it is another by now, or cannot be written."""
    try:
        data = _read(file)
        if seen is not None and hashlib.sha256(data).hexdigest() != seen:
            return fail("changed-outside", "the settings file has changed since you saw it", file, "look again")
        changed = changed_config(data, key, value)
        if isinstance(changed, Err):
            return changed
        if changed.value == data and file.exists():
            return None
        if workspace.loaded.found_by == "./config.toml":  # allowed as it was: what the person sets here is too
            allowed = allow(workspace.environment, {file: hashlib.sha256(changed.value).hexdigest()})
            if isinstance(allowed, Err):
                return allowed
        files.make_folder(file.parent)
        files.write_atomic(file, changed.value)
    except OSError as error:
        return fail("config-failed", f"the settings file could not be changed: {error.strerror}", file)
    return None


def settings_to_open(workspace: Workspace) -> Result[Path]:
    """The file that a person may write their settings into, made where they have none: the shipped one is not theirs,
    and the next update takes back what was written there."""
    file = writable_config_file(workspace.loaded, workspace.environment)
    try:
        if not files.exists(file):
            files.make_folder(file.parent)
            files.write_atomic(file, NEW_FILE.encode())
    except OSError as error:
        return fail("config-failed", f"the settings file could not be made: {error.strerror}", file)
    return Ok(file)


def _read(file: Path) -> bytes:
    return Path(file).read_bytes() if file.exists() else b""


def _key_of(name: str) -> str:
    """The short name of a setting that exists: `jobs` for `ai_settings.knowledge.jobs`."""
    setting = find_setting(name)
    return setting.key if setting is not None else name


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
