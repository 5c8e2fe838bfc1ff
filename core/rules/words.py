"""The words that the rules over sessions look for, by language.

Structure says most (see `session.py`); these tables say the rest: what an error, a finished or an unfinished piece of
work, a wish of the user sounds like. What anybody says of a piece of work stands in `base/spoken.py`.
"""

from __future__ import annotations

import re

from core.base.spoken import one_of

# --- output of commands ---

ERROR = one_of({
    "en": (
        "errors?", "fatal", "failed", "failure", "cannot", "can't", "could not", "couldn't", "unable to", "not found",
        "no such", "denied", "unknown", "unrecogni[sz]ed", "invalid", "unexpected", "undefined", "missing", "not a",
        "no matches", "is required", "refused", "unsupported", "illegal", "already used", "already exists", "must be",
        "(?:command|option|flag) is deprecated", r"(?-i:ERR_[A-Z])\w*",
    ),
    "de": ("Fehler", "fehlgeschlagen", "nicht gefunden"),
    "fr": ("erreur", "impossible", "introuvable"),
    "es": ("no se (?:pudo|encontró)", "fallo"),
    "zh": ("错误", "失败", "找不到"),
    "ja": ("エラー", "見つかりません", "失敗"),
    "ko": ("오류", "찾을 수 없", "실패"),
    "ru": ("ошибк[аи]", "не найден[оа]?", "не удалось", "отказано"),
    "pt": ("erro", "não encontrad[oa]"),
    "any": (r"[A-Z]\w+(?:Error|Exception)\b",),
})  # fmt: skip
NO_ERROR = one_of({
    "en": ("0 (?:errors?|failed|failures?)", "no (?:errors?|issues|problems|failures)", r"errors?: (?:0|\(?none\)?)"),
})  # fmt: skip
# Errors that are errors whatever the exit status says: behind a pipe every command succeeds.
HARD_ERROR = one_of({
    "any": (
        r"^(?:[\w./\\:() -]{0,60}: )?(?:error|fatal|(?-i:ERR_[A-Z])\w*|ERR!|panic|usage)\b", "^Traceback",
        "command not found", "No such file or directory", "unrecogni[sz]ed (?:sub)?command", "not a git repository",
        "Permission denied", "unknown (?:flag|option|command|switch|argument)", "Base ref must be", "ParserError",
        "^✖ ", "FullyQualifiedErrorId", "externally-managed", "Missing script",
    ),
})  # fmt: skip
# Errors of how a thing is called. What a test or compiler says about the code is work, and is over when it is done.
OF_USAGE = one_of({
    "any": (
        "command not found", "not recogni[sz]ed", "unrecogni[sz]ed", "unexpected argument", "no matches found",
        "unknown (?:flag|option|command|switch|argument|shorthand|script|task|target|revision)", "missing script",
        "invalid (?:option|argument|flag|value|choice|reference)", "ambiguous", "ENOENT", "EACCES", "ERR_[A-Z_]+",
        "no such (?:file|option|command|task|service|image|remote)", "not a (?:git repository|valid|tty|directory)",
        "already (?:used|exists|checked out|in use)", "is required", "required flag", "permission denied",
        "access denied", "not (?:installed|supported|allowed|permitted|inside)", "unsupported", "no upstream",
        "could not (?:resolve|find|read|connect|determine)", "can(?:no|')t (?:find|open|access|connect|be run)",
        "must (?:be|specify|have|provide)", "divergent", "cannot import", "No module named", "Cannot find module",
        "Missing (?:required|argument)", "externally-managed", "outside (?:of )?(?:the )?(?:repo|work|project)",
        "no configuration file", "couldn't find", "does not exist", "did not match any",
        "(?:command|option|flag) is deprecated",
    ),
})  # fmt: skip
HIDDEN = ("<", "REDACTED", "…")
"""What stands in a command line or an error in the place of something that was left out."""

