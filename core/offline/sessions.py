"""What the structure of a coding session says: failing commands and what works, checks, hooks, plans, answers.

Most of what an attentive reader keeps of a session stands in a few places that its events tell
(`python -m tests.quality.sessions` measures how much of it is found). Each finder here looks at one of them;
`closing.py` reads the closing messages and `person.py` the user's words. Structure works in any language; the few
words that matter are in `cues.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import cached_property, lru_cache

from core.conversations.conversation import Conversation, Turn
from core.conversations.events import Call, Command, Commit, Edit, Event, FileRead, Hook, OtherCall, Push
from core.offline import cues
from core.offline.prose import Row, by_person
from core.offline.statements import Found

LOOK_AHEAD, MAX_COMMANDS_BETWEEN = 6, 2
"""A variant that passes is looked for among this many commands behind the one that failed."""
LONGEST_COMMAND, SHORTEST_WHY = 200, 12
LEAST_PASTED = 200
"""A message of the user of that many characters holds more than a request: an error, a log, a piece of code."""


TRIVIAL = re.compile(
    r"^(?:(?:\w+(?:\([^)]*\))?!?:\s*)?(?:address|add(?:ed)?|removed?|fix(?:ed)?|updated?|improved?|clean(?:ed)? ?up|"
    r"tidy|sort|correct(?:ed)?)\s+|(?:fix|docs|style|chore|test)(?:\([^)]*\))?:\s*)"
    r"(?:up )?(?:the |some |a |missing |unused )*`?(?:t\.Parallel|comments?|docstrings?|whitespace|typos?|imports?|"
    r"lint\w*|format\w*|wording|search/replace|review (?:comments?|feedback)|trailing)\b|"
    r"^\W*(?:typo|wip|format|lint|nit)s?\b",
    re.IGNORECASE,
)
"""Work that nobody asks for later."""
_WRITES = re.compile(
    r"\bapply_patch\b|\bsed\s+(?:-\w+\s+)*-i|\bcat\s*>{1,2}\s|<<.{0,60}>\s*\S|\btee\s|\bgit (?:mv|rm|apply|revert)\b"
)
_SENDS = re.compile(r"(?:update|create|add|save|write|send|post|close|merge|delete)", re.IGNORECASE)


def is_change(event: Event) -> bool:
    """Whether an event changed files: an edit, or a command line that writes one."""
    if isinstance(event, Command):
        return not event.refused and not event.failed and _WRITES.search(event.words) is not None
    return isinstance(event, Edit) and not event.refused


def sends_something(event: Event) -> bool:
    """Whether an event changed something outside the folder: an issue that was updated, a page that was written."""
    return isinstance(event, OtherCall) and not event.refused and _SENDS.search(event.tool) is not None


SPOKEN_AGAIN = 2 / 3


@dataclass(frozen=True)
class Closing:
    """The assistant's last words before the user's next ones, or before the end (`at_end`).

    `before` is the number of the closing message before it (-1: none), `changed` whether something was written since;
    `refuted` whether the user contradicted it, `overtaken` whether files were changed again afterwards.
    """

    number: int
    turn: Turn
    at_end: bool
    before: int
    changed: bool
    refuted: bool
    overtaken: bool


_NAMED = re.compile(r"(?=\w*[-_.A-Z\d])[A-Za-z][\w.-]{3,}(?<![.-])")
_REMOVES = re.compile(
    r"(?:^|[;&|]\s*)(?:git )?rm\s|\bgit (?:checkout|restore)\s+(?:--\s+)?\S*\.\w|\bgit reset --hard\b"
)
_OF_OTHERS = re.compile(r"\bgh pr (?:view|diff|checkout|review|list)\b|\bglab mr\b", re.IGNORECASE)
_REVIEW_OF_PR = re.compile(r"\breview\b.{0,40}(?:\bPRs?\b|pull request|/pull/\d|#\d)|/pull/\d+/files", re.IGNORECASE)


@dataclass(frozen=True)
class Session:
    """A conversation with a coding assistant, with its events (turn, event) and closing messages in order; `rows` are
    the closing messages' lines by their turns."""

    conversation: Conversation
    events: tuple[tuple[int, Event], ...]
    closings: tuple[Closing, ...]
    rows: Mapping[int, list[Row]] = field(default_factory=dict)

    @cached_property
    def commands(self) -> tuple[Command, ...]:
        """The command lines that were run."""
        return tuple(row for _, row in self.events if isinstance(row, Command))

    @property
    def of_chat(self) -> bool:
        """Whether this is a talk with an assistant that saw nothing of the user's machine."""
        return self.conversation.format in ("chatgpt", "claude_ai", "export_file")

    @cached_property
    def paired(self) -> bool:
        """Whether the file tells which calls were answered, so that what is missing means something."""
        return any(isinstance(row, Call) and row.answered for _, row in self.events)

    @cached_property
    def of_others(self) -> bool:
        """Whether this is a review of somebody's pull request: what it finds is no task of the user's own."""
        if any(isinstance(row, Commit) or is_change(row) for _, row in self.events):
            return False
        asked = (turn.text for turn in self.conversation.turns if turn.role == "user")
        return any(_OF_OTHERS.search(row.words) for row in self.commands) or any(map(_REVIEW_OF_PR.search, asked))

    @cached_property
    def _shown_by_tools(self) -> str:
        shown = (turn for turn in self.conversation.turns if turn.role == "tool" or len(turn.text) >= LEAST_PASTED)
        return "\n".join(turn.text for turn in shown if turn.role in ("tool", "user")).casefold()

    def bears_out(self, text: str) -> bool:
        """Whether the things that a sentence names stand in what tools gave back, or in what the user pasted: no
        proof, but no invention either."""
        named = [found.strip("`()").casefold() for found in cues.ANCHOR.findall(text)]
        known = [name for name in named if name in self._shown_by_tools]
        subject = _NAMED.match(text)
        if subject and subject[0].casefold() in self._shown_by_tools:
            return True
        return bool(known) and 2 * len(known) >= len(named)

    def knows(self, text: str) -> bool:
        """Whether a sentence names something of this project, in backticks, as a path or in the spelling of code, that
        stands in what tools gave back or in an edit: what stands in a textbook names no such thing."""
        names = [name.strip("`()").casefold() for name in cues.OF_CODE.findall(text)]
        return any(name in self._shown_by_tools or any(name in said for _, said in self._changes) for name in names)

    def edited_after(self, turn: int, text: str) -> bool:
        """Whether a file that a text names was written after a turn."""
        return any(at > turn and any(name in text for name in row.names) for at, row in self.edits)

    def named_later(self, turn: int, text: str) -> bool:
        """Whether a later closing message speaks of the same: it names most of what a sentence names, which may be
        stale then."""
        names = {found.strip("`()").casefold() for found in cues.ANCHOR.findall(text)}
        later = (row.turn.text.casefold() for row in self.closings if row.number > turn)
        return any(sum(name in said for name in names) >= max(1, SPOKEN_AGAIN * len(names)) for said in later)

    def rewritten(self, turn: int, text: str) -> bool:
        """Whether something that a sentence names was written again after a turn; where the file does not tell what was
        written, whether it was spoken of."""
        if not self.events:
            return self.named_later(turn, text)
        names = {found.strip("`()").casefold() for found in cues.ANCHOR.findall(text)}
        return any(name in said for at, said in self._changes if at > turn for name in names)

    @cached_property
    def _changes(self) -> tuple[tuple[int, str], ...]:
        """The turns in which something was written, with their paths, in lower case."""
        rows = ((at, row) for at, row in self.events if is_change(row))
        return tuple((at, f"{getattr(row, 'path', '')}\n{self._low[at]}".casefold()) for at, row in rows)

    @cached_property
    def _low(self) -> tuple[str, ...]:
        return tuple(turn.text.casefold() for turn in self.conversation.turns)

    def said_after(self, turn: int) -> str:
        """Everything that stands in later turns, the calls' words included, in lower case."""
        return "\n".join(self._low[turn + 1 :])

    def spoken_of(self, turn: int, names: Iterable[str]) -> bool:
        """Whether one of these names is spoken of, or stands in a call, in any later turn."""
        later = self.said_after(turn)
        return any(name.strip("`()").casefold() in later for name in names)

    @cached_property
    def _removed(self) -> tuple[tuple[int, str], ...]:
        """The command lines and paths with which files were taken away, by turns."""
        lines = ((at, row.words) for at, row in self.events if isinstance(row, Command) and _REMOVES.search(row.words))
        paths = ((at, row.path) for at, row in self.events if isinstance(row, Edit) and row.how == "deleted")
        return (*lines, *paths)

    def deleted_after(self, turn: int, text: str) -> bool:
        """Whether a file that a sentence names was taken away again."""
        names = [
            found.strip("`").rsplit("/", 1)[-1] for found in cues.ANCHOR.findall(text) if "." in found or "/" in found
        ]
        return any(name in line for name in names if len(name) > 3 for at, line in self._removed if at > turn)

    @cached_property
    def edits(self) -> tuple[tuple[int, Edit], ...]:
        """The edits that were made, of files that are told, with their turns."""
        rows = ((at, row) for at, row in self.events if isinstance(row, Edit))
        return tuple((at, row) for at, row in rows if row.path and not (row.refused or row.failed))

    def sent_after(self, turn: int) -> bool:
        """Whether something was committed or pushed after a turn."""
        return any(at > turn and isinstance(row, Commit | Push) and row.succeeded for at, row in self.events)

    @property
    def project(self) -> str:
        """A short name for the repository or folder, "" where the file tells none."""
        name = self.conversation.repository.rstrip("/").removesuffix(".git").rsplit("/", 1)[-1]
        folder = re.split(r"[\\/]\.?worktrees?[\\/]", self.conversation.folder.rstrip("/\\"))[0]
        return name or re.split(r"[\\/]", folder)[-1]


