"""AGENTS: the tools that can be connected, one row each: which of their own files say what.

A connection has three parts: the `server` (this program over the Model Context Protocol), the `start` (what a new
session is told: a hook where the tool has hooks whose answer it reads, else a line in its file of rules) and the `end`
(the harvest that begins when a session ends). Where a tool has no hook for the end, the server tells it: it lives as
long as the session. Names of files, keys and events follow each tool's documentation; `written_for` is the version.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from core.sources.tools import Root, editor_roots, root_folder

SERVER, START, END = "server", "start", "end"
NAME = "knowledge"
"""What the server and the hooks are called in the files of others."""
PARTS = {SERVER: "MCP server", START: "context at the start", END: "harvest at the end"}
AT_END = "--harvest-at-end"
HAND_OVER = Path(__file__).with_name("hand_over.py")


class Entry(NamedTuple):
    """One thing to be found in a file: of a `json` or `toml` file the value under `path` (with `append` an element of
    the array there), of a `rules` file a line, else (`own`) the whole file."""

    part: str
    file: Path
    form: str
    value: Any
    path: tuple[str, ...] = ()
    append: bool = False


class Program(NamedTuple):
    """How this program is started by others: the words of a command line, for this home."""

    words: tuple[str, ...]
    home: tuple[str, ...] = ()
    with_server: bool = True
    """Whether the library of the protocol is installed: without it no server is registered."""
    digest: str = ""

    def server(self, *more: str) -> list[str]:
        return [*self.words, *self.home, "mcp", *more]

    def start(self, tool: str) -> str:
        return shell_line([*self.words, *self.home, "context", "--hook", tool])

    def end(self, tool: str) -> str:
        """Not the program itself: only what hands the work over, in a Python that loads nothing."""
        if is_one_file():
            return shell_line([sys.executable, "-m", "core.agents.hand_over", tool, *self.words, *self.home])
        return shell_line([sys.executable, "-I", "-S", str(HAND_OVER), tool, *self.words, *self.home])


def is_one_file() -> bool:
    """Whether the program runs from the one file that is downloaded: it is its own Python."""
    return bool(getattr(sys, "frozen", False))


def shell_line(words: Sequence[str]) -> str:
    """A command line for the shell of this system."""
    if sys.platform != "win32":
        return shlex.join(words)
    import subprocess

    return subprocess.list2cmdline(words)


class Agent(NamedTuple):
    """One tool. `commands` are its programs, `folder` is there once it was used; `to_do` is what a person must still do
    in the tool itself, "" for nothing."""

    name: str
    title: str
    written_for: str
    commands: tuple[str, ...]
    folder: Callable[[Mapping[str, str]], Path | None]
    entries: Callable[[Program, Mapping[str, str]], list[Entry]]
    to_do: str = ""

    def is_there(self, environment: Mapping[str, str]) -> bool:
        """Whether this person uses it: its folder exists, or its program is found."""
        folder = self.folder(environment)
        search = environment.get("PATH", "")
        return (folder is not None and folder.is_dir()) or any(shutil.which(row, path=search) for row in self.commands)


def _place(environment: Mapping[str, str], *roots: Root) -> Path | None:
    """The first of the places that this system has."""
    return next((Path(folder) for root in roots if (folder := root_folder(root, environment))), None)


def _files(roots: tuple[Root, ...], environment: Mapping[str, str], *names: str) -> list[Path]:
    folder = _place(environment, *roots)
    return [folder / name for name in names] if folder is not None else []


_MATCHER = "startup|clear|compact"
_SECONDS_START, _SECONDS_END = 15, 5


def _hooks(file: Path, program: Program, tool: str, unit: int = 1, **more: str) -> list[Entry]:
    """The hooks of a session's start (with `more`) and end, as Claude Code, Codex and Gemini CLI have them; the tool
    counts time-outs in units of which a second has `unit`."""

    def hook(command: str, seconds: int) -> list[dict[str, Any]]:
        return [{"type": "command", "command": command, "timeout": seconds * unit}]

    start = {**more, "hooks": hook(program.start(tool), _SECONDS_START)}
    end = {"hooks": hook(program.end(tool), _SECONDS_END)}
    return [
        Entry(START, file, "json", start, ("hooks", "SessionStart"), True),
        Entry(END, file, "json", end, ("hooks", "SessionEnd"), True),
    ]


def rules_line(program: Program) -> str:
    """The line of a file of rules, for tools that no hook can tell anything."""
    if program.with_server:
        return (
            f"At the beginning of a conversation, call the tool `get_context` of the MCP server `{NAME}` once, and "
            "keep in mind what it returns: it is what earlier conversations taught."
        )
    return f"At the beginning of a conversation, read {program.digest}: it is what earlier conversations taught."


_CLAUDE = (Root("", "~/.claude", "CLAUDE_CONFIG_DIR"),)
_CLAUDE_STATE = (Root("", "~", "CLAUDE_CONFIG_DIR"),)
_CODEX = (Root("", "~/.codex", "CODEX_HOME"),)
_GEMINI = (Root(".gemini", "~", "GEMINI_CLI_HOME"),)
_CURSOR = (Root("", "~/.cursor"),)
_OPENCODE = (Root("opencode", "~/.config", "XDG_CONFIG_HOME"),)
_COPILOT = (Root("", "~/.copilot", "COPILOT_HOME"),)
_VSCODE = editor_roots("Code", "")


def _claude_code(program: Program, environment: Mapping[str, str]) -> list[Entry]:
    (state,) = _files(_CLAUDE_STATE, environment, ".claude.json")
    (settings,) = _files(_CLAUDE, environment, "settings.json")
    command, *words = program.server()
    server = {"type": "stdio", "command": command, "args": words, "env": {}}
    return [
        Entry(SERVER, state, "json", server, ("mcpServers", NAME)),
        *_hooks(settings, program, "claude_code", matcher=_MATCHER),
    ]


def _codex(program: Program, environment: Mapping[str, str]) -> list[Entry]:
    config, hooks = _files(_CODEX, environment, "config.toml", "hooks.json")
    command, *words = program.server()
    return [
        Entry(SERVER, config, "toml", {"command": command, "args": words}, ("mcp_servers", NAME)),
        *_hooks(hooks, program, "codex", matcher=_MATCHER),
    ]


def _gemini_cli(program: Program, environment: Mapping[str, str]) -> list[Entry]:
    (settings,) = _files(_GEMINI, environment, "settings.json")
    command, *words = program.server()
    return [
        Entry(SERVER, settings, "json", {"command": command, "args": words}, ("mcpServers", NAME)),
        *_hooks(settings, program, "gemini_cli", 1000),
    ]


def _cursor(program: Program, environment: Mapping[str, str]) -> list[Entry]:
    servers, hooks = _files(_CURSOR, environment, "mcp.json", "hooks.json")
    command, *words = program.server()
    return [
        Entry(SERVER, servers, "json", {"command": command, "args": words}, ("mcpServers", NAME)),
        Entry("", hooks, "json", 1, ("version",)),
        Entry(START, hooks, "json", {"command": program.start("cursor")}, ("hooks", "sessionStart"), True),
        Entry(END, hooks, "json", {"command": program.end("cursor")}, ("hooks", "sessionEnd"), True),
    ]


def _vscode(program: Program, environment: Mapping[str, str]) -> list[Entry]:
    servers, rules = _files(_VSCODE, environment, "mcp.json", "prompts/knowledge-memory.instructions.md")
    command, *words = program.server(AT_END)
    text = f"---\napplyTo: '**'\n---\n{rules_line(program)}\n"
    return [
        Entry(SERVER, servers, "json", {"type": "stdio", "command": command, "args": words}, ("servers", NAME)),
        Entry(START, rules, "own", text),
    ]


def _opencode(program: Program, environment: Mapping[str, str]) -> list[Entry]:
    plain, commented, rules = _files(_OPENCODE, environment, "opencode.json", "opencode.jsonc", "AGENTS.md")
    server = {"type": "local", "command": program.server(AT_END), "enabled": True}
    settings = commented if commented.exists() and not plain.exists() else plain
    return [
        Entry(SERVER, settings, "json", server, ("mcp", NAME)),
        Entry(START, rules, "rules", rules_line(program)),
    ]


def _copilot_cli(program: Program, environment: Mapping[str, str]) -> list[Entry]:
    servers, rules, hooks = _files(
        _COPILOT, environment, "mcp-config.json", "copilot-instructions.md", "hooks/knowledge-memory.json"
    )
    command, *words = program.server()
    server = {"type": "local", "command": command, "args": words, "tools": ["*"]}
    line = program.end("copilot_cli")
    end = {"type": "command", "bash": line, "powershell": f"& {line}", "timeoutSec": _SECONDS_END}
    return [
        Entry(SERVER, servers, "json", server, ("mcpServers", NAME)),
        Entry(START, rules, "rules", rules_line(program)),
        Entry("", hooks, "json", 1, ("version",)),
        Entry(END, hooks, "json", end, ("hooks", "sessionEnd"), True),
    ]


def _at(roots: tuple[Root, ...]) -> Callable[[Mapping[str, str]], Path | None]:
    return lambda environment: _place(environment, *roots)


AGENTS: tuple[Agent, ...] = (
    Agent("claude_code", "Claude Code", "2.1", ("claude",), _at(_CLAUDE), _claude_code),
    Agent(
        "codex",
        "Codex",
        "0.130",
        ("codex",),
        _at(_CODEX),
        _codex,
        "Codex runs a new hook only once you have trusted it: type /hooks in it",
    ),
    Agent("gemini_cli", "Gemini CLI", "0.26", ("gemini",), _at(_GEMINI), _gemini_cli),
    Agent("cursor", "Cursor", "2.4", ("cursor", "cursor-agent"), _at(_CURSOR), _cursor),
    Agent(
        "vscode",
        "VS Code",
        "1.102",
        ("code",),
        _at(_VSCODE),
        _vscode,
        "VS Code asks once whether it may start the server",
    ),
    Agent("opencode", "OpenCode", "1.0", ("opencode",), _at(_OPENCODE), _opencode),
    Agent("copilot_cli", "Copilot CLI", "1.0", ("copilot",), _at(_COPILOT), _copilot_cli),
)
AGENT = {row.name: row for row in AGENTS}
_OTHER_NAMES = {"claude": "claude_code", "gemini": "gemini_cli", "copilot": "copilot_cli", "code": "vscode"}


def agent_name(typed: str) -> str:
    """The name as it is meant: `Claude-Code` and `claude` are claude_code; "" for none."""
    name = typed.strip().lower().replace("-", "_").replace(" ", "_")
    name = _OTHER_NAMES.get(name, name)
    return name if name in AGENT else ""


def own_program(home: tuple[str, ...], digest: str) -> Program:
    """This program as others should start it: by its whole path, for what they start may have another PATH."""
    from importlib.util import find_spec

    if is_one_file():
        return Program((sys.executable,), home, find_spec("mcp") is not None, digest)
    folder = os.path.dirname(sys.executable)
    script = shutil.which("knowledge", path=folder)
    words = (script,) if script else (sys.executable, "-I", "-m", "core")
    return Program(words, home, find_spec("mcp") is not None, digest)