# A command that looks at something, or names a thing that is gone tomorrow, is no way to do anything.
ONE_OFF = re.compile(
    "|".join((
        r"\bkill(?:all)?\b", r"\bpid\b", "/tmp/", "/private/tmp", "/var/folders/", r"\bsleep \d",
        r"\b[0-9a-f]{12,}\b", r"\bcd -",
        r"(?:^|[;&|(]\s*)(?:sudo )?(?:grep|rg|find|fd|ls|cat|sed|awk|head|tail|echo|printf|wc|which|pwd|mkdir|rm|cp|mv|"
        r"chmod|touch|test|\[|nl|tree|diff|read|for|while|if|jq)\s",
        "<<", r"\bcurl\b.*localhost", r"\b(?:python3?|node|bun|deno|ruby|perl) -(?:c|e)\b",
    )),
    re.IGNORECASE,
)  # fmt: skip

# --- plans and answers ---

NO_ANSWER = re.compile(
    r"^(?:\[No preference\]|no preference|skip|n/?a|none|other|ok(?:ay)?|yes|no|\W*)$", re.IGNORECASE
)
GENERIC_TITLE = re.compile(
    r"(?:plan|implementation(?: plan)?|overview|summary|context|todo|steps|fix|changes)", re.IGNORECASE
)
_NUMBER = r"(?:\d+\.?\s*)?"
CONTEXT = one_of({
    "any": (_NUMBER + "(?:" + "|".join((
        "context", "problem", "background", "why", "motivation", "root cause", "issue", "reason", "kontext", "contexte",
        "contexto", "背景", "问题", "原因", "課題", "배경",
    )) + ")",),
}, begins=True)  # fmt: skip
_END = re.compile(r"(?<=[.!?])(?:\s+|$)|(?<=[。！？])")


def first_sentence(text: str, most: int = 260) -> str:
    """The first sentence of a paragraph, without list marks and emphasis; "" where none of a fitting length stands."""
    for row in text.split("\n"):
        line = re.sub(r"^\s*(?:[-*+•]|\d+[.)])\s+", "", row).strip()
        line = re.sub(r"(\*{1,3}|__)(.+?)\1", r"\2", line)
        if line.startswith("```"):
            return ""
        if line and not line.startswith(("|", "#", "<", ">")):
            found = _END.split(line)[0].strip()
            return found if 20 <= len(found) <= most and not found.endswith(":") else ""
    return ""


# --- what a closing message says ---

