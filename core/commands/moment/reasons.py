"""Which turn of a conversation wrote a line of a file, and what was said there that gives the reason.

A reason stands before the edit (a finding, an error, a plan, the user's complaint) or in what sums it up behind it. The
sentences are weighed by what they share with the line, the lines beside it and the commit, by the words that tell a
reason, and by how near to the edit they stand. What was asked for is told apart from why.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path
from typing import Any, NamedTuple

from core.conversations.conversation import Conversation, Turn
from core.conversations.events import Call, Command, Commit, Compaction, Delegation, Edit, Event, Plan, Question
from core.rules.asked import requests
from core.rules.sentence import ANNOUNCES, FAINT, FILE, STRONG, WEAK, cue_of, is_prose, rows_of
from core.rules.session import is_change, read_session
from core.search.words import STOP_WORDS

LEAST_LINE = 12
"""A shorter line stands in too many edits to tell whose it is."""
BESIDE = 3
"""The lines of an edit, before and behind the line, that speak of the same."""
LEAST_WORDS, LEAST_SENTENCE, MOST_SENTENCE, MAX_QUOTES = 8, 20, 420, 3
ASKED = 400
"""The characters of the longest request that is told whole."""
LEAST_WORTH, SHARE_OF_BEST = 9.0, 0.75
"""What a sentence must weigh to be a reason, and what part of the best one's weight to stand beside it."""
MOST_HITS, MOST_OF_CHANGE, LEAST_HITS, AT_THE_EDIT = 14, 4, 2, 4.0
OFTEN, SHARE_OF_ALL = 6, 0.08
"""What stands in more sentences of a conversation, or in so large a part of them, is what all of it is about."""
BEGINNING = 6
"""The same letters at their beginning that make two words one."""
STEM = 5
"""Those where any form will do ("drain", "drained")."""
_MARK = re.compile(r"^(?:(?:[-*•>]|\d{1,2}[.)]) +)+")
_EXPLAINED = re.compile(r"^(?:- )?(?:explanation|instructions?|justification): `?(.{,400}?)`?$", re.MULTILINE)
"""What some tools ask the assistant to say with an edit."""
_WHY_HEADING = re.compile(
    r"^#+ *(?:\d\.\s*)?\W*(?:context|why|background|problem|motivation|rationale|root cause)\b", re.I
)
_WANTED = re.compile(r"Primary Request and Intent:?\**\s*\n(.*)", re.DOTALL)
"""Where the summary of a conversation that went on says what was wanted."""
_CODE = re.compile(r"[;{}]\s*\Z|^\s*(?:/[/*]|\*/|<)")
"""A line of code that somebody pasted without a fence."""
_SPARES = re.compile(r"\bso (?:[\w-]+ ){1,6}?(?:can(?:no|['’])t|(?:wo|do|does|did)n['’]t|no longer)\b", re.IGNORECASE)
"""What a change is to keep from happening."""
_REMOVES = re.compile(r"(?:^|[;&|]\s*)(?:git )?rm ")
_NAME = re.compile(r"[A-Za-z_][\w.]{3,}\w")
_SUBWORD = re.compile(r"[A-Z]?[a-z]{3,}|[A-Z]{3,}|[\u4e00-\u9fff]{2}")
_EVERYWHERE = frozenset((
    "string", "error", "errors", "func", "function", "return", "const", "import", "from", "with", "this", "self",
    "test", "tests", "that", "none", "null", "true", "false", "type", "value", "default", "class", "file", "files",
    "should", "void", "async", "await", "public", "private", "export", "fmt.fprintf", "os.stderr", "t.errorf",
    "t.error", "t.fatalf", "console.log", "feat", "docs", "chore", "add", "use",
))  # fmt: skip
_OF_CODE = re.compile(r"[a-z][A-Z]|_|\w\.\w")


@dataclass(frozen=True)
class Quote:
    """A sentence that gives a reason, the turn (from 1) where it stands, and who said it: `user`, `assistant`, `plan`,
    `question`, `command` (one that failed) or `report` (a sub-agent's, or the summary of what went before)."""

    text: str
    turn: int
    by: str


