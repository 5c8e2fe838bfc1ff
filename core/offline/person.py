"""What the user said in a coding session: their will, what they set right, what they put off or asked last, and what
stands of it in a summary.

Their words hide in several places (queued while the assistant worked, behind a refused call, beside a result); the
readers of the formats make turns of them all, so that here a turn is a turn. What a program or a template says in the
person's role is not theirs. A sentence of theirs counts when it stands alone: it names a thing and holds for good, or
it is told with what was asked, refused or granted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.conversations.conversation import Turn
from core.conversations.events import Command, Compaction, Event
from core.offline import cues
from core.offline.answers import (
    find_agreed,
    find_answered,
    find_answers,
    find_choices,
    find_chosen,
    find_plans,
    find_undecided,
    questions_in,
)
from core.offline.closing import rows_of
from core.offline.exchanges import Exchange, found, read_exchanges
from core.offline.prose import Row, Sentence, begun, by_person, clean, looks_like_code, sentences, whole
from core.offline.sessions import Session, bare
from core.offline.statements import Found
from core.offline.substance import LONG, SHORT, fits
from core.offline.wishes import (
    BARE_SUBJECT,
    CORRECTS,
    FILLER,
    LEAST_UNNAMED,
    LONGEST,
    REQUEST,
    find_wishes,
    taken_back,
    will_in,
)

MAX_KNOWN = 3
MAX_PER_SUMMARY = 3
LONGEST_DETAIL = 160


def find_said(session: Session) -> Iterator[Found]:
    """Everything that the user said, chose and asked in a session, and what was answered."""
    exchanges = read_exchanges(session)
    yield from find_answers(session)
    yield from find_plans(session)
    yield from find_choices(exchanges)
    yield from find_corrections(session, exchanges)
    yield from find_wishes(session, exchanges)
    yield from find_agreed(session)
    yield from find_unanswered(session, exchanges)
    yield from find_known(exchanges)
    yield from find_answered(exchanges, session)
    yield from find_undecided(session)
    yield from find_compacted(session)
    yield from find_chosen(session)


def find_in_chat(session: Session) -> Iterator[Found]:
    """What the user wants for good, chooses and knows in a talk with an assistant that has no tools; and what they
    asked last of one that never answered."""
    exchanges = read_exchanges(session)
    if session.closings:
        yield from find_choices(exchanges)
        yield from find_wishes(session, exchanges, works=False)
        yield from find_known(exchanges)
    else:
        yield from find_unanswered(session, exchanges)


# --- corrections, and what the assistant conceded ---

_STATES = re.compile(
    r"\b(?:is|are|was|were|has|have|does|lives?|comes?|means?|ist|sind|est|sont|es|son)\b|是|在|有|です|ます|입니다"
)
_ASKS_HOW = re.compile(
    r"^what if\b|^I (?:don'?t |do not )?(?:think|see|understand|know)\b|"
    r"\b(?:do|should|can|could) (?:i|you)\b(?! (?:always|never))",
    re.IGNORECASE,
)
_OWN_FAULT = re.compile(r"^(?:I|if|let me|my|sorry|apolog|we|now)\b|^(?:我|让我|抱歉|対応|修正)", re.IGNORECASE)


_LEANS = re.compile(r"\bhere\b|(?:\.\.\.|…)\W*$", re.IGNORECASE)
"""Words that only the place they were said at explains."""


def find_corrections(session: Session, exchanges: list[Exchange]) -> Iterator[Found]:
    """What the user set right in what the assistant had said, done or wanted to do: their word is the fact."""
    for at, row in enumerate(exchanges):
        for item in _corrected(session, row):
            if not any(taken_back(item, later) for later in exchanges[at + 1 :]):
                yield item


def _corrected(session: Session, row: Exchange) -> Iterator[Found]:
    if any(isinstance(call, Command) for call in row.refused):
        yield from _refused(session, row)
        return
    if row.stopped:
        yield from _interrupted(session, row)
        return
    if row.before is None:
        return
    agreed = _conceded(row)
    text = " ".join(row.text.split())
    said = cues.first_sentence(text, LONGEST) or (text if len(text) <= LONGEST else "")
    quote = row.text.split("\n")[0]
    if agreed and len(text) <= 300:
        body = FILLER.sub("", CORRECTS.sub("", text if len(text) <= LONGEST else said))
        leans = cues.POINTING.match(body) or REQUEST.match(body) or _ASKS_HOW.search(body) or _LEANS.search(body)
        if fits(body) and not leans:
            category = "decisions" if row.changed else "facts"
            asked = "?" in body  # then the answer says what was settled
            if not (cues.REASON.search(agreed) if asked and row.changed else cues.ANCHOR.search(body + agreed)):
                return  # how things are, and not what was chosen; or about what only the talk knows
            detail = f"the person asked: {body}" if asked else f"the assistant agreed: {agreed}"
            detail = detail if len(detail) <= LONGEST_DETAIL else ""
            yield found(category, agreed if asked else body, detail, quote, 64, row.number)
        return
    if not said or not CORRECTS.match(said) or "?" in said or not _STATES.search(said):
        return
    body = FILLER.sub("", CORRECTS.sub("", said)).rstrip(". ")
    if not fits(body) or cues.HEDGE.search(body) or BARE_SUBJECT.match(body) or REQUEST.match(body):
        return
    if not cues.ANCHOR.search(body):
        return
    before = cues.first_sentence(row.before.turn.text, 160)
    detail = f"set right by the person; the assistant had said: {before}" if before else ""
    yield found("facts", body, detail, quote, 61, row.number)


_CONTRAST = re.compile(
    r"\b(?:not|instead|rather|only|without|never|don'?t|nicht|statt|nur|ohne|pas|sans|plutôt|sin|solo|en vez)\b|"
    r"不要|而不是|只|別の|ではなく|말고|대신",
    re.IGNORECASE,
)


def _interrupted(session: Session, row: Exchange) -> Iterator[Found]:
    """Why the user stopped the assistant: a fact that it did not know, or what it should do otherwise."""
    text = FILLER.sub("", CORRECTS.sub("", " ".join(row.text.split()))).rstrip(". ")
    if not (20 if text.isascii() else 8) <= len(text) <= LONGEST or "?" in text or cues.POINTING.search(text):
        return
    states = _STATES.search(text) and not _BROKEN.search(text) and not REQUEST.match(text)
    if BARE_SUBJECT.match(text) or cues.HEDGE.search(text) or not (states or _CONTRAST.search(text)):
        return
    if not cues.ANCHOR.search(text):
        return
    detail = "the person interrupted " + ("its work" if row.stopped == "its work" else f"`{row.stopped}`")
    category = "facts" if states and not cues.WILL.search(text) else "decisions"
    yield found(category, text, detail, row.text.split("\n")[0], 60, row.number)


def _conceded(row: Exchange) -> str:
    """The sentence in which the assistant says why the user is right, "" where it says none."""
    first = next(iter(rows_of(row.replies[0][1], row.replies[0][0])), None) if row.replies else None
    if first is None or not cues.CONCEDES.match(first.text):
        return ""
    rest = re.split(r"\s+[—–-]+\s+|[,，]\s*|(?<=[.!。！])\s*", clean(first.text), maxsplit=1)
    for text in re.split(r"(?<=[.!?。！？])\s+|(?<=[。！？])", rest[1] if len(rest) == 2 else ""):
        empty = len(text.split()) < 8 and text.isascii() and not cues.ANCHOR.search(text)
        if fits(text) and not empty and not _OWN_FAULT.match(text) and not text.endswith(("?", ":", "：")):
            return begun(text.rstrip(".→ "))
    return ""


def _refused(session: Session, row: Exchange) -> Iterator[Found]:
    """Why a command was refused, with what was refused and what was done instead."""
    call = next(call for call in reversed(row.refused) if isinstance(call, Command))
    text, what = " ".join(row.text.split()), bare(call.words)
    if (
        not (12 if text.isascii() else 5) <= len(text) <= LONGEST
        or "?" in text
        or (text.isascii() and len(text.split()) < 4)
    ):
        return
    if cues.APPROVES.match(text) or cues.POINTING.match(text) or not what or "\n" in what or len(what) > 120:
        return
    where = f" on branch {session.conversation.branch}" if session.conversation.branch and "git" in what else ""
    after = _instead_of(call, [event for at, event in session.events if at > row.number])
    detail = f"the person refused `{what}`{where}" + (f"; done instead: `{after}`" if after else "")
    category = "facts" if _STATES.search(text) and not cues.WILL.search(text) else "decisions"
    yield found(category, text.rstrip(". "), detail, row.text.split("\n")[0], 61, row.number)


def _instead_of(call: Command, events: list[Event]) -> str:
    """The next command of the same program that was run and went well."""
    program = bare(call.words).split()[:1]
    lines = [row for row in events if isinstance(row, Command)][:6]
    for row in lines:
        line = bare(row.words)
        if row.answered and not row.failed and not row.refused and line.split()[:1] == program:
            return line if len(line) <= 160 and "\n" not in line else ""
    return ""


# --- what the user knows, and what they put off ---

_KNOWN = re.compile(
    r"^(?:our|my) [\w`/.@-]+(?: [\w`/.@'-]+){0,5}? (?:is|are|lives?|runs?|needs?|uses?|requires?|must be|comes? from|"
    r"belongs? to|returns?|sends?|listens? on|depends? on|expects?|supports?|only (?:accepts?|supports?|works?)|"
    r"does(?:n't| not)|do(?:n't| not)) \S",
    re.IGNORECASE,
)

_NOW = re.compile(r"(?:let'?s|can|could|please|how|what|why|when|where|create|make|open|do|i'?ll)\b", re.IGNORECASE)
_BROKEN = re.compile(
    r"\b(?:fail\w*|broken?|errors?|wrong|work(?:s|ing)?|crash\w*|bug|stuck|missing|clean|done|ready|good|great|nice|fine|weird|"
    r"strange|ugly|bad|slow|empty|blank|now|currently|still|just|already|merged|too)\b",
    re.IGNORECASE,
)


def find_known(exchanges: list[Exchange]) -> Iterator[Found]:
    """What the user tells about their own systems, and what they put off until another day, where they name it."""
    known = []
    for row in exchanges:
        for part in rows_of(Turn("user", row.text), row.number):
            for sentence in sentences(part):
                text = FILLER.sub("", sentence.text)
                if "?" in text or len(text) > LONGEST or not (cues.ANCHOR.search(text) and fits(text)):
                    continue
                if looks_like_code(text) or cues.OFFER.search(text) or _NOW.match(text) or cues.POINTING.match(text):
                    continue
                if cues.PUT_OFF.search(text):
                    known.append(found("tasks_open", text, "put off by the person", sentence.quote, 58, row.number))
                elif row.before and _KNOWN.match(text) and not (_BROKEN.search(text) or cues.HEDGE.search(text)):
                    known.append(found("facts", text, "", sentence.quote, 54, row.number))
    yield from known[-MAX_KNOWN:]


# --- what was asked last ---


_TO_TOOL = re.compile(r"[/!]\S*(?:[ \t]+\S+){0,2}\Z")
"""An order to the tool itself, as `/exit`."""


def find_unanswered(session: Session, exchanges: list[Exchange]) -> Iterator[Found]:
    """The user's last request when nothing was done about it any more."""
    turns = session.conversation.turns
    asked = [at for at, turn in enumerate(turns) if by_person(turn)]
    number = next((at for at in reversed(asked) if not _TO_TOOL.match(turns[at].text.strip())), -1)
    row = next((row for row in exchanges if row.number == number), None)
    if row is None or sum(not turn.agent for turn in turns) < 3 or row.replies or row.events:
        return
    if any(turn.role == "tool" and turn.events for turn in turns[number:]):
        return
    text = " ".join(row.text.split())
    if not (8 if not text.isascii() else 15) <= len(text) <= 240 or cues.POINTING.match(text):
        return
    asks = text.endswith(("?", "？")) or any(questions_in(row.text))
    ordered = [part.text for part in _sentences(row) if _ORDERS.match(part.text) and _names_work(part.text)]
    if not asks and ordered:
        detail = "ordered at the end of the session and not begun"
        yield found("tasks_open", _ORDERS.sub("", ordered[0]), detail, ordered[0], 60, number)
    elif asks and cues.ANCHOR.search(text) and not cues.POINTING.match(FILLER.sub("", text).rstrip("?？")):
        yield found("questions", text, "asked at the end of the session and not answered", text, 60, number)