LEFT_HEADING = one_of({
    "en": (
        r"what(?:'s| is)? (?:left|next|remaining|not done)", r"remaining(?: \w+)?", r"still (?:open|to do|needed)",
        r"to ?do", "out of scope", "deferred",
        r"(?!no )(?:\w+ ){0,2}(?:outstanding|unresolved|block(?:ed|ers?)|follow[- ]?ups?)(?: \w+)?",
        r"(?:what .{0,20})?not\b(?! (?:an?|affected|needed|necessary|required|relevant|applicable|recommended|to|"
        r"block\w*|changed|modified|touched)\b).*",
        r"known (?:issues|limitations|gaps)", "limitations", r"open (?:items|points|issues|tasks)",
        r"pending(?: \w+)?", "gaps", r"verification gaps?", r"manual steps?",
        r"left (?:to do|open)",
        r"before (?:merging|release|deploy\w*)", "after merging", r"caveats?", r"(?:worth )?not(?:e|ing) for later",
    ),
    "de": (r"offen(?:e punkte)?", "noch zu tun", "noch offen"),
    "fr": ("reste à faire", "à faire"),
    "es": (r"pendientes?", "por hacer"),
    "zh": ("待办", "未完成", "剩余", "遗留", "后续"),
    "ja": ("残り", "未対応", "残作業"),
    "ko": ("남은 작업", "미완료"),
    "ru": ("осталось", "не сделано", "оставшиеся", "что осталось"),
    "pt": ("pendente[s]?", "falta fazer"),
}, begins=True)  # fmt: skip
_WORK = r"(?:push|commit|merg|test|deploy|verif|implement|updat|fix|migrat|releas|wir|reproduc)\w*"
# Beside what is not done, advice, and what somebody chose to leave as it is.
LEFT = one_of({
    "de": ("noch nicht", "noch offen", r"steht noch aus", "muss noch", "fehlt noch", r"noch zu \w+"),
    "fr": ("pas encore", "reste à", "il faudra encore"),
    "es": ("todavía no", "aún no", r"faltan? por", r"quedan? por"),
    "ru": ("ещё не", "еще не", "осталось", "остаётся", "остается", r"не (?:проверен|запущен|сделан)\w*"),
    "pt": ("ainda não", "falta", "resta"),
    "zh": ("尚未", "还没", "剩余的", "待确认", "有待", "还需", "仍需", "未提交", "未推送", "未测试", "待处理"),
    "ja": ("まだ", "未実装", "未対応", "要確認", "残って"),
    "ko": ("아직", "남아 있"),
    "en": (
        rf"not (?:yet )?(?:been )?(?:{_WORK}|run)",
        rf"(?:ha(?:s|ve|d)|did|was|were)(?:n't| not) (?:yet |been )*(?:{_WORK}|run)",
        r"still (?:needs?|ha(?:s|ve) to|missing|fails?|broken|open|pending|to be|requires?)",
        r"remains? (?:to be|open|unfixed|unresolved|undone)", r"left (?:open|for later)",
        r"for a (?:later|separate|follow[- ]?up) \w+", r"(?:is|are|was|were) deferred", r"blocked (?:by|on)",
        rf"(?:could not|couldn't|unable to|can(?:no|')t) (?:be )?(?:{_WORK}|run)",
        r"needs? a follow[- ]?up", r"left (?:out|as is)",
        r"out(?:side)? (?:of )?(?:the )?scope", r"worth (?:watching|fixing|revisiting)",
        r"once .{3,60} (?:is|are) merged", "after merging", "will need to be", r"you(?:'ll| will) (?:still )?need to",
        "you still need to", "make sure to", "remember to", "don't forget", "the next step is",
        r"manual(?:ly)? (?:step|run|set|add)\w*",
    ),
})  # fmt: skip
LINE_NUMBERS = re.compile(
    r"(?:(?<=\.[a-z])|(?<=\.[a-z]{2})|(?<=\.[a-z]{3})|(?<=\.[a-z]{4})):\d+(?:-\d+)?(?:, ?:?\d+(?:-\d+)?)*(?![\d/])|"
    r"(?: (?:on|at|in|from))? ?\(?\blines? \d+(?:[-–]\d+)?\)?"
)
ORDER = re.compile(
    r"^(?:add|run|set|create|update|write|fix|deploy|push|merge|commit|test|verify|migrate|configure|implement|remove|"
    r"replace|rotate|publish|release|open|rebase|restart|rename|move|document|enable|disable|rerun|re-run|regenerate|"
    r"wire|backfill|delete|check|install|upgrade|bump|address|resolve|confirm|register|investigate)\b",
    re.IGNORECASE,
)
OFFER = one_of({
    "en": (
        "would you like", "want me to", "shall I", "should I", "let me know",
        r"if you(?:'d)? (?:want|like|prefer|need)",
        r"I can (?:also )?", "happy to", r"ready (?:to|for) the next", "feel free", "when you're ready",
    ),
    "de": ("soll ich", "wenn du möchtest", "falls du willst"),
    "fr": ("si tu veux", "voulez-vous", "souhaitez-vous"),
    "es": ("si quieres", "quieres que"),
    "zh": ("需要我", "要不要", "请确认", "我会", "我可以", "如果你(?:愿意|需要|想)", "如需", "是否需要"),
    "ja": ("しましょうか", "必要であれば"),
    "ko": ("원하시면", "할까요"),
})  # fmt: skip
TALK = re.compile(
    r"\b(?:ich|wir|mir|uns|dich|deine?\w?|du \w+st|\w+st du|(?:können|sollten|müssen) Sie|je|nous|vous|votre|voici|tu|"
    r"\w+-moi|tus|he \w+do|voy|vamos|hemos|(?:pued|quier|tien|encuentr|deb)(?:o|es|emos)|aquí|ho|abbiamo|hai|avete|"
    r"tuoi?|tua|ecco(?! perché)|vediamo|puoi|devi|vuoi|(?:poss|dev|vogli|proced)o|(?:poss|dobb|vogl)iamo|dimmi|"
    r"\w{3,}(?:ar|ir)ti|vou|você|podemos|quiser|я|мы|вы|ты|ваш\w*)\b|\bj['’]|[我你您咱]|ましょう|ください|제가|겠습니다",
    re.IGNORECASE,
)
"""Words of a talk, in other languages than English."""
ANCHOR = re.compile(
    r"`[^`\n]{2,}`|\b[a-z]+_[a-z_]+\b|\b[a-z]+[A-Z]\w+|\b[A-Z][a-z]+[A-Z]\w+|\b[A-Z]{2,}[-_]?\d*\b|\w/\w|"
    r"\b\w+\.\w{1,5}\b|--\w|#\d+|\bv?\d+\.\d+"
)

