"""What fails here and what works instead, as the events tell: commands, and the rules of linters.

Failures are told by their cause: a program and the line that says what was wrong. What a test or a compiler says of the
code is work, and over when it is done; how a thing has to be called, what a machine lacks, and what a repository's own
checks reject, come again.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

from core.conversations.events import Command, Event
from core.rules import words
from core.rules.sentence import Found, found
from core.rules.session import Session, is_change

LOOK_AHEAD = 8
"""The commands behind a failed one among which the one that works is looked for."""
LONGEST_COMMAND, SHORTEST_WHY, LONGEST_WHY = 200, 12, 220
ALIKE = 0.55
PROGRAMS = 2
"""What more programs than these print is said by the shell around them, below what passes, too."""

ASIDE = re.compile(r"\s*(?:2>&1|2>\s*/dev/null|\|\s*(?:tail|head|cat|less)\b[^|;&]*|>\s*/dev/null)\s*")
_CD = re.compile(r"^\s*cd\s+(?P<folder>\"[^\"]+\"|'[^']+'|\S+)\s*(?:&&|;)\s*")
_LONG_TEXT = re.compile(r"\"\$\(cat <<.*?\n\s*\)\"|\"[^\"]{60,}\"|'[^']{60,}'", re.DOTALL)
_LOOKS = re.compile(
    r"(?:sudo )?(?:grep|rg|find|fd|ls|cat|sed -n|awk|head|tail|echo|printf|wc|which|pwd|test|nl|tree|diff|file|stat|"
    r"env|type|command -v|git (?:status|log|diff|show|branch|remote|rev-parse|ls-files|blame|worktree list|"
    r"config --get|fetch)|gh \w+ (?:view|list|status|checks)|\S+ (?:--version|--help|-h|-v|help))\b"
)
"""What only looks changes nothing."""
_OF_ANY_SANDBOX = re.compile(
    r"sandbox|operation not permitted|could not resolve host|network is unreachable|name resolution|ENOTFOUND|"
    r"EAI_AGAIN|read-only file system|EROFS|timed? ?out|connection refused|ECONNREFUSED|index\.lock|"
    r"requires approval|user (?:rejected|denied|doesn't want)|api\.github\.com|rate limit",
    re.IGNORECASE,
)
_OF_ANY_GIT = re.compile(
    r"nothing to commit|CONFLICT|Automatic merge failed|non-fast-forward|fetch first|\[rejected\]|did not match any|"
    r"no changes added|not a git repository|would be overwritten|divergent|unknown revision|bad revision|no upstream|"
    r"set the remote as upstream|has no upstream|pathspec|does not appear to be|invalid reference",
    re.IGNORECASE,
)
"""What any git and any sandbox says, of the state of the moment."""
_ENVIRONMENT = re.compile(
    r"unsupported (?:engine|environment|class file)|EBADENGINE|invalid (?:target release|source release)|"
    r"class file version \d|requires? (?:a )?(?:newer |a different )?(?:node(?:\.js)?|python|java|jdk|go|ruby|rust|php|"
    r"npm|pnpm|docker|xcode)\b.{0,30}\d|externally[- ]managed|is not (?:running|supported on)|"
    r"cannot connect to the docker daemon|requires-python|go\.mod requires|incompatible (?:version|architecture)|"
    r"no matching version|\w+ version .{1,30} is (?:too old|not supported|required)|command not found|"
    r"is not recognized as|permission denied while trying to connect|could not open TTY|not a tty|"
    r"ParserError|not a valid statement separator|No module named pip|missing (?:system )?(?:library|libraries)|"
    r"cannot open shared object",
    re.IGNORECASE,
)
_BEFORE_IT_RUNS = re.compile(r"[>$] |npm warn (?!EBADENGINE)", re.IGNORECASE)  # the script, as npm and bun print it
_VERSIONS = re.compile(
    r"^\W*(?:expected|got|required|found|current|actual|wanted)\b.{0,20}[:=].{0,80}\d", re.IGNORECASE
)


_CODE = re.compile(r"ERR_[A-Z]\w*")


@lru_cache(maxsize=1024)
def bare(command: str) -> str:
    """A command line without what only cuts its output, the change of folder in front, and long texts in quotes."""
    line = _LONG_TEXT.sub('"…"', command.strip())
    while _CD.match(line):
        line = _CD.sub("", line, count=1)
    while ASIDE.search(line):
        line = ASIDE.sub(" ", line).strip()
    return " ".join(line.split()) if "\n" not in line else line


def folder_of(command: str) -> str:
    """The folder that a command line goes to first, "" where it stays."""
    gone = _CD.match(command)
    return gone["folder"].strip("\"'").rstrip("/") if gone else ""


def failure(event: Command) -> str:
    """The line of a command's output that says why it failed, or "". Output is looked at as well as the status: behind
    a pipe every command succeeds."""
    if event.refused or not event.answered:
        return ""
    rows = [row.strip().replace("```", "") for row in event.output.split("\n") if row.strip()]
    rows = [row for row in rows if not _BEFORE_IT_RUNS.match(row)]
    told = [row for row in rows if words.ERROR.search(row) and not words.NO_ERROR.search(row)]
    if not told or (not event.failed and not words.HARD_ERROR.search(told[0])):
        return ""
    return told[0]


def went_well(event: Event) -> bool:
    """Whether a command ran and nothing says that it failed: at the beginning of its output, and behind a pipe, which
    hides the status, no line with an error code either."""
    if not isinstance(event, Command) or not event.answered or event.refused or event.failed:
        return False
    start = event.output[:400]
    coded = "|" in event.words and any(_CODE.match(row.strip()) for row in start.split("\n"))
    return not coded and words.HARD_ERROR.search(start) is None


@dataclass(frozen=True)
class _Failed:
    """A failing command, where it stands among the commands and events, and why it failed."""

    number: int
    at: int
    turn: int
    event: Command
    why: str

    @property
    def cause(self) -> tuple[str, str]:
        """What it is counted by: the program, and the error without what differs from call to call."""
        line = bare(self.event.words)
        return program_of(line), re.sub(r"[\d/\\.]+\S*|[\"'`“].*?[\"'`”]", "", self.why)[:80]


def program_of(line: str) -> str:
    """The program that a bare command line runs, without what is set in front of it."""
    return next((word for word in line.split() if "=" not in word and word != "sudo"), "")


def _is_plain(line: str) -> bool:
    """Whether a command line can be told: one line, not too long, nothing of one day in it."""
    return bool(line) and "\n" not in line and len(line) <= LONGEST_COMMAND and not words.ONE_OFF.search(line)


def find_failures(session: Session) -> Iterator[Found]:
    """A command that failed, and what works instead; each cause once, with how often that command failed by it."""
    events = session.events
    commands = [(at, turn, row) for at, (turn, row) in enumerate(events) if isinstance(row, Command)]
    printed: dict[str, set[str]] = defaultdict(set)
    for _, _, row in commands:
        program = program_of(bare(row.words))
        for line in row.output.split("\n"):
            printed[line.strip()].add(program)
    failed: list[_Failed] = []
    for number, (at, turn, row) in enumerate(commands):
        why = failure(row) or (_last_line(row.output) if row.failed and row.answered else "")
        if not why or row.refused or not _is_plain(bare(row.words)) or any(name in why for name in words.HIDDEN):
            continue
        of_shell = len(printed.get(why, ())) > PROGRAMS
        if not (of_shell or _OF_ANY_SANDBOX.search(why) or _OF_ANY_GIT.search(why)):
            failed.append(_Failed(number, at, turn, row, why))
    told: dict[tuple[str, str], tuple[_Failed, str]] = {}
    cures: set[str] = set()
    for one in failed:
        works = _cure(session, commands, one)
        if not works and not _is_of_machine(session, one):
            continue
        if one.cause not in told or (works and not told[one.cause][1]):
            if works and works in cures:
                continue
            cures.add(works)
            told[one.cause] = one, works
    for cause, (one, works) in told.items():
        same = (other for other in failed if other.cause == cause)
        times = sum(bare(other.event.words) == bare(one.event.words) for other in same)
        shown = one.why if len(one.why) <= LONGEST_WHY else one.why[:LONGEST_WHY].rsplit(" ", 1)[0] + " …"
        versions = [line.strip() for line in one.event.output.split("\n") if _VERSIONS.match(line.strip())][:2]
        shown = "; ".join([shown, *versions])
        often = f" {times} times" if times > 1 else ""
        as_it_is = "ParserError" in shown and len(one.event.words) < LONGEST_COMMAND
        wrong = one.event.words if as_it_is else bare(one.event.words)
        end = works or "nothing in the session made it work"
        statement = f"`{wrong}` fails{often} (“{shown}”); {end}"
        # No quote: it would be the tool's, and the line holds the tool's words as they are.
        yield found("facts", statement, one.turn, score=66 if works else 60, kind="tool-quirk" if works else "pitfall")


def _is_of_machine(session: Session, row: _Failed) -> bool:
    """Whether a failure that nothing cured is how the machine is set up: a version, a program that is missing."""
    if not _ENVIRONMENT.search(row.event.output):
        return False
    program = program_of(bare(row.event.words))
    if any(program in row.path for _, row in session.edits):
        return False  # what is only being made
    later = [other for at, other in session.commands if at > row.turn and program in bare(other.words).split()[:4]]
    return not any(went_well(other) for other in later)


def _last_line(output: str) -> str:
    """The last line of an output that says something; the reader's own line about the exit status is none."""
    rows = [line.strip() for line in output.split("\n") if line.strip() and not line.startswith("exit code:")]
    return rows[-1] if rows and SHORTEST_WHY <= len(rows[-1]) <= 260 else ""


