"""What the user said: rules for good, how things are and have to be, what they set right or refused.

A statement counts when it stands alone: it names a thing and holds beyond the moment. It is kept to its values: the
sentences beside it that say "`s` means 1000" belong to the one that says what is meant. An order that the session
carried out is no decision.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.conversations.conversation import Turn
from core.conversations.events import Command, Event
from core.rules import words
from core.rules.failures import bare
from core.rules.pasted import error_in
from core.rules.prose import Row, Sentence, begun, clean, looks_like_code, sentences
from core.rules.sentence import CODE, Found, fits, found, in_lines, is_latin, named, names_in
from core.rules.session import Exchange, Session, rows_of
from core.rules.typed import has_placeholder

MAX_STATED = 5
LONGEST, LONGEST_STATED = 300, 460
"""Characters of one sentence of the user, and of a statement with all that belongs to it."""
LEAST_NAMED, LEAST_UNNAMED, LEAST_ALONE = 4, 6, 12
"""Words of a sentence that names a thing, of a rule that names none, and of a wish that names none."""
LONGEST_DETAIL = 160
MOST_SENTENCES, MOST_OF_REVIEW = 2, 2

FILLER = re.compile(
    r"^(?:(?:ok(?:ay)?|yes|yeah|yep|no|nope|and|but|also|so|well|hmm|um|uh|oh|please|actually|really|sure|btw|fyi|note"
    r"|I (?:think|guess|believe|mean))\b[,.!:]?\s+)+",
    re.IGNORECASE,
)
_POLITE = re.compile(
    r"^(?:(?:(?:can|could|would|will) (?:you|we)|(?:I(?:'d| would)?|we) (?:want|need|like) you to|you should|let'?s|"
    r"(?:make sure|ensure|be sure)(?! to\b)(?: that)?|remember(?: that)?|keep in mind(?: that)?|bitte|请|麻烦)"
    r"(?:[ ,]*(?:please|also|just|maybe|always)(?= ))?\s+)",
    re.IGNORECASE,
)
"""What stands in front of a wish that is said politely."""

# --- which sentences state something ---

RULE = words.one_of({
    "en": (
        r"(?<!it )(?<!they )(?<!this )(?<!that )(?<!which )(?:never|always)", r"prefers?", "instead of", "rather than",
        r"(?:^|[,;:] |(?:please|and|but|also|we|I|you|it|should|must) )(?:do(?:n'?t| not)|not)"
        r"(?! (?:worry|know|see|think|need to|understand|have to|get|sure|work\w*|yet|remember|care)\b)",
        "from now on", r"(?:must|shall|should)(?:n't| not)?(?! (?:i|we|you)\b)", r"(?:has|have|needs?) to be",
        r"(?:is|are) (?:supposed|meant) to", r"only(?! (?:problem|issue|thing|one|difference)\b)", "without",
        "no longer", "by default", "defaults? to", "at (?:least|most)", "unless", "every time",
        r"no (?:more|external|new)", r"(?:is|are) (?:not (?:needed|necessary|required)|no need|unnecessary)",
        r"not (?:the|a|an|by|in|as|to|for|via)", "stick (?:to|with)",
        "let'?s (?:use|go with|keep|call|not|drop|allow|stick|only|always)",
        r"(?:it(?:'s| is|'d be) |would be )?better (?:to|that|if)",
        r"we(?:'ll| will)? (?:use|go with|keep|call)", r"use \S+(?: \S+){0,6} (?:for|everywhere|and not|, not)",
        r"(?:we|i)(?:'d)? (?:(?:also|just|really|only) )*(?:want|need|prefer|expect) (?!you\b)(?:\S+ ){1,8}(?:to|"
        r"not)\b",
        r"(?:we|i) (?:really )?(?:don'?t|do not) (?:want|need|expect|use)",
    ),
    "de": (
        r"soll(?:en|s?t|te(?:n|s?t)?)?", r"muss(?:t|te)?", r"müss(?:en|t|ten?)", "niemals", "nie",
        r"immer(?! (?:noch|wieder|mehr))", "nur", "ohne", "statt", "stattdessen", "lieber", r"kein(?:e[nr]?)?",
        r"(?:darf|dürfen)(?: \S+){0,6} (?:nicht|kein\w*)", "ab jetzt",
    ),
    "fr": (
        "doi(?:t|vent)", "devrai(?:t|ent)", "il faut", "jamais", r"toujours(?! (?:avec|pas|la même|le même|une?|des))",
        "uniquement", "seulement", "sans", "au lieu de", "plutôt", "désormais", r"ne .{2,30} pas",
    ),
    "es": (
        "debe(?:n|rían?)?", "tienen? que", "nunca", r"(?<!de )siempre(?! (?:igual|lo mismo))", "solo", "sin",
        "en (?:vez|lugar) de", "prefiero", "a partir de ahora",
    ),
    "zh": (
        "不要", "不再", "必须", "优先", "而不是", "别用", "一律", "应该?当?", "应放", "以后(?!再)", "没有?必要",
        "不需要", "无需",
        "只", "统一", "默认", "不能", "改[为成]",
    ),
    "ja": ("しないで", "必ず", "ではなく", "使わない", "常に", "べき", "だけ", "してほしい"),
    "ko": ("하지 (?:마|않)", "항상", "대신", "반드시", r"야 (?:합|한|해|됩|돼)", "만 "),
    "ru": (
        "только", r"единственн\w+", "никогда", "всегда", "вместо", r"долж(?:ен|на|но|ны)", "нельзя", "не надо",
        "не нужно", "без", "по умолчанию",
    ),
    "pt": ("deve(?:m|ria)?", "nunca", "sempre", "apenas", "somente", "sem", "em vez de", "prefiro"),
    "it": ("deve", "devono", "mai", "sempre", "solo", "senza", "invece di", "preferisco"),
})  # fmt: skip
"""Words with which somebody says how a thing is to be, whatever the work of the day is."""
STRONG = words.one_of({
    "en": (
        r"(?<!it )(?<!they )(?<!this )(?<!that )(?<!which )(?:never|always)", "from now on", "in (?:the )?future",
        r"(?:should|must) (?:only|never|always|not)", r"prefers?",
    ),
    "de": ("niemals", "nie", r"immer(?! (?:noch|wieder|mehr))", "ab jetzt"),
    "fr": ("jamais", r"toujours(?! (?:avec|pas|la même|le même|une?|des))", "désormais"),
    "es": ("nunca", r"(?<!de )siempre(?! (?:igual|lo mismo))", "a partir de ahora"),
    "zh": ("不要", "必须", "一律", "以后(?!再)"),
    "ja": ("しないで", "必ず", "常に"),
    "ko": ("하지 마", "항상", "반드시"),
    "ru": ("никогда", "всегда", "нельзя", r"единственн\w+"),
    "pt": ("nunca",),
    "it": ("mai",),
})  # fmt: skip
"""A rule, whatever it is about."""
_WHY = words.one_of({
    "en": ("because", r"(?<!ever )since (?!then|the last|v?\d|yesterday|I\b)", "so that", "otherwise", "or else"),
    "de": ("weil", "damit", "sonst"),
    "fr": ("parce que", "afin que", "sinon"),
    "es": ("porque", "para que", "ya que", "si no"),
    "zh": ("因为", "由于", "否则", "以便"),
    "ja": ("ので", "ため"),
    "ko": ("때문", "니까"),
    "ru": ("потому что", "так как", "чтобы", "иначе"),
    "pt": ("porque", "para que", "senão"),
    "it": ("poiché", "in modo che", "altrimenti"),
})  # fmt: skip
"""With its reason what somebody wants is more than the work of the day."""
_GIVES_WHY = re.compile(
    r"^(?:because|since|otherwise|the reason\b|reason:|this is (?:because|so that)|that'?s because|weil|sonst|"
    r"parce que|porque|потому что|иначе)\b|^(?:因为|由于|否则)",
    re.IGNORECASE,
)
_STATES = re.compile(
    r"^(?!(?:there|it|this|that|these|those|here|they|he|she|what|which|who|when will|if (?:you|I|we))\b)"
    r"(?:(?:when|for|if|in|on|at|inside|under) [^.]{3,80}, )?(?:[^\s.?]+ ){1,9}?"
    r"(?:is|are|must|should|uses?|maps?|belongs?|goes?|go|lives?|runs?|means?|has|have|requires?|needs?|expects?|"
    r"returns?|accepts?|supports?|depends?|comes?|listens?|renders?|escapes?|normali[sz]es?|continues?|supersedes?|"
    r"prefers?|wants?|does(?:n't| not)|do(?:n't| not)|cannot|can(?: only)?|may|stays?|remains?|starts?|ends?|"
    r"contains?|holds?|takes?|converts?|multipl\w+|defaults?|applies|stores?|writes?|reads?|sends?|\w+ies|equals?)\b",
    re.IGNORECASE,
)
"""A sentence that says how something is."""
_WHEN = re.compile(
    r"^(?:when(?:ever)?|if|for|in) (?!(?:I|you|we|it|this|that)\b)[^,.]{4,100}, (?:please |always |just )?"
    r"(?:select|use|return|keep|ignore|run|set|treat|prefer|skip|call|show|render|write|pass|choose|send|put|"
    r"store|give|"
    r"raise|fall back|take|limit|strip|convert|apply|do not|don't)\b|"
    r"^(?:return|use|keep|ignore|treat|prefer|skip|render|pass|send|store|give|raise|limit|strip)\b.{3,120}"
    r"\b(?:when|if|unless|only|until|except)\b",
    re.IGNORECASE,
)
"""A rule in the form of a case and what is to be done in it."""
_CHOOSES = re.compile(
    r"^(?:use|follow|name|call|store|save|keep|put|place|stick to|base|target|default to|serve|host) "
    r"(?!(?:it|this|that|them|these|those|the (?:same|above|other|following))\b).{3,}? (?:as|for|in|under|on|to|with|"
    r"from|at|by|"
    r"instead of|everywhere) \S|^(?:use|follow) (?!(?:it|this|that|them|the)\b)\S{3,}",
    re.IGNORECASE,
)
"""An order that chooses: a tool, a name, a place. What it chooses holds after the work is done."""
_OURS = re.compile(r"^(?:our|my|we (?:use|have|only|run|host|deploy|keep|ship|support))\b(?! (?:to|a problem)\b)", re.I)
_VALUE = re.compile(r"`[^`\n]+`|[\"“'][^\"”'\n]{1,40}[\"”']|\b\d[\d.,]*\b|\w = \S|(?<!\w)--?\w|\w/\w|<\w+>")
_ORDER = words.one_of({
    "en": (
        "fix", "run", "commit", "push", "check", "look", "explain", "review", "revert", "undo", "show", "tell", "read",
        "see", "try", "find", "search", "debug", "continue", "go", "start", "stop", "merge", "rebase", "deploy",
        "install", "what", "why", "how", "is", "are", "does", "do you", "did", "where", "which", "who", r"summari[sz]e",
        "implement", "proceed", "give", "help", "compare", "take a look", "have a look", "scan", "address", "test",
        "verify", "confirm", "rename", "remove", "delete", "update", "advise", r"analy[sz]e", "investigate", "now",
        "then", "next", "create", "add", "make", "set", "put", "convert", "replace", "write", "build", "open",
        "generate", "refactor", "change", "move", "rewrite", "there (?:is|are)", "modify", "insert", "append", "clean",
        r"i (?:still|get|got|have|see|am|was|had|asked|thought|added|tried|should|can|just|did|made|need you)",
        r"you (?:only|didn|removed|are|were|just|have|made|forgot|missed|can|could|may|might)", "looks?", "seems?",
        "great", "thanks", "be sure", "we (?:want|need) to", "let'?s see", "perfect", "nice", "good", "cool",
        "wait", "hi", "hello", "hey",
    ),
    "de": ("prüfe?", "schau", "führ", "lies", "zeige?", "warum", "wie", "was", "behebe?", "mach"),
    "fr": ("vérifie", "regarde", "lance", "montre", "corrige", "pourquoi", "comment", "ajoute"),
    "es": ("revisa", "mira", "ejecuta", "muestra", "corrige", "arregla", "por qué", "cómo", "añade"),
    "zh": ("检查", "看", "运行", "修复", "提交", "推送", "解释", "为什么", "怎么"),
    "ja": ("なぜ", "どう"),
    "ko": ("왜", "어떻게"),
    "ru": (
        "проверь", "посмотри", "запусти", "исправь", "почему", "как", "что", "сделай", "добавь", "проанализируй", "при",
        "создай", "удали", "обнови", "напиши",
    ),
    "pt": ("verifique", "olhe", "execute", "corrija", "mostre", "por que", "como", "adicione", "crie", "faça"),
    "it": ("verifica", "guarda", "esegui", "correggi", "mostra", "perché", "come", "aggiungi", "crea", "fai"),
}, begins=True)  # fmt: skip
"""How a piece of work, a question or a remark begins: over when it is done."""
_IN_TROUBLE = re.compile(
    r"^some\b|\b(?:\w*errors?|\w*exception|uncaught|fail\w*|broken?|crash\w*|still|bugs?|wrong|stuck|getting|"
    r"does(?:n'?t| not) (?:work|show|appear|seem)|(?:is|are)(?:n['’]?t| not) (?:showing|"
    r"working|loading|appearing|updating|running|there)|mistake\w*|missing|weird|strange|ugly|slow|empty|blank|currently|"
    r"already|just (?:now|got)|merged|seems?|looks? (?:like|good|bad|great)|fehler|funktioniert nicht|"
    r"geht nicht|erreurs?|ne (?:marche|fonctionne) pas|problèmes?|erro(?:r|re|ri|res)?|problemas?|non (?:funziona|"
    r"è|va)|"
    r"no funciona|não funciona|sigue|sempre (?:lì|la|il|un)|mi d[aà]|nessun\w*|ошибк\w+|не работает|возника\w+)\b|"
    r":\d+:\d+|报错|错误|不行|失败|出问题|エラー|動かない|오류",
    re.IGNORECASE,
)
_OF_TALK = re.compile(
    r"^(?:that|which|or|for #\d+)\b|\b(?:your?|above|here|previous(?:ly)?|following|again|last time)\b|\bsure to\b|"
    r"\bremember to\b|\b(?:too|also|same)\W*$|\bthe (?:other|rest)\b|\bthe same\W*$|\b(?:after|once|before|"
    r"with) (?:this|that)\b|"
    r"\b(?:too|so) much\b",
    re.IGNORECASE,
)
"""Words for what was said or done before, and for how the assistant should go about this one piece of work."""
_ONE_TIME = re.compile(
    r"\b(?:do(?:n'?t| not)|without|no) (?:\w+ )?(?:cod(?:e|ing)|implement\w*|chang(?:e|es|ing)|modif\w+|edit\w*|writ\w+"
    r"|touch\w*|explor\w+|anything)\b(?: (?:any|the|code|anything|files?|else|yet|it))*\W*(?:$|,| just\b| only\b|\.)|"
    r"\bonly (?:the )?(?:plan|answer|report|list|review|analy[sz]e|describe|explain|think)\b|"
    r"\b(?:sub-?agents?|worktree|your (?:answer|response|report)|in (?:this|the) (?:response|reply|turn|session))\b|"
    r"\bplan (?:file|mode)\b|\bpropose an?\b|\bimplementation plan\b|^only (?:go ahead|proceed|continue|"
    r"start) (?:if|when|after|once)\b|^use inspiration\b|"
    r"\bread[- ]only\b|\bjust (?:answer|tell|show|list|give|explain|do)\b",
    re.IGNORECASE,
)
"""An instruction for this one request."""
_REPORTED = re.compile(
    r"\b(?:mentions?|says?|states?|claims?|suggests?|told|according to)\b|\b(?:answered|replied|wrote)\s*:|^can we\b",
    re.IGNORECASE,
)
_OPINION = re.compile(
    r"\bI (?:don'?t think|like|feel|love|hate|doubt|hope|wonder|wish)\b|"
    r"\b(?:nice|great|confusing|cool|feels?|sounds?)\b",
    re.IGNORECASE,
)
_LOOKS = re.compile(
    r"\b(?:colou?rs?|fonts?|padding|margins?|borders?|bold|italic|align\w*|cent(?:er|re)(?:ed)?|background|darker|"
    r"lighter|bigger|smaller|hyperlinks?|spacing|pixels?)\b",
    re.IGNORECASE,
)
_PRONOUN = re.compile(r"\b(?:it|this|these|those|them|they|he|she)\b(?! (?:file|repo|project))", re.IGNORECASE)
LEAST_LEANING = 8
"""Words in front of a pronoun that can hold what it stands for."""
_POINTS_AT = re.compile(
    r"^(?:my|our|the|your) [\w ]{2,40} (?:is|are|lives?|should be|must be|can be found)(?: \w+)? "
    r"(?:in|at|under|inside) [`@\"']?[\w./@-]*[@/.][\w./-]+[`\"']?[.!]?$|"
    r"^(?:see|look (?:at|in)|refer to|check)\b[^.]*@[\w./-]+[.!]?$|\b(?:is|are) (?:located|defined|found) in\b",
    re.IGNORECASE,
)
"""A sentence that shows the assistant a file decides nothing."""
_FIELD = re.compile(r"(?<!\w)_{2,}(?!\w)|\{\w+\}|\(optional\)|\$\w|\bTODO\b")
_OF_REVIEW = re.compile(
    r"\blines? \d+|\bnit(?:pick)?s?\b|\bconsider \w+ing\b|^[ \t]*at \S+ ?\(|\w:\d+:\d+\b|\bUncaught\b|"
    r"\b(?:potential issue|severity|findings?)\b",
    re.IGNORECASE | re.MULTILINE,
)
"""A message with the words of a reviewer or of a browser's console in it: whose sentence is whose, nobody knows."""
_CALLED = re.compile(r"(?<=[a-z,] )(?!I\b)[A-Z][a-z]+\w*")
_ASKING = ("?", "？", "吗", "呢", "か", "か。", "까", "나요")