# --- what the user says ---

RULE = one_of({
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
BECAUSE = one_of({
    "en": (
        "because", "since", "so (?:that|it|they|the)", "as (?:it|they|the)", "due to", "instead of", "rather than",
        "otherwise", "which", "to (?:avoid|prevent|keep|stop|let|allow)",
    ),
    "de": ("weil", "damit", "sonst", "da (?:der|die|das|es|sie)", "wegen", r"um [^,.]{2,60} zu \w+"),
    "fr": ("parce que", "parce qu", "puisque", "car", "sinon", "afin (?:de|que)", "pour (?:éviter|que)", "à cause d"),
    "es": ("porque", "ya que", "de lo contrario", "si no", "para (?:evitar|que)", "debido a"),
    "zh": ("因为", "由于", "以免", "否则", "避免", "导致", "防止", "因此"),
    "ja": ("ため", "ので", "さもないと", "を防ぐ", "を避ける"),
    "ko": ("때문", "위해", "않으면", "방지"),
    "ru": ("потому что", "так как", "чтобы", "иначе", "из-за"),
    "pt": ("porque", "já que", "caso contrário", "para (?:evitar|que)", "devido a"),
    "it": ("perché", "poiché", "altrimenti", "per evitare", "così che", "a causa d"),
})  # fmt: skip
"""Words behind which a reason stands."""
STRONG = one_of({
    "en": (
        r"(?<!it )(?<!they )(?<!this )(?<!that )(?<!which )(?:never|always)", "from now on", "in (?:the )?future",
        r"(?:should|must) (?:only|never|always|not)", r"prefers?",
    ),
    "de": ("niemals", "nie", r"immer(?! (?:noch|wieder|mehr))", "ab jetzt", "von nun an", "künftig"),
    "fr": ("jamais", r"toujours(?! (?:avec|pas|la même|le même|une?|des))", "désormais", "à partir de maintenant"),
    "es": ("nunca", r"(?<!de )siempre(?! (?:igual|lo mismo))", "a partir de ahora", "de ahora en adelante"),
    "zh": ("不要", "必须", "一律", "以后(?!再)", "从(?:现在|今天?)(?:起|开始)", "今后"),
    "ja": ("しないで", "必ず", "常に", "今後"),
    "ko": ("하지 마", "항상", "반드시", "앞으로"),
    "ru": ("никогда", "всегда", "нельзя", r"единственн\w+", "впредь"),
    "pt": ("nunca", r"^(?:\w+ )?sempre", "a partir de agora", "daqui em diante"),
    "it": ("mai", r"^(?:\w+ )?sempre", "da?['’ ]ora in (?:poi|avanti)"),
})  # fmt: skip
"""A rule, whatever it is about."""
# What is put off until another day.
PUT_OFF = one_of({
    "en": (
        "later", "in (?:the )?future", "another (?:day|time|pr|branch|session)", "next time", "for another",
        "separate (?:pr|pull request|branch|issue|ticket|commit|session)", r"follow[- ]?ups?", "out of scope",
        "park (?:it|this)",
        "pick (?:it|this|that) up", "some ?day", "not (?:now|today)", "to find out", "remains to be",
    ),
    "de": ("später", "ein andermal", "nächstes mal", "nicht jetzt", "zurückstellen"),
    "fr": ("plus tard", "une autre fois", "prochaine fois", "pas maintenant"),
    "es": ("más tarde", "más adelante", "otro día", "próxima vez", "aparte", "por ahora no"),
    "zh": ("以后再", "稍后", "下次", "后续", "暂时不", "先不", "另开", "单独的"),
    "ja": ("後で", "あとで", "次回", "今回は", "別の?PR", "別途"),
    "ko": ("나중에", "다음에", "추후", "별도"),
    "ru": ("потом", "позже", "в следующий раз"),
    "pt": ("mais tarde", "depois", "outra hora"),
})  # fmt: skip
POINTING = re.compile(
    r"^(?:do|fix|use|remove|change|revert|undo|try|run|add|make|check|commit|push|keep|delete|go) "
    r"(?:it|this|that|them|both|these|those)\b|"
    r"\b(?:above|below|this one|that one|the first one|the second one|option [a-z0-9])\b|\?$",
    re.IGNORECASE,
)
CODE = re.compile(r"`[^`\n]*`")
ENGLISH = re.compile(
    r"\b(?:the|and|is|are|to|of|that|it|its|for|with|should|must|use|not|from|by|was|were|when|this|which|we|can|so|into|"
    r"only|an|has|have|be|been|does|if|will|now|all|because|but|without|every)\b",
    re.IGNORECASE,
)
# What a program or a template says in the user's role, and what only the moment needs.
TEMPLATE = re.compile(
    r"\[[A-Za-z][^\]\n]{2,60}\](?!\()|<[a-z][\w -]{2,40}>|\{\{?\w+\}?\}|\bTBD\b|\$ARGUMENTS|lorem ipsum", re.IGNORECASE
)
BOILERPLATE = re.compile(
    r"\b(?:do not (?:add|include|output|use|write) (?:any )?(?:markdown|explanations?|commentary|prose|other text)|"
    r"(?:respond|reply|answer|output|return) (?:only|with|in) (?:the |valid |raw |a )?\w+|you are (?:an?|the|"
    r"now) |your (?:task|job|role) is|"
    r"as an? (?:AI|expert|assistant)|conversation (?:so far|above)|the user(?:'s)? (?:will|wants|asked|request)|"
    r"step by step)\b",
    re.IGNORECASE,
)
MOMENT = re.compile(
    r"\b(?:right now|for now|for the moment|at the moment|yet|first|today|this time|just now|let me|I'?ll|I will|I am|"
    r"I'm|can you|could you|would you|please (?:check|look|read|see|tell|explain|show))\b",
    re.IGNORECASE,
)
# A title that says nothing of what was meant: an order to go on, a command, a greeting.
NOT_MEANT = re.compile(
    r"^(?:hi|hello|hey|continue|go on|ok(?:ay)?|yes|no|thanks|please|[/!<{]|new (?:chat|session|conversation)|"
    r"untitled)\b|"
    r"^[/!<{]|[~$>|]|➜|--\w|://|\.(?:py|md|ts|js|json)\b.*\.(?:py|md|ts|js|json)\b",
    re.IGNORECASE,
)


def section(text: str, names: re.Pattern[str]) -> tuple[str, str]:
    """The first heading of these names, without its marks, and what stands below it up to the next heading."""
    parts = re.split(r"^#{1,4}\s+(.+?)\s*$", text, flags=re.MULTILINE)
    for name, body in zip(parts[1::2], parts[2::2], strict=False):
        if names.search(name):
            return re.sub(r"[*_`]", "", name).strip(), body.strip()
    return "", ""
