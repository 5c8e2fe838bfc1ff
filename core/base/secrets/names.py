"""Passwords and keys that a name beside them gives away: `password: …` in a file, a table, a tag, a sentence.

Two questions for each name: what stands beside it as its value, and whether that is a secret and not a word, a path, a
piece of code or a placeholder. The first is a matter of form and generous, the second is strict.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from core.base.late import late

_ENGLISH = r"pass(?:words?|wd|wort|phrase|code|(?<=mot de pass)e|(?<=motdepass)e|(?<=palavra-pass)e)?|pwd"
_FOREIGN = (  # as words of their own: an enclave is no clave
    r"kennwort|passwörter|zugangscode|mdp|contraseña|contrasena|clave|senha|parola"
    r"|wachtwoord|hasło|haslo|heslo|lösenord|losenord|passord|adgangskode|salasana|şifre|sifre|jelszó|jelszo|kata sandi"
)
_SCRIPTS = (
    r"парол[ьяюе]м?|密码|密碼|口令|パスワード|パスフレーズ|暗証番号|비밀번호|패스워드|암호|mật khẩu|κωδικ[οό]ς?|סיסמה|סיסמא"
    r"|كلمة المرور|كلمة السر|पासवर्ड|รหัสผ่าน"
)
_KEYS = r"secret(?:[_-]?(?:access[_-]?)?key)?|token|key|credentials?|(?<=[_/:])auth(?!or)|psk|[_-]pat(?![a-z])|signature|connection[_ -]?string"
_KEY_SCRIPTS = r"токен|ключ|密钥|密鑰|令牌|秘密鍵|秘密鑰|トークン|토큰|비밀키|api-?schlüssel|geheimschlüssel"
NAME = late(rf"(?P<p>(?<![^\W_])(?:{_FOREIGN})(?![^\W_])|{_ENGLISH}|{_SCRIPTS})|(?P<k>{_KEYS}|{_KEY_SCRIPTS})")
"""The last word of a name, in lowered text: of a password (p) or of a key or token (k)."""
STEMS = (
    "pass", "pwd", "secret", "token", "key", "cred", "auth", "psk", "_pat", "-pat", "signature", "connection", "kennwort", "zugangscode",
    "mdp", "contrasena", "clave", "senha", "parola", "wachtwoord", "haslo", "heslo", "losenord",
    "adgangskode", "salasana", "sifre", "jelszo", "kata sandi",
)  # fmt: skip
_FAR_STEMS = (
    "contraseña", "hasło", "lösenord", "şifre", "jelszó", "парол", "密码", "密碼", "口令", "パス", "暗証番号", "비밀번호", "패스워드",
    "암호", "mật khẩu", "κωδικ", "סיסמ", "كلمة", "पासवर्ड", "รหัสผ่าน", "токен", "ключ", "密钥", "密鑰", "令牌", "秘密", "トークン",
    "토큰", "비밀키", "api-schlüssel", "geheimschlüssel",
)  # fmt: skip
"""What each name of the expression begins with: they are sought one by one, which is many times faster."""
_FAR_LETTER = late("[\u00e0-\u024f\u0370-\u0e7f\u1e00-\u1eff\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]")
"""Without one of these none of them is there."""
_QUOTE = r"\\{0,3}[\"'`]"
_QUOTED = (
    r"(?:[bfru]{0,2}\\{1,3}(?P<q1>[\"'`])(?P<escaped>[^\"'`\\\n]{4,400})\\{1,3}(?P=q1)"
    r"|[bfru]{0,2}(?P<q2>[\"'`])(?P<plain>(?:[^\"'`\\\n]|\\.|(?!(?P=q2))[\"'`]){4,400})(?P=q2))"
)
_NO = r"\s\"'`\\\x00-\x1f\x7f\x9b"
_BARE = rf"(?P<bare>[^{_NO},;|。，；、）」』]{{4,300}})"
_VALUE = rf"(?:{_QUOTED}|{_BARE})"
_SUFFIX = (
    r"(?:[_-]?(?:base64|base|data|value|text|plain|string|hash|b64|hex)|[_-]?\d{1,2}(?![\w.])"
    r"|_(?:prod|production|staging|stage|dev|test|live|local|root|admin|user|db|new|old|master|main|default)\b){0,2}"
)
_CLOSED = rf"(?:{_QUOTE}|\*{{1,3}}|_{{2}}|</\w{{1,10}}>)?[\])]?"
_MARKS = r"(?:[ \t]{0,4}(?::[ \t]?str(?:ing)?[ \t]{0,2}=|=>|:=|===?|\?=|->|→|[:=：＝])(?:[ \t]{0,8}|[ \t]{0,4}\n[ \t]{1,16}(?=[^\s:=]{6,200}\s*$)))"
_OPENED = r"(?:\*{1,3}|_{2}|<(?:b|code|strong|string|em|td|span)>|\\?\[|\()?[ \t]?"
ASSIGNED = late(rf"{_SUFFIX}{_CLOSED}(?P<sep>{_MARKS}){_OPENED}{_VALUE}", re.I | re.M)
BRACED = late(
    rf"{_SUFFIX}{_CLOSED}(?P<sep>{_MARKS})(?:{_QUOTE})?(?:[$#]?\{{{{1,3}}%?|<%?=?|%|\[\[?)[ \t]{{0,2}}"
    r"(?:[^{}<>%\n]{0,80}?(?:\bdefault\b[ \t(:=]{0,3}|:[-=]|\|\|?[ \t]?|\bor[ \t]))?"
    r"(?:(?P<q2>[\"'])(?P<plain>[^\"'{}\n]{6,80})(?P=q2)|(?P<bare>[^\s{}\"'`\\<>%|\[\]]{6,80}))(?=[ \t)]{0,3}[}>%\]])",
    re.I,
)
"""A value in the signs that mark a template: nearly always it is one."""
OPTION = late(rf"(?P<sep>[ \t]{{1,4}}){_VALUE}")
CELL = late(rf"{_SUFFIX}{_CLOSED}(?P<sep>[ \t]{{0,40}}\|[ \t]{{0,40}}){_OPENED}{_VALUE}", re.I)
TAG = late(r"(?P<sep>(?:[ \t][^<>\n]{0,80})?>\s{0,4})(?:<!\[CDATA\[)?(?P<bare>[^<>\s]{4,200})", re.I)
BESIDE = late(
    rf"{_SUFFIX}{_QUOTE}?[ \t]{{0,4}}[,;]?\s{{0,40}}(?P<sep>{_QUOTE}?\bvalue{_QUOTE}?[ \t]{{0,4}}[:=][ \t]{{0,4}}){_VALUE}",
    re.I,
)
CALL = late(rf"(?P<sep>\([ \t]{{0,4}}){_QUOTED}[ \t]{{0,4}}\)", re.I)
_FOR = (
    r"(?:[ \t](?:for|of|to|from|on|in|at|is|für|von|zum|zur|vom|im|am|bei|pour|du|de|des|à|au|para|del|el|la|le|da|do|от|для|к|на"
    r"|в|voor|van|til|för|till|w|do|dla)[ \t](?:[^\s:=\"'`.,;!?]{1,40}(?:[ \t]|(?=[:：=]))){0,4}?)"
)
_BE = (
    r"(?:is(?:[ \t](?:now|currently|still))?|was|are|be|=|:|：|set to|changed to|reset to|ist(?:[ \t]jetzt)?|lautet|wäre|war|est|es|era"
    r"|fue|é|è|jest|to|је|er|är|on|是|为|為|は|が|는|은|가|이|→|(?<=[ \t])[-–—])"
)
PROSE = late(
    rf"{_CLOSED}(?:[ \t]{{0,2}}(?:{_FOR}?[ \t]{{0,2}})(?P<sep>(?<![a-z]){_BE}(?:[ \t]{{1,3}}|(?<![a-z])))){_OPENED}{_VALUE}",
    re.I,
)
BEHIND = late(rf"(?P<sep>[ \t]{{1,2}}){_VALUE}", re.I)

_ABOUT_KEYS = late(
    r"(?i)(?:api|access|auth|private|account|encryption|encrypt|decryption|signing|sign|master|license|service|subscription"
    r"|storage|deploy|client|consumer|app|application|admin|root|server|secret|shared|webhook|hmac|aes|jwt|cookie|crypto"
    r"|ssh|gpg|pgp|rsa|wallet|host|user|team|project|org|integration|write|read|ingest|instrumentation|push|dev|prod|live"
    r"|github|gitlab|stripe|openai|anthropic|google|gemini|azure|aws|gcp|datadog|sentry|algolia|mailgun|sendgrid|twilio|heroku"
    r"|cloudflare|supabase|firebase|slack|discord|telegram|notion|linear|airtable|hubspot|shopify|square|paypal|plaid|okta"
    r"|mistral|cohere|groq|deepseek|openrouter|replicate|pinecone|weaviate|qdrant|tavily|serp|serper|brave|exa|figma|vercel"
    r"|netlify|docker|npm|pypi|nuget|snyk|sonar|codecov|maps|mapbox|rapidapi|newrelic|new_relic|grafana|bitbucket|jira"
    r"|atlassian|confluence|dropbox|twitter|facebook|fastly|launchdarkly|asana|trello|zendesk|intercom|mixpanel|amplitude"
    r"|segment|x|llm|model|bot)(?:[_-]api)?[_. -]?$"
)
_NOT_SECRET_TEXT = """
public primary foreign sort partition cache idempotency next page nextpage continuation continue pagination start
end eos bos pad unk sep mask cls stop max min num total prompt completion input output special reg hot short row
object group lookup map dict index bucket search csrf xsrf sync resume cancel cancellation design syntax lexer color
theme
"""
_NOT_SECRET = frozenset(_NOT_SECRET_TEXT.split())
_PLACEHOLDER_WORDS_TEXT = """
your my our the some any enter example sample placeholder dummy fake mock test testing demo insert replace change
changeme changethis here redacted removed hidden secret password passwd pass pwd token key api apikey value string
null none nil undefined true false todo tbd foo bar baz user username admin default generate generated random strong
secure new old goes to with me this an from env access auth client id not set unset empty invalid valid wrong
correct expected actual super very long abc xyz abcdef something anything whatever db database app service bearer
jwt github openai anthropic google aws field input required optional hash hashed encrypted confirm confirmation
current prod production dev local
"""
_PLACEHOLDER_WORDS = frozenset(_PLACEHOLDER_WORDS_TEXT.split())
_PARTS = late(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[-_. ]+|.", re.S)
_FIRST_WORD = late(
    r"(?i)(?:your|example|sample|dummy|fake|placeholder|insert|replace|change[-_]?(?:me|this|it)|mock|redacted|undefined|xxx|todo|test|<)"
)
_ONLY_WORDS = late(r"[A-Za-z]+(?:[-_. ][A-Za-z]+)*[-_]?\d{0,3}$")
_TEMPLATE = late(
    r"\$\{|\{\{|\$\(|<%|%>|\#\{|@\{|\{[A-Za-z_][\w.]*(?:\(\))?(?:![rsa])?(?::[^{}]*)?\}|\{\d*\}|<[A-Za-z][\w ./-]*>|%[({]?[A-Za-z_]\w*[)}%]"
)
_FILLED = late(r"(?i)x{4,}|\*{3,}|\.{3}|…|•{3}|#{4,}|_{4,}|^%[sdrv]$|-{5,}|redacted|\[masked")
_VARIABLE = late(r"\$\{?[A-Za-z_][\w:]*\}?$|\$[A-Z_]{3,}|\$\d$|\$env:|@[A-Za-z_]\w*@?$|%[A-Z_]+%$|[{(<\[]")
_SOURCE = late(r"environ|getenv|process\.env|import\.meta|secrets\.[A-Za-z]|^vault:|^op://|^arn:|^ref\+|^ssm:|^env:")
_IDENTIFIER = late(r"[A-Za-z_][A-Za-z._/:?!|-]*\d{0,2}$")  # one class: a group in a group takes for ever
_PATH = late(
    r"(?:~|\.{1,2}|[A-Za-z]:)?[/\\]|[\w+.-]{0,20}://|\.[A-Za-z]"
    r"|[\w.@/-]+\.(?:py|js|ts|tsx|jsx|go|rs|md|json|toml|ya?ml|txt|env|pem|key|html?|css|sh|rb|java|php|c|h|cpp|lock|pub|crt|xml)(?:[:)#].*)?$"
)
_CODE = late(
    r"[A-Za-z_]\w*\.[A-Za-z_]\w*(?:[.(\[]|$)|[A-Za-z_][\w.:]*(?:\(|\[|<[A-Z]\w*[<>])|self\b|this\b|await\b|new\b|return\b|[!=<>&|]=|=>|=="
    r"|(?i:u?int|float|byte|string|uint|vec|char|varchar|bytes)\d*(?i:array|vec|_t)?(?:\(\d*\)|\[\d*\])?[?!]?$|[A-Za-z_]\w*::|\.\.|&(?:mut|str|self)\b|\w+\[?\]"
)
_CHECKS = late(r"(?:[a-z_]+(?::[\w,]+)?\|)+[a-z_]+(?::[\w,]+)?$")  # what a form demands: required|min:8
_FIELD = late(
    r"(?i)pass|secret|token|key|user|field|input|required|invalid|type|text|hidden|confirm|forgot|login|auth|string|error|name|email"
)
_ARGUMENT = late(
    r"(?i)(?:pass\w*|pwd|secret|token|key|user|arg|param|val(?:ue)?|var|input|field|str|text|prompt|hash|test|foo|bar|item|opt|[a-z]|tmp|temp|line|step|part|phase|level|version|v|p|num|id|utf|base|sha|md|aes|rsa|hs|rs|es|sha_?)_?\d+$"
)
_NUMBERS = late(
    r"[\d.,:_/+-]+(?:[kKmMgG]?[bB]?|ms|s|px|em|rem|%|x|th|st|nd|rd|tok(?:ens)?|h|d|min)?(?:/\w+)?[).\]]*$|\d{4}-\d\d-\d\d|0x[0-9a-fA-F]{1,8}$|#[0-9a-fA-F]{3,8}$|v?\d+\.\d+"
)
_CONTENT = late(
    r"(?i)(?:sha(?:1|256|384|512)[-:]|md5:|urn:|data:|did:|spdx|utf-?8|iso-|base64|[0-9a-f]{8}-[0-9a-f]{4}-)"
)


def named_secrets(text: str, lowered: str, present: frozenset[str]) -> Iterator[tuple[int, int, str]]:
    """Start, end and kind (`password`, `secret`) of each value that its name gives away. `lowered` is `text` in small
    letters, character by character; `present` are those of `STEMS` that it holds."""
    done = 0
    marked = "[redacted: " in text
    for place in _places(lowered, present):
        if (
            marked
            and "]" not in text[(mark := text.rfind("[redacted: ", max(0, place - 50), place)) : place]
            and mark >= 0
        ):
            continue  # the name of a kind is no name
        name = NAME.match(lowered, place) if place >= done else None
        found = _value_of(text, name) if name else None
        if found:
            done = found[1]
            yield found
    if ("|" in text and "--" in text) or "┼" in text or "╪" in text:
        yield from _columns(text)


def _columns(text: str) -> Iterator[tuple[int, int, str]]:
    """The cells below a heading such as `Password` in a table of markdown, or in one that a database's client drew."""
    done = 0
    for rule in _TABLE_RULE.finditer(text):
        begins = text.rfind("\n", 0, max(0, rule.start() - 1)) + 1
        head = text[max(begins, rule.start() - _WIDEST) : rule.start()]
        if rule.start() < done or not _BAR.search(head):
            continue  # a line between the rows of the table before, or its upper edge
        edged = rule["edge"] is not None  # what stands before the first bar is no cell
        names = [NAME.search(cell.lower()) for _, cell in _cells(head, edged)]
        if not any(names):
            continue
        at = rule.end() + 1
        while row := _TABLE_ROW.match(text, at):
            for (place, cell), name in zip(_cells(row["row"], edged), names, strict=False):
                value = cell.strip().strip("`*")
                if (
                    name
                    and value
                    and " " not in value
                    and _is_secret(value, name["p"] is not None, False, "cell", False, "|", name[0])
                ):
                    start = row.start("row") + place + cell.index(value)
                    yield start, start + len(value), "password" if name["p"] else "secret"
            at = done = row.end() + 1


