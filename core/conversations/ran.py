"""What a session ran, what came of each command, and how the session stood at its end."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from core.base.command_line import command_key, error_key, error_line, is_invocation
from core.base.figures import count
from core.conversations.changed import GONE, PLANS, Changed, change_files, command_parts, of_the_work
from core.conversations.conversation import Turn
from core.conversations.events import (
    INTERRUPTED,
    OPENED,
    Call,
    Command,
    Commit,
    Edit,
    Event,
    Plan,
    PullRequest,
    Push,
    Todos,
    call_words,
)

WORDS, ERROR = 300, 200


class Ran(NamedTuple):
    """One command, in the turn at `position` (from 0): its key and words, whether it `failed` (1, 0, or -1 where nobody
    told), the key of the error, its line, and whether it was called wrongly. An edit between commands has no key."""

    position: int
    key: str
    words: str
    failed: int
    error: str = ""
    line: str = ""
    wrong: int = 0


def ran_in(turns: Sequence[Turn], first: int, clear: Callable[[str], str], behind: bool = False) -> list[Ran]:
    """The commands of these turns, in their order; of edits in a row one, `behind` a command. `clear` takes secrets out
    of a text before it is shortened."""
    rows: list[Ran] = []
    for number, turn in enumerate(turns, start=first):
        for event in turn.events:
            if isinstance(event, Edit):
                if rows[-1].key if rows else behind:
                    rows.append(Ran(number, "", clear(event.path)[:WORDS], -1))
            elif isinstance(event, Command) and not event.refused and command_key(event.words):
                words, output = clear(event.words), ""
                failed = -1 if event.failed is None else int(event.failed)
                if failed == -1 and event.answered:
                    failed = int(is_invocation(error_line(event.output)))
                if failed == 1:
                    output = clear(event.output)
                line = error_line(output)
                wrong = int(is_invocation(line) or event.status in (126, 127))
                short = " ".join(words.split())[:WORDS]
                rows.append(Ran(number, command_key(words), short, failed, error_key(output), line[:ERROR], wrong))
    return rows


@dataclass(frozen=True)
class End:
    """How a session was left: the files that were written behind its last commit, that commit and whether it was
    pushed (None: nothing tells), a pull request, what it breaks off in or was stopped by, what the user said last and
    nobody answered, and whether the assistant's last words ask something."""

    files: tuple[str, ...] = ()
    commit: str = ""
    pushed: bool | None = None
    pull: str = ""
    broken: str = ""
    waits: str = ""
    asks: bool = False
    open_call: bool = False
    """Whether the last call has no result, in a file that tells how such calls end."""
    silent: bool = False
    """Whether the assistant said nothing behind its last call."""

    @property
    def text(self) -> str:
        """One line, "" where nothing is known."""
        parts = []
        if self.files:
            shown = ", ".join(f"`{name}`" for name in self.files[:MAX_FILES])
            more = ", …" if len(self.files) > MAX_FILES else ""
            parts.append(f"{count(len(self.files), 'file')} changed and not committed in the session ({shown}{more})")
        if self.commit:
            parts.append(f"{self.commit} {'pushed' if self.pushed else 'not pushed in the session'}")
        parts += [part for part in (self.pull, self.broken) if part]
        parts += [f"not answered: “{self.waits}”"] if self.waits else []
        parts += ["a question open"] if self.asks else []
        return "; ".join(parts)


def read_end(turns: Sequence[Turn]) -> End:
    """The state in which a session was left, as its events and last words tell it."""
    return follow(Course(), turns).end


