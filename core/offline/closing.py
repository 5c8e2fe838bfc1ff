"""The closing messages of a session, and the work that they and the commits beside them say was done.

A closing message is the assistant's last one before each word of the user, and at the end. It says *what* was done;
what it says of causes, facts and open work is read in `findings.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from operator import itemgetter

from core.base.markdown import ITEM_CHARACTERS
from core.conversations.conversation import Conversation, Turn
from core.conversations.events import Commit, Edit, PullRequest, Push
from core.offline import cues
from core.offline.prose import Row, begun, by_person, clean, looks_like_code, read_prose, sentences
from core.offline.sessions import TRIVIAL, Closing, Session, failure, is_change, sends_something
from core.offline.statements import Found
from core.offline.substance import (
    BEHAVES,
    BY_TOOL,
    CODE,
    COMMITS,
    CONVENTIONAL,
    LEAST_WORDS,
    SHORT_UNBROKEN,
    alike,
    fits,
    moved,
    of_substance,
    overtaken,
    readable,
    shortened,
    stems,
    title_tells,
    tryout,
    uncommitted,
    with_file,
)

MAX_COMMITS = 6
MAX_DONE = 4
SAME_WORK, SAME_COMMIT = 0.55, 0.9
MAX_PARTS = 5
MAX_ROWS_ASKED = 3
MAX_FILES_LISTED = 4
MAX_FILES_OF_COMMIT = 2


def find_done(session: Session) -> Iterator[Found]:
    """The work that was done, by the commits and the closing messages."""
    yield from _done(session)
    yield from _opened(session)


_BOLD_LINE = re.compile(r"^\*\*([^*\n]{2,60})\*\*[:：]?$")


def rows_of(turn: Turn, number: int) -> list[Row]:
    """The prose of one turn, its rows numbered as in the conversation; a line in bold stands as a heading."""
    rows, _ = read_prose(Conversation("", "", (turn,)))
    read: list[Row] = []
    heading = ""
    for row in rows:
        bold = _BOLD_LINE.match(row.text) if row.kind == "prose" else None
        heading = clean(bold[1]).rstrip(":：") if bold else "" if row.kind == "prose" and row.heading else heading
        above = row.heading or heading
        read.append(Row(row.text, row.low, row.bounds, row.kind, row.role, number, row.mark, above, row.at))
    return read


# --- done ---

_MERGE = re.compile(
    r"^(?:Merge (?:branch|remote|pull request|commit|tag)|Revert \"|wip\b|fixup!|squash!|"
    r"Added new files to the git repo)",
    re.IGNORECASE,
)
_CHECKPOINT = re.compile(r"^checkpoint\b", re.IGNORECASE)
_SMALL = re.compile(r"^(?:style|lint|format)\b[(!:]|^(?:fix|address) (?:lint|typo|format)", re.IGNORECASE)
BRANCH = re.compile(r"(?m)^\[(?P<branch>[^\s\]]+) (?:\(root-commit\) )?[0-9a-f]{7,40}\]")
MAIN = ("main", "master", "develop", "HEAD", "detached", "trunk", "")


def _done(session: Session) -> Iterator[Found]:
    """What was committed, told with the closing message beside it; and what was changed and not committed."""
    made = commits_of(session)
    last = max((turn for turn, _ in made), default=-1)
    used: set[str] = set()
    for turn, commit in made:
        numbers = _beside(session, turn)
        parts = next((said for number in numbers if (said := done_parts(session, number))), [])
        fresh = [text for text, _ in parts if text not in used and _of_commit(session, turn, commit, text)]
        used.update(fresh)
        call = next((row for row in session.commands if row.start == commit.start), None)
        body = message_body(call.words) if call else ""
        line = _line(session, commit)
        statement = f"{BY_TOOL.sub('', commit.subject)} ({_became(session, turn, commit, line)})"
        asked = _asked_before(session, turn, f"{statement} {body}")
        detail = _joined(
            statement, body, *(text for text in fresh if not alike(text, body)), asked if asked not in used else ""
        )
        used.add(asked)
        if not detail:
            spoken = max((at for at, row in enumerate(session.conversation.turns[:turn]) if by_person(row)), default=-1)
            named = _files_of(session, turn, spoken) or _files_of(session, turn)
            if not title_tells(commit.subject, named):
                continue
            unsaid = sorted(name for name in named if name not in statement)[:MAX_FILES_LISTED]
            detail = f"in {', '.join(f'`{name}`' for name in unsaid)}" if unsaid and "(in `" not in statement else ""
        yield Found("tasks_done", {"statement": statement, "detail": detail, "quote": line}, 70, turn)
    found: list[Found] = []
    later = any(turn > last and (is_change(row) or sends_something(row)) for turn, row in session.events)
    for closing in session.closings if later else ():
        if closing.number < last or closing.refuted or not closing.changed:
            continue
        parts = of_substance(session, closing, done_parts(session, closing.number))
        parts = [row for row in parts if not any(row[0].rstrip(".") in text or alike(row[0], text) for text in used)]
        if parts and not session.deleted_after(closing.number, parts[0][0]) and not tryout(session, parts[0][0]):
            (text, quote), *more = parts
            text = with_file(session, closing, text)
            asked = _asked_before(session, closing.number, text)
            detail = _joined(text, *(row[0] for row in more), uncommitted(session), asked)
            found.append(Found("tasks_done", {"statement": text, "detail": detail, "quote": quote}, 50, closing.number))
    found = [
        one
        for at, one in enumerate(found)
        if not any(alike(one.fields["statement"], later.fields["statement"], SAME_WORK) for later in found[at + 1 :])
    ]
    yield from found[-MAX_DONE:]


def _of_commit(session: Session, turn: int, commit: Commit, text: str) -> bool:
    """Whether a sentence tells of this commit: they share a word, or it names a file that was edited before it."""
    if stems(commit.subject) & stems(text):
        return True
    return any(name and name in text for name in _files_of(session, turn))


def _asked_before(session: Session, number: int, work: str) -> str:
    """What the user had asked for in the message that a piece of work answers, in their words, where these share
    words with what is told: it says what the work was for. Nothing of an earlier message: what stood between may have
    asked for the work."""
    turns = session.conversation.turns
    at = next((at for at in range(min(number, len(turns) - 1), -1, -1) if by_person(turns[at])), -1)
    text = _in_own_words(turns[at].text) if at >= 0 else ""
    since = [row for place, row in session.events if at < place <= number]
    if not text or alike(text, work) or _OF_GIT.search(text) or len(stems(text) & stems(work)) < LEAST_STEMS:
        return ""
    same = _SAME.search(text)
    if same:  # as what, an earlier request may say
        before = [said for turn in turns[:at] if by_person(turn) and (said := _in_own_words(turn.text))]
        model = next((said for said in reversed(before) if same["what"] in said and not _SAME.search(said)), "")
        text = f"{text}”, after “{model}" if model else ""
    made = [row for row in since if isinstance(row, Commit)]
    worked = any(is_change(row) or sends_something(row) for row in since)
    return f"asked for: “{text}”" if text and worked and len(made) <= 1 else ""


_SAME = re.compile(r"\bthe same (?P<what>\w{3,})\b(?! (?:as|of|that|for)\b)", re.IGNORECASE)


_OF_GIT = re.compile(r"\bconflicts?\b|^(?:\w+,? ){0,3}(?:commit|push|rebase|merge)\b", re.IGNORECASE)
"""An order to git says nothing of the work."""
LEAST_ASKED, MAX_ASKED_CHARACTERS, LEAST_STEMS = 25, 300, 2


def _in_own_words(text: str) -> str:
    """The first sentences of a message as typed by a user, "" where they say nothing by themselves."""
    if text.startswith(("/", "<", "!", "{", "[")) or cues.BOILERPLATE.search(text) or cues.TEMPLATE.search(text):
        return ""
    said = ""
    for row in rows_of(Turn("user", text), 0)[:MAX_ROWS_ASKED]:
        for part in sentences(row):
            if len(said) + len(part.text) > MAX_ASKED_CHARACTERS:
                return said
            if not (looks_like_code(part.text) or cues.POINTING.match(part.text)):
                said = f"{said} {part.text}".strip()
    return said if len(said) >= (LEAST_ASKED if said.isascii() else SHORT_UNBROKEN) and said[-1] not in ":：" else ""


def _joined(statement: str, *parts: str) -> str:
    """Parts as sentences, as many as fit in one line behind a statement."""
    room = ITEM_CHARACTERS - len(statement) - len(" — ")
    line = ""
    for part in filter(None, parts):
        longer = f"{line.rstrip('.')}{'' if line.endswith('。') else '. '}{part}" if line else part
        line = longer if len(longer) <= room else line
    return line


_VAGUE = re.compile(
    r"^(?:\W*\w+\W+){0,4}(?:this|that|it|them|these|those|both)\b(?! \w+(?:file|page|script))", re.IGNORECASE
)


def request_of(text: str) -> str:
    """What the user asked for in one sentence that says something by itself, or ""."""
    first = cues.first_sentence(text, 200) or (" ".join(text.split()) if len(text) <= 200 else "")
    if not fits(first) or first.startswith(("/", "<", "!", "[")):
        return ""
    # What is wished for good stands by itself.
    gates = (cues.BOILERPLATE, cues.TEMPLATE, _VAGUE, cues.WILL, _OF_GIT)
    if any(gate.search(first) for gate in gates) or cues.POINTING.match(first) or cues.NO_REQUEST.match(first):
        return ""
    if first.endswith(("?", "？")) and not re.match(
        r"(?:please|(?:can|could|would|will) (?:you|we)) ", first, re.IGNORECASE
    ):
        return ""
    return clean(first).rstrip(".:。：")


def commits_of(session: Session) -> list[tuple[int, Commit]]:
    """The commits that stand at the end: an amended one once, no merges, small ones only where no others are."""
    made = [
        (turn, row)
        for turn, row in session.events
        if isinstance(row, Commit) and row.subject and _went(session, turn, row)
    ]
    undone = {row.subject for _, row in made if row.subject.startswith('Revert "')}
    last = {
        row.subject: (turn, row)
        for turn, row in made
        if not (_MERGE.match(row.subject) or (_CHECKPOINT.match(row.subject) and not _says_more(session, row)))
        and not TRIVIAL.match(BY_TOOL.sub("", row.subject))
        and not tryout(session, row.subject)
        and f'Revert "{row.subject}"' not in undone
    }
    for subject in overtaken(session, made):
        last.pop(subject, None)
    subjects = list(last)
    for at, subject in enumerate(subjects):
        if any(alike(subject, later, SAME_COMMIT) or _replaced(subject, later) for later in subjects[at + 1 :]):
            del last[subject]  # a second try at the same
    for subject, (turn, row) in list(last.items()):
        sent = row.hash or any(at >= turn and isinstance(row, Push | PullRequest) for at, row in session.events)
        title = BY_TOOL.sub("", subject)
        if not (sent or cues.ANCHOR.search(title) or CONVENTIONAL.match(title)) or _gone(session, turn, subject):
            del last[subject]  # nobody could tell later where that is
    large = [found for subject, found in last.items() if not _SMALL.match(subject)]
    return (large or list(last.values()))[-MAX_COMMITS:]


_REPLACES = re.compile(
    r"^(?:\w+:\s*)?(?:replaced?|removed?|revert(?:ed)?|undo|dropp?e?d?|switch(?:ed)?)\b", re.IGNORECASE
)


def _replaced(first: str, later: str) -> bool:
    """Whether a later subject takes away what an earlier one names."""
    names = {name.strip("`").casefold() for name in cues.ANCHOR.findall(first) if "`" in name}
    taken = re.split(r"\b(?:with|by|from|in)\b", later, maxsplit=1)[0].casefold() if _REPLACES.match(later) else ""
    return any(f"`{name}`" in taken for name in names)


def _gone(session: Session, turn: int, subject: str) -> bool:
    """Whether what a commit names, or every file that was written for it, was taken away again."""
    if session.deleted_after(turn, subject):
        return True
    names = _files_of(session, turn)
    return bool(names) and all(session.deleted_after(turn, f"`{name}`") for name in names)


def _says_more(session: Session, commit: Commit) -> bool:
    """Whether a commit's message has a body: what a tool saves by itself has none."""
    return any(row.start == commit.start and message_body(row.words) for row in session.commands)


