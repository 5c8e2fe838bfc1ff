"""Playbooks of a chat: commands in a fence, at least two, that demonstrably worked, as the next words say."""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.conversations.conversation import Conversation, Turn
from core.rules.prose import Code, begun, clean
from core.rules.sentence import Found

MAX_STEPS, LEAST_STEPS, MAX_LINES, LONGEST = 12, 2, 40, 300
LONGEST_OUTPUT = 20_000
_SHELL = frozenset(("bash", "sh", "zsh", "shell", "console", "terminal", "powershell", "fish", ""))
_PROMPT = re.compile(r"^\s*(?:\$|>|PS [^>\n]{0,80}>|\([\w.-]{1,40}\)\s*\$)\s+")
_COMMAND = re.compile(
    r"^(?:sudo )?(?:[A-Z_]{2,40}=\S{0,80} )*(?:\./|~/|/)?[a-z][\w.+-]{0,40}(?:/[\w.+-]{1,40}){0,6}(?: |$)"
)
# Programs whose name on a bare line is a command and hardly ever prose; needed where a fence names no language.
_KNOWN = frozenset({
    "git", "npm", "npx", "pnpm", "yarn", "node", "bun", "deno", "pip", "pip3", "pipx", "uv", "python", "python3",
    "poetry", "pytest", "make", "cmake", "cargo", "rustc", "go", "gradle", "mvn", "java", "docker", "docker-compose",
    "podman", "kubectl", "helm", "terraform", "ansible", "ssh", "scp", "rsync", "curl", "wget", "apt", "apt-get",
    "brew", "dnf", "systemctl", "service", "psql", "mysql", "sqlite3", "redis-cli", "aws", "gcloud", "az", "gh",
    "heroku", "flyctl", "vercel", "wrangler", "cp", "mv", "mkdir", "rm", "ln", "chmod", "chown", "tar", "unzip",
    "export", "source", "bundle", "rails", "rake", "composer", "php", "artisan", "dotnet", "swift", "xcodebuild",
    "conda", "mamba", "cd", "mypy", "ruff", "tox", "nox", "hatch", "twine", "openssl",
})  # fmt: skip
# Looking around is how work starts, not a procedure that somebody will run again.
_LOOKING = frozenset({
    "ls", "cat", "head", "tail", "grep", "rg", "find", "echo", "pwd", "which", "whoami", "wc", "less", "tree", "sed",
    "awk", "stat", "file", "du", "df", "ps", "env", "printenv", "date", "history", "man", "type", "test", "true",
    "sleep", "cd", "jq", "sort", "uniq", "diff",
})  # fmt: skip
_LOOKING_AT = re.compile(
    r"^git (?:status|log|diff|show|branch|blame|remote -v|rev-parse|ls-files|ls-remote|fetch|stash list)\b"
    r"|^gh (?:pr|issue|run|repo|release) (?:view|list|diff|checks)\b"
    r"|^(?:npm|pnpm|yarn) (?:view|info|ls|list|outdated|why)\b|^pip3? (?:list|show|freeze)\b"
    r"|^docker (?:ps|images|logs|inspect)\b|^kubectl (?:get|describe|logs)\b"
    r"|^[^|;&]* (?:--help|--version|-h)(?: |$)"
)
_FAILED = re.compile(
    r"\b(?:error|errors|failed|failure|traceback|exception|not found|no such file|permission denied|cannot|fatal|"
    r"undefined|refused|command not found|aborted|timed out)\b|exit(?:ed)?(?: with)?(?: code)?:? [1-9]",
    re.IGNORECASE,
)
_FINE = re.compile(
    r"\b0 (?:errors?|failed|failures)\b|\bno (?:errors?|failures)\b|\berrors?: 0\b|\bfailed: 0\b"
    r"|\bfailures: 0\b|without errors?",
    re.IGNORECASE,
)
_WORKED = re.compile(
    r"exit(?:ed)?(?: with)?(?: code)?:? 0\b|\b\d+ passed\b|\bpass(?:ed)?\b|\bsuccess(?:ful(?:ly)?)?\b|\bBUILD SUCCESS|"
    r"^ok\b|\b(?:done|finished|completed|installed|deployed|created)\b|✓|✔|\b0 errors\b|^To \S+:\S+",
    re.IGNORECASE | re.MULTILINE,
)
_PRAISE = re.compile(
    r"^(?:(?:great|nice|perfect|cool|yes|yeah|ok|okay|thanks|thank you|awesome|excellent)[,.! ]{1,3})?"
    r"(?:that|this|it|everything)?\s?"
    r"(?:works?|worked|did it|fixed it|did the trick|is working)\b(?! but)",
    re.IGNORECASE,
)
_LEAD_FILLER = re.compile(
    r"^(?:(?:now|then|next|first|finally|okay|ok|and|so|also),? )?"
    r"(?:let me |let's |i'll |i will |we can |you can |you could |please )?"
    r"(?:(?:run(?:ning)? (?:the )?(?:following|these|this)(?: commands?)?(?: (?:in|from) [\w ]{1,30})?|"
    r"use (?:the following|this|these)(?: commands?)?|"
    r"(?:here(?:'s| is| are)) (?:the|how)[\w ]{0,20}?commands?)(?:,? to)?\b\s?)?",
    re.IGNORECASE,
)
# Told once, of this day's work: what a commit says, what goes to a scratch file, what is typed in whole.
_ONCE = re.compile(
    r"^git (?:add|commit)\b|[>\s]/(?:tmp|var/tmp)/|\|\| true\b|^[A-Za-z_]\w*=['\"$]|(['\"])(?:(?!\1).){80,}\1|\$\("
)
# What is put behind a command to see less of its output is no part of the procedure.
_SHORTENED = re.compile(r"(?:\s*2>&1)?\s*\|\s*(?:tail|head|grep|sort|wc)\b[^&;]*$|\s*2>&1$")
_NAME_WORDS = re.compile(r"^(?:[\w.+-]+/)*([\w.+-]+(?: (?:run )?[a-z][\w:.+-]*)?)")