@dataclass
class Course:
    """What must be known of the turns so far to tell how a session stands behind them, in what JSON can hold: a
    transcript that has grown is followed on from here (`follow`). Numbers of turns count from 0, those of sub-agents
    left out; -1 is none."""

    turns: int = 0
    only_agents: bool = False
    files: dict[str, Changed] = field(default_factory=dict)
    commit: str = ""
    committed: int = -1
    clean: int = -1
    """The last turn behind which nothing was left uncommitted."""
    pushed: int = -2
    pull: str = ""
    pulled: int = -1
    asked_of_pulls: list[tuple[int, str, str, bool]] = field(default_factory=list)
    """What commands told of pull requests since the commit: turn, number, address, whether merged."""
    happened: bool = False
    said: tuple[int, bool, str, bool, str] = (-1, False, "", False, "")
    """Who said something last: turn, whether the user did, its beginning ("" where it is too short to be a request),
    whether it asks, and what it announces."""
    call: tuple[int, str, bool, str] = (-1, "", True, "")
    """The last call: turn, kind, whether it was answered, and what the session breaks off in otherwise."""
    silent: bool = False
    """Whether the assistant said nothing behind it."""
    answered: list[str] = field(default_factory=list)
    """The kinds of call that have had an answer."""
    limits: list[bool] = field(default_factory=list)
    """Of the last turns, whether a limit of the tool stood there."""
    stashed: bool = False
    """Whether changes were stashed."""
    by_assistant: bool = False
    interrupted: bool = False
    events: int = 0
    failed: str = ""
    """Of the last turn: who spoke, whether the user broke it off, how much happened, the command that failed in it."""

    @property
    def texts(self) -> list[str]:
        """What it holds of what was said, beside the names of `files`."""
        told = [row.how for row in self.files.values()] + [row[2] for row in self.asked_of_pulls]
        return [self.commit, self.pull, *told, self.said[2], self.said[4], self.call[3], self.failed]

    def take(self, turn: Turn) -> None:
        """One more turn."""
        at, self.turns = self.turns, self.turns + 1
        change_files(self.files, at, turn)
        self.failed = ""
        for event in turn.events:
            self.happened = True
            self._take_event(at, event)
        self.by_assistant, self.events = turn.role == "assistant", len(turn.events)
        self.interrupted, self.limits = _interrupts(turn), [*self.limits, _tells_limit(turn)][-LAST_TURNS:]
        if turn.role == "assistant" and turn.text.strip():
            last = next((row for row in reversed(turn.events) if works(row)), None)
            # A result without a word makes no turn: what is said behind it stands in the turn of the call.
            self.silent = isinstance(last, Call) and not (last.answered and turn.end > last.result >= 0) and self.silent
        if turn.role in ("user", "assistant") and turn.text.strip() and not orders_tool(turn.text):
            words = " ".join(turn.text.split())
            question = words.rstrip(" *_)`").endswith(("?", "？"))
            beginning = _beginning(words) if len(words) >= LEAST_SAID else ""
            sentence = re.split(r"(?<=[.!?])\s+", words)[-1]
            announces = words.endswith((":", "：")) or (
                self.happened and (_ANNOUNCES.match(sentence) or _SAYS_ALONE.fullmatch(words))
            )
            announced = sentence.rstrip(":： ")[-LONGEST_SAID:] if announces else ""
            self.said = (at, turn.role == "user", beginning, question, announced)

    def _take_event(self, at: int, event: Event) -> None:
        if isinstance(event, Commit) and event.succeeded is not False:
            self.clean = at  # where no outcome is told, maybe it went through
            if event.succeeded:
                self.committed = at
                self.commit = f"commit {event.hash[:8]}" if event.hash else f"the commit “{event.subject}”"
                self.asked_of_pulls = [row for row in self.asked_of_pulls if row[0] >= at]
        elif isinstance(event, Push) and event.succeeded:
            self.pushed = at
        elif isinstance(event, PullRequest) and event.url:
            self.pull, self.pulled = event.url, at
        elif isinstance(event, Command) and not event.failed:
            self.clean = (
                at if _SWEEPS.search(event.words) or (not self.stashed and self._is_clean(event)) else self.clean
            )
            self.stashed = self.stashed or _STASHES.search(event.words) is not None
            self.asked_of_pulls += [(at, *row) for row in _of_pulls(event)]
        if isinstance(event, Call):
            kind = type(event).__name__
            self.silent = not hands_in(event) if works(event) else self.silent
            self.call = (at, kind, event.answered or hands_in(event), _broken_by(event))
            if event.answered and kind not in self.answered:
                self.answered.append(kind)
        self.failed = _failed_by(event)

    def _is_clean(self, event: Command) -> bool:
        """Whether git says so where the session works: in no other folder than its files lie in."""
        places = [found.rstrip("/") + "/" for found in _PLACES.findall(event.words)]
        here = all(any(path.startswith(place) for path in self.files) for place in places)
        return here and "worktree" not in event.words and _tells_clean(event)

    @property
    def end(self) -> End:
        """How the session stands behind these turns."""
        rows = sorted(of_the_work(self.files).items(), key=lambda one: one[1].last)
        stay = [(path, row) for path, row in rows if not (row.how.startswith(GONE) or PLANS in path)]
        left = [path for path, row in stay if row.last > self.clean]
        files = [re.split(r"[\\/]", path)[-1] for path in left]
        opened = self.pull if self.pulled >= self.committed else ""
        pushed = bool(opened) or self.pushed >= self.committed
        pull, merged = _pull(opened, self.asked_of_pulls if pushed else [])
        at, by_user, beginning, question, _ = self.said
        # A chat often ends with what somebody notes; only where tools are at work is that a request.
        waits = by_user and at == self.turns - 1 and (question or self.happened)
        return End(
            files=tuple(dict.fromkeys(reversed(files)))[::-1],
            commit=self.commit,
            pushed=pushed if self.commit else None,
            pull="" if merged else pull,
            broken=_stopped(any(self.limits), self.interrupted) or self._breaks_off(),
            waits=beginning if waits else "",
            asks=at >= 0 and not by_user and question,
            open_call=self._open_call,
            silent=self.silent,
        )

    @property
    def _open_call(self) -> bool:
        at, kind, answered, _ = self.call
        return not answered and at >= self.turns - 2 and kind in self.answered

    def _breaks_off(self) -> str:
        open_call, broken = self._open_call, self.call[3]
        if open_call and broken:
            return broken
        _, by_user, _, _, announced = self.said
        if announced and not by_user and not open_call and self.by_assistant and not self.events:
            return f"ends as the assistant announces “{announced}”"
        return self.failed