def find_in_session(session: Session) -> Iterator[Found]:
    """Everything that the events of a session tell; nothing for a conversation without events."""
    yield from _repairs(session)
    yield from _suppressed(session)
    yield from _environment(session)
    yield from _checks(session)
    yield from _hooks(session)


# --- a command that fails, and the variant that passes ---

ASIDE = re.compile(r"\s*(?:2>&1|2>\s*/dev/null|\|\s*(?:tail|head|cat|less)\b[^|;&]*|>\s*/dev/null)\s*")
_CD = re.compile(r"^\s*cd\s+(?P<folder>\"[^\"]+\"|'[^']+'|\S+)\s*(?:&&|;)\s*")
_LONG_TEXT = re.compile(r"\"\$\(cat <<.*?\n\s*\)\"|\"[^\"]{60,}\"|'[^']{60,}'", re.DOTALL)


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
    found = _CD.match(command)
    return found["folder"].strip("\"'").rstrip("/") if found else ""


def failure(event: Command) -> str:
    """The line of a command's output that says why it failed, or "". Output is looked at as well as the status: behind
    a pipe every command succeeds."""
    if event.refused or not event.answered:
        return ""
    rows = [row.strip() for row in event.output.split("\n") if row.strip()]
    found = [row for row in rows if cues.ERROR.search(row) and not cues.NO_ERROR.search(row)]
    if not found or (not event.failed and not cues.HARD_ERROR.search(found[0])):
        return ""
    return found[0]


