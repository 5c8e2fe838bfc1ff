"""AGENTS: the tools that can be connected, one row each: which of their own files say what.

A connection has three parts: the `server` (this program over the Model Context Protocol), the `start` (what a new
session is told: a hook where the tool has hooks whose answer it reads, else a line in its file of rules) and the `end`
(the harvest that begins when a session ends). Where a tool has no hook for the end, the server tells it: it lives as
long as the session. Names of files, keys and events follow each tool's documentation; `written_for` is the version.

A hook outlives this program where that is uninstalled without a `knowledge uninstall` before: then it does nothing, in
silence. What fails while the program is there is not hidden.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from core.base.installed import is_one_file, shell_line
from core.sources.tools import Root, editor_roots, root_folder

SERVER, START, END, HINTS = "server", "start", "end", "hints"
NAME = "knowledge"
"""What the server and the hooks are called in the files of others."""
PARTS = {SERVER: "MCP server", START: "context at the start", END: "harvest at the end", HINTS: "hints"}
AT_END = "--harvest-at-end"
HINT = Path(__file__).parent.parent / "give" / "hint.py"
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
    place: str = ""
    """The home's folder: what hints are read from before any settings are."""

    def server(self, *more: str) -> dict[str, Any]:
        """What starts the MCP server, as most tools have it."""
        words = [*self.words, *self.home, "mcp", *more]
        return {"command": words[0], "args": words[1:]}

    def start(self, tool: str) -> str:
        line = shell_line([*self.words, *self.home, "context", "--hook", tool])
        return _while_there(line, self.words[0], *([] if is_one_file() or len(self.words) == 1 else [str(HAND_OVER)]))

    def start_once(self, tool: str) -> str:
        """For a tool that runs its hook in `sh` before every question to its model, and reads JSON from it."""
        line = shell_line([*self._light, START, tool, *self.words, *self.home])
        there = " && ".join(f"test -e {shlex.quote(path)}" for path in (*self._needed, self.words[0]))
        return f"if {there} ; then {line} ; else echo '{{}}' ; fi"

    def end(self, tool: str) -> str:
        """Not the program itself: only what hands the work over, in a Python that loads nothing."""
        return _while_there(shell_line([*self._light, tool, *self.words, *self.home]), *self._needed)

    def end_powershell(self, tool: str) -> str:
        """The same for PowerShell."""
        there = " -and ".join(f"(Test-Path {_in_powershell(path)})" for path in self._needed)
        line = " ".join(map(_in_powershell, (*self._light, tool, *self.words, *self.home)))
        return f"if ({there}) {{ & {line} }}"

    def hint(self, tool: str) -> str:
        """What runs at each event of a session: a script of its own, in a Python that loads little."""
        light = [sys.executable, "-m", "core.give.hint"] if is_one_file() else [sys.executable, "-I", str(HINT)]
        home = self.home if "--home" in self.home else ("--home", self.place, *self.home)
        return _while_there(shell_line([*light, tool, *home]), sys.executable, *([] if is_one_file() else [str(HINT)]))

    @property
    def _light(self) -> list[str]:
        if is_one_file():
            return [sys.executable, "-m", "core.agents.hand_over"]
        return [sys.executable, "-I", "-S", str(HAND_OVER)]

    @property
    def _needed(self) -> list[str]:
        return [sys.executable] if is_one_file() else [sys.executable, str(HAND_OVER)]


def _in_powershell(word: str) -> str:
    return "'" + word.replace("'", "''") + "'"


def _while_there(line: str, *needed: str) -> str:
    """A command line that does nothing, with status 0, unless these files are there; else its status is its own. Every
    shell of POSIX systems reads it alike, fish too; on Windows tools use shells that share no such words."""
    if sys.platform == "win32":
        return line
    return "".join(f"test ! -e {shlex.quote(path)} || " for path in needed) + line