def find_stated(session: Session) -> Iterator[Found]:
    """What the user states for good: rules, how a thing has to be, how things are."""
    stated = [item for row in session.exchanges for item in _stated_in(session, row)]
    kept: list[Found] = []
    for item in sorted(stated, key=lambda item: -item.turn):  # of two that speak of the same the later stands
        text = item.fields["statement"]
        if any(_overtakes(other.fields["statement"], text) for other in kept):
            continue
        if not any(taken_back(item, later) for later in session.exchanges):
            kept.append(item)
    best = sorted(kept, key=lambda item: (item.score, item.turn))[-MAX_STATED:]
    yield from sorted(best, key=lambda item: item.turn)


def _stated_in(session: Session, row: Exchange) -> Iterator[Found]:
    if row.events and row.doubted and not STRONG.search(row.text):
        return
    told = _only_tells(row) and not error_in(row.text)
    reviewed = len(_OF_REVIEW.findall(row.text)) > MOST_OF_REVIEW  # mostly somebody else's words
    rows = [] if reviewed else rows_of(Turn("user", row.text), row.number)
    lists: dict[tuple[str, str], list[Row]] = {}
    for part in rows:
        lists.setdefault((part.kind, part.heading), []).append(part)
    for (kind, heading), parts in lists.items():
        if kind == "bullet" and len(parts) > 1:
            yield from _of_list(heading, parts, row)
            continue
        for part in parts:
            if not _OF_REVIEW.search(part.text):
                yield from _of_paragraph(part, row, told=told)


