"""Playbooks: commands that demonstrably worked in a conversation, and procedures in a text that nobody answered.

A conversation shows that its commands worked; a written procedure says what to do, and is taken at its word. So it is
looked for only in texts without an assistant, and has what sets a procedure apart from a list of wishes: commands below
the line that says what they are for, or instructions to look at and act on a running system.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from core.conversations.conversation import Conversation, Turn
from core.offline.prose import Code, Row, begun, clean, looks_like_code, sentences, whole
from core.offline.statements import Found

# --- commands that worked in a conversation ---


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
    "conda", "mamba", "cd", "mypy", "ruff", "tox", "nox", "hatch", "twine", "openssl", "oc", "etcdctl", "kubeadm",
    "crictl", "journalctl", "promtool", "iptables", "nginx",
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
    r"(?:run(?:ning)? (?:the )?(?:following|these|this)(?: commands?)?(?: (?:in|from) [\w ]{1,30})?|"
    r"use (?:the following|this|these)(?: commands?)?|"
    r"(?:here(?:'s| is| are)) (?:the|how)[\w ]{0,20}?commands?)(?:,? to)?\b\s?",
    re.IGNORECASE,
)
# Told once, of this day's work: what a commit says, what goes to a scratch file, what is typed in whole.
_ONCE = re.compile(
    r"^git (?:add|commit)\b|[>\s]/(?:tmp|var/tmp)/|\|\| true\b|^[A-Za-z_]\w*=['\"$]|(['\"])(?:(?!\1).){80,}\1|\$\("
)
_INTENT = re.compile(
    r"^(?:(?:now|next|then|first|finally|okay|ok|so|also),? )?(?:let me|let's|i'll|i will) ", re.IGNORECASE
)
# What an assistant puts behind a command to see less of its output is no part of the procedure.
_SHORTENED = re.compile(r"(?:\s*2>&1)?\s*\|\s*(?:tail|head|grep|sort|wc)\b[^&;]*$|\s*2>&1$")
_NAME_WORDS = re.compile(r"^(?:[\w.+-]+/)*([\w.+-]+(?: (?:run )?[a-z][\w:.+-]*)?)")
MAX_STEPS = 12


def find_playbooks(codes: list[Code], conversation: Conversation) -> Iterator[Found]:
    """Fenced commands (two at least, not mere looking around) whose success is told by what follows.

    Success is read from the tool's output or from the user's next words; neither adds a word to the playbook.
    """
    for code in codes:
        commands = _commands(code)
        kept = [command for command in commands if not _looking(command)]
        steps = sum(not _looking(part) and not _ONCE.search(part) for row in kept for part in row.split(" && "))
        if steps < 2 or len(commands) > MAX_STEPS:
            continue
        if not _session_worked(code) and not _succeeded(code.turn, conversation.turns):
            continue
        name = _name(code, kept)
        line = next(line for line in code.lines if kept[0] in line)
        fields = {"name": name, "steps": " && ".join(commands), "quote": line.strip()}
        yield Found("playbooks", fields, 2 + min(steps, 4) + (code.role == "user"), code.turn)


def is_shell(code: Code) -> bool:
    """Whether a fence can hold commands: it names a shell, or nothing."""
    return code.language in _SHELL and len(code.lines) <= 40


def known_program(name: str) -> bool:
    """Whether a bare line that begins with this word is a command and hardly ever prose."""
    return name in _KNOWN or name in _LOOKING


def bare_command(line: str, *, shorten: bool = True) -> str:
    """The command of a line, without prompt and remark; "" when it is none.

    `shorten` also takes off what only makes its output shorter (`| tail -5`).
    """
    bare = _PROMPT.sub("", line).strip()
    bare = re.sub(r"\s+#\s.*$", "", bare)
    bare = _SHORTENED.sub("", bare) if shorten else bare
    if not _COMMAND.match(bare) or bare.endswith(("\\", "{", "|", "then", "do", "<<EOF", ":")) or len(bare) > 300:
        return ""
    return bare


def _commands(code: Code) -> list[str]:
    """The commands of a fence; empty when it holds anything else (output, a script, a placeholder to fill in)."""
    if not is_shell(code):
        return []
    prompted = any(_PROMPT.match(line) for line in code.lines)
    commands: list[str] = []
    for line in code.lines:
        bare = line.strip()
        if not bare or bare.startswith("#") or (prompted and not _PROMPT.match(line)):
            continue
        bare = bare_command(line)
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
            output = turn.text[:20_000]
            if _FAILED.search(_FINE.sub("", output)):
                return False
            if _WORKED.search(output):
                return True
        elif turn.role == "user":
            return _PRAISE.match(turn.text.lstrip()[:120]) is not None
    return False


def _name(code: Code, commands: list[str]) -> str:
    said = re.split(r"(?<=[.!?])\s+", code.lead.strip())[-1]  # what was said last leads to the commands
    lead = _INTENT.sub("", _LEAD_FILLER.sub("", said)).strip(" :.*#-")
    words = lead.split()
    if 2 <= len(words) <= 14 and "`" not in lead and not lead.endswith("?"):
        return begun(clean(lead))
    heads: list[str] = []
    for command in commands:
        for part in command.split(" && "):
            found = _NAME_WORDS.match(part)
            if found and not _looking(part) and found[1] not in heads:
                heads.append(found[1])
    return ", ".join(heads[:3])


# --- written procedures, taken at their word ---


_FENCED = re.compile(r"`([^`\n]{2,300})`\.?")
_STARTS = re.compile(
    r"(?:sudo |\$ )?(?:[A-Z_]{2,40}=\S{0,80} )*"
    r"(?:(?:\./|~/|/)?[a-z0-9][\w.+/@-]{0,60}|\{\{[^}\n]{1,60}\}\}|[!.\[])(?= |$)"
)
_OPTION = re.compile(r"(?:^| )--?[\w?]|[|<>&=*~{$]|(?:^| )\.?/")
# What one does to a system that runs; "write", "implement", "refactor" would make every wish a procedure.
_LOOK = (
    "check|verify|ensure|make sure|confirm|inspect|look|review|see if|find out|identify|determine|investigate|monitor|"
    "validate|examine|compare|query|analy[sz]e|observe|diagnose|debug|describe|measure|test (?:if|whether|that)"
)
_ACT = (
    "restart|reboot|run|execute|start|stop|kill|scale|increase|decrease|reduce|raise|lower|expand|resize|extend|"
    "upgrade|update|downgrade|delete|remove|drain|cordon|evict|reschedule|redeploy|deploy|roll ?back|revert|restore|"
    "recover|rebuild|repair|replace|reload|reapply|apply|renew|rotate|regenerate|recreate|configure|adjust|tune|set|"
    "unset|enable|disable|open|close|connect|log in|login|ssh|go to|navigate|click|select|choose|enter|type|press|wait|"
    "install|uninstall|download|copy|move|mount|unmount|free|clean|clear|purge|prune|back up|backup|add|provide|give|"
    "use|try|consider|follow|contact|escalate|notify|silence|acknowledge|fix|correct|create|edit|change|switch|join|"
    "repeat|prepare|continue|fine[- ]tune|spread|plan|consult|set up|allow|take|reach out|watch|report|allocate|assign|"
    "limit|refer|read|ask|call|abort|activate|approve|attach|block|boot|bump|cancel|deactivate|decommission|defragment|"
    "demote|deregister|detach|disconnect|drop|eject|erase|fail ?over|flush|force|grant|halt|inform|initiate|initialize|"
    "invoke|launch|lock|migrate|modify|mute|optimi[sz]e|override|page|patch|pause|perform|proceed|promote|provision|"
    "re-?enable|rebalance|reassign|reclaim|reconfigure|reconnect|redirect|redistribute|refresh|reinstall|release|"
    "relocate|remount|reset|resolve|resume|resync|retry|return|revoke|send|shift|shut ?down|skip|snapshot|suspend|sync|"
    "throttle|toggle|transfer|trigger|truncate|turn (?:off|on)|unblock|uncordon|undo|unlock|wipe|assess|audit|collect|"
    "correlate|detect|evaluate|figure out|gather|locate|obtain|ping|probe|profile|retrieve|track|discover|establish|"
    "pinpoint"
)
_IMPERATIVE = re.compile(
    r"(?:(?:please|now|then|next|first|finally|also|alternatively|additionally|optionally|otherwise|afterwards|lastly|"
    r"(?:you|we) (?:can|may|should|must)|try to),? (?:also |then )?)*"
    rf"(?:(?P<look>{_LOOK})|(?:{_ACT}))\b",
    re.IGNORECASE,
)
_CONDITION = re.compile(r"(?:if|when|in case|for|to) [^,.]{3,100}, ", re.IGNORECASE)
_TITLE = re.compile(r"^(?:title|name): *['\"]?(.{3,80}?)['\"]?$|^#{1,2} +(.{2,80}?)\s*#*$", re.MULTILINE)
MAX_TEXT = 40_000
DENSE = 0.2  # of what is said, so much tells somebody to do something; in an essay it is far less


@dataclass
class _Part:
    """The steps below one heading."""

    heading: str
    steps: list[str] = field(default_factory=list)
    quote: str = ""
    looks: int = 0
    commands: int = 0


def find_procedures(rows: list[Row], codes: list[Code], conversation: Conversation) -> Iterator[Found]:
    """One playbook for each example of a cheat sheet (what it does -> the command), one for each part of a runbook."""
    pieces: dict[int, list[Row | Code]] = {}
    for row in rows:
        pieces.setdefault(row.turn, []).append(row)
    for code in codes:
        pieces.setdefault(code.turn, []).append(code)
    for number, found in sorted(pieces.items()):
        text = conversation.turns[number].text
        if len(text) <= MAX_TEXT:
            titled = _TITLE.search(text[:2000])
            title = clean(next(part for part in titled.groups() if part)) if titled else ""
            yield from _read(sorted(found, key=lambda piece: piece.at), title, number)


def _read(pieces: list[Row | Code], title: str, number: int) -> Iterator[Found]:
    parts: list[_Part] = []
    lead, lead_quote, said_in_all = "", "", 0
    for piece in pieces:
        if isinstance(piece, Code):
            commands = _fenced(piece)
            if commands and len(commands) <= MAX_STEPS:
                part = _part(parts, parts[-1].heading if parts else title)
                part.commands += len(commands)
                part.steps += commands
                part.quote = part.quote or next(line.strip() for line in piece.lines if commands[0] in line)
            continue
        said = whole(piece)
        bare = _bare_lines(piece)
        if bare:
            part = _part(parts, piece.heading or title)
            part.commands += len(bare)
            part.steps += bare
            part.quote = part.quote or said.quote
            lead = ""
            continue
        command = _command(piece.text, lead, title) if piece.kind == "prose" else ""
        if command and lead:
            yield _found(lead, [command], piece.text.strip() or lead_quote, number, 3)
            lead = ""
            continue
        lead, lead_quote = (said.text.rstrip(":"), said.quote) if said.text.endswith(":") else ("", "")
        part = _part(parts, piece.heading if not lead else title)
        for sentence in sentences(piece):
            said_in_all += 1
            text = _CONDITION.sub("", sentence.text, count=1)
            order = _IMPERATIVE.match(text)
            if order and not sentence.text.endswith(("?", ":")) and len(text.split()) > 2 and not looks_like_code(text):
                part.steps.append(sentence.text.rstrip("."))
                part.looks += order["look"] is not None
                part.quote = part.quote or sentence.quote
    looks, lines = sum(part.looks for part in parts), sum(part.commands for part in parts)
    steps = sum(len(part.steps) for part in parts)
    if not (looks or lines) or steps < DENSE * said_in_all:
        return
    for part in parts:
        if part.steps:
            name = (
                f"{title}: {part.heading}"
                if part.heading and title and part.heading != title
                else part.heading or title
            )
            for at in range(0, len(part.steps), MAX_STEPS):
                yield _found(name, part.steps[at : at + MAX_STEPS], part.quote, number, 2)


def _fenced(code: Code) -> list[str]:
    """The commands of a fence; of one with prompts those behind a prompt, the rest is output."""
    if not is_shell(code):
        return []
    prompted = any(line.lstrip().startswith("$ ") for line in code.lines)
    found = [bare_command(line, shorten=False) for line in code.lines if not prompted or line.lstrip().startswith("$ ")]
    return [line for line in found if line and (code.language or prompted or known_program(_program(line)))]


def _program(command: str) -> str:
    words = command.removeprefix("sudo ").split()
    return words[0] if words else ""


def _bare_lines(row: Row) -> list[str]:
    """The commands of a paragraph that holds little else: known programs with an option, a path or a variable."""
    if row.kind != "prose":
        return []
    edges = [*row.bounds, len(row.text) + 1]
    lines = [row.text[start : end - 1] for start, end in pairwise(edges)]
    found = []
    for line in lines:
        command = bare_command(line, shorten=False)
        if command and known_program(_program(command)) and _OPTION.search(command) and command[-1] not in ".:,;":
            found.append(command)
    return found if 2 * len(found) >= len(lines) else []


def _part(parts: list[_Part], heading: str) -> _Part:
    if not parts or parts[-1].heading != heading:
        parts.append(_Part(heading))
    return parts[-1]


def _command(text: str, lead: str, title: str) -> str:
    """The command that a line of its own holds, "" if it is none: in backticks, or told by the line above it."""
    inside = _FENCED.fullmatch(text.strip())
    bare = (inside[1] if inside else text).strip()
    if not lead or "\n" in bare or len(bare) > 300 or not _STARTS.match(bare):
        return ""
    words = bare.removeprefix("$ ").removeprefix("sudo ").split()
    program = title.lower().split()[:1] == words[:1] or known_program(words[0])
    if program or (inside and len(words) > 1) or _OPTION.search(bare):
        return bare.removeprefix("$ ")
    return ""


def _found(name: str, steps: list[str], quote: str, number: int, score: int) -> Found:
    name = name.strip(" :.*#-")
    name = begun(name)
    return Found("playbooks", {"name": name[:120], "steps": "; ".join(steps), "quote": quote}, score, number)
