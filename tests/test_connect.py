"""`knowledge connect`: a person lets other tools use their knowledge, and gets their files back as they were.

What they would lose: their own settings in those files, which hold keys, years of habits and other people's servers.
"""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

from core.agents import hand_over, json_text
from core.agents.tools import AGENT, AGENTS, agent_name
from core.cli.main import main
from core.llm.command import MARK
from tests.cli_call import call
from tests.corpus import CORPUS
from tests.waiting import PATIENCE_SECONDS, wait_until

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


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
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


def files_of(tool: str) -> list[Path]:
    """The files that a connection of the tool writes."""
    home, found = Path(os.environ["HOME"]), dict.fromkeys(())
    code, out, err = call("connect", tool, "--dry-run", "--json")
    assert code == 0, err
    found = dict.fromkeys(Path(row["path"]) for row in json.loads(out)["files"])
    assert all(path.is_relative_to(home) for path in found), "only the person's own folders"
    return list(found)


def snapshot(folder: Path) -> dict[str, object]:
    """Every file, folder and link below a folder, to the byte, with its rights."""
    seen: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        name, mode = str(path.relative_to(folder)), stat.S_IMODE(path.lstat().st_mode)
        if name.startswith(os.path.join(".config", "manual_slop")) or name == ".config":
            continue
        seen[name] = os.readlink(path) if path.is_symlink() else (mode, path.read_bytes() if path.is_file() else None)
    return seen


def content_for(path: Path, kind: str) -> bytes | None:
    table = TOML_SETTINGS if path.suffix == ".toml" else RULES if path.suffix == ".md" else JSON_SETTINGS
    return table.get(kind)


@pytest.mark.parametrize("tool", list(AGENT))
@pytest.mark.parametrize("kind", sorted({*JSON_SETTINGS, *TOML_SETTINGS, *RULES}))
def test_a_connection_taken_back_leaves_every_file_as_it_was(tool: str, kind: str, person: Path) -> None:
    """To the byte: comments, commas, line ends, marks, other servers and hooks. In between every part stands."""
    made = 0
    for path in files_of(tool):
        if path.name.endswith("instructions.md") and path.parent.name == "prompts":
            continue  # that file is ours alone
        data = content_for(path, kind)
        if data is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            path.chmod(0o640)
            made += 1
    before = snapshot(person)
    code, out, err = call("connect", tool, "--json")
    assert code == 0, err
    told = json.loads(out)
    assert (
        told["applied"] and set(told["tools"][0]["parts"]) >= {"server", "start"} and not told["tools"][0]["problems"]
    )
    assert {row["path"]: row["before"].encode() for row in told["files"] if row["existed"]} == {
        str(person / name): row[1] for name, row in before.items() if isinstance(row, tuple) and row[1] is not None
    }
    assert snapshot(person) != before
    for row in told["files"]:
        assert Path(row["path"]).read_bytes() == row["after"].encode()
        if Path(row["path"]).suffix == ".toml":
            tomllib.loads(row["after"].removeprefix("\ufeff"))
        if made and row["existed"]:
            kept(row["before"], row["after"])
    again = json.loads(call("connect", tool, "--json")[1])
    assert not again["files"] and again["tools"][0]["connected"], "a second time changes nothing"
    code, out, err = call("connect", tool, "--remove", "--json")
    assert code == 0 and json.loads(out)["applied"], err
    assert snapshot(person) == before
    assert not (person / ".config" / "manual_slop" / "connections").exists(), "no copy of somebody's keys stays behind"


def kept(before: str, after: str) -> None:
    """Every character of the text before stands in the text after, in its order."""
    rest = iter(after)
    assert all(char in rest for char in before)


@pytest.mark.parametrize("tool", list(AGENT))
def test_what_the_tool_changed_since_stays(tool: str, person: Path) -> None:
    """The tool writes its own files too: then only our parts leave them, and its own lines stay."""
    first = next(path for path in files_of(tool) if path.suffix in (".json", ".toml"))
    first.parent.mkdir(parents=True, exist_ok=True)
    before = (
        b'{\n  "a": 1,\n  "hooks": {\n    "Stop": []\n  }\n}\n' if first.suffix == ".json" else b"a = 1\n[t]\nx = 2\n"
    )
    first.write_bytes(before)
    assert call("connect", tool)[0] == 0
    data = first.read_bytes()
    changed = data.replace(b'"a": 1', b'"a": 2').replace(b"a = 1", b"a = 2")
    assert changed != data
    first.write_bytes(changed)
    code, _, err = call("connect", tool, "--remove")
    assert code == 0, err
    assert first.read_bytes() == before.replace(b'"a": 1', b'"a": 2').replace(b"a = 1", b"a = 2")