def _of_list(heading: str, parts: list[Row], row: Exchange) -> Iterator[Found]:
    """A list of the user in one line, where most of its points say how things have to be."""
    points = [_wish(clean(part.text)).rstrip(" .;") for part in parts]
    rules = [bool(_kind(point, point, told=False)) for point in points]
    if 2 * sum(rules) < len(points) or any(map(_OF_REVIEW.search, points)):
        return
    for line in in_lines(heading, points, LONGEST_STATED):
        quote = next((part.text for part, point in zip(parts, points, strict=True) if point in line), "")
        yield found("decisions", line, row.number, quote=quote, score=62)


def _only_tells(row: Exchange) -> bool:
    """Whether a message only tells how things are: no question, no order in it, and nothing was done about it."""
    said = [part.text for rows in rows_of(Turn("user", row.text), row.number) for part in sentences(rows)]
    asks = any(text.endswith(_ASKING) or _ORDER.match(FILLER.sub("", text)) for text in said)
    return bool(said) and bool(row.replies) and not (asks or row.events or "?" in row.text)


def _of_paragraph(part: Row, row: Exchange, *, told: bool) -> Iterator[Found]:
    """The statement that a paragraph makes, with all its sentences that hold its values."""
    said = [piece for sentence in sentences(part) for piece in _pieces(sentence)]
    texts = [_wish(sentence.text) for sentence in said]
    kinds = [_kind(text, sentence.text, told=told) for text, sentence in zip(texts, said, strict=True)]
    if told and any(kinds):  # what is told in one breath belongs together
        kinds = [kind or ("fact" if _states(text) else "") for kind, text in zip(kinds, texts, strict=True)]
    at = 0
    while at < len(said):
        if not kinds[at]:
            at += 1
            continue
        last = at
        while last + 1 < len(said) and (kinds[last + 1] or _belongs(said[last + 1].text)):
            last += 1
        taken = [texts[at]]
        for place in range(at + 1, last + 1):
            if len(" ".join(taken)) + len(said[place].text) < LONGEST_STATED:
                taken.append(said[place].text)
        decided = "rule" in kinds[at : last + 1]
        text = " ".join(_stopped(one) for one in taken) if len(taken) > 1 else taken[0].rstrip("?？ ")
        if not decided and _SPEAKER.search(CODE.sub("``", text)):
            at = last + 1
            continue
        score = 56 + 4 * (STRONG.search(text) is not None) + 2 * (len(taken) > 1) + bool(words.ANCHOR.search(text))
        yield found("decisions" if decided else "facts", text, row.number, quote=said[at].quote, score=score)
        at = last + 1


