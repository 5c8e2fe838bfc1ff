"""What the closing messages of a session and its commits say for later: causes, reasons, limits, and what is left.

A closing message is right about *what* more often than about *why*. So a sentence is taken only when it is strictly
worded and the things that it names stand in what a tool gave back or in what was written. What the user refuted, or
later work overtook, is not taken at all; nor is what was done, which the timeline and the repository tell: only why it
is so, and what it forbids or needs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from core.conversations.conversation import Turn
from core.conversations.events import MESSAGE, Command, Commit
from core.rules import words
from core.rules.prose import Row, Sentence, begun, has, looks_like_code, sentences, whole
from core.rules.reviews import NUMBERS, SLIGHT, find_in_review
from core.rules.sentence import (
    CODE,
    LONG,
    SHORT,
    SHORT_UNBROKEN,
    Found,
    alike,
    found,
    is_latin,
    lost,
    named,
    named_first,
    readable,
    shortened,
    whole_quotes,
)
from core.rules.session import Closing, Session, rows_of

MAX_CAUSES, MAX_REASONS, MAX_LEFT, MAX_OF_COMMITS = 2, 3, 4, 3
LEAST_BELOW = 4
MAX_SENTENCES = 2
LEAD_AT = 5
LEAST_WEIGHT = 2

# --- sentences that explain ---

_YOURS = re.compile(
    r"\byour (?=repo|project|code|branch|machine|setup|environment|config|app|CLAUDE|AGENTS|test|file)|"
    r"(?<=[Вв] )ваш(?:ем|ей) (?=проект|код|файл)|您的|你的",
    re.IGNORECASE,
)
_CLEAR = re.compile(
    r"^summary:\s+|"
    r"^[^`]{0,60}\bshows? (?=the (?:issue|problem|cause|bug)\b)|"
    r"^(?:(?:ok|okay|good|great|perfect|found it|now I (?:see|understand)\b[^.!:]*|"
    r"(?:the |that |this )?(?:issue|problem|cause|bug) is (?:now )?(?:clear|obvious|found)(?: now)?)\s*[.!:,—-]+\s*)+",
    re.IGNORECASE,
)
_COUNTED = re.compile(r"\s*\((?:observation|obs|finding|item|point|step|task|chunk|D)\.? ?#?\d+\)", re.IGNORECASE)
"""A number that only the talk explains."""
PERSONS = re.compile(
    r"\b(?:I|I've|I'd|I'm|we|we've|you|your|my|our|us|du|dein\w*|wir|votre|vos|nous|tu[sao]?|tuoi|tue|abbiamo|"
    r"tenemos)\b",
    re.IGNORECASE,
)
_POINTS_BACK = re.compile(
    r"^(?:these|those|such|not|to|let|replace|use|add|check|run|before|after|with the|expected|yes|no|either|pass|"
    r"call)\b",
    re.IGNORECASE,
)
_CURE = re.compile(
    r"(?:(?:the )?fix|solution|result|option|suggestion|recommend|files?\s*[:：]|location|note\b|example)",
    re.IGNORECASE,
)
_SLIP = re.compile(
    r"\b(?:indentation|typo|syntax error|missing (?:comma|colon|import|bracket|semicolon|quote|parenthes\w+)|"
    r"misspel\w+)\b",
    re.IGNORECASE,
)
"""A slip of the pen: nobody asks for it once it is gone."""
_POINTS = re.compile(r"\b(?:these|those|this|above|below|such|here)\b", re.IGNORECASE)
_CUT_OFF = re.compile(r"\b(?:if|that|when|to|is|are|the|a|an|of|in|with|by|and|or|because|for)\W*$", re.IGNORECASE)
_PRAISED = re.compile(
    r"\bwell[- ](?:understood|\w+ed)\b|\b(?:right|correct) (?:place|approach|fix)\b|"
    r"\b(?:sound|solid|good|clean\w*|nice) (?:\w+ )?(?:design|choice|approach|separation|use|ux|way|rationale)\b|"
    r"\bworks? (?:correctly|well|fine)\b|[✅💡❓👍]",
    re.IGNORECASE,
)
PAST = re.compile(
    rf"(?:{words.DONE.pattern})|^\W*(?:[A-Z][a-z]+ed|(?:re)?(?:built|wrote|made|set|ran|did)|kept|left|sent|put|cut|brought|"
    r"split|took)\b",
    re.IGNORECASE,
)


def is_past(text: str) -> bool:
    """Whether a sentence tells what was done; a name in backticks may end as a verb does."""
    return PAST.match(text) is not None and text[0] != "`"


def neutral(text: str) -> str:
    """A sentence without line numbers and without whom it was said to."""
    return _YOURS.sub(
        lambda said: "the " if said[0].isascii() else "",
        _CLEAR.sub("", _COUNTED.sub("", words.LINE_NUMBERS.sub("", text))),
    )


def explains(text: str) -> bool:
    """Whether a sentence states something about a system: no guess, offer, praise or code, and nobody is spoken to."""
    return not (
        words.HEDGE.search(text)
        or words.OFFER.search(text)
        or words.MONOLOGUE.match(text)
        or words.TEMPLATE.search(CODE.sub("", text))
        or PERSONS.search(text)
        or _CURE.match(text)
        or _PRAISED.search(text)
        or looks_like_code(text)
        or not whole_quotes(text)
        or text.endswith(("?", "？", "…"))
    )


# --- causes ---

_CAUSE_HEADING = re.compile(
    r"^(?:\d+\.\s*)?(?:the )?(?:root |real |actual |underlying )?(?:causes?|bugs?|problems?|issue)(?:\s*(?:\(.*\)|of "
    r".*))?$|^why (?:it|this|the .{3,40}) (?:fail|broke|breaks?|happen|crash|hang|is |was )|^what (?:happen|went wrong|"
    r"caused|was wrong)|^(?:diagnosis|ursache|la cause|la causa|根本原因|原因|问题原因|原因分析|根因|问题根源|"
    r"问题所在|问题诊断|"
    r"причина(?: ошибки| проблемы)?|проблема|causa|problema)$",
    re.IGNORECASE,
)
_CAUSE_LABEL = re.compile(
    r"^(?:the )?(?:(?:root |real |actual )?cause|bug|problem|diagnosis|根本原因|原因|根因|问题根源|Ursache|"
    r"причина|проблема)\s*"
    r"(?:\([^)]{1,30}\)\s*)?(?:(?:is|was)\s*)?[:：—–-]\s*",
    re.IGNORECASE,
)
_OF_CAUSE = (
    "caus", "culprit", "since", "due to", "turn", "problem", "bug", "issue", "reason", "which br", "diagnosis",
    "ursache", "verursacht", "liegt daran", "debido", "原因", "根因", "原因", "导致", "根源", "问题", "원인", "причин",
    "из-за", "потому", "проблем", "отсутств", "causa", "porque", "problema",
)  # fmt: skip
"""Where none of these stands in a line (in lower case), no pattern need be tried."""
_BREAKS = r"(?:fail(?:s|ed|ing)?|broke|breaks|crash(?:es|ed)|hangs?|hung|error(?:s|ed)?)"
_EFFECT = re.compile(
    rf"\bcausing (?:the|a|an)\b|\bwhich (?:caused|causes|broke|breaks)\b|\b(?:is|was|were) the (?:culprit|cause)\b|"
    rf"\bsame root cause\b|\b{_BREAKS}\b.{{0,80}}\b(?:because|since|due to)\b|"
    rf"\b(?:because|since|due to)\b.{{3,120}}\b{_BREAKS}\b|\bfixed a (?:long-standing )?bug where\b",
    re.IGNORECASE,
)
_SAME_AGAIN = re.compile(r"this is (?:the|exactly|a known)\b", re.IGNORECASE)
_OF_REQUEST = re.compile(r"^(?:PR|MR|pull request|issue) #?\d+\b\s*[—–:-]+\s*", re.IGNORECASE)


def find_causes(session: Session) -> Iterator[Found]:
    """Why something failed: the sentence that says so together with the next one where that explains it, when the
    things that they name stand in what tools gave back."""
    told: list[Found] = []
    for closing in session.closings:
        lines = [] if closing.refuted or session.of_chat or session.of_others else session.rows[closing.number]
        said = next((said for at in range(len(lines)) if (said := cause_in(session, lines, at))), None)
        mended_later = not closing.changed and session.edited_after(closing.number, closing.turn.text)
        if said and not mended_later:
            told.append(found("facts", said[0], closing.number, quote=said[1], score=66))
    fresh = [one for at, one in enumerate(told) if not any(_same(one, other) for other in told[at + 1 :])]
    yield from fresh[-MAX_CAUSES:]


def _same(one: Found, other: Found) -> bool:
    return alike(one.fields["statement"], other.fields["statement"])


def cause_in(session: Session, rows: Sequence[Row], at: int, *, known: bool = False) -> tuple[str, str] | None:
    """The cause that a row tells, with the sentences that go on with it, and its quote; `known` says that what was
    wrong is known from elsewhere."""
    row = rows[at]
    if words.SEVERE.match(row.text) or row.kind == "check":
        return None
    below = _CAUSE_HEADING.match(row.heading) is not None and (at == 0 or rows[at - 1].heading != row.heading)
    if not below and not has(row.low, _OF_CAUSE):
        return None
    parts = list(sentences(row))
    for number, sentence in enumerate(parts):
        text = neutral(sentence.text)
        label = _CAUSE_LABEL.match(text)
        bare = text[label.end() :] if label else text
        if text.endswith((":", "：")):
            continue  # it leads to a list
        if not (label or (below and number == 0) or words.CAUSE.search(text) or _EFFECT.search(text)):
            continue
        bare = _without_title(session, bare)
        if words.DANGLING.match(bare) or _POINTS.search(bare) or lost(bare):
            lead = _lead(rows, at, parts[:number])
            bare = f"{_with_stop(lead)} {bare}" if lead else ""
        if not explains(bare) or _POINTS_BACK.match(bare) or not bare:
            continue
        if _SLIP.search(bare) or _CUT_OFF.search(bare) or is_past(bare) or not named_first(bare):
            continue
        following = [*parts[number + 1 :]]
        for later in rows[at + 1 : at + 2]:
            following += sentences(later) if later.kind == "prose" else ()
        cause = " ".join(_with_stop(part) for part in (bare, *_going_on(following, len(bare))))
        long_enough = len(cause) >= (SHORT if is_latin(cause) else SHORT_UNBROKEN)
        borne_out = known or not session.events or session.bears_out(cause)
        if long_enough and named(cause) and borne_out:
            return cause, sentence.quote
    return None


def _lead(rows: Sequence[Row], at: int, before: Sequence[Sentence]) -> str:
    """The sentence that a pointing one goes on from: the one before it, or the one that leads to the list above."""
    said = list(before)
    for row in reversed(rows[max(0, at - LEAD_AT) : at]):
        if not said and row.kind == "prose" and (row.text.endswith((":", "：")) or rows[at - 1] is row):
            said = list(sentences(row))
    text = _CAUSE_LABEL.sub("", neutral(said[-1].text).rstrip(":：")) if said else ""
    return text if text and explains(text) and readable(f"{text}.") and not is_past(text) else ""


def _with_stop(part: str) -> str:
    return part if part.endswith((".", "。", "!")) else f"{part}."


def _going_on(following: Sequence[Sentence], length: int) -> list[str]:
    """The next sentence where it goes on explaining."""
    for part in following[: MAX_SENTENCES - 1]:
        more = neutral(part.text)
        if _SAME_AGAIN.match(more):
            continue
        ends = words.ORDER.match(more) or _POINTS_BACK.match(more) or more.endswith((":", "："))
        return [more] if explains(more) and not ends and len(more) + length <= LONG else []
    return []


def _without_title(session: Session, text: str) -> str:
    """A text without the title of a pull request that is glued to its front."""
    glued = _OF_REQUEST.match(text)
    rest = text[glued.end() :] if glued else text
    subjects = [row.subject for _, row in session.events if isinstance(row, Commit) and row.subject]
    title = next((subject for subject in subjects if glued and rest.startswith(subject)), "")
    return rest[len(title) :].strip(" .—–-:") if title else "" if glued else text


# --- reasons and limits ---

_NOTED = re.compile(
    r"\b(?:notes?|caveats?|important|why|gotchas?|limitations?|constraints?|behaviou?r|how it works|key (?:points|"
    r"findings?|insights?|facts)|findings?|lessons?|root cause|explanation|background|warnings?|trade-?offs?)\b|"
    r"注意|说明|备注|原因|限制|注意点|補足",
    re.IGNORECASE,
)
_OF_A_LOOK = re.compile(
    r"^\W*\(?\d+\)|\blines? [~≈]?\d|^\W*(?:old|new|before|after|previously|was|minor)\b[:：]|\bobservations?\b|"
    r"\b(?:all|the) (?:\d+ )?(?:unit |new |existing )?tests? (?:now )?pass|\bno (?:changes?|issues?|"
    r"errors?) (?:were |was )?"
    r"(?:needed|found|required)|\b(?:as|you) (?:requested|asked)\b|\bstep \d\b",
    re.IGNORECASE,
)
_TEXTBOOK = re.compile(
    r"\b(?:best practice|in general|generally|typically|usually|it is important|ensures? (?:that )?the (?:code|app\w*)|"
    r"more (?:readable|maintainable|robust)|maintainab\w+|readab\w+|flexib\w+|easier to (?:read|understand|"
    r"maintain))\b",
    re.IGNORECASE,
)


_LABEL = re.compile(r"^(?:`[^`]+`(?:\s*\+\s*`[^`]+`)*|[\w./-]+\.\w{1,5}|[A-Z][\w ]{2,30})\s*(?:[:：]|\s[—–-])\s+")
"""A file or a word that stands in front of a sentence as its label."""
_REMARK = re.compile(
    r"^\W*(?:impact|remember|instead|after \w+ing|result|summary|bug|issue|the only|all \w+)\b|\b(?:nit|"
    r"documentation nit|additive|"
    r"doesn't need to change|import the|back to its original|for exactly this|remaining dirty|this (?:pr|change|"
    r"fix|commit))\b|方案",
    re.IGNORECASE,
)
"""What only tells of the work of the day."""


def find_reasons(session: Session) -> Iterator[Found]:
    """What the closing messages say of the user's own systems with a reason or a limit: why it is so, what it needs,
    forbids or leaves out; the best of a session, none that later work wrote again."""
    told: list[tuple[int, Found]] = []
    if session.of_others or session.of_chat:
        return
    for closing in session.closings:
        rows = session.rows[closing.number]
        if closing.refuted or _reviews(rows):
            continue
        for place, row in enumerate(rows):
            if row.kind == "check" or words.REVIEW_HEADING.search(row.heading) or words.LEFT_HEADING.match(row.heading):
                continue
            parts = list(sentences(row))
            for at, sentence in enumerate(parts):
                text = neutral(sentence.text)
                if words.DANGLING.match(text) or lost(text):
                    lead = _lead(rows, place, parts[:at])
                    text = f"{_with_stop(lead)} {text}" if lead else ""
                weight = _weight(session, closing, row, text)
                if weight:
                    text = " ".join(map(_with_stop, (text, *_consequence(parts[at + 1 :]))))
                    score = 50 + weight
                    item = found("facts", text, closing.number, quote=sentence.quote, score=score)
                    told.append((weight, item))
    kept: list[Found] = []
    for _, item in sorted(told, key=lambda row: (row[0], row[1].turn), reverse=True):
        if len(kept) < MAX_REASONS and not any(_same(item, other) for other in kept):
            kept.append(item)
    yield from sorted(kept, key=lambda item: item.turn)


def _reviews(rows: Sequence[Row]) -> bool:
    """Whether a message is a list of findings: what stands there was looked at, and not what holds."""
    marked = sum(words.SEVERE.match(row.text) is not None or _OF_REVIEW.match(row.text) is not None for row in rows)
    return marked >= MARKED_POINTS


MARKED_POINTS = 2
_OF_REVIEW = re.compile(r"^\W*(?:\(\d+\)|[✅⚠💡❓❌]|(?:nit|minor|suggestion|bug|question)\b\s*[:(—–-])", re.IGNORECASE)


def _weight(session: Session, closing: Closing, row: Row, text: str) -> int:
    """How much a sentence says for later, 0 for one that is not to be taken."""
    why, limit = words.REASON.search(text), words.LIMIT.search(text)
    noted = _NOTED.search(row.heading) or _NOTED.match(row.text)
    plain = _MAYBE.sub("", text) if noted and limit else text
    if not (why or limit) or not readable(text) or not explains(plain) or not named_first(text):
        return 0
    gates = (_OF_A_LOOK, _TEXTBOOK, _SLIP, words.UNDONE, words.CAUSE)
    if any(gate.search(text) for gate in gates) or _CUT_OFF.search(text) or words.ORDER.match(text) or lost(text):
        return 0
    if is_past(_LABEL.sub("", text)) or _REMARK.search(text):
        return 0
    if not session.knows(text) or (session.rewritten(closing.number, text) and not closing.at_end):
        return 0
    weight = 2 * bool(why) + bool(limit) + bool(noted) + closing.at_end + closing.changed
    stands = closing.changed or closing.at_end
    return weight if weight >= (LEAST_WEIGHT if stands else LEAST_WEIGHT + 1) else 0


_MAYBE = re.compile(r"\b(?:may|might|could)\b|可能", re.IGNORECASE)
"""A guess that a note warns with is one to know."""
_THEN = re.compile(r"^(?:so|otherwise|without (?:it|this|that)|this means|that means|hence|therefore|but|it)\b", re.I)


def _consequence(following: Sequence[Sentence]) -> list[str]:
    """The sentence behind where it says what follows from the one before."""
    for part in following[:1]:
        text = neutral(part.text)
        if _THEN.match(text) and explains(text) and len(text) <= LONG // 2 and not words.UNDONE.search(text):
            return [text]
    return []


# --- what commits and pull requests say below their titles ---

_BODY = re.compile(
    r"""\s(?:--body|-b)[= ]\s*(?:"\$\(cat <<-?\s*['"]?(?P<end>\w+)['"]?\s*\n(?P<here>.*?)\n\s*(?P=end)"""
    r"""|"(?P<double>(?:[^"\\]|\\.)*)"|'(?P<single>[^']*)')""",
    re.DOTALL,
)
_TITLE = re.compile(r"""\s(?:--title|-t)[= ]\s*(?:"(?P<double>(?:[^"\\]|\\.)*)"|'(?P<single>[^']*)')""")
_TRAILER = re.compile(
    r"^(?:[A-Z][A-Za-z]+(?:-[A-Za-z]+)+: |🤖|Generated with|Co-authored|(?:Tests?|Refs?|Closes|Fixes|Issue)(?:: | #))",
    re.IGNORECASE,
)
_OF_TESTS = re.compile(r"^\W*(?:test(?:s|ed|ing)?|verif\w+|add(?:s|ed)? (?:\w+ )?tests?|update[sd]? tests?)\b", re.I)