def _cure(session: Session, commands: Sequence[tuple[int, int, Command]], row: _Failed) -> str:
    """The other way to write a command that worked where it had failed, "" where nothing did or nobody can tell what
    helped: where code was changed or something else was run between."""
    wrong, usage = bare(row.event.words), words.OF_USAGE.search(row.why) is not None
    alone = True  # nothing else went well between
    for later, _, other in commands[row.number + 1 : row.number + 1 + LOOK_AHEAD]:
        right, went = bare(other.words), went_well(other)
        changed = any(is_change(event) for _, event in session.events[row.at : later])
        if right == wrong or (changed and not usage):
            return ""
        if went and _is_plain(right) and _is_variant(wrong, right, row.why):
            return f"`{right}` works"
        if went and alone and usage and not changed and _is_plain(right) and _stands_in(wrong, right, row.why):
            return f"`{right}` was run instead and works"
        alone = alone and not (went and not _LOOKS.match(right))
        if not (alone or usage):
            return ""
    return ""


def _is_variant(wrong: str, right: str, why: str) -> bool:
    """Whether a command line says in another way what one that failed wanted."""
    before, after = wrong.split(), right.split()
    program = program_of(wrong)
    if program not in after[:4] and not set(before[:2]) & set(after[:4]):
        return False
    if ("not found" in why and program == after[0]) or (_LOOKS.match(right) and not _LOOKS.match(wrong)):
        return False  # the program was installed meanwhile; a look is no cure
    return SequenceMatcher(None, before, after).ratio() >= ALIKE


_ARGUMENT = re.compile(r"[\w@.-]{4,}")


def _stands_in(wrong: str, right: str, why: str) -> bool:
    """Whether a command of the same program with an argument of the first, or of what it complained of, was run in its
    place, and is neither a look nor a step towards it."""
    given = {word for word in _ARGUMENT.findall(" ".join(right.split()[1:])) if word[0] != "-"}
    step = any(right.startswith(part.strip()) for part in re.split(r"&&|;", wrong) if part.strip())
    named = set(_ARGUMENT.findall(f"{wrong} {why}"))
    return program_of(right) in wrong.split() and not step and bool(named & given) and not _LOOKS.match(right)