def _cells(row: str, edged: bool) -> Iterator[tuple[int, str]]:
    """The cells of a row of a table, each with its place in it."""
    place = 0
    for number, cell in enumerate(_BAR.split(row)):
        if number or not (edged or not cell.strip(" \t>")):
            yield place, cell
        place += len(cell) + 1


_WIDEST = 1000
_BAR = late(r"[|│┃║]")
_TABLE_RULE = late(
    r"^[ \t>]{0,12}(?=[-:=|+├╞┣╠─═━])(?P<edge>[|+├╞┣╠])?(?=[^\n]{0,400}[|+┼╪╋╬┤╡┫╣])[-:=|+ \t─═━┼╪╋╬┤╡┫╣]{3,400}\r?$",
    re.M,
)
_TABLE_ROW = late(r"(?=[^\n]{0,1000}[|│┃║]|[ \t>]{0,12}[+├╟┠][-=─━┄+┼┤┨╢]{3,400}\r?$)(?P<row>[^\n]{1,1000})$", re.M)


def _places(lowered: str, present: frozenset[str]) -> list[int]:
    places: list[int] = []
    far = () if lowered.isascii() or not _FAR_LETTER.search(lowered) else _FAR_STEMS
    for stem in (*(stem for stem in STEMS if stem in present), *far):
        place = lowered.find(stem)
        while place >= 0:
            places.append(place)
            place = lowered.find(stem, place + len(stem))
    return sorted(set(places))