_SMALL = re.compile(r"(?:style|lint|format|test|chore\(deps|wip)\b", re.IGNORECASE)


def find_in_commits(session: Session) -> Iterator[Found]:
    """What the messages of commits and pull requests that went through give as a reason, a limit or how it is since,
    with the title that they stand below."""
    told: list[Found] = []
    made = {row.start: row for _, row in session.events if isinstance(row, Commit) and row.succeeded}
    undone = {row.subject for row in made.values() if row.subject.startswith('Revert "')}
    for turn, row in session.commands:
        commit = made.get(row.start)
        opens = re.search(r"\b(?:gh|glab) (?:pr|mr) create\b", row.words)
        if not (commit or (opens and row.answered and not row.failed)):
            continue
        named_so = _TITLE.search(row.words)
        title = commit.subject if commit else (named_so["double"] or named_so["single"] or "") if named_so else ""
        pattern = MESSAGE if commit else _BODY
        if commit and _SMALL.match(title):
            continue
        if commit and (f'Revert "{title}"' in undone or session.deleted_after(turn, title)):
            continue
        for text in _of_message(row, pattern, title):
            shown = f"“{title}”" + (f" (commit {commit.hash[:8]})" if commit and commit.hash else "") if title else ""
            told.append(found("facts", text, turn, detail=shown, score=62))
    fresh = [one for at, one in enumerate(told) if not any(_same(one, other) for other in told[:at])]
    yield from fresh[:MAX_OF_COMMITS]