class Told(NamedTuple):
    """What was asked for ("" where nothing tells) at a turn (from 1), and the reasons, best first."""

    asked: str
    turn: int
    quotes: tuple[Quote, ...]


# --- which turn wrote it ---------------------------------------------------------------------------------------------

_OLD, _NEW = (re.compile(rf"^{key}_?str(?:ing)?: ", re.IGNORECASE | re.MULTILINE) for key in ("old", "new"))
_SWAPPED = re.compile(
    r"^[<-]{5,9} ?(?:SEARCH|ORIGINAL|HEAD)\b[^\n]*\n(?P<old>.*?)^={5,9}\n(?P<new>.*?)^[>+]{5,9} ?(?:REPLACE|UPDATED)?",
    re.DOTALL | re.MULTILINE,
)
_OLD_IN_JSON, _NEW_IN_JSON = (
    re.compile(rf'"(?:{key}_?str(?:ing)?|{key}Text|{more})"\s*:\s*("(?:[^"\\]|\\.)*")', re.IGNORECASE)
    for key, more in (("old", "TargetContent"), ("new", "ReplacementContent"))
)
_COMMITS = re.compile(
    r"\bgit\b[^\n;&|]{0,80}\bcommit\b(?:\"\$\(cat <<.*?(?:\n\s*\)\"|\Z)|\"(?:[^\"\\]|\\.)*(?:\"|\Z)|'[^']*(?:'|\Z)|"
    r"<<-?\s*['\"]?(\w+)['\"]?[^\n]*\n.*?(?:^[ \t]*\1\b|\Z)|[^\n;&|\"'<])*",
    re.DOTALL | re.MULTILINE,
)
_GOES_TO = re.compile(r"(?:^|[;&|(])\s*cd\s+(\"[^\"\n]+\"|'[^'\n]+'|[^\s;&|)]+)", re.MULTILINE)
_PATH = re.compile(r"[\w@+~.\\/-]+")
_SHELL_ESCAPED = re.compile(r"\\(?=[ ()\[\]$])")
_UP = re.compile(r"^(?:\.{1,2}(?:/|$))+")
_ZONES = timedelta(hours=14)
"""No clock is further from another."""
_ESCAPED = ("&amp;", "&lt;", "&gt;", "&quot;")
_CALL_IDS = ("id", "call_id", "callID", "toolCallId", "tool_use_id")
_CUT, _UNTOLD = " characters left out", 400
"""The mark of a call that is not told in full; one of fewer characters without any line of code tells none."""

PART_OF_IT, INSIDE, ALL_OF_IT = range(1, 4)


class Written(NamedTuple):
    """The turn (from 0) of the edit that wrote a line, -1 for none, and how: `PART_OF_IT`, `INSIDE` a longer line,
    `ALL_OF_IT`, or 0 where the call does not tell its lines."""

    turn: int
    kind: int


def edit_of(
    talk: Conversation,
    name: str,
    until: int,
    line: str,
    *,
    sure: bool = False,
    when: str = "",
    gone: bool = False,
    source: Callable[[], bytes] = bytes,
) -> Written:
    """The last edit of the file up to a turn (both from 0), and made by the time `when`, that put the line in, or took
    it out where it is `gone`: by the lines that its call tells, by its record in the `source` where the call was cut,
    or by the part of the line that it replaced. Unless that must be `sure`, also one whose call does not tell its
    lines. Of a line too short to tell, or of none, the last edit."""
    turns = list(edits(talk, name, until, when))
    if len(line) < LEAST_LINE:
        return Written(max((at for at, told in turns if told), default=-1), ALL_OF_IT)
    cut = [at for at, told in turns if told and _CUT in talk.turns[at].text]
    records = _records(talk, cut, name, source() if cut else b"")
    swaps = {
        at: [swap for record in records.get(at, ()) for swap in _swaps_in_json(record)]
        or _swaps(talk.turns[at].text, line)
        for at, _ in turns
    }
    if gone:
        swaps = {at: [swap[::-1] for swap in rows] for at, rows in swaps.items()}
    for puts_in, kind in ((_whole, ALL_OF_IT), (_inside, INSIDE)):
        if written := [at for at, _ in turns if any(puts_in(line, *swap) for swap in swaps[at])]:
            return Written(max(written), kind)
    if not gone and (written := [at for at in cut if _stands_in(records[at], line)]):
        return Written(max(written), ALL_OF_IT)
    if written := [at for at, _ in turns if not gone and any(_part(line, *swap) for swap in swaps[at])]:
        return Written(max(written), PART_OF_IT)
    untold = (at for at, told in turns if told and not _tells(talk.turns[at].text))
    return Written(-1 if sure else max(untold, default=-1), 0)