EDITED = {
    "json": [
        b'{\n  "alpha": 1 // why\n  // the end\n}\n',
        b'{\n    "alpha": 1\n  , "beta": 2\n}',
        b'{"alpha":1,"servers":{},"mcpServers":{},"mcp":{}}',
        b'\xef\xbb\xbf{\r\n\t"alpha": 1,\r\n\t"hooks": {\r\n\t},\r\n}',
        b'{\n  "alpha": 1,\n  "hooks": {\n    // later\n  },\n  "servers": { /* none */ },\n  "mcp": {\n  // x\n}}\n',
        b'        {\n            "alpha": 1\n        }\n   ',
        b'{\n\t"alpha": 1,\n\t"servers": {\n   "x": {\n     "y": 1\n   }\n\t},\n\t"hooks": {"SessionEnd": [\n\n  ]}\n}',
    ],
    "toml": [
        b"alpha = 1",
        b"alpha = 1\nmcp_servers = {}\n",
        b'alpha = 1\nmcp_servers = { x = { command = "y" } } # z\n',
    ],
    "md": [b"alpha", b"alpha\r\nbeta", b"\xef\xbb\xbfalpha", b"alpha\n\n\n"],
}
"""What looking at a file as it is now cannot restore: where commas and comments stood, and how the file ended."""


@pytest.mark.parametrize("tool", list(AGENT))
@pytest.mark.parametrize("number", range(max(map(len, EDITED.values()))))
def test_what_was_edited_in_between_stays_and_all_else_is_as_before(tool: str, number: int, person: Path) -> None:
    """To the byte, as if the person had edited the file that they had before."""
    own = [path for path in files_of(tool) if path.parent.name != "prompts"]
    wanted: dict[Path, bytes] = {}
    for path in own:
        shapes = EDITED[path.suffix.removeprefix(".")]
        before = shapes[number % len(shapes)]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(before)
        wanted[path] = before.replace(b"alpha", b"omega")
    assert call("connect", tool)[0] == 0
    for path in own:
        path.write_bytes(path.read_bytes().replace(b"alpha", b"omega"))
    code, _, err = call("connect", tool, "--remove")
    assert code == 0, err
    assert {path: path.read_bytes() for path in own} == wanted


def test_a_version_that_cursor_needs_stays_where_others_need_it(person: Path) -> None:
    """Somebody's own hook that came since would be dead without it; in a file without hooks it is ours to take."""
    hooks = person / ".cursor" / "hooks.json"
    hooks.parent.mkdir()
    hooks.write_text('{\n  "alpha": 1\n}\n')
    for theirs in ({"stop": [{"command": "x"}]}, {}):
        assert call("connect", "cursor")[0] == 0
        data = json.loads(hooks.read_text())
        data["hooks"].update(theirs)
        hooks.write_text(json.dumps(data, sort_keys=True))
        assert call("connect", "cursor", "--remove")[0] == 0
        left = json.loads(hooks.read_text())
        assert left == ({"alpha": 1, "version": 1, "hooks": theirs} if theirs else {"alpha": 1})
        hooks.write_text('{"alpha": 1}')


@pytest.mark.parametrize(
    "entries", [5, [5], [{"form": "toml", "path": ["a"], "value": 5}], [{"form": "own", "path": []}]]
)
def test_a_damaged_record_is_no_traceback(entries: object, person: Path) -> None:
    """It lies in a folder that people tidy by hand; their files stay."""
    config = files_of("codex")[0]
    assert call("connect", "codex")[0] == 0
    record = person / ".config" / "manual_slop" / "connections" / "record.json"
    rows = json.loads(record.read_text())
    for row in rows["codex"].values():
        row |= {"entries": entries, "before": "x"}
    record.write_text(json.dumps(rows))
    config.write_text("a = 5\n")
    for words in ((), ("--remove", "codex")):
        code, _, err = call("connect", *words)
        assert code == 0 and not err and config.read_text() == "a = 5\n"


def test_connecting_again_brings_back_the_version_that_cursor_needs(person: Path) -> None:
    """Without it no hook of that file runs, and all of ours seemed to stand."""
    assert call("connect", "cursor")[0] == 0
    hooks = person / ".cursor" / "hooks.json"
    made = json.loads(hooks.read_text())
    hooks.write_text(json.dumps({"hooks": made["hooks"]}))
    assert call("connect", "cursor")[0] == 0 and json.loads(hooks.read_text()) == made
    assert call("connect", "cursor", "--remove")[0] == 0 and not hooks.exists()


