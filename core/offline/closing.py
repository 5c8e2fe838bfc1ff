"""What the closing messages of a session leave: work that is done and work that is not, findings of a review, facts.

A closing message is the assistant's last one before each word of the person, and at the end. It says *what* was done
and what is left; its *why* is often wrong, so a fact is taken only when it is strictly worded and the things it names
stand in what a tool gave back. What a later word of the person refuted, or later work overtook, is not taken at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from core.conversations.conversation import Conversation, Turn
from core.conversations.events import Commit, Edit, PullRequest, Push, Question
from core.offline import cues
from core.offline.prose import Row, begun, clean, looks_like_code, read_prose, sentences, whole
from core.offline.sessions import Closing, Session, is_change, sends_something
from core.offline.statements import Found

MOST_COMMITS = 3
MOST_DONE = 3
MOST_TOLD = 3
MOST_FILES = 4
MOST_FACTS = 2
MOST_LEFT = 3
MOST_FINDINGS = 4
SHORT, LONG = 30, 300
LEAST_WORDS = 7
SHORT_UNBROKEN = 12
"""A sentence of Chinese, Japanese or Korean says in so many characters what takes `SHORT` in others."""


def find_closing(session: Session) -> Iterator[Found]:
    """Everything that the closing messages and the commits beside them leave."""
    rows = {closing.number: rows_of(closing.turn, closing.number) for closing in session.closings}
    causes: set[str] = set()
    yield from _done(session, rows, causes)
    if session.closings and not session.of_others:
        findings = list(_findings(session, rows))
        grave = [found for low, found in findings if not low]
        yield from (grave if len(findings) > MOST_LEFT else [found for _, found in findings])[:MOST_FINDINGS]
        if not findings:
            yield from _newest(list(_left(session, rows)), MOST_LEFT)
    facts = (found for found in _facts(session, rows) if found.fields["statement"].rstrip(".") not in causes)
    yield from _newest(list(facts), MOST_FACTS)


_BOLD_LINE = re.compile(r"^\*\*([^*\n]{2,60})\*\*[:：]?$")


def rows_of(turn: Turn, number: int) -> list[Row]:
    """The prose of one turn, its rows numbered as in the conversation; a line in bold stands as a heading."""
    rows, _ = read_prose(Conversation("", "", (turn,)))
    told: list[Row] = []
    heading = ""
    for row in rows:
        bold = _BOLD_LINE.match(row.text) if row.kind == "prose" else None
        heading = clean(bold[1]).rstrip(":：") if bold else "" if row.kind == "prose" and row.heading else heading
        told.append(replace(row, turn=number, heading=heading if heading and not row.heading else row.heading))
    return told


def fits(text: str) -> bool:
    """Whether a sentence is long enough to say something and short enough for a line."""
    return (SHORT if text.isascii() or len(text) == len(text.encode()) else SHORT_UNBROKEN) <= len(text) <= LONG


def _newest(found: list[Found], most: int) -> list[Found]:
    ranked = sorted(found, key=lambda row: (row.score, row.turn), reverse=True)
    return sorted(ranked[:most], key=lambda row: row.turn)


_CODE = re.compile(r"`[^`\n]*`")


def _readable(text: str) -> bool:
    """Whether a sentence reads as a statement of its own: whole, about something named, neither offer nor template."""
    return (
        fits(text)
        and not cues.MONOLOGUE.match(text)
        and not cues.DANGLING.match(text)
        and not cues.OFFER.search(text)
        and not cues.TEMPLATE.search(_CODE.sub("", text))
        and not looks_like_code(text)
        and not text.endswith(("?", ":", "…", "：", "？"))
        and not (text[:1].islower() and re.match(r"[a-z]+ ", text))
        and whole_quotes(text)
        and cues.ANCHOR.search(text) is not None
    )


def whole_quotes(text: str) -> bool:
    """Whether brackets and quotation marks that open in a text also close in it."""
    pairs = (("(", ")"), ("“", "”"), ("[", "]"))
    return (
        text.count('"') % 2 == 0 and text.count("`") % 2 == 0 and all(text.count(a) == text.count(b) for a, b in pairs)
    )


# --- done ---

_MERGE = re.compile(
    r"^(?:Merge (?:branch|remote|pull request|commit|tag)|Revert \"|wip\b|fixup!|squash!|checkpoint|"
    r"Added new files to the git repo)",
    re.IGNORECASE,
)
_SMALL = re.compile(
    r"^(?:style|chore|docs|test|ci|build|lint|format)\b[(!:]|^(?:fix|address) (?:lint|typo|format)", re.I
)
_CONVENTIONAL = re.compile(r"[a-z]{2,10}(?:\([^)]*\))?!?: ")
_BY_TOOL = re.compile(r"^aider:\s+", re.IGNORECASE)
_BRANCH = re.compile(r"^\[(?P<branch>[^\s\]]+) (?:\(root-commit\) )?[0-9a-f]{7,40}\]")
_MAIN = ("main", "master", "develop", "HEAD", "detached", "trunk", "")


def _done(session: Session, rows: dict[int, list[Row]], causes: set[str]) -> Iterator[Found]:
    """What was committed, told with the closing message beside it; and what was changed and not committed. The causes
    that stand with it are put into `causes`."""
    made = _commits(session)
    last = max((turn for turn, _ in made), default=-1)
    used: set[str] = set()
    for turn, commit in made:
        numbers = _beside(session, turn)
        told = next((said for number in numbers if (said := told_done(rows[number]))), [])
        fresh = [text for text, _ in told if text not in used]
        cause = "" if used else _cause_of(session, rows, *numbers)
        used.update(fresh)
        causes.add(begun(cause))
        line = _line(session, commit)
        statement = f"{_BY_TOOL.sub('', commit.subject)} ({_became(session, turn, commit, line)})"
        yield Found("tasks_done", {"statement": statement, "detail": _joined(*fresh, cause), "quote": line}, 70, turn)
    found = []
    later = any(turn > last and (is_change(row) or sends_something(row)) for turn, row in session.events)
    for closing in session.closings if later else ():
        if closing.number < last or closing.refuted or not closing.changed:
            continue
        told = [row for row in told_done(rows[closing.number]) if not any(_alike(row[0], text) for text in used)]
        if told and not session.deleted_after(closing.number, told[0][0]):
            (text, quote), *more = told
            cause = _cause_of(session, rows, closing.number, closing.before)
            causes.add(begun(cause))
            detail = _joined(*(row[0] for row in more), cause, _uncommitted(session))
            found.append(Found("tasks_done", {"statement": text, "detail": detail, "quote": quote}, 50, closing.number))
    if not made and not found:
        found = list(_worked_on(session))
    yield from found[-MOST_DONE:]


def _joined(*parts: str) -> str:
    return ". ".join(part.rstrip(".") for part in parts if part)


def _worked_on(session: Session) -> Iterator[Found]:
    """A piece of work whose closing message does not say it: what the person asked for, and the files it changed."""
    closing = session.closings[-1] if session.closings else None
    edits = [
        (turn, row)
        for turn, row in session.events
        if isinstance(row, Edit) and row.path and not row.refused and not row.failed and row.how != "deleted"
    ]
    if closing is None or closing.refuted or not edits or not session.paired:
        return
    asked = [turn for turn in session.conversation.turns[: edits[0][0] + 1] if turn.role == "user" and not turn.agent]
    answers = [answer for _, row in session.events if isinstance(row, Question) for *_, answer in row.asked if answer]
    asked = [turn for turn in asked if not any(answer[:20] in turn.text for answer in answers)]
    wanted = _request(asked[-1].text) or _request(asked[0].text) if asked else ""
    names = list(dict.fromkeys(re.split(r"[\\/]", row.path)[-1] for _, row in edits))
    if not wanted or session.deleted_after(edits[-1][0], " ".join(f"`{name}`" for name in names)):
        return
    shown = ", ".join(f"`{name}`" for name in names[:MOST_FILES])
    more = f" and {len(names) - MOST_FILES} more" if len(names) > MOST_FILES else ""
    fields = {"statement": f"Worked on “{wanted}”: changed {shown}{more}", "detail": _uncommitted(session), "quote": ""}
    yield Found("tasks_done", fields, 45, edits[-1][0])


_VAGUE = re.compile(
    r"^(?:\W*\w+\W+){0,4}(?:this|that|it|them|these|those|both)\b(?! \w+(?:file|page|script))", re.IGNORECASE
)


def _request(text: str) -> str:
    """What the person asked for in one sentence that says something by itself, or ""."""
    first = cues.first_sentence(text, 200) or (" ".join(text.split()) if len(text) <= 200 else "")
    if not fits(first) or first.startswith(("/", "<", "!")) or cues.BOILERPLATE.search(first):
        return ""
    if cues.TEMPLATE.search(first) or cues.POINTING.match(first) or cues.NO_REQUEST.match(first):
        return ""
    if _VAGUE.search(first) or cues.WILL.search(first):  # what is wished for good stands by itself
        return ""
    if first.endswith(("?", "？")) and not re.match(
        r"(?:please|(?:can|could|would|will) (?:you|we)) ", first, re.IGNORECASE
    ):
        return ""
    if re.search(r"\bconflicts?\b|^(?:\w+ ){0,2}(?:commit|push|rebase|merge)\b", first, re.IGNORECASE):
        return ""
    return clean(first).rstrip(".:。：")


def _commits(session: Session) -> list[tuple[int, Commit]]:
    """The commits that stand at the end: an amended one once, no merges, small ones only where no others are."""
    made = [
        (turn, row) for turn, row in session.events if isinstance(row, Commit) and row.subject and _went(session, row)
    ]
    undone = {row.subject for _, row in made if row.subject.startswith('Revert "')}
    last = {
        row.subject: (turn, row)
        for turn, row in made
        if not _MERGE.match(row.subject) and f'Revert "{row.subject}"' not in undone
    }
    subjects = list(last)
    for at, subject in enumerate(subjects):
        if any(_alike(subject, later) for later in subjects[at + 1 :]):
            del last[subject]  # a second try at the same
    for subject, (turn, _) in list(last.items()):
        sent = any(at >= turn and isinstance(row, Push | PullRequest) for at, row in session.events)
        told = _BY_TOOL.sub("", subject)
        if not (sent or cues.ANCHOR.search(told) or _CONVENTIONAL.match(told)) or session.deleted_after(turn, subject):
            del last[subject]  # nobody could tell later where that is
    large = [found for subject, found in last.items() if not _SMALL.match(subject)]
    asked = sum(turn.role == "user" and not turn.agent for turn in session.conversation.turns)
    return (large or list(last.values()))[-min(2 * MOST_COMMITS, max(MOST_COMMITS, asked // 5)) :]


def _alike(one: str, other: str) -> bool:
    """Whether two texts of work tell mostly the same."""
    first, second = (set(re.findall(r"[\w./-]{3,}", text.casefold())) for text in (one, other))
    return len(first & second) >= 0.7 * max(1, min(len(first), len(second))) and len(first & second) >= 4


def _went(session: Session, commit: Commit) -> bool:
    """Whether a commit was made: its output says so, or says nothing (`-q`)."""
    if commit.succeeded is not None:
        return commit.succeeded
    call = next((row for row in session.commands if row.start == commit.start), None)
    if call is None or not session.paired:
        return False
    return call.answered and not call.failed and not call.refused and not cues.ERROR.search(call.output)


def _became(session: Session, at: int, commit: Commit, line: str) -> str:
    """Which commit it is, on which branch, and how far it went within the session."""
    parts = [f"commit {commit.hash[:8]}"] if commit.hash else ["committed"]
    on = _BRANCH.match(line)
    if on and on["branch"] not in _MAIN:
        parts.append(f"branch {on['branch']}")
    later = [row for turn, row in session.events if turn >= at]
    link = next((row.url for row in later if isinstance(row, PullRequest) and row.url), "")
    pushes = [row for row in later if isinstance(row, Push)]
    if link:
        parts.append(link)
    elif any(row.succeeded for row in pushes):
        parts.append("pushed")
    elif not pushes and session.paired and any("git commit" in row.words for row in session.commands):
        parts.append("not pushed in the session")
    return ", ".join(parts)


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


def _uncommitted(session: Session) -> str:
    uses_git = any("git " in row.words for row in session.commands) or bool(session.conversation.branch)
    commits = any(isinstance(row, Commit) for _, row in session.events)
    return "not committed when the session ended" if uses_git and session.paired and not commits else ""


_SUBJECT = re.compile(
    r"^(?:(?:I(?:'ve| have)?|we(?:'ve| have)?)\s+(?:also |now |successfully )?|he (?=\w+[ai]d[oa]s?\b)|j'ai )",
    re.IGNORECASE,
)
_EMPTY = re.compile(
    r"^(?:(?:done|all (?:good|done|set|clean|tests? pass\w*)|perfect|great|complete|fix|fixed|solution|result|summary|"
    r"changes?|修复|结果)\b(?:\s*\([^)]{1,30}\))?\s*[.!:：—–-]+\s*)+",
    re.IGNORECASE,
)
_LABEL = re.compile(r"^`?(?P<path>[\w./\\@-]*\w\.\w{1,6})(?::[\d-]+)?`?\s*(?:\([^)]{1,40}\)\s*)?[:：—–-]+\s+")
_FILE = re.compile(r"^(?:\d+\. )?`?(?P<path>[\w./\\@-]*\w\.\w{1,6}(?::[\d-]+)?)`?:?$")


# What a list or a block of code went on with, and the steps of a plan that only the session knows by their numbers.
_CUT = re.compile(
    r"\b(?:uses?|using|to|with|by|covering|includes?|including|now|as|of|for|in|on|so|that|from|are|is|and|the|a)$",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"^(?:chunk|task|step|phase|part|item|point|stage|option) #?[\dA-Z]+\b", re.IGNORECASE)


def told_done(rows: Sequence[Row]) -> list[tuple[str, str]]:
    """The sentences of a closing message that say what was done, with their quotes: prose before items of lists."""
    prose: list[tuple[str, str]] = []
    listed: list[tuple[str, str]] = []
    where = ""
    for row in rows[:16]:
        named = _FILE.match(clean(row.text)) or _FILE.match(row.heading)
        where = named["path"] if named else where if row.kind == "bullet" else ""
        if cues.LEFT_HEADING.match(row.heading) or row.mark == " ":
            continue
        for sentence in sentences(row):
            text = _EMPTY.sub("", sentence.text).strip()
            label = _LABEL.match(text)
            if label:
                where, text = label["path"], text[label.end() :]
            fix = cues.FIX_WAS.match(text)
            if not (cues.DONE.match(text) or cues.IS_DONE.match(text) or fix):
                continue
            text = (f"Fix: {fix['rest']}" if fix else begun(_SUBJECT.sub("", text))).rstrip(":： ")
            text = re.sub(r",? (?:with|as follows|by)$", "", text)
            if _CUT.search(text) or _NUMBERED.match(text):
                continue
            if where and where not in text and (label or "`" not in text) and len(text) < 200:
                text = f"{text.rstrip('.')} (in `{where}`)"
            if cues.HEDGE.search(text) or not _readable(text) or cues.LEFT.search(text):
                continue
            if text.isascii() and len(text.split()) < LEAST_WORDS - 2:
                continue
            first = row.kind == "prose" and not cues.IS_DONE.match(text)
            (prose if first else listed).append((text, sentence.quote))
    return [*prose, *listed][:MOST_TOLD]


def _cause_of(session: Session, rows: dict[int, list[Row]], *numbers: int) -> str:
    """Why it was to be done, out of these closing messages, when outputs bear it out."""
    for number in numbers:
        for row in rows.get(number, ()):
            for sentence in sentences(row):
                text = _LINES.sub("", sentence.text)
                if cues.CAUSE.search(text) and _is_fact(session, text):
                    return text.rstrip(".")
    return ""


# --- facts ---


def _facts(session: Session, rows: dict[int, list[Row]]) -> Iterator[Found]:
    """Sentences that say how something works or what causes what: of what was not changed afterwards."""
    for closing in session.closings:
        if closing.refuted or session.of_others:
            continue
        for row in rows[closing.number]:
            if row.kind == "check" or cues.REVIEW_HEADING.search(row.heading) or cues.LEFT_HEADING.match(row.heading):
                continue
            if cues.SEVERE.match(row.text):
                break  # a review: what follows is about lines of code
            for sentence in sentences(row):
                text = _LINES.sub("", sentence.text)
                cause, rule = bool(cues.CAUSE.search(text)), bool(cues.RULE.search(text))
                if not (cause or rule) or not _is_fact(session, text):
                    continue
                mended = cause and (closing.overtaken or closing.changed)
                if closing.overtaken and not mended and session.named_later(closing.number, text):
                    continue
                if _OF_FILE.match(text):
                    continue  # what one file is for stands in the file
                score = 40 + 10 * cause + 5 * closing.at_end + 5 * ("`" in sentence.quote)
                detail = "of what was mended in the session" if mended else ""
                fields = {"statement": begun(text), "detail": detail, "quote": sentence.quote}
                yield Found("facts", fields, score, closing.number)


_LINES = re.compile(r"(?<=\w):\d+(?:-\d+)?(?:, ?:?\d+(?:-\d+)?)*")
_POINTS = re.compile(r"\b(?:these|those|this|above|below|such|here)\b", re.IGNORECASE)
_SNIPPET = re.compile(r"^`[^`]*[\s<>=?:{][^`]*`")
_OF_FILE = re.compile(r"^`[^`]+`\s*[:：(]")
_PAST = re.compile(rf"(?:{cues.DONE.pattern})|^\W*[A-Z][a-z]+ed\b", re.IGNORECASE)
_PERSONS = re.compile(r"\b(?:I|I've|I'd|I'm|we|we've|you|your|my|our|us)\b", re.IGNORECASE)


def _is_fact(session: Session, text: str) -> bool:
    return (
        _readable(text)
        and (len(text.split()) >= LEAST_WORDS or not text.isascii())
        and not cues.HEDGE.search(text)
        and not cues.LEFT.search(text)
        and not cues.REMARK.search(text)
        and not _PERSONS.search(text)
        and not _PAST.match(text)
        and not _POINTS.search(text)
        and not _SNIPPET.match(text)
        and session.bears_out(text)
    )


# --- left ---


def _left(session: Session, rows: dict[int, list[Row]]) -> Iterator[Found]:
    """What the last closing messages say is not done: items below such a heading, and sentences that say so."""
    for closing in session.closings:
        if closing.refuted or closing.overtaken:
            continue
        for row in rows[closing.number]:
            below = bool(cues.LEFT_HEADING.match(row.heading)) and row.kind in ("bullet", "check") and row.mark != "x"
            for sentence in [whole(row)] if below and len(row.text) <= LONG else sentences(row):
                text = _addressed(sentence.text)
                if not below and (not cues.LEFT.search(text) or cues.CAUSE.search(text)):
                    continue
                if _PAST.match(_LABEL.sub("", text)):
                    continue
                if not _readable(text) or (not below and cues.UNSURE.search(text)):
                    continue
                if cues.ABOUT_GIT.search(text) and session.sent_after(closing.number):
                    continue
                fields = {"statement": begun(text), "detail": "", "quote": sentence.quote}
                yield Found("tasks_open", fields, 65 if below else 55, closing.number)


_YOU = re.compile(
    r"^(?:you(?:'ll| will)? (?:still )?(?:need|have) to|make sure to|remember to|don't forget to) ", re.IGNORECASE
)
_I = re.compile(r"^I (?=(?:could not|couldn't|was (?:not able|unable) to|did not|didn't|have not|haven't) )")


def _addressed(text: str) -> str:
    """With the assistant as nobody: "I could not run the tests because …" is about the tests."""
    return begun(_I.sub("", _YOU.sub("", text)))


# --- findings of a review of one's own work ---


_LOW = ("low", "minor", "p3")


def _findings(session: Session, rows: dict[int, list[Row]]) -> Iterator[tuple[bool, Found]]:
    """What a review of one's own code found and nothing mended afterwards; whether each is a small one."""
    for closing in session.closings:
        if closing.refuted or closing.overtaken or closing.changed:
            continue
        told = rows[closing.number]
        for at, row in enumerate(told):
            text = clean(row.text)
            rated = cues.SEVERE.match(text)
            below = row.kind == "bullet" and cues.SEVERE_HEADING.match(row.heading)
            if not rated and not below:
                continue
            how = (rated["how"] if rated else row.heading.split()[0]).lower()
            said = (rated["rest"] if rated else text).strip()
            first = next(iter(re.split(r"(?<=[.!?。])\s+(?=[A-Z`])", said)), said)
            if not first and at + 1 < len(told):
                first = clean(told[at + 1].text)
            if not SHORT <= len(first) <= LONG + 100 or cues.TEMPLATE.search(first):
                continue
            more = [clean(later.text) for later in told[at + 1 : at + 4] if not cues.SEVERE.match(later.text)]
            path = re.search(r"`([\w./-]+/[\w.-]+\.\w{1,5})(?::\d[\d,-]*)?`", " ".join((row.text, *more)))
            named = path is not None and path[1].rsplit("/", 1)[-1] in first
            where = f"In `{path[1]}`: " if path and not named else ""
            detail = said[len(first) :].strip() or next((part for part in more if len(part) > SHORT), "")
            statement = f"{where}{first if where else begun(first)} (review finding, {how})"
            fields = {"statement": statement, "detail": detail[:LONG], "quote": _one_line(row, first)}
            yield how in _LOW, Found("tasks_open", fields, 68, closing.number)


def _one_line(row: Row, text: str) -> str:
    return next((sentence.quote for sentence in sentences(row) if text[:20] in sentence.text), "")


# --- which closing messages there are ---


def read_session(conversation: Conversation) -> Session:
    """The session with its closing messages: which of them were refuted, and which were overtaken by later work."""
    if not any(turn.role == "assistant" and not turn.agent for turn in conversation.turns):
        # The file of a sub-agent alone: here it is the one that speaks.
        conversation = replace(conversation, turns=tuple(replace(turn, agent="") for turn in conversation.turns))
    turns = conversation.turns
    numbers: list[tuple[int, int]] = []  # a closing message and the turn of the person behind it
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
        overtaken = any(at >= end for at in edits) if events else answer >= 0
        closings.append(Closing(number, turns[number], answer < 0, before, changed, refuted, overtaken))
        before = number
    return Session(conversation, tuple(events), tuple(closings))