def _files_of(session: Session, turn: int, first: int = -1) -> set[str]:
    """The names of the files that were edited between the commit before a turn (or a later turn, `first`) and the one
    in it."""
    since = max((at for at, row in session.events if isinstance(row, Commit) and at < turn), default=-1)
    since = max(since, first)
    edits = [row for at, row in session.events if isinstance(row, Edit) and since <= at <= turn and row.path]
    return {name for row in edits for name in row.names}


def _went(session: Session, turn: int, commit: Commit) -> bool:
    """Whether a commit was made: its output says so, or says nothing (`-q`). Where the file tells no results, a push or
    a closing message that goes on from it says so."""
    if commit.succeeded is not None:
        return commit.succeeded
    call = next((row for row in session.commands if row.start == commit.start), None)
    if call is None or not session.paired:
        reported = any(row.number >= turn and _COMMITTED.search(row.turn.text) for row in session.closings)
        return call is not None and (
            reported or any(at >= turn and isinstance(row, Push) for at, row in session.events)
        )
    return call.answered and not call.failed and not call.refused and not cues.ERROR.search(call.output)


_COMMITTED = re.compile(r"\bcommitt?ed\b|已提交|コミットしました|커밋했", re.IGNORECASE)


def _became(session: Session, at: int, commit: Commit, line: str) -> str:
    """Which commit it is, on which branch, and how far it went within the session."""
    edits = [row for turn, row in session.events if turn == at and isinstance(row, Edit) and row.path]
    names = list(dict.fromkeys(name for row in edits for name in row.names))
    unnamed = 0 < len(names) <= MAX_FILES_OF_COMMIT and not any(name in commit.subject for name in names)
    parts = [f"in {', '.join(f'`{name}`' for name in names)}"] if unnamed else []
    parts.append(f"commit {commit.hash[:8]}" if commit.hash else "committed")
    on = BRANCH.match(line)
    if on and on["branch"] not in MAIN:
        parts.append(f"branch {on['branch']}")
    later = [row for turn, row in session.events if turn >= at]
    link = next((row.url for row in later if isinstance(row, PullRequest) and row.url), "")
    pushes = [row for row in later if isinstance(row, Push)]
    ordered = any(COMMITS.search(row.words) for row in session.commands)  # and not made by a tool behind each edit
    if link:
        parts.append(link)
    elif any(row.succeeded and moved(session, row, commit, on["branch"] if on else "") for row in pushes):
        parts.append("pushed")
    elif not pushes and session.paired and not (on and on["branch"] not in MAIN) and ordered:
        parts.append("not pushed in the session")  # of another branch `_unpushed` tells it
    return ", ".join(parts)