def test_what_a_tool_adds_to_our_entry_stays_and_goes_with_it(person: Path) -> None:
    """Codex writes there which calls were allowed, a person a time-out: still ours, and not "gone"."""
    config = person / ".codex" / "config.toml"
    config.parent.mkdir()
    config.write_text('model = "x"\n')
    assert call("connect", "codex")[0] == 0
    more = (
        'startup_timeout_sec = 20\n\n[mcp_servers.knowledge.tools.search]\napproval_mode = "approve"\n\n[tui]\na = 1\n'
    )
    config.write_text(config.read_text() + more)
    edited = config.read_text()
    assert [row["code"] for row in doctor()] == ["connected"]
    assert call("connect", "codex")[0] == 0 and config.read_text() == edited
    assert call("connect", "codex", "--remove")[0] == 0
    assert config.read_text() == 'model = "x"\n\n[tui]\na = 1\n'


@pytest.mark.parametrize("more", ["", '\n[mcp_servers.knowledge.tools.search]\napproval_mode = "approve"\n'])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_a_comment_behind_our_table_belongs_to_the_next_one(line_end: str, more: str, person: Path) -> None:
    """Whatever order the tables have: Codex writes what was allowed between ours and what the person had said there."""
    config = files_of("codex")[0]
    config.parent.mkdir()
    theirs = '\n# mine\n[tui]\na = 1 # why\n\n[mcp_servers.other]\ncommand = "x"\n'
    config.write_bytes(b"model = 1\n".replace(b"\n", line_end.encode()))
    assert call("connect", "codex")[0] == 0
    config.write_bytes(config.read_bytes() + ("enabled = true\n" + more + theirs).replace("\n", line_end).encode())
    code, _, err = call("connect", "codex", "--remove")
    assert code == 0, err
    assert config.read_bytes() == ("model = 1\n" + theirs).replace("\n", line_end).encode()


def test_an_entry_that_starts_something_else_now_stays_and_is_named(person: Path) -> None:
    """Somebody took the name for a server of theirs: it is not ours to take, and they learn that it is still there."""
    state = person / ".claude.json"
    state.write_text('{"a": 1}')
    assert call("connect", "claude_code")[0] == 0
    data = json.loads(state.read_text())
    data["mcpServers"]["knowledge"]["command"] = "/opt/mine"
    state.write_text(json.dumps(data))
    assert "or changed: MCP server" in str(doctor()[0]["message"])
    code, out, err = call("connect", "claude_code", "--remove")
    assert code == 0 and json.loads(state.read_text()) == data
    assert "somebody has changed or removed this since: MCP server" in out + err and str(state) in out + err


def test_a_server_that_was_registered_by_hand_stays_when_the_rest_goes(person: Path) -> None:
    """The same words as ours, typed before us: theirs, also after the tool wrote its file anew."""
    settings = files_of("gemini_cli")[0]
    settings.parent.mkdir()
    made = json.loads(json.loads(call("connect", "gemini", "--dry-run", "--json")[1])["files"][0]["after"])
    mine = {"theme": "x", "mcpServers": made["mcpServers"]}
    settings.write_text(json.dumps(mine))
    assert call("connect", "gemini")[0] == 0
    settings.write_text(json.dumps(json.loads(settings.read_text()), indent=4))
    assert call("connect", "gemini", "--remove")[0] == 0
    assert json.loads(settings.read_text()) == mine


def test_a_large_file_with_edits_at_both_ends_comes_back(person: Path) -> None:
    """Claude Code keeps its history there: too much to compare word by word, and all of it stays."""
    state = person / ".claude.json"
    rows = ",\n".join(f'  "project {at}": {{\n    "history": ["{at * "x"}"]\n  }}' for at in range(600))
    before = "{\n" + rows + "\n}"
    state.write_text(before)
    assert call("connect", "claude_code")[0] == 0
    for old, new in (('"project 0"', '"project zero"'), ('"project 598"', '"project last"')):
        state.write_text(state.read_text().replace(old, new))
        before = before.replace(old, new)
    assert call("connect", "claude_code", "--remove")[0] == 0
    assert state.read_text() == before


MEANT_FOR_OURS = {
    "a key of our table": ("codex", "config.toml", b"[tui]\na = 1\n", lambda text: text + "startup_timeout_sec = 20\n"),
    "a key of our hook": (
        "cursor",
        "hooks.json",
        b'{\n  "hooks": {"stop": [\n\n  ]}\n}',
        lambda text: text.replace('hook cursor"}', 'hook cursor", "timeout": 5}'),
    ),
}


@pytest.mark.parametrize("case", list(MEANT_FOR_OURS))
def test_what_was_written_into_our_entry_goes_with_it_and_nowhere_else(case: str, person: Path) -> None:
    """A time-out for our server must not become a setting of the table above, which the tool may refuse to read."""
    tool, name, before, edit = MEANT_FOR_OURS[case]
    path = next(row for row in files_of(tool) if row.name == name)
    path.parent.mkdir()
    path.write_bytes(before)
    assert call("connect", tool)[0] == 0
    edited = edit(path.read_text())
    assert edited != path.read_text()
    path.write_text(edited)
    assert call("connect", tool, "--remove")[0] == 0
    assert path.read_bytes() == before or json.loads(path.read_bytes()) == json.loads(before)