def _repairs(session: Session) -> Iterator[Found]:
    """A command line that failed, and what made it pass though no file was changed between: another way to write it, or
    other commands that had to run first."""
    commands = [(at, turn, row) for at, (turn, row) in enumerate(session.events) if isinstance(row, Command)]
    seen: set[str] = set()
    for number, (at, _, row) in enumerate(commands):
        wrong = bare(row.words)
        why = failure(row) or (_last_line(row.output) if row.failed and row.answered else "")
        if not why or row.refused or len(wrong) > LONGEST_COMMAND or "\n" in wrong or cues.ONE_OFF.search(wrong):
            continue
        if any(name in why for name in cues.HIDDEN):
            continue
        usage = cues.OF_USAGE.search(why) is not None
        between: list[str] | None = []
        for later, turn, other in commands[number + 1 : number + 1 + LOOK_AHEAD]:
            if any(is_change(event) for _, event in session.events[at:later]):
                break  # the code was changed: that is work, not another way to say the same
            right = bare(other.words)
            went = other.answered and not (other.refused or other.failed or failure(other))
            works = _works(row.words, other.words, why) if went else ""
            if not works and went and right == wrong and between:
                works = f"it works after {' and '.join(f'`{line}`' for line in between)}"
            elif works and not usage and between != []:
                works = ""  # what ran meanwhile may have mended it
            if works and works not in seen and not cues.ONE_OFF.search(right):
                seen.add(works)
                shown = why if len(why) <= 260 else why[:260].rsplit(" ", 1)[0] + " …"
                statement = f"`{wrong}` fails (“{shown}”); {works}"
                # No quote: it would be the tool's, and the line holds the tool's words as they are.
                fields = {"statement": statement, "detail": "", "quote": "", "kind": "tool-quirk"}
                yield Found("facts", fields, 65, turn)
                break
            if right == wrong or "\n" in right or len(right) > LONGEST_COMMAND:
                break
            if usage and not _GIT.match(wrong) and between == [] and went and _stands_in(wrong, right, why):
                seen.add(right)
                fields = {"statement": f"`{wrong}` fails (“{why}”); `{right}` was run instead and works", "detail": ""}
                yield Found("facts", fields | {"quote": "", "kind": "tool-quirk"}, 60, turn)
                break
            if between is not None and went and not _LOOKS.match(right):
                between = (
                    [*between, right]
                    if len(between) < MAX_COMMANDS_BETWEEN and not cues.ONE_OFF.search(right)
                    else None
                )