def _of_message(row: Command, pattern: re.Pattern[str], title: str) -> Iterator[str]:
    """The sentences of a message that say why, and no more than two."""
    texts = [said["here"] or said["double"] or said["single"] or "" for said in pattern.finditer(row.words)]
    lines = [line for line in "\n\n".join(texts).split("\n") if not _TRAILER.match(line.strip())]
    body = "\n".join(line for line in lines if line.strip() != title)
    kept = 0
    for part in rows_of(Turn("assistant", body), 0):
        for sentence in sentences(part):
            text = neutral(sentence.text)
            why = words.REASON.search(text) or words.LIMIT.search(text)
            if why and kept < MAX_SENTENCES and _is_reason(text) and part.kind != "check":
                kept += 1
                yield text


def _is_reason(text: str) -> bool:
    return (
        SHORT <= len(text) <= LONG
        and words.ANCHOR.search(text) is not None
        and explains(text)
        and not (words.DANGLING.match(text) or _OF_TESTS.match(text) or _SLIP.search(text) or lost(text))
    )


# --- left ---

_CLAUSES = re.compile(
    r"(?:;|\.(?=\s|$)|[。；]|\s[—–-]|,(?=\s+(?:but|though|while|aber|mais|pero)\b)|，(?=但))\s*"
    r"(?:but |and |aber |mais |pero |但)?"
)
_AS_IT_WAS = re.compile(
    r"\b(?:left|kept|remain\w*|stay\w*|is|are|was|were) (?:\w+ )?(?:untouched|unchanged|unmodified|alone|intact|"
    r"as[- ]is)\b|\bnot (?:been )?(?:touched|modified)\b(?! yet)|\b(?:unverändert|inchangée?s?|sin cambios)\b|"
    r"保持不变|未改动|変更なし|변경 없|^\W*(?:re-?run|retry|restart|reload|refresh|try)\b",
    re.IGNORECASE,
)
"""What somebody chose to leave as it is, and what only the moment asks for."""
_LABELLED = re.compile(
    rf"(?:{words.LEFT_HEADING.pattern})[^:：]{{0,20}}[:：]\s+\S|^\W*(?:residual|remaining) (?:risk|gap|issue)s?\b",
    re.IGNORECASE,
)
_ADVICE = re.compile(
    r"\W*(?:(?:note|tip|consider|optional\w*|maybe|you(?:'ll| will| may| can| might| need| have)?|monitor|test|try|"
    r"run|check|review|feel free|if)\b)",
    re.IGNORECASE,
)
_I = re.compile(r"^I (?=(?:could not|couldn't|was (?:not able|unable) to|did not|didn't|have not|haven't) )")
_HELD_UP = re.compile(
    r"\b(?:blocked|could not|couldn't|can(?:no|')t|not yet|deferred|still (?:fail|open|miss)\w*|postponed)\b",
    re.IGNORECASE,
)
_NOT_OURS = re.compile(
    r"\bpre-?existing (?:\w+ ){0,3}(?:fail\w+|errors?|issues?|bugs?|problems?)\b|"
    r"\b(?:fail\w*|errors?) (?:is|are|was|were) (?:pre-?existing|unrelated)\b|"
    r"\balready (?:fail\w*|broken) (?:on|before|in)\b",
    re.IGNORECASE,
)
"""What was broken before and stayed so."""
_NEXT = re.compile(
    r"^\W*(?:(?:recommended|suggested|possible|your|immediate)\s+)?next steps?\b|^\W*(?:nächste schritte|"
    r"prochaines étapes|próximos pasos|下一步|次のステップ|다음 단계)",
    re.IGNORECASE,
)


