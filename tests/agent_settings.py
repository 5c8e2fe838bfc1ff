"""Settings files of other tools as people have them, and a home folder in which none is: for `knowledge connect`."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from tests.cli_call import call

JSON_SETTINGS = {
    "plain": b'{\n  "model": "opus",\n  "permissions": {\n    "allow": ["Bash(ls:*)"]\n  }\n}\n',
    "comments": b'// mine\n{\n  /* a block */\n  "model": "opus", // why\n  "x": 1 // last\n  // the end\n}\n',
    "trailing commas": b'{\n\t"theme": "dark",\n\t"list": [\n\t\t1,\n\t\t2,\n\t],\n}',
    "one line": b'{"a":1,"b":[{"c":"d"}]}',
    "one line, spaced": b'{"a": 1, "b": {"c": []}}\n',
    "crlf": b'{\r\n    "a": 1,\r\n    "b": "\xc3\xbc"\r\n}\r\n',
    "byte order mark": b'\xef\xbb\xbf{\n  "a": 1\n}\n',
    "empty object": b"{}",
    "empty object, spaced": b"{ \n}\n",
    "empty": b"",
    "blank": b"\n\n",
    "comment alone": b"// nothing here yet\n",
    "same name twice": b'{"hooks": 1, "hooks": {}, "mcpServers": {}, "servers": {}, "mcp": {}}',
    "quotes and braces in texts": b'{"a": "} // no, \\" { [", "b\\"": "/* */"}',
    "no line end": b'{\n "a": {\n  "b": 1\n }\n}',
    "others": b'{"mcpServers": {"x": {"command": "y"}}, "servers": {"x": {}}, "mcp": {"x": {}}, "version": 1, "hooks": '
    b'{"SessionStart": [{"hooks": [{"type": "command", "command": "other"}]}], "sessionStart": [], "SessionEnd": []}}',
    "others, commented": b'{\n  "mcpServers": {\n    // work\n    "x": {"command": "y"}, // keep\n  },\n  "hooks": {\n'
    b'    "SessionEnd": [\n      // none\n    ],\n  },\n}\n',
}
TOML_SETTINGS = {
    "plain": b'model = "gpt-5"\n\n[mcp_servers.x]\ncommand = "y"\n',
    "no line end": b'model = "gpt-5" # mine',
    "crlf": b'# mine\r\nmodel = "gpt-5"\r\n[[profiles]]\r\na = 1\r\n',
    "inline": b'mcp_servers = { x = { command = "y" } } # keep\nother = 1\n',
    "dotted": b'mcp_servers.x.command = "y"\n',
    "byte order mark": b"\xef\xbb\xbfa = 1\n",
    "empty": b"",
}
RULES = {
    "plain": b"# Rules\n\n- Be brief.\n",
    "no line end": b"- Be brief.",
    "crlf": b"# Rules\r\n- Be brief.\r\n",
    "empty": b"",
    "no text": b"caf\xc3\xa9\n",
}


@pytest.fixture(name="person")
def person_fixture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder in which nothing is, and no tool on the PATH."""
    home = tmp_path / "person"
    home.mkdir()
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(home))
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr("core.commands.daily.connect.set_free", lambda words: True)
    return home


def put(path: Path, text: str | bytes) -> Path:
    """A file as somebody left it, in folders that are made for it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def works(*words: str) -> str:
    """What a command prints that must not fail."""
    code, out, err = call(*words)
    assert code == 0, err
    return out


def files_of(tool: str) -> list[Path]:
    """The files that a connection of the tool writes."""
    rows = json.loads(works("connect", tool, "--dry-run", "--json"))["files"]
    found = list(dict.fromkeys(Path(row["path"]) for row in rows))
    assert all(path.is_relative_to(os.environ["HOME"]) for path in found), "only the user's own folders"
    return found


def snapshot(folder: Path) -> dict[str, object]:
    """Every file, folder and link below a folder, to the byte, with its rights."""
    seen: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        name, mode = str(path.relative_to(folder)), stat.S_IMODE(path.lstat().st_mode)
        if name.startswith(os.path.join(".config", "manual_slop")) or name == ".config":
            continue
        seen[name] = os.readlink(path) if path.is_symlink() else (mode, path.read_bytes() if path.is_file() else None)
    return seen


def content_for(path: Path, number: int) -> bytes | None:
    """What a file of that name may hold; None where there are no more kinds of it."""
    table = TOML_SETTINGS if path.suffix == ".toml" else RULES if path.suffix == ".md" else JSON_SETTINGS
    return next(iter([*table.values()][number:]), None)


def doctor() -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads(call("doctor", "--json")[1])["findings"]
    return [row for row in found if str(row["code"]).startswith("connect")]