def _value_of(text: str, name: re.Match[str]) -> tuple[int, int, str] | None:
    password = name["p"] is not None
    at, end = name.span()
    if end == len(text):
        return None
    first = at
    while first > max(0, at - 40) and (text[first - 1].isalnum() or text[first - 1] in "_.-"):
        first -= 1
    before = text[first:at]
    core = name[0]
    if core == "pass" and before[-1:].isalpha() and text[at].islower():
        return None  # bypass, compass
    if not password and not _may_name(before, core, text, first):
        return None
    follows = text[end]
    kind = "password" if password else "secret"
    env = text[at:end].isupper() and not any(map(str.islower, before))
    for form, pattern in _FORMS:
        if (form if form != "braced" else "assigned") not in _BY_NEXT.get(
            follows, _WORDS_NEXT if follows.isalnum() else _ANY_NEXT
        ):
            continue
        if not _fits(form, password, before, text, first, end):
            continue
        match = pattern.match(text, end)
        if match is None:
            continue
        group = next(
            one for one in ("escaped", "plain", "bare") if one in pattern.groupindex and match[one] is not None
        )
        start, stop = match.span(group)
        value = match[group]
        if group == "bare":
            value = _trimmed(value, text, start)
            stop = start + len(value)
        if core == "pass" and not before and ":" in match["sep"]:
            return None  # the "PASS: name" of a test run
        if form == "braced":
            if _is_no_name(value, group != "bare"):
                return start, stop, kind
        elif _is_secret(value, password, group != "bare", form, env, match["sep"], core):
            return start, stop, kind
    return None


