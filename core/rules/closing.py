"""What the assistant's closing messages say for later: why something failed and what cured it, and why things are as
they are.

A closing message is read as the document that it is: headings, bullets with labels, paragraphs. What is kept is a
thought, whole: a sentence with those that lean on it, or a bullet with its reason. What the user contradicted, or later
work wrote again, is not taken; of what was done only what has a reason, which is then the fact.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from core.rules import words
from core.rules.prose import Row, Sentence, begun, looks_like_code, sentences
from core.rules.sentence import CODE, Found, alike, found, is_latin, named, names_in, whole_quotes
from core.rules.session import Closing, Session, rows_of

MAX_CAUSES, MAX_REASONS = 2, 4
SHORTEST, SHORTEST_UNBROKEN, LONGEST, LONGEST_CURE, LONGEST_WITH_CURE = 40, 14, 420, 240, 490
LEAST_WEIGHT = 4
LOOK_BELOW, LOOK_ABOVE, LOOK_AFTER, MAX_STEPS = 8, 12, 6, 2
"""Among so many rows below a cause, and so many sentences of each, its cure is looked for."""


@dataclass(frozen=True)
class Thought:
    """A sentence of a closing message with the sentences that lean on it, and the row that it begins in (`at` among the
    message's rows); `quote` is its first sentence as it stands there."""

    text: str
    quote: str
    row: Row
    at: int


_LEANS = re.compile(
    r"^(?:this|that|these|those|it|its|they|so|hence|thus|therefore|otherwise|without (?:it|this|that)|but|however|"
    r"since then|with (?:this|that|the (?:old|new|fix))|as a result|because of (?:this|that)|which|then|when (?:this|"
    r"that|"
    r"it)|if (?:it|they|this|that)|the same|same|both|here|also|and|instead|now|there)\b|"
    r"^(?:这|那|此|它|因此|所以|否则|但|これ|それ|その|そのため|이|그|따라서|это|поэтому|dies|das|daher|sonst|cela|donc|"
    r"esto|por eso|isso|ciò)",
    re.IGNORECASE,
)
"""How a sentence begins that goes on with the one before."""
_POINTS = re.compile(r"^(?:[^\s`]+ ){0,9}(?:these|those|such|this|that|the same) (?=[a-z])", re.IGNORECASE)
_NOT_POINTING = re.compile(
    r"\b(?:so|says?|means?|shows?|ensures?|is|was|now|know|such|note|given|likely|way|fact|found) that\b",
    re.I,
)
TO_READER = re.compile(
    r"\b(?:I|I'm|I've|I'd|I'll|my|let me|let's|you|your|you're|you'll|yours|we'll|we (?:can|could|need|should|will|"
    r"have|"
    r"are)|let us know|want me|shall)\b",
    re.IGNORECASE,
)
_OF_SPEAKER = re.compile(r"\b(?:I|I'm|I've|I'd|I'll|my|let me|let's|we'll|let us know|want me|shall)\b", re.IGNORECASE)
_YOURS = re.compile(
    r"\byour (?=(?:[\w.`/-]+ ){0,2}(?:repo\w*|project|code\w*|branch|machine|setup|environment|config\w*|app\w*|tests?|"
    r"files?|server|script|build|image|warnings?|errors?|issue|problem|failure|container|database|version|install\w*|system|local|package|folder|shell|browser|"
    r"\.\w+|`))|(?<=[Вв] )ваш(?:ем|ей) |您的|你的",
    re.IGNORECASE,
)
_ASIDE = re.compile(
    r"^(?:(?:summary|result|important|update|impact|change|verdict|answer|overview|in short|short answer|"
    r"bottom line)\s*[:：]\s*|"
    r"(?:ok(?:ay)?|good|great|perfect|got it|found it|yes|yeah|no|right|exactly(?: right)?|agreed?|done|fixed|"
    r"excellent|clear)"
    r"\b\s*[.!:,—–-]+\s*|now I (?:see|understand)\b[^.!:]*[.!:]\s*|"
    r"(?:the |that |this )?(?:issue|problem|cause|bug) is (?:now )?(?:clear|obvious|found)(?: now)?\s*[.!:—–-]+\s*)+",
    re.IGNORECASE,
)
_SEEN = re.compile(
    r"\s(?:that )?you(?:['’]re| are|['’]ve)? (?:currently |now )?(?:seeing|see|experiencing|encounter(?:ing|ed)|"
    r"getting|get|"
    r"having|facing)\b",
    re.IGNORECASE,
)
"""To whom a failure was shown."""
_COUNTED = re.compile(r"\s*\((?:observation|obs|finding|item|point|step|task|chunk|D)\.? ?#?\d+\)", re.IGNORECASE)
GUESS = words.one_of({
    "en": (
        "might", "maybe", "perhaps", "probably", "possibly", "likely", "unlikely", r"seem(?:s|ed)?", r"appears?",
        "could (?:be|have)", "may (?:be|have|need)", "I think", "I guess", "not sure", "presumably", r"suspect\w*",
        r"hypothe\w+", "potential(?:ly)?", "I believe", "theoretically", "ideally", "consider", r"suggest\w*",
        r"recommend\w*", "alternatively", "if needed", "if desired", r"worth (?:considering|either|adding|a)",
        "arguably",
    ),
    "de": ("vielleicht", "wahrscheinlich", "vermutlich"), "fr": ("peut-être", "probablement"),
    "es": ("quizás?", "probablemente"), "zh": ("可能", "也许", "大概", "建议", "可选", "如果你"),
    "ja": ("かもしれ", "おそらく"), "ko": ("아마", "수도 있"),
    "ru": ("возможно", "вероятно", "может быть", "похоже"), "pt": ("talvez", "provavelmente"),
})  # fmt: skip
_PRAISE = re.compile(
    r"[✅💡👍🎉]|\b(?:successfully|well[- ](?:\w+ed|understood)|best practice|clean(?:er|ly)?|readab\w+|maintainab\w+|"
    r"robust\w*|"
    r"flexib\w+|seamless\w*|elegant\w*|easier to (?:read|understand|maintain)|user experience|professional\w*|modern|"
    r"comprehensive|properly|correctly)\b",
    re.IGNORECASE,
)
_SLIP = re.compile(
    r"\b(?:indentation|typos?|syntax error|missing (?:comma|colon|import|bracket|semicolon|quote|parenthes\w+|brace)|"
    r"unused|misspel\w+)\b",
    re.IGNORECASE,
)
"""A slip of the pen: nobody asks for it once it is gone."""
_CUT_OFF = re.compile(
    r"(?:\b(?:if|that|when|to|is|are|the|a|an|of|in|with|by|and|or|because|for)|[:：,;—–-])\W*$", re.I
)
_OF_THE_DAY = re.compile(
    r"\blines? [~≈]?\d|\b(?:all|the) (?:\d+ )?(?:unit |new |existing |integration )?tests? (?:now )?pass|\bstep \d\b|"
    r"\b(?:as|you) (?:requested|asked)\b|^(?:after (?:scann|review|check|look|search)ing|based on|looking at|"
    r"the (?:only )?(?:remaining|"
    r"changes|plan|summary|update)|plan references)\b|\bnext command\b|\b(?:is|are) (?:now )?(?:back to its|"
    r"corrected)\b|\b(?:is|are|was|were) (?:verified|confirmed|tested|checked)\b|^what['’]?s\b|"
    r"\bno (?:changes?|issues?|errors?|other|"
    r"usage)\b.{0,80}\b"
    r"(?:found|needed|required|changed)\b|^(?:before|after|old|new|was|previously)\s*[:：]",
    re.IGNORECASE,
)


_NOTE = re.compile(
    r"^(?:one |a |side |important )?(?:note|caveat|warning|gotcha|limitation|heads[- ]up|注意|提醒)\s*[:：—–-]+\s*",
    re.I,
)


def neutral(text: str) -> str:
    """A sentence without line numbers, an opening phrase, and whom it was said to; half a pair of backticks goes."""
    text = text.replace("`", "") if text.count("`") % 2 else text
    text = _SEEN.sub("", _COUNTED.sub("", words.LINE_NUMBERS.sub("", text)))
    return _YOURS.sub(lambda said: "the " if said[0].isascii() else "", _ASIDE.sub("", text))


@lru_cache(maxsize=64)
def _said(row: Row) -> tuple[tuple[str, Sentence], ...]:
    """The sentences of a row with their plain words: a row is looked at again for each cause above it."""
    return tuple((neutral(part.text), part) for part in sentences(row))


def thoughts(rows: Sequence[Row]) -> Iterator[Thought]:
    """The thoughts of a message in their order; a bullet is one where it is no longer than a line."""
    for at, row in enumerate(rows):
        parts = _said(row)
        number = 0
        while number < len(parts):
            text, first = parts[number]
            number += 1
            while number < len(parts):
                more = parts[number][0]
                leans = row.kind == "bullet" or leaning(more) or _GOES_ON.match(more)
                if not leans or len(text) + len(more) >= LONGEST or not _speaks(more):
                    break
                text = f"{with_stop(text)} {more}"
                number += 1
            yield Thought(text, first.quote, row, at)


_GOES_ON = re.compile(r"(?:since|because) (?:the|it|they|no|a)\b", re.IGNORECASE)
"""How a sentence begins that says why of the one before, and may also stand alone."""


def leaning(text: str) -> bool:
    """Whether a sentence goes on with the one before it."""
    return _LEANS.match(text) is not None or (_POINTS.match(text) is not None and not _NOT_POINTING.search(text[:80]))


def with_stop(part: str) -> str:
    """A sentence with a full stop."""
    return part if part.endswith((".", "。", "!", "！")) else f"{part.rstrip(' :：;,')}."


def _speaks(text: str, *, to_user: bool = False) -> bool:
    """Whether a sentence states something: it neither asks, guesses nor offers, and (unless `to_user`) speaks to
    nobody."""
    return not (
        text.endswith(("?", "？", "…", ":", "："))
        or (GUESS.search(text) and not _NOTE.match(text))
        or words.OFFER.search(text)
        or (_OF_SPEAKER if to_user else TO_READER).search(CODE.sub("``", text))
        or looks_like_code(text)
    )


def states(text: str, *, to_user: bool = False, with_name: bool = True) -> bool:
    """Whether a thought can stand alone: whole, named (unless `with_name` is off), of no template, guess, praise or
    code, and of no one day."""
    least = SHORTEST if is_latin(text) else SHORTEST_UNBROKEN
    return (
        least <= len(text) <= LONGEST
        and _speaks(text, to_user=to_user)
        and (named(text) or not with_name)
        and whole_quotes(text)
        and not words.TEMPLATE.search(CODE.sub("", text))
        and not words.MONOLOGUE.match(text)
        and not any(gate.search(text) for gate in (_PRAISE, _SLIP, _CUT_OFF, _OF_THE_DAY))
    )


# --- causes and cures ---

_OF_CAUSE = re.compile(
    r"^(?:\d+[.)]\s*)?(?:the )?(?:root |real |actual |underlying |main )?(?:causes?|bugs?|problems?|issues?)"
    r"(?:\s*(?:\(.*\)|of .*|found|identified|summary|&.*|and .*))?$|^\d+[.)] .{3,60} (?:issue|problem|error|bug)s?$|"
    r"^why (?:it|this|the .{3,40}) (?:fail|broke|breaks?|happen|"
    r"crash|hang|is |was )|^why (?:this|that|the (?:fix|change|cure|solution)) (?:fix|work|help|cure|solve)\w*|"
    r"^what (?:happen|went wrong|caused|was wrong|the problem)|^(?:diagnosis|error explanation|"
    r"explanation|"
    r"ursache|la cause|la causa|根本原因|原因|问题原因|原因分析|根因|问题根源|问题所在|问题诊断|причина.*|"
    r"проблема|causa|"
    r"problema)$",
    re.IGNORECASE,
)
_CAUSE_LABEL = re.compile(
    r"^(?:the )?(?:(?:root |real |actual |underlying )?cause|bug|problem|issue|diagnosis|根本原因|原因|根因|问题根源|"
    r"Ursache|причина|проблема)\s*(?:\([^)]{1,30}\)\s*)?(?:(?:is|was)\s*)?[:：—–-]\s*",
    re.IGNORECASE,
)
_BREAKS = r"(?:fail(?:s|ed|ing|ure)?|broke|breaks?|broken|crash(?:es|ed)?|hangs?|hung|errors?)"
CAUSES = re.compile(
    rf"\bcausing\b|\bwhich (?:caused|causes|broke|breaks)\b|\b(?:is|was|were|are) (?:caused by|due to|the (?:culprit|"
    rf"cause))\b|"
    rf"\b{_BREAKS}\b.{{0,100}}\b(?:because|since|due to|as)\b|\b(?:because|since|due to)\b.{{3,160}}\b{_BREAKS}\b|"
    rf"\bthe reason\b.{{3,90}}?\b(?:is|was) (?:that|because)\b|\b(?:happen|occur)\w* (?:because|when|since|"
    rf"from)\b|\bfixed a (?:long-standing )?bug where\b",
    re.IGNORECASE,
)
_CURE_HEADING = re.compile(
    r"^(?:\d+[.)]\s*)?(?:the |proposed |my )?(?:fix(?:es|ed)?|solutions?|resolution|cure|remedy|workaround|lösung|"
    r"solución|解决方案|解决方法|修复|解决|対処|修正|해결|решение|solução)\b",
    re.IGNORECASE,
)
CURE = re.compile(
    r"^(?:\W*)(?:the |my )?(?:fix(?:ed)?(?: it| this)?|solution|resolution|cure|workaround|remedy|修复|解决方案|"
    r"解决方法|修正|решение)\s*(?:(?:is|was)\s+(?:to\s+)?|[:：—–-]+\s*|by\s+|adds?\s+(?=\w))|"
    r"^(?:to (?:fix|solve|resolve|avoid|work around) (?:this|it|the)(?: [\w-]+){0,3}?[,:]\s+(?:you (?:can|need to|"
    r"have to|should|"
    r"must)\s+)?|you (?:just |only |simply )?(?:need|have) to (?=(?:use|set|run|add|pass|call|remove|install|pin|"
    r"prefix|upgrade|export|enable|disable)\b)|fixed by\s+|I (?:have |"
    r"'ve )?fixed (?:this|it) by\s+)",
    re.IGNORECASE,
)
_DID = re.compile(
    r"^(?:I(?:'ve| have)? |we(?:'ve| have)? )?(?:also |now )?(?=[a-z]+ed\b|set\b|made\b|wrote\b|rewrote\b)",
    re.I,
)


def find_causes(session: Session) -> Iterator[Found]:
    """Why something failed, with what cured it, as the assistant's closing messages tell it; the last ones of a
    session, each once."""
    told: list[Found] = []
    for closing in [] if session.of_others else session.closings:
        if closing.refuted or closing.doubted:
            continue
        rows = session.rows[closing.number]
        if _reviews(rows) and not closing.changed:
            continue
        mine = list(islice(_causes_in(session, closing, rows), MAX_CAUSES))
        for number, turn in session.said_before(closing) if not mine and closing.changed else ():
            mine = mine or list(_causes_in(session, closing, rows_of(turn, number), sure=True))
        told += mine[:MAX_CAUSES] or (_diagnosed(session, closing, rows) if closing.changed else ())
    fresh = [one for at, one in enumerate(told) if not any(same(one, other) for other in told[at + 1 :])]
    yield from fresh[-MAX_CAUSES:]


def _causes_in(session: Session, closing: Closing, rows: Sequence[Row], *, sure: bool = False) -> Iterator[Found]:
    for thought in thoughts(rows):
        cause = cause_of(session, closing, rows, thought, sure=sure)
        if cause:
            cure = cure_of(rows, thought)
            if not cure and not closing.changed and session.rewritten(closing.number, cause):
                continue  # it was mended since, and nobody says how
            yield found("facts", with_cure(cause, cure), closing.number, quote=thought.quote, score=66 + 2 * bool(cure))


def with_cure(cause: str, cure: str) -> str:
    """A cause and what cured it in one line, the cure only where there is room."""
    whole = f"{with_stop(cause)} Fix: {cure}"
    return whole if cure and len(whole) <= LONGEST_WITH_CURE else with_stop(cause)


def is_cause(rows: Sequence[Row], thought: Thought) -> bool:
    """Whether a thought says why something went wrong: by its label, its words, or the heading that it is the first
    below."""
    row = thought.row
    if row.kind == "check" or words.SEVERE.match(row.text):
        return False
    above = rows[thought.at - 1] if thought.at else None
    first = above is None or above.heading != row.heading or above.text.endswith((":", "："))
    below = first and _OF_CAUSE.match(row.heading) is not None
    return below or any(found.search(thought.text) for found in (_CAUSE_LABEL, words.CAUSE, CAUSES))


def cause_of(session: Session, closing: Closing, rows: Sequence[Row], thought: Thought, *, sure: bool = False) -> str:
    """The cause that a thought tells, whole, "" for none; `sure`: it stands alone, in the middle of work."""
    if not is_cause(rows, thought) or (sure and not CAUSES.search(thought.text)):
        return ""
    text = _CAUSE_LABEL.sub("", thought.text)
    if leaning(text):
        text = "" if sure else _lead(session, closing, rows, thought, text)
    if not text or is_past(text) or CURE.match(text) or not states(text, with_name=False):
        return ""
    if not named(text) and not cure_of(rows, thought):
        return ""
    if named(text) and session.events and not session.bears_out(text):
        return ""
    parts = [text for text, _ in _said(thought.row)[:LOOK_AFTER]]
    begins = thought.text.startswith(parts[0])
    more = next((part for part in parts if part not in thought.text), "") if begins else ""
    ends = CURE.match(more) or words.ORDER.match(more) or is_past(more) or len(text) + len(more) > LONGEST
    return begun(f"{with_stop(text)} {more}" if more and _speaks(more) and not ends else text)


def _lead(session: Session, closing: Closing, rows: Sequence[Row], thought: Thought, text: str) -> str:
    """A thought that leans, with what it leans on: the sentence or list above, or what the user had asked."""
    row, above = thought.row, ""
    before = list(thoughts(rows[max(0, thought.at - 1) : thought.at + 1]))
    own = next((at for at, one in enumerate(before) if one.quote == thought.quote), 0)
    if own and before[own - 1].row.kind != "bullet":
        above = before[own - 1].text
    elif thought.at and "bullet" in (row.kind, rows[thought.at - 1].kind):  # what leads to the list
        lead = next(
            (other for other in reversed(rows[max(0, thought.at - LOOK_ABOVE) : thought.at]) if other.kind != "bullet"),
            row,
        )
        said = [part.text for part in sentences(lead)] if lead.text.endswith((":", "：")) else [row.heading]
        above = said[-1] if said else ""
    first = _CAUSE_LABEL.sub("", neutral(above)).rstrip(" :：")
    if first and named(first) and not leaning(first) and _speaks(first) and len(first) + len(text) < LONGEST:
        return f"{with_stop(first)} {text}"
    asked = session.asked(closing)
    return f"“{asked}”: {text}" if asked and WHY.search(text) and re.match(r"(?:this|it)\b", text, re.I) else ""


def cure_of(rows: Sequence[Row], cause: Thought) -> str:
    """What cured it, as the rows from a cause on say: below such a heading, behind such a label, or what was done with
    the same thing."""
    told: list[str] = []
    for later in rows[cause.at : cause.at + 1 + LOOK_BELOW]:
        own = later is cause.row
        headed = not own and _CURE_HEADING.match(later.heading) is not None
        if told and not (later.kind == "bullet" and told[0].endswith(":")):
            break
        for text, _ in _said(later)[:LOOK_AFTER]:
            if own and text in cause.text:
                continue
            label = CURE.match(text)
            done = words.DONE.match(text) and not own and names_in(text) & names_in(cause.text)
            if not (label or headed or done or told):
                continue
            said = begun((text[label.end() :] if label else _DID.sub("", text)).strip())
            said = _WITH_GUESS.sub("", said) if GUESS.search(said) else said
            if (_is_cure(said.rstrip(":")) if not told else len(said) <= LONGEST_CURE) and len(told) <= MAX_STEPS:
                told.append(said if said.endswith(":") else said.rstrip("."))
            if told and not said.endswith(":"):
                break
    if not told:
        return _cure_above(rows, cause)
    return f"{told[0]} {'; '.join(told[1:])}".strip().rstrip(":") + "."


def _cure_above(rows: Sequence[Row], cause: Thought) -> str:
    """What was done, as the rows above say, where the heading of a cause speaks of the cure ("why this fixes it")."""
    if not _WHY_CURED.match(cause.row.heading):
        return ""
    for row in rows[max(0, cause.at - LOOK_ABOVE) : cause.at]:
        text = re.sub(r"\s+(?:in|with|by|to|at)\s*[:：]$", "", row.text if row.kind == "bullet" else "")
        if words.DONE.match(text) and _is_cure(text):
            return with_stop(begun(_DID.sub("", text)))
    return ""


_WHY_CURED = re.compile(
    r"why (?:this|that|the (?:fix|change|cure|solution)) (?:fix|work|help|cure|solve)", re.IGNORECASE
)
_WITH_GUESS = re.compile(r",? (?:since|as|because|which|so)\b.*$")
"""The reason of a cure, dropped where it is a guess."""


def _diagnosed(session: Session, closing: Closing, rows: Sequence[Row]) -> Iterator[Found]:
    """The message that names the same things as the cure below: between them the files were changed, so it says what
    was wrong, in whatever language."""
    labels = [(text, CURE.match(text)) for row in rows for text, _ in _said(row)]
    cures = [begun(text[label.end() :].strip()) for text, label in labels if label]
    for cure in [text for text in cures if _is_cure(text)][:1]:
        for number, turn in session.said_before(closing):
            said = [thought for thought in thoughts(rows_of(turn, number)) if states(thought.text)]
            text = " ".join(with_stop(thought.text) for thought in said)
            if len(names_in(text) & names_in(cure)) >= LEAST_SAME_NAMES and len(text) <= LONGEST and not is_past(text):
                yield found("facts", with_cure(text, cure), closing.number, quote=said[0].quote, score=66)
                return


LEAST_SAME_NAMES = 2


def _is_cure(text: str) -> bool:
    return (
        len(text) >= SHORTEST // 2
        and (named(text) or not is_latin(text))
        and len(text) <= LONGEST_CURE
        and whole_quotes(text)
        and not text.endswith(("?", "…"))
        and not (words.OFFER.search(text) or GUESS.search(text) or _LEANS.match(text) or looks_like_code(text))
    )


def same(one: Found, other: Found) -> bool:
    """Whether two items say mostly the same."""
    return alike(one.fields["statement"], other.fields["statement"])


# --- reasons and limits ---

_NOTED = re.compile(
    r"\b(?:notes?|caveats?|important|why|gotchas?|limitations?|constraints?|behaviou?r|how it works|key (?:points|"
    r"findings?|"
    r"insights?|facts)|findings?|lessons?|explanation|background|warnings?|trade-?offs?|design|decisions?)\b|注意|说明|"
    r"备注|原因|"
    r"限制|注意点|補足",
    re.IGNORECASE,
)
_ADVICE_HEADING = re.compile(
    r"\b(?:options?|alternatives?|suggest\w*|recommend\w*|proposal|proposed|plan|next steps?|steps|nits?|verdict|"
    r"strengths?|"
    r"what's good|example|questions?|approach(?:es)?|how to)\b|建议|可选|下一步|提案",
    re.IGNORECASE,
)
WHY = words.one_of({
    "en": (
        "because", r"(?<!ever )since (?!then|the last|v?\d)", "so that",
        r"so (?:the|it|that|no|both|all|users?|an?|only)",
        "otherwise", "due to", "in order to", "to (?:avoid|prevent|keep|preserve|stay)", "on purpose", "by design",
        "intentional(?:ly)?", "deliberate(?:ly)?", "means that",
        r"which (?:means|avoids?|keeps?|lets?|prevents?|is why)",
        "this (?:avoids|prevents|keeps|means)", r"would (?:have )?(?:otherwise|fail\w*|break\w*|erase|lose)",
    ),
    "de": ("weil", "damit", "sodass", "absichtlich", "sonst"), "fr": ("parce que", "afin (?:de|que)", "pour éviter"),
    "es": ("porque", "para (?:que|evitar)"), "zh": ("因此", "因为", "由于", "以便", "避免", "否则"),
    "ja": ("ため", "ので"), "ko": ("때문", "위해"), "ru": ("потому что", "так как", "чтобы", "иначе", "поэтому"),
    "pt": ("porque", "para (?:que|evitar)", "senão"),
})  # fmt: skip
_IN_PASSING = re.compile(
    r"(?:\(|\s[—–]\s|;\s)(?:[^()—–;]{3,120}?\s)?(?:is|are|was|were|has|have|had|does|do|did|can|cannot|can't|won't|"
    r"doesn't|"
    r"isn't|aren't|didn't|needs?|requires?|lacks?|must|only|already|expects?|returns?|works?|fails?)\b[^()—–;]{4,}"
)
"""A clause in brackets or behind a dash that says how things are."""
PAST = re.compile(
    rf"(?:{words.DONE.pattern})|^\W*(?:[A-Z][a-z]+ed|(?:re)?(?:built|wrote|made|set|ran|did)|kept|left|sent|put|cut|"
    rf"brought|"
    r"split|took)\b",
    re.IGNORECASE,
)


def is_past(text: str) -> bool:
    """Whether a sentence tells what was done; a name in backticks may end as a verb does."""
    return PAST.match(text) is not None and text[0] != "`"


def find_reasons(session: Session) -> Iterator[Found]:
    """What closing messages say of the user's own systems with a reason or a limit, the weightiest of a session."""
    told: list[tuple[int, Found]] = []
    for closing in [] if session.of_others else session.closings:
        rows = session.rows[closing.number]
        if closing.refuted or closing.doubted or _reviews(rows):
            continue
        for thought in thoughts(rows):
            row = thought.row
            if (
                row.kind == "check"
                or words.SEVERE.match(row.text)
                or _ADVICE_HEADING.search(row.heading)
                or words.LEFT_HEADING.match(row.heading)
            ):
                continue
            text = thought.text
            if not any(cue.search(text) for cue in (WHY, words.LIMIT, _IN_PASSING, _NOTE)):
                continue
            if leaning(text):
                text = _lead(session, closing, rows, thought, text)
            weight = _weight(session, closing, row, text) if text else 0
            if weight >= LEAST_WEIGHT:
                kind = "decisions" if is_past(text) else "facts"
                text = _with_subject(row, text)
                told.append(
                    (weight, found(kind, with_stop(text), closing.number, quote=thought.quote, score=48 + weight))
                )
    kept: list[Found] = []
    for _, item in sorted(told, key=lambda row: (row[0], row[1].turn), reverse=True):
        if len(kept) < MAX_REASONS and not any(same(item, other) for other in kept):
            kept.append(item)
    yield from sorted(kept, key=lambda item: item.turn)


_NO_SUBJECT = re.compile(
    r"^(?!(?:Tests?|Files?|This|Pass)\b)(?:Falls|[A-Z][a-z]+(?:es|[^s]s))\s+(?:(?:back|up|out|a|an|the|all|to|on|in|"
    r"no)\b|`)",
)
"""A bullet that says what something does without what it is."""


def _with_subject(row: Row, text: str) -> str:
    """A bullet without a subject, with the heading above it that has one."""
    heading = row.heading.rstrip(" :：")
    whole = f"{heading}: {text}"
    return whole if _NO_SUBJECT.match(text) and named(heading) and len(whole) <= LONGEST else text


def _weight(session: Session, closing: Closing, row: Row, text: str) -> int:
    """How much a thought says for later, 0 for one that is not to be taken."""
    why, limit = 2 * bool(WHY.search(text)) or int(bool(_IN_PASSING.search(text))), words.LIMIT.search(text)
    if (
        not (why or limit or _NOTE.match(text))
        or not states(text)
        or words.UNDONE.search(text)
        or words.CAUSE.search(text)
    ):
        return 0
    if words.ORDER.match(text) or (is_past(text) and not why) or not session.knows(text):
        return 0
    if session.rewritten(closing.number, text) and not closing.at_end:
        return 0
    noted = _NOTED.search(row.heading) or _NOTED.match(row.text)
    names = min(2, len(names_in(text)))
    asked = not session.edits and closing.at_end  # then what was explained is what the session was for
    return why + bool(limit) + bool(noted) + closing.at_end + (closing.changed or asked) + names


def _reviews(rows: Sequence[Row]) -> bool:
    """Whether a message is a list of findings: what stands there was looked at, and not what holds."""
    marked = sum(words.SEVERE.match(row.text) is not None or _OF_REVIEW.match(row.text) is not None for row in rows)
    return marked >= MARKED_POINTS


MARKED_POINTS = 2
_OF_REVIEW = re.compile(r"^\W*(?:\(\d+\)|[✅⚠💡❓❌]|(?:nit|minor|suggestion|bug|question)\b\s*[:(—–-])", re.IGNORECASE)
