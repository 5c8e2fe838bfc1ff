"""`knowledge connect --remove` on files that somebody edited in between: what they wrote stays where they wrote it.

What they would lose: a key or a hook of their own, moved into another table or taken along with ours.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from core.agents import json_text
from core.agents.tools import AGENT
from tests.agent_settings import doctor, files_of, person_fixture, put, snapshot, works
from tests.cli_call import call

__all__ = ["person_fixture"]


@pytest.mark.parametrize("tool", list(AGENT))
def test_what_the_tool_changed_since_stays(tool: str, person: Path) -> None:
    """The tool writes its own files too: then only our parts leave them, and its own lines stay."""
    first = next(path for path in files_of(tool) if path.suffix in (".json", ".toml"))
    first.parent.mkdir(parents=True, exist_ok=True)
    before = (
        b'{\n  "a": 1,\n  "hooks": {\n    "Stop": []\n  }\n}\n' if first.suffix == ".json" else b"a = 1\n[t]\nx = 2\n"
    )
    first.write_bytes(before)
    works("connect", tool, "--yes")
    data = first.read_bytes()
    changed = data.replace(b'"a": 1', b'"a": 2').replace(b"a = 1", b"a = 2")
    assert changed != data
    first.write_bytes(changed)
    works("connect", tool, "--remove", "--yes")
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
"""Files in which commas and comments stand where few put them, or that end without a line end."""


@pytest.mark.parametrize("tool", list(AGENT))
@pytest.mark.parametrize("number", range(max(map(len, EDITED.values()))))
def test_what_was_edited_in_between_stays_and_all_else_is_as_before(tool: str, number: int, person: Path) -> None:
    """To the byte but for blanks and line ends, as if the user had edited the file that they had before."""
    own = [path for path in files_of(tool) if path.parent.name != "prompts" and "plugins" not in path.parts]
    wanted: dict[Path, bytes] = {}
    for path in own:
        shapes = EDITED[path.suffix.removeprefix(".")]
        before = shapes[number % len(shapes)]
        put(path, before)
        wanted[path] = before.replace(b"alpha", b"omega")
    works("connect", tool, "--yes")
    for path in own:
        path.write_bytes(path.read_bytes().replace(b"alpha", b"omega"))
    works("connect", tool, "--remove", "--yes")
    found = {path: b"".join(path.read_bytes().split()) for path in own}
    assert found == {path: b"".join(data.split()) for path, data in wanted.items()}


def test_a_comment_that_somebody_wrote_beside_ours_stays(person: Path) -> None:
    """The object was ours, made for one entry; what a person noted in it since is theirs."""
    config = files_of("opencode")[0]
    works("connect", "opencode", "--yes")
    head, servers, rest = config.read_text().partition('"mcp": {')
    config.write_text(f"{head}{servers}\n    // ask before the next one{rest}")
    works("connect", "opencode", "--remove", "--yes")
    assert "// ask before the next one" in config.read_text()


def test_a_version_that_cursor_needs_stays_where_others_need_it(person: Path) -> None:
    """Somebody's own hook that came since would be dead without it; in a file without hooks it is ours to take."""
    hooks = put(person / ".cursor" / "hooks.json", '{\n  "alpha": 1\n}\n')
    for theirs in ({"stop": [{"command": "x"}]}, {}):
        works("connect", "cursor", "--yes")
        data = json.loads(hooks.read_text())
        data["hooks"].update(theirs)
        hooks.write_text(json.dumps(data, sort_keys=True))
        works("connect", "cursor", "--remove", "--yes")
        left = json.loads(hooks.read_text())
        assert left == ({"alpha": 1, "version": 1, "hooks": theirs} if theirs else {"alpha": 1})
        hooks.write_text('{"alpha": 1}')