def _stopped(text: str) -> str:
    return text if text.endswith((".", "!", "。", "！", ";")) else f"{text}."


_SPEAKER = re.compile(r"\bI(?:['’](?:m|d|ll|ve))?\b")
"""How things are is told without who tells it; with them it is what somebody is about to do."""
_SMALL = re.compile(r"(?<=[a-z]{3}[.!?]) +(?=[a-z]{1,12} )")
"""Where the next sentence of somebody begins who uses no capitals."""


def _pieces(sentence: Sentence) -> Iterator[Sentence]:
    at = sentence.start
    for part in _SMALL.split(sentence.row.text[sentence.start : sentence.end]):
        yield Sentence(clean(part), sentence.row, at, at + len(part))
        at += len(part) + 1


_BROKEN_OFF = re.compile(r"^\w+ (?:it|this|that|them)[,;:—–-]+ (?=(?:we|our|the|because|since)\b)", re.IGNORECASE)
"""An order about what was just spoken of, in front of what holds."""


def _wish(text: str) -> str:
    """A sentence without what is said around it."""
    text = _BROKEN_OFF.sub("", text)
    text = text if text.count('"') % 2 == 0 else text.replace('"', "")
    bare_text = FILLER.sub("", text.strip())
    shorter = FILLER.sub("", _POLITE.sub("", bare_text))
    return shorter if _POLITE.match(bare_text) and len(shorter) > LEAST_UNNAMED else bare_text