_MESSAGES = re.compile(
    r"""\s(?:-[a-zA-Z]*m|--message|--body|-b)[= ]\s*"""
    r"""(?:"\$\(cat <<-?\s*['"]?(?P<end>\w+)['"]?\s*\n(?P<here>.*?)\n\s*(?P=end)"""
    r"""|"(?P<double>(?:[^"\\]|\\.)*)"|'(?P<single>[^']*)')""",
    re.DOTALL,
)
_TRAILER = re.compile(
    r"^(?:[A-Z][A-Za-z]+(?:-[A-Za-z]+)+: |🤖|Generated with|Co-authored|(?:Tests?|Refs?|Closes|Fixes|Issue)(?:: | #))",
    re.IGNORECASE,
)
_ITEM = re.compile(r"^\s*[-*+•]\s+(?:\[(?P<mark>[ xX])\]\s+)?")
LONGEST_BODY = 400


def message_body(words: str) -> str:
    """What a commit's message says below its first line, in one line: whoever wrote it meant it for later readers.
    Items of a list are set apart by semicolons; trailers go."""
    return _in_one_line(_bodies(words).strip().split("\n")[1:])


def _bodies(words: str) -> str:
    return "\n\n".join(found["here"] or found["double"] or found["single"] or "" for found in _MESSAGES.finditer(words))