def test_a_hook_beside_ours_stays_where_it_was_written(person: Path) -> None:
    """A hook of the start that runs at the end instead does something else than the person wanted."""
    hooks = next(row for row in files_of("codex") if row.name == "hooks.json")
    hooks.parent.mkdir()
    hooks.write_text('{\n  "hooks": {\n    "SessionEnd": [\n      // none\n    ],\n  },\n}\n')
    assert call("connect", "codex")[0] == 0
    end = "      }\n    ],\n  },\n}"
    assert hooks.read_text().count(end) == 1
    hooks.write_text(hooks.read_text().replace(end, '      },\n      {\n        "k": "v"\n      }\n    ],\n  },\n}'))
    assert call("connect", "codex", "--remove")[0] == 0
    assert json_text.value_at(hooks.read_bytes(), ("hooks",)) == {"SessionEnd": [], "SessionStart": [{"k": "v"}]}


def test_what_stands_behind_ours_on_its_line_does_not_become_a_comment(person: Path) -> None:
    """Somebody typed on where ours ends: a line above that ends in a comment must not swallow it."""
    settings = files_of("gemini_cli")[0]
    settings.parent.mkdir()
    settings.write_text('{\n  "x": 1 // last\n}\n')
    assert call("connect", "gemini")[0] == 0
    settings.write_text("{" + '"y": 3,' + settings.read_text()[1:].replace("\n  }\n}", '\n  }, "z": 2\n}'))
    code, _, err = call("connect", "gemini", "--remove")
    assert code == 0, err
    assert (
        json_text.value_at(settings.read_bytes(), ()) == {"y": 3, "x": 1, "z": 2} and "// last" in settings.read_text()
    )


def test_a_line_of_ours_that_somebody_changed_stays_whole(person: Path) -> None:
    """It is said to stay as it is: half of it must not."""
    rules = next(row for row in files_of("opencode") if row.name == "AGENTS.md")
    rules.parent.mkdir(parents=True)
    rules.write_text("- Be brief.\n")
    assert call("connect", "opencode")[0] == 0
    edited = rules.read_text().replace("At the beg", "- At the beg")
    rules.write_text(edited)
    _, out, err = call("connect", "opencode", "--remove")
    assert "it stays as it is" in out + err and rules.read_text() == edited


@pytest.mark.parametrize(("tool", "damage"), [("gemini_cli", b"}"), ("gemini_cli", b"\xff"), ("codex", b"[")])
def test_a_file_that_cannot_be_read_stays_connected_until_it_can(tool: str, damage: bytes, person: Path) -> None:
    """Else its tool is called disconnected, and goes on starting what nobody knows of any more."""
    path = files_of(tool)[0]
    path.parent.mkdir()
    before = b"a = 1\n" if path.suffix == ".toml" else b'{"theme": "x"}\n'
    path.write_bytes(before)
    assert call("connect", tool)[0] == 0
    whole = path.read_bytes()
    path.write_bytes(whole + damage)
    code, _, err = call("connect", tool, "--remove")
    assert code == 1 and str(path) in err and path.read_bytes() == whole + damage
    path.write_bytes(whole)
    assert call("connect", tool, "--remove")[0] == 0 and path.read_bytes() == before


def test_a_hook_of_the_persons_that_runs_the_same_is_neither_doubled_nor_taken(person: Path) -> None:
    """Typed from the documentation, without the time-out that ours has: every session would begin with it twice."""
    settings = files_of("claude_code")[1]
    settings.parent.mkdir()
    shown = json.loads(call("connect", "claude_code", "--dry-run", "--json")[1])["files"][1]["after"]
    mine = json.loads(shown)
    del mine["hooks"]["SessionStart"][0]["hooks"][0]["timeout"], mine["hooks"]["SessionEnd"]
    settings.write_text(json.dumps(mine))
    assert call("connect", "claude_code")[0] == 0
    made = json.loads(settings.read_text())
    assert made["hooks"]["SessionStart"] == mine["hooks"]["SessionStart"] and len(made["hooks"]) == 2
    settings.write_text(json.dumps(made, indent=4))
    assert call("connect", "claude_code", "--remove")[0] == 0
    assert json.loads(settings.read_text()) == mine


def test_a_tool_that_writes_its_file_anew_is_still_disconnected(person: Path) -> None:
    """Claude Code writes ~/.claude.json in its own way all the time: the place and style of our entry are lost."""
    state = person / ".claude.json"
    state.write_text('{"numStartups": 1}')
    assert call("connect", "claude_code")[0] == 0
    told = json.loads(state.read_text()) | {"numStartups": 2}
    state.write_text(json.dumps(told, indent=4, sort_keys=True))
    assert call("connect", "claude_code", "--remove")[0] == 0
    assert json.loads(state.read_text()) == {"numStartups": 2}