def _belongs(text: str) -> bool:
    """Whether a sentence goes on with the statement before it: it has values, and is neither order nor question."""
    first = FILLER.sub("", text)
    if _GIVES_WHY.match(first) and len(text) <= LONGEST and not text.endswith(_ASKING):
        return True
    if text.endswith(_ASKING) or _ORDER.match(first) or looks_like_code(text) or has_placeholder(text):
        return False
    plain = CODE.sub("``", text)
    if (
        words.MOMENT.search(plain)
        or words.HEDGE.search(_SHOULD.sub("", plain))
        or _IN_TROUBLE.search(_STATE.sub("", plain))
    ):
        return False
    return bool(_VALUE.search(text) or RULE.search(text)) and len(text) <= LONGEST


_USES = re.compile(r"^(?:i|we) (?:no longer|don'?t|do not|never|always|only) (?:use|support|ship|run|host)\b", re.I)
_STATE = re.compile(r"\b(?:already|empty|missing|blank)\b", re.IGNORECASE)
"""Words of trouble that a contract uses as well."""


def _kind(text: str, whole_text: str, *, told: bool) -> str:
    """ "rule" for how a thing has to be, "fact" for how it is, "" for what is neither."""
    if whole_text.endswith(_ASKING) or "?" in text or not _stands(text):
        return ""
    is_named = named(text) or _CALLED.search(text) or _VALUE.search(text)
    strong = STRONG.search(text) or _USES.match(text) or CORRECTS.match(whole_text)
    least = LEAST_NAMED if is_named else LEAST_UNNAMED
    if is_latin(text) and len(text.split()) < least and not _USES.match(text):
        return ""
    alone = len(text.split()) >= LEAST_ALONE
    if _WHY.search(text) and is_named:
        return "rule"
    if (
        (RULE.search(text) or RULE.search(whole_text))
        and (is_named or strong or alone)
        and not (_ORDER.match(text) and not strong)
    ):
        return "rule"
    if (_WHEN.match(text) or _CHOOSES.match(text)) and is_named:
        return "rule"
    return "fact" if is_named and _states(text) and (told or _OURS.match(text)) else ""