def _may_name(before: str, core: str, text: str, first: int) -> bool:
    """Whether a word such as key or token ends the name of a secret."""
    words = [part.lower() for part in _PARTS.findall(before[-24:]) if part.isalpha()]
    if words and words[-1] in _NOT_SECRET:
        return False
    if core == "key":
        spaced = not before and re.search(
            r"(?i)(?:api|access|secret|private|encryption|license)[ -]$", text[max(0, first - 12) : first]
        )
        return bool(_ABOUT_KEYS.search(before) or spaced)
    return True


def _fits(form: str, password: bool, before: str, text: str, first: int, end: int) -> bool:
    if form == "braced":
        return _BRACE.search(text, end, end + 24) is not None
    if form == "option":
        if before.startswith("--") or text[max(0, first - 2) : first] == "--":
            return True
        return bool(_SETS.search(text[max(0, first - 40) : first]))
    if form == "cell":
        return "|" in text[max(0, first - 300) : first].rpartition("\n")[2]
    if form == "tag":
        return text[first - 1 : first] == "<" or (
            text[first - 1 : first] == ":" and "<" in text[max(0, first - 20) : first]
        )
    if form == "call":
        return password and bool(before)
    if form == "behind":
        line = text[max(0, first - 120) : first].rpartition("\n")[2]
        return password and bool(_BEHIND_WORDS.search(line))
    return True


