# ruff: noqa: E501  (long alternations are easier to read on one line than broken)
"""The few words that the rules over sessions need, as patterns: errors, checks, will, what is left, in several languages.

English, German, French, Spanish, Chinese, Japanese and Korean stand together in each pattern. Chinese, Japanese and
Korean have no blanks between words, so their cues carry no word boundary.
"""

from __future__ import annotations

import re

# --- output of commands ------------------------------------------------------------------------------------------------

ERROR = re.compile(
    r"\b(?:error|fatal|failed|failure|cannot|can't|could not|couldn't|unable to|not found|no such|denied|unknown|unrecogni[sz]ed|"
    r"invalid|unexpected|undefined|missing|not a|no matches|is required|refused|unsupported|illegal|"
    r"Fehler|erreur|impossible|introuvable|no se (?:pudo|encontró))\b|错误|失败|找不到|エラー|見つかりません|오류|찾을 수 없",
    re.IGNORECASE,
)
NO_ERROR = re.compile(
    r"\b(?:0 (?:errors?|failed|failures?)|no (?:errors?|issues|problems|failures)|errors?: 0)\b", re.IGNORECASE
)
HARD_ERROR = re.compile(
    r"^(?:[\w./\\:() -]{0,60}: )?(?:error|fatal|ERR_|ERR!|panic|usage)\b|command not found|No such file or directory|"
    r"unrecogni[sz]ed (?:sub)?command|unknown (?:flag|option|command|switch|argument)|not a git repository|"
    r"Permission denied|Base ref must be|^Traceback",
    re.IGNORECASE,
)
# Errors of how a thing is called. What a test or compiler says about the code is work, and is over when it is done.
OF_USAGE = re.compile(
    r"command not found|not recogni[sz]ed|unrecogni[sz]ed|unknown (?:flag|option|command|switch|argument|shorthand|script|task|target)|"
    r"invalid (?:option|argument|flag|value|choice)|unexpected argument|no such (?:file|option|command|task|service|image|remote)|"
    r"not a (?:git repository|valid|tty|directory)|already (?:used|exists|checked out)|no matches found|missing script|"
    r"is required|required flag|permission denied|access denied|not (?:installed|supported|allowed|permitted)|unsupported|"
    r"could not (?:resolve|find|read|connect|determine)|cannot (?:find|open|access|connect|be run)|can't (?:find|open|connect)|"
    r"must (?:be|specify|have|provide)|no upstream|has no upstream|divergent|ambiguous|ENOENT|EACCES|ERR_[A-Z_]+|"
    r"cannot import|No module named|Cannot find module|Missing (?:required|argument)|externally-managed|not inside|outside",
    re.IGNORECASE,
)
PLACEHOLDERS = ("<", "REDACTED", "…")
ONE_OFF = re.compile(
    r"\bkill(?:all)?\b|\b(?:pid|PID)\b|/tmp/|/private/tmp|/var/folders/|\bsleep \d|\b[0-9a-f]{12,}\b|\bcd -|"
    r"\b(?:grep|rg|find|ls|cat|sed|awk|head|tail|echo|wc|which|pwd|mkdir|rm|cp|mv|touch|test|\[)\s|<<|\bcurl\b.*localhost",
)

CHECKS = ("format", "lint", "types", "build", "test", "integration")
_RUNNER = (
    r"(?:(?:npx|pnpm|npm|yarn|bun|bunx|mise|just|make|cargo|go|poetry|uv|hatch|tox|nox|rake|bundle|composer|mvn|\./mvnw|gradle|\./gradlew|"
    r"dotnet|swift|flutter|deno|rye|pdm|pipenv|python3?|pytest|ruff|mypy|black|isort|flake8|pylint|pyright|eslint|prettier|tsc|vitest|"
    r"jest|golangci-lint|gofmt|rustfmt|mix|sbt|ctest|cmake|ninja|bazel|turbo|nx|pre-commit|biome|rspec|phpunit)\b)"
)
_STARTS = re.compile(
    rf"^(?:[A-Z_]+=\S+\s+)*(?:sudo\s+|docker compose (?:run|exec)\s+(?:--rm\s+)?\S+\s+|\.venv/bin/|venv/bin/)?{_RUNNER}"
)
_KINDS = (
    ("integration", re.compile(r"\b(?:integration|e2e|test:ci|tags=integration|playwright)\b")),
    ("format", re.compile(r"\b(?:fmt|format|gofmt|rustfmt|prettier|black)\b")),
    ("lint", re.compile(r"\b(?:lint|ruff|eslint|clippy|vet|golangci-lint|flake8|pylint|biome|pre-commit)\b")),
    ("types", re.compile(r"\b(?:mypy|pyright|tsc|typecheck|type-check|check-types|check:types)\b")),
    ("test", re.compile(r"\b(?:test|tests|pytest|vitest|jest|rspec|phpunit|ctest|tox|nox)\b")),
    ("build", re.compile(r"\b(?:build|compile|check|verify)\b")),
)
# One test of many is what somebody looked at then, not how the repository is checked.
_ONE_TEST = re.compile(
    r"\s-run\b|\s-k\s|::|\s-t\s|--grep|--filter|\.(?:py|ts|tsx|js|go|rs|rb|php|java)\b|-c ['\"]|--version|--help|\s-m\s+(?!pytest|mypy|ruff|unittest|tests?\b|build)"
)


