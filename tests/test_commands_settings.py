"""Settings through a face that has seen the file: what somebody else wrote meanwhile must stay."""

from __future__ import annotations

import hashlib
from pathlib import Path

from core.base.result import Err, Ok
from core.commands.settings import config_set
from core.commands.workspace import open_workspace

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