def _records(talk: Conversation, cut: Sequence[int], name: str, data: bytes) -> dict[int, list[str]]:
    """The whole records, in the source, of what wrote the file in turns whose calls were cut: of a message that called
    several tools only that call."""
    told: dict[tuple[int, int], tuple[str, dict[str, Any]]] = {}  # read once, for all the calls of a message
    records: dict[int, list[str]] = {at: [] for at in cut}
    for at in cut:
        for event in talk.turns[at].events:
            if not _is_of(event, talk.turns[at], name):
                continue
            place = event.start, event.end
            if place not in told:
                record = data[event.start : event.end].decode("utf-8", "replace")
                told[place] = record, _calls_in(record)
            whole, calls = told[place]
            call = calls.get(event.id) if isinstance(event, Call) else None
            records[at].append(whole if call is None else json.dumps(call, ensure_ascii=False))
    return records


def _calls_in(record: str) -> dict[str, Any]:
    """The calls of a record, each by its id; none of a record that is no JSON."""
    try:
        inside = [json.loads(record)]
    except (ValueError, RecursionError):
        return {}
    calls: dict[str, Any] = {}
    while inside:
        one = inside.pop()
        if isinstance(one, dict):
            if id := next((one[key] for key in _CALL_IDS if isinstance(one.get(key), str)), ""):
                calls.setdefault(id, one)
            inside += one.values()
        elif isinstance(one, list):
            inside += one
    return calls


def _stands_in(records: Sequence[str], line: str) -> bool:
    """Whether a line stands in the whole record of an edit that names no replacement, of a patch in what it adds."""
    once = json.dumps(line, ensure_ascii=False)[1:-1]
    forms = "|".join(map(re.escape, (line, once, json.dumps(once, ensure_ascii=False)[1:-1])))
    added = re.compile(rf"\+(?: |\\+t)*(?:{forms})")
    return any(
        bool(added.search(record) if "*** Begin Patch" in record else re.search(forms, record))
        for record in records
        if not _NEW_IN_JSON.search(record)
    )


def is_by(time: str, when: str) -> bool:
    """Whether something was at a time, or before; also where either is not known. A time without a zone may be
    one of any."""
    try:
        one, other = datetime.fromisoformat(time), datetime.fromisoformat(when)
    except ValueError:
        return True
    apart = _ZONES if (one.tzinfo is None) != (other.tzinfo is None) else timedelta()
    one = one.replace(microsecond=0, tzinfo=one.tzinfo or UTC)  # git tells no part of a second
    return one - other.replace(tzinfo=other.tzinfo or UTC) <= apart


def edits(talk: Conversation, name: str, until: int, when: str = "") -> Iterator[tuple[int, bool]]:
    """The turns in which the file may have been written by the time `when`, and whether an event tells so: of an edit
    by its path, below any folder; of a command line that writes files by the path that stands there. What an answer
    shows is one only where the tool then applied it, as aider does."""
    shown = -1
    for at, turn in enumerate(talk.turns[: until + 1]):
        if not is_by(turn.time, when):
            continue
        if any(_is_of(event, turn, name) for event in turn.events):
            if shown >= 0 and (talk.format == "aider" or not _tells(turn.text)):
                yield shown, False
            yield at, True
        if turn.role == "assistant" and "```" in turn.text and Path(name).name in turn.text:
            shown = at
        elif turn.role == "user":
            shown = -1