_GIT = re.compile(r"(?:sudo )?git\b")
"""What git refuses lies in the state of the moment, which the line does not tell."""


def _stands_in(wrong: str, right: str, why: str) -> bool:
    """Whether a command of the same program with an argument of the first, or of what it complained of, was run in its
    place, and is neither a look nor a step towards it."""
    program = right.split()[0]
    words = {word.strip("'\"") for word in re.split(r"[\s/=:]+", f"{wrong} {why}") if len(word) > SHORTEST_ARGUMENT}
    given = {word for word in re.split(r"[\s/=:]+", right)[1:] if len(word) > SHORTEST_ARGUMENT and word[0] != "-"}
    other = not any(right.startswith(part.strip()) for part in re.split(r"&&|;", wrong) if part.strip())
    return program in wrong.split() and other and bool(words & given) and len(why) <= 260 and not _LOOKS.match(right)


SHORTEST_ARGUMENT = 3


_LOOKS = re.compile(
    r"(?:sudo )?(?:grep|rg|find|fd|ls|cat|sed -n|awk|head|tail|echo|printf|wc|which|pwd|test|nl|tree|diff|file|stat|"
    r"env|type|git (?:status|log|diff|show|branch|remote|rev-parse|ls-files|blame|worktree list|config --get|fetch)|"
    r"gh \w+ (?:view|list|status|checks)|\S+ (?:--version|--help|-h|-v|help))\b"
)
"""What only looks changes nothing."""


def _last_line(output: str) -> str:
    """The last line of an output that says something; the reader's own line about the exit status is none."""
    rows = [line.strip() for line in output.split("\n") if line.strip() and not line.startswith("exit code:")]
    return rows[-1] if rows and SHORTEST_WHY <= len(rows[-1]) <= 260 else ""


def _works(first: str, second: str, why: str) -> str:
    """How the second command line does what the first wanted, "" where it is another matter."""
    wrong, right = bare(first), bare(second)
    if not right or len(right) > LONGEST_COMMAND or "\n" in right:
        return ""
    if wrong == right:
        folder = folder_of(second)
        moved = folder and folder != folder_of(first) and not folder.startswith(("/", "~", ".."))
        return f"it works in the folder `{folder}`" if moved else ""
    before, after = wrong.split(), right.split()
    program = next((word for word in before if "=" not in word), "")
    if program not in after[:4] and not set(before[:2]) & set(after[:4]):
        return ""
    if "not found" in why and program == after[0]:
        return ""  # the program was installed meanwhile
    if _LOOKS.match(right) and not _LOOKS.match(wrong):
        return ""
    return f"`{right}` works" if SequenceMatcher(None, before, after).ratio() >= 0.6 else ""