def _first_part(text: str) -> list[str]:
    """The lines below the first heading of a description, or those above it."""
    parts = re.split(r"^#{1,4} .*$", text, flags=re.MULTILINE)
    return next((part for part in parts if part.strip()), "").split("\n")


def _in_one_line(rows: Sequence[str]) -> str:
    """Lines of a message as one: whole paragraphs, and a list with all of its items, as far as they fit."""
    parts: list[tuple[bool, str]] = []
    open_item = False
    for row in rows:
        line = row.strip()
        if not line or _TRAILER.match(line) or line.startswith(("#", "```", "|", "<")):
            open_item = False
            continue
        item = _ITEM.match(line) is not None
        text = clean(_ITEM.sub("", line))
        if open_item and not item:
            parts[-1] = parts[-1][0], f"{parts[-1][1]} {text}"
        else:
            parts.append((item, text))
        open_item = True
    joined = ""
    for item, group in groupby(parts, key=itemgetter(0)):
        text = ("; " if item else " ").join(text for _, text in group)
        longer = f"{joined} {text}".strip()
        if len(longer) > LONGEST_BODY:
            first = "" if joined else text.split("; ")[0] if item else text
            return f"{joined} {shortened(first or ('' if item else text), LONGEST_BODY - len(joined))}".strip()
        joined = longer
    return joined.rstrip(":")