_ORDERS = re.compile(
    r"^(?:(?:ok(?:ay)?|yes|now|then|and|also|next|so|please|can you|could you|would you|bitte|kannst du|"
    r"s'il te plaît|por favor|请|帮我)[,，.!]?\s*)*"
    r"(?=(?:add|run|set|create|update|write|fix|deploy|test|verify|migrate|configure|implement|remove|replace|rename|"
    r"move|document|enable|disable|delete|install|upgrade|in the|build|make|change|refactor|convert|extract)\b|"
    r"[^\x00-\x7f])",
    re.IGNORECASE,
)
"""What stands in front of the work in an order, and that it is one."""


def _names_work(text: str) -> bool:
    return bool(cues.ANCHOR.search(text)) or (len(text.split()) >= LEAST_UNNAMED and not _LEANING.search(text))


_LEANING = re.compile(r"\b(?:this|that|it|these|those|them|above|same|here)\b", re.IGNORECASE)


def _sentences(row: Exchange) -> Iterator[Sentence]:
    for part in rows_of(Turn("user", row.text), row.number):
        yield from sentences(part)


# --- summaries after compaction ---

_PART = re.compile(r"^\s{0,3}(?:#{1,4}\s*)?(?:\d+\.\s*)?\**([A-Z][\w /&-]{4,40}?)\**:?\s*$", re.MULTILINE)