def follow(course: Course, turns: Sequence[Turn]) -> Course:
    """The course with the turns that came behind it, which is changed for it. Sub-agents count only where nobody else
    speaks."""
    own = [turn for turn in turns if not turn.agent]
    if own and course.only_agents:
        course = Course()
    if not own and (not turns or (course.turns and not course.only_agents)):
        return course
    course.only_agents = not own
    for turn in own or turns:
        course.take(turn)
    return course


def read_course(row: dict[str, Any]) -> Course:
    """A course out of its fields as JSON has them."""
    return Course(**{**row, "files": {path: Changed(**held) for path, held in row["files"].items()}})


_ANNOUNCES = re.compile(
    r"(?:(?:alright|okay|ok|good|great)[,.!]? )?(?:(?:(?:now|next|first|then),? )?let me(?! know)|"
    r"(?:now|next|first),? I(?:['’]ll| will)|I(?:['’]ll| will) (?:now|first|next|start)|I['’]m now \w+ing)\b"
    r"(?!.*\b(?:if|once|when|unless|until|wait\w*|leav\w+|stop\w*)\b)",
    re.IGNORECASE,
)
"""How a sentence begins that tells what is done next, at once: many that tell of the assistant end finished work."""
_SAYS_ALONE = re.compile(
    r"I(?:['’]ll| will|['’]m going to) (?:now |first |also )?(?:add|build|change|check|create|edit|fix|implement|"
    r"install|look|make|move|read|remove|rename|replace|run|search|start|test|update|write)\b"
    r"(?!.*\b(?:always|if|once|when|unless|until|want)\b)[^.!?]{3,120}[.…]?"
)
"""A message of one sentence that tells of work: with others before it, it often ends finished work."""
_ORDERS_TOOL = re.compile(r"\s*(?:/[\w:-]+(?!\S)|!(?![\s!]))")
_HANDS_IN = ("submit", "finish", "task_complete", "complete_task", "attempt_completion")
MAX_FILES = 4
LONGEST_SAID, LEAST_SAID, LONGEST_SHOWN, LONGEST_NOTICE, LAST_TURNS = 160, 12, 80, 400, 3
_ITS_URL = re.compile(rf'(?:^url:\s*|"url": ?")({OPENED.pattern})', re.MULTILINE)
_ON_PULL = re.compile(r"gh pr (?P<verb>view|merge)(?P<given>(?: .*)?)$")
_NUMBER = re.compile(r"(?: #?| https://\S{1,300}/pull/)(\d+)(?= |$)")
_OTHERS_WORDS = re.compile(r"^--\s*$", re.MULTILINE)
"""Behind it `gh pr view` shows what anyone wrote."""
_SWEEPS = re.compile(
    r"\bgit (?:-\S+ ){0,4}(?:reset (?:\S+ ){0,4}--hard|(?:checkout|restore) (?:-- )?\.(?:\s|$)|"
    r"(?:rebase|merge|cherry-pick) --continue|commit\b.{0,200}--amend)"
)
"""What leaves nothing behind that was changed and not committed."""
_PLACES = re.compile(r"(?:^|[\s;&|(])(?:cd|pushd|git -C) +[\"']?([^\s;&|\"')]+)")
_STASHES = re.compile(r"(?:^|[\s;&|(])git stash(?! (?:pop|apply|list|show|drop|branch))\b")
"""What is stashed is neither committed nor seen by `git status`."""
_SHORT_STATUS = re.compile(r"git status(?: (?:--short|--porcelain|--branch|-s|-b|-sb))+")
_LIMIT = re.compile(
    r"\b(?:usage|rate|session|weekly|daily|free|token|message) limit (?:has been |was )?(?:reached|exceeded|hit)|"
    r"\b(?:hit|reached|exceeded) (?:your|the) (?:\w+ ){0,2}limit\b|\bquota (?:exceeded|has been)|"
    r"\bout of (?:credits|tokens|extra usage)\b|\bcredit balance is too low\b|\bprompt is too long\b",
    re.IGNORECASE,
)


