"""Every place on disk, in one frozen record."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

from core.base.late import dataclass

APPLICATION = "manual_slop"
PROJECT_FOLDER = ".manual_slop"


@dataclass(frozen=True)
class Paths:
    """All locations below one home; nothing here touches the disk."""

    home: Path

    @cached_property
    def conversations(self) -> Path:
        return self.home / "conversations"

    @cached_property
    def trash(self) -> Path:
        return self.conversations / ".trash"

    @cached_property
    def splits(self) -> Path:
        return self.home / "splits"

    @cached_property
    def knowledge(self) -> Path:
        return self.home / "knowledge"

    @cached_property
    def file_notes(self) -> Path:
        return self.knowledge / "files"

    @cached_property
    def digest(self) -> Path:
        return self.knowledge / "digest.md"

    @cached_property
    def ledger(self) -> Path:
        return self.knowledge / "ledger.json"

    @cached_property
    def prompts(self) -> Path:
        return self.knowledge / "prompts"

    @cached_property
    def context(self) -> Path:
        return self.knowledge / "context.md"

    @cached_property
    def memories(self) -> Path:
        return self.knowledge / "memories"

    @cached_property
    def quarantine(self) -> Path:
        return self.knowledge / "quarantine.md"

    @cached_property
    def changes(self) -> Path:
        return self.knowledge / "changes.jsonl"

    @cached_property
    def library(self) -> Path:
        return self.knowledge / "library.db"

    @cached_property
    def backups(self) -> Path:
        """Copies of the library: one before each migration, and those that a person asks for."""
        return self.knowledge / "backups"

    @cached_property
    def state(self) -> Path:
        return self.knowledge / ".state"

    @cached_property
    def lock(self) -> Path:
        return self.state / "lock"

    @cached_property
    def journal(self) -> Path:
        return self.state / "journal"

    @cached_property
    def plans(self) -> Path:
        return self.state / "plans"

    @cached_property
    def format(self) -> Path:
        return self.state / "format"

    @cached_property
    def log(self) -> Path:
        return self.state / "log"

    @cached_property
    def edits(self) -> Path:
        """Where versions before the log wrote down what an edit was about to do."""
        return self.state / "edits"

    @cached_property
    def spending(self) -> Path:
        return self.state / "spending.json"

    @cached_property
    def autopilot(self) -> Path:
        return self.state / "autopilot.json"

    @cached_property
    def autopilot_lock(self) -> Path:
        return self.state / "autopilot.lock"

    @cached_property
    def ended(self) -> Path:
        """Sessions that ended and that no harvest has looked at since, one a line."""
        return self.state / "ended"

    @cached_property
    def file_ids(self) -> Path:
        return self.state / "file_ids.json"


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
    """The person's own settings folder (on Linux ~/.config/manual_slop): config.toml, credentials.toml and what they
    have allowed (trust.py). It need not exist."""
    named = environment.get("XDG_CONFIG_HOME", "")
    if os.path.isabs(named):
        return Path(named) / APPLICATION
    if _is_plain_linux(named):
        return Path(os.path.expanduser("~/.config")) / APPLICATION
    import platformdirs

    return platformdirs.user_config_path(APPLICATION)


def _is_plain_linux(named: str) -> bool:
    """Whether the folders are those below the person's own: what `platformdirs` says on Linux where no variable names
    another, without a tenth of a start for its modules."""
    return sys.platform == "linux" and not named.strip() and os.path.isabs(os.environ.get("HOME", "/"))


ASKED = "asked-by-knowledge"
"""The name of the empty folder in which agents are asked. Tools name the sessions of a folder after it, so what one of
them writes down all the same is known by it and never harvested."""


def asking_folder(environment: Mapping[str, str]) -> Path:
    """The empty folder in which agents are asked, the same for every home."""
    return cache_folder(Path(), environment).parent.parent / ASKED


def cache_folder(home: Path, environment: Mapping[str, str]) -> Path:
    """Where the projections of one home live; deleting it loses nothing."""
    key = hashlib.sha256(os.fsencode(home)).hexdigest()[:16]
    named = environment.get("XDG_CACHE_HOME", "")
    if os.path.isabs(named):
        return Path(named) / APPLICATION / "knowledge" / key
    if _is_plain_linux(named):
        return Path(os.path.expanduser("~/.cache")) / APPLICATION / "knowledge" / key
    import platformdirs

    return platformdirs.user_cache_path(APPLICATION) / "knowledge" / key
