"""Settings through a face that has seen the file: what somebody else wrote meanwhile must stay."""

from __future__ import annotations

import hashlib
from pathlib import Path

from core.base.result import Err, Ok
from core.commands.settings import config_set, settings_to_open
from core.commands.workspace import open_workspace, reopened

BEFORE = b"# mine\n[ai_settings.knowledge]\ndigest_enabled = true   # on since spring\n"


def test_a_switch_is_refused_when_the_file_changed_since_it_was_seen(tmp_path: Path) -> None:
    """The panel's switch must not write over an edit that an editor saved a moment ago."""
    file = tmp_path / "config.toml"
    file.write_bytes(BEFORE)
    opened = open_workspace(str(tmp_path / "home"), file, {}, tmp_path)
    assert isinstance(opened, Ok)
    seen = hashlib.sha256(BEFORE).hexdigest()
    file.write_bytes(BEFORE + b"# theirs\n")
    refused = config_set(opened.value, "digest_enabled", "false", seen)
    assert isinstance(refused, Err) and refused.error.code == "changed-outside"
    assert file.read_bytes() == BEFORE + b"# theirs\n"
    seen = hashlib.sha256(BEFORE + b"# theirs\n").hexdigest()
    assert isinstance(config_set(opened.value, "digest_enabled", "false", seen), Ok)
    assert file.read_bytes() == BEFORE.replace(b"= true ", b"= false ") + b"# theirs\n"


def test_settings_that_are_gone_are_no_longer_in_force(tmp_path: Path) -> None:
    """A person deletes their settings file while the panel or the server runs: the shipped ones count, and nobody is
    told of a --config that was never given."""
    environment = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "config")}
    file = tmp_path / "config" / "manual_slop" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text("[ai_settings.knowledge]\njobs = 2\n")
    (tmp_path / "elsewhere").mkdir()
    workspace = open_workspace(str(tmp_path / "home"), None, environment, tmp_path / "elsewhere")
    assert isinstance(workspace, Ok) and workspace.value.config.jobs == 2
    again = reopened(workspace.value)
    assert isinstance(again, Ok) and again.value.loaded.found_by == workspace.value.loaded.found_by
    file.unlink()
    gone = reopened(workspace.value)
    assert isinstance(gone, Ok) and gone.value.loaded.found_by == "shipped"
    file.write_text("[ai_settings.knowledge]\njobs = 3\n")
    back = reopened(gone.value)
    assert isinstance(back, Ok) and back.value.config.jobs == 3


def test_the_file_that_is_opened_for_settings_is_ones_own(tmp_path: Path) -> None:
    """What a person writes into the shipped file is gone with the next update."""
    environment = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "config")}
    workspace = open_workspace(str(tmp_path / "home"), None, environment, tmp_path)
    assert isinstance(workspace, Ok) and workspace.value.loaded.found_by == "shipped"
    made = settings_to_open(workspace.value)
    assert made == Ok(tmp_path / "config" / "manual_slop" / "config.toml")
    assert made.value.read_text().startswith("# Your settings") and isinstance(reopened(workspace.value), Ok)
    made.value.write_text("[ai_settings.knowledge]\njobs = 3\n")
    assert settings_to_open(workspace.value) == made and "jobs" in made.value.read_text()