def _opened(session: Session) -> Iterator[Found]:
    """Pull requests that were opened: what they are for, and which of the checks that they list nobody ticked off; and
    issues that were opened and not closed again."""
    made = [event for _, event in session.events if isinstance(event, Commit)]
    for row in session.commands:
        creates = _CREATES.search(row.words)
        if not creates or row.failed or row.refused or not row.answered:
            continue
        turn = next(number for number, event in session.events if event is row)
        url, title = _URL.search(row.output), _TITLE.search(row.words)
        if not url or not title:
            continue
        name = clean(title["double"] or title["single"] or "")
        body = _bodies(row.words)
        purpose = _in_one_line(_first_part(body))
        if creates["what"] == "issue":
            if not any("issue close" in later.words and url["number"] in later.words for later in session.commands):
                fields = {"statement": f"{name} ({url[0]})", "detail": purpose, "quote": ""}
                yield Found("tasks_open", fields, 67, turn)
            continue
        commit = next((event for event in made if _equal(event.subject, name)), None)
        if commit is not None:
            call = next((event for event in session.commands if event.start == commit.start), None)
            said = f"{name} {message_body(call.words) if call else ''}"
            yield from _since(said, url[0], _first_part(body), turn)
        else:
            fields = {"statement": f"{name} ({url[0]})", "detail": purpose, "quote": ""}
            yield Found("tasks_done", fields, 69, turn)
        unticked = [
            clean(_ITEM.sub("", line))
            for line in body.split("\n")
            if (found := _ITEM.match(line)) and found["mark"] == " "
        ]
        unticked = [text for text in unticked if not text.lower().startswith("no ") and not _ran(session, text)]
        if 0 < len(unticked) <= MAX_UNTICKED:
            text = f"Of the checks of “{name}” ({url[0]}) these are not ticked off: {'; '.join(unticked)}"
            yield Found("tasks_open", {"statement": text, "detail": "", "quote": ""}, 63, turn)


def _ran(session: Session, text: str) -> bool:
    """Whether the command that a box names was run in the session and passed, in whatever folder."""
    named = [" ".join(part.strip("`").split()) for part in CODE.findall(text) if " " in part]
    passed = [row.words for row in session.commands if row.answered and not (row.failed or failure(row))]
    lines = [" ".join(part.split()) for words in passed for part in re.split(r"&&|;|\n", words)]
    return any(line.startswith(command) for command in named for line in lines)


_CREATES = re.compile(r"\b(?:gh|glab) (?P<what>pr|mr|issue) create\b")
_TITLE = re.compile(r"""\s(?:--title|-t)[= ]\s*(?:"(?P<double>(?:[^"\\]|\\.)*)"|'(?P<single>[^']*)')""")
_URL = re.compile(r"https://[\w.-]+/[\w./-]+/(?:pull|issues|merge_requests)/(?P<number>\d+)")
MAX_UNTICKED = 4


def _since(said: str, url: str, rows: Sequence[str], turn: int) -> Iterator[Found]:
    """How things are since a pull request: the items of its description that name something and say how it is now."""
    items = [clean(_ITEM.sub("", row)) for row in rows if _ITEM.match(row)]
    items = [text for text in items if _IS_SO.search(text) and readable(text) and not cues.HEDGE.search(text)]
    for text in [text for text in items if not alike(text, said, SAME_WORK)][:MAX_SINCE]:
        yield Found("facts", {"statement": begun(text), "detail": f"since {url}", "quote": ""}, 62, turn)


