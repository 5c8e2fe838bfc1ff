"""What the user wants: rules for good, and how the thing that is being built has to be.

A rule holds whatever the work of the day is ("never commit to main"). A requirement is said of the work ("the tab opens
only when the conversion has ended") and lasts with it, once somebody went to work on it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from core.conversations.conversation import Turn
from core.offline import cues
from core.offline.closing import rows_of
from core.offline.exchanges import Exchange, found, has_placeholder, is_long, own_words, subject_of
from core.offline.prose import Row, Sentence, by_person, clean, looks_like_code, sentences
from core.offline.sessions import Session, is_change
from core.offline.statements import Found

MAX_LASTING = 5
LONGEST = 220
BARE_SUBJECT = re.compile(r"(?:this|that|it|these|those|they|he|she|which|or|if)\b", re.IGNORECASE)
FILLER = re.compile(
    r"^(?:(?:ok(?:ay)?|yes|yeah|yep|no|nope|and|but|also|so|well|hmm|um|uh|oh|please|actually|really|sure|"
    r"I (?:think|guess|believe|mean))\b[,.!]?\s+)+",
    re.IGNORECASE,
)
_ADVICE = re.compile(
    r"(?:consider|you (?:can|could|may|might)|let me|note that|tip|I (?:should|would|will|must))\b", re.IGNORECASE
)
REQUEST = re.compile(
    r"(?:now|then|next|go back|rewrite|change|update|move|rename|fix|create|add|make|set|put|convert|show|remove|"
    r"delete|replace|implement|write|build|run|try|check|look|find|open|generate|refactor|revert|commit|push|merge)\b",
    re.IGNORECASE,
)
_OF_STEP = re.compile(
    r"\bthe (?:other|rest|same)\b|\b(?:too|so) much\b|\byou (?:just|removed|deleted|forgot|missed)\b", re.IGNORECASE
)
_REPORTED = re.compile(
    r"\b(?:mentions?|says?|states?|claims?|suggests?|told|according to)\b|\b(?:answered|replied|wrote)\s*:|^can we\b",
    re.IGNORECASE,
)
"""What somebody else said is not the user's own will."""


_ASKING = ("？", "吗", "呢", "か", "か。", "까", "나요")


CORRECTS = re.compile(
    r"^(?:no,? |nope,? |actually,? |technically,? |it'?s actually |wrong,? |nein,? |non,? |en fait,? |en realidad,? |"
    r"eigentlich |不对[,，]?|不是[,，]?|实际上|其实|実は|違います[。、]?|いいえ[、,]?|아니(?:요|에요)?[,.]? )",
    re.IGNORECASE,
)


# --- will ---