_PLACE = re.compile(r"^(?:\[[\w:.-]+\]\s+)?(?:\S+?:\d+(?::\d+)?:?\s+)?(?:(?:error|warning|✖)\b:?\s+)?")
_SUPPRESSED = re.compile(
    r"(?P<whole>(?://|#|/\*)\s*(?:nolint:|noqa:\s*|eslint-disable(?:-next-line|-line)?\s+|type:\s*ignore\[|"
    r"pyright:\s*ignore\[|shellcheck disable=|pylint:\s*disable=|biome-ignore\s+|rubocop:disable\s+|"
    r"swiftlint:disable(?::next)?\s+)(?P<rule>[\w/@-]{3,40})[^\n\\]{0,140})"
)
MAX_SUPPRESSED = 2


def _suppressed(session: Session) -> Iterator[Found]:
    """A rule of a linter that rejected something, and the comment with which it passes here."""
    rejected: dict[str, tuple[str, str]] = {}
    passing: dict[str, tuple[str, Found]] = {}
    for turn, row in session.events:
        if isinstance(row, Command) and row.answered and not row.refused:
            rows = [line.strip() for line in row.output.split("\n")]
            for rule in [rule for rule in passing if rule in rejected and rejected[rule][0] == bare(row.words)]:
                if any(re.search(rf"\b{re.escape(rule)}\b", line) for line in rows):
                    del passing[rule]  # it did not help
            if len(bare(row.words)) <= LONGEST_COMMAND and _LINTS.search(row.words):
                for line in rows:
                    for rule in re.findall(r"[\w/@-]{3,40}", line[-60:]):
                        if _PLACE.sub("", line) != line and len(line) < 300:
                            rejected.setdefault(rule, (bare(row.words), line))
        elif isinstance(row, Edit) and not row.refused and not row.failed:
            text = session.conversation.turns[turn].text
            for found in _SUPPRESSED.finditer(text):
                command, line = rejected.get(found["rule"], ("", ""))
                if command and found["rule"] not in passing:
                    message = _PLACE.sub("", line)
                    how = found["whole"].strip().rstrip("*/").strip()
                    statement = f"`{command}` rejects “{message}”; here it passes with `{how}`"
                    fields = {"statement": statement, "detail": "", "quote": line, "kind": "tool-quirk"}
                    passing[found["rule"]] = (message, Found("facts", fields, 64, turn))
    yield from (found for _, found in list(passing.values())[:MAX_SUPPRESSED])


_LINTS = re.compile(r"\b(?:\w*lint\w*|ruff|flake8|mypy|pyright|clippy|vet|biome|shellcheck|rubocop|check|test)\b")
_ENVIRONMENT = re.compile(
    r"unsupported (?:engine|environment|class file)|EBADENGINE|invalid (?:target release|source release)|"
    r"class file version \d|requires? (?:a )?(?:newer |a different )?(?:node(?:\.js)?|python|java|jdk|go|ruby|rust|php|"
    r"npm|pnpm|docker|xcode)\b.{0,30}\d|externally[- ]managed|is not (?:running|supported on)|"
    r"cannot connect to the docker daemon|requires-python|go\.mod requires|incompatible (?:version|architecture)|"
    r"no matching version|\w+ version .{1,30} is (?:too old|not supported|required)|read-only file system|\bEROFS\b|"
    r"could not resolve host|network is unreachable|temporary failure in name resolution|\bENOTFOUND\b|"
    r"permission denied while trying to connect|operation not permitted",
    re.IGNORECASE,
)
_VERSIONS = re.compile(
    r"^\W*(?:expected|got|required|found|current|actual|wanted)\b.{0,20}[:=].{0,80}\d", re.IGNORECASE
)


