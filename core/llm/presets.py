"""Presets for the command lines of coding agents: each asked in its print mode, as a model and nothing else.

A conversation may hold instructions that somebody planted, so all tools are switched off; the program runs in an empty
folder (command.py), with none of the user's rules, servers and hooks, and writes no session that the next harvest would
find. The options are those of each tool's own documentation; a row says for which version they were looked up.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.base import files
from core.base.answer import Answer
from core.base.result import KnowledgeError, Ok, attempt
from core.llm.wire import add_counts, child, count_of, decode_object, excerpt, sum_of, text_of

Read = Callable[[str], Answer]
PLACE = "{place}"
"""Stands in arguments and environments for the folder of one question (`asking_place`)."""


@dataclass(frozen=True)
class Preset:
    """One program. `arguments` come before the model's name; `settings` is what the file `settings_file` in the folder
    of a question holds. `login` says how to log in; `login_files` are the files below the home folder that a login
    leaves, each with the place in the folder of a question where the program looks for it."""

    program: str
    title: str
    written_for: str
    arguments: tuple[str, ...]
    read: Read
    last: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] | None = None
    settings_file: str = "settings.json"
    login: str = ""
    login_files: Mapping[str, str] = field(default_factory=dict)
    window: int = 128_000
    """Tokens of prompt and answer together that every model of the tool takes."""
    schema_option: str = ""
    """By which it takes the JSON schema of an answer, "" for none."""

    def command(self, model: str, place: Path, schema: Mapping[str, Any] | None = None) -> list[str]:
        """The whole command line; the prompt comes on standard input."""
        chosen = ["--model", model] if model else []
        formed = [self.schema_option, json.dumps(schema)] if schema is not None and self.schema_option else []
        words = (word.replace(PLACE, str(place)) for word in self.arguments)
        return [self.program, *words, *formed, *chosen, *self.last]

    def prepare(self, place: Path) -> dict[str, str]:
        """Put into the folder of a question what the program is given; its environment. Raises OSError."""
        if self.settings is not None:
            files.make_folder((place / self.settings_file).parent, durable=False)
            files.write_atomic(place / self.settings_file, json.dumps(self.settings).encode(), 0o600, lasting=False)
        for own, given in self.login_files.items():
            if (kept := Path.home() / own).is_file():
                files.make_folder((place / given).parent, durable=False)
                files.link(kept, place / given)
        return {key: value.replace(PLACE, str(place)) for key, value in self.environment.items()}


def _object(text: str) -> dict[str, Any]:
    """The JSON object that a program printed, also below warnings of its own; {} for none."""
    return decode_object(text) or decode_object(text[text.find("{") :]) or {}


def _no_answer(title: str, said: str) -> KnowledgeError:
    words = f": {excerpt(said)}" if said.strip() else ""
    message = f"{title} gave no answer{words}"
    return KnowledgeError("command-failed", message, hint="run it by hand and see what it says")


def read_claude_code(text: str) -> Answer:
    """`--output-format json`: one object with `result`, `is_error` and `usage`, and what a schema asked for as
    `structured_output`, where the model kept to it."""
    printed = _object(text)
    formed = printed.get("structured_output")
    answer = json.dumps(formed, ensure_ascii=False) if isinstance(formed, dict) else printed.get("result")
    if printed.get("is_error") or not isinstance(answer, str):
        raise _no_answer("Claude Code", text_of(printed, "result") or text_of(printed, "subtype"))
    usage = child(printed, "usage")
    name = next(iter(child(printed, "modelUsage")), "")
    cut = printed.get("stop_reason") == "max_tokens"
    sent = sum_of(usage, "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    return Answer(answer, name, sent, count_of(usage, "output_tokens"), truncated=cut)


def read_codex(text: str) -> Answer:
    """`--json`: events, one a line; the last `agent_message` is the answer, `turn.completed` tells the tokens."""
    answer, said, usage = None, "", None
    for row in filter(None, map(decode_object, text.splitlines())):
        item, kind = child(row, "item"), row.get("type")
        if kind == "item.completed" and item.get("type") == "agent_message":
            answer = item.get("text")
        elif kind == "turn.completed":
            usage = row.get("usage")
        elif kind in ("error", "turn.failed"):
            said = text_of(row, "message") or text_of(row.get("error"), "message")
    if not isinstance(answer, str):
        raise _no_answer("Codex", said)
    return Answer(answer, "", count_of(usage, "input_tokens"), count_of(usage, "output_tokens"))


def read_gemini_cli(text: str) -> Answer:
    """`--output-format json`: one object with `response`, `stats` and perhaps `error`."""
    printed = _object(text)
    answer = printed.get("response")
    if isinstance(printed.get("error"), dict) or not isinstance(answer, str):
        raise _no_answer("Gemini CLI", text_of(printed.get("error"), "message"))
    models = child(child(printed, "stats"), "models")
    tokens = [child(row, "tokens") for row in models.values()]
    sent = add_counts(count_of(row, "prompt") for row in tokens)
    said = add_counts(sum_of(row, "candidates", "thoughts") for row in tokens)
    return Answer(answer, next(iter(models), ""), sent, said)


def read_antigravity(text: str) -> Answer:
    """`--output-format json`: one object with `status`, `response` and `usage`. A tool that was asked for and denied
    leaves `response` empty."""
    printed = _object(text)
    answer = printed.get("response")
    if printed.get("status") != "SUCCESS" or not isinstance(answer, str):
        raise _no_answer("Antigravity", text_of(printed, "error"))
    usage = child(printed, "usage")
    sent, said = sum_of(usage, "input_tokens", "cache_read_tokens"), sum_of(usage, "output_tokens", "thinking_tokens")
    return Answer(answer, "", sent, said)


_NO_SERVER = "NO-SERVER-IN-A-HARVEST"
"""An empty list of allowed servers means all, and no list of excluded ones has a word for all: a name that does not
exist is the only one allowed."""
_GEMINI_SETTINGS: Mapping[str, Any] = {
    "tools": {"core": [], "discoveryCommand": "", "callCommand": ""},
    "mcpServers": {},
    "mcp": {"allowed": [_NO_SERVER], "serverCommand": ""},
    "hooksConfig": {"enabled": False},
    "skills": {"enabled": False},
    "context": {"fileName": ["NO-RULES-IN-A-HARVEST.md"]},
    "security": {"folderTrust": {"enabled": False}},
    "general": {"checkpointing": {"enabled": False}},
}

_ANTIGRAVITY = ".gemini/antigravity-cli"
_ANTIGRAVITY_SETTINGS: Mapping[str, Any] = {
    "toolPermission": "strict",
    "permissions": {"allow": [], "deny": ["command(*)", "read_file(*)", "write_file(*)", "read_url(*)", "mcp(*)"]},
}

PRESETS: Mapping[str, Preset] = {
    # code.claude.com/docs/en/cli-reference: --safe-mode leaves out CLAUDE.md, skills, plugins, hooks and servers, and
    # keeps the login (--bare would not); its own system prompt costs thousands of tokens a question and is of no use.
    "claude_code": Preset(
        "claude",
        "Claude Code",
        "2.1.281",
        (
            *("--print", "--output-format", "json", "--safe-mode", "--strict-mcp-config", "--no-session-persistence"),
            *("--tools", "", "--settings", '{"disableAllHooks": true}'),
            *("--system-prompt", "You read a conversation and answer with one JSON object."),
        ),
        read_claude_code,
        login="type 'claude' and then /login",
        schema_option="--json-schema",
    ),
    # developers.openai.com/codex/noninteractive: no switch takes every tool away, so the shells are switched off one by
    # one and the sandbox lets nothing be written.
    "codex": Preset(
        "codex",
        "Codex",
        "0.130",
        (
            *("exec", "--ephemeral", "--skip-git-repo-check", "--ignore-user-config", "--ignore-rules"),
            *("--sandbox", "read-only", "--color", "never", "--json"),
            *("--config", 'web_search="disabled"', "--config", "project_doc_max_bytes=0"),
            *("--disable", "shell_tool", "--disable", "unified_exec", "--disable", "multi_agent"),
            *("--disable", "plugins", "--disable", "apps", "--disable", "hooks"),
        ),
        read_codex,
        last=("-",),
        login="type 'codex login'",
    ),
    # google-antigravity/antigravity-cli (CHANGELOG, issues): no switch leaves out rules, servers, hooks or the record
    # of a conversation. They all lie in one folder, and each question gets its own; a login in the keyring counts there
    # too, one in a file is linked. Without a prompt among its words it reads one from its input, from 1.1.1 on.
    "antigravity": Preset(
        "agy",
        "Antigravity",
        "1.1.21",
        (
            *(f"--gemini_dir={PLACE}/.gemini", "--mode", "plan", "--output-format", "json"),
            *("--disable-slash-commands", "--print-timeout", "60m"),
        ),
        read_antigravity,
        settings=_ANTIGRAVITY_SETTINGS,
        settings_file=f"{_ANTIGRAVITY}/settings.json",
        login="type 'agy' and log in",
        login_files={f"{_ANTIGRAVITY}/antigravity-oauth-token": f"{_ANTIGRAVITY}/antigravity-oauth-token"},
    ),
    # geminicli.com/docs: the system settings override the user's own; an empty tools.core allows no tool.
    "gemini_cli": Preset(
        "gemini",
        "Gemini CLI",
        "0.26",
        ("--output-format", "json", "--extensions", "none", "--allowed-mcp-server-names", _NO_SERVER),
        read_gemini_cli,
        last=("--prompt", "Return only the JSON object."),
        environment={"GEMINI_CLI_SYSTEM_SETTINGS_PATH": f"{PLACE}/settings.json"},
        settings=_GEMINI_SETTINGS,
        login="type 'gemini' and log in",
    ),
}

_TOO_OLD = (
    *("unknown option", "unknown argument", "unexpected argument", "unrecognized", "unknown feature", "invalid option"),
    *("unknown flag", "unknown arguments", "flag provided but not defined", "flags provided but not defined"),
)
_NO_LOGIN = (
    *("not logged in", "/login", "please log in", "login required", "codex login", "invalid api key", "unauthorized"),
    *("set an auth method", "authenticat", "401", "oauth token has expired", "no api key", "sign in", "not signed in"),
)


def explain(preset: Preset, output: str, complaints: str, status: int) -> None:
    """Raise KnowledgeError where such a program gave no answer because of how it is installed: too old, or nobody is
    logged in. `status` is that with which it ended."""
    said = f"{complaints}\n{output[:20_000]}".lower()
    if status == 0 and isinstance(attempt(preset.read, output), Ok):
        return
    if any(words in said for words in _TOO_OLD):
        message = f"this {preset.title} does not know what it is asked with: it is older than {preset.written_for}"
        raise KnowledgeError("too-old", message, hint=f"update it, then see what '{preset.program} --version' says")
    if any(words in said for words in _NO_LOGIN):
        raise KnowledgeError("not-logged-in", f"{preset.title} is not logged in", hint=preset.login)
