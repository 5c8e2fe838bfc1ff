"""What only a word some way before it gives away: seed phrases, licences, codes in groups, values drawn by lot.

A form says nothing here: `1. ribbon 2. magnet …` is a list, and `kdqw mzrx bvtl yajc` four words, until "wallet" or
"app password" stands a few words or two lines before.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator

from core.base import late
from core.base.secrets.values import has_digit, is_placeholder, sort_of

_REACH = 160
"""How far behind its word a value may begin, in characters."""
_HEAD = 200
"""The characters of it that show what it is."""
_LINES = 3
_SEED_STEMS = (
    "seed", "mnemonic", "recovery phrase", "recovery words", "wallet", "12 words", "24 words", "twelve words", "metamask", "ledger", "bip39",
    "bip-39", "slip39", "secret phrase", "backup phrase", "backup words", "restore with", "merkwörter", "wiederherstellung", "phrase de récup",
    "frase semilla", "frase de recup",
)  # fmt: skip
_STEMS = {
    "one-time-seed": (
        "totp", "otp", "authenticator", "2fa", "mfa", "setup key", "setup code", "manual entry", "two-factor", "oathtool", "base32", "this key",
        "this code", "qr", "zwei-faktor",
    ),
    "licence-key": (
        "licen", "lizenz", "serial", "seriennummer", "product key", "produkt", "activation", "aktivierung", "registration", "cd key", "cd-key",
        "volume key", "recovery key", "windows", "bitlocker", "numéro de série", "clave de producto",
    ),
    "recovery-codes": (
        "backup code", "recovery code", "recovery-code", "recovery_code", "backup_code", "scratch code", "emergency code", "one-time codes",
        "wiederherstellungscode", "notfallcode", "codes de secours", "two-factor codes", "recovery key",
    ),
    "password": (
        "app password", "app-password", "app pw", "app pass", "app passcode", "app specific", "app-specific", "apple id", "icloud", "anwendungspasswort", "app-passwort",
        "mot de passe d'app", "schlüssel",
    ),
}  # fmt: skip
NEAR_STEMS = tuple(stem for stem in (*_SEED_STEMS, *itertools.chain(*_STEMS.values())) if stem.isascii())
NUMBERED_NEEDS = r"(?:^|\n)[ \t|>*#-]*(?:word )?1[.):]?[ \t|]+[a-z]{3,8}[ \t\r\n,]"

_BASE32 = late(
    r"(?<![A-Za-z0-9])(?:[A-Z2-7]{16,64}|[A-Z2-7]{4}(?:[ -][A-Z2-7]{4}){3,15}"
    r"|[a-z2-7]{4}(?:[ -][a-z2-7]{4}){3,15})={0,6}(?![A-Za-z0-9])"
)
_LICENCE = late(
    r"(?<![\w-])(?:[A-Z0-9]{4,8}(?:-[A-Z0-9]{4,8}){2,8}|[A-Z0-9]{5}(?: [A-Z0-9]{5}){3,5}"
    r"|[A-F0-9]{4,8}(?:[ \n][A-F0-9]{4,8}){3,63}"
    r"|[A-Z0-9]{8,12}-[A-Za-z0-9+/]{40,400}={0,2})(?![\w-])"
)
_CODES = late(
    r"(?<![A-Za-z0-9])(?:(?:\d{1,2}[.):][ \t]{1,3})?(?:\d{4} \d{4}|\d{6}(?:-\d{6}){7}"
    r"|(?=[A-Za-z-]{0,9}\d)[A-Za-z0-9]{4,10}(?:-[A-Za-z0-9]{4,10}){0,3})"
    r"(?:[\s,;|\"'•*\[\]]{1,12}+|$)){2,20}+|(?<![\w-])(?:\d{8}|\d{6}(?:-\d{6}){7})(?![\w-])"
)
_GROUPS = late(
    r"(?<![\w-])(?:[a-z]{4}(?:[ \n-][a-z]{4}){3}|[A-Z0-9]{4}(?:[ -][A-Z0-9]{4}){3}"
    r"|(?=[a-z-]{0,24}\d)[a-z0-9]{4}(?:-[a-z0-9]{4}){3})(?![\w-])"
)
_BETWEEN_WORDS = r"(?:[\s,;/\"'│·()#]|\|(?=\s)|-(?=[a-z])|\n> ){1,40}+"
_NUMBERED = r"(?:\d{1,2}[.):=]{0,2}[ \t]{0,8})?"
_WORDS = late(
    rf"(?<![^\W_])(?:{_NUMBERED}[a-z]{{3,8}}{_BETWEEN_WORDS}){{11,39}}{_NUMBERED}[a-z]{{3,8}}(?![^\W_])", re.I
)
_KANA = late(r"(?:[\u3041-\u3096]{2,8}[ \u3000]){11,23}[\u3041-\u3096]{2,8}")
_COUNTS = (12, 15, 18, 20, 21, 24, 25, 33)
_SEED_WORD = late(r"[^\W\d_]+")
_JOINS_TEXT = """
the and for are was were with from have has had not but them their which your our into than been does did how who its would should must each
only true false null string int const return import class self can you please words phrase seed wallet where this that when then what will
txt
"""
_JOINS = frozenset(_JOINS_TEXT.split())
_ONE_NUMBERED = late(r"(?P<n>\d{1,2})[.):]?[ \t|]{1,6}(?P<word>[a-z]{3,8})(?=[\s,]|$)")


def near_words(text: str, lowered: str, present: frozenset[str]) -> Iterator[tuple[int, int, str]]:
    """Start, end and kind of what stands near a word of `NEAR_STEMS`; `present` are those that `lowered` holds."""
    for kind, stems in _STEMS.items():
        pattern, fits = _VALUES[kind]
        reached = 0
        for _place, end in _places(lowered, stems, present):
            at = max(end, reached)
            while near := pattern.search(text, at, end + _REACH + _HEAD) if at < end + _REACH else None:
                found = pattern.match(text, near.start()) or near
                if found.start() > end + _REACH or text.count("\n", end, found.start()) > _LINES:
                    break
                at = found.end()
                if fits(found[0]) and not _MADE_OF.search(text, max(0, found.start() - 24), found.start()):
                    yield found.start(), found.start() + len(found[0].rstrip()), kind
                    break
            reached = max(reached, at, end + _REACH if near is None else 0)
    reached = 0
    for place, end in _places(lowered, _SEED_STEMS, present):
        begins = max(reached, place - 240)
        while near := _WORDS.search(text, begins, end + _REACH + _HEAD) if begins < end + _REACH else None:
            words = _WORDS.match(text, near.start()) or near
            begins = reached = words.end()
            yield from _seed_in(text, words.start(), words.end())
    if NUMBERED_NEEDS in present:
        yield from _numbered(text)
    if not text.isascii() and _KANA_WORD.search(text):
        for found in _KANA.finditer(text):
            yield *found.span(), "seed-phrase"


_KANA_WORD = late(r"[\u3041-\u3096] [\u3041-\u3096]")
_MADE_OF = late(r"(?i)(?:sha\d*|md5|uuid|commit|hash|checksum|guid|version|fingerprint)\W{1,4}$")


def _places(lowered: str, stems: tuple[str, ...], present: frozenset[str]) -> list[tuple[int, int]]:
    """Where one of the words begins and ends, in order."""
    if present.isdisjoint(stems) and lowered.isascii():
        return []
    places: list[tuple[int, int]] = []
    for stem in stems:
        if stem in present or not stem.isascii():
            place = lowered.find(stem)
            while place >= 0:
                end = place + len(stem)
                if len(stem) > 4 or not (lowered[place - 1 : place].isalnum() or lowered[end : end + 1].isalnum()):
                    places.append((place, end))
                place = lowered.find(stem, end)
    return sorted(places)


def _seed_in(text: str, start: int, end: int) -> Iterator[tuple[int, int, str]]:
    """The seed among words in a row: as many as a wallet makes, from where a line, a list or a sentence begins to where
    it ends, and none that joins others."""
    words = [(one.start(), one.end(), one[0].lower()) for one in _SEED_WORD.finditer(text, start, end)]
    joins = [word in _JOINS for _, _, word in words]
    breaks = ["\n" in text[a[1] : b[0]] for a, b in itertools.pairwise(words)]
    begins = [n for n in range(len(words)) if n == 0 or joins[n - 1] or breaks[n - 1]]
    ends = [n + 1 for n in range(len(words)) if n + 1 == len(words) or joins[n + 1] or breaks[n]]
    found = max(
        (
            (last - first, first, last)
            for first in begins
            for last in ends
            if last - first in _COUNTS
            and not any(joins[first:last])
            and len({word for _, _, word in words[first:last]}) > (last - first) * 2 // 3
        ),
        default=None,
    )
    if found:
        yield words[found[1]][0], words[found[2] - 1][1], "seed-phrase"


def _numbered(text: str) -> Iterator[tuple[int, int, str]]:
    """Twelve or 24 single words that are numbered through, in whatever columns, and nothing else between them."""
    row: list[re.Match[str]] = []
    for found in itertools.chain(_ONE_NUMBERED.finditer(text), [None]):
        if found is None or (
            row
            and text[row[-1].end() : found.start()].strip(" \t\r\n|>*#,").lower()
            not in ("", "word", "wort", "mot", "palabra")
        ):
            numbers = [int(one["n"]) for one in row]
            if sorted(numbers) in (list(range(1, 13)), list(range(1, 25))) and not any(
                one["word"] in _JOINS for one in row
            ):
                yield row[0].start(), row[-1].end(), "seed-phrase"
            row = []
        if found:
            row.append(found)


def _is_licence(value: str) -> bool:
    groups = re.split(r"[-\s]", value)
    digits = sum(any(map(str.isdigit, one)) for one in groups)
    if len(groups) == 2:
        return _is_drawn(groups[1])
    same = max(map(len, groups)) - min(map(len, groups)) < (
        1 if digits == len(groups) and not re.search("[A-Z]", value) else 3
    )
    return digits >= 2 and same and not re.match(r"(?:19|20)\d\d-", value)


def _is_base32(value: str) -> bool:
    return has_digit(value) or (value.isupper() and " " in value and not _looks_like_words(value))


def _looks_like_words(value: str) -> bool:
    """Whether groups of letters could be words: most have a vowel and no four consonants in a row."""
    groups = re.split(r"[\s-]", value.lower())
    odd = sum(
        not re.search("[aeiouy]", one)
        or bool(
            re.search(
                "[bcdfghjklmnpqrstvwxz]{4}|q(?!u)|[jqvx][bcdfghjklmnpqrstvwxz]|[bcdfghkmpqtz][jqxzw]|^[^aeiouy]{3}|[aeiou]{3}",
                one,
            )
        )
        for one in groups
    )
    return odd * 3 < len(groups)


def _is_group(value: str) -> bool:
    return has_digit(value) or not _looks_like_words(value)


_VALUES: dict[str, tuple[re.Pattern[str], Callable[[str], bool]]] = {
    "one-time-seed": (_BASE32, _is_base32),
    "licence-key": (_LICENCE, _is_licence),
    "recovery-codes": (_CODES, has_digit),
    "password": (_GROUPS, _is_group),
}

# --- drawn by lot ----------------------------------------------------------------------------------------------------

_TOKEN = late(r"(?:0x)?[A-Za-z0-9+/_~.-]{12,400}={0,2}(?![\w+/@])")
_TOKEN_HEAD = late(r"(?<![\w+/.@#-])[A-Za-z0-9+/_~.-]{12}")
_NO_DRAWN = late(
    r"(?i)\b(?:sha\d*|commit|hash|digest|checksum|uuid|fingerprint|public|pub|etag|integrity|md5|nonce|ssh-\w+"
    r"|certificate|id|ids|rev|revision|tokens"
    r"|image|version|model|file|path|url|https?|trace|span|request|message|session)\b|_id\b|Id\b|://"
)
_HEX = late(r"(?:0x)?[0-9a-fA-F]+$")
_KNOWN_ID = late(
    r"(?:msg|req|toolu|call|chatcmpl|run|resp|item|rs|thread|asst|file|evt|cus|price|prod)[_-]|AAAA|0x0"
    r"|[\w-]+\.[a-z]{2,4}$"
)


def drawn_near(text: str, end: int, reached: int, named: bool) -> tuple[tuple[int, int] | None, int]:
    """The first word within reach behind a name, from `end` on, that was drawn by lot, and how far was searched.
    `named`: the name is that of a password, so that hexadecimal digits are one too."""
    at = max(end, reached)
    while head := _TOKEN_HEAD.search(text, at, end + 120) if at < end + 100 else None:
        found = _TOKEN.match(text, head.start())
        if found is None:
            at = head.end()
            continue
        at = found.end()
        if found[0].endswith("..") or text[at : at + 1] in ("…", "*"):
            continue
        between = text[end : found.start()]
        if between.count("\n") > _LINES or _NO_DRAWN.search(between):
            return None, found.start()
        if _is_drawn(found[0], named and len(found[0]) >= 20 and not _KNOWN_ID.match(found[0])):
            return found.span(), found.end()
    return None, max(at, end + 100)


def _is_drawn(value: str, hexadecimal: bool = False) -> bool:
    """Whether letters and digits change places as in no word and no name: large, small and digits, or digits all over.
    `hexadecimal`: whether so may be a value of these digits alone."""
    plain = value.rstrip("=")
    digits = sum(map(str.isdigit, plain))
    if not 0 < digits < len(plain) or plain[0] == "_" or _KNOWN_ID.match(plain) or is_placeholder(value):
        return False
    if _HEX.match(plain):
        return hexadecimal and digits * 5 >= len(plain)
    sorts = [sort_of(one) for one in plain]
    changes = sum(a != b for a, b in itertools.pairwise(sorts))
    signs = sorts.count(4)
    if signs * 6 > len(plain) or changes * 5 < 2 * len(plain):
        return False
    if any(map(str.isupper, plain)) and any(map(str.islower, plain)):
        return len(plain) >= 12 and (digits > 1 or len(plain) >= 20)
    return len(plain) >= 16 and digits >= 4 and signs == 0