def _is_of(event: Event, turn: Turn, name: str) -> bool:
    """Whether an event of a turn writes, or removes, the file."""
    if not isinstance(event, Edit | Command) or event.failed or event.refused:
        return False
    if isinstance(event, Edit):
        if not event.path:
            return _names(turn.text, name)
        return any(is_same_file(path, name) for path in event.path.split(", "))
    line = _SHELL_ESCAPED.sub("", _COMMITS.sub("", event.words))  # what a commit says of a file writes none
    writes = is_change(replace(event, words=line)) or _REMOVES.search(line)
    return bool(writes) and _names(line, name, list(_GOES_TO.finditer(line)))


def _names(text: str, name: str, goes: Sequence[re.Match[str]] = ()) -> bool:
    """Whether a text names the file, by a path from the folder to which the last `cd` before it `goes`; a name that has
    blanks or brackets is found as a whole."""
    behind = [found.start() for found in goes]
    either = f"{re.escape(name)}|(?<!/){re.escape(Path(name).name)}"
    whole = re.compile(rf"(?<![\w@+~.\\-])(?:{either})(?![\w/\\-])")
    for found in (*_PATH.finditer(text), *whole.finditer(text)):
        last = bisect_right(behind, found.start()) - 1
        below = last >= 0 and text[found.start() - 1] != "/"
        folder = _UP.sub("", goes[last][1].strip("\"'").rstrip("/")) if below else ""
        if is_same_file(found[0], name, folder):
            return True
    return False


def is_same_file(path: str, name: str, folder: str = "") -> bool:
    """Whether a path, of any system and from any folder, or from the `folder` that is told, is that of a file whose
    path from the repository's root is `name`."""
    plain = path.replace("\\", "/").removeprefix("./")
    if folder and not plain.startswith("/"):
        plain = f"{folder}/{plain}"
    return bool(plain) and (plain == name or plain.endswith(f"/{name}") or name.endswith(f"/{plain}"))


def removes(turn: Turn) -> bool:
    """Whether a file was removed there."""
    run = any(isinstance(event, Command) and _REMOVES.search(event.words) for event in turn.events)
    return run or "*** Delete File: " in turn.text


def commit_turn(talk: Conversation, is_it: Callable[[Commit], bool]) -> int:
    """The turn (from 0) of the commit, -1 where there is none."""
    for at, turn in enumerate(talk.turns):
        if any(isinstance(event, Commit) and event.succeeded is not False and is_it(event) for event in turn.events):
            return at
    return -1


def _tells(call: str) -> bool:
    """Whether a call tells all the lines that it wrote."""
    return _CUT not in call and (len(call) > _UNTOLD or bool(_NEW.search(call) or "*** Begin Patch" in call))


def _swaps(call: str, line: str) -> list[tuple[str, str]]:
    """What an edit replaces and what it writes there, as its call tells it; of a file that is written whole, or a row
    of a patch, one of the two is ""."""
    if any(mark in call and mark not in line for mark in _ESCAPED):
        call = unescape(call)  # as a transcript in markdown may hold it
    if swaps := list(_SWAPPED.finditer(call)):
        return [(swap["old"], swap["new"]) for swap in swaps]
    if "*** Begin Patch" in call or "\n@@ " in call:
        rows = call.split("\n")
        return [("", row[1:]) if row[0] == "+" else (row[1:], "") for row in rows if row[:1] in ("+", "-")]
    if swaps_in_json := _swaps_in_json(call):
        return swaps_in_json
    before, *after = _NEW.split(call, maxsplit=1)
    return [(_OLD.split(before, maxsplit=1)[-1], after[0]) if after else ("", call)]


def _swaps_in_json(call: str) -> list[tuple[str, str]]:
    old, new = (list(map(_decoded, key.findall(call))) for key in (_OLD_IN_JSON, _NEW_IN_JSON))
    if not new or len(old) == len(new):
        return list(zip(old, new, strict=False))
    return [("\n".join(old), "\n".join(new))]


