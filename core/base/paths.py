"""Every place on disk, in one frozen record."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

APPLICATION = "manual_slop"
PROJECT_FOLDER = ".manual_slop"


class _Below:
    """A place below the home, made when it is first asked for."""

    def __init__(self, below: str) -> None:
        self._below = below

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, paths: Paths, owner: type) -> Path:
        found = vars(paths)[self._name] = paths.home / self._below
        return found


@dataclass(frozen=True)
class Paths:
    """All locations below one home; nothing here touches the disk."""

    home: Path

    conversations = _Below("conversations")
    trash = _Below("conversations/.trash")
    splits = _Below("splits")
    knowledge = _Below("knowledge")
    file_notes = _Below("knowledge/files")
    digest = _Below("knowledge/digest.md")
    ledger = _Below("knowledge/ledger.json")
    prompts = _Below("knowledge/prompts")
    context = _Below("knowledge/context.md")
    memories = _Below("knowledge/memories")
    quarantine = _Below("knowledge/quarantine.md")
    changes = _Below("knowledge/changes.jsonl")
    library = _Below("knowledge/library.db")
    # How what was handed out has served.
    experience = _Below("knowledge/experience.db")
    # Copies of the library: one before each migration, and those that a user asks for.
    backups = _Below("knowledge/backups")
    # Conversations that their tools delete.
    archive = _Below("knowledge/archive")
    state = _Below("knowledge/.state")
    lock = _Below("knowledge/.state/lock")
    journal = _Below("knowledge/.state/journal")
    plans = _Below("knowledge/.state/plans")
    format = _Below("knowledge/.state/format")
    log = _Below("knowledge/.state/log")
    spending = _Below("knowledge/.state/spending.json")
    # What hooks handed to agents: one file a session.
    hints = _Below("knowledge/.state/hints")
    autopilot = _Below("knowledge/.state/autopilot.json")
    autopilot_lock = _Below("knowledge/.state/autopilot.lock")
    # Sessions that ended and that no harvest has looked at since, one a line.
    ended = _Below("knowledge/.state/ended")
    file_ids = _Below("knowledge/.state/file_ids.json")


def project_paths(project: Path) -> Paths:
    """The places of a project's own knowledge: `<project>/.manual_slop/knowledge/…`, laid out like a home's."""
    return Paths(project / PROJECT_FOLDER)


def shipped_root() -> Path:
    """The folder that holds assets/: the checkout, or where the wheel was installed."""
    return Path(__file__).resolve().parents[2]


def choose_home(explicit: str, setting: str, environment: Mapping[str, str]) -> Path:
    """`--home`, then MANUAL_SLOP_HOME, then `[paths].home` of config.toml, then ~/.manual_slop; always absolute."""
    chosen = explicit or environment.get("MANUAL_SLOP_HOME", "") or setting or "~/.manual_slop"
    return Path(os.path.abspath(os.path.expanduser(chosen)))  # symbolic links stay as they are


def user_folder(environment: Mapping[str, str]) -> Path:
    """The user's own settings folder (on Linux ~/.config/manual_slop): config.toml, credentials.toml and what they
    have allowed (trust.py). It need not exist."""
    named = environment.get("XDG_CONFIG_HOME", "")
    if os.path.isabs(named):
        return Path(named) / APPLICATION
    import platformdirs

    return platformdirs.user_config_path(APPLICATION)


def trust_file(environment: Mapping[str, str]) -> Path:
    """Where it is written down what the user has allowed. It need not exist."""
    return user_folder(environment) / "trusted.json"


ASKED = "asked-by-knowledge"
"""The name of the empty folder in which programs are asked. Tools name the sessions of a folder after it, so what one
of them writes down all the same is known by it and never harvested."""
ASKED_LINE = "(The program knowledge-memory asks this, not its user.)"
"""The first line of what programs are asked: a tool may keep the question without the folder."""


def asking_folder(environment: Mapping[str, str]) -> Path:
    """Where programs are asked, each question in a folder of its own; the same for every home."""
    return cache_folder(Path(), environment).parent.parent / ASKED


def state_folder(environment: Mapping[str, str]) -> Path:
    """Where the panel remembers the size and place of its window."""
    named = environment.get("XDG_STATE_HOME", "")
    if os.path.isabs(named):
        return Path(named) / APPLICATION
    import platformdirs

    return platformdirs.user_state_path(APPLICATION, appauthor=False)


def cache_folder(home: Path, environment: Mapping[str, str]) -> Path:
    """Where the projections of one home live; deleting it loses nothing."""
    key = hashlib.sha256(os.fsencode(home)).hexdigest()[:16]
    named = environment.get("XDG_CACHE_HOME", "")
    if os.path.isabs(named):
        return Path(named) / APPLICATION / "knowledge" / key
    import platformdirs

    return platformdirs.user_cache_path(APPLICATION) / "knowledge" / key