def find_wishes(session: Session, exchanges: list[Exchange], *, works: bool = True) -> Iterator[Found]:
    """What the user wants for good (rules, preferences, choices) and, where the assistant `works` on files, how a
    thing has to be that was worked on."""
    by_turn = {row.number: row for row in exchanges}
    changes = [number for number, event in session.events if is_change(event)]
    last_change = changes[-1] if changes else None
    wills: list[Found] = []
    wanted: list[Found] = []
    for number, turn in enumerate(session.conversation.turns):
        row = by_turn.get(number)
        long = is_long(turn.text)
        if turn.role != "user" or turn.agent or not (row or long):
            continue
        rows = rows_of(turn if long or row is None else Turn("user", row.text), number)
        if long or row is None or row.events or not row.doubted:
            wills += [item for part in rows for item in will_in(sentences(part), number)]
        if works and _worked_on(last_change, number, row) and not _OF_REVIEW.search(turn.text):
            wanted += _wanted_in(rows, number, row.changed if row else (), _asked_first(session))
    lasting = []
    for item in wills:
        if any(_instead(item, later) for later in wills if later.turn > item.turn):
            continue
        if _FOR_WHAT.search(item.fields["statement"]):
            before = next((row for row in reversed(wills) if row.turn < item.turn and _instead(row, item)), None)
            if before is None:
                continue
            item.fields["detail"] = f"in place of “{before.fields['statement']}”, in “{subject_of(session)}”"
        lasting.append(item)
    said = {item.fields["quote"] for item in wills}
    reversing = [row for row in exchanges if _REVERSES.search(row.text)]
    stands: list[Found] = []
    known = [_words(_TELLING, row) for row in lasting]
    for item in sorted(wanted, key=lambda item: -len(item.fields["statement"])):  # of two that say the same, the longer
        if item.fields["quote"] in said or _is_over(item, wills, reversing):
            continue
        words = _words(_TELLING, item)
        if not any(_alike(words, other) for other in known):
            stands.append(item)
            known.append(words)
    for items, most in ((lasting, MAX_LASTING), (stands, MAX_WANTED)):
        best = sorted(items, key=lambda item: (item.score, item.turn))[-most:]
        yield from sorted(best, key=lambda item: item.turn)


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether most telling words of one wish stand in another."""
    return len(one & other) >= 0.6 * max(1, min(len(one), len(other)))


def _words(words: re.Pattern[str], item: Found) -> frozenset[str]:
    return _words_of(words, item.fields["statement"])


@lru_cache(maxsize=4096)  # each wish is held against all others
def _words_of(words: re.Pattern[str], statement: str) -> frozenset[str]:
    return frozenset(words.findall(statement.casefold()))


_WORD = re.compile(r"\w+")
_TELLING = re.compile(r"\w{4,}|[぀-ヿ一-鿿가-힣]{2,}")
"""Words that tell what a wish is about; those of Korean, Chinese and Japanese are short."""


def _is_over(item: Found, wills: list[Found], reversing: list[Exchange]) -> bool:
    """Whether the user took a wish back later, or wants another thing in its place."""
    return any(_instead(item, later) for later in wills if later.turn > item.turn) or any(
        taken_back(item, later, _REVERSES) for later in reversing if later.number > item.turn
    )


_FOR_WHAT = re.compile(r"\binstead(?! of)\b", re.IGNORECASE)


def _instead(first: Found, second: Found) -> bool:
    """Whether a later wish takes the place of one: it says the same of another thing. Of the words that every rule is
    made of alone nobody can tell."""
    one, other = _words(_WORD, first), _words(_WORD, second)
    if len(one & other) < 3 or len(one & other) < 0.5 * min(len(one), len(other)):
        return False
    one, other = one - _OF_RULES, other - _OF_RULES
    return len(one & other) >= 0.5 * max(1, min(len(one), len(other)))


_SAYING_NOTHING = (
    "a all also always an and any are as at be by can do don each every for from has have i if in instead is it keep "
    "make must need needs never no not of on only or please should sure t that the them then they this to use using "
    "want we when with without you your "
    "immer nie niemals nur bitte der die das den dem ein eine einen und oder in im mit von für nicht soll sollen muss "
    "toujours jamais le la les un une des de du et ou dans avec pour ne pas il faut doit "
    "siempre nunca solo el los las una del y o en con para no debe usa"
)
_OF_RULES = frozenset(_SAYING_NOTHING.split())


LEAST_NAMED, LEAST_UNNAMED = 4, 6
"""Words of a wish that names a thing, and of a rule that names none."""
_CALLED = re.compile(r"(?<=[a-z,] )(?!I\b)[A-Z][a-z]+\w*")
"""A thing by its proper name, within a sentence."""
_OF_THIS = re.compile(r"\b(?:after|once|when|before|with) (?:\w+ing )?(?:this|that|these|those)\b", re.IGNORECASE)
_POINTS_AT = re.compile(
    r"^(?:my|our|the|your) [\w ]{2,40} (?:is|are|lives?|should be|must be|can be found)(?: \w+)? "
    r"(?:in|at|under|inside) [`@\"']?[\w./@-]*[@/.][\w./-]+[`\"']?[.!]?$|"
    r"^(?:see|look (?:at|in)|refer to|check)\b[^.]*@[\w./-]+[.!]?$",
    re.IGNORECASE,
)
"""A sentence that shows the assistant a file decides nothing."""


_SHOULD = re.compile(r"\bshould(?:n't)? (?:be|not|have|use|stay|go)\b", re.IGNORECASE)
"""What a correction wants to be otherwise; by itself it is a piece of work."""


def will_in(said: Iterator[Sentence], number: int) -> Iterator[Found]:
    """Of sentences of the user in the turn `number`: what they want for good."""
    for sentence in said:
        text = FILLER.sub("", sentence.text.strip("\"'“”"))
        strong = cues.STRONG_WILL.search(text) is not None
        wills = cues.WILL.search(text) or (CORRECTS.match(sentence.text) and _SHOULD.search(text))
        if not wills or not (12 if text.isascii() else 6) <= len(text) <= LONGEST:
            continue
        if "?" in text or text.endswith(_ASKING) or looks_like_code(text) or cues.MOMENT.search(text):
            continue
        if cues.POINTING.search(text) or cues.HEDGE.search(re.sub(r"should|可以", "", text)):
            continue
        if BARE_SUBJECT.match(text) or _ADVICE.match(text) or _REPORTED.search(text) or _OF_STEP.search(text):
            continue
        named = cues.ANCHOR.search(text) or cues.TOOL.search(text) or _CALLED.search(text)
        if not (named or strong):
            continue  # what it is about only the talk around it knows
        if text.isascii() and len(text.split()) < (LEAST_NAMED if named else LEAST_UNNAMED):
            continue
        if _OF_THIS.search(text):
            continue  # of the work in hand
        if _POINTS_AT.search(text):
            continue  # where to look
        if REQUEST.match(text) and not strong:
            continue  # a piece of work, not a rule
        yield found("decisions", text, "", sentence.quote, 60 + strong, number)


# --- how the thing that is being built has to be ---

# How a thing has to be that is being built.
_WANTED = cues.one_of({
    "en": (
        r"should(?:n'?t)?(?! (?:i|we|you)\b)", r"must(?:n'?t)?", "needs? to be", "has to be", "ha(?:s|ve) to",
        "(?:is|are) (?:supposed|meant) to", "can only",
        r"(?:we|i)(?:'d)? (?:(?:also|just|really|only|do) )*(?:want|need|prefer|would like|expect) (?!you\b|to (?:see|"
        r"know|understand|check|be sure|make sure|ask|fix|debug|test|look|update|discuss|design|work|start|talk|make "
        r"it))(?:\S+ ){0,8}to",
        r"(?:we|i) (?:really )?(?:don'?t|do not) (?:want|need|expect)",
        r"so (?:that )?(?:the|it|they|each|all|every|users?|there|only|when)", "make sure", "ensure",
        "only", "without", "instead of", "rather than", "no longer", "never", "always",
        r"(?:^|[,;:] |(?:please|and|but|also) )do(?:n'?t| not)"
        r"(?! (?:worry|know|see|think|need to|understand|have|get|just))", "by default", "defaults? to",
        "at (?:least|most)", r"not (?:the|a|an|by|in|as|to|for|via)", "unless",
        "(?:each|every) time", r"use \S+(?: \S+){0,8} (?:for|as|to|with|in|everywhere)", "keep",
        r"let'?s (?:use|go with|keep|call)",
    ),
    "de": (
        r"soll(?:en|s?t|te(?:n|s?t)?)?", "muss(?:t|te)?", "müss(?:en|t|ten?)",
        r"(?:darf|dürfen)(?: \S+){0,6} (?:nicht|kein\w*)", "ich (?:will|möchte|brauche)", "nur", "ohne", "statt",
        "damit", "kein(?:e[nr]?)?",
    ),
    "fr": ("doi(?:t|vent)", "devrai(?:t|ent)", "il faut que", "je (?:veux|voudrais)", "uniquement", "seulement", "sans",
           "au lieu de", "pour que", "afin que"),
    "es": ("debe(?:n|rían?)?", "tienen? que", "quiero", "solo", "sin", "en (?:vez|lugar) de", "para que"),
    "zh": ("应该?", "必须", "需要(?!我)", "要(?:求|能|用|有)", "只", "不要", "不能", "改[为成]", "而不是", "默认"),
    "ja": ("べき", "必要が", "ようにして", "だけ", "ではなく", "しないで", "してほしい"),
    "ko": ("야 (?:합|한|해|됩|돼)", "만 ", "대신", "하도록", "하지 (?:않|마)", "원합니다"),
})  # fmt: skip
# One step of the work: over when it is done.
_ONE_STEP = cues.one_of({
    "en": (
        "fix", "run", "commit", "push", "check", "look", "explain", "review", "revert", "undo", "show", "tell", "read",
        "see", "try", "find", "search", "debug", "continue", "go", "start", "stop", "merge", "rebase", "deploy",
        "install", "what", "why", "how", "is", "are", "does", "do you", "did", "where", "which", "who", r"summari[sz]e",
        "implement the", "proceed", "give", "help", "compare", "take a look", "have a look", "scan", "address", "test",
        "verify", "confirm", "rename", "remove", "delete", "update", "advise", r"analy[sz]e", "investigate",
        "there (?:is|are)", r"i (?:still|get|got|have|see|am|was|had|asked|thought|added|tried|should|can|just)",
        r"you (?:only|didn|removed|are|were|just|have|made)",
        "(?:write|add) (?:a|an|the|some) (?:tests?|commit|summary)", "write to",
    ),
    "de": ("prüfe?", "schau", "führ", "lies", "zeige?", "warum", "wie", "was", "behebe?"),
    "fr": ("vérifie", "regarde", "lance", "montre", "corrige", "pourquoi", "comment"),
    "es": ("revisa", "mira", "ejecuta", "muestra", "corrige", "arregla", "por qué", "cómo"),
    "zh": ("检查", "看", "运行", "修复", "提交", "推送", "解释", "为什么", "怎么"),
    "ja": ("なぜ", "どう"),
    "ko": ("왜", "어떻게"),
}, begins=True)  # fmt: skip
MAX_WANTED = 4
LONGEST_WANTED = 300
LEAST_ALONE = 14
"""Words of a requirement that names nothing."""
LEAST_LEANING = 8
"""Words in front of a pronoun that can hold what it stands for."""
_POLITE = re.compile(
    r"^(?:(?:like|basically|just|maybe|perhaps)[, ]+)*"
    r"(?:(?:(?:can|could|would|will) (?:you|we)|(?:I(?:'d| would)?|we) (?:want|need|like) you to|you should|let'?s|"
    r"we (?:need|have) to|(?:kannst|könntest) du|(?:peux|pourrais)-tu|¿?(?:puedes|podrías)|请|帮我|麻烦)"
    r"(?:[ ,]*(?:please|also|just|maybe|bitte|mal|por favor|你))*\s*)?",
    re.IGNORECASE,
)
"""How an order begins that is said politely, and what stands before it."""
_SO_THAT = re.compile(
    r"^(?:(?:change|make|set|fix|update|adjust) (?:it|this|that) (?:so(?: that)?|where|such that)|"
    r"(?:make sure|ensure|be sure)(?! to\b)(?: that)?)\s+",
    re.IGNORECASE,
)
"""What stands in front of the state that is wanted."""
_PRONOUN = re.compile(r"\b(?:it|this|these|those|them|they|he|she)\b(?! (?:file|repo|project))", re.IGNORECASE)
_LEANING = re.compile(
    r"^(?:that|which|or)\b|\b(?:you|your|above|here|previous(?:ly)?|following|again|other)\b|\bsure to\b|"
    r"\bremember to\b|\b(?:too|also|same)\W*$",
    re.IGNORECASE,
)
"""Words for what was said or done before, and for how the assistant should go about its work."""
_IN_TROUBLE = re.compile(
    r"^some\b|\b(?:\w*errors?|\w*exception|uncaught|fail\w*|broken?|crash\w*|still|bugs?|wrong|stuck|getting|"
    r"doesn'?t work|mistake\w*)\b|:\d+:\d+",
    re.IGNORECASE,
)
_OF_REVIEW = re.compile(
    r"\blines? \d+|\bnit(?:pick)?s?\b|\bconsider \w+ing\b|^[ \t]*at \S+ ?\(|\w:\d+:\d+\b|\bUncaught\b|"
    r"\b(?:potential issue|suggestion|severity|findings?)\b",
    re.IGNORECASE | re.MULTILINE,
)
"""A message with the words of a reviewer or of a browser's console in it: whose sentence is whose, nobody knows."""
_FIELD = re.compile(r"(?<!\w)_{2,}(?!\w)|\{\w+\}|\(optional\)|\$\w")
_LOOKS = re.compile(
    r"\b(?:colou?rs?|fonts?|padding|margins?|borders?|bold|italic|align\w*|cent(?:er|re)(?:ed)?|background|darker|"
    r"lighter|bigger|smaller|hyperlinks?|spacing|pixels?)\b",
    re.IGNORECASE,
)
_OPINION = re.compile(
    r"\bI (?:like|feel|love|hate|doubt)\b|\b(?:nice|great|ugly|weird|confusing|cool|feels?|sounds?|seems?)\b",
    re.IGNORECASE,
)
_OUGHT = re.compile(
    r"\b(?:should|must|need|needs|has to|have to|want|wants|shall|supposed|meant|can only|never|always)\b",
    re.IGNORECASE,
)
_IS = re.compile(
    r"^(?!(?:use|keep|don'?t|do not|only|when|if)\b)(?:\S+ ){1,8}?(?:is|are|has|have|takes?|contains?)\b", re.IGNORECASE
)
"""How a thing is, as the user tells it; what is ought to be so is a decision."""
_LIMITS = re.compile(
    r"\b(?:constraints?|requirements?|rules?|must|principles?|guidelines|conventions?)\b", re.IGNORECASE
)
"""A heading or lead-in whose items have to hold."""
_QUOTED = re.compile(r"[\"“'][^\"”']{2,}[\"”']|(?<!\w)@\w")


