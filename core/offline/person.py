"""What the person said in a coding session: their will, what they asked last, and what stands of it in a summary.

Their words hide in several places (queued while the assistant worked, behind a refused call, beside a result); the
readers of the formats make turns of them all, so that here a turn is a turn. What a program or a template says in the
person's role is not theirs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.conversations.conversation import Turn
from core.conversations.events import Call, Compaction
from core.offline import cues
from core.offline.closing import LONG, SHORT, fits, rows_of
from core.offline.prose import Row, Sentence, begun, clean, looks_like_code, sentences, whole
from core.offline.sessions import Session
from core.offline.statements import Found

MOST_WILL = 3
MOST_OF_SUMMARY = 3
LONGEST_MESSAGE, MOST_LINES = 600, 8
"""A longer message was mostly pasted: somebody else's words, or a page's."""
_DOCUMENT = re.compile(r"^\s{0,3}(?:#{1,4}\s|\||\d+\.\s+\*\*)", re.MULTILINE)
_BARE_SUBJECT = re.compile(r"(?:this|that|it|these|those|they|he|she|which|or|if)\b", re.IGNORECASE)
_FILLER = re.compile(
    r"^(?:(?:ok(?:ay)?|yes|yeah|yep|no|nope|and|but|also|so|well|hmm|um|uh|oh|please|actually|really|sure|"
    r"I (?:think|guess|"
    r"believe|mean))\b[,.!]?\s+)+",
    re.IGNORECASE,
)


_ADVICE = re.compile(
    r"(?:consider|you (?:can|could|may|might)|let me|note that|tip|I (?:should|would|will|must))\b", re.IGNORECASE
)
_REQUEST = re.compile(
    r"(?:now|then|next|go back|rewrite|change|update|move|rename|fix|create|add|make|set|put|convert|show|remove|"
    r"delete|"
    r"replace|implement|write|build|run|try|check|look|find|open|generate|refactor|revert|commit|push|merge)\b",
    re.IGNORECASE,
)


_REPORTED = re.compile(r"\b(?:mentions?|says?|states?|claims?|suggests?|told|according to)\b|^can we\b", re.IGNORECASE)
"""What somebody else said is not the person's own will."""


def find_will(session: Session) -> Iterator[Found]:
    """Short sentences in which the person says what they want for good: rules, preferences, choices, corrections."""
    found: list[Found] = []
    for number, turn in enumerate(session.conversation.turns):
        if turn.role != "user" or turn.agent or len(turn.text) > LONGEST_MESSAGE or turn.text.count("\n") > MOST_LINES:
            continue
        if cues.TEMPLATE.search(turn.text) or cues.BOILERPLATE.search(turn.text) or _DOCUMENT.search(turn.text):
            continue
        for row in rows_of(turn, number):
            found += _will_in(sentences(row), number)
    lasting = [item for at, item in enumerate(found) if not any(_instead(item, later) for later in found[at + 1 :])]
    yield from lasting[-MOST_WILL:]


def _instead(first: Found, second: Found) -> bool:
    """Whether a later wish takes the place of one: it says the same of another thing."""
    one, other = (set(re.findall(r"\w+", item.fields["statement"].casefold())) for item in (first, second))
    return len(one & other) >= 0.5 * min(len(one), len(other)) and len(one & other) >= 3


def _will_in(said: Iterator[Sentence], number: int) -> Iterator[Found]:
    for sentence in said:
        text = _FILLER.sub("", sentence.text.strip("\"'“”"))
        if (
            not cues.WILL.search(text)
            or not (12 if text.isascii() else 6) <= len(text) <= 220
            or cues.POINTING.search(text)
        ):
            continue
        if "?" in text or "？" in text or looks_like_code(text) or cues.MOMENT.search(text):
            continue
        if cues.HEDGE.search(text.replace("should", "")) or _BARE_SUBJECT.match(text):
            continue
        if (len(text.split()) < (5 if cues.ANCHOR.search(text) else 6) and text.isascii()) or _ADVICE.match(text):
            continue
        if _REPORTED.search(text) or (_REQUEST.match(text) and not cues.STRONG_WILL.search(text)):
            continue  # a piece of work, not a rule
        fields = {"statement": begun(text), "detail": "", "quote": sentence.quote}
        yield Found("decisions", fields, 60, number)


_CORRECTS = re.compile(
    r"^(?:no,? |nope,? |actually,? |technically,? |it'?s actually |wrong,? |nein,? |non,? |不对[,，]?|不是[,，]?|"
    r"違います[。、]?)",
    re.I,
)
_STATES = re.compile(
    r"\b(?:is|are|was|were|has|have|does|lives?|comes?|means?|ist|sind|est|sont|es|son)\b|是|在|です|ます|입니다"
)


def find_corrections(session: Session) -> Iterator[Found]:
    """What the person set right in what the assistant had just said or wanted to do: their word is the fact."""
    turns = session.conversation.turns
    for closing in session.closings:
        number = next((at for at in range(closing.number + 1, len(turns)) if turns[at].role == "user"), -1)
        text = " ".join(turns[number].text.split()) if number >= 0 else ""
        refused = any(
            isinstance(row, Call) and row.refused for at, row in session.events if closing.before < at <= number
        )
        said = cues.first_sentence(text, 220) or (text if len(text) <= 220 else "")
        if not said or not (_CORRECTS.match(said) or refused) or "?" in said or not _STATES.search(said):
            continue
        body = _FILLER.sub("", _CORRECTS.sub("", said)).rstrip(". ")
        if not fits(body) or cues.HEDGE.search(body) or _BARE_SUBJECT.match(body) or _REQUEST.match(body):
            continue
        said_before = cues.first_sentence(closing.turn.text, 160)
        detail = f"set right by the person; the assistant had said: {said_before}" if said_before else ""
        fields = {"statement": begun(body), "detail": detail, "quote": turns[number].text.strip().split("\n")[0]}
        yield Found("facts", fields, 61, number)