_IS_SO = re.compile(
    r"^(?!(?:add|fix|write|rename|update|remove|create|implement|refactor|move|align|make|use|replace|bump|introduce|"
    r"extract|delete|document)\w*\b).*\b(?:no longer|now|always|never|instead of|must)\b",
    re.IGNORECASE,
)
MAX_SINCE = 2


def _equal(one: str, other: str) -> bool:
    return bool(one) and (one.casefold() == other.casefold() or alike(one, other))


def _line(session: Session, commit: Commit) -> str:
    """The line that tells of a commit as it stands in a turn of the tool, or "" where none does."""
    for turn in session.conversation.turns:
        if turn.role == "tool" and commit.hash and commit.hash in turn.text:
            return next((row.strip() for row in turn.text.split("\n") if commit.hash in row), "")
    return ""


def _beside(session: Session, turn: int) -> list[int]:
    """The closing messages that tell of a commit: the one that followed it, and the one that went before."""
    before = [row.number for row in session.closings if row.number < turn and row.changed and not row.refuted][-1:]
    after = [row.number for row in session.closings if row.number >= turn][:1]
    return after + before


_SUBJECT = re.compile(
    r"^(?:(?:I(?:'ve| have)?|we(?:'ve| have)?)\s+(?:also |now |successfully )?|he (?=\w+[ai]d[oa]s?\b)|j'ai )",
    re.IGNORECASE,
)
_EMPTY = re.compile(
    r"^(?:\(\d+\) |(?:done|fixed properly|all (?:good|done|set|clean|tests? pass\w*)|perfect|great|complete|fix|fixed|"
    r"solution|result|summary|changes?|修复|结果)\b(?:\s*\([^)]{1,30}\))?\s*[.!:：—–-]+\s*)+",
    re.IGNORECASE,
)
LABEL = re.compile(r"^`?(?P<path>[\w./\\@-]*\w\.\w{1,6})(?::[\d-]+)?`?\s*(?:\([^)]{1,40}\)\s*)?[:：—–-]+\s+")
FILE_LINE = re.compile(r"^(?:\d+\. )?`?(?P<path>[\w./\\@-]*\w\.\w{1,6}(?::[\d-]+)?)`?:?$")


# What a list or a block of code went on with, and the steps of a plan that only the session knows by their numbers.
_CUT = re.compile(
    r"\b(?:uses?|using|to|with|by|covering|includes?|including|now|as|of|for|in|on|so|that|from|are|is|and|the|a)$",
    re.IGNORECASE,
)
_LEADS_IN = re.compile(r"\b(?:the following|as follows|listed below)\b", re.IGNORECASE)
_NUMBERED = re.compile(r"^(?:chunk|task|step|phase|part|item|point|stage|option) #?[\dA-Z]+\b", re.IGNORECASE)


# What is so from now on: "`status` now shows …", below a heading that says it was done also without the "now".
_NOW = re.compile(
    r"^(?!.{0,60}\b(?:pass|clean|green|ready|running|should|will)\b)(?:the |all |both )?[^.,;:]{0,60}"
    r"(?:`[^`]+`|[A-Z]\w*[a-z_]\w*)[^.,;:]{0,60}\bnow (?:also |only |always |automatically )?"
    r"(?!runn?ing|pass|have\b|has\b|clarif|document|mention|explain|say|"
    r"captur|reflect|cover|describ|contain|match)(?:\w+s|use|are|no longer|\w+ed)\b"
)
_DONE_HEADING = re.compile(
    r"^(?:what (?:changed|was done|i (?:did|changed)|is new)|implemented|done|completed|changes?(?: made)?|key changes|"
    r"behaviou?r(?: changes?)?|umgesetzt|erledigt|fait|réalisé|hecho|cambios|已实现|已完成(?:变更)?|实现|変更点|実装|"
    r"구현)[:：]?$",
    re.IGNORECASE,
)
_PRESENT = re.compile(r"^(?:the )?`[^`]+`\s+(?!\()(?:\w+s\b|is\b|are\b|[^\x00-\x7f])")


_TITLED = re.compile(r"^(?P<name>[A-Z\d][^:`.!?]{1,40}): (?=[A-Z])")
_COUNTS = re.compile(
    r"(?:fix|changes?|change \d+|update|result|what|solution|step \d+|conflict \d+|\w+ fix)$", re.IGNORECASE
)
"""A title that says nothing of what stands behind it."""