def test_what_a_person_wrote_by_hand_is_neither_overwritten_nor_taken(person: Path) -> None:
    """Somebody registered the server as the README told them: it is theirs."""
    mine = person / ".cursor" / "mcp.json"
    mine.parent.mkdir()
    mine.write_text('{"mcpServers": {"knowledge": {"command": "knowledge", "args": ["mcp"]}}}')
    before = mine.read_bytes()
    code, _, err = call("connect", "cursor")
    assert code == 1 and "another mcpServers.knowledge already" in err and "left as it is" in err
    assert mine.read_bytes() == before and not (person / ".cursor" / "hooks.json").exists(), "all of a tool or nothing"
    assert call("connect", "cursor", "--remove")[0] == 0 and mine.read_bytes() == before


@pytest.mark.parametrize("tool", ["cursor", "codex", "claude_code"])
def test_what_runs_the_same_but_was_never_ours_stays(tool: str, person: Path) -> None:
    """Registered by hand, with a time-out or a key of their own: without a record only our very words are ours."""
    for row in json.loads(call("connect", tool, "--dry-run", "--json")[1])["files"]:
        path, text = Path(row["path"]), row["after"].replace('"args": [', '"more": 1, "args": [')
        path.parent.mkdir(exist_ok=True)
        path.write_text(re.sub(r'("command": "[^"]* (?:context|-I) [^"]*")', r'\1, "more": 1', text))
        if path.suffix == ".toml":
            path.write_text(path.read_text() + "more = 1\n")
    (person / ".cursor").mkdir(exist_ok=True)
    if tool != "cursor":
        (person / ".cursor" / "hooks.json").write_text('{"version": 1}')
    before = snapshot(person)
    assert call("connect", tool, "cursor", "--remove")[0] == 0
    assert snapshot(person) == before


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b'{"a": 1', "no valid JSON (line 1"),
        (b'{"a": 1}\n\n{', "line 3"),
        (b"\xff\xfe{\x00", "not UTF-8"),
        (b"[]", "no object"),
    ],
)
def test_a_damaged_file_costs_its_tool_alone(data: bytes, words: str, person: Path) -> None:
    """It is named with its place and stays; the other tools are connected."""
    broken = person / ".claude" / "settings.json"
    broken.parent.mkdir()
    broken.write_bytes(data)
    code, out, err = call("connect", "claude_code", "codex", "--json")
    told = json.loads(out)
    assert code == 1 and words in err and str(broken) in err and broken.read_bytes() == data
    assert [row["connected"] for row in told["tools"]] == [False, True]
    assert not (person / ".claude.json").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="rights of files")
def test_a_read_only_file_stays_and_says_what_to_do(person: Path) -> None:
    """Some people generate their settings and lock them: renaming over the file would get round that."""
    locked = person / ".gemini" / "settings.json"
    locked.parent.mkdir()
    locked.write_text("{}")
    locked.chmod(0o444)
    code, _, err = call("connect", "gemini")
    assert code == 1 and "read-only" in err and "Make it writable" in err
    assert locked.read_text() == "{}"