def _states(text: str) -> bool:
    return _STATES.match(text) is not None and _stands(text)


def _stands(text: str) -> bool:
    """Whether a sentence of the user says by itself what it is about, and beyond the moment."""
    if not (20 if is_latin(text) else 6) <= len(text) <= LONGEST or looks_like_code(text):
        return False
    if has_placeholder(text) or _of_moment(text) or _POINTS_AT.search(text):
        return False
    named_so = words.ANCHOR.search(text) or _CALLED.search(text) or STRONG.search(text)
    if words.OFFER.search(text) or (_LOOKS.search(text) and not named_so):
        return False
    pronoun = _PRONOUN.search(text)
    if pronoun and len(text[: pronoun.start()].split()) < LEAST_LEANING:
        return False
    return words.HEDGE.search(_SHOULD.sub("", text)) is None


_SHOULD = re.compile(r"should|would like|可以", re.IGNORECASE)
_OF_MOMENT = (words.MOMENT, _IN_TROUBLE, _OF_TALK, words.POINTING, _FIELD, _OPINION, _REPORTED, _ONE_TIME)


def _of_moment(text: str) -> bool:
    """Whether a sentence is of the work in hand, of trouble or of somebody else, by its words outside of code."""
    plain = _CONDITION.sub("", CODE.sub("``", text))
    return any(gate.search(plain) for gate in _OF_MOMENT)