def find_left(session: Session) -> Iterator[Found]:
    """What the review and the last closing messages of a session say is not done, open or to be watched: items below
    such a heading, and sentences that say so; nothing that was done, sent or spoken of since."""
    reviewed = [] if session.of_others else list(find_in_review(session))
    yield from reviewed
    left: list[Found] = []
    for closing in [] if session.of_others else session.closings[-3:]:
        if closing.refuted or closing.overtaken or not (closing.at_end or session.events):
            continue
        for row in session.rows[closing.number]:
            left += _left_in(session, closing, row)
    fresh = [item for item in left if not any(_same(item, other) for other in reviewed)]
    fresh = [one for at, one in enumerate(fresh) if not any(_same(one, other) for other in fresh[at + 1 :])]
    best = sorted(fresh, key=lambda item: (item.turn, item.score))[-MAX_LEFT:]
    yield from sorted(best, key=lambda item: item.turn)


def _left_in(session: Session, closing: Closing, row: Row) -> Iterator[Found]:
    listed = row.kind in ("bullet", "check") and row.mark != "x"
    advised = listed and _NEXT.match(row.heading) is not None
    below = listed and (advised or words.LEFT_HEADING.match(row.heading) is not None)
    open_words = words.LEFT if closing.at_end else words.UNDONE
    before = ""
    for sentence in [whole(row)] if below else sentences(row):
        said = sentence.text
        undone = open_words.search(said) or _LABELLED.match(said) or _NOT_OURS.search(said)
        lead, before = before, said
        if not (below or undone) or words.UNSURE.search(said) or _ADVICE.match(said) or words.CAUSE.search(said):
            continue
        if advised and SLIGHT.search(said):
            continue
        text = begun(_I.sub("", NUMBERS.sub("", shortened(said)).strip()))
        if lead and words.DANGLING.match(text) and readable(f"{lead} {text}"):
            text = f"{begun(lead)} {text}"  # the sentence before says what it is about
        if is_past(text) and not _HELD_UP.search(text):
            text = next((begun(part) for part in reversed(_CLAUSES.split(text)) if words.UNDONE.search(part)), "")
        stands = readable(text) or (below and not advised and _stands(text))
        if not stands or _AS_IT_WAS.search(text) or lost(text) or words.OFFER.search(said):
            continue
        if words.ABOUT_GIT.search(text) and session.sent_after(closing.number):
            continue
        if not closing.at_end and session.spoken_of(closing.number, text):
            continue
        detail = f"of “{session.subject}”" if not words.ANCHOR.search(text) and session.subject else ""
        score = 65 if below and not advised else 58
        yield found("tasks_open", text, closing.number, detail=detail, quote=sentence.quote, score=score)


def _stands(text: str) -> bool:
    """Whether an item below a heading for open work says something though it names no file and no identifier."""
    long_enough = len(text.split()) >= LEAST_BELOW or not is_latin(text)
    return long_enough and len(text) <= LONG and readable(f"{text} {'`..` ' * 8}.", 2 * LONG)