class Agent(NamedTuple):
    """One tool. `commands` are its programs, `folder` is there once it was used; `sources` are its conversations, which
    are harvested while it is connected (names of SOURCES). `to_do` is what the user must still do in the tool itself,
    `less` what a connection with it does not give; "" for nothing."""

    name: str
    title: str
    written_for: str
    commands: tuple[str, ...]
    folder: Callable[[Mapping[str, str]], Path | None]
    entries: Callable[[Program, Mapping[str, str]], list[Entry]]
    sources: tuple[str, ...]
    to_do: str = ""
    less: str = ""

    def is_there(self, environment: Mapping[str, str]) -> bool:
        """Whether this user uses it: its folder exists, or its program is found."""
        folder = self.folder(environment)
        search = environment.get("PATH", "")
        return (folder is not None and folder.is_dir()) or any(shutil.which(row, path=search) for row in self.commands)


def _files(roots: tuple[Root, ...], environment: Mapping[str, str], *names: str) -> list[Path]:
    """These files in the first of the folders that this system has."""
    folder = next((folder for root in roots if (folder := root_folder(root, environment))), "")
    return [Path(folder, name) for name in names] if folder else []


_MATCHER = "startup|clear|compact"
_SECONDS_START, _SECONDS_END, _SECONDS_HINT = 15, 5, 3
_SECONDS_END_CODEX = 3
"""The most that Codex gives a SessionEnd hook; above it, it warns at each start."""


def _hooks(
    file: Path, program: Program, tool: str, unit: int = 1, seconds_end: int = _SECONDS_END, **more: str
) -> list[Entry]:
    """The hooks of a session's start (with `more`) and end, as Claude Code, Codex and Gemini CLI have them; the tool
    counts time-outs in units of which a second has `unit`."""

    def hook(command: str, seconds: int) -> list[dict[str, Any]]:
        return [{"type": "command", "command": command, "timeout": seconds * unit}]

    start = {**more, "hooks": hook(program.start(tool), _SECONDS_START)}
    end = {"hooks": hook(program.end(tool), seconds_end)}
    return [
        Entry(START, file, "json", start, ("hooks", "SessionStart"), True),
        Entry(END, file, "json", end, ("hooks", "SessionEnd"), True),
    ]


def _hint_hooks(file: Path, program: Program, tool: str, events: Mapping[str, str]) -> list[Entry]:
    """The hooks of hints: event -> its matcher ("" for none)."""
    made = []
    for event, matcher in events.items():
        hook = {"type": "command", "command": program.hint(tool), "timeout": _SECONDS_HINT}
        value = {**({"matcher": matcher} if matcher else {}), "hooks": [hook]}
        made.append(Entry(HINTS, file, "json", value, ("hooks", event), True))
    return made


def rules_line(unless: str = "") -> str:
    """The line of a file of rules, for tools that no hook can tell anything, or not each time (`unless`)."""
    return (
        f"At the beginning of a conversation{unless}, call the tool `find` of the MCP server `{NAME}` once, without "
        "a query, and keep in mind what it returns: it is what earlier conversations taught. Ask it again, with words, "
        "when something was decided, learned or tried before."
    )


_HINTS_CLAUDE = {
    "UserPromptSubmit": "",
    "PreToolUse": "Bash|Read|Edit|MultiEdit|Write|NotebookEdit",
    "PostToolUseFailure": "Bash",
    "PreCompact": "",
}
_HINTS_CODEX = {"UserPromptSubmit": "", "PreToolUse": "Bash|apply_patch", "PostToolUse": "Bash", "PreCompact": ""}
"""Codex tells of a failed command in PostToolUse; a file that is read is a command of the shell there."""
_CLAUDE = (Root("", "~/.claude", "CLAUDE_CONFIG_DIR"),)
_CLAUDE_STATE = (Root("", "~", "CLAUDE_CONFIG_DIR"),)
_CODEX = (Root("", "~/.codex", "CODEX_HOME"),)
_GEMINI = (Root(".gemini", "~", "GEMINI_CLI_HOME"),)
_ANTIGRAVITY = (Root(".gemini/config", "~"),)
_CURSOR = (Root("", "~/.cursor"),)
_PLUGIN = "plugins/local/knowledge-memory"
_OPENCODE = (Root("opencode", "~/.config", "XDG_CONFIG_HOME"),)
_COPILOT = (Root("", "~/.copilot", "COPILOT_HOME"),)
_VSCODE = editor_roots("Code", "")