def _environment(session: Session) -> Iterator[Found]:
    """A command that the machine cannot run as it is set up: which version or program it wants, and what was found."""
    seen: set[str] = set()
    for at, row in enumerate(session.commands):
        if row.refused or not row.answered or not (row.failed or failure(row)):
            continue
        if not _ENVIRONMENT.search(row.output) or len(bare(row.words)) > LONGEST_COMMAND or "\n" in bare(row.words):
            continue
        rows = [line.strip() for line in row.output.split("\n") if line.strip()]
        first = next((line for line in rows[:30] if _ENVIRONMENT.search(line) and len(line) < 260), "")
        program = bare(row.words).split()[0] if bare(row.words) else ""
        if not first or program in seen or cues.ONE_OFF.search(bare(row.words)):
            continue
        seen.add(program)
        versions = list(dict.fromkeys(line for line in rows if _VERSIONS.match(line) and line != first))[:2]
        shown = "; ".join([first, *versions])
        later = [other for other in session.commands[at + 1 :] if program in bare(other.words).split()[:4]]
        cured = next((other for other in later if not other.failed and not failure(other) and other.answered), None)
        if cured and bare(cured.words) != bare(row.words) and len(bare(cured.words)) <= LONGEST_COMMAND:
            end = f"; `{bare(cured.words)}` works"
        else:
            end = "" if cured else "; nothing in the session made it work"
        statement = f"`{bare(row.words)}` fails on this machine (“{shown}”){end}"
        turn = next(number for number, event in session.events if event is row)
        fields = {"statement": statement, "detail": "", "quote": first, "kind": "pitfall"}
        yield Found("facts", fields, 66, turn)


# --- checks that the repository has, and those that run by themselves ---


_ONE_PLACE = re.compile(r"\s(?:\./)?[\w.-]+/(?!\.\.\.(?:\s|$))[\w./-]*")


def check_steps(session: Session) -> tuple[list[str], int]:
    """The commands with which a change is checked here, and the turn of the last: those that ran and passed after an
    edit, in the order of their last runs. What an assistant ran once need not be how the place is checked."""
    first_edit = next((at for at, (_, row) in enumerate(session.events) if is_change(row)), 0)
    ran: dict[str, tuple[int, int, str]] = {}
    for turn, row in session.events[first_edit:]:
        if not isinstance(row, Command) or not row.answered or row.failed or failure(row):
            continue
        inside = _inside(session, folder_of(row.words))
        if inside is None:
            continue
        for place, part in enumerate(re.split(r"\s*(?:&&|;)\s*", bare(row.words))):
            kind = cues.check_kind(part)
            if kind and not cues.ONE_OFF.search(part) and not _ONE_PLACE.search(part):
                ran[kind] = (turn, place, f"cd {inside} && {part}" if inside else part)
    steps = list(dict.fromkeys(step for *_, step in sorted(ran.values())))
    return (steps, max(turn for turn, *_ in ran.values())) if are_checks(steps) else ([], -1)


def are_checks(steps: Sequence[str]) -> bool:
    """Whether steps are worth a playbook: several, and a test among them; a lint or a build alone anybody finds."""
    kinds = {cues.check_kind(step.split(" && ")[-1]) for step in steps}
    return len(steps) >= LEAST_STEPS and bool(kinds & {"test", "integration"})


LEAST_STEPS = 2


def checks_of(project: str, steps: list[str]) -> dict[str, str]:
    """The fields of the playbook with which a project is checked."""
    return {"name": f"Checks of {project}" if project else "Checks", "steps": " -> ".join(steps), "quote": ""}


def _checks(session: Session) -> Iterator[Found]:
    """The checks that somebody says are to be run: the user, or what runs them by itself. Others wait for a second
    session (`recurring.py`)."""
    steps, turn = check_steps(session)
    named = [step for step in steps if _is_named(session, last := step.split(" && ")[-1]) or _ran_again(session, last)]
    if are_checks(named):
        yield Found("playbooks", checks_of(session.project, named), 60, turn)


def _ran_again(session: Session, step: str) -> bool:
    """Whether a check ran several times in one session: it is how the work was judged, and no single look."""
    ran = [row for row in session.commands if row.answered and step in re.split(r"\s*(?:&&|;)\s*", bare(row.words))]
    return len(ran) >= LEAST_RUNS


LEAST_RUNS = 2
_INSTRUCTS = re.compile(
    r"(?:^|/)(?:CLAUDE|AGENTS|GEMINI|CONTRIBUTING|copilot-instructions)[\w.-]*$|\.github/workflows/|\.gitlab-ci|"
    r"(?:^|/)\.husky/|lefthook|pre-commit|(?:^|/)\.circleci/",
    re.IGNORECASE,
)