def _worked_on(last_change: int | None, number: int, row: Exchange | None) -> bool:
    """Whether a change of a file follows; in a format that tells of none, whether an answer does."""
    return row is not None and bool(row.replies) if last_change is None else last_change > number


def _wanted_in(rows: list[Row], number: int, files: tuple[str, ...], subject: str) -> Iterator[Found]:
    """How a thing has to be: what it does, when, with what and without what."""
    for sentence in (said for row in rows for said in sentences(row)):
        limits = sentence.row.kind == "bullet" and _LIMITS.search(sentence.row.heading) is not None
        for said in re.split(r"(?<=[.?!])\s+(?=[a-z@`\"(])", sentence.text):
            first = FILLER.sub("", said)
            asked = _POLITE.sub("", first)
            text = FILLER.sub("", _SO_THAT.sub("", FILLER.sub("", asked))).strip()
            suggested = _suggested(first) if files else ""
            text = suggested or text
            if (text.endswith(("?", *_ASKING)) and asked == first) or _ONE_STEP.match(suggested or asked):
                continue
            text = text.rstrip("?？ ")
            text = text if text.count('"') % 2 == 0 else text.replace('"', "")
            if not (limits or suggested or _WANTED.search(asked)) or not _stands(text):
                continue
            named = cues.ANCHOR.search(text) or _CALLED.search(text) or _QUOTED.search(text)
            if not named and text.isascii() and len(text.split()) < LEAST_ALONE:
                continue
            if REQUEST.match(text) and not cues.ANCHOR.search(text):
                continue  # a change of how something looks
            detail = "wanted by the person" * bool(subject or files) + (f" in “{subject}”" if subject else "")
            detail += f", worked on in {', '.join(f'`{name}`' for name in files[:2])}" if files else ""
            stated = text == first.rstrip("?？ ") and _IS.match(text) and not _OUGHT.search(text)
            category, detail = ("facts", "told by the person") if stated else ("decisions", detail)
            yield found(category, text, detail, sentence.quote, 55 + bool(named) + limits, number)


