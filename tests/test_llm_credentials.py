"""Keys: found where the user put them, refused where others can read them, never shown."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from core.base.result import Err, Ok
from core.llm.credentials import keys_from, read_keys

KEY = "-".join(("sk", "made", "up", "0123456789"))
OTHER = "-".join(("sk", "other", "9876543210"))
posix_only = pytest.mark.skipif(os.name != "posix", reason="permission bits are POSIX")


def write(folder: Path, content: str | bytes, mode: int = 0o600) -> Path:
    """A credentials file with this content and mode."""
    path = folder / "credentials.toml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    path.chmod(mode)
    return path


def refused(result: object, code: str, *words: str) -> None:
    assert isinstance(result, Err), result
    sentence = str(result.error)
    assert result.error.code == code and result.error.hint
    for word in words:
        assert word in sentence
    assert KEY not in sentence and OTHER not in sentence


def test_the_environment_comes_first_in_the_order_of_its_variables(tmp_path: Path) -> None:
    """Else a key set for one run would be overruled by an old one in a file."""
    path = write(tmp_path, f'[keys]\ngemini = "{OTHER}"\n')
    find = keys_from(path, {"GEMINI_API_KEY": "", "GOOGLE_API_KEY": f" {KEY}\n"})
    assert find("gemini", ("GEMINI_API_KEY", "GOOGLE_API_KEY")) == Ok(KEY)
    assert find("gemini", ("ELSEWHERE",)) == Ok(OTHER)


def test_no_key_anywhere_is_no_error_yet(tmp_path: Path) -> None:
    """A server at home needs none; who needs one says so."""
    assert keys_from(tmp_path / "credentials.toml", {})("openai", ("OPENAI_API_KEY",)) == Ok("")
    assert keys_from(None, {})("openai", ("OPENAI_API_KEY",)) == Ok("")
    assert keys_from(write(tmp_path, "# nothing yet\n"), {})("openai", ()) == Ok("")


@posix_only
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o644])
def test_a_file_that_others_can_open_is_refused(tmp_path: Path, mode: int) -> None:
    """Else everyone on a shared computer could read, or replace, the key."""
    path = write(tmp_path, f'[keys]\nopenai = "{KEY}"\n', mode)
    refused(keys_from(path, {})("openai", ()), "credentials-exposed", str(path), f"{mode:04o}", "chmod 600")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (f'[keys]\nopenai = "{KEY}\n', ("line 2",)),
        (f"[keys]\n\nopenai = {KEY}\n", ("line 3",)),
        (f'[keys]\nopenai = "{KEY}"\nopenai = "{OTHER}"', ("at its end",)),
        (f'keys = "{KEY}"\n', ("not a table",)),
        (f'[keys]\nopenai = ["{KEY}"]\n', ("'openai'", "not a string")),
        (b'[keys]\nopenai = "\xff"\n', ("UTF-8",)),
        ("#" * 70_000, ("too large",)),
        ("a = " + "[" * 20_000, ("TOML",)),
        ("a = " + "9" * 20_000, ("TOML",)),
    ],
)
def test_a_malformed_file_is_told_without_showing_it(tmp_path: Path, content: str | bytes, words: list[str]) -> None:
    """Else a typing error would end in a traceback that shows the key."""
    path = write(tmp_path, content)
    refused(keys_from(path, {})("openai", ()), "credentials-malformed", str(path), *words)


@posix_only
def test_what_is_no_file_is_told(tmp_path: Path) -> None:
    """Else a folder or a FIFO of this name would stop or hold the program."""
    fifo = tmp_path / "credentials.toml"
    os.mkfifo(fifo, 0o600)
    refused(read_keys(fifo), "credentials-unreadable", "regular file")
    refused(read_keys(tmp_path), "credentials-unreadable")
    refused(read_keys(fifo / "below"), "credentials-unreadable", "directory")


@pytest.mark.parametrize("key", [f"{KEY}\n{OTHER}", f"{KEY} x", "schlüssel", "a\x00b"])
def test_a_key_that_no_header_can_carry_is_told(key: str) -> None:
    """Else a key pasted with a line break would fail deep in the HTTP library, which quotes it."""
    refused(
        keys_from(None, {"OPENAI_API_KEY": key})("openai", ("OPENAI_API_KEY",)), "bad-credentials", "OPENAI_API_KEY"
    )