def _is_named(session: Session, step: str) -> bool:
    """Whether the user named a check, a page for contributors or a server's recipe holds it, or a hook ran it."""
    turns = session.conversation.turns
    if any(by_person(turn) and step in turn.text for turn in turns):
        return True
    for _, row in session.events:
        if isinstance(row, FileRead) and _INSTRUCTS.search(row.path) and step in row.output:
            return True
        if isinstance(row, Hook) and step in row.words:
            return True
        ran = isinstance(row, Command) and "git " in row.words and _RUN_BY_ITSELF.search(row.output)
        shown = row.output if isinstance(row, Command) and ran else ""
        if any(step == found["command"] for found in _SHOWN.finditer(shown)):
            return True
    return False


def _inside(session: Session, folder: str) -> str | None:
    """A folder as seen from the session's own; None for one that lies elsewhere."""
    own = session.conversation.folder.rstrip("/")
    if own and (folder == own or folder.startswith(own + "/")):
        return folder[len(own) + 1 :]
    return None if folder.startswith(("/", "~", "..", "$")) and folder else folder


_RUN_BY_ITSELF = re.compile(r"\b(?:husky|lefthook|lint-staged|pre-commit|pre-push|commit-msg)\b", re.IGNORECASE)
_SHOWN = re.compile(r"^(?:\$|>|┃|❯)\s+(?P<command>.+?)\s*$", re.MULTILINE)


_OF_HOOK = re.compile(
    r"\b(?:husky|lefthook|lint-staged|pre-commit|pre-push|commit-msg|commitlint|hook (?:failed|declined|exited))\b|"
    r"\[(?:subject|type|scope|body|header|footer)-[a-z-]+\]",
    re.IGNORECASE,
)
_MARK = re.compile(r"^\W+")
_RULE = re.compile(r"^\s*[✖✗×]\s++(?!found )|\s\[[a-z]+(?:-[a-z]+)+\]\s*$")


def _refusal(row: Command) -> str:
    """What a hook asks of a commit, as it says when it stops one: the rule that was broken, or the command that failed
    with its error."""
    rows = [_MARK.sub("", line.strip()) if _RULE.search(line) else "" for line in row.output.split("\n")]
    for at, line in enumerate(rows):
        if line.endswith(":"):
            below = next((text.strip() for text in row.output.split("\n")[at + 1 :] if text.strip()), "")
            return f"`{line[:-1]}` has to pass (“{below}”)" if below else ""
        if line:
            return f"“{line}”"
    return ""


def _hooks(session: Session) -> Iterator[Found]:
    """What runs by itself at a commit or a push: the hook says so in what it prints."""
    seen: set[str] = set()
    where = f" in {session.project}" if session.project else ""
    for turn, row in session.events:
        if isinstance(row, Command) and row.answered and re.search(r"\bgit (?:commit|push)\b", row.words):
            when = "git push" if re.search(r"\bgit push\b", row.words) else "git commit"
            named = _RUN_BY_ITSELF.search(row.output)
            said = _refusal(row) if row.failed and _OF_HOOK.search(row.output) else ""
            if said and said not in seen and len(said) <= LONGEST_COMMAND:
                seen.add(said)
                statement = f"`{when}`{where} runs a hook that stops it: {said}"
                yield Found("facts", {"statement": statement, "detail": "", "quote": ""}, 62, turn)
            ran = [found["command"] for found in _SHOWN.finditer(row.output) if cues.check_kind(found["command"])]
            if not named or not ran or when in seen:
                continue
            seen.add(when)
            shown = ", ".join(f"`{command}`" for command in dict.fromkeys(ran))
            quote = next((line.strip() for line in row.output.split("\n") if named[0] in line), "")
            statement = f"`{when}`{where} runs a hook ({named[0].lower()}): {shown}"
            yield Found("facts", {"statement": statement, "detail": "", "quote": quote}, 66, turn)
        elif isinstance(row, Hook) and row.failed and row.words and cues.check_kind(row.words):
            statement = f"A hook runs `{row.words}` by itself here, and it can fail"
            if statement not in seen:
                seen.add(statement)
                yield Found("facts", {"statement": statement, "detail": "", "quote": ""}, 60, turn)