def test_a_read_only_folder_is_said_before_anything_is_shown(person: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And named, instead of a temporary file in it that nobody has ever seen."""
    settings = person / ".gemini" / "settings.json"
    settings.parent.mkdir()
    settings.write_text("{}")
    monkeypatch.setattr(os, "access", lambda path, _mode: Path(path) != settings.parent)  # the tests may run as root
    for more in (["--dry-run"], ["--yes"]):
        code, out, err = call("connect", "gemini", *more)
        assert code == 1 and f"its folder {settings.parent} is read-only" in err and "mcpServers" not in out
    assert settings.read_text() == "{}" and [row.name for row in settings.parent.iterdir()] == ["settings.json"]


@pytest.mark.skipif(sys.platform == "win32", reason="symbolic links")
@pytest.mark.parametrize("dangling", [False, True])
def test_a_linked_dotfile_stays_a_link(dangling: bool, person: Path) -> None:
    """Dotfile managers link to a repository: the target is changed and restored, the link stays."""
    target = person / "dotfiles" / "claude-settings.json"
    target.parent.mkdir()
    if not dangling:
        target.write_text('{\n  "a": 1\n}\n')
    link = person / ".claude" / "settings.json"
    link.parent.mkdir()
    link.symlink_to(target)
    before = snapshot(person)
    assert call("connect", "claude_code")[0] == 0
    assert link.is_symlink() and "SessionEnd" in target.read_text()
    assert call("connect", "claude_code", "--remove")[0] == 0
    assert snapshot(person) == before


def test_a_dry_run_shows_the_change_and_makes_none(person: Path) -> None:
    settings = person / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{\n  "a": 1\n}\n')
    before = snapshot(person)
    code, out, _ = call("connect", "claude", "--dry-run")
    assert code == 0 and '+  "hooks": {' in out and "dry run" in out and str(settings) in out
    assert snapshot(person) == before and not (person / ".config").exists()


@pytest.mark.parametrize("more", [["--dry-run"], ["--dry-run", "--json"], ["--yes"], ["--yes", "--json"]])
def test_a_key_in_the_settings_of_a_tool_is_not_printed(more: list[str], person: Path) -> None:
    """What `connect` prints is pasted into reports; the file itself keeps every byte of it."""
    key = "ghp_" + "x9Kq" * 9
    file = files_of("gemini_cli")[0]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"mcpServers": {"x": {"command": "y", "env": {"TOKEN": key}}}, "note\x1b[31m": 1}))
    code, out, err = call("connect", "gemini_cli", *more)
    assert code == 0 and key not in out + err and "\x1b" not in out + err
    assert key in file.read_text()


@pytest.mark.parametrize("what", ["a pipe", "a folder", "a link into a common folder", "deep"])
def test_what_is_no_settings_file_of_the_person_is_left_alone(what: str, person: Path, tmp_path: Path) -> None:
    file = files_of("gemini_cli")[0]
    file.parent.mkdir(parents=True, exist_ok=True)
    common = tmp_path / "common"
    common.mkdir()
    common.chmod(0o777)
    (common / "settings").write_text("{}")
    if what == "a pipe":
        os.mkfifo(file)
    elif what == "a folder":
        file.mkdir()
    elif what == "deep":
        file.write_text('{"a":' * 100_000)
    else:
        file.symlink_to(common / "settings")
    code, _out, err = call("connect", "gemini_cli", "--yes")
    assert code == 1 and "left as it is" in err and "unexpected" not in err and err.count("\n") == 1
    assert (common / "settings").read_text() == "{}"


def test_a_no_changes_nothing_and_a_yes_is_asked_for_after_the_change_was_shown(
    person: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import io

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    (person / ".codex").mkdir()
    before = snapshot(person)
    for answer, applied in (("\n", False), ("", False), ("y\n", True)):
        monkeypatch.setattr("sys.stdin", Terminal(answer))
        out, err = io.StringIO(), Terminal()
        assert main(["connect", "codex"], out, err) == 0
        assert err.getvalue().index("[mcp_servers.knowledge]") < err.getvalue().index("write this?")
        assert (snapshot(person) != before) is applied
        assert ("nothing was changed" in out.getvalue()) is not applied


def test_all_means_those_that_are_there(person: Path, tmp_path: Path) -> None:
    """A tool counts by its folder or by its program; removing all takes what is connected."""
    (person / ".codex").mkdir()
    program = tmp_path / "bin" / "copilot"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    before = snapshot(person)
    told = json.loads(call("connect", "--all", "--json")[1])
    assert [row["name"] for row in told["tools"]] == ["codex", "copilot_cli"]
    program.unlink()
    assert call("connect", "--all", "--remove")[0] == 0
    assert snapshot(person) == before
    assert "none is connected" in call("connect", "--all", "--remove")[1]
    code, _, err = call("connect", "emacs")
    assert code == 1 and "claude_code" in err
    assert agent_name("Claude-Code") == "claude_code" and agent_name("gemini") == "gemini_cli"


def test_a_disk_that_refuses_leaves_a_tool_connected_or_not(person: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second file cannot be written: the first one is put back, and no record says otherwise."""
    from core.base import files

    (person / ".claude.json").write_text('{"a": 1}')
    before, real = snapshot(person), files.write_atomic

    def refusing(path: Path, data: bytes, mode: int | None = None, *, lasting: bool = True) -> None:
        if path.name == "settings.json":
            raise OSError(28, "No space left on device", str(path))
        real(path, data, mode, lasting=lasting)

    monkeypatch.setattr(files, "write_atomic", refusing)
    code, _, err = call("connect", "claude_code")
    assert code == 1 and "not connected" in err and "No space left" in err
    monkeypatch.undo()
    monkeypatch.setenv("HOME", str(person))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(person / ".config"))
    assert snapshot(person) == before
    assert not json.loads(call("connect", "--json")[1])["tools"][0]["connected"]


