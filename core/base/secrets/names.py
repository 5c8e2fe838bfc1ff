"""Passwords and keys that a name beside them gives away: `password: …` in a file, a table, a tag, a sentence.

Two questions for each name: what stands beside it as its value, and whether that is a secret and not a word, a path, a
piece of code or a placeholder. The first is a matter of form and generous, the second is strict.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.base import late
from core.base.secrets.near import drawn_near
from core.base.secrets.said import said_near, shown
from core.base.secrets.tables import cells_below
from core.base.secrets.values import (
    PARTS,
    FormName,
    Value,
    is_chosen,
    is_compound,
    is_named_code,
    is_no_name,
    is_phrase,
    is_placeholder,
    is_secret,
    is_type,
    is_word,
)

_ENGLISH = (
    r"pa[s5]{2}[ -]?(?:w|vv) ?[o0]r(?:d|t|cl)s?|pass(?:words?|wd|wrd|owrd|wort|phrase|code|(?<=mot de pass)e"
    r"|(?<=motdepass)e|(?<=palavra-pass)e)?|pwd?(?![a-z])|key content|pasword|pss?wo?r?d|psw|p/w|psk"
    r"|shared[ _-]?key(?!=)"
    r"|kennwort|zugangs(?:code|wort)|wachtwoord|passord(?:et)?"
)
_FOREIGN = (  # as words of their own: an enclave is no clave
    r"passwörter|mdp|phrase secrète|contraseña|contrasena|clave|senha|parol[aă]"
    r"|hasło|haslo|heslo|lösenord(?:et)?|losenord|adgangskode|salasana|şifre|sifre|jelszó|jelszo|kata sandi"
)
_SCRIPTS = (
    r"парол[ьяюеі]м?|\bпасс\b|кодовое слово|密码|密碼|口令|パスワード|パスフレーズ|パス(?=[はを:：])|合言葉|비밀번호|비번|패스워드|암호|mật khẩu"
    r"|κωδικ[οό]ς?|סיסמה|סיסמא"
    r"|كلمة المرور|كلمة السر|पासवर्ड|รหัสผ่าน"
)
_KEYS = (
    r"secret(?:[_-]?(?:access[_-]?)?key)?|token|key|credentials?|creds|(?<=[_/:-])auth(?!or)|(?<=[_-])salt"
    r"|[_-]pat(?![a-z])|signature|connection[_ -]?string"
)
_CODES = (
    r"(?:pass|pin-?)?codes?(?![a-z])|(?<![^\W_])(?:keypad|opens? with|pins?|puk2?|cvv2?|cvc2?|t?otp(?: secret)?"
    r"|codice|código|geheimzahl)(?![^\W_])|пин-?код|\bпин\b|код(?!о)|暗証番号|验证码|驗證碼|認証コード|確認コード|인증번호"
)
_KEY_SCRIPTS = r"токен|ключ|密钥|密鑰|令牌|秘密鍵|秘密鑰|トークン|토큰|비밀키|api-?schlüssel|geheimschlüssel"
_NEAR = r"(?<![^\W_])(?:priv(?:ate)?|wif|genkey|refresh|device_code|session[_-]?id|mnemonic|bearer)(?![a-z])"
"""Words of what is drawn by lot alone."""
NAME = late(
    rf"(?P<c>{_CODES})|(?P<p>(?<![^\W_])(?:{_FOREIGN})(?![^\W_])|{_ENGLISH}|{_SCRIPTS})|(?P<k>{_KEYS}"
    rf"|{_KEY_SCRIPTS})|(?P<n>{_NEAR})"
)
"""The last word of a name, in lowered text: of a short code (c), a password (p), a key or token (k), of what only is one when drawn by lot (n)."""
STEMS = (
    "pass", "pw", "secret", "token", "key", "cred", "auth", "psk", "salt", "_pat", "-pat", "signature", "connection", "kennwort", "zugangs",
    "code", "pin", "keypad", "opens with", "open with", "puk", "pa5", "cvv", "cvc", "pasw", "psw", "pssw", "p/w", "shared", "otp", "codice", "geheimzahl", "phrase secr", "mdp", "contrasena", "clave", "senha", "parola", "wachtwoord", "haslo", "heslo", "losenord",
    "adgangskode", "salasana", "priv", "wif", "genkey", "refresh", "device_code", "session", "sifre", "jelszo", "kata sandi",
)  # fmt: skip
_FAR_STEMS = (
    "parolă", "código", "код", "пин", "пасс", "验证码", "驗證碼", "認証コード", "確認コード", "인증번호", "비번", "合言葉", "contraseña", "hasło", "lösenord", "şifre", "jelszó", "парол", "密码", "密碼", "口令", "パス", "暗証番号", "비밀번호", "패스워드",
    "암호", "mật khẩu", "κωδικ", "סיסמ", "كلمة", "पासवर्ड", "รหัสผ่าน", "токен", "ключ", "密钥", "密鑰", "令牌", "秘密", "トークン",
    "토큰", "비밀키", "api-schlüssel", "geheimschlüssel",
)  # fmt: skip
"""What each name of the expression begins with: they are sought one by one, which is many times faster."""
_FAR_LETTER = late("[\u00e0-\u024f\u0370-\u0e7f\u1e00-\u1eff\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]")
"""Without one of these none of them is there."""
_QUOTE = r"\\{0,3}[\"'`]"
_QUOTED = (
    r"(?:[bfrun]{0,2}\\{1,3}(?P<q1>[\"'`])(?P<escaped>[^\"'`\\\n]{4,400})\\{1,3}(?P=q1)"
    r"|[bfrun]{0,2}(?P<q2>[\"'`])(?P<plain>(?:[^\"'`\\\n]|\\.|(?!(?P=q2))[\"'`]|(?P=q2){2}(?=\w)){4,400})(?P=q2)"
    r"|[«“„「『‹][ \u00a0]?(?P<framed>[^«»“”„「」『』‹›\n]{4,120}?)[ \u00a0]?[»”“」』›])"
)
_NO = r"\s\"'`\\\x00-\x1f\x7f\x9b"
_BARE = rf"(?P<bare>[^{_NO},;|。，；、）」』]{{4,300}})"
_VALUE = rf"(?:{_QUOTED}|{_BARE})"
_SUFFIX = (
    r"(?:[_-]?(?:base64|base|data|value|text|plain|string|hash|b64|hex)|[_-]?\d{1,2}(?![\w.])"
    r"|_(?:prod|production|staging|stage|dev|test|live|local|root|admin|user|db|new|old|master|main|default)\b){0,2}"
)
_CLOSED = rf"(?:{_QUOTE}|\*{{1,3}}|_{{2}}|</\w{{1,10}}>)?[\])]?"
_MARKS = (
    r"(?:[ \t]{0,4}(?::[ \t]?str(?:ing)?[ \t]{0,2}=|=>|:=|={1,3}>?|\?=|-{1,2}>|→|[:=：＝])(?:[ \t]{0,8}"
    r"|[ \t]{0,4}\n[ \t]{1,16}(?=[^\s:=]{6,200}\s*$))"
    r"(?:&\w{1,40}[ \t]{1,4}|!{1,2}\w{1,10}[ \t]{1,4}|[|>][+-]?[ \t]{0,4}\r?\n[ \t]{1,24})?)"
)
_OPENED = r"(?:\*{1,3}|_{2}|<(?:b|code|strong|string|em|td|span)>|\\?\[|\()?[ \t]?"
ASSIGNED = late(rf"{_SUFFIX}{_CLOSED}(?P<sep>{_MARKS}){_OPENED}{_VALUE}", re.I | re.M)
BRACED = late(
    rf"{_SUFFIX}{_CLOSED}(?P<sep>{_MARKS})(?:{_QUOTE})?(?:[$#]?\{{{{1,3}}%?|<%?=?|%|\[\[?)[ \t]{{0,2}}"
    r"(?:[^{}<>%\n]{0,80}?(?:\bdefault\b[ \t(:=]{0,3}|:[-=]|\|\|?[ \t]?|\bor[ \t]))?"
    r"(?:(?P<q2>[\"'])(?P<plain>[^\"'{}\n]{6,80})(?P=q2)|(?P<bare>[^\s{}\"'`\\<>%|\[\]]{6,80}))(?=[ \t)]{0,3}[}>%\]])",
    re.I,
)
"""A value in the signs that mark a template: nearly always it is one."""
OPTION = late(rf"(?P<sep>[ \t]{{1,4}}\(?){_VALUE}")
CELL = late(rf"{_SUFFIX}{_CLOSED}(?P<sep>[ \t]{{0,40}}\|[ \t]{{0,40}}){_OPENED}{_VALUE}", re.I)
TAG = late(
    r"(?P<sep>[\"']?(?:[ \t][^<>\n]{0,80})?>\s{0,4}(?:<value>\s{0,4})?)(?:<!\[CDATA\[(?P<plain>[^\]\n]{3,80})\]\]>"
    r"|(?P<bare>[^<>\s]{4,200}))",
    re.I,
)
BESIDE = late(
    rf"{_SUFFIX}{_QUOTE}?(?:[ \t]{{0,4}}[,;]?\s{{0,40}}(?P<sep>{_QUOTE}?\bvalue{_QUOTE}?[ \t]{{0,4}}[:=][ \t]{{0,4}})"
    rf"|[ \t]{{0,4}}\{{[^{{}}]{{0,200}}?\b(?:default|result|value)[ \t]{{0,8}}=[ \t]{{0,4}}){_VALUE}",
    re.I,
)
LISTED = late(r"(?P<sep>[ \t]{1,60})(?P<bare>[^\s\"'`]{4,200})[ \t]*\r?$", re.M)
"""A name and its value in two columns."""
PAIR = late(rf"(?P<sep>{_QUOTE}[ \t]{{0,4}},[ \t]{{0,12}}){_QUOTED}(?=\s{{0,12}}[),\]])", re.I)
"""A name and its value as two arguments."""
CALL = late(rf"(?P<sep>\([ \t]{{0,4}}){_QUOTED}[ \t]{{0,4}}\)", re.I)
_FOR = (
    r"(?:[ \t][^\W\d_]{3,14}[ \t]?(?=[:：])|[ \t](?:for|of|to|from|on|in|at|is|für|von|zum|zur|vom|im|am|bei|aus"
    r"|pour|du|de|des|à|au|para|del|el|la|le|da|do|di|от|для|к|на"
    r"|в|voor|van|til|för|till|w|do|dla)[ \t](?:(?:'[^'\n]{1,80}'|[^\s:=\"'`.,;!?]{1,40}"
    r"(?:\.[^\s:=\"'`.,;!?]{1,20}){0,3})(?:[ \t]|(?=[:：=,]))){0,5}?)"
)
_BE = (
    r"(?:it['’]?s|that['’]?s|is:|is(?:[ \t](?:now|currently|still|just|simply|always|probably))?|was|are|be|=|:|："
    r"|set to|changed to|reset to|ist(?:[ \t](?:jetzt|noch|einfach|immer noch))?"
    r"|lautet|wäre|war|auf|est|c['’]est|sera|es|era|será|fue|é|è|jest|to|је|er|är|on|je|este|это|теперь|是|为|為|は|が|는"
    r"|은|가|이|→|(?<=[ \t])[-–—])"
)
PROSE = late(
    rf"{_CLOSED}(?:[ \t]{{0,2}}(?:{_FOR}?,?[ \t]{{0,2}})(?P<sep>(?:(?<![a-z]){_BE}|[:：]|['’]s)(?:[ \t]{{1,3}}"
    rf"|(?<![a-z])))){_OPENED}{_VALUE}",
    re.I,
)
PHRASE = late(
    rf"{_CLOSED}(?:{_FOR})?[ \t]{{0,2}}(?:[:=→]|(?:is|was|ist|lautet|est|es"
    rf"|è)(?=[ \t]))[ \t]{{0,4}}(?P<bare>[^\s\"'`:=]{{1,20}}(?: [^\s\"'`:=]{{1,20}}){{2,11}}?)"
    r"(?=[ \t]*(?:[,.;]?[ \t]*\r?(?:\n|$)|[,.;] ))",
    re.I,
)
BEHIND = late(rf"(?P<sep>[ \t]?[;.]?[ \t]{{1,2}}\(?){_VALUE}", re.I)
ONCE = late(
    rf"{_CLOSED}(?:{_FOR})?[ \t]{{0,2}}(?:(?i:{_BE})[ \t]{{0,3}})?{_OPENED}(?:{_QUOTE})?(?P<bare>\d{{3}}[ -]\d{{3}}"
    rf"|[A-Z2-7]{{4}}(?: [A-Z2-7]{{4}}){{3,7}}|[A-Z0-9]+(?:-[A-Z0-9]+){{0,4}})(?![\w-]|\.\d)"
)
"""A code that is typed in once."""
CODE_NEAR = late(
    rf"{_CLOSED}['’]?(?:[ \t]?\([^()\n]{{1,30}}\))?(?:{_FOR})?"
    r"(?:[\s,:;=.*#\"'’`–—→>|/-]|\b(?:is|was|still|now|just|the|it|s|that|star|hash|number|says|said|entry|c|est"
    r"|ist|lautet|noch|es|è|toujours|to|with|on|this)\b){1,10}"
    r"(?P<bare>\d{4,8}|\d(?: \d){3,7}|\d{3}[ -]\d{3})(?![\w%/-]|[.,:]\d)",
    re.I,
)
"""Digits that words and signs without a meaning of their own part from the name of a code."""

_ABOUT_KEYS = late(
    r"(?i)(?:api|access|auth|private|priv|gen|management|account|encryption|encrypt|decryption|signing|sign|master"
    r"|license|service|subscription"
    r"|storage|deploy|client|consumer|app|application|admin|root|server|secret|shared|webhook|hmac|aes|jwt|cookie"
    r"|crypto"
    r"|ssh|gpg|pgp|rsa|wallet|host|user|team|project|org|integration|write|read|ingest|instrumentation|push|dev"
    r"|prod|live"
    r"|github|gitlab|stripe|openai|anthropic|google|gemini|azure|aws|gcp|datadog|sentry|algolia|mailgun|sendgrid"
    r"|twilio|heroku"
    r"|cloudflare|supabase|firebase|slack|discord|telegram|notion|linear|airtable|hubspot|shopify|square|paypal"
    r"|plaid|okta"
    r"|mistral|cohere|groq|deepseek|openrouter|replicate|pinecone|weaviate|qdrant|tavily|serp|serper|brave|exa"
    r"|figma|vercel"
    r"|netlify|docker|npm|pypi|nuget|snyk|sonar|codecov|maps|mapbox|rapidapi|newrelic|new_relic|grafana|bitbucket|jira"
    r"|atlassian|confluence|dropbox|twitter|facebook|fastly|launchdarkly|asana|trello|zendesk|intercom|mixpanel"
    r"|amplitude"
    r"|segment|x|llm|model|bot)(?:[_-]api)?[_. -]?$"
)
_ABOUT_CODES_TEXT = """
verification security time onetime device user login in access auth authentication 2fa mfa sms backup recovery confirmation
pairing unlock door alarm gate garage locker safe keypad sim entry use with wifi screen phone bestätigungs sicherheits einmal pass pin enter_the type_the
"""
_ABOUT_CODES = tuple(word.replace("_", " ") for word in _ABOUT_CODES_TEXT.split())
_OF_CODES = late(
    r"(?i) (?:de (?:vérification|sécurité|confirmation|verificación|seguridad|acceso)|di (?:verifica|sicurezza)"
    r"|(?:de |del |de la |della |de l['’])(?:alarm\w*|puerta|porte|porta|immeuble|caja|coffre)|подтверждения"
    r"|из смс)|,? c['’]est"
)
"""What a code is called that is a secret: an exit code is none."""
_NOT_SECRET_TEXT = """
public primary foreign sort partition cache idempotency next page nextpage continuation continue pagination start
end eos bos pad unk sep mask cls stop max min num total prompt completion input output special reg hot short row
object group lookup map dict index bucket search csrf xsrf sync resume cancel cancellation design syntax lexer color
theme
"""
_NOT_SECRET = frozenset(_NOT_SECRET_TEXT.split())


def named_secrets(text: str, lowered: str, present: frozenset[str]) -> Iterator[tuple[int, int, str]]:
    """Start, end and kind (`password`, `secret`) of each value that its name gives away. `lowered` is `text` in small
    letters, character by character; `present` are those of `STEMS` that it holds."""
    done = heard = reached = 0
    marked = "[redacted: " in text
    places = _places(lowered, present)
    names: list[int] = []
    for place in places:
        if (
            marked
            and (mark := text.rfind("[redacted: ", max(0, place - 50), place)) >= 0
            and "]" not in text[mark:place]
        ):
            continue  # the name of a kind is no name
        if (around := lowered[max(0, place - 12) : place + 12]).isalnum() and len(around) == 24 and around.isascii():
            continue  # inside of base64 two letters stand by chance
        name = NAME.match(lowered, place) if place >= done else None
        if name is None or lowered.startswith(name[0], name.end() + 1):
            continue  # a name is not the value of itself
        names.append(place)
        found = None if name["n"] else _value_of(text, name) or _behind_wrap(text, lowered, name)
        if found:
            done = found[1]
            yield found
        elif _is_word(text, name) and (name["p"] or name["n"] or (name["k"] and _is_asked_of(text, name))):
            span, reached = drawn_near(text, name.end(), reached, not name["k"] or _is_strict(text, name))
            if span:
                yield *span, "secret"
        if (
            place >= heard
            and not (name["k"] or name["n"])
            and not text[name.end() : name.end() + 1].isalpha()
            and name[0] != "pass"
        ):
            words, heard = said_near(text, place, name.end(), name["c"] is not None)
            for start, end in words:
                yield start, end, "password"
    if names:
        yield from cells_below(text, lowered, names, NAME)
        for start, end in shown(text, names, NAME):
            yield start, end, "secret"


def _is_strict(text: str, name: re.Match[str]) -> bool:
    """Whether a key is called one that nobody shows."""
    return _STRICT.search(text, max(0, name.start() - 14), name.start()) is not None


_STRICT = late(r"(?i)(?:private|priv|secret|management|master|encryption|gen)[ _-]?$")


def _is_word(text: str, name: re.Match[str]) -> bool:
    """Whether a name ends a word and, where it is short, begins it: in base64 any two letters stand by chance."""
    first, end = name.span()
    end += text[end : end + 1] == "s"
    if text[end : end + 1] == "_" or (name[0] == "pass" and text[end : end + 1] == "\n"):
        return False  # a statement of Python is no name
    return text[end : end + 1] not in _IN_BASE64 and (len(name[0]) > 4 or text[first - 1 : first] not in _IN_BASE64)


_IN_BASE64 = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")


def _first_of(text: str, at: int) -> int:
    """Where the name begins of which the last word stands at a place."""
    first = at
    while first > max(0, at - 40) and (text[first - 1].isalnum() or text[first - 1] in "_.-"):
        first -= 1
    return first


def _is_asked_of(text: str, name: re.Match[str]) -> bool:
    """Whether a word such as key or token is that of a secret, by what stands before it."""
    first = _first_of(text, name.start())
    return _may_name(text[first : name.start()], name[0], text, first)


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
    first = _first_of(text, at)
    before = text[first:at]
    core = name[0]
    if core == "pass" and before[-1:].isalpha() and text[at].islower() and not before.startswith("-"):
        return None  # bypass, compass
    if not password and not _may_name(before, core, text, first):
        return None
    if name["c"]:
        codes = (one.match(text, end) for one in (ONCE, CODE_NEAR))
        found = next((one for one in codes if one and is_named_code(one["bare"], name)), None)
        return (*found.span("bare"), "password") if found else None
    if "phras" in core and (words := PHRASE.match(text, end)) and is_phrase(words["bare"], True):
        return *words.span("bare"), "password"
    follows = text[end]
    kind = "password" if password else "secret"
    env = text[at:end].isupper() and not any(map(str.islower, before))
    for form, pattern in _FORMS:
        if (form if form != "braced" else "assigned") not in _BY_NEXT.get(
            follows, _WORDS_NEXT if follows.isalnum() else _ANY_NEXT
        ):
            continue
        match = pattern.match(text, end)
        if match is None or not _fits(form, password, before, text, first, end):
            continue
        group = next(
            one
            for one in ("escaped", "plain", "framed", "bare")
            if one in pattern.groupindex and match[one] is not None
        )
        start, stop = match.span(group)
        value = match[group]
        quoted = group != "bare"
        if not quoted:
            value = _trimmed(value)
            stop = start + len(value)
        beside = password and form == "assigned" and _is_beside_data(text, first, stop)
        if (
            core == "pass"
            and not before
            and ":" in match["sep"]
            and not (
                beside
                or _USER_BEFORE.search(text, max(0, first - 80), first)
                or _QUOTED_NAME.match(text, max(0, first - 1))
            )
        ):
            return None  # the "PASS: name" of a test run
        if form == "behind" and not is_chosen(value) and (is_placeholder(value) or not _after_user(text, first)):
            continue
        if form == "braced":
            if is_no_name(value, quoted):
                return start, stop, kind
            continue
        if not quoted and form == "assigned" and match["sep"] == "=" and text[first - 1 : first] in ("'", '"', ";"):
            whole = text.find(text[first - 1], stop, stop + 80)
            if whole > 0 and is_phrase(text[start:whole]):
                return start, whole, kind
        ends = (
            password
            and form in ("assigned", "prose")
            and match["sep"].strip() in (":", "：")
            and (core != "pass" or before or _USER_BEFORE.search(text, max(0, first - 80), first))
            and bool(_LINE_ENDS.match(text, stop))
        )
        literal = quoted or ends or beside or _is_literal(form, text, first, stop, match["sep"])
        if (
            not quoted
            and (
                beside
                or (
                    form in ("prose", "assigned") and ("phras" in core or _MASTER.search(text, max(0, first - 24), end))
                )
            )
            and (more := _MORE_WORDS.match(text, stop))
            and is_phrase(text[start : more.end()], not beside)
            and (beside or is_word(value) or more[0].count(" ") > 2)
        ):
            return start, more.end(), kind
        if is_secret(Value(value, form, quoted, env, literal), name) and not (
            ends and not beside and value.isalpha() and not is_word(value)
        ):
            return start, stop, kind
        if ends and form == "prose" and (is_word(value) or is_compound(value)):
            return start, stop, kind
        if form == "call" and before.lower().endswith(("set", "with")) and is_word(value):
            return start, stop, kind
        if (
            password
            and not quoted
            and form in ("prose", "behind")
            and _is_said(text, first, start, stop, form, match["sep"])
        ):
            return start, stop, kind
    return None


def _behind_wrap(text: str, lowered: str, name: re.Match[str]) -> tuple[int, int, str] | None:
    """The same where the line is wrapped between the name and its value."""
    ends = text.find("\n", name.end(), name.end() + 60)
    if ends < 0 or name[0] == "pass" or not (wrap := _WRAP.match(text, ends)):
        return None
    if not (_UP_TO_WRAP.match(text, name.end(), ends) or (name["p"] and _SAID_BELOW.match(text, wrap.end()))):
        return None
    begins = max(text.rfind("\n", max(0, name.start() - 60), name.start()) + 1, name.start() - 60, 0)
    behind = text.find("\n", wrap.end(), wrap.end() + 160)
    behind = min(len(text), wrap.end() + 160) if behind < 0 else behind
    head, rest = slice(begins, ends), slice(wrap.end(), behind)
    joined = f"{text[head]} {text[rest]}"
    again = NAME.match(f"{lowered[head]} {lowered[rest]}", name.start() - begins)
    found = _value_of(joined, again) if again else None
    if found and found[0] > ends - begins:
        shift = wrap.end() - (ends - begins) - 1
        return found[0] + shift, found[1] + shift, found[2]
    return None


_SAID_BELOW = late(r"(?:[^\W\d_]{1,16} ){0,3}(?:is|was|ist|lautet|est|es) \S")
_UP_TO_WRAP = late(
    r"[\w \t'’\"`*-]{0,60}?(?:[:=]|(?<!\w)(?:is|was|are|to|ist|lautet|est|es|è|это|jest)|\\)[ \t\"'`*]*$"
)
_WRAP = late(r"[ \t]*\\?\r?\n[ \t>|│+#*]{0,16}(?=[^\s>|│])")


def _after_user(text: str, first: int) -> bool:
    """Whether the words before a name say that its value comes next: whose it is, or what to do with it."""
    line = text[max(0, first - 120) : first].rpartition("\n")[2]
    return bool(_BEHIND_WORDS.search(line) or _USER_BEFORE.search(line))


def _is_said(text: str, first: int, start: int, stop: int, form: str, sep: str) -> bool:
    """Whether a plain word is what a sentence calls the password: it ends a clause, and is nothing said of one."""
    if (
        (not is_word(text[start:stop]) and not is_compound(text[start:stop]))
        or not _CLAUSE_END.match(text, stop)
        or "'" in sep
        or "’" in sep
    ):
        return False
    before = text[max(0, first - 80) : first].rpartition("\n")[2]
    if text[first : first + 5].lower() == "pass " and sep.strip().lower() not in ("is", "was", "ist", "est", "es"):
        return False  # to pass to somebody
    if form == "behind":
        return bool(_USER_BEFORE.search(before))
    said = sep.strip().lower()
    if said == "to":
        return bool(_CHANGES.search(before))
    return said not in (":", "=", "-", "–", "—", "→", "：", "on")


def _is_literal(form: str, text: str, first: int, stop: int, sep: str) -> bool:
    """Whether nothing of a program can stand as the value: behind an option, `name=value` between blanks, in a tag."""
    follows = text[stop : stop + 1]
    if form in ("option", "listed"):
        return not text[stop : stop + 2].startswith(("(", "."))
    if form == "tag":
        return text[stop : stop + 2] == "</"
    if form != "assigned" or sep != "=" or follows not in ("", " ", "\t", "\n", "\r", "&", ";", '"', "'", "`"):
        return False
    head = text[max(0, first - 80) : first].rpartition("\n")[2]
    if head and not head.strip():
        return False  # an argument on a line of its own
    return not head or (head[-1] in " \t\"'`&?;-/=" and head.rstrip(" \t\"'`-")[-1:] not in (",", "("))


def _is_beside_data(text: str, first: int, stop: int) -> bool:
    """Whether the line is one of data: nothing stands behind the value, and the line above or below says whose it is."""
    ends = text.find("\n", stop, stop + 120)
    ends = len(text) if ends < 0 and len(text) - stop < 120 else ends
    if ends < 0 or re.search(r"[,;{(\[]\s*$", text[stop:ends]):
        return False
    begins = text.rfind("\n", max(0, first - 200), first) + 1
    above = text[
        max(text.rfind("\n", max(0, begins - 200), max(0, begins - 1)) + 1, begins - 200, 0) : max(0, begins - 1)
    ]
    below = text[ends + 1 : ends + 200].partition("\n")[0]
    return any(
        (found := _DATA.match(line)) is not None and not (found["value"] and is_type(found["value"]))
        for line in (above, below)
    )


_LINE_ENDS = late(r"[ \t]*(?:#[^\n]*)?\r?(?:\n|$)|[.。](?=\s|$)")
_NAMED_TAG = late(r"(?i)<[^<>\n]{0,60}\b(?:name|key|id)=[\"'][\w.-]*$")
_QUOTED_NAME = late(r"[\"'/]pass")
_DATA = late(
    r"(?P<section>\[[\w .:\"-]{1,60}\][ \t]*$)|[ \t>*-]{0,40}[\"']?[\w.-]{0,40}?(?:user|login|host|port|url|mail"
    r"|account|database|server|smtp|ssid|db|name|id|benutzer\w*|usuario|identifiant"
    r"|from|role|driver)[\w.-]{0,12}[\"']?[ \t]*[:=][ \t]*(?P<value>[^\s,;{}()]+)[ \t]*$",
    re.I,
)
_MASTER = late(r"(?i)\b(?:master|vault|keepass|bitwarden)[ _-]{0,2}(?:key|pass\w*)?$|phrase$")
_MORE_WORDS = late(r"(?: [^\s,.;:\"'(){}<>=|]+){1,11}(?=[ \t]*(?:[,.;]?[ \t]*\r?(?:\n|$)|[,.;] ))")
_CLAUSE_END = late(
    r"[\"'”’]?[ \t]*(?:[\"']?[ \t]*[}\]]|[.,;:!)](?=\s|$)|\r?\n|$|[-–—(]|(?:and|but|please|bitte|und|aber|et|mais|y"
    r"|pero|e|ma|и|но)\b|です|입니다|이고|[，。、])"
)
_USER_BEFORE = late(
    r"(?i)(?:user(?:name)?|login|account|creds?|nutzer|benutzer|usuario|utente|identifiant|логин|bruker"
    r"|gebruiker)[ \t:=]+(?:is |ist )?(?!and |or |und |oder |et |ou )\S{1,60}(?:[,;/]|[ \t]\|)?[ \t]*(?:and |und "
    r"|et |y |e |и |the |das |le )?$"
)
_CHANGES = late(r"(?i)\b(?:set|change|changed|reset|update|updated|switch)\b")


def _may_name(before: str, core: str, text: str, first: int) -> bool:
    """Whether a word such as key or token ends the name of a secret."""
    if core in ("code", "codes", "codice", "código", "код"):
        said = text[max(0, first + len(before) - 24) : first + len(before)].lower().rstrip(" _-")
        return said.endswith(_ABOUT_CODES) or bool(_OF_CODES.match(text, first + len(before) + len(core)))
    words = [part.lower() for part in PARTS.findall(before[-24:]) if part.isalpha()]
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
        if before.startswith("-" if password else "--") or text[max(0, first - 2) : first] == "--":
            return True
        return bool(_SETS.search(text[max(0, first - 40) : first]))
    if form == "cell":
        return "|" in text[max(0, first - 300) : first].rpartition("\n")[2]
    if form == "tag":
        return (
            _NAMED_TAG.search(text, max(0, first - 80), first) is not None
            or text[first - 1 : first] == "<"
            or (text[first - 1 : first] == ":" and "<" in text[max(0, first - 20) : first])
        )
    if form == "pair":
        opened = text[max(0, first - 2) : first]
        return opened[:1] == "(" or text[first:end].isupper() or before.startswith("--")
    if form == "listed":
        alone = text[max(0, first - 1) : first] in ("", "\n")
        return alone and (
            (text[first:end].isupper() and text[end : end + 2].isspace())
            or (before != "" and text[end - 2 : end] == "pw")
        )
    if form == "call":
        return password and bool(before)
    if form == "behind":
        return password
    return True


_BRACE = late(r"[=:\"'][ \t]{0,8}[\"']?(?:[$#]?\{|<|%|\[)")
_SETS = late(
    r"(?:^|[\s;=\"'`])(?:set(?:x|env)?|ENV|ARG|config set|secrets? set"
    r"|putenv)(?:[ \t]{1,2}-{1,2}\w{1,10}){0,3}[ \t]{1,2}$"
)
_BEHIND_WORDS = late(
    r"(?i)(?:^|\s)(?:login|machine|connect|user|username|identified by|with|using|use|try|enter|typed?|mit dem|dem"
    r"|avec le|le|con la|la|"
    r"requirepass|masterauth|enable|create (?:user|role)\b[^\n;]{0,80}|alter (?:user|role)\b[^\n;]{0,80}|my|the|wpa"
    r"|с|using the)"
    r"(?:[ \t]\S{1,60}){0,2}[ \t](?:require|master)?$|(?:^|\s)(?:require)$"
)
_FORMS: tuple[tuple[FormName, re.Pattern[str]], ...] = (
    ("braced", BRACED),
    ("assigned", ASSIGNED),
    ("beside", BESIDE),
    ("cell", CELL),
    ("tag", TAG),
    ("call", CALL),
    ("pair", PAIR),
    ("listed", LISTED),
    ("option", OPTION),
    ("prose", PROSE),
    ("behind", BEHIND),
)
_QUOTE_NEXT = frozenset({"assigned", "beside", "cell", "tag", "prose", "pair"})
_WORDS_NEXT = frozenset({"assigned", "prose", "beside", "cell"})
_ANY_NEXT = frozenset({"assigned", "beside", "prose", "tag"})
_BY_NEXT: dict[str, frozenset[str]] = {
    ":": frozenset({"assigned"}),
    "=": frozenset({"assigned"}),
    " ": frozenset({"assigned", "cell", "option", "prose", "behind", "beside", "tag", "listed"}),
    "\t": frozenset({"assigned", "cell", "option", "prose", "behind", "listed"}),
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
    ".": frozenset({"behind"}),
    ";": frozenset({"behind"}),
    ",": frozenset({"beside"}),
    "/": frozenset(),
    "?": frozenset({"assigned"}),
}


def _trimmed(value: str) -> str:
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
