"""The words that the rules over sessions look for, by language.

Structure says most (see `sessions.py`); these tables say the rest: what an error, a finished or an unfinished piece of
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
        "(?:command|option|flag) is deprecated",
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
        r"^(?:[\w./\\:() -]{0,60}: )?(?:error|fatal|ERR_|ERR!|panic|usage)\b", "^Traceback", "command not found",
        "No such file or directory", "unrecogni[sz]ed (?:sub)?command", "not a git repository", "Permission denied",
        "unknown (?:flag|option|command|switch|argument)", "Base ref must be", "ParserError", "^✖ ",
        "FullyQualifiedErrorId", "externally-managed", "Missing script",
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
# --- what a closing message says ---

LEFT_HEADING = one_of({
    "en": (
        r"what(?:'s| is)? (?:left|next|remaining|not done)", r"remaining(?: \w+)?", r"still (?:open|to do|needed)",
        r"to ?do", "deferred", r"known (?:issues|limitations|gaps)", "limitations", r"pending(?: \w+)?", "gaps",
        r"(?!no )(?:\w+ ){0,2}(?:outstanding|unresolved|block(?:ed|ers?)|follow[- ]?ups?)(?: \w+)?",
        r"not (?:yet )?(?:done|tested|verified|run|committed|pushed|fixed|implemented)", r"manual steps?",
        r"open (?:items|points|issues|tasks)", r"before (?:merging|release|deploy\w*)", "after merging", r"caveats?",
    ),
    "de": ("offen(?:e punkte)?", "noch (?:zu tun|offen)"), "fr": ("(?:reste )?à faire",),
    "es": ("pendientes?", "por hacer"), "ru": ("осталось", "не сделано"), "pt": ("pendentes?",),
    "zh": ("待办", "未完成", "剩余", "后续"), "ja": ("残り", "未対応"), "ko": ("남은 작업", "미완료"),
}, begins=True)  # fmt: skip
_WORK = r"(?:push|commit|merg|test|deploy|verif|implement|updat|fix|migrat|releas|wir|reproduc)\w*"
LEFT = one_of({
    "en": (
        rf"not (?:yet )?(?:been )?(?:{_WORK}|run)",
        rf"(?:ha(?:s|ve|d)|did|was|were)(?:n't| not) (?:yet |been )*(?:{_WORK}|run)",
        rf"(?:could not|couldn't|unable to|can(?:no|')t) (?:be )?(?:{_WORK}|run)",
        r"still (?:needs?|ha(?:s|ve) to|missing|fails?|broken|open|pending|to be|requires?)",
        r"remains? (?:to be|open|unfixed|unresolved|undone)", r"left (?:open|for later|out|as is)",
        r"for a (?:later|separate|follow[- ]?up) \w+", r"(?:is|are|was|were) deferred", r"blocked (?:by|on)",
        r"worth (?:watching|fixing|revisiting)", r"once .{2,60} (?:is|are) merged", "after merging",
        r"(?:will|still) needs? to be", r"you(?:'ll| will)? (?:still )?(?:need|have) to", "the next step is",
        r"remaining (?:\w+ )?(?:issue|problem|work|task|step|gap)s?", "untested", r"on (?:other|the other) machines?",
    ),
    "de": (r"noch (?:nicht|offen|zu \w+)", "muss noch", "fehlt noch"), "fr": ("pas encore", "reste à"),
    "es": ("todavía no", "aún no", r"(?:falta|queda)n? por"), "ru": ("ещё не", "еще не", "осталось"),
    "pt": ("ainda não",), "zh": ("尚未", "还没", "还需", "仍需", "未提交", "未推送", "未测试", "待处理"),
    "ja": ("まだ", "未実装", "未対応"), "ko": ("아직", "남아 있"),
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
ANCHOR = re.compile(
    r"`[^`\n]{2,}`|\b[a-z]+_[a-z_]+\b|\b[a-z]+[A-Z]\w+|\b[A-Z][a-z]+[A-Z]\w+|\b[A-Z]{2,}[-_]?\d*\b|\w/\w|"
    r"\b\w+\.\w{1,5}\b|--\w|#\d+|\bv?\d+\.\d+"
)

# --- what the user says ---

STRONG = one_of({
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
"""Words with which somebody says how a thing has to be for good, whatever it is about."""
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
