"""`knowledge connect`: a user lets other tools use their knowledge, and gets their files back as they were.

What they would lose: their own settings in those files, which hold keys, years of habits and other people's servers.
"""

from __future__ import annotations

import json
import os
import sys
import tomllib
from pathlib import Path

import pytest

from core.agents import hand_over, json_text
from core.agents.tools import AGENT, AGENTS, agent_name
from core.cli.main import main
from core.commands.daily.autopilot import sources_of
from core.commands.workspace import open_workspace
from core.sources.tools import SOURCE
from tests.agent_settings import (
    JSON_SETTINGS,
    RULES,
    TOML_SETTINGS,
    content_for,
    doctor,
    files_of,
    person_fixture,
    put,
    snapshot,
    works,
)
from tests.cli_call import call
from tests.corpus import CORPUS

__all__ = ["person_fixture"]


@pytest.mark.parametrize("tool", list(AGENT))
@pytest.mark.parametrize("number", range(1 + max(map(len, (JSON_SETTINGS, TOML_SETTINGS, RULES)))))
def test_a_connection_taken_back_leaves_every_file_as_it_was(tool: str, number: int, person: Path) -> None:
    """To the byte: comments, commas, line ends, marks, other servers and hooks, and no file at all, which is the last
    number. In between every part stands."""
    made = 0
    for path in files_of(tool):
        if path.parent.name == "prompts" or "plugins" in path.parts:
            continue  # that file is ours alone
        data = content_for(path, number)
        if data is not None:
            put(path, data)
            path.chmod(0o640)
            made += 1
    before = snapshot(person)
    told = json.loads(works("connect", tool, "--json", "--yes"))
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
    again = json.loads(call("connect", tool, "--json", "--yes")[1])
    assert not again["files"] and again["tools"][0]["connected"], "a second time changes nothing"
    code, out, err = call("connect", tool, "--remove", "--json", "--yes")
    assert code == 0 and json.loads(out)["applied"], err
    assert snapshot(person) == before
    assert not (person / ".config" / "manual_slop" / "connections").exists(), "no copy of somebody's keys stays behind"


def kept(before: str, after: str) -> None:
    """Every character of the text before stands in the text after, in its order."""
    rest = iter(after)
    assert all(char in rest for char in before)


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
    broken = put(person / ".claude" / "settings.json", data)
    code, out, err = call("connect", "claude_code", "codex", "--json", "--yes")
    told = json.loads(out)
    assert code == 1 and words in err and str(broken) in err and broken.read_bytes() == data
    assert [row["connected"] for row in told["tools"]] == [False, True]
    assert not (person / ".claude.json").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="rights of files")
def test_a_read_only_file_stays_and_says_what_to_do(person: Path) -> None:
    """Some people generate their settings and lock them: renaming over the file would get round that."""
    locked = put(person / ".gemini" / "settings.json", "{}")
    locked.chmod(0o444)
    code, _, err = call("connect", "gemini", "--yes")
    assert code == 1 and "read-only" in err and "Make it writable" in err
    assert locked.read_text() == "{}"


