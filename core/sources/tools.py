"""SOURCES: where other tools keep their conversations, one row a tool.

Places and shapes follow conversation-formats.md; where a tool lets its user move its folder, the row names the variable
of the environment. Nothing is looked at here: walk.py does that. Below the table stands what a conversation of another
tool is called in provenances, in the ledger and in reports.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from core.base.markdown import sanitise_name
from core.sources.artifact import HOME, Artifact

ALL = "all"
FILES = "files"


class Root(NamedTuple):
    """A folder that a tool keeps: below the variable's folder where that is set, else below the first default."""

    below: str
    default: str
    variable: str = ""
    system: str = ""  # sys.platform begins with it; "" for all


class Source(NamedTuple):
    """One tool. `patterns` are paths below a root, `*` for any name and `**` for any folders between.

    `keep` says how many parts of a path, from its end, name the conversation. `project`: it lies in project folders,
    and `patterns` are looked for in each. `folders` are patterns too, for folders that are read as one store. `resume`
    is the command line that goes on with one of its conversations, as the tool's own help has it (late 2026).
    """

    name: str
    title: str
    roots: tuple[Root, ...]
    patterns: tuple[str, ...]
    keep: int = 1
    project: bool = False
    folders: tuple[str, ...] = ()
    resume: str = ""


_LINUX, _MAC, _WINDOWS = "linux", "darwin", "win"


def _settings(below: str) -> tuple[Root, ...]:
    """A folder among those of settings, on each system."""
    return (
        Root(below, "~/.config", "XDG_CONFIG_HOME", _LINUX),
        Root(below, "~/Library/Application Support", "", _MAC),
        Root(below, "~/AppData/Roaming", "APPDATA", _WINDOWS),
    )


def editor_roots(folder: str, below: str) -> tuple[Root, ...]:
    """The settings folder of an editor made from VS Code, on each system."""
    return _settings(f"{folder}/User/{below}")


_EDITORS = ("Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf")


_SERVERS = (".vscode-server", ".vscode-remote")
"""Where an editor that runs elsewhere keeps what its extensions write on this machine (SSH, WSL, containers)."""


def _extension(name: str) -> tuple[Root, ...]:
    below = f"globalStorage/{name}/tasks"
    here = [root for editor in _EDITORS for root in editor_roots(editor, below)]
    return (*here, *(Root(f"data/User/{below}", f"~/{server}") for server in _SERVERS))


_CHATS = tuple(
    f"{folder}/*.{ending}"
    for folder in ("workspaceStorage/*/chatSessions", "globalStorage/emptyWindowChatSessions")
    for ending in ("jsonl", "json")
)
"""Chats of Copilot in a window with a folder, and in one without."""

_TASK_FILES = ("*/api_conversation_history.json",)
"""What Cline and the tools made from it keep of a task."""