@pytest.mark.parametrize(
    "entries", [5, [5], [{"form": "toml", "path": ["a"], "value": 5}], [{"form": "own", "path": []}]]
)
def test_a_damaged_record_is_no_traceback(entries: object, person: Path) -> None:
    """It lies in a folder that people tidy by hand; their files stay."""
    config = files_of("codex")[0]
    works("connect", "codex", "--yes")
    record = person / ".config" / "manual_slop" / "connections" / "record.json"
    rows = json.loads(record.read_text())
    for row in rows["codex"].values():
        row |= {"entries": entries, "before": "x"}
    record.write_text(json.dumps(rows))
    config.write_text("a = 5\n")
    for words in ((), ("--remove", "codex")):
        code, _, err = call("connect", *words, "--yes")
        assert code == 0 and not err and config.read_text() == "a = 5\n"


def test_connecting_again_brings_back_the_version_that_cursor_needs(person: Path) -> None:
    """Without it no hook of that file runs, and all of ours seemed to stand."""
    works("connect", "cursor", "--yes")
    hooks = person / ".cursor" / "hooks.json"
    made = json.loads(hooks.read_text())
    hooks.write_text(json.dumps({"hooks": made["hooks"]}))
    assert call("connect", "cursor", "--yes")[0] == 0 and json.loads(hooks.read_text()) == made
    assert call("connect", "cursor", "--remove", "--yes")[0] == 0 and not hooks.exists()


def test_what_a_tool_adds_to_our_entry_stays_and_goes_with_it(person: Path) -> None:
    """Codex writes there which calls were allowed, a user a time-out: still ours, and not "gone"."""
    config = put(person / ".codex" / "config.toml", 'model = "x"\n')
    works("connect", "codex", "--yes")
    more = (
        'startup_timeout_sec = 20\n\n[mcp_servers.knowledge.tools.search]\napproval_mode = "approve"\n\n[tui]\na = 1\n'
    )
    config.write_text(config.read_text() + more)
    edited = config.read_text()
    assert [row["code"] for row in doctor()] == ["connected"]
    assert call("connect", "codex", "--yes")[0] == 0 and config.read_text() == edited
    works("connect", "codex", "--remove", "--yes")
    assert config.read_text() == 'model = "x"\n\n[tui]\na = 1\n'


@pytest.mark.parametrize("more", ["", '\n[mcp_servers.knowledge.tools.search]\napproval_mode = "approve"\n'])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_a_comment_behind_our_table_belongs_to_the_next_one(line_end: str, more: str, person: Path) -> None:
    """Whatever order the tables have: Codex writes what was allowed between ours and what the user had said there."""
    config = files_of("codex")[0]
    config.parent.mkdir()
    theirs = '\n# mine\n[tui]\na = 1 # why\n\n[mcp_servers.other]\ncommand = "x"\n'
    config.write_bytes(b"model = 1\n".replace(b"\n", line_end.encode()))
    works("connect", "codex", "--yes")
    config.write_bytes(config.read_bytes() + ("enabled = true\n" + more + theirs).replace("\n", line_end).encode())
    works("connect", "codex", "--remove", "--yes")
    assert config.read_bytes() == ("model = 1\n" + theirs).replace("\n", line_end).encode()


def test_an_entry_that_starts_something_else_now_stays_and_is_named(person: Path) -> None:
    """Somebody took the name for a server of theirs: it is not ours to take, and they learn that it is still there."""
    state = person / ".claude.json"
    state.write_text('{"a": 1}')
    works("connect", "claude_code", "--yes")
    data = json.loads(state.read_text())
    data["mcpServers"]["knowledge"]["command"] = "/opt/mine"
    state.write_text(json.dumps(data))
    assert "or changed: MCP server" in str(doctor()[0]["message"])
    code, out, err = call("connect", "claude_code", "--remove", "--yes")
    assert code == 0 and json.loads(state.read_text()) == data
    assert "somebody has changed or removed this since: MCP server" in out + err and str(state) in out + err