_BRACE = late(r"[=:\"'][ \t]{0,8}[\"']?(?:[$#]?\{|<|%|\[)")
_SETS = late(
    r"(?:^|[\s;=\"'`])(?:set(?:x|env)?|ENV|ARG|config set|secrets? set|putenv)(?:[ \t]{1,2}-{1,2}\w{1,10}){0,3}[ \t]{1,2}$"
)
_BEHIND_WORDS = late(
    r"(?i)(?:^|\s)(?:login|machine|user|username|identified by|with|using|use|try|enter|typed?|mit dem|dem|avec le|le|con la|la|"
    r"requirepass|masterauth|enable|create (?:user|role)\b[^\n;]{0,80}|alter (?:user|role)\b[^\n;]{0,80}|my|the|wpa|с|using the)"
    r"(?:[ \t]\S{1,60}){0,2}[ \t](?:require|master)?$|(?:^|\s)(?:require)$"
)
_FORMS = (
    ("braced", BRACED),
    ("assigned", ASSIGNED),
    ("beside", BESIDE),
    ("cell", CELL),
    ("tag", TAG),
    ("call", CALL),
    ("option", OPTION),
    ("prose", PROSE),
    ("behind", BEHIND),
)
_QUOTE_NEXT = frozenset({"assigned", "beside", "cell", "tag", "prose"})
_WORDS_NEXT = frozenset({"assigned", "prose", "beside", "cell"})
_ANY_NEXT = frozenset({"assigned", "beside", "prose", "tag"})
_BY_NEXT: dict[str, frozenset[str]] = {
    ":": frozenset({"assigned"}),
    "=": frozenset({"assigned"}),
    " ": frozenset({"assigned", "cell", "option", "prose", "behind", "beside", "tag"}),
    "\t": frozenset({"assigned", "cell", "option", "prose", "behind"}),
    "\n": frozenset({"beside"}),
    "\r": frozenset({"beside"}),
    "|": frozenset({"cell"}),
    ">": frozenset({"tag"}),
    "(": frozenset({"call"}),
    '"': _QUOTE_NEXT,
    "'": _QUOTE_NEXT,
    "`": _QUOTE_NEXT,
    "\\": _QUOTE_NEXT,
    "s": frozenset(),
    ".": frozenset(),
    ",": frozenset({"beside"}),
    "/": frozenset(),
    "?": frozenset({"assigned"}),
}


