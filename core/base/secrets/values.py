"""Whether what stands beside a name such as `password` is a secret, and not a word, a path, code or a placeholder."""

from __future__ import annotations

import itertools
import re
from typing import Literal, NamedTuple

from core.base import late

_PLACEHOLDER_WORDS_TEXT = """
your my our the some any enter example sample placeholder dummy fake mock test testing demo insert replace change
changeme changethis here redacted removed hidden secret password passwd pass pwd token key api apikey value string
null none nil undefined true false todo tbd foo bar baz user username admin default generate generated random strong
secure new old goes to with me this an from env access auth client id not set unset empty invalid valid wrong
correct expected actual super very long abc xyz abcdef something anything whatever db database app service bearer
jwt github openai anthropic google aws field input required optional hash hashed encrypted confirm confirmation
current prod production dev local postgres
"""
_PLACEHOLDER_WORDS = frozenset(_PLACEHOLDER_WORDS_TEXT.split())
PARTS = late(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[-_. ]+|.", re.S)
_FIRST_WORD = late(
    r"(?i)(?:your|example|sample|dummy|fake|placeholder|insert|replace|change[-_]?(?:me|this|it)|mock|redacted"
    r"|undefined|xxx|todo|test|<)"
)
_ONLY_WORDS = late(r"[A-Za-z]+(?:[-_. ][A-Za-z]+)*[-_]?\d{0,3}$")
_TEMPLATE = late(
    r"\$\{|\{\{|\$\(|<%|%>|\#\{|@\{|\{[A-Za-z_][\w.]*(?:\(\))?(?:![rsa])?(?::[^{}]*)?\}|\{\d*\}|<[A-Za-z][\w ./-]*>"
    r"|%[({]?[A-Za-z_]\w*[)}%]"
)
_FILLED = late(r"(?i)x{4,}|\*{3,}|\.{3}|…|•{3}|#{4,}|_{4,}|^%[sdrv]$|-{5,}|redacted|\[masked")
_VARIABLE = late(r"\$\{?[A-Za-z_][\w:]*\}?$|\$[A-Z_]{3,}|\$\d$|\$env:|@[A-Za-z_]\w*@?$|%[A-Z_]+%$|[{(<\[]")
_SOURCE = late(r"environ|getenv|process\.env|import\.meta|secrets\.[A-Za-z]|^vault:|^op://|^arn:|^ref\+|^ssm:|^env:")
_IDENTIFIER = late(r"[A-Za-z_][A-Za-z._/:?!|-]*\d{0,2}$")  # one class: a group in a group takes for ever
_PATH = late(
    r"(?:~|\.{1,2}|[A-Za-z]:)?[/\\]|[\w+.-]{0,20}://|\.[A-Za-z]"
    r"|[\w.@/-]+\.(?:py|js|ts|tsx|jsx|go|rs|md|json|toml|ya?ml|txt|env|pem|key|html?|css|sh|rb|java|php|c|h|cpp"
    r"|lock|pub|crt|xml)(?:[:)#].*)?$"
)
_CODE = late(
    r"[A-Za-z_]\w*\.[A-Za-z_]\w*(?:[.(\[]|$)|[A-Za-z_][\w.:]*(?:\(|\[|<[A-Z]\w*[<>])|self\b|this\b|await\b|new\b"
    r"|return\b|[!=<>&|]=|=>|=="
    r"|(?i:u?int|float|byte|string|uint|vec|char|varchar|bytes)\d*(?i:array|vec|_t)?(?:\(\d*\)|\[\d*\])?[?!]?$"
    r"|[A-Za-z_]\w*::|\.\.|&(?:mut|str|self)\b|\w+\[?\]"
)
_CHECKS = late(r"(?:[a-z_]+(?::[\w,]+)?\|)+[a-z_]+(?::[\w,]+)?$")  # what a form demands: required|min:8
_FIELD = late(
    r"(?i)pass|secret|token|key|user|field|input|required|invalid|type|text|hidden|confirm|forgot|login|auth|string"
    r"|error|name|email"
)
_ARGUMENT = late(
    r"(?i)(?:pass\w*|pwd|secret|token|key|user|arg|param|val(?:ue)?|var|input|field|str|text|prompt|hash|test|foo"
    r"|bar|item|opt|[a-z]|tmp|temp|line|step|part|phase|level|version|v|p|num|id|utf|base|sha|md|aes|rsa|hs|rs|es"
    r"|sha_?)_?\d+$"
)
_NUMBERS = late(
    r"[\d.,:_/+-]+(?:[kKmMgG]?[bB]?|ms|s|px|em|rem|%|x|th|st|nd|rd|tok(?:ens)?|h|d|min)?(?:/\w+)?[).\]]*$"
    r"|\d{4}-\d\d-\d\d|0x[0-9a-fA-F]{1,8}$|#[0-9a-fA-F]{3,8}$|v?\d+\.\d+"
)
_CODE_ONCE = late(
    r"[A-Z]?-?\d{4,8}$|\d{3}[ -]\d{3}$|\d(?: \d){3,7}$|[A-Z2-7]{4}(?: [A-Z2-7]{4}){3,7}$|[A-Z2-7]{16,64}$"
    r"|(?=\S*[A-Z])[A-Z0-9]{4}(?:-[A-Z0-9]{4}){1,3}$|(?=\S*\d)(?=\S*[A-Z])[A-Z0-9]{6,10}$"
)
_PHRASE_WORD = late(r"[^\W_]+(?:['’.+-][^\W_]+)?[!?.]?$|\d{1,4}$")
_APP_PASSWORD = late(r"[a-z]{4}(?: [a-z]{4}){3}$")
_RULE = late(
    r"(?i)\b(?:is|are|must|should|will|can|cannot|not|least|long|match|matches|missing|need|needs|enter|choose"
    r"|forgot|forgotten|show|hide|minimum"
    r"|maximum|characters?|weak|reset|please|you|your|we|i|it|use|used|using|when|if|that|which|this|has|have|was"
    r"|were|be|or|because|so|so that|same)\b"
)
"""What is said of a phrase."""
_MESSAGE = late(
    r"(?i)\b(?:is|are|was|be|must|should|will|can|cannot|too|not|no|at least|short|long|least|match|matches|missing"
    r"|need|enter|choose|forgot"
    r"|forgotten|show|hide|minimum|maximum|characters?|chars|min|max|weak|strong|new|old|of|or|reset|please|only"
    r"|and|a|an|with|from|in|to)\b"
)
"""What a label or a message says, in a form or an error."""
_NO_VALUE = late(
    r"(?i)(?:true|false|yes|no|none|null|nil|n/a|required|optional|string|str|text|bool|boolean|int|integer|number"
    r"|bytes|object|any|char"
    r"|varchar|unknown|never|empty|blank|hidden|masked|plain|plaintext|default|disabled|enabled|supported|bcrypt"
    r"|argon\w*|scrypt|hash\w*"
    r"|encrypted|ok|fail(?:ed)?|function|class|self|this|undefined|nullable|unique|flag|option|prompt|stdin"
    r"|file)(?:\(\d+\))?[?!]?$|[-–—.*•✓✗✔✘]+$"
)
_SAID_OF = late(
    r"(?i)(?:wrong|right|correct|incorrect|invalid|valid|missing|needed|unset|safe|secure|weak|strong|short|long"
    r"|same|different|known|unknown"
    r"|okay|fine|good|visible|plain|plaintext|lost|gone|sent|there|here|this|that|these|what|which|when|where|while"
    r"|still|never|always"
    r"|very|also|just|already|only|from|with|like|under|over|into|about|your|their|them|they|then|than|being|been"
    r"|both|some|none|mandatory|longer|shorter|absent|silent|given|reset|entries|properties|options|fields?|hash"
    r"|hashes|check|checks|policy|rules?"
    r"|kept|held|read|shown|hard|easy|part|used|case|public|private|much|more|less|most|least|common|because|after"
    r"|before|through|using"
    r"|such|another|other|either|neither|probably|maybe|actually|really|now|not|done|free|open|shut|dead|bogus|moot"
    r"|broken|back|behind|set"
    r"|falsch|richtig|leer|gleich|bekannt|unbekannt|korrekt|nicht|noch|schon|immer|auch|sicher|schwach|stark|jetzt"
    r"|oublié|faux|correcte?"
    r"|requise?|vide|dans|pour|incorrect[oa]|obligatori[oa]|vac[ií][oa]|muy|para|como|sbagliata|corretta|dalla"
    r"|della|sempre|ancora|onjuist|verkeerd"
    r"|\w{2,}(?:ed|ing|able|ible|ally|ely|ntly|ive|ful|less|ous|tten|nown|tional|atory|ctly|ption|ssion|iert|bar"
    r"|lich|ée?s?))$"
)
_NO_ALPHABET = late("[\u3040-\u9fff\uac00-\ud7af]")
_JOINED = late(
    r"(?i)(?:com|org|net|io|dev|time|side|memory|level|sensitive|only|auto|pre|post|non|multi|based|encrypted"
    r"|specific)$"
)
_NO_LANGUAGE = late(r"(?i)[bcdfghjklmnpqrstvwxz]{6}")
_SHORT = late(r"(?:\W*\d+[A-Za-z]{0,3}|[A-Za-z]{1,3}-?\d{1,5}|[A-Z]{2,8}-?\d+)\W*$")
_TECHNIQUE = late(
    r"(?i)(?:base|utf|sha|md|aes|rsa|oauth|http|python|node|java|php|ruby|perl|win|windows|bcrypt|argon|pbkdf"
    r"|scrypt|ed|secp|curve|rfc|iso"
    r"|ipv|tls|ssl|log|web|part|step|test|line|page|port|phase|level|chapter|version|ver|user|users|item|example"
    r"|sample|demo|case|issue|task"
    r"|table|figure|section|type|option|arm|amd|intel|mysql|sqlite|postgres|mariadb|angular|vue|react|next|net"
    r"|chrome|unicode|latin|ascii"
    r"|claude|gpt|llama|gemini|host|server|client|node|worker|day|week|round|stage|sprint|q|covid|area|room"
    r"|team)[-_]?\d[\w.-]*$"
)
"""Words with a number behind them that name something known."""
_WORD_AND_NUMBER = late(
    r"[^\W\d_]{4,20}\d{2,8}[!?.]?$|[^\W\d_]{6,20}\d[!?.]?$|(?:\d[a-z]){3,}\d?$"
    r"|(?=\S*[A-Z])(?=\S*[a-z])(?:[A-Za-z]{1,8}\d{1,6}){2,}[A-Za-z]*$|[a-zA-Z]{3,12}_\d{2,6}$"
    r"|(?=\S*\d)(?=\S*[a-z])(?=\S*[A-Z])[A-Za-z0-9]{2,12}(?:[.-][A-Za-z0-9]{2,12}){1,2}$"
)
_WORD_SIGN = late(r"[^\W_]+(?:[!@#$%^&*~?+.,;'_+-][^\W_]+){0,4}[!#$%^*~?+]{0,3}$")
_CALLED = late(r"[A-Za-z_][\w.]*(?:\(|\[|\.[a-z]+\.)|\.")
_CONTENT = late(
    r"(?i)(?:sha(?:1|256|384|512)[-:]|md5:|urn:|data:|did:|spdx|utf-?8|iso-|base64|[0-9a-f]{8}-[0-9a-f]{4}-)"
)


_DOTTED = late(r"(?=\S*\d)(?=\S*[A-Z])[A-Za-z0-9]{2,12}\.[A-Za-z0-9]{2,12}$")
_KEYBOARD = late(r"(?i)(?:1q2w3e4r|1qaz2wsx|q[wa]ert[yz]u?|azerty|asdfgh|zxcvbn|yxcvbn|qazwsx)\w{0,12}[!?.;']{0,2}$")


FormName = Literal["braced", "assigned", "beside", "cell", "tag", "call", "pair", "listed", "option", "prose", "behind"]
"""How a value stands beside its name (`core.base.secrets.forms` says what each looks like)."""


class Value(NamedTuple):
    """What stands beside a name. `quoted`: in quotes; `env`: the name is in large letters, as in an environment;
    `literal`: no text of a program can stand there, as behind an option of a command."""

    text: str
    form: FormName
    quoted: bool = False
    env: bool = False
    literal: bool = False

    @property
    def has_digits(self) -> bool:
        """Whether it has a digit."""
        return has_digit(self.text)

    @property
    def has_letters(self) -> bool:
        """Whether it has a letter."""
        return any(map(str.isalpha, self.text))

    @property
    def symbols(self) -> int:
        """How many signs it has that are neither in names nor between words."""
        text = self.text
        known = sum(map(str.isdigit, text)) + sum(map(str.isalpha, text)) + sum(map(text.count, "-_. :/"))
        return len(text) - known


def has_digit(value: str) -> bool:
    """Whether there is a digit in a value."""
    return any(map(str.isdigit, value))


def sort_of(letter: str) -> int:
    """A number for each of digits, capitals, small letters and signs."""
    return 1 if letter.isdigit() else 2 if letter.isupper() else 3 if letter.islower() else 4


def is_placeholder(value: str) -> bool:
    """Whether a value stands for one that is to be filled in: `<token>`, `${VAR}`, `your-api-key`, `xxxx`."""
    head = value[:120]
    if _FILLED.search(head) or _SOURCE.search(head) or _VARIABLE.match(head) or _TEMPLATE.search(head):
        return True
    if _ONLY_WORDS.match(head) and _FIRST_WORD.match(head):
        return True
    parts = PARTS.findall(head)
    known = sum(part.lower() in _PLACEHOLDER_WORDS for part in parts)
    return known > 0 and len(parts) <= 4 * known and all(map(_stands_for_one, parts))


def _stands_for_one(part: str) -> bool:
    """Whether a piece of a value is a word that people put where a secret will be, a short number or nothing."""
    if part.isalpha():
        return len(part) < 3 or part.lower() in _PLACEHOLDER_WORDS
    return (len(part) < 4 and part.isdigit()) or not part.strip("-_. ")


def is_secret(value: Value, name: re.Match[str]) -> bool:
    """Whether what stands beside the name of a password or a key is one, and not a word, a path, code or a blank."""
    text = value.text
    if value.quoted and not text.isascii() and _NO_ALPHABET.search(text):
        return False  # a label in a language without an alphabet
    if _is_blank(text, 4):
        return False
    if any(map(str.isspace, text)):
        return bool(name["p"]) and (value.quoted or value.literal) and is_phrase(text, "phras" in name[0])
    return _is_password(value) if name["p"] else _is_key(value, name[0])


def is_named_code(text: str, name: re.Match[str]) -> bool:
    """Whether what stands beside the name of a code is one: `PIN: 4711`, `cvv 123`."""
    return not _is_blank(text, 3) and (is_code(text) or (name[0].startswith("cv") and text.isdigit()))


def _is_blank(text: str, least: int) -> bool:
    """Whether a value holds nothing to hide: too short, one letter again and again, a placeholder, a path."""
    return (
        "[redacted" in text
        or len(text) < least
        or len(set(text)) < 2 + (len(text) > 3)
        or is_placeholder(text)
        or _PATH.match(text) is not None
    )


def is_code(value: str) -> bool:
    """Whether a value is a code that is typed in once, or a PIN: digits, or large letters with digits or a hyphen."""
    return bool(_CODE_ONCE.match(value))


def is_phrase(value: str, named: bool = False) -> bool:
    """Whether words with blanks between them are somebody's secret, and not a label or a message: all in small letters,
    or each with a large one, none of which a form would say. `named`: they are called a phrase."""
    words = value.split()
    if not 2 <= len(words) <= 25 or len(value) > 200 or _FIELD.search(value):
        return False
    if _RULE.search(value) if named and len(words) > 3 else _MESSAGE.search(value):
        return False
    if not all(map(_PHRASE_WORD.match, words)):
        return len(words) < 6 and any(map(str.isdigit, value)) and not re.search(r"[(){}\[\]<>=%$/\\]", value)
    if _APP_PASSWORD.match(value):
        return True
    plain = value.islower() or (len(words) > 2 and all(word[0].isupper() for word in words))
    return (plain or (named and len(words) > 2)) and (named or len(words) <= 8)


def is_word(value: str) -> bool:
    """Whether a plain word may be somebody's password where a sentence says that it is one: nothing that people say of
    a password, such as wrong, required or stored."""
    return (
        len(value) >= 4
        and value.isalpha()
        and not _NO_ALPHABET.search(value)
        and not _SAID_OF.match(value)
        and not _FIELD.search(value)
        and value.lower() not in _PLACEHOLDER_WORDS
    )


def is_compound(value: str) -> bool:
    """Whether words joined by hyphens or dots may be a password in a sentence, and not say something of one."""
    parts = re.split(r"[-._]", value)
    return (
        2 <= len(parts) <= 5
        and len(value) >= 8
        and all(part.isalpha() and not _SAID_OF.match(part) and not _JOINED.match(part) for part in parts)
        and not _FIELD.search(value)
        and not _PATH.match(value)
        and not is_placeholder(value)
    )


def is_chosen(value: str) -> bool:
    """Whether a word in a sentence about a password is built like one: letters with digits or with signs inside, as
    no word of a language and no name of a technique is."""
    if (
        not 5 <= len(value) <= 60
        or is_placeholder(value)
        or _PATH.match(value)
        or (_CODE.match(value) and not _DOTTED.match(value))
    ):
        return False
    if _KEYBOARD.match(value):
        return True
    if (
        _NUMBERS.match(value)
        or _TECHNIQUE.match(value)
        or _FIELD.search(value)
        or re.search(r"[/\\(){}\[\]<>=|:`\"]", value)
    ):
        return False
    if "@" in value and re.search(r"@[\w-]+\.\w", value):
        return False
    digit, letter = any(map(str.isdigit, value)), any(map(str.isalpha, value))
    sign = bool(re.search(r"\w[!#$%^&*~+?@;]+\w|\d[!#$%^&*~+?]+$", value))
    if value.islower() and value.isalpha():
        return len(value) >= 9 and bool(_NO_LANGUAGE.search(value))
    return letter and (
        (digit and sign) or bool(_WORD_AND_NUMBER.match(value)) or (sign and bool(_WORD_SIGN.match(value)))
    )


def is_type(value: str) -> bool:
    """Whether a value says of what kind one must be, or that there is none: string, true, required."""
    return bool(_NO_VALUE.match(value))


def is_cell(value: str, name: re.Match[str], sign: str, beside: bool) -> bool:
    """Whether a cell below the heading `name` is a secret. `beside`: the table also says whose it is, so that any word
    may be one."""
    if name["c"]:
        return name[0].endswith("otp") and bool(re.match(r"[A-Z2-7]{16,}$|\d{6,8}$|otpauth:", value))
    if not beside or not name["p"]:
        return " " not in value and is_secret(Value(value, "cell"), name)
    if (
        len(value) < 3
        or is_placeholder(value)
        or _PATH.match(value)
        or "[redacted" in value
        or _NO_VALUE.match(value)
        or _SAID_OF.match(value)
    ):
        return False
    return " " not in value or (sign != "|" and not _MESSAGE.search(value))


def _is_password(value: Value) -> bool:
    """Whether one word is a password, by what it is made of."""
    text, digits = value.text, value.has_digits
    if digits and not value.has_letters and not value.symbols:
        return _is_number(value)
    if not digits and "-" not in text and "_" not in text and "." not in text and not value.symbols:
        return _is_plain_word(value)
    if _is_program(value):
        return False
    return _is_with_digits(value) if digits else _is_with_signs(value)


def _is_number(value: Value) -> bool:
    """Digits alone, where a value is assigned: `password = 48291`, `pwd: "4711"`."""
    return (
        len(value.text) >= (4 if value.quoted else 5)
        and value.text.isdigit()
        and value.form in ("assigned", "cell", "tag", "beside", "option")
    )


def _is_plain_word(value: Value) -> bool:
    """Letters alone, where neither a sentence nor a program goes on: `PASSWORD=rosebud`, `password: "rosebud"`."""
    text, form = value.text, value.form
    if (form == "prose" and not value.quoted) or form in ("behind", "call", "pair") or not text.isascii():
        return form == "pair" and value.env and len(text) > 5 and not _FIELD.search(text)
    if len(text) < 6 or _FIELD.search(text) or _NO_VALUE.match(text) or (form == "option" and _SAID_OF.match(text)):
        return False
    return ":" not in text and (value.quoted or value.env or value.literal)


def _is_program(value: Value) -> bool:
    """Code instead of a password: `password = form.cleaned["x"]`, `pwd=arg_1`, `password: 'required|min:8'`."""
    text = value.text
    if value.quoted:
        return bool(_CALLED.match(text) or _CHECKS.match(text))
    may_be = not value.literal or re.search(r"[()\[\]{}]", text)
    return bool(may_be and (_CODE.match(text) or _ARGUMENT.match(text)))


def _is_with_signs(value: Value) -> bool:
    """Letters with signs and no digit: `Rose!bud`; all small, `rose-bud`, only in quotes or where no code can stand."""
    text = value.text
    if ("@" in text and re.search(r"@\w+\.\w", text)) or len(text) < 6:
        return False
    mixed = text.isascii() and any(map(str.islower, text)) and any(map(str.isupper, text))
    if mixed and re.search(r"[A-Za-z][!@#$%^*~?&+]{1,3}[A-Za-z]|[A-Za-z]{4}[!#$%^*~]{1,2}$", text):
        return True
    if _FIELD.search(text) or value.form == "behind" or (value.form == "prose" and not value.quoted):
        return False
    return (value.quoted or value.literal) and bool(_WORD_SIGN.match(text))


def _is_with_digits(value: Value) -> bool:
    """Digits with letters or signs, `rosebud7`; no amount, date or colour, and in a sentence no `3rd` and no `utf8`."""
    text = value.text
    signs = value.symbols
    if _NUMBERS.match(text) or (signs < 2 and not value.has_letters) or len(text) < (5 if signs else 6):
        return False
    if value.quoted or value.form not in ("prose", "behind"):
        return True
    return len(text) >= 6 and not _CONTENT.match(text) and _mixed(text)


def is_no_name(value: str, quoted: bool) -> bool:
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
    return not (_SHORT.match(value) or _TECHNIQUE.match(value))


def _is_key(value: Value, core: str) -> bool:
    """Whether one word is a key or a token; `core` is the last word of its name."""
    text, form = value.text, value.form
    if core == "creds" and value.env and re.match(r"[\w.-]{2,40}:[^\s:/]{4,}$", text):
        return True  # CREDS=admin:rosebud
    if form in ("behind", "call") or not value.has_digits or not value.has_letters:
        return False
    if value.symbols > len(text) // 3 or _is_no_key(value):
        return False
    if form == "prose":
        return len(text) >= 10 and _is_random(text) and (len(text) >= 16 or sum(map(str.isdigit, text)) >= 3)
    if text.count("-") + text.count("_") > 2 and sum(map(str.isalpha, re.split(r"[-_.]", text))) > 2:
        return False  # words joined by hyphens
    if core == "signature" or form in ("cell", "tag"):
        return len(text) >= 8 and _is_random(text)
    return len(text) >= (6 if value.quoted or value.env or core.startswith("secret") else 8)


def _is_no_key(value: Value) -> bool:
    """What stands in the place of a key: `token = next_token2`, `api_key=keys[0]`, `secret: md5:9f…`."""
    text = value.text
    small_env = value.env and value.literal and text.islower() and len(text) >= 8
    if (_IDENTIFIER.match(text) and not small_env) or _CODE.match(text):
        return True
    if _NUMBERS.match(text) or _ARGUMENT.match(text) or re.search(r"[()<>\[\]{}]", text):
        return True
    return bool(_CONTENT.match(text)) and not re.match(r"(?i)[0-9a-f]{8}-", text)


def _is_random(value: str) -> bool:
    """Whether a value looks drawn by lot: letters and digits change places often."""
    changes = sum(a.isdigit() != b.isdigit() for a, b in itertools.pairwise(value))
    return changes >= max(2, len(value) // 10)
