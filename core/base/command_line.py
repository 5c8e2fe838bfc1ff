"""What makes two command lines the same command, and two failures the same error: keys, and no likeness of words.

A hook asks this before every command of an agent, so nothing but `re` is loaded.
"""

from __future__ import annotations

import re

ERROR_CHARACTERS = 160
KEY_CHARACTERS = 300
"""The characters of the longest key; a longer one is cut there."""
LONG_TEXT = '"…"'
"""What stands for a long text in a command as a line tells it."""
_PARTS = re.compile(r"&&|\|\||;|\n")
_PIPE = re.compile(r"\|\s*(?:head|tail|grep|rg|less|cat|tee|wc|sort|uniq|cut|awk|sed|jq)\b.*\Z", re.DOTALL)
_REDIRECTED = re.compile(r"(?:\d?>>?|&>|<)\s*(?:&\d|[^\s|&;]+)")
_BEFORE = re.compile(r"(?:(?:[A-Z_][A-Z0-9_]*=\S*|sudo|time|nice|nohup|timeout\s+\S+)\s+)+")
_ONLY_SET = re.compile(r"\A(?:[A-Za-z_]\w*=\S*(?:\s+|\Z))+\Z")
_MOVES = re.compile(r"(?:cd|pushd|popd|export|source|\.|set|echo|sleep|true|wait|printf)(?=\s|\Z)")
_HERE_DOCUMENT = re.compile(r"<<-?\s*['\"]?(\w+)['\"]?.*", re.DOTALL)
_LOOKS = frozenset((
    "ls", "cat", "grep", "rg", "find", "sed", "head", "tail", "test", "[", "which", "pwd", "wc", "file", "stat", "du",
    "tree", "awk", "type", "env", "ps", "diff", "jq", "less", "more", "sort", "curl", "kill", "pkill", "rm", "mkdir",
    "command", "cp", "mv", "touch", "chmod", "ln", "for", "while", "if",
))  # fmt: skip
_LOOKING_AT_GIT = re.compile(
    r"git(?: -[cC] \S+| -(?![cC] )\S+)* (?:show|log|diff|status|blame|ls-files|grep|rev-parse|branch)\b"
)
_INVOCATION = re.compile(
    r"command not found|not recognized|unrecognized (?:command|arguments?|option)|"
    r"(?:unknown|invalid|unexpected|no such|illegal) (?:option|argument|command|subcommand|flag|script|target|rule)|"
    r"missing script|no rule to make target|"
    r"no module named|cannot find module|could not (?:find|locate)|no such file or directory|no such command|"
    r"can't open file|permission denied|not a (?:git repository|directory)|is not (?:installed|available)|"
    r"requires? (?:node|python|a newer|version)|unsupported engine|no tests? (?:found|collected|ran)|"
    r"file or directory not found|unable to locate|executable file not found|does not exist|externally-managed|"
    r"must be run|already (?:used|checked out) (?:by|at)|no project found|no pyproject|"
    r"command failed to start|enoent|usage:",
    re.IGNORECASE,
)
_ERROR = re.compile(
    r"error\b|exception|fatal|panic|failed|failure|denied|not found|refused|cannot|can't|could not|unable|undefined|"
    r"unknown|unrecognized|invalid|missing|no such|no module|no rule|usage:|enoent",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'[^']*'", re.DOTALL)
_PATH = re.compile(r"(?:[A-Za-z]:)?[\w.@~+-]*[/\\][\w./\\@~+-]+")
_NUMBER = re.compile(r"0x[0-9a-f]+|\b[0-9a-f]{7,40}\b|\d+", re.IGNORECASE)
_GOAL = re.compile(r"[A-Za-z][\w:-]{2,}")
_NAMED_FILE = re.compile(r"/|\w\.\w")
_GENERAL = frozenset((
    "run", "install", "exec", "python", "python3", "npm", "pnpm", "yarn", "npx", "bun", "uv", "poetry", "cargo", "go",
    "make", "node", "bash", "docker", "git", "all", "src", "the", "dev",
))  # fmt: skip


def command_key(words: str) -> str:
    """What a command line runs, without where, with which variables, and what is done with its output; "" for one that
    only moves or looks."""
    kept = [one for part in _PARTS.split(_HERE_DOCUMENT.sub("", words)) if (one := _plain(part))]
    if not kept or all(one.split(" ", 1)[0] in _LOOKS or _LOOKING_AT_GIT.match(one) for one in kept):
        return ""
    return " && ".join(kept)[:KEY_CHARACTERS]


def is_told(told: str, key: str, *, is_cut: bool = False) -> bool:
    """Whether a command as a line tells it, in which "…" stands for one quoted text, is the one with this key. A key
    that was cut, or breaks off in a text as one with a here-document does, need only begin so."""
    is_cut = is_cut or len(key) >= KEY_CHARACTERS
    at = 0
    for number, part in enumerate(command_key(told).split(LONG_TEXT)):
        if number:
            text = _QUOTED.match(key, at)
            if text is None:
                return key.startswith(('"', "'"), at) or (is_cut and at == len(key))
            at = text.end()
        if not key.startswith(part, at):
            return is_cut and part.startswith(key[at:])
        at += len(part)
    return at == len(key)


def _plain(part: str) -> str:
    part = _REDIRECTED.sub("", _PIPE.sub("", part))
    part = _BEFORE.sub("", part.strip().lstrip("("), count=1)
    part = _ONLY_SET.sub("", part)
    return "" if _MOVES.match(part) else " ".join(part.split()).rstrip(")&")


def goals(key: str) -> frozenset[str]:
    """The words that tell what a command is for: `check` of `make -C app check`."""
    plain = [word for word in key.split() if not word.startswith("-") and not _NAMED_FILE.search(word)]
    words = {word.casefold() for word in _GOAL.findall(" ".join(plain))}
    return frozenset(words - _GENERAL) or frozenset(words)


def error_line(output: str) -> str:
    """The line of an output that names what went wrong, "" for none: the last one that tells of an error before any
    usage, for what comes first is often a warning."""
    lines = [" ".join(line.split()) for line in output[-4000:].split("\n")]
    told = [line for line in lines if 5 < len(line) < 400 and _ERROR.search(line)]
    sure = [line for line in told if _INVOCATION.search(line)]
    return (sure or told or [""])[0 if sure else -1]


def error_key(output: str) -> str:
    """An error without its places and numbers, the same for the same error."""
    line = _NUMBER.sub("#", _PATH.sub("/", error_line(output)))
    return line.casefold()[:ERROR_CHARACTERS]


def is_invocation(error: str) -> bool:
    """Whether an error says that the command was called wrongly here, and not that what it checked is wrong."""
    return bool(_INVOCATION.search(error))