def _trimmed(value: str, text: str, start: int) -> str:
    """A value that no quotes delimit, without what belongs to the sentence, the code or the address around it."""
    cut = re.search(r"&\w{1,40}=|</|<br|%26|%0[adAD]|%20|%22|&amp;|&quot;|\[\d{1,3}m|\]\(|\*\*$", value)
    if cut and cut.start() >= 4:
        value = value[: cut.start()]
    while value and (
        value[-1] in ".,:*_" or (value[-1] in ")]}>" and value.count(value[-1]) > value.count(_PAIRS[value[-1]]))
    ):
        value = value[:-1]
    return value


_PAIRS = {")": "(", "]": "[", "}": "{", ">": "<"}


def is_placeholder(value: str) -> bool:
    """Whether a value stands for one that is to be filled in: `<token>`, `${VAR}`, `your-api-key`, `xxxx`."""
    head = value[:120]
    if _FILLED.search(head) or _SOURCE.search(head) or _VARIABLE.match(head) or _TEMPLATE.search(head):
        return True
    if _ONLY_WORDS.match(head) and _FIRST_WORD.match(head):
        return True
    parts = _PARTS.findall(head)
    known = sum(part.lower() in _PLACEHOLDER_WORDS for part in parts)
    return known > 0 and len(parts) <= 4 * known and all(map(_stands_for_one, parts))


def _stands_for_one(part: str) -> bool:
    """Whether a piece of a value is a word of those that people put where a secret will be, a short number or nothing."""
    if part.isalpha():
        return len(part) < 3 or part.lower() in _PLACEHOLDER_WORDS
    return (len(part) < 4 and part.isdigit()) or not part.strip("-_. ")