def check_kind(command: str) -> str:
    """Which of `CHECKS` a command line is, "" for none."""
    if (
        len(command) > 100
        or "|" in command
        or ">" in command
        or not _STARTS.match(command)
        or _ONE_TEST.search(command)
    ):
        return ""
    return next((kind for kind, pattern in _KINDS if pattern.search(command)), "")


# --- plans and answers --------------------------------------------------------------------------------------------------

NO_ANSWER = re.compile(
    r"^(?:\[No preference\]|no preference|skip|n/?a|none|other|ok(?:ay)?|yes|no|\W*)$", re.IGNORECASE
)
GENERIC_TITLE = re.compile(
    r"(?:plan|implementation(?: plan)?|overview|summary|context|todo|steps|fix|changes)", re.IGNORECASE
)
APPROACH = re.compile(
    r"^(?:\d+\.?\s*)?(?:approach|solution|design|decision|proposed|fix|strategy|recommended|goal|lösung|ansatz|solución|方案|解决|方針)",
    re.IGNORECASE,
)
CONTEXT = re.compile(
    r"^(?:\d+\.?\s*)?(?:context|problem|background|why|motivation|root cause|issue|reason|problem statement|kontext|contexte|contexto|背景|问题|原因|課題)",
    re.IGNORECASE,
)
_END = re.compile(r"(?<=[.!?。！？])(?:\s+|$)|(?<=[。！？])")


def first_sentence(text: str, most: int = 260) -> str:
    """The first sentence of a paragraph, without list marks and emphasis; "" where none of a fitting length stands."""
    for row in text.split("\n"):
        line = re.sub(r"^\s*(?:[-*+•]|\d+[.)])\s+", "", row).strip()
        line = re.sub(r"(\*{1,3}|__)(.+?)\1", r"\2", line)
        if not line or line.startswith(("```", "|", "#", "<", ">")):
            if line.startswith("```"):
                return ""
            continue
        found = _END.split(line)[0].strip()
        return found if 20 <= len(found) <= most and not found.endswith(":") else ""
    return ""


# --- what a closing message says -----------------------------------------------------------------------------------------