def _tells_clean(event: Command) -> bool:
    """Whether git says that nothing is left to commit, whoever committed it."""
    if _SHORT_STATUS.fullmatch(event.words.strip()):
        lines = (line for line in event.output.split("\n") if line.strip())
        return event.answered and all(line.startswith(("## ", "exit code: 0")) for line in lines)
    return "working tree clean" in event.output and "git status" in event.words


def _of_pulls(event: Command) -> Iterator[tuple[str, str, bool]]:
    """What a command tells of a pull request: the number that it names, its address, and whether it is merged."""
    for told in filter(None, map(_ON_PULL.match, command_parts(event.words))):
        named = _NUMBER.search(told["given"])
        number = named[1] if named else ""
        if told["verb"] == "merge":
            yield number, "", "--auto" not in told["given"].split()
        else:
            shown = _OTHERS_WORDS.split(event.output, maxsplit=1)[0]
            yield number, ["", *_ITS_URL.findall(shown)][-1], '"state":"MERGED"' in shown


def _pull(url: str, told: Sequence[tuple[int, str, str, bool]]) -> tuple[str, bool]:
    """The pull request that was pushed to, as far as these commands tell more of it than `url`, and whether it is
    merged. One that they name by another number is another."""
    merged = False
    for _, number, shown, now in told:
        if url and number and number != url.rsplit("/", 1)[-1]:
            continue
        url = shown or url
        merged = merged or now
    return url, merged


def _beginning(words: str) -> str:
    """What was said, or as many whole words of it as a line has room for."""
    return (
        words if len(words) <= LONGEST_SAID else f"{words[:LONGEST_SAID].rpartition(' ')[0] or words[:LONGEST_SAID]} …"
    )


def orders_tool(text: str) -> bool:
    """Whether words are an order to the tool itself, as `/exit` and `!ls`; a path at their beginning makes none."""
    return _ORDERS_TOOL.match(text) is not None


def stopped_by(turns: Sequence[Turn]) -> str:
    """What stopped a session from outside: a limit, or the user who interrupted it; "" for neither."""
    return _stopped(any(map(_tells_limit, turns[-LAST_TURNS:])), bool(turns) and _interrupts(turns[-1]))


def _stopped(limit: bool, interrupted: bool) -> str:
    return "stopped by a limit of the tool" if limit else "interrupted by the user" if interrupted else ""


def _tells_limit(turn: Turn) -> bool:
    return turn.role != "user" and len(turn.text) <= LONGEST_NOTICE and _LIMIT.search(turn.text) is not None


def _interrupts(turn: Turn) -> bool:
    return turn.role == "system" and turn.text.startswith(INTERRUPTED)


def hands_in(row: Call) -> bool:
    """Whether a call says that the work is done, and so ends a session by itself."""
    return row.tool.lower() in _HANDS_IN or call_words(row).split()[:1] == ["submit"]


def works(row: Event) -> bool:
    """Whether a call leaves work behind it that no other line tells: a plan that waits does not, nor does a list of
    steps that are all done."""
    if isinstance(row, Plan):
        return row.approved is True
    return isinstance(row, Call) and not (isinstance(row, Todos) and row.done)


def _broken_by(event: Call) -> str:
    """What a session breaks off in whose last call this is."""
    if isinstance(event, Edit) and event.path:
        return f"breaks off while `{event.names[-1]}` is written"
    if isinstance(event, Command):
        return f"breaks off in `{event.words.split(chr(10))[0][:LONGEST_SHOWN]}`"
    return ""


def _failed_by(event: Event) -> str:
    """How a session ends whose last event this is."""
    if isinstance(event, Command) and event.failed and not event.refused and "\n" not in event.words:
        return f"ends with `{event.words[:LONGEST_SHOWN]}`, which failed"
    return ""