# Order: that of the report.
SOURCES: tuple[Source, ...] = (
    Source("claude_code", "Claude Code",
           (Root("projects", "~/.claude", "CLAUDE_CONFIG_DIR"),
            Root("claude/projects", "~/.config", "XDG_CONFIG_HOME")), ("**/*.jsonl",), resume="claude --resume {id}"),
    Source("codex", "Codex",
           (Root("sessions", "~/.codex", "CODEX_HOME"), Root("archived_sessions", "~/.codex", "CODEX_HOME")),
           ("**/rollout-*.jsonl", "**/rollout-*.jsonl.zst"), resume="codex resume {id}"),
    Source("gemini_cli", "Gemini CLI", (Root(".gemini/tmp", "~", "GEMINI_CLI_HOME"),),
           ("*/chats/session-*.jsonl", "*/chats/session-*.json"), resume="gemini --resume {id}"),
    Source("opencode", "OpenCode", (Root("opencode", "~/.local/share", "XDG_DATA_HOME"),),
           ("opencode.db", "opencode-*.db"), folders=("storage", "project/*/storage"),
           resume="opencode --session {id}"),
    Source("cursor", "Cursor", editor_roots("Cursor", "globalStorage"), ("state.vscdb",)),
    Source("cursor_cli", "Cursor's command line", (Root("projects", "~/.cursor"),),
           ("*/agent-transcripts/*.jsonl", "*/agent-transcripts/*/*.jsonl"), resume="cursor-agent --resume {id}"),
    Source("cline", "Cline",
           (*_extension("saoudrizwan.claude-dev"), Root("data/tasks", "~/.cline", "CLINE_DIR"),
            Root("data/sessions", "~/.cline", "CLINE_DIR"), Root("sessions", "", "CLINE_DATA_DIR")),
           (*_TASK_FILES, "*/*.messages.json"), keep=2),
    Source("roo", "Roo Code", _extension("rooveterinaryinc.roo-cline"), _TASK_FILES, keep=2),
    Source("copilot_cli", "Copilot CLI", (Root("session-state", "~/.copilot", "COPILOT_HOME"),),
           ("*/events.jsonl", "*.jsonl"), keep=2, resume="copilot --resume {id}"),
    Source("vscode", "VS Code",
           tuple(root for editor in ("Code", "Code - Insiders", "VSCodium") for root in editor_roots(editor, "")),
           _CHATS),
    Source("goose", "Goose",
           (Root("data/sessions", "", "GOOSE_PATH_ROOT"), Root("goose/sessions", "~/.local/share", "XDG_DATA_HOME"),
            Root("Block/goose/data/sessions", "~/AppData/Roaming", "APPDATA", _WINDOWS)),
           ("sessions.db", "*.jsonl"), resume="goose session --resume --session-id {id}"),
    Source("llm", "llm", (Root("", "", "LLM_USER_PATH"), *_settings("io.datasette.llm")), ("logs.db",),
           resume="llm chat --conversation {id}"),
    Source("deepseek", "DeepSeek Harness", (Root("sessions", "~/.dsh", "DSH_HOME"),),
           ("*/*/session.jsonl", "*/*/session.jsonl.zstd"), keep=2),
    Source("zed", "Zed",
           (Root("zed/threads", "~/.local/share", "XDG_DATA_HOME", _LINUX),
            Root("Zed/threads", "~/Library/Application Support", "", _MAC),
            Root("Zed/threads", "~/AppData/Local", "LOCALAPPDATA", _WINDOWS)),
           ("threads.db",)),
    Source("droid", "Droid", (Root(".factory/sessions", "~", "FACTORY_HOME_OVERRIDE"),), ("*/*.jsonl", "*.jsonl"),
           resume="droid --resume {id}"),
    Source("grok", "Grok Build", (Root("sessions", "~/.grok", "GROK_HOME"),), ("*/*/chat_history.jsonl",), keep=2),
    Source("kimi", "Kimi CLI", (Root("sessions", "~/.kimi", "KIMI_SHARE_DIR"),), ("*/*/wire.jsonl",), keep=2),
    Source("kimi_code", "Kimi Code", (Root("sessions", "~/.kimi-code", "KIMI_CODE_HOME"),),
           ("*/*/agents/main/wire.jsonl",), keep=4),
    Source("qwen", "Qwen Code",
           (Root("projects", "~/.qwen", "QWEN_HOME"), Root("tmp", "~/.qwen", "QWEN_HOME"),
            Root("projects", "", "QWEN_RUNTIME_DIR")),
           ("*/chats/*.jsonl", "*/chats/session-*.json"), resume="qwen --resume {id}"),
    Source("pi", "Pi", (Root("sessions", "~/.pi/agent", "PI_CODING_AGENT_DIR"),), ("*/*.jsonl",),
           resume="pi --session {path}"),
    Source("openclaw", "OpenClaw", (Root("agents", "~/.openclaw", "OPENCLAW_STATE_DIR"),), ("*/sessions/*.jsonl",)),
    Source("hermes", "Hermes",
           (Root("", "~/.hermes", "HERMES_HOME"), Root("hermes", "~/AppData/Local", "LOCALAPPDATA", _WINDOWS)),
           ("state.db", "profiles/*/state.db")),
    Source("antigravity", "Antigravity",
           (Root("antigravity-cli/brain", "~/.gemini"), Root("antigravity/brain", "~/.gemini"),
            Root("antigravity-ide/brain", "~/.gemini")),
           ("*/.system_generated/logs/transcript_full.jsonl",), keep=4, resume="agy --conversation {id}"),
    Source("amp", "Amp", (Root("amp/threads", "~/.local/share", "XDG_DATA_HOME"),), ("T-*.json",),
           resume="amp threads continue {id}"),
    Source("kiro", "Kiro CLI", (Root("sessions/cli", "~/.kiro", "KIRO_HOME"), Root("sessions", "~/.kiro", "KIRO_HOME")),
           ("*.jsonl", "*/*/messages.jsonl"), keep=2),
    Source("devin", "Devin", (Root("devin/cli", "~/.local/share", "XDG_DATA_HOME"),), ("sessions.db",),
           resume="devin --resume {id}"),
    Source("continue_dev", "Continue", (Root("sessions", "~/.continue", "CONTINUE_GLOBAL_DIR"),), ("*-*.json",)),
    Source("kilo", "Kilo Code",
           (*_extension("kilocode.kilo-code"), Root("kilo", "~/.local/share", "XDG_DATA_HOME")),
           (*_TASK_FILES, "kilo.db"), keep=2),
    Source("crush", "Crush", (), (".crush/crush.db",), keep=3, project=True),
    Source("aider", "aider", (), (".aider.chat.history.md",), keep=2, project=True,
           resume="aider --restore-chat-history"),
    Source("specstory", "SpecStory", (), (".specstory/history/*.md",), project=True),
)  # fmt: skip
SOURCE = {row.name: row for row in SOURCES}
NAMES = (HOME, *SOURCE)
EXPORTS = {"chatgpt": "ChatGPT", "claude_ai": "Claude.ai"}
"""Services whose conversations come as a file that the user asked for: they have no place of their own."""
MOVING = frozenset({*EXPORTS, "opencode"})
"""Sources whose conversations may stand in another store tomorrow, under the id that they have today."""