def test_a_server_that_was_registered_by_hand_stays_when_the_rest_goes(person: Path) -> None:
    """The same words as ours, typed before us: theirs, also after the tool wrote its file again."""
    settings = files_of("gemini_cli")[0]
    settings.parent.mkdir()
    made = json.loads(json.loads(call("connect", "gemini", "--dry-run", "--json")[1])["files"][0]["after"])
    mine = {"theme": "x", "mcpServers": made["mcpServers"]}
    settings.write_text(json.dumps(mine))
    works("connect", "gemini", "--yes")
    settings.write_text(json.dumps(json.loads(settings.read_text()), indent=4))
    works("connect", "gemini", "--remove", "--yes")
    assert json.loads(settings.read_text()) == mine


def test_a_large_file_with_edits_at_both_ends_comes_back(person: Path) -> None:
    """Claude Code keeps its history there: too much to compare word by word, and all of it stays."""
    state = person / ".claude.json"
    rows = ",\n".join(f'  "project {at}": {{\n    "history": ["{at * "x"}"]\n  }}' for at in range(600))
    before = "{\n" + rows + "\n}"
    state.write_text(before)
    works("connect", "claude_code", "--yes")
    for old, new in (('"project 0"', '"project zero"'), ('"project 598"', '"project last"')):
        state.write_text(state.read_text().replace(old, new))
        before = before.replace(old, new)
    works("connect", "claude_code", "--remove", "--yes")
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
    path = put(next(row for row in files_of(tool) if row.name == name), before)
    works("connect", tool, "--yes")
    edited = edit(path.read_text())
    assert edited != path.read_text()
    path.write_text(edited)
    works("connect", tool, "--remove", "--yes")
    assert path.read_bytes() == before or json.loads(path.read_bytes()) == json.loads(before)


def test_a_hook_beside_ours_stays_where_it_was_written(person: Path) -> None:
    """A hook of the start that runs at the end instead does something else than the user wanted."""
    hooks = put(
        next(row for row in files_of("codex") if row.name == "hooks.json"),
        '{\n  "hooks": {\n    "SessionEnd": [\n      // none\n    ],\n  },\n}\n',
    )
    works("connect", "codex", "--yes")
    end = "      }\n      // none\n    ],\n  },\n}"
    assert hooks.read_text().count(end) == 1
    hooks.write_text(hooks.read_text().replace(end, '      },\n      {\n        "k": "v"\n      }\n    ],\n  },\n}'))
    works("connect", "codex", "--remove", "--yes")
    assert json_text.value_at(hooks.read_bytes(), ("hooks",)) == {"SessionEnd": [{"k": "v"}]}


def test_what_stands_behind_ours_on_its_line_does_not_become_a_comment(person: Path) -> None:
    """Somebody typed on where ours ends: a line above that ends in a comment must not swallow it."""
    settings = put(files_of("gemini_cli")[0], '{\n  "x": 1 // last\n}\n')
    works("connect", "gemini", "--yes")
    made = settings.read_text().replace('\n  },\n  "x"', '\n  }, "z": 2,\n  "x"')
    assert '"z"' in made
    settings.write_text("{" + '"y": 3, // above' + made[1:])
    works("connect", "gemini", "--remove", "--yes")
    assert (
        json_text.value_at(settings.read_bytes(), ()) == {"y": 3, "x": 1, "z": 2} and "// last" in settings.read_text()
    )


def test_a_line_of_ours_that_somebody_changed_stays_whole(person: Path) -> None:
    """It is said to stay as it is: half of it must not."""
    rules = put(next(row for row in files_of("opencode") if row.name == "AGENTS.md"), "- Be brief.\n")
    works("connect", "opencode", "--yes")
    edited = rules.read_text().replace("At the beg", "- At the beg")
    rules.write_text(edited)
    _, out, err = call("connect", "opencode", "--remove", "--yes")
    assert "it stays as it is" in out + err and rules.read_text() == edited


