"""Passwords and keys that a name beside them gives away: `password: …` in a file, a table, a tag, a sentence.

Two questions for each name: what stands beside it as its value (`forms`), and whether that is a secret and not a word,
a path, a piece of code or a placeholder (`_RULES`, `values`). The first is a matter of form and generous, the second
is strict.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import get_args

from core.base import late
from core.base.secrets.forms import CODES, PHRASE, USER_BEFORE, Candidate, Name, candidates
from core.base.secrets.near import drawn_near
from core.base.secrets.said import said_near, shown
from core.base.secrets.tables import cells_below
from core.base.secrets.values import (
    PARTS,
    FormName,
    Value,
    is_compound,
    is_named_code,
    is_no_name,
    is_phrase,
    is_secret,
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
        found = None if name["n"] else _beside(text, name) or _behind_wrap(text, lowered, name)
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


def _is_asked_of(text: str, name: re.Match[str]) -> bool:
    """Whether a word such as key or token is that of a secret, by what stands before it."""
    return _may_name(Name.of(text, name))


def _places(lowered: str, present: frozenset[str]) -> list[int]:
    places: list[int] = []
    far = () if lowered.isascii() or not _FAR_LETTER.search(lowered) else _FAR_STEMS
    for stem in (*(stem for stem in STEMS if stem in present), *far):
        place = lowered.find(stem)
        while place >= 0:
            places.append(place)
            place = lowered.find(stem, place + len(stem))
    return sorted(set(places))


def _beside(text: str, found: re.Match[str]) -> tuple[int, int, str] | None:
    """The secret that stands beside a name: its start, its end and its kind."""
    if found.end() == len(text):
        return None
    name = Name.of(text, found)
    if name.core == "pass" and _is_part_of_word(name):
        return None
    if not name.is_password and not _may_name(name):
        return None
    if found["c"]:
        codes = (one.match(text, name.end) for one in CODES)
        code = next((one for one in codes if one and is_named_code(one["bare"], found)), None)
        return (*code.span("bare"), "password") if code else None
    if "phras" in name.core and (words := PHRASE.match(text, name.end)) and is_phrase(words["bare"], True):
        return *words.span("bare"), "password"
    for candidate in candidates(name):
        if _is_other_pass(candidate):
            return None
        for forms, rule in _RULES:
            if candidate.form in forms and (stop := rule(candidate)):
                return candidate.start, stop, "password" if name.is_password else "secret"
    return None


def _is_part_of_word(name: Name) -> bool:
    """`bypass`, `compass`; not `dbPass`, `-dpass`."""
    return name.before[-1:].isalpha() and name.text[name.start].islower() and not name.before.startswith("-")


def _is_other_pass(one: Candidate) -> bool:
    """`PASS: test_login` in the output of tests, and no `pass: ` of a user; `Pass { half4 result = a2 + b2; }` of a
    shader, and no `variable "pass" { default = "rosebud7" }`."""
    name = one.name
    if name.core != "pass" or name.before or _QUOTED_NAME.match(name.text, max(0, name.first - 1)):
        return False
    if not one.separator:
        return not one.quoted
    return ":" in one.separator and not (one.in_data or name.is_behind_user())


# --- the rules: where the secret ends, None where what stands beside the name is none by this rule -------------------


def _template_default(one: Candidate) -> int | None:
    """`${DB_PASSWORD:-rosebud7}`, `{{ password | default("rosebud7") }}`: the value, and not the name of another one."""
    return one.stop if is_no_name(one.value, one.quoted) else None


def _words_in_quotes(one: Candidate) -> int | None:
    """`'password=correct horse battery staple'`: the quotes stand around the name and the words."""
    text, first = one.name.text, one.name.first
    opened = text[first - 1 : first]
    if one.quoted or one.separator != "=" or opened not in ("'", '"', ";"):
        return None
    stop = text.find(opened, one.stop, one.stop + 80)
    return stop if stop > 0 and is_phrase(text[one.start : stop]) else None


def _words(one: Candidate) -> int | None:
    """`master password: correct horse battery staple`, `passphrase = blue ocean tiger`; any words in lines of data."""
    text, name = one.name.text, one.name
    if one.quoted or not (
        one.in_data or "phras" in name.core or _MASTER.search(text, max(0, name.first - 24), name.end)
    ):
        return None
    more = _MORE_WORDS.match(text, one.stop)
    if more is None or not is_phrase(text[one.start : more.end()], not one.in_data):
        return None
    return more.end() if one.in_data or is_word(one.value) or more[0].count(" ") > 2 else None


def _one_word(one: Candidate) -> int | None:
    """`password = rosebud7`, `API_KEY=7f3k9d2m`: by what the word is made of. What a colon announces may be said of
    it: `password: required`."""
    if one.ends_line and not one.in_data and one.value.isalpha() and not is_word(one.value):
        return None
    name = one.name
    env = name.text[name.start : name.end].isupper() and not any(map(str.islower, name.before))
    value = Value(one.value, one.form, one.quoted, env, one.is_literal())
    return one.stop if is_secret(value, name.found) else None


def _announced_word(one: Candidate) -> int | None:
    """`Password for the router: rosebud`, at the end of a line."""
    return one.stop if one.ends_line and (is_word(one.value) or is_compound(one.value)) else None


def _word_in_call(one: Candidate) -> int | None:
    """`setPassword("rosebud")`, `withPassword("rosebud")`."""
    sets = one.name.before.lower().endswith(("set", "with"))
    return one.stop if sets and is_word(one.value) else None


def _said_word(one: Candidate) -> int | None:
    """`the password is rosebud.`, `user admin, password rosebud`: a plain word that ends a clause and says nothing of a
    password."""
    name, separator = one.name, one.separator
    if not name.is_password or one.quoted or not (is_word(one.value) or is_compound(one.value)):
        return None
    if not _CLAUSE_END.match(name.text, one.stop) or "'" in separator or "’" in separator:
        return None
    said = separator.strip().lower()
    passes = name.text[name.first : name.first + 5].lower() == "pass "
    if passes and said not in ("is", "was", "ist", "est", "es"):
        return None  # to pass to somebody
    before = name.line_before(80)
    if one.form == "behind":
        is_value = USER_BEFORE.search(before) is not None
    elif said == "to":
        is_value = _CHANGES.search(before) is not None  # changed to
    else:
        is_value = said not in (":", "=", "-", "–", "—", "→", "：", "on")
    return one.stop if is_value else None


_RULES: tuple[tuple[frozenset[str], Callable[[Candidate], int | None]], ...] = (
    (frozenset({"braced"}), _template_default),
    (frozenset({"assigned"}), _words_in_quotes),
    (frozenset({"assigned", "prose"}), _words),
    (frozenset(get_args(FormName)) - {"braced"}, _one_word),
    (frozenset({"prose"}), _announced_word),
    (frozenset({"call"}), _word_in_call),
    (frozenset({"prose", "behind"}), _said_word),
)
"""In which forms each is asked, in this order; the first that finds an end counts."""

_QUOTED_NAME = late(r"[\"'/]pass")
_MASTER = late(r"(?i)\b(?:master|vault|keepass|bitwarden)[ _-]{0,2}(?:key|pass\w*)?$|phrase$")
_MORE_WORDS = late(r"(?: [^\s,.;:\"'(){}<>=|]+){1,11}(?=[ \t]*(?:[,.;]?[ \t]*\r?(?:\n|$)|[,.;] ))")
_CLAUSE_END = late(
    r"[\"'”’]?[ \t]*(?:[\"']?[ \t]*[}\]]|[.,;:!)](?=\s|$)|\r?\n|$|[-–—(]|(?:and|but|please|bitte|und|aber|et|mais|y"
    r"|pero|e|ma|и|но)\b|です|입니다|이고|[，。、])"
)
_CHANGES = late(r"(?i)\b(?:set|change|changed|reset|update|updated|switch)\b")


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
    found = _beside(joined, again) if again else None
    if found and found[0] > ends - begins:
        shift = wrap.end() - (ends - begins) - 1
        return found[0] + shift, found[1] + shift, found[2]
    return None


_SAID_BELOW = late(r"(?:[^\W\d_]{1,16} ){0,3}(?:is|was|ist|lautet|est|es) \S")
_UP_TO_WRAP = late(
    r"[\w \t'’\"`*-]{0,60}?(?:[:=]|(?<!\w)(?:is|was|are|to|ist|lautet|est|es|è|это|jest)|\\)[ \t\"'`*]*$"
)
_WRAP = late(r"[ \t]*\\?\r?\n[ \t>|│+#*]{0,16}(?=[^\s>|│])")


def _may_name(name: Name) -> bool:
    """Whether a word such as key, token or code ends the name of a secret: `api_key`, `door code`; not `primary_key`,
    `next_token`, `exit code`."""
    if name.core in ("code", "codes", "codice", "código", "код"):
        said = name.text[max(0, name.start - 24) : name.start].lower().rstrip(" _-")
        return said.endswith(_ABOUT_CODES) or _OF_CODES.match(name.text, name.end) is not None
    words = [part.lower() for part in PARTS.findall(name.before[-24:]) if part.isalpha()]
    if words and words[-1] in _NOT_SECRET:
        return False
    if name.core == "key":
        return bool(_ABOUT_KEYS.search(name.before) or (not name.before and _SPACED.search(name.near_before(12))))
    return True


_SPACED = late(r"(?i)(?:api|access|secret|private|encryption|license)[ -]$")