LEAST_SUBJECT, MAX_SUBJECT_CHARACTERS = 4, 100


def _asked_first(session: Session) -> str:
    """What the user asked for first where that is one whole sentence, and no command or path; else ""."""
    turns = session.conversation.turns
    first = next((turn.text for turn in turns if by_person(turn) and own_words(turn.text)), "")
    asked = clean(cues.first_sentence(first, MAX_SUBJECT_CHARACTERS) or first.strip()).rstrip(".:")
    whole = (
        len(asked.split()) >= LEAST_SUBJECT
        and len(asked) <= MAX_SUBJECT_CHARACTERS
        and "\n" not in first.strip()[: len(asked)]
    )
    return asked if whole and not re.search(r"(?:^|\s)[/~.]|[<>$|]|--|://", asked) else ""


_SUGGESTS = re.compile(
    r"^(?:.{0,120}?[,;:.] )?(?:(?:maybe|perhaps|I (?:think|guess|believe)) )*"
    r"(?:(?:(?:should(?:n'?t)?|could(?:n'?t)?|can'?t) we|why (?:don'?t|not) we|what if we|how about we|"
    r"wouldn'?t it be (?:better|simpler|cleaner|easier) to) (?P<what>\S.+?)|(?P<need>we (?:just |only )*need .+?)|"
    r"(?P<is>.*?[^, ])[, ]++(?:yeah|right|no|correct|isn'?t it|oder|non|verdad))\?$",
    re.IGNORECASE,
)
"""A wish in the form of a question ("shouldn't we …?", "we do …, yeah?"); it counts where work follows."""