def _whole(line: str, old: str, new: str) -> bool:
    return line in _rows(new) and line not in _rows(old)


def _inside(line: str, old: str, new: str) -> bool:
    return line in new and line not in old


def _part(line: str, old: str, new: str) -> bool:
    """Whether what was written is a part of the line: the first and the last row of a replacement may be."""
    rows = _rows(new)
    return old != "" and any(len(row) >= LEAST_LINE and row in line and row not in old for row in (rows[0], rows[-1]))


def _rows(text: str) -> list[str]:
    return [row.strip() for row in text.split("\n")]


def _decoded(quoted: str) -> str:
    try:
        return str(json.loads(quoted, strict=False))
    except ValueError:
        return quoted


# --- what was said there ---------------------------------------------------------------------------------------------


class Sought(NamedTuple):
    """What a line of a `file` speaks of: names that read as code, in lower case, and the beginnings of its words and of
    those of the lines beside it and the commit."""

    file: str
    names: frozenset[str]
    words: frozenset[str]
    change: frozenset[str]

    def rarer(self, rows: Sequence[str]) -> Sought:
        """Without what nearly everything that was said speaks of: it tells no sentence from another."""
        count = Counter(one for row in rows for one in _beginnings(row))
        often = frozenset(one for one, times in count.items() if times > max(OFTEN, SHARE_OF_ALL * len(rows)))
        told = "\n".join(rows).casefold()
        names = (one for one in self.names if told.count(one) <= max(OFTEN, SHARE_OF_ALL * len(rows)))
        words = self.words - often
        return Sought(self.file, frozenset(names), words, (self.change - often) | (self.words & often))

    def hits(self, text: str) -> int:
        """How much of it a sentence speaks of: a word of the line counts 2, of the change 1, a name 6."""
        low, words = text.casefold(), _beginnings(text)
        near = 6 * sum(name in low for name in self.names) + 2 * len(words & self.words)
        return min(MOST_HITS, near + min(MOST_OF_CHANGE, len(words & self.change - self.words)))

    def about(self, text: str) -> bool:
        """Whether a sentence is about the change: it has a name of the line, two words of what the change does, or one
        and the file's name. What only announces the next step is about that."""
        low, words = text.casefold(), {word[:STEM] for word in _beginnings(text)}
        shared = len(words & {word[:STEM] for word in self.words | self.change}) + (self.place(text) > 0)
        return not ANNOUNCES.match(text) and (any(name in low for name in self.names) or shared >= LEAST_HITS)

    def place(self, text: str) -> int:
        """Whether a sentence names the file; another one counts against it."""
        files = {found.rsplit("/", 1)[-1] for found in FILE.findall(text)}
        return 0 if not files else LEAST_HITS if self.file in files else -MOST_OF_CHANGE


def sought(name: str, line: str, change: str) -> Sought:
    """What is sought for a line and what is known of the change that it came with."""
    names = {one.casefold().strip("_") for one in _NAME.findall(line or change) if _OF_CODE.search(one)}
    return Sought(Path(name).name, frozenset(names - _EVERYWHERE), _beginnings(line), _beginnings(change))


def beside(talk: Conversation, edit: int, line: str) -> str:
    """The lines around a line in the call that wrote it."""
    rows = [row.lstrip("+-").strip() for row in talk.turns[edit].text.split("\n")]
    at = max((at for at, row in enumerate(rows) if line and line in row), default=-1)
    return "\n".join(rows[max(0, at - BESIDE) : at + BESIDE + 1]) if at >= 0 else ""


def _beginnings(text: str) -> frozenset[str]:
    found = (word.casefold() for word in _SUBWORD.findall(text))
    return frozenset(word[:BEGINNING] for word in found if word not in _EVERYWHERE and word not in STOP_WORDS)