def done_parts(session: Session, number: int) -> list[tuple[str, str]]:
    """The sentences of a closing message that say what was done, with their quotes: prose before items of lists."""
    prose: list[tuple[str, str]] = []
    listed: list[tuple[str, str]] = []
    beside: list[tuple[str, str]] = []  # how things are now: worth something only behind what was done
    where = ""
    for row in session.rows[number][:16]:
        named = FILE_LINE.match(clean(row.text)) or FILE_LINE.match(row.heading)
        where = named["path"] if named else where if row.kind == "bullet" else ""
        if cues.LEFT_HEADING.match(row.heading) or row.mark == " ":
            continue
        for sentence in sentences(row):
            text = _EMPTY.sub("", sentence.text).strip()
            label = LABEL.match(text)
            if label:
                where, text = label["path"], text[label.end() :]
            title = _TITLED.match(text)
            if title and cues.DONE.match(text[title.end() :]):
                text = text[title.end() :] if _COUNTS.match(title["name"]) else text
                titled = True
            else:
                titled = False
            fix = cues.FIX_WAS.match(text)
            is_listed = row.kind == "bullet" and _DONE_HEADING.match(row.heading) and _PRESENT.match(text)
            is_so = row.kind == "bullet" and BEHAVES.match(text) and not cues.REVIEW_HEADING.search(row.heading)
            done = titled or cues.DONE.match(text) or cues.IS_DONE.match(text) or _NOW.match(text)
            if not (done or fix or is_listed or is_so):
                continue
            text = (f"Fix: {fix['rest']}" if fix else begun(_SUBJECT.sub("", text))).rstrip(":： ")
            text = re.sub(r",? (?:with|as follows|by)$", "", text)
            if _CUT.search(text) or _NUMBERED.match(text) or _LEADS_IN.search(text):
                continue
            if where and where not in text and (label or "`" not in text) and len(text) < 200:
                text = f"{text.rstrip('.')} (in `{where}`)"
            guessed = cues.HEDGE.search(text) and not done
            if guessed or not readable(text) or cues.LEFT.search(text) or TRIVIAL.match(text):
                continue
            if text.isascii() and len(text.split()) < LEAST_WORDS - 2:
                continue
            first = (row.kind == "prose" or bool(is_listed)) and not cues.IS_DONE.match(text)
            into = (prose if first else listed) if done or fix or is_listed else beside
            into.append((text, sentence.quote))
    return [*prose, *listed, *(beside if prose or listed else ())][:MAX_PARTS]


# --- which closing messages there are ---


def read_session(conversation: Conversation) -> Session:
    """The session with its closing messages: which of them were refuted, and which were overtaken by later work."""
    if not any(turn.role == "assistant" and not turn.agent for turn in conversation.turns):
        # The file of a sub-agent alone: here it is the one that speaks.
        conversation = replace(conversation, turns=tuple(replace(turn, agent="") for turn in conversation.turns))
    turns = conversation.turns
    numbers: list[tuple[int, int]] = []  # a closing message and the turn of the user behind it
    last = -1
    for number, turn in enumerate(turns):
        if turn.agent:
            continue
        if turn.role == "user" and last >= 0:
            numbers.append((last, number))
            last = -1
        elif turn.role == "assistant" and turn.text.strip():
            last = number
    if last >= 0:
        numbers.append((last, -1))
    events = [(number, event) for number, turn in enumerate(turns) if not turn.agent for event in turn.events]
    edits = [number for number, event in events if is_change(event)]
    others = [number for number, event in events if isinstance(event, Commit) or sends_something(event)]
    closings = []
    before = -1
    for number, answer in numbers:
        refuted = answer >= 0 and cues.CORRECTION.match(turns[answer].text.strip()) is not None
        end = answer if answer >= 0 else len(turns)
        changed = any(before < at < end for at in (*edits, *others))
        overtaken = any(at >= end for at in edits)
        closings.append(Closing(number, turns[number], answer < 0, before, changed, refuted, overtaken))
        before = number
    rows = {closing.number: rows_of(closing.turn, closing.number) for closing in closings}
    return Session(conversation, tuple(events), tuple(closings), rows)