LEFT_HEADING = re.compile(
    r"^(?:what(?:'s| is)? (?:left|next|remaining|not done)|remaining(?: \w+)?|next steps?|follow[- ]?ups?|still (?:open|to do|needed)|to ?do|"
    r"not (?:done|covered|included|addressed|tested)|out of scope|known (?:issues|limitations|gaps)|limitations|open (?:items|points|issues|tasks)|"
    r"deferred|pending(?: \w+)?|outstanding|gaps|manual steps?|before (?:merging|release|deploy\w*)|after merging|caveats?|"
    r"nächste schritte|offen(?:e punkte)?|noch zu tun|prochaines étapes|reste à faire|próximos pasos|pendientes?|"
    r"下一步|后续|待办|未完成|剩余|残り|今後|次のステップ|未対応|다음 단계|남은 작업)(?![a-z])",
    re.IGNORECASE,
)
LEFT = re.compile(
    r"\b(?:not (?:yet )?(?:pushed|committed|merged|tested|deployed|verified|implemented|released|wired|been (?:run|tested|verified|pushed|committed|wired))|"
    r"(?:have|has|had|did|was|were)(?:n't| not) (?:yet |been )*(?:pushed|commit\w*|merged?|test\w*|run|deploy\w*|verif\w*|implement\w*|chang\w*|updat\w*|fix\w*)|"
    r"still (?:needs?|has to|have to|missing|fails?|broken|open|pending|to be|requires?)|remains? (?:to be|open|unfixed|unresolved|undone)|"
    r"needs? (?:to be (?:done|run|fixed|updated|set|added|merged|deployed|migrated|re-?\w+|pushed|\w+ed)|a follow[- ]?up)|"
    r"left (?:out|open|for later|untouched|as is)|out of scope|outside (?:the )?scope|for a (?:later|separate|follow[- ]?up) |"
    r"worth (?:watching|fixing|revisiting|checking)|follow[- ]?up|once .{3,60} (?:is|are) merged|after merging|will need to be|"
    r"noch (?:nicht|offen|zu \w+)|steht noch aus|muss noch|fehlt noch|pas encore|reste à|il faudra|todavía no|aún no|falta(?:n)? por|queda(?:n)? por)\b|"
    r"尚未|还没|还需|仍需|未提交|未推送|未测试|待处理|需要后续|まだ|未実装|未対応|要確認|残って|아직|남아|필요합니다",
    re.IGNORECASE,
)
CAUSE = re.compile(
    r"\b(?:root cause|(?:real|actual|underlying) (?:cause|problem|issue|reason)|culprit|caused by|because|turns? out|turned out|due to|"
    r"which (?:means|meant|is why)|this (?:means|meant) that|so that .{3,40} (?:never|always)|the (?:cause|problem|bug|issue|reason) (?:is|was)|"
    r"Ursache|verursacht|weil|liegt daran|la cause|à cause de|parce que|la causa|porque|debido a)\b|"
    r"原因是|根本原因|因为|导致|由于|原因は|のため|が原因|때문|원인",
    re.IGNORECASE,
)
RULE = re.compile(
    r"\b(?:only (?:works|accepts|supports|runs|applies|checks|when|if|once)|does(?: not|n't) (?:support|use|read|run|work|need|include|affect|automatically)|"
    r"do(?: not|n't) (?:support|use|work|need)|(?:is|are) not (?:supported|used|needed|required|exposed|included|tracked)|"
    r"defaults? to|by default|requires?|must (?:be|have|not|use|run|match|sort|come)|always|never|cannot|can't|overrid(?:es|den)|takes precedence|"
    r"wins over|is (?:limited|hard-?coded|deprecated|derived|keyed|cached|exported|generated) |ignores?|silently|"
    r"nur wenn|standardmäßig|niemals|immer|seulement si|par défaut|jamais|toujours|solo si|por defecto|nunca|siempre)\b|"
    r"默认|必须|只有|不支持|不会|无法|デフォルト|必須|のみ|できません|対応していません|기본값|반드시|지원하지",
    re.IGNORECASE,
)
DONE = re.compile(
    r"^(?:(?:I(?:'ve| have)?|we(?:'ve| have)?)\s+(?:also |now |successfully )?)?"
    r"(?:fixed|added|removed|renamed|implemented|updated|created|replaced|moved|merged|resolved|migrated|refactored|changed|opened|"
    r"deleted|converted|wrote|upgraded|bumped|documented|marked|logged|extracted|consolidated|split|introduced|switched|rewrote|"
    r"published|released|deployed|configured|enabled|disabled|restored|cleaned up|simplified)\s",
    re.IGNORECASE,
)
IS_DONE = re.compile(
    r"^(?:the |all |both )?.{3,100}? (?:is|are|has been|have been|was|were) (?:now )?(?:complete(?:d)?|done|implemented|fixed|marked|merged|"
    r"pushed|published|released|deployed|removed|resolved|consolidated|migrated)\b",
    re.IGNORECASE,
)
# An assistant that tells what it is about to do, offers, asks, or talks to somebody.
MONOLOGUE = re.compile(
    r"^(?:let me|let's|now (?:let|I|we)|I(?:'ll| will| need| should| can| could| think|'m going| want| see|'d| would)|we(?:'ll| should| could| can| need)|"
    r"first,|next,|then,|ok(?:ay)?|great|perfect|good|excellent|hmm|wait|actually|looking|checking|would you|do you|shall|should I|want me|"
    r"if you(?:'d)?(?: want| like| prefer)?|feel free|you (?:can|could|may|might|should)|let us know|happy to|happy|sure|yes|no\b|here(?:'s| is| are)|"
    r"to (?:fix|do|run|use|test) this|option \w+:|alternatively|for example|e\.g\.|note:? I|ich werde|soll ich|je vais|voy a|我来|让我|接下来我|我会)",
    re.IGNORECASE,
)
OFFER = re.compile(
    r"\b(?:would you like|want me to|shall I|should I|let me know|if you(?:'d)? (?:want|like|prefer|need)|I can (?:also )?|happy to|ready (?:to|for) (?:the next|you)|"
    r"feel free|soll ich|wenn du möchtest|si tu veux|si quieres|voulez-vous)\b|需要我|要不要|如果你(?:愿意|需要|想)|しましょうか|원하시면",
    re.IGNORECASE,
)
HEDGE = re.compile(
    r"\b(?:might|maybe|perhaps|probably|possibly|likely|seems?|seemed|appears?|could be|may be|I think|I guess|not sure|presumably|suspect|"
    r"hypothe\w+|potentially|vielleicht|wahrscheinlich|peut-être|probablement|quizás|probablemente)\b|可能|也许|大概|かもしれ|おそらく|아마",
    re.IGNORECASE,
)
DANGLING = re.compile(
    r"^(?:this|that|these|those|it|its|they|he|she|there|which|so|then|and|but|or|both|same|such|here|as (?:such|a result)|hence|thus|therefore|"
    r"in this case|in that case|also|the (?:above|following|former|latter|change|changes|fix|test|tests|file|code|function|issue|problem|error|solution)\b(?! (?:in|of|that|for|from)\b))\b",
    re.IGNORECASE,
)
ANCHOR = re.compile(
    r"`[^`\n]{2,}`|\b[a-z]+_[a-z_]+\b|\b[a-z]+[A-Z]\w+|\b[A-Z][a-z]+[A-Z]\w+|\b[A-Z]{2,}[-_]?\d*\b|\w/\w|\b\w+\.\w{1,5}\b|--\w|#\d+|\bv?\d+\.\d+"
)