def find_compacted(session: Session) -> Iterator[Found]:
    """The user's words, errors with their cures and pending work, out of a summary that a tool made, by headings."""
    for number, event in session.events:
        if not isinstance(event, Compaction):
            continue
        parts = _PART.split(event.text)
        for name, body in zip(parts[1::2], parts[2::2], strict=False):
            low = name.strip().lower()
            rows = [row for row in rows_of(Turn("assistant", body), number) if row.kind in ("bullet", "check")]
            if "user messages" in low:
                yield from _messages(rows, number)
            elif "errors" in low or "fixes" in low:
                yield from list(_mended(rows, number))[:MAX_PER_SUMMARY]
            elif "problem solving" in low or "decision" in low:
                yield from list(_settled(rows, number, _SETTLED))[:MAX_PER_SUMMARY]
            elif "concept" in low:
                yield from list(_defined(rows, number))[:MAX_PER_SUMMARY]
            elif "request" in low or "intent" in low:
                yield from list(_settled(rows, number, _WISHED))[:MAX_PER_SUMMARY]
            elif low.startswith(("pending", "remaining", "open")) or "next step" in low:
                yield from _pending(session, rows, number)


_FEEDBACK = re.compile(
    r"^[\"“](?P<said>[^\"”]{8,200})[\"”]\s*\((?P<note>(?:feedback|correct\w*|prefer\w*)[^)]{5,120})\)$", re.I
)
_CHOICE = re.compile(
    r"^[\"“](?P<said>[^\"”]{1,80})[\"”]\s*\((?:choosing|chose|selecting|picked) (?P<what>[^)]{12,160})\)$",
    re.IGNORECASE,
)
_SETTLED = re.compile(r"^(?:determined|decided|agreed|chose|settled) ", re.IGNORECASE)
_WISHED = re.compile(
    r"^(?:the )?user (?:prefers|insist\w*|(?:requested|wants|wanted|asked for) (?:an? )?(?:strict|only|no|never|"
    r"always)\b)",
    re.I,
)