def test_a_read_only_folder_is_said_before_anything_is_shown(person: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And named, instead of a temporary file in it that nobody has ever seen."""
    settings = put(person / ".gemini" / "settings.json", "{}")
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
    works("connect", "claude_code", "--yes")
    assert link.is_symlink() and "SessionEnd" in target.read_text()
    works("connect", "claude_code", "--remove", "--yes")
    assert snapshot(person) == before


def test_a_dry_run_shows_the_change_and_makes_none(person: Path) -> None:
    settings = put(person / ".claude" / "settings.json", '{\n  "a": 1\n}\n')
    before = snapshot(person)
    code, out, _ = call("connect", "claude", "--dry-run")
    assert code == 0 and '+  "hooks": {' in out and "dry run" in out and str(settings) in out
    assert snapshot(person) == before and not (person / ".config").exists()


def test_of_settings_in_one_line_what_comes_is_shown_and_the_line_stays_one(person: Path) -> None:
    """The whole file stood there twice, in two lines of thousands of characters."""
    line = '{"model":"opus","hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"./c"}]}]}}'
    settings = put(person / ".claude" / "settings.json", f"{line}\n")
    out = works("connect", "claude", "--dry-run")
    shown = [row for row in out.partition(str(settings))[2].split("\n") if row.startswith(("  +", "  -"))]
    assert '  +    "SessionEnd": [' in shown and not [row for row in shown if row.startswith("  -") or "opus" in row]
    works("connect", "claude", "--yes")
    assert settings.read_text().startswith('{"model":"opus","hooks":{') and settings.read_text().count("\n") == 1
    works("connect", "claude", "--remove", "--yes")
    assert settings.read_text() == f"{line}\n"


def test_who_connects_a_tool_with_hints_is_told_so_and_how_they_end(person: Path) -> None:
    for more in ("--dry-run", "--yes"):
        note = works("connect", "claude", more).rpartition("note: ")[2]
        assert "with it come hints" in note and "'knowledge hints --off EVENT' ends them" in note
    assert "hints" not in works("connect", "gemini", "--dry-run").rpartition("note: ")[2]


@pytest.mark.parametrize("more", [["--dry-run"], ["--dry-run", "--json"], ["--yes"], ["--yes", "--json"]])
def test_a_key_in_the_settings_of_a_tool_is_not_printed(more: list[str], person: Path) -> None:
    """What `connect` prints is pasted into reports; the file itself keeps every byte of it."""
    key = "ghp_" + "x9Kq" * 9
    file = put(
        files_of("gemini_cli")[0],
        json.dumps({"mcpServers": {"x": {"command": "y", "env": {"TOKEN": key}}}, "note\x1b[31m": 1}),
    )
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
    monkeypatch.setattr("sys.stdin", Terminal("maybe\n"))  # and the end of the input: no answer is no yes
    assert main(["connect", "codex"], io.StringIO(), Terminal()) == 130 and snapshot(person) == before
    for answer, applied in (("\n", False), ("not now\nno\n", False), ("sure\ny\n", True)):
        monkeypatch.setattr("sys.stdin", Terminal(answer))
        out, err = io.StringIO(), Terminal()
        assert main(["connect", "codex"], out, err) == 0
        assert ("none of the answers: no, yes. write this?" in err.getvalue()) is (len(answer) > 2)
        assert err.getvalue().index("[mcp_servers.knowledge]") < err.getvalue().index("write this?")
        assert (snapshot(person) != before) is applied
        assert ("nothing was changed" in out.getvalue()) is not applied


def test_what_a_tool_writes_while_a_yes_is_waited_for_is_not_written_over(
    person: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A question may stand for hours, and the tool goes on meanwhile. Our copy of its file is for the user alone."""
    import io

    settings = put(person / ".codex/config.toml", "model = 'a'\n")

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

        def readline(self, *_: object) -> str:
            settings.write_text("model = 'b'\n")
            return "y\n"

    monkeypatch.setattr("sys.stdin", Terminal())
    err = Terminal()
    assert main(["connect", "codex"], io.StringIO(), err) == 1
    assert "has changed in this moment" in err.getvalue() and settings.read_text() == "model = 'b'\n"
    works("connect", "codex", "--yes")
    copies = [path for path in (person / ".config").rglob("*") if path.is_file()]
    assert copies and not [path for path in copies if path.stat().st_mode & 0o077]


def test_what_is_connected_while_a_yes_is_waited_for_stays_known(person: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The record of the other tool was written over: its hooks stood on, called not connected, also behind
    `uninstall`."""
    import io

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

        def readline(self, *_: object) -> str:
            works("connect", "claude_code", "--yes")
            return "y\n"

    before = snapshot(person)
    monkeypatch.setattr("sys.stdin", Terminal())
    assert main(["connect", "codex"], io.StringIO(), Terminal()) == 0
    assert {row["name"] for row in json.loads(works("connect", "--json"))["tools"] if row["connected"]} == {
        "claude_code", "codex",
    }  # fmt: skip
    works("uninstall", "--yes")
    assert snapshot(person) == before


def test_all_means_those_that_are_there(person: Path, tmp_path: Path) -> None:
    """A tool counts by its folder or by its program; removing all takes what is connected."""
    (person / ".codex").mkdir()
    program = put(tmp_path / "bin" / "copilot", "#!/bin/sh\n")
    program.chmod(0o755)
    before = snapshot(person)
    told = json.loads(call("connect", "--all", "--json", "--yes")[1])
    assert [row["name"] for row in told["tools"]] == ["codex", "copilot_cli"]
    program.unlink()
    works("connect", "--all", "--remove", "--yes")
    assert snapshot(person) == before
    assert "none is connected" in call("connect", "--all", "--remove", "--yes")[1]
    code, _, err = call("connect", "emacs", "--yes")
    assert code == 1 and "claude_code" in err
    assert agent_name("Claude-Code") == "claude_code" and agent_name("gemini") == "gemini_cli"


def test_powershell_reads_a_home_with_a_quote_in_its_name(person: Path) -> None:
    """And does nothing, in silence, once the program or its Python is gone."""
    home = person / "O'Brien"
    works("--home", str(home), "connect", "copilot_cli", "--yes")
    rows = json.loads((person / ".copilot/hooks/knowledge-memory.json").read_text())
    [line] = {row["powershell"] for row in rows["hooks"]["sessionEnd"]}
    assert f"'{person}/O''Brien'" in line
    assert f"(Test-Path '{sys.executable}') -and (Test-Path '{hand_over.__file__}')" in line


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
    code, _, err = call("connect", "claude_code", "--yes")
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


def test_doctor_says_which_connections_stand_and_whether_they_work(person: Path) -> None:
    """Nothing is said of tools that nobody connected."""
    assert doctor() == []
    works("connect", "claude_code", "--yes")
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
    assert call("connect", "claude_code", "--yes")[0] == 0 and doctor()[0]["code"] == "connected"


def test_a_program_that_moved_is_told_and_written_anew(person: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a reinstall elsewhere the old path starts nothing."""
    monkeypatch.setattr("core.agents.tools.HAND_OVER", person / "gone" / "hand_over.py")
    works("connect", "codex", "--yes")
    assert any("not there any more" in str(row["message"]) for row in doctor())
    monkeypatch.undo()
    monkeypatch.setenv("HOME", str(person))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(person / ".config"))
    works("connect", "codex", "--yes")
    assert [row["code"] for row in doctor()] == ["connected"]
    assert (person / ".codex" / "hooks.json").read_text().count("hand_over.py codex") == 1
    assert call("connect", "codex", "--remove", "--yes")[0] == 0 and not (person / ".codex").exists()


def test_in_a_pipe_nothing_is_written_without_a_yes(person: Path) -> None:
    """A script that asks how things stand, or an agent, must not change the settings of seven tools."""
    before = snapshot(person)
    for words in (["connect", "codex"], ["connect", "codex", "--json"], ["connect", "--all"]):
        (person / ".codex").mkdir(exist_ok=True)
        code, out, err = call(*words)
        (person / ".codex").rmdir()
        assert code == 1 and "--yes" in err and snapshot(person) == before, (words, out)
    (person / ".codex").mkdir()
    works("connect", "codex", "--yes")
    made = snapshot(person)
    code, out, err = call("connect", "codex", "--remove")
    assert code == 1 and "--yes" in err and snapshot(person) == made and "- " in out + err


def end_seconds(person: Path) -> list[int]:
    """The time-outs of the hooks of a session's end that Codex has."""
    rows = json_text.value_at((person / ".codex" / "hooks.json").read_bytes(), ("hooks", "SessionEnd"))
    return [row["hooks"][0]["timeout"] for row in rows]


@pytest.mark.parametrize("edited", [False, True])
def test_an_entry_of_an_older_version_is_written_anew(
    edited: bool, person: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Codex gives a hook at the end three seconds, and warned at every start about the five that we wrote."""
    mine = put(person / ".codex" / "hooks.json", '{\n  "hooks": {"Stop": []} // mine\n}\n')
    config = put(person / ".codex" / "config.toml", 'model = "x"\n')
    before = snapshot(person)
    monkeypatch.setattr("core.agents.tools._SECONDS_END_CODEX", 5)
    works("connect", "codex", "--yes")
    monkeypatch.undo()
    monkeypatch.setenv("HOME", str(person))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(person / ".config"))
    if edited:
        config.write_text(config.read_text() + "startup_timeout_sec = 20\n")
    assert end_seconds(person) == [5] and "by another version" in call("connect")[1]
    assert "connection-outdated" in {row["code"] for row in doctor()}
    out = works("connect", "codex", "--yes")
    assert end_seconds(person) == [3] and "asks again" in out and "hooks.json (changes)" in out
    assert [row["code"] for row in doctor()] == ["connected"] and mine.read_text().count("context --hook codex") == 1
    assert ("startup_timeout_sec = 20" in config.read_text()) is edited
    works("connect", "codex", "--remove", "--yes")
    assert snapshot(person) == before


def test_what_a_connection_does_not_give_is_said(person: Path) -> None:
    """Somebody who connected a tool and gets nothing looks for the fault in their own settings."""
    (person / ".config" / "Code" / "User").mkdir(parents=True)
    out = works("connect", "vscode", "--yes")
    assert "asks the model for the context" in out
    assert "asks the model for the context" in call("connect")[1]
    assert "asks the model for the context" in str(doctor()[0]["message"])
    assert all(agent.sources and set(agent.sources) <= set(SOURCE) for agent in AGENTS), "what ends is harvested"
    works("connect", "cursor", "--yes")
    assert set(sources_of(open_workspace())) >= {"vscode", "cursor", "cursor_cli"}
    assert "was not found on this computer" in call("connect", "codex", "--dry-run")[1]


def test_antigravity_is_told_from_gemini_cli(person: Path, tmp_path: Path) -> None:
    """Both live below ~/.gemini: who has only the one got a connection of the other, and nothing happened."""
    (person / ".gemini" / "antigravity-cli").mkdir(parents=True)
    assert [row["name"] for row in there()] == ["antigravity"]
    works("connect", "--all", "--yes")
    assert not (person / ".gemini" / "settings.json").exists()
    servers = json.loads((person / ".gemini" / "config" / "mcp_config.json").read_text())["mcpServers"]
    assert servers["knowledge"]["args"][-1] == "--harvest-at-end", "it has no event for the end of a session"
    works("connect", "--all", "--remove", "--yes")
    (person / ".gemini" / "antigravity-cli").rmdir()
    (person / ".gemini" / "tmp").mkdir()
    assert [row["name"] for row in there()] == ["gemini_cli"]
    put(tmp_path / "bin" / "agy", "#!/bin/sh\n").chmod(0o755)
    assert [row["name"] for row in there()] == ["antigravity", "gemini_cli"]
    assert agent_name("agy") == "antigravity"


def there() -> list[dict[str, object]]:
    rows = json.loads(call("connect", "--json")[1])["tools"]
    return [row for row in rows if row["there"]]


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not beside the project")
def test_real_files_of_rules_come_back_to_the_byte(person: Path) -> None:
    """Rules that people really wrote."""
    seen = 0
    for sample in sorted((CORPUS / "stores").rglob("*.md.sample")):
        rules = put(person / ".config" / "opencode" / "AGENTS.md", sample.read_bytes())
        works("connect", "opencode", "--yes")
        assert rules.read_bytes().startswith(sample.read_bytes().rstrip(b"\n")) and b"`find`" in rules.read_bytes()
        works("connect", "opencode", "--remove", "--yes")
        assert rules.read_bytes() == sample.read_bytes()
        seen += 1
    assert seen > 3


def test_json_is_read_as_editors_read_it() -> None:
    """Comments and commas behind the last member; what is no JSON says where."""
    node = json_text.read('{"a": [1, 2,], /* x */ "b": {"c": null,},} // end')
    assert node is not None and node.value == {"a": [1, 2], "b": {"c": None}}
    for text in ("{", '{"a" 1}', '{"a": 1 "b": 2}', "[1,,2]", "{a: 1}", '"x', "[" * 500, '{"a": tru}', "1 2"):
        with pytest.raises(json_text.NotJsonError):
            json_text.read(text)


def test_every_tool_says_which_version_it_was_written_for() -> None:
    assert all(agent.written_for[0].isdigit() and agent.commands for agent in AGENTS)