def find_unanswered(session: Session) -> Iterator[Found]:
    """The person's last request when nothing was done about it any more, and a choice that was put to them."""
    turns = [(number, turn) for number, turn in enumerate(session.conversation.turns) if not turn.agent]
    asked = next(((number, turn) for number, turn in reversed(turns) if turn.role == "user"), None)
    if asked is None or len(turns) < 3:
        return
    number, turn = asked
    behind = [row for at, row in turns if at > number]
    if not any(rows_of(row, 0) for row in behind if row.role == "assistant"):
        yield from _asked_beside(turn, number)
    if any(row.role == "assistant" for row in behind) or any(row.events for row in behind if row.role == "tool"):
        yield from _choices(session, turn)
        return
    text = " ".join(turn.text.split())
    if not (8 if not text.isascii() else 15) <= len(text) <= 240 or text.startswith(("/", "<")):
        return
    if cues.POINTING.match(text) or cues.BOILERPLATE.search(text):
        return
    category = "questions" if text.endswith(("?", "？")) else "tasks_open"
    fields = {"statement": begun(text), "detail": "asked at the end of the session, nothing was done", "quote": text}
    yield Found(category, fields, 60, number)


def _asked_beside(turn: Turn, number: int) -> Iterator[Found]:
    """A question beside a request of which only the request was begun."""
    lines = [line.strip() for line in turn.text.split("\n") if line.strip()]
    for line in lines if 1 < len(lines) <= MOST_LINES else ():
        text = re.sub(r"^(?:Q|Question|Frage|问)\s*[:：]\s*", "", line)
        if text.endswith(("?", "？")) and fits(text) and not cues.POINTING.match(text):
            detail = "asked at the end of the session and not answered"
            yield Found("questions", {"statement": begun(text), "detail": detail, "quote": line}, 61, number)


_OPTION = re.compile(r"^\W*Option\s+(?:\d|[A-Z])\b\W*\s*(?P<what>[^\n*]{8,100}?)\**\s*(?:\([^)]*\))?:?$", re.IGNORECASE)


def _choices(session: Session, asked: Turn) -> Iterator[Found]:
    """Options that the last message puts to the person, who did not choose any more."""
    closing = session.closings[-1] if session.closings else None
    if closing is None or not closing.at_end or "?" not in closing.turn.text[-400:]:
        return
    options = [clean(found["what"]) for line in closing.turn.text.split("\n") if (found := _OPTION.match(line.strip()))]
    if not 2 <= len(options) <= 6:
        return
    about = next((turn.text for turn in session.conversation.turns if turn.role == "user"), asked.text)
    subject = session.conversation.title or cues.first_sentence(about, 120) or " ".join(about.split())[:100]
    subject = re.sub(r"https?://\S+", "", subject).strip(" -–—:(")
    statement = f"Not decided at the end of “{clean(subject)}”: {'; or '.join(options)}?"
    quote = next((line.strip() for line in closing.turn.text.split("\n") if options[0] in clean(line)), "")
    yield Found("questions", {"statement": statement, "detail": "", "quote": quote}, 62, closing.number)


# --- summaries after compaction ---

_PART = re.compile(r"^\s{0,3}(?:#{1,4}\s*)?(?:\d+\.\s*)?\**([A-Z][\w /&-]{4,40}?)\**:?\s*$", re.MULTILINE)


def find_compacted(session: Session) -> Iterator[Found]:
    """The person's words, errors with their cures and pending work, out of a summary that a tool made, by headings."""
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
                yield from list(_mended(rows, number))[:MOST_OF_SUMMARY]
            elif "problem solving" in low or "decision" in low:
                yield from list(_settled(rows, number, _SETTLED))[:MOST_OF_SUMMARY]
            elif "request" in low or "intent" in low:
                yield from list(_settled(rows, number, _WISHED))[:MOST_OF_SUMMARY]
            elif low.startswith(("pending", "remaining", "open")) or "next step" in low:
                yield from _pending(session, rows, number)


_FEEDBACK = re.compile(
    r"^[\"“](?P<said>[^\"”]{8,200})[\"”]\s*\((?P<note>(?:feedback|correct\w*|prefer\w*)[^)]{5,120})\)$", re.I
)
_SETTLED = re.compile(r"^(?:determined|decided|agreed|chose|settled) ", re.IGNORECASE)
_WISHED = re.compile(
    r"^(?:the )?user (?:prefers|insist\w*|(?:requested|wants|wanted|asked for) (?:an? )?(?:strict|only|no|never|"
    r"always)\b)",
    re.I,
)


def _messages(rows: list[Row], number: int) -> Iterator[Found]:
    """Of the person's messages as a summary lists them: words of will, and what the summary itself calls feedback."""
    for row in rows:
        said = _FEEDBACK.match(clean(row.text))
        if said and not said["said"].endswith("?") and not cues.POINTING.search(said["said"]):
            fields = {"statement": f"{begun(said['said'])} ({said['note']})", "detail": "", "quote": whole(row).quote}
            yield Found("decisions", fields, 62, number)
        else:
            yield from _will_in(sentences(row), number)


def _mended(rows: list[Row], number: int) -> Iterator[Found]:
    """What went wrong in a session, by the label that the summary gives it and its first sentence."""
    for row in rows:
        text = clean(row.text)
        label, _, rest = text.partition(": ")
        first = cues.first_sentence(rest)
        if (
            row.text.startswith("**")
            and 6 <= len(label) <= 80
            and not label.startswith("User")
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