@pytest.mark.parametrize("script", [True, False])
def test_another_home_and_settings_are_named_in_what_is_written(
    script: bool, person: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the program's script beside its Python, and with a Python alone, as some packagers leave it."""
    python = tmp_path / "environment" / "python"
    python.parent.mkdir()
    for path in (python, *([python.with_name("knowledge")] if script else [])):
        path.touch(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    home, config = tmp_path / "an other home", tmp_path / "own.toml"
    config.write_text("")
    out = call("connect", "codex", "--dry-run", "--json", "--home", str(home), "--config", str(config))[1]
    (table,) = (row for row in json.loads(out)["files"] if row["path"].endswith(".toml"))
    server = tomllib.loads(table["after"])["mcp_servers"]["knowledge"]
    program = [str(python.with_name("knowledge"))] if script else [str(python), "-I", "-m", "core"]
    assert [server["command"], *server["args"]] == [*program, "--home", str(home), "--config", str(config), "mcp"]
    (hooks,) = (row for row in json.loads(out)["files"] if row["path"].endswith("hooks.json"))
    assert f"--home '{home}'" in json.loads(hooks["after"])["hooks"]["SessionEnd"][0]["hooks"][0]["command"]


def doctor() -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads(call("doctor", "--json")[1])["findings"]
    return [row for row in found if str(row["code"]).startswith("connect")]


def test_doctor_says_which_connections_stand_and_whether_they_work(person: Path) -> None:
    """Nothing is said of tools that nobody connected."""
    assert doctor() == []
    assert call("connect", "claude_code")[0] == 0
    (row,) = doctor()
    assert row["code"] == "connected" and row["note"] and "harvest at the end" in str(row["message"])
    settings = person / ".claude" / "settings.json"
    whole = settings.read_text()
    settings.write_text(whole.replace('"hooks": {', '"disableAllHooks": true,\n  "hooks": {', 1))
    assert "disableAllHooks" in str(doctor()[0]["message"]) and not doctor()[0]["note"]
    settings.write_text(whole.replace("hand_over.py", "moved_away.py"))
    assert {row["code"] for row in doctor()} == {"connection-gone"}
    settings.write_text("{}")
    (row,) = doctor()
    assert "context at the start, harvest at the end" in str(row["message"])
    assert call("connect", "claude_code")[0] == 0 and doctor()[0]["code"] == "connected"


def test_a_program_that_moved_is_told_and_written_anew(person: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a reinstall elsewhere the old path starts nothing."""
    monkeypatch.setattr("core.agents.tools.HAND_OVER", person / "gone" / "hand_over.py")
    assert call("connect", "codex")[0] == 0
    assert any("not there any more" in str(row["message"]) for row in doctor())
    monkeypatch.undo()
    monkeypatch.setenv("HOME", str(person))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(person / ".config"))
    assert call("connect", "codex")[0] == 0
    assert [row["code"] for row in doctor()] == ["connected"]
    assert (person / ".codex" / "hooks.json").read_text().count("hand_over.py") == 1
    assert call("connect", "codex", "--remove")[0] == 0 and not (person / ".codex").exists()


def test_without_the_library_of_the_protocol_no_server_is_registered(
    person: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that cannot start would show an error at every start of the tool."""
    import importlib.util

    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name == "mcp" else real(name, *rest))
    told = json.loads(call("connect", "opencode", "claude_code", "gemini", "--json")[1])
    assert {part for row in told["tools"] for part in row["parts"]} == {"start", "end"}
    assert not any(row["missing"] for row in told["tools"]), "what was left out is not gone"
    assert not any(row["missing"] for row in told["tools"]), "what was left out is not gone"
    assert any("extra mcp" in note for note in told["notes"])
    assert "digest.md" in (person / ".config" / "opencode" / "AGENTS.md").read_text()


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not beside the project")
def test_real_files_of_rules_come_back_to_the_byte(person: Path) -> None:
    """Rules that people really wrote."""
    seen = 0
    for sample in sorted((CORPUS / "stores").rglob("*.md.sample")):
        rules = person / ".config" / "opencode" / "AGENTS.md"
        rules.parent.mkdir(parents=True, exist_ok=True)
        rules.write_bytes(sample.read_bytes())
        assert call("connect", "opencode")[0] == 0
        assert rules.read_bytes().startswith(sample.read_bytes().rstrip(b"\n")) and b"get_context" in rules.read_bytes()
        assert call("connect", "opencode", "--remove")[0] == 0
        assert rules.read_bytes() == sample.read_bytes()
        seen += 1
    assert seen > 3


# --- the hooks -------------------------------------------------------------------------------------------------------


def test_the_start_hook_gives_a_tool_the_context_in_its_own_form(person: Path) -> None:
    """And gives nothing to a tool that we ask ourselves: a harvest must not be told what was harvested."""
    assert call("add", "facts", "The exporter writes UTF-8")[0] == call("digest", "on")[0] == 0
    for tool in ("claude_code", "codex", "gemini_cli"):
        told = json.loads(call("context", "--hook", tool)[1])["hookSpecificOutput"]
        assert told["hookEventName"] == "SessionStart" and "The exporter writes UTF-8" in told["additionalContext"]
    assert "The exporter" in json.loads(call("context", "--hook", "cursor")[1])["additional_context"]
    os.environ[MARK] = "1"
    try:
        assert call("context", "--hook", "claude_code")[1] == ""
    finally:
        del os.environ[MARK]


@pytest.fixture
def stand_in(tmp_path: Path) -> tuple[Path, Path]:
    """A program that writes down how it was started, once the file `gone` is there, and where it writes."""
    program, notes = tmp_path / "bin" / "knowledge", tmp_path / "started"
    program.parent.mkdir(exist_ok=True)
    program.write_text(
        f"#!/bin/sh\nPATH=/usr/bin:/bin\nfor n in $(seq 9999); do test -e {tmp_path}/gone && break; sleep 0.03; done\n"
        f'echo "$@" > {notes}.part\nmv {notes}.part {notes}\n'
    )
    program.chmod(0o755)
    return program, notes


def hand(words: list[str], **more: str) -> float:
    """Run the hook as a tool does, with a session on its standard input; what it cost, in seconds of the processor."""
    told = json.dumps({"session_id": "s", "transcript_path": "/somewhere/a session.jsonl", "reason": "exit"})
    begun = worked()
    line = [sys.executable, "-I", "-S", str(hand_over.__file__), *words]
    done = subprocess.run(
        line, input=told, text=True, capture_output=True, env={**os.environ, **more}, timeout=PATIENCE_SECONDS
    )
    assert done.returncode == 0 and done.stdout == done.stderr == ""
    return worked() - begun


def worked() -> float:
    """Seconds of the processor that programs of ours took until now."""
    used = os.times()
    return used.children_user + used.children_system


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script plays the program")
def test_the_end_hook_hands_over_and_is_gone(stand_in: tuple[Path, Path], person: Path) -> None:
    """What it starts lives on: the hook ended long before that wrote its note. It costs about what Python costs."""
    program, notes = stand_in
    begun = worked()
    subprocess.run([sys.executable, "-I", "-S", "-c", "pass"], check=True)
    empty = worked() - begun
    seconds = min(hand(["claude_code", str(program)]) for _ in range(3))
    assert seconds < 5 * empty + 0.1 and not notes.exists()
    (notes.parent / "gone").touch()
    assert wait_until(notes.exists), "the harvest was not started"
    assert notes.read_text().split() == [
        *("harvest", "--apply", "--since-last", "--quiet", "--ended", "/somewhere/a", "session.jsonl")
    ]


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script plays the program")
def test_the_end_hook_does_nothing_where_we_asked_the_tool_ourselves(stand_in: tuple[Path, Path], person: Path) -> None:
    """A tool runs its hooks in print mode too: a harvest must not set off the next one, for ever."""
    assert MARK == hand_over.MARK
    program, notes = stand_in
    (notes.parent / "gone").touch()
    hand(["claude_code", str(program)], **{MARK: "1"})
    hand(["claude_code", str(program / "missing")])
    time.sleep(0.3)
    assert not notes.exists()


def test_a_server_for_tools_without_hooks_hands_over_at_its_end(person: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """VS Code and OpenCode have no hook for the end of a session; their server lives as long as it. Also where the tool
    ends it roughly."""
    pytest.importorskip("mcp")
    freed: list[list[str]] = []
    monkeypatch.setattr("core.commands.daily.connect.set_free", lambda words: not freed.append(words))

    class Ended:
        def run(self, transport: str) -> None:
            raise KeyboardInterrupt

    monkeypatch.setattr("core.mcp_server.server.build_server", lambda workspace, **named: Ended())
    args = json.loads(call("connect", "vscode", "--dry-run", "--json")[1])["files"][0]["after"]
    assert "--harvest-at-end" in json.loads(args)["servers"]["knowledge"]["args"]
    assert call("mcp", "--harvest-at-end")[0] == 130 and freed[0][-4:] == list(hand_over.HARVEST)
    assert call("mcp")[0] == 130 and len(freed) == 1


def test_json_is_read_as_editors_read_it() -> None:
    """Comments and commas behind the last member; what is no JSON says where."""
    node = json_text.read('{"a": [1, 2,], /* x */ "b": {"c": null,},} // end')
    assert node is not None and node.value == {"a": [1, 2], "b": {"c": None}}
    for text in ("{", '{"a" 1}', '{"a": 1 "b": 2}', "[1,,2]", "{a: 1}", '"x', "[" * 500, '{"a": tru}', "1 2"):
        with pytest.raises(json_text.NotJsonError):
            json_text.read(text)


def test_every_tool_says_which_version_it_was_written_for() -> None:
    assert all(agent.written_for[0].isdigit() and agent.commands for agent in AGENTS)