class Place(NamedTuple):
    """A folder to look in for one source, or with the source `files` a file or folder that the user named."""

    source: str
    folder: str


def places(names: Sequence[str], environment: Mapping[str, str], project_roots: Sequence[str]) -> tuple[Place, ...]:
    """The folders of these sources, whether they exist or not. A name that is a path is a place of its own. Pure but
    for the user's home folder, where the environment does not tell it."""
    wanted = [row.name for row in SOURCES] if ALL in names else names
    rows: dict[Place, None] = {}
    for name in wanted:
        source = SOURCE.get(name)
        if source is None:
            if name not in (HOME, ALL):
                rows[Place(FILES, os.path.abspath(_expanded(name, environment)))] = None
            continue
        if source.project:
            rows |= dict.fromkeys(Place(name, _expanded(root, environment)) for root in project_roots)
        for root in source.roots:
            folder = root_folder(root, environment)
            if folder:
                rows[Place(name, folder)] = None
    return tuple(rows)


def known_name(text: str) -> str:
    """The name of a source as it is meant (`claude-code` and `claude` are claude_code), or a path as it stands; "" for
    neither."""
    name = re.sub(r"[\s-]+", "_", text.strip().lower())
    if name in (*NAMES, ALL):
        return name
    called_so = [known for known in NAMES if name and known.startswith(f"{name}_")]
    if len(called_so) == 1:
        return called_so[0]
    return text if os.sep in text or "/" in text or text.startswith((".", "~")) else ""


def project_at(path: str) -> str:
    """The project's folder around a history that a tool keeps there (aider, SpecStory); "" for any other path."""
    parts = path.split(os.sep)
    for source in SOURCES:
        for pattern in source.patterns if source.project else ():
            wanted = pattern.split("/")
            if len(parts) > len(wanted) and all(map(fnmatchcase, parts[-len(wanted) :], wanted)):
                return os.sep.join(parts[: -len(wanted)]) or os.sep
    return ""


def title_of(name: str) -> str:
    """What a source is called in a sentence."""
    return SOURCE[name].title if name in SOURCE else "your files" if name == FILES else EXPORTS.get(name, name)


def known_as(path: str, source: str) -> str:
    """By what two looks are known to have seen the same conversation: its path; or the tool and the conversation's own
    id, where each download is another file, or where the tool moved from files to a database."""
    return f"{source}#{path.rpartition('#')[2]}" if source in MOVING else path


def forgotten_places(entries: Mapping[str, Mapping[str, Any]]) -> set[str]:
    """What `known_as` says of the conversations that the user wants forgotten: nothing of these is shown."""
    rows = (entry for entry in entries.values() if entry.get("status") == "forgotten")
    return {known_as(str(entry.get("path", "")), str(entry.get("source", ""))) for entry in rows}


def root_folder(root: Root, environment: Mapping[str, str]) -> str:
    """Where a root lies for this user, whether it exists or not; "" on a system that it is not for."""
    if not sys.platform.startswith(root.system):
        return ""
    named = environment.get(root.variable, "") if root.variable else ""
    base = named if os.path.isabs(named) else root.default
    return os.path.normpath(os.path.join(_expanded(base, environment), root.below)) if base else ""


def _expanded(path: str, environment: Mapping[str, str]) -> str:
    home = environment.get("HOME") or environment.get("USERPROFILE") or os.path.expanduser("~")
    return os.path.join(home, path[2:]) if path.startswith("~/") else home if path == "~" else path