_CONDITION = re.compile(r"\b(?:when(?:ever)?|if|unless) (?!I\b|you\b|we\b)[^,.;]{3,100}", re.IGNORECASE)
"""The case that a rule is for may speak of errors and of what is empty."""


# --- what was taken back ---

_REVERSES = re.compile(
    r"\b(?:no longer (?:needs?|needed|wants?|wanted|required|necessary)|revert\w*|"
    r"undo|forget|discard\w*|never ?mind|(?:do|did)(?:n'?t| not) need|instead|actually|scratch that|doch nicht|"
    r"zurücknehmen|laisse tomber|olvida)\b|撤销|不需要了|算了|やめ|취소",
    re.IGNORECASE,
)
_SENTENCES = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")


def taken_back(item: Found, later: Exchange) -> bool:
    """Whether later words of the user want something else of the same things."""
    if later.number <= item.turn or not _REVERSES.search(later.text):
        return False
    names = [name for name in names_in(item.fields["statement"]) if len(name) > 3]
    parts = (part.casefold() for part in _SENTENCES.split(later.text) if _REVERSES.search(part))
    return any(name in part for part in parts for name in names)


_WORD = re.compile(r"\w{3,}|[぀-ヿ一-鿿가-힣]{2,}")
_OF_RULES = frozenset({
    "all", "also", "always", "and", "any", "are", "don", "each", "every", "for", "from", "has", "have", "instead",
    "its", "keep", "make", "must", "need", "needs", "never", "not", "only", "please", "should", "sure", "that", "the",
    "them", "then", "they", "this", "use", "using", "want", "when", "with", "without", "you", "your", "let", "can",
    "will",
})  # fmt: skip


def _overtakes(later: str, text: str) -> bool:
    """Whether a later statement speaks of the same as one: most telling words of the shorter stand in the other."""
    one, other = (frozenset(_WORD.findall(part.casefold())) - _OF_RULES for part in (later, text))
    if re.search(r"\binstead\W*$", later, re.IGNORECASE) and one & other:
        return True
    values = frozenset(CODE.findall(text)) - frozenset(CODE.findall(later))
    return not values and len(one & other) >= max(2, 0.6 * min(len(one), len(other)))


# --- corrections, and what the assistant conceded ---

CORRECTS = re.compile(
    r"^(?:no,? |nope,? |actually,? |technically,? |it'?s actually |wrong,? |nein,? |non,? |en fait,? |en realidad,? |"
    r"eigentlich |不对[,，]?|不是[,，]?|实际上|其实|実は|違います[。、]?|いいえ[、,]?|아니(?:요|에요)?[,.]? )",
    re.IGNORECASE,
)
_IS_SO = re.compile(
    r"\b(?:is|are|was|were|has|have|does|lives?|comes?|means?|ist|sind|est|sont|es|son)\b|是|在|有|です|ます|입니다"
)
_CONTRAST = re.compile(
    r"\b(?:not|instead|rather|only|without|never|don'?t|nicht|statt|nur|ohne|pas|sans|plutôt|sin|solo|en vez)\b|"
    r"不要|而不是|只|別の|ではなく|말고|대신",
    re.IGNORECASE,
)
_OWN_FAULT = re.compile(r"^(?:I|if|let me|my|sorry|apolog|we|now)\b|^(?:我|让我|抱歉|対応|修正)", re.IGNORECASE)
_LEANS = re.compile(r"\bhere\b|(?:\.\.\.|…)\W*$", re.IGNORECASE)
_BARE_SUBJECT = re.compile(r"(?:this|that|it|these|those|they|he|she|which|or|if)\b", re.IGNORECASE)


def find_corrections(session: Session) -> Iterator[Found]:
    """What the user set right in what the assistant had said, done or wanted to do: their word is the fact."""
    for at, row in enumerate(session.exchanges):
        item = _refused(session, row) or _interrupted(row) or _set_right(row)
        if item and not any(taken_back(item, later) for later in session.exchanges[at + 1 :]):
            yield item


def _said(row: Exchange) -> str:
    return FILLER.sub("", CORRECTS.sub("", " ".join(row.text.split()))).rstrip(". ")