def _messages(rows: list[Row], number: int) -> Iterator[Found]:
    """Of the user's messages as a summary lists them: words of will, and what the summary itself calls feedback."""
    for row in rows:
        said = _FEEDBACK.match(clean(row.text))
        chose = _CHOICE.match(clean(row.text))
        if chose and len(chose["what"].split()) > 3 and cues.ANCHOR.search(chose["what"]):
            yield found("decisions", f"Chosen: {chose['what']}", "", whole(row).quote, 59, number)
        elif said and not said["said"].endswith("?") and not cues.POINTING.search(said["said"]):
            fields = {"statement": f"{begun(said['said'])} ({said['note']})", "detail": "", "quote": whole(row).quote}
            yield Found("decisions", fields, 62, number)
        else:
            yield from will_in(sentences(row), number)


_DEFINES = re.compile(r"\bvs\.?\s|\S → \S| = |\b(?:means|is (?:an?|the)|stands for|refers to)\b")


def _defined(rows: list[Row], number: int) -> Iterator[Found]:
    """What a summary says that a word means here."""
    for row in rows:
        text = clean(row.text)
        label, _, rest = text.partition(": ")
        if row.text.startswith("**") and _DEFINES.search(rest) and fits(text) and not cues.TEMPLATE.search(rest):
            yield found("facts", f"{label}: {rest}", "", whole(row).quote, 50, number)