def find_playbooks(codes: list[Code], conversation: Conversation) -> Iterator[Found]:
    """Fenced commands (two at least, not mere looking around) whose success is told by what follows: by the tool's
    output or the user's next words, neither of which adds a word to the playbook."""
    for code in codes:
        commands = _commands(code)
        kept = [command for command in commands if not _looking(command)]
        steps = sum(not _looking(part) and not _ONCE.search(part) for row in kept for part in row.split(" && "))
        if steps < LEAST_STEPS or len(commands) > MAX_STEPS:
            continue
        if _session_worked(code) or _succeeded(code.turn, conversation.turns):
            line = next(line for line in code.lines if kept[0] in line)
            fields = {"name": _name(code, kept), "steps": " && ".join(commands), "quote": line.strip()}
            yield Found("playbooks", fields, 2 + min(steps, 4) + (code.role == "user"), code.turn)


def _bare(line: str) -> str:
    """The command of a line, without prompt, remark and what shortens its output; "" when it is none."""
    bare = _SHORTENED.sub("", re.sub(r"\s+#\s.*$", "", _PROMPT.sub("", line).strip()))
    open_end = bare.endswith(("\\", "{", "|", "then", "do", "<<EOF", ":"))
    return "" if not _COMMAND.match(bare) or open_end or len(bare) > LONGEST else bare


def _commands(code: Code) -> list[str]:
    """The commands of a fence; empty when it holds anything else (output, a script, a placeholder to fill in)."""
    if code.language not in _SHELL or len(code.lines) > MAX_LINES:
        return []
    prompted = any(_PROMPT.match(line) for line in code.lines)
    commands: list[str] = []
    for line in code.lines:
        if not line.strip() or line.strip().startswith("#") or (prompted and not _PROMPT.match(line)):
            continue
        bare = _bare(line)
        if not bare or (not code.language and not prompted and bare.removeprefix("sudo ").split()[0] not in _KNOWN):
            return []
        if re.search(r"<[a-z][\w -]*>|\byour[-_]|/path/to/", bare, re.IGNORECASE):
            return []
        commands.append(bare)
    return commands


def _looking(command: str) -> bool:
    if _LOOKING_AT.match(command):
        return True
    parts = [part.strip() for part in re.split(r"&&|;|\|\||\|", command) if part.strip()]
    return all(part.split()[0] in _LOOKING or _LOOKING_AT.match(part) for part in parts) or not parts


def _session_worked(code: Code) -> bool:
    """A fence that shows commands behind prompts together with what they printed, and that ends well."""
    if not any(_PROMPT.match(line) for line in code.lines):
        return False
    output = "\n".join(line for line in code.lines if line.strip() and not _PROMPT.match(line))
    return bool(_WORKED.search(output)) and not _FAILED.search(_FINE.sub("", output))


def _succeeded(number: int, turns: tuple[Turn, ...]) -> bool:
    """What the next turns say: the tool's output right after it, or the user's first words on it."""
    for turn in turns[number + 1 : number + 4]:
        if turn.role == "tool":
            output = turn.text[:LONGEST_OUTPUT]
            if _FAILED.search(_FINE.sub("", output)):
                return False
            if _WORKED.search(output):
                return True
        elif turn.role == "user":
            return _PRAISE.match(turn.text.lstrip()[:120]) is not None
    return False


def _name(code: Code, commands: list[str]) -> str:
    said = re.split(r"(?<=[.!?])\s+", code.lead.strip())[-1]  # what was said last leads to the commands
    lead = _LEAD_FILLER.sub("", said).strip(" :.*#-")
    if 2 <= len(lead.split()) <= 14 and "`" not in lead and not lead.endswith("?"):
        return begun(clean(lead))
    heads: list[str] = []
    for part in (part for command in commands for part in command.split(" && ")):
        named = _NAME_WORDS.match(part)
        if named and not _looking(part) and named[1] not in heads:
            heads.append(named[1])
    return ", ".join(heads[:3])