def _set_right(row: Exchange) -> Found | None:
    """A correction that the assistant granted with its reason, or one that says how a named thing is."""
    if row.before is None or row.stopped or len(row.text) > LONGEST:
        return None
    body, quote, agreed = _said(row), row.text.split("\n")[0], _conceded(row)
    if not _IS_SO.search(body) or len(_SENTENCES.split(body)) > MOST_SENTENCES or _IN_TROUBLE.search(body):
        return None
    leans = words.POINTING.match(body) or _ORDER.match(body) or _LEANS.search(body) or _BARE_SUBJECT.match(body)
    if re.match(r"I\b|the (?:first|second|third|last|other)\b", body, re.IGNORECASE):
        return None
    if not fits(body) or leans or words.MOMENT.search(body):
        return None
    if (
        agreed
        and words.ANCHOR.search(body + agreed)
        and not (words.HEDGE.search(_SHOULD.sub("", agreed)) or _IN_TROUBLE.search(body))
    ):
        if "?" in body:  # then the answer says what was settled
            return found("facts", agreed, row.number, quote=quote, score=60)
        detail = f"the assistant agreed: {agreed}"
        return found(
            "decisions" if row.changed else "facts", body, row.number, quote=quote, score=64,
            detail=detail if len(detail) <= LONGEST_DETAIL else "",
        )  # fmt: skip
    corrects = CORRECTS.match(row.text.strip()) and _IS_SO.search(body) and words.ANCHOR.search(body)
    if not corrects or "?" in body or words.HEDGE.search(body) or _IN_TROUBLE.search(body):
        return None
    before = words.first_sentence(row.before.turn.text, LONGEST_DETAIL)
    detail = f"set right by the user; the assistant had said: {before}" if before else ""
    return found("facts", body, row.number, detail=detail, quote=quote, score=61)


def _conceded(row: Exchange) -> str:
    """The sentence in which the assistant says why the user is right, "" where it says none."""
    first = next(iter(rows_of(row.replies[0][1], row.replies[0][0])), None) if row.replies else None
    if first is None or not words.CONCEDES.match(first.text):
        return ""
    rest = re.split(r"\s+[—–-]+\s+|[,，]\s*|(?<=[.!。！])\s*", clean(first.text), maxsplit=1)
    for text in re.split(r"(?<=[.!?。！？])\s+|(?<=[。！？])", rest[1] if len(rest) == 2 else ""):
        empty = len(text.split()) < LEAST_UNNAMED and text.isascii() and not words.ANCHOR.search(text)
        if fits(text) and not empty and not _OWN_FAULT.match(text) and not text.endswith(("?", ":", "：")):
            return begun(text.rstrip(".→ "))
    return ""


def _interrupted(row: Exchange) -> Found | None:
    """Why the user stopped the assistant: a fact that it did not know, or what it should do otherwise."""
    text = _said(row) if row.stopped else ""
    if not (20 if is_latin(text) else 8) <= len(text) <= LONGEST or "?" in text or words.POINTING.search(text):
        return None
    states = _IS_SO.search(text) and not _IN_TROUBLE.search(text) and not _ORDER.match(text)
    if _BARE_SUBJECT.match(text) or words.HEDGE.search(text) or not (states or _CONTRAST.search(text)):
        return None
    if not words.ANCHOR.search(text):
        return None
    detail = "the user interrupted " + ("its work" if row.stopped == "its work" else f"`{bare(row.stopped)}`")
    category = "facts" if states and not RULE.search(text) else "decisions"
    return found(category, text, row.number, detail=detail, quote=row.text.split("\n")[0], score=60)


def _refused(session: Session, row: Exchange) -> Found | None:
    """Why a command was refused, with what was refused and what was done instead."""
    calls = [call for call in row.refused if isinstance(call, Command)]
    text = " ".join(row.text.split())
    if not calls or not (12 if is_latin(text) else 5) <= len(text) <= LONGEST or "?" in text:
        return None
    what = bare(calls[-1].words)
    vague = is_latin(text) and len(text.split()) < LEAST_NAMED
    if vague or words.APPROVES.match(text) or words.POINTING.match(text) or not what or "\n" in what or len(what) > 120:
        return None
    after = _instead_of(calls[-1], [event for at, event in session.events if at > row.number])
    detail = f"the user refused `{what}`{session.on_branch if 'git' in what else ''}"
    detail += f"; done instead: `{after}`" if after else ""
    category = "facts" if _IS_SO.search(text) and not RULE.search(text) else "decisions"
    return found(category, text.rstrip(". "), row.number, detail=detail, quote=row.text.split("\n")[0], score=61)


def _instead_of(call: Command, events: list[Event]) -> str:
    """The next command of the same program that was run and went well."""
    program = bare(call.words).split()[:1]
    for row in [row for row in events if isinstance(row, Command)][:6]:
        line = bare(row.words)
        if row.answered and not row.failed and not row.refused and line.split()[:1] == program:
            return line if len(line) <= LONGEST_DETAIL and "\n" not in line else ""
    return ""