@pytest.mark.parametrize(("tool", "damage"), [("gemini_cli", b"}"), ("gemini_cli", b"\xff"), ("codex", b"[")])
def test_a_file_that_cannot_be_read_stays_connected_until_it_can(tool: str, damage: bytes, person: Path) -> None:
    """Else its tool is called disconnected, and goes on starting what nobody knows of any more."""
    path = files_of(tool)[0]
    path.parent.mkdir()
    before = b"a = 1\n" if path.suffix == ".toml" else b'{"theme": "x"}\n'
    path.write_bytes(before)
    works("connect", tool, "--yes")
    whole = path.read_bytes()
    path.write_bytes(whole + damage)
    code, _, err = call("connect", tool, "--remove", "--yes")
    assert code == 1 and str(path) in err and path.read_bytes() == whole + damage
    path.write_bytes(whole)
    assert call("connect", tool, "--remove", "--yes")[0] == 0 and path.read_bytes() == before


def test_a_hook_of_the_persons_that_runs_the_same_is_neither_doubled_nor_taken(person: Path) -> None:
    """Typed from the documentation, without the time-out that ours has: every session would begin with it twice."""
    settings = files_of("claude_code")[1]
    settings.parent.mkdir()
    shown = json.loads(call("connect", "claude_code", "--dry-run", "--json")[1])["files"][1]["after"]
    mine = json.loads(shown)
    del mine["hooks"]["SessionStart"][0]["hooks"][0]["timeout"], mine["hooks"]["SessionEnd"]
    settings.write_text(json.dumps(mine))
    works("connect", "claude_code", "--yes")
    made = json.loads(settings.read_text())
    assert (
        made["hooks"]["SessionStart"] == mine["hooks"]["SessionStart"] and len(made["hooks"]) == len(mine["hooks"]) + 1
    )
    settings.write_text(json.dumps(made, indent=4))
    works("connect", "claude_code", "--remove", "--yes")
    assert json.loads(settings.read_text()) == mine


def test_a_tool_that_writes_its_file_anew_is_still_disconnected(person: Path) -> None:
    """Claude Code writes ~/.claude.json in its own way all the time: the place and style of our entry are lost."""
    state = person / ".claude.json"
    state.write_text('{"numStartups": 1}')
    works("connect", "claude_code", "--yes")
    told = json.loads(state.read_text()) | {"numStartups": 2}
    state.write_text(json.dumps(told, indent=4, sort_keys=True))
    works("connect", "claude_code", "--remove", "--yes")
    assert json.loads(state.read_text()) == {"numStartups": 2}


def test_what_a_person_wrote_by_hand_is_neither_overwritten_nor_taken(person: Path) -> None:
    """Somebody registered the server as the README told them: it is theirs."""
    mine = put(
        person / ".cursor" / "mcp.json", '{"mcpServers": {"knowledge": {"command": "knowledge", "args": ["mcp"]}}}'
    )
    before = mine.read_bytes()
    code, _, err = call("connect", "cursor", "--yes")
    assert code == 1 and "another mcpServers.knowledge already" in err and "left as it is" in err
    assert mine.read_bytes() == before and not (person / ".cursor" / "hooks.json").exists(), "all of a tool or nothing"
    assert call("connect", "cursor", "--remove", "--yes")[0] == 0 and mine.read_bytes() == before