# --- what the person says --------------------------------------------------------------------------------------------------

WILL = re.compile(
    r"\b(?:never|always|no longer|any ?more|prefer|instead of|rather than|don'?t (?:want|use|ever|just|add|commit|push|touch|change|create|put)|"
    r"do not (?:want|use|ever|add|commit|push|touch|change|create|put)|we (?:only|don'?t|never|always|want)|must (?:not|be|always|never|have)|"
    r"should (?:only|never|always|not|be|use|stay|go|redirect|have)|stick (?:to|with)|let'?s (?:use|go with|keep|not|drop|have)|we (?:have to|use)|"
    r"make sure (?:to|that|you) (?:always|never)|not .{2,40} but|no (?:external|new|more) \w+|"
    r"niemals|immer|nicht mehr|lieber|stattdessen|bitte (?:kein|nicht)|jamais|toujours|plutôt|ne .{2,30} pas|nunca|siempre|prefiero|en vez de)\b|"
    r"不要|不再|必须|应该|优先|而不是|保留|别用|一律|しないで|必ず|ではなく|使わない|하지 마|항상|대신",
    re.IGNORECASE,
)
CORRECTION = re.compile(
    r"^(?:no,|nope|actually|that'?s (?:not|wrong)|it'?s (?:not|actually)|technically|wrong|not (?:quite|true)|you (?:forgot|missed)|nein,|falsch|non,|no es|"
    r"不对|不是|错了|違います|아니)",
    re.IGNORECASE,
)
POINTING = re.compile(
    r"^(?:do|fix|use|remove|change|revert|undo|try|run|add|make|check|commit|push|keep|delete|go) (?:it|this|that|them|both|these|those)\b|"
    r"\b(?:above|below|this one|that one|the first one|the second one|option [a-z0-9])\b|\?$",
    re.IGNORECASE,
)
TEMPLATE = re.compile(
    r"\[[A-Za-z][^\]\n]{2,60}\](?!\()|<[a-z][\w -]{2,40}>|\{\{?\w+\}?\}|\bTBD\b|\$ARGUMENTS|lorem ipsum", re.IGNORECASE
)