def told_of(talk: Conversation, edit: int, of: Sought) -> Told:
    """What was asked for at an edit (a turn from 0), and the sentences that give its reason."""
    orders = requests(read_session(talk))
    at, text = next((row for row in reversed(orders) if row[0] <= edit and _tells_work(row[1], of)), (-1, ""))
    until = next((row[0] for row in orders if row[0] > edit and _tells_work(row[1], of)), len(talk.turns))
    if at < 0 and (summary := _summary_before(talk, edit)) >= 0:
        wanted = _WANTED.search(talk.turns[summary].text)
        at, text = summary, f"from the summary of what went before: {wanted[1].strip()}" if wanted else ""
    order = _short(text, of)
    if last := [row[1] for row in orders if at < row[0] <= edit and not row[1].endswith("?")]:
        order = " … then: ".join(filter(None, (order, " ".join(last[-1].split())[:ASKED])))
    of = of.rarer([row for turn in talk.turns if turn.role in ("user", "assistant") for row in rows_of(turn.text)])
    weighed = sorted(_weighed(talk, edit, at, until, of), key=lambda one: -one[0])
    if not weighed or weighed[0][0] < LEAST_WORTH:
        weighed = sorted(_weighed(talk, edit, at, until, of, of.names), key=lambda one: -one[0])
    best: list[Quote] = []
    for worth, quote in weighed:
        if worth < max(LEAST_WORTH, SHARE_OF_BEST * weighed[0][0]) or len(best) == MAX_QUOTES:
            break
        if not (quote.text in order or any(_alike(quote.text, one.text) for one in best)):
            best.append(quote)
    return Told(order, at + 1, tuple(best))


def _summary_before(talk: Conversation, edit: int) -> int:
    """The turn of the last summary before an edit by which a conversation was shortened, -1 where there is none."""
    turns = enumerate(talk.turns[:edit])
    return max((at for at, turn in turns if any(isinstance(event, Compaction) for event in turn.events)), default=-1)


def _tells_work(request: str, of: Sought) -> bool:
    """Whether a request names the work, and is no go-ahead or a word between."""
    words = len(request.split()) if request.isascii() else len(request) // 2
    return request.startswith("/") or words >= LEAST_WORDS or of.hits(request) > LEAST_HITS


def _alike(one: str, other: str) -> bool:
    words, more = _beginnings(one), _beginnings(other)
    return len(words & more) >= 0.7 * min(len(words), len(more))


def _weighed(
    talk: Conversation,
    edit: int,
    asked: int,
    until: int,
    of: Sought,
    names: frozenset[str] = frozenset(),
) -> Iterator[tuple[float, Quote]]:
    """The sentences that may give the reason, each with its weight: what was said, what the edit's own turn explains,
    and what plans, answers and failures before it tell. In the message that the request answers an item with one of the
    names counts, too."""
    written = max((at for at, turn in enumerate(talk.turns[:edit]) if any(map(is_change, turn.events))), default=-1)
    yield from _said(talk, edit, asked, until, of, names, written)
    explained = (Quote(found[1], edit + 1, "assistant") for found in _EXPLAINED.finditer(talk.turns[edit].text))
    yield from ((STRONG + 4.0 + of.hits(row.text), row) for row in explained if len(row.text) >= LEAST_SENTENCE)
    for at in range(edit + 1):
        near = 2.0 if at >= asked else 0.0
        for event in talk.turns[at].events:
            if isinstance(event, Plan):
                yield from ((near + cue + of.hits(row.text), row) for row, cue in _sentences(event.text, at, "plan"))
            elif isinstance(event, Question):
                chosen = [f"{question} → {answer}" for question, _, answer in event.asked if answer]
                yield from ((near + STRONG + of.hits(row), Quote(row, at + 1, "question")) for row in chosen)
            elif isinstance(event, Command) and event.failed and written <= at >= asked:
                row = max(event.output.split("\n"), key=of.hits).strip()
                if of.hits(row) >= 2 * LEAST_HITS:
                    shown = f"`{event.words.split(chr(10))[0][:80]}` failed: {row[:MOST_SENTENCE]}"
                    yield 2 * near + of.hits(row), Quote(shown, at + 1, "command")