def name_in(source: Source, root: str, path: str) -> str:
    """What the conversation is called in provenances: the tool and the parts of the path that tell it apart."""
    if source.project:
        own = os.path.basename(path)
        return f"{source.name}/{os.path.basename(root)}/{own}" if source.keep > 1 else f"{source.name}/{own}"
    inside = root.rstrip(os.sep) + os.sep
    below = path[len(inside) :] if path.startswith(inside) else os.path.relpath(path, root)
    parts = below.split(os.sep)[-source.keep :]
    if source.keep > 1 and len(parts) > 1 and not fnmatchcase(path, "*.messages.json"):
        parts = parts[:-1]  # the folder tells; the file is called the same in each
    name = "/".join(parts)
    for suffix in (".zst", ".jsonl", ".json", ".messages"):
        name = name.removesuffix(suffix)
    return f"{source.name}/{name}"


def disambiguate(rows: Sequence[Artifact], entries: Mapping[str, Mapping[str, Any]]) -> list[Artifact]:
    """The rows with names that no two of them share. aider and SpecStory give every project's file the same name, and
    so may files be called that the user names: such a name gets as many folders of the path in front as it takes. A
    conversation that was harvested before keeps the name that its lines bear."""
    named: dict[str, str] = {}
    if not rows:
        return []
    for entry in sorted(entries.values(), key=lambda entry: str(entry.get("at", ""))):
        if entry.get("name"):
            named[str(entry.get("path", ""))] = str(entry["name"])
    taken = {sanitise_name(name) for name in named.values()}
    new = [row for row in rows if row.path not in named and may_share(row)]
    found: dict[str, str] = {}
    parts = 0
    while new:
        names = {row.path: _longer(row, parts) for row in new}
        number = Counter(map(sanitise_name, names.values()))
        for row in new:
            name, longer = names[row.path], _longer(row, parts + 1)
            if (number[sanitise_name(name)] == 1 and sanitise_name(name) not in taken) or longer == name:
                found[row.path] = name
        new = [row for row in new if row.path not in found]
        parts += 1
    found |= {row.path: named[row.path] for row in rows if row.path in named and may_share(row)}
    return [row._replace(name=found.get(row.path, row.name)) for row in rows]


def may_share(row: Artifact) -> bool:
    """Whether another file may have the same name."""
    named = row.source == FILES and os.path.basename(row.path) == row.name.rpartition("/")[2]
    return named or (row.source in SOURCE and SOURCE[row.source].project)


def _longer(row: Artifact, parts: int) -> str:
    """The name with more folders of the project's path in it, by their number; the whole path is the longest."""
    tool, *known = row.name.split("/")
    depth = 1 if row.source == FILES else SOURCE[row.source].patterns[0].count("/") + 1
    folders = [part for part in row.path.split(os.sep)[:-depth] if part]
    wanted = len(known) - 1 + parts
    return "/".join([tool, *(folders[-wanted:] if wanted else []), known[-1]])


# --- going on in the tool itself -------------------------------------------------------------------------------------

_ID = re.compile(r"[A-Za-z0-9][\w.-]{3,127}\Z")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z")
_BROKEN = re.compile(r"[\x00-\x1f\x7f]")


def resume_command(source: str, session: str, name: str, path: str, folder: str) -> tuple[str, str]:
    """The command line that goes on with a conversation, in the folder in which it was held; or "" and why there is
    none, as a sentence. `session` is the id in the file, `name` what the conversation is called here. Ids and folders
    come out of a file that anybody may have written, and the line is meant for a shell: they are quoted, and an id that
    does not look like one is refused."""
    pattern = SOURCE[source].resume if source in SOURCE else ""
    if not pattern:
        return "", "its tool has no command that goes on with one conversation"
    if source == "antigravity" and "antigravity-cli" not in path:
        return "", "it was held in Antigravity's window, which goes on with it"
    id = session.partition("/")[0] if session != name else ""  # a sub-agent's names its session first
    if not _ID.match(id):
        parts = name.split("/")
        id = next((found[0] for part in reversed(parts) if (found := _UUID.search(part))), parts[-1])
    if "{id}" in pattern and not _ID.match(id):
        return "", "its file does not tell the id by which its tool knows it"
    if _BROKEN.search(folder + path):
        return "", "its folder has a name that no command line can hold"
    command = pattern.format(id=shlex.quote(id), path=shlex.quote(path))
    return (f"cd {shlex.quote(folder)} && {command}" if folder.startswith("/") else command), ""