_OF_WORK = re.compile(r"^User|\b(?:sub-?agent|diagnostics?|IDE|task \d+|context|tool calls?)\b", re.IGNORECASE)
"""Trouble of the session itself."""


def _mended(rows: list[Row], number: int) -> Iterator[Found]:
    """What went wrong in a session, by the label that the summary gives it and its first sentence."""
    for row in rows:
        text = clean(row.text)
        label, _, rest = text.partition(": ")
        first = cues.first_sentence(rest)
        if (
            row.text.startswith("**")
            and 6 <= len(label) <= 80
            and not _OF_WORK.search(label)
            and first
            and not cues.TEMPLATE.search(first)
        ):
            statement = f"{label}: {first}"
            if fits(statement) and not cues.HEDGE.search(first):
                fields = {"statement": statement, "detail": "", "quote": whole(row).quote, "kind": "pitfall"}
                yield Found("facts", fields, 52, number)


def _settled(rows: list[Row], number: int, form: re.Pattern[str]) -> Iterator[Found]:
    for row in rows:
        item = whole(row)
        if form.match(item.text) and fits(item.text):
            yield Found("decisions", {"statement": begun(item.text), "detail": "", "quote": item.quote}, 58, number)


def _pending(session: Session, rows: list[Row], number: int) -> Iterator[Found]:
    """What a summary calls pending and the session afterwards did not finish."""
    later = " ".join(row.turn.text for row in session.closings if row.number > number).casefold()
    for row in rows[:4]:
        item = whole(row)
        if not SHORT <= len(item.text) <= LONG or cues.OFFER.search(item.text) or not cues.ANCHOR.search(item.text):
            continue
        if any(name.strip("`").casefold() in later for name in cues.ANCHOR.findall(item.text)):
            continue
        fields = {"statement": item.text, "detail": "", "quote": item.quote}
        yield Found("tasks_open", fields, 55, number)