def _is_secret(value: str, password: bool, quoted: bool, form: str, env: bool, sep: str, core: str) -> bool:
    """Whether what stands beside a name is a secret, and not a word, a path, code or a blank."""
    if "[redacted" in value or len(value) < 4 or len(set(value)) < 3 or is_placeholder(value) or _PATH.match(value):
        return False
    digits = sum(map(str.isdigit, value))
    letters = sum(map(str.isalpha, value))
    symbols = len(value) - digits - letters - sum(value.count(one) for one in "-_. :/")
    if any(map(str.isspace, value)):
        return (
            core == "passphrase"
            and quoted
            and value.islower()
            and 3 <= value.count(" ") <= 24
            and not _FIELD.search(value)
        )
    if password:
        return _is_password(value, digits, letters, symbols, quoted, form, env, sep)
    return _is_key(value, digits, letters, symbols, quoted, form, env, core)


def _is_password(
    value: str, digits: int, letters: int, symbols: int, quoted: bool, form: str, env: bool, sep: str
) -> bool:
    if digits and not letters and not symbols:
        return (
            len(value) >= (4 if quoted else 5)
            and value.isdigit()
            and form in ("assigned", "cell", "tag", "beside", "option")
        )
    if not digits and not symbols:
        if (form == "prose" and not quoted) or form in ("behind", "call") or not value.isascii():
            return False
        if len(value) < 6 or _FIELD.search(value):
            return False
        return quoted and "." not in value and ":" not in value if not env else "." not in value
    if not quoted and (_CODE.match(value) or _ARGUMENT.match(value)):
        return False
    if quoted and ((_CODE.match(value) and "." in value) or _CHECKS.match(value)):
        return False
    if not digits:  # letters and symbols
        if not value.isascii() or ("@" in value and "." in value):
            return False
        mixed = any(map(str.islower, value)) and any(map(str.isupper, value))
        return (
            len(value) >= 6
            and mixed
            and bool(re.search(r"[A-Za-z][!@#$%^*~?&+]{1,3}[A-Za-z]|[A-Za-z]{4}[!#$%^*~]{1,2}$", value))
        )
    if _NUMBERS.match(value) or (not letters and symbols < 2) or len(value) < (5 if symbols else 6):
        return False
    return not (
        form in ("prose", "behind") and not quoted and (len(value) < 6 or _CONTENT.match(value) or not _mixed(value))
    )


def _is_no_name(value: str, quoted: bool) -> bool:
    """Whether what stands in the braces of a template is a password itself, and not the name of one: letters and digits
    with a sign that no name has, or changing places as in no name, or in quotes."""
    if not re.search(r"\d", value) or not re.search(r"[A-Za-z]", value) or re.search(r"\s|\w[.(]\w|::", value):
        return False
    if _FIELD.search(value) or is_placeholder(value) or _PATH.match(value) or _NUMBERS.match(value):
        return False
    changes = sum(a.isdigit() != b.isdigit() for a, b in itertools.pairwise(value))
    return quoted or changes >= 3 or bool(re.search(r"[!@#$^&*~?+]", value))


def _mixed(value: str) -> bool:
    """Whether letters and digits or signs stand together as in nobody's sentence: not `3rd`, `utf8`, `RFC7519`."""
    return not re.match(r"(?i)(?:\W*\d+[a-z]{0,3}|[a-z]{1,4}-?\d{1,5}|[A-Z]{2,8}-?\d+)\W*$", value)


def _is_key(value: str, digits: int, letters: int, symbols: int, quoted: bool, form: str, env: bool, core: str) -> bool:
    if not digits or not letters or symbols > len(value) // 3 or form in ("behind", "call"):
        return False
    if _IDENTIFIER.match(value) or _CODE.match(value) or _NUMBERS.match(value) or _ARGUMENT.match(value):
        return False
    if re.search(r"[()<>\[\]{}]", value) or (_CONTENT.match(value) and not re.match(r"(?i)[0-9a-f]{8}-", value)):
        return False
    if form == "prose":
        return len(value) >= 16 and _is_random(value)
    if value.count("-") + value.count("_") > 2 and sum(map(str.isalpha, re.split(r"[-_.]", value))) > 2:
        return False  # words joined by hyphens
    if core in ("signature", "psk") or form in ("cell", "tag"):
        return len(value) >= 8 and _is_random(value)
    return len(value) >= (6 if quoted or env or core.startswith("secret") else 8)


def _is_random(value: str) -> bool:
    """Whether a value looks drawn by lot: letters and digits change places often."""
    changes = sum(a.isdigit() != b.isdigit() for a, b in itertools.pairwise(value))
    return changes >= max(2, len(value) // 10)