def _said(
    talk: Conversation, edit: int, asked: int, until: int, of: Sought, names: frozenset[str], written: int
) -> Iterator[tuple[float, Quote]]:
    """What was said that is about the change, stands beside it, or is the first reply to the request, with no other
    change between: the last one before the edit was `written` at a turn. Of what was said behind the edit only the
    last words count: the others are about what came next."""
    said = [at for at in range(until) if _speaker(talk, at)]
    before = [at for at in said if at <= edit]
    answered = max((at for at in said if at < asked and talk.turns[at].role == "assistant"), default=-1)
    first = next((at for at in said if at > asked and talk.turns[at].role == "assistant"), -1)
    for at in (*before, *(last for last in said[-1:] if last > edit)):
        by = _speaker(talk, at)
        since = sum(at < one for one in before)
        if at > edit:
            near = 0.5
        elif at == answered:
            near = 2.0
        elif at < asked or by == "report":
            near = max(-3.0, -0.03 * since)
        elif not since and at >= written and by == "assistant":
            near = AT_THE_EDIT
        else:
            near = max(1.5, 3.0 - 0.1 * since)
        beside_it = near >= AT_THE_EDIT or at == edit
        for quote, cue in _sentences(talk.turns[at].text, at, by, names if at == answered else frozenset()):
            hits = of.hits(quote.text)
            replies = at == first > written and not ANNOUNCES.match(quote.text)
            about = beside_it or replies or of.about(quote.text) or (at == asked and hits >= LEAST_HITS)
            if about and (cue >= WEAK or at <= edit):
                yield near + cue + hits + of.place(quote.text) + 1.5 * (by == "user"), quote


def _sentences(text: str, at: int, by: str, names: frozenset[str] = frozenset()) -> Iterator[tuple[Quote, float]]:
    """The whole sentences of prose in which a word, or the heading, tells a reason, and how much that weighs. An item
    with one of the names is a reason as a finding."""
    explains = False
    for row in rows_of(text):
        if row.startswith("#"):
            explains = _WHY_HEADING.match(row) is not None
            continue
        words = _MARK.sub("", " ".join(row.split()))
        cue = STRONG if explains or _SPARES.search(words) else cue_of(words)
        if not cue and names and _MARK.match(row.strip()):
            cue = WEAK * any(name in words.casefold() for name in names)
        if (
            not (cue or by == "user")
            or not _is_words(words)
            or not LEAST_SENTENCE <= len(words) <= MOST_SENTENCE
            or words.endswith((":", "："))
        ):
            continue
        if words.isascii() and len(words.split()) < LEAST_WORDS // 2:
            continue
        announced = ANNOUNCES.match(words) is not None
        if by != "assistant" or not (words.endswith(("?", "？")) or (announced and cue < STRONG)):
            yield Quote(words, at + 1, by), cue - FAINT * announced


def _is_words(row: str) -> bool:
    return is_prose(row) and not _CODE.search(row)


def _speaker(talk: Conversation, at: int) -> str:
    turn = talk.turns[at]
    if any(isinstance(event, Compaction | Delegation) for event in turn.events):
        return "report"
    return "" if turn.agent or turn.role not in ("user", "assistant") else turn.role


def _short(text: str, of: Sought) -> str:
    """A request; of a long one how it begins and what it says of what is sought, in whole sentences."""
    words = " ".join(text.split())
    if len(words) <= ASKED:
        return words
    lines = (" ".join(row.split()) for row in rows_of(text))
    rows = [row for row in lines if row.startswith("#") or _is_words(row)] or [words]
    told = sorted(range(1, len(rows)), key=lambda at: (-of.hits(rows[at]), at))[:MAX_QUOTES]
    told = sorted(at for at in told if of.hits(rows[at]) >= LEAST_HITS and LEAST_SENTENCE <= len(rows[at]) <= ASKED)
    first = rows[0] if len(rows[0]) <= ASKED // 2 else words[: words.rfind(" ", 0, ASKED // 2)]
    return " … ".join((first, *(rows[at] for at in told))) + " …"