def _claude_code(program: Program, environment: Mapping[str, str]) -> list[Entry]:
    (state,) = _files(_CLAUDE_STATE, environment, ".claude.json")
    (settings,) = _files(_CLAUDE, environment, "settings.json")
    server = {"type": "stdio", **program.server(), "env": {}}
    return [
        Entry(SERVER, state, "json", server, ("mcpServers", NAME)),
        *_hooks(settings, program, "claude_code", matcher=_MATCHER),
        *_hint_hooks(settings, program, "claude_code", _HINTS_CLAUDE),
    ]


def _codex(program: Program, environment: Mapping[str, str]) -> list[Entry]:
    config, hooks = _files(_CODEX, environment, "config.toml", "hooks.json")
    return [
        Entry(SERVER, config, "toml", program.server(), ("mcp_servers", NAME)),
        *_hooks(hooks, program, "codex", seconds_end=_SECONDS_END_CODEX, matcher=_MATCHER),
        *_hint_hooks(hooks, program, "codex", _HINTS_CODEX),
    ]


def _gemini_cli(program: Program, environment: Mapping[str, str]) -> list[Entry]:
    (settings,) = _files(_GEMINI, environment, "settings.json")
    return [
        Entry(SERVER, settings, "json", program.server(), ("mcpServers", NAME)),
        *_hooks(settings, program, "gemini_cli", 1000),
    ]


def _antigravity(program: Program, environment: Mapping[str, str]) -> list[Entry]:
    servers, hooks = _files(_ANTIGRAVITY, environment, "mcp_config.json", "hooks.json")
    server = Entry(SERVER, servers, "json", program.server(AT_END), ("mcpServers", NAME))
    if sys.platform == "win32":  # its hooks run in cmd there, which cannot tell the first question from others
        return [server]
    start = {"type": "command", "command": program.start_once("antigravity"), "timeout": _SECONDS_START}
    return [server, Entry(START, hooks, "json", start, (NAME, "PreInvocation"), True)]


def _cursor(program: Program, environment: Mapping[str, str]) -> list[Entry]:
    servers, hooks, plugin, rules = _files(
        _CURSOR,
        environment,
        "mcp.json",
        "hooks.json",
        f"{_PLUGIN}/.cursor-plugin/plugin.json",
        f"{_PLUGIN}/rules/start.mdc",
    )
    # Of the answer of its hook Cursor loses what comes after the first question. A rule beside it asks for the context;
    # of the user's own rules it reads no files but those of a plugin.
    line = rules_line(", unless it begins with a text between {knowledge} and {/knowledge}")
    text = f"---\ndescription: What earlier conversations taught\nalwaysApply: true\n---\n{line}\n"
    return [
        Entry(SERVER, servers, "json", program.server(), ("mcpServers", NAME)),
        Entry("", hooks, "json", 1, ("version",)),
        Entry(START, hooks, "json", {"command": program.start("cursor")}, ("hooks", "sessionStart"), True),
        Entry(END, hooks, "json", {"command": program.end("cursor")}, ("hooks", "sessionEnd"), True),
        Entry("", plugin, "own", '{"name": "knowledge-memory"}\n'),
        Entry(START, rules, "own", text),
    ]


def _vscode(program: Program, environment: Mapping[str, str]) -> list[Entry]:
    servers, rules = _files(_VSCODE, environment, "mcp.json", "prompts/knowledge-memory.instructions.md")
    text = f"---\napplyTo: '**'\n---\n{rules_line()}\n"
    return [
        Entry(SERVER, servers, "json", {"type": "stdio", **program.server(AT_END)}, ("servers", NAME)),
        Entry(START, rules, "own", text),
    ]


def _opencode(program: Program, environment: Mapping[str, str]) -> list[Entry]:
    plain, commented, rules = _files(_OPENCODE, environment, "opencode.json", "opencode.jsonc", "AGENTS.md")
    server = {"type": "local", "command": [*program.words, *program.home, "mcp", AT_END], "enabled": True}
    settings = commented if commented.exists() and not plain.exists() else plain
    return [Entry(SERVER, settings, "json", server, ("mcp", NAME)), Entry(START, rules, "rules", rules_line())]


