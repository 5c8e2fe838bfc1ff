"""What a session ran, what came of each command, and how the session stood at its end."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from core.base.command_line import command_key, error_key, error_line, is_invocation
from core.conversations.changed import DELETED, MOVED, NO_CHANGE, changed_files, command_parts
from core.conversations.conversation import Turn
from core.conversations.events import OPENED, Call, Command, Commit, Edit, Event, PullRequest, Push, call_words

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


def ran_in(turns: Sequence[Turn], first: int, clear: Callable[[str], str]) -> list[Ran]:
    """The commands of these turns, in their order; of edits in a row one. `clear` takes secrets out of a text before
    it is shortened."""
    rows: list[Ran] = []
    for number, turn in enumerate(turns, start=first):
        for event in turn.events:
            if isinstance(event, Edit):
                if rows and rows[-1].key:
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

    @property
    def text(self) -> str:
        """One line, "" where nothing is known."""
        parts = []
        if self.files:
            shown = ", ".join(f"`{name}`" for name in self.files[:MAX_FILES])
            more = ", …" if len(self.files) > MAX_FILES else ""
            count = f"{len(self.files)} file{'s' * (len(self.files) > 1)}"
            parts.append(f"{count} changed and not committed in the session ({shown}{more})")
        if self.commit:
            parts.append(f"{self.commit} {'pushed' if self.pushed else 'not pushed in the session'}")
        parts += [part for part in (self.pull, self.broken) if part]
        parts += [f"not answered: “{self.waits}”"] if self.waits else []
        parts += ["a question open"] if self.asks else []
        return "; ".join(parts)


def read_end(turns: Sequence[Turn]) -> End:
    """The state in which a session was left, as its events and last words tell it."""
    turns = [turn for turn in turns if not turn.agent] or list(turns)
    events = [(at, event) for at, turn in enumerate(turns) for event in turn.events]
    made = [(at, row) for at, row in events if isinstance(row, Commit) and row.succeeded]
    last, commit = made[-1] if made else (-1, None)
    swept = [at for at, row in events if isinstance(row, Command) and not row.failed and _SWEEPS.search(row.words)]
    tried = [at for at, row in events if isinstance(row, Commit) and row.succeeded is None]  # maybe it went through
    clean = max([last, *swept, *tried])
    rows = sorted(changed_files(turns).items(), key=lambda one: one[1].last)
    left = [path for path, row in rows if row.last > clean and not row.how.startswith((DELETED, NO_CHANGE, MOVED))]
    files = [re.split(r"[\\/]", path)[-1] for path in left]
    pulls = [row.url for at, row in events if at >= last and isinstance(row, PullRequest) and row.url]
    pushed = bool(pulls) or any(at >= last and isinstance(row, Push) and row.succeeded for at, row in events)
    behind = [row for at, row in events if at >= last and isinstance(row, Command) and not row.failed]
    pull, merged = _pull(pulls[-1] if pulls else "", behind if pushed else [])
    said = next((turn for turn in reversed(turns) if _speaks(turn)), None)
    words = " ".join(said.text.split()) if said is not None else ""
    by_user = said is not None and said.role == "user"
    question = words.rstrip(" *_)`").endswith(("?", "？"))
    # A chat often ends with what somebody notes; only where tools are at work is that a request.
    waits = by_user and len(words) >= LEAST_SAID and turns[-1] is said and (question or bool(events))
    return End(
        files=tuple(dict.fromkeys(reversed(files)))[::-1],
        commit=(f"commit {commit.hash[:8]}" if commit.hash else f"the commit “{commit.subject}”") if commit else "",
        pushed=pushed if commit else None,
        pull="" if merged else pull,
        broken=stopped_by(turns) or _breaks_off(turns, events, "" if by_user else words),
        waits=_beginning(words) if waits else "",
        asks=bool(said) and not by_user and question,
    )


_ANNOUNCES = re.compile(
    r"(?:(?:now|next|first|then|alright|okay|ok|good|great)[,.!]? )*(?:let me(?! know)|let['’]s|"
    r"I(?:['’]ll| will)(?! (?:be|wait|stop|leave|keep|not|need|stand)\b)|"
    r"(?:(?!if\b)[^,.]{3,120}, )?I['’]m (?:now |also )?(?!waiting|leaving|keeping|stopping)\w+ing\b)",
    re.IGNORECASE,
)
"""How a sentence begins that tells what is done next."""
_HANDS_IN = ("submit", "finish", "task_complete", "complete_task", "attempt_completion")
MAX_FILES = 4
LONGEST_SAID, LEAST_SAID, LONGEST_SHOWN, LONGEST_NOTICE, LAST_TURNS = 160, 12, 80, 400, 3
INTERRUPTED = "[Request interrupted"
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
_LIMIT = re.compile(
    r"\b(?:usage|rate|session|weekly|daily|free|token|message) limit (?:has been |was )?(?:reached|exceeded|hit)|"
    r"\b(?:hit|reached|exceeded) (?:your|the) (?:\w+ ){0,2}limit\b|\bquota (?:exceeded|has been)|"
    r"\bout of (?:credits|tokens|extra usage)\b|\bcredit balance is too low\b|\bprompt is too long\b",
    re.IGNORECASE,
)


def _pull(url: str, commands: Sequence[Command]) -> tuple[str, bool]:
    """The pull request that was pushed to, as far as these commands tell more of it than `url`, and whether it is
    merged. One that they name by another number is another."""
    merged = False
    for row in commands:
        for told in filter(None, map(_ON_PULL.match, command_parts(row.words))):
            named = _NUMBER.search(told["given"])
            if url and named and named[1] != url.rsplit("/", 1)[-1]:
                continue
            if told["verb"] == "merge":
                merged = merged or "--auto" not in told["given"].split()
            else:
                shown = _OTHERS_WORDS.split(row.output, maxsplit=1)[0]
                url = [url, *_ITS_URL.findall(shown)][-1]
                merged = merged or '"state":"MERGED"' in shown
    return url, merged


def _beginning(words: str) -> str:
    """What was said, or as many whole words of it as a line has room for."""
    return (
        words if len(words) <= LONGEST_SAID else f"{words[:LONGEST_SAID].rpartition(' ')[0] or words[:LONGEST_SAID]} …"
    )


def _speaks(turn: Turn) -> bool:
    """Whether somebody says something in a turn: no order to the tool itself, as `/exit`."""
    return (
        turn.role in ("user", "assistant") and bool(turn.text.strip()) and not turn.text.lstrip().startswith(("/", "!"))
    )


def stopped_by(turns: Sequence[Turn]) -> str:
    """What stopped a session from outside: a limit, or the user who interrupted it; "" for neither."""
    for turn in turns[-LAST_TURNS:]:
        if turn.role != "user" and len(turn.text) <= LONGEST_NOTICE and _LIMIT.search(turn.text):
            return "stopped by a limit of the tool"
    interrupted = bool(turns) and turns[-1].role == "system" and turns[-1].text.startswith(INTERRUPTED)
    return "interrupted by the user" if interrupted else ""


def hands_in(row: Call) -> bool:
    """Whether a call says that the work is done, and so ends a session by itself."""
    return row.tool.lower() in _HANDS_IN or call_words(row).split()[:1] == ["submit"]


def unanswered(turns: Sequence[Turn], events: Sequence[tuple[int, Event]]) -> tuple[int, Call] | None:
    """The last call where it has no result and nothing was said behind it, in a file that tells how such calls end."""
    calls = [(at, row) for at, row in events if isinstance(row, Call)]
    if not calls or calls[-1][1].answered or calls[-1][0] < len(turns) - 2 or hands_in(calls[-1][1]):
        return None
    return calls[-1] if any(isinstance(row, type(calls[-1][1])) and row.answered for _, row in calls) else None


def _breaks_off(turns: Sequence[Turn], events: Sequence[tuple[int, Event]], last_words: str) -> str:
    found = unanswered(turns, events)
    row = found[1] if found else None
    if isinstance(row, Edit) and row.path:
        return f"breaks off while `{row.names[-1]}` is written"
    if isinstance(row, Command):
        return f"breaks off in `{row.words.split(chr(10))[0][:LONGEST_SHOWN]}`"
    announced = re.split(r"(?<=[.!?])\s+", last_words)[-1].rstrip(":： ")
    if (
        (last_words.endswith((":", "：")) or (events and _ANNOUNCES.match(announced)))
        and row is None
        and turns
        and turns[-1].role == "assistant"
        and not turns[-1].events
    ):
        return f"ends as the assistant announces “{announced[-LONGEST_SAID:]}”"
    failed = events[-1][1] if events and events[-1][0] >= len(turns) - 1 else None
    if isinstance(failed, Command) and failed.failed and not failed.refused and "\n" not in failed.words:
        return f"ends with `{failed.words[:LONGEST_SHOWN]}`, which failed"
    return ""