def _suggested(text: str) -> str:
    """What somebody wants who asks whether it should be so."""
    found = _SUGGESTS.match(text)
    what = found["what"] or found["need"] or found["is"] if found else ""
    return what if cues.ANCHOR.search(what) else ""


_REVERSES = re.compile(
    r"\b(?:no longer (?:needs?|needed|wants?|wanted|required|necessary)|revert\w*|"
    r"undo|forget|discard\w*|never ?mind|(?:do|did)(?:n'?t| not) need|doch nicht|"
    r"zurücknehmen|laisse tomber|olvida)\b|撤销|不需要了|算了|やめ|취소",
    re.IGNORECASE,
)
"""Words that take a wish back; who says it again in other words ("use X instead") still wants it."""


def _stands(text: str) -> bool:
    """Whether a requirement says by itself what it is about."""
    if not (24 if text.isascii() else 8) <= len(text) <= LONGEST_WANTED or looks_like_code(text):
        return False
    if has_placeholder(text) or cues.MOMENT.search(text) or _IN_TROUBLE.search(text) or _LEANING.search(text):
        return False
    if cues.POINTING.search(text):
        return False
    pronoun = _PRONOUN.search(text)
    if pronoun and len(text[: pronoun.start()].split()) < LEAST_LEANING:
        return False
    if _FIELD.search(text) or _OPINION.search(text) or (_LOOKS.search(text) and not cues.ANCHOR.search(text)):
        return False
    unsure = cues.HEDGE.search(re.sub(r"(?i)should|would like|可以", "", text))
    return not (unsure or _REPORTED.search(text) or _POINTS_AT.search(text) or _FOR_WHAT.search(text))


_ANEW = re.compile(
    r"\b(?:should|instead|make it|no longer|I need|rather|actually|change|revert|undo|better|sollte|lieber|doch|plutôt|"
    r"mejor)\b|改成|改为|还是|やはり|대신",
    re.IGNORECASE,
)


def taken_back(item: Found, later: Exchange, words: re.Pattern[str] = _ANEW) -> bool:
    """Whether later words of the user want something else of the same things."""
    if not words.search(later.text) or later.number == item.turn:
        return False
    names = {name.strip("`").casefold() for name in cues.ANCHOR.findall(item.fields["statement"])}
    said = (part.casefold() for part in _SENTENCES.split(later.text) if words.search(part))
    return any(name in part for part in said for name in names if len(name) > 3)


_SENTENCES = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