@pytest.mark.parametrize("tool", ["cursor", "codex", "claude_code"])
def test_what_runs_the_same_but_was_never_ours_stays(tool: str, person: Path) -> None:
    """Registered by hand, with a time-out or a key of their own: without a record only our very words are ours."""
    for row in json.loads(call("connect", tool, "--dry-run", "--json")[1])["files"]:
        path, text = Path(row["path"]), row["after"].replace('"args": [', '"more": 1, "args": [')
        if "plugins" in path.parts:
            continue  # a file of ours alone, in our very words
        put(path, re.sub(r'("command": "[^"]* (?:context|-I) [^"]*")', r'\1, "more": 1', text))
        if path.suffix == ".toml":
            path.write_text(path.read_text() + "more = 1\n")
    (person / ".cursor").mkdir(exist_ok=True)
    if tool != "cursor":
        (person / ".cursor" / "hooks.json").write_text('{"version": 1}')
    before = snapshot(person)
    works("connect", tool, "cursor", "--remove", "--yes")
    assert snapshot(person) == before


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script plays the scheduler")
@pytest.mark.parametrize("number", range(3))
def test_uninstall_takes_everything_back(number: int, person: Path, tmp_path: Path) -> None:
    """Every tool and the timer, to the byte: who forgot one had an error at each session of it. The knowledge stays."""
    script = (
        f'#!/bin/sh\nPATH=/usr/bin:/bin\necho "$*" >> {tmp_path}/told\ncase "$*" in\n'
        f"*is-active*) test -e {tmp_path}/on ;;\n*enable*) touch {tmp_path}/on ;;\n"
        f"*disable*) rm {tmp_path}/on ;;\nesac\n"
    )
    bus = put(tmp_path / "bin" / "systemctl", script)
    bus.chmod(0o755)
    assert call("add", "facts", "The exporter writes UTF-8")[0] == 0
    for path in {path for tool in AGENT for path in files_of(tool)}:
        shapes = EDITED.get(path.suffix.removeprefix("."), [])
        if shapes and path.parent.name != "prompts" and "plugins" not in path.parts:
            put(path, shapes[number % len(shapes)])
    before = snapshot(person)
    works("connect", *AGENT, "--yes")
    works("schedule", "--yes")
    made = snapshot(person)
    assert len(set(made) - set(before)) > 3 and made != before
    code, out, _ = call("uninstall", "--dry-run")
    assert code == 0 and "dry run" in out and "$ systemctl --user disable" in out and snapshot(person) == made
    code, out, err = call("uninstall")
    assert code == 1 and "--yes" in err and snapshot(person) == made, "nobody was there to say yes"
    out = works("uninstall", "--yes")
    assert snapshot(person) == before and "disable --now" in (tmp_path / "told").read_text()
    assert not (person / ".config" / "manual_slop" / "connections").exists()
    assert f"stays: {person / '.manual_slop'} (what you know" in out and "the program itself: " in out
    assert "The exporter writes UTF-8" in (person / ".manual_slop" / "knowledge" / "facts.md").read_text()
    assert "nothing to take back" in works("uninstall") and not any(row["parts"] for row in connected())


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script plays the scheduler")
def test_a_timer_whose_files_are_gone_is_asked_about_too(person: Path, tmp_path: Path) -> None:
    """Nothing is left to change but what the system knows: that is shown, and needs a yes, as well."""
    script = (
        f'#!/bin/sh\nPATH=/usr/bin:/bin\necho "$*" >> {tmp_path}/told\ncase "$*" in\n'
        f"*is-active*) test -e {tmp_path}/on ;;\n*enable*) touch {tmp_path}/on ;;\n"
        f"*disable*) rm {tmp_path}/on ;;\nesac\n"
    )
    put(tmp_path / "bin" / "systemctl", script).chmod(0o755)
    works("schedule", "--yes")
    for file in (person / ".config" / "systemd" / "user").glob("knowledge-harvest.*"):
        file.unlink()
    code, _, err = call("uninstall")
    assert code == 1 and "--yes" in err and (tmp_path / "on").exists(), "nobody was there to say yes"
    works("uninstall", "--yes")
    assert not (tmp_path / "on").exists()


def connected() -> list[dict[str, object]]:
    rows: list[dict[str, object]] = json.loads(call("connect", "--json")[1])["tools"]
    return [row for row in rows if row["connected"]]


def test_a_file_that_cannot_be_read_does_not_keep_the_others(person: Path) -> None:
    """It is named with what stands in the way, and stays connected until it can be read."""
    works("connect", "codex", "claude_code", "--yes")
    settings = person / ".claude" / "settings.json"
    whole = settings.read_bytes()
    settings.write_bytes(whole + b"}")
    code, _, err = call("uninstall", "--yes")
    assert code == 1 and str(settings) in err and not (person / ".codex").exists()
    assert [row["name"] for row in connected()] == ["claude_code"]
    settings.write_bytes(whole)
    works("uninstall", "--yes")
    assert connected() == []
