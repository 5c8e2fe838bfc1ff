"""How a value stands beside its name: `password: x`, `<password>x</password>`, `the password for it is x`.

`candidates` gives what stands beside one name, the surest form first (`FORMS`). Whether it is a secret is for
`core.base.secrets.names` and `core.base.secrets.values` to say.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from core.base import late
from core.base.secrets.values import FormName, is_chosen, is_placeholder, is_type

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
_ASSIGNED = late(rf"{_SUFFIX}{_CLOSED}(?P<sep>{_MARKS}){_OPENED}{_VALUE}", re.I | re.M)
_BRACED = late(
    rf"{_SUFFIX}{_CLOSED}(?P<sep>{_MARKS})(?:{_QUOTE})?(?:[$#]?\{{{{1,3}}%?|<%?=?|%|\[\[?)[ \t]{{0,2}}"
    r"(?:[^{}<>%\n]{0,80}?(?:\bdefault\b[ \t(:=]{0,3}|:[-=]|\|\|?[ \t]?|\bor[ \t]))?"
    r"(?:(?P<q2>[\"'])(?P<plain>[^\"'{}\n]{6,80})(?P=q2)|(?P<bare>[^\s{}\"'`\\<>%|\[\]]{6,80}))(?=[ \t)]{0,3}[}>%\]])",
    re.I,
)
_OPTION = late(rf"(?P<sep>[ \t]{{1,4}}\(?){_VALUE}")
_CELL = late(rf"{_SUFFIX}{_CLOSED}(?P<sep>[ \t]{{0,40}}\|[ \t]{{0,40}}){_OPENED}{_VALUE}", re.I)
_TAG = late(
    r"(?P<sep>[\"']?(?:[ \t][^<>\n]{0,80})?>\s{0,4}(?:<value>\s{0,4})?)(?:<!\[CDATA\[(?P<plain>[^\]\n]{3,80})\]\]>"
    r"|(?P<bare>[^<>\s]{4,200}))",
    re.I,
)
_BESIDE = late(
    rf"{_SUFFIX}{_QUOTE}?(?:[ \t]{{0,4}}[,;]?\s{{0,40}}(?P<sep>{_QUOTE}?\bvalue{_QUOTE}?[ \t]{{0,4}}[:=][ \t]{{0,4}})"
    rf"|[ \t]{{0,4}}\{{[^{{}}]{{0,200}}?\b(?:default|result|value)[ \t]{{0,8}}=[ \t]{{0,4}}){_VALUE}",
    re.I,
)
_LISTED = late(r"(?P<sep>[ \t]{1,60})(?P<bare>[^\s\"'`]{4,200})[ \t]*\r?$", re.M)
_PAIR = late(rf"(?P<sep>{_QUOTE}[ \t]{{0,4}},[ \t]{{0,12}}){_QUOTED}(?=\s{{0,12}}[),\]])", re.I)
_CALL = late(rf"(?P<sep>\([ \t]{{0,4}}){_QUOTED}[ \t]{{0,4}}\)", re.I)
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
_PROSE = late(
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
_BEHIND = late(rf"(?P<sep>[ \t]?[;.]?[ \t]{{1,2}}\(?){_VALUE}", re.I)
_CODE_ONCE = late(
    rf"{_CLOSED}(?:{_FOR})?[ \t]{{0,2}}(?:(?i:{_BE})[ \t]{{0,3}})?{_OPENED}(?:{_QUOTE})?(?P<bare>\d{{3}}[ -]\d{{3}}"
    rf"|[A-Z2-7]{{4}}(?: [A-Z2-7]{{4}}){{3,7}}|[A-Z0-9]+(?:-[A-Z0-9]+){{0,4}})(?![\w-]|\.\d)"
)
"""A code that is typed in once."""
_CODE_NEAR = late(
    rf"{_CLOSED}['’]?(?:[ \t]?\([^()\n]{{1,30}}\))?(?:{_FOR})?"
    r"(?:[\s,:;=.*#\"'’`–—→>|/-]|\b(?:is|was|still|now|just|the|it|s|that|star|hash|number|says|said|entry|c|est"
    r"|ist|lautet|noch|es|è|toujours|to|with|on|this)\b){1,10}"
    r"(?P<bare>\d{4,8}|\d(?: \d){3,7}|\d{3}[ -]\d{3})(?![\w%/-]|[.,:]\d)",
    re.I,
)
"""Digits that words and signs without a meaning of their own part from the name of a code."""
CODES = (_CODE_ONCE, _CODE_NEAR)
USER_BEFORE = late(
    r"(?i)(?:user(?:name)?|login|account|creds?|nutzer|benutzer|usuario|utente|identifiant|логин|bruker"
    r"|gebruiker)[ \t:=]+(?:is |ist )?(?!and |or |und |oder |et |ou )\S{1,60}(?:[,;/]|[ \t]\|)?[ \t]*(?:and |und "
    r"|et |y |e |и |the |das |le )?$"
)
"""Words that say whose a password is, up to its name: `user admin, `."""
_LINE_ENDS = late(r"[ \t]*(?:#[^\n]*)?\r?(?:\n|$)|[.。](?=\s|$)")
_DATA = late(
    r"(?P<section>\[[\w .:\"-]{1,60}\][ \t]*$)|[ \t>*-]{0,40}[\"']?[\w.-]{0,40}?(?:user|login|host|port|url|mail"
    r"|account|database|server|smtp|ssid|db|name|id|benutzer\w*|usuario|identifiant"
    r"|from|role|driver)[\w.-]{0,12}[\"']?[ \t]*[:=][ \t]*(?P<value>[^\s,;{}()]+)[ \t]*$",
    re.I,
)
_BRACE = late(r"[=:\"'][ \t]{0,8}[\"']?(?:[$#]?\{|<|%|\[)")
_SETS = late(
    r"(?:^|[\s;=\"'`])(?:set(?:x|env)?|ENV|ARG|config set|secrets? set"
    r"|putenv)(?:[ \t]{1,2}-{1,2}\w{1,10}){0,3}[ \t]{1,2}$"
)
_NAMED_TAG = late(r"(?i)<[^<>\n]{0,60}\b(?:name|key|id)=[\"'][\w.-]*$")
_BEHIND_WORDS = late(
    r"(?i)(?:^|\s)(?:login|machine|connect|user|username|identified by|with|using|use|try|enter|typed?|mit dem|dem"
    r"|avec le|le|con la|la|"
    r"requirepass|masterauth|enable|create (?:user|role)\b[^\n;]{0,80}|alter (?:user|role)\b[^\n;]{0,80}|my|the|wpa"
    r"|с|using the)"
    r"(?:[ \t]\S{1,60}){0,2}[ \t](?:require|master)?$|(?:^|\s)(?:require)$"
)


class Name(NamedTuple):
    """The name of a secret where it stands in a text. `found` is its last word (a match of `names.NAME` in lowered
    text), `core`, from `start` to `end`; `first` the place where the whole name begins: that of `smtp_` in
    `smtp_password`."""

    text: str
    found: re.Match[str]
    core: str
    first: int
    start: int
    end: int
    is_password: bool

    @classmethod
    def of(cls, text: str, found: re.Match[str]) -> Name:
        """The name that ends with a word: at most 40 characters before it, in one piece."""
        start, end = found.span()
        first, least = start, max(0, start - 40)
        while first > least and (text[first - 1].isalnum() or text[first - 1] in "_.-"):
            first -= 1
        return cls(text, found, found[0], first, start, end, found["p"] is not None)

    @property
    def before(self) -> str:
        """What the whole name has before its last word."""
        return self.text[self.first : self.start]

    @property
    def whole(self) -> str:
        """The whole name as it is written."""
        return self.text[self.first : self.end]

    def near_before(self, characters: int) -> str:
        """The last characters before it, at most this many."""
        return self.text[max(0, self.first - characters) : self.first]

    def line_before(self, characters: int) -> str:
        """Those of them that are in its line."""
        return self.near_before(characters).rpartition("\n")[2]

    def is_behind_user(self) -> bool:
        """Whether the words before it say whose it is, also in the line above: `user: admin`."""
        return USER_BEFORE.search(self.near_before(80)) is not None


class Candidate(NamedTuple):
    """What stands beside a name, from `start` to `stop`, in one of `FORMS`. `separator` is what parts the two.
    `in_data`: it is a password in lines of data, that say above or below whose it is, `host: db1`; `ends_line`: a colon
    announces it as a password, and nothing comes behind it, `Password: rosebud`."""

    name: Name
    form: FormName
    separator: str
    start: int
    stop: int
    quoted: bool
    in_data: bool
    ends_line: bool

    @property
    def value(self) -> str:
        """Its words."""
        return self.name.text[self.start : self.stop]

    def is_literal(self) -> bool:
        """Whether nothing of a program can stand in its place."""
        return self.quoted or self.ends_line or self.in_data or _is_outside_program(self)


class Form(NamedTuple):
    """One way in which a value stands beside its name: an expression for what follows the name, and whether what
    stands around the two allows it."""

    name: FormName
    follows: re.Pattern[str]
    fits: Callable[[Name], bool]


def candidates(name: Name) -> Iterator[Candidate]:
    """What stands beside a name that is not the end of its text, in each form in which something does."""
    text, end = name.text, name.end
    sign = text[end]
    for form in _BY_SIGN.get(sign, _BY_LETTER if sign.isalnum() else _BY_OTHER):
        found = form.follows.match(text, end)
        if found and form.fits(name):
            candidate = _candidate(name, form, found)
            if form.name != "behind" or _is_told(candidate):
                yield candidate


def _candidate(name: Name, form: Form, found: re.Match[str]) -> Candidate:
    groups = form.follows.groupindex
    group = next(one for one in ("escaped", "plain", "framed", "bare") if one in groups and found[one] is not None)
    start, stop = found.span(group)
    if group == "bare":
        stop = start + len(_trimmed(found[group]))
    separator = found["sep"] or ""  # none in `password { default = "rosebud7" }`
    in_data = ends_line = False
    if name.is_password and form.name in ("assigned", "prose"):
        in_data = form.name == "assigned" and _is_in_data(name, stop)
        ends_line = separator.strip() in (":", "：") and _is_announced(name, stop)
    return Candidate(name, form.name, separator, start, stop, group != "bare", in_data, ends_line)


def _is_announced(name: Name, stop: int) -> bool:
    """Whether a line or a sentence ends with the value, and the name is no `PASS:` of tests."""
    if name.core == "pass" and not name.before and not name.is_behind_user():
        return False
    return _LINE_ENDS.match(name.text, stop) is not None


def _is_outside_program(one: Candidate) -> bool:
    """Whether it stands behind an option (`--password rosebud`), in a tag (`<password>rosebud</password>`), or as
    `name=value` between blanks (`user=root password=rosebud`)."""
    text = one.name.text
    follows = text[one.stop : one.stop + 2]
    if one.form in ("option", "listed"):
        return not follows.startswith(("(", "."))
    if one.form == "tag":
        return follows == "</"
    if one.form != "assigned" or one.separator != "=" or follows[:1] not in _ENDS_ARGUMENT:
        return False
    head = one.name.line_before(80)
    if head and not head.strip():
        return False  # an argument on a line of its own
    return not head or (head[-1] in " \t\"'`&?;-/=" and head.rstrip(" \t\"'`-")[-1:] not in (",", "("))


_ENDS_ARGUMENT = ("", " ", "\t", "\n", "\r", "&", ";", '"', "'", "`")


def _is_in_data(name: Name, stop: int) -> bool:
    """Whether nothing stands behind the value, and the line above or below is one of data and says whose it is."""
    text, first = name.text, name.first
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


def _is_any(name: Name) -> bool:
    """Nothing more is asked."""
    return True


def _is_in_template(name: Name) -> bool:
    """The signs of a template stand right behind the name."""
    return _BRACE.search(name.text, name.end, name.end + 24) is not None


def _is_in_row(name: Name) -> bool:
    """A bar stands before the name as well."""
    return "|" in name.line_before(300)


def _is_in_tag(name: Name) -> bool:
    """The name is that of a tag, `<db:password>`, or of an entry in one, `<add key="password">`."""
    opened = name.near_before(1)
    return (
        opened == "<"
        or (opened == ":" and "<" in name.near_before(20))
        or _NAMED_TAG.search(name.near_before(80)) is not None
    )


def _is_function(name: Name) -> bool:
    """A function is named after a password and what is done with it."""
    return name.is_password and name.before != ""


def _is_argument(name: Name) -> bool:
    """The first argument of a call, a name in large letters, or an option in quotes: `"--password", "x"`."""
    return name.near_before(2).startswith("(") or name.whole.isupper() or name.before.startswith("--")


def _is_in_column(name: Name) -> bool:
    """The name begins its line, and is in large letters or ends in `pw`."""
    if name.near_before(1) not in ("", "\n"):
        return False
    large = name.whole.isupper() and name.text[name.end : name.end + 2].isspace()
    return large or (name.before != "" and name.whole.endswith("pw"))


def _is_option(name: Name) -> bool:
    """An option of a command, or what `set` and the like give a value to: `setx API_TOKEN x`."""
    if name.before.startswith("-" if name.is_password else "--") or name.near_before(2) == "--":
        return True
    return _SETS.search(name.near_before(40)) is not None


def _is_of_password(name: Name) -> bool:
    """No key is told with a blank alone between the two."""
    return name.is_password


def _is_told(one: Candidate) -> bool:
    """Whether a word with a blank alone between is a value: built like a password, or the words before say that it
    comes next, whose it is or what to do with it."""
    if is_chosen(one.value):
        return True
    before = one.name.line_before(120)
    return not is_placeholder(one.value) and bool(_BEHIND_WORDS.search(before) or USER_BEFORE.search(before))


FORMS = (
    Form("braced", _BRACED, _is_in_template),  # password: {{ "rosebud7" }}, PASSWORD=${PASSWORD:-rosebud7}
    Form("assigned", _ASSIGNED, _is_any),  # password = rosebud7
    Form("beside", _BESIDE, _is_any),  # {"name": "password", "value": "rosebud7"}
    Form("cell", _CELL, _is_in_row),  # | password | rosebud7 |
    Form("tag", _TAG, _is_in_tag),  # <password>rosebud7</password>
    Form("call", _CALL, _is_function),  # setPassword("rosebud7")
    Form("pair", _PAIR, _is_argument),  # ("password", "rosebud7")
    Form("listed", _LISTED, _is_in_column),  # DB_PASSWORD    rosebud7
    Form("option", _OPTION, _is_option),  # --password rosebud7
    Form("prose", _PROSE, _is_any),  # the password for the router is rosebud7
    Form("behind", _BEHIND, _is_of_password),  # user admin, password rosebud7
)
"""The surest first: the first candidate that is a secret counts."""


def _of(names: str) -> tuple[Form, ...]:
    """The forms of these names, in their order."""
    return tuple(form for form in FORMS if form.name in names.split())


_BY_QUOTE = _of("braced assigned beside cell tag pair prose")
_BY_LETTER = _of("braced assigned beside cell prose")
_BY_OTHER = _of("braced assigned beside tag prose")
_BY_SIGN = {
    ":": _of("braced assigned"),
    "=": _of("braced assigned"),
    "?": _of("braced assigned"),
    " ": _of("braced assigned beside cell tag listed option prose behind"),
    "\t": _of("braced assigned cell listed option prose behind"),
    "\n": _of("beside"),
    "\r": _of("beside"),
    ",": _of("beside"),
    "|": _of("cell"),
    ">": _of("tag"),
    "(": _of("call"),
    ".": _of("behind"),
    ";": _of("behind"),
    "s": (),
    "/": (),
    **dict.fromkeys("\"'`\\", _BY_QUOTE),
}
"""Which forms there can be, by the sign behind the name: to try all would take several times as long."""


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