def _copilot_cli(program: Program, environment: Mapping[str, str]) -> list[Entry]:
    servers, rules, hooks = _files(
        _COPILOT, environment, "mcp-config.json", "copilot-instructions.md", "hooks/knowledge-memory.json"
    )
    server = {"type": "local", **program.server(), "tools": ["*"]}
    end = {
        "type": "command",
        "bash": program.end("copilot_cli"),
        "powershell": program.end_powershell("copilot_cli"),
        "timeoutSec": _SECONDS_END,
    }
    return [
        Entry(SERVER, servers, "json", server, ("mcpServers", NAME)),
        Entry(START, rules, "rules", rules_line()),
        Entry("", hooks, "json", 1, ("version",)),
        Entry(END, hooks, "json", end, ("hooks", "sessionEnd"), True),
    ]


def _at(*roots: Root) -> Callable[[Mapping[str, str]], Path | None]:
    """The first of these folders that exists, else the first that this system has."""

    def folder(environment: Mapping[str, str]) -> Path | None:
        found = [Path(place) for root in roots if (place := root_folder(root, environment))]
        return next((place for place in found if place.is_dir()), found[0] if found else None)

    return folder


_ASKS_ONLY = "a rule asks the model for the context, which it may not do"
AGENTS: tuple[Agent, ...] = (
    Agent("claude_code", "Claude Code", "2.1", ("claude",), _at(*_CLAUDE), _claude_code, ("claude_code",)),
    Agent(
        "codex",
        "Codex",
        "0.145",
        ("codex",),
        _at(*_CODEX),
        _codex,
        ("codex",),
        "Codex runs a hook only once you have trusted it, and asks again after every change of it: type /hooks in it",
    ),
    Agent(
        "antigravity",
        "Antigravity",
        "1.1.21",
        ("agy",),
        _at(
            Root(".gemini/antigravity-cli", "~"), Root(".gemini/antigravity", "~"), Root(".gemini/antigravity-ide", "~")
        ),
        _antigravity,
        ("antigravity",),
    ),
    Agent(
        "gemini_cli",
        "Gemini CLI",
        "0.26",
        ("gemini",),
        _at(Root(".gemini/tmp", "~", "GEMINI_CLI_HOME")),  # the folder above is Antigravity's too
        _gemini_cli,
        ("gemini_cli",),
        less="it has served no personal accounts since June 2026; 'antigravity' is its successor",
    ),
    Agent("cursor", "Cursor", "2.5", ("cursor", "cursor-agent"), _at(*_CURSOR), _cursor, ("cursor", "cursor_cli")),
    Agent(
        "vscode",
        "VS Code",
        "1.102",
        ("code",),
        _at(*_VSCODE),
        _vscode,
        ("vscode",),
        "VS Code asks once whether it may start the server",
        _ASKS_ONLY,
    ),
    Agent("opencode", "OpenCode", "1.0", ("opencode",), _at(*_OPENCODE), _opencode, ("opencode",), less=_ASKS_ONLY),
    Agent(
        "copilot_cli",
        "Copilot CLI",
        "1.0",
        ("copilot",),
        _at(*_COPILOT),
        _copilot_cli,
        ("copilot_cli",),
        less=_ASKS_ONLY,
    ),
)
AGENT = {row.name: row for row in AGENTS}
_OTHER_NAMES = {
    "claude": "claude_code",
    "gemini": "gemini_cli",
    "copilot": "copilot_cli",
    "code": "vscode",
    "agy": "antigravity",
}


def agent_name(typed: str) -> str:
    """The name as it is meant: `Claude-Code` and `claude` are claude_code; "" for none."""
    name = typed.strip().lower().replace("-", "_").replace(" ", "_")
    name = _OTHER_NAMES.get(name, name)
    return name if name in AGENT else ""


def own_program(home: tuple[str, ...]) -> Program:
    """This program as others should start it: by its whole path, for what they start may have another PATH."""
    if is_one_file():
        return Program((sys.executable,), home)
    folder = os.path.dirname(sys.executable)
    script = shutil.which("knowledge", path=folder)
    words = (script,) if script else (sys.executable, "-I", "-m", "core")
    return Program(words, home)
