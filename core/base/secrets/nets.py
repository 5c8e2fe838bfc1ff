"""Finds passwords, keys and tokens in text. Loading takes 0.1 s, for hundreds of expressions: `redact` does it when it
is first called.

Four nets, from the surest to the widest: known shapes (`core.base.secrets.shapes`), private keys and what is packed
as base64, a name such as `password` with a value beside it (`core.base.secrets.names`), and the vendor detectors of
the detect-secrets library. What looks random but names content and opens nothing (commit hashes, UUIDs, checksums,
package-lock integrity) is kept.

Each net goes over the text as it stands, and over its plain reading (`look_through`) where colour codes, escapes or
invisible characters lie over the words; what is found there is replaced in the original.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from core.base.secrets.look_through import look_through
from core.base.secrets.names import STEMS, named_secrets
from core.base.secrets.near import NEAR_STEMS, NUMBERED_NEEDS, near_words
from core.base.secrets.shapes import CARD, IN_CONTEXT, PATTERNS, PGPASS, Pattern, is_card
from core.base.secrets.values import sort_of

_MARK = "[redacted:"


class Found(NamedTuple):
    """One secret. `net` orders the kinds of search, the surest first; of two that overlap the surer one stands, of two
    equally sure ones the longer."""

    net: int
    start: int
    end: int
    kind: str


_KEY, _SHAPE, _PACKED, _CONTEXT, NAMED, _LIBRARY = range(6)
_PEM_HEAD = re.compile(r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_PEM_END = re.compile(r"-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_PEM_REST = re.compile(r"(?:(?:\\[nr]|\s)+[A-Za-z0-9+/=]{16,})+(?:(?:\\[nr]|\s)+[A-Za-z0-9+/]+={1,2})?")
_PEM_BYTES = 20_000
_PACKED_WORD = re.compile(r"[A-Za-z0-9+/]{20,}(?:\r?\n[ \t]{0,12}[A-Za-z0-9+/]{2,}){0,400}={0,2}")
_WORD = re.compile(r"[A-Za-z0-9+/_-]{20,}")
_TOKEN_END = re.compile(r"[^\w.~+/=-]")
_TOKEN_START = re.compile(
    r"(?:[\"'`]?[ \t]{0,4}[+\\]?[ \t]{0,4}\r?\n[ \t>|#*]{0,16}[\"'`]?"
    r"|[\"'`][ \t]{0,4}(?:[+.][ \t]{0,4}|[ \t])[\"'`])(?=[\w./+=-])"
)
_GOES_ON = re.compile(
    r"(?P<cut>\\?)\r?\n(?P<in>[ \t>|]{0,24})(?P<rest>[A-Za-z0-9+/_.~-]{6,300}={0,2})(?=[ \t\"',;]*(?:\r?\n|$))"
)
_CITES, _CITED_TO = re.compile(r"\[from: ([^\[\]\n]*)\Z"), re.compile(r"[^\[\]\n]*, \d{4}-\d\d-\d\d\]")
CITED = 300
"""The characters of the longest name of a conversation."""
_WRAPPED_PIECES = 12
_KEEP = re.compile(r"[0-9a-f]{7,64}$|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$|sha(?:1|256|384|512)-", re.I)
_RUN = b"x" * 20
_TABLE = bytes(0x78 if (chr(code).isalnum() and code < 128) or chr(code) in "+/" else 0x20 for code in range(256))
_CARD_NEEDS = r"[0-9]{4}[ -]?[0-9]{4,6}[ -]?[0-9]{4,5}"
_NUMBER_OF_ELSE = re.compile(
    r"(?i)(?:id|ids|uuid|trace|span|order|user|account|time|stamp|nonce|seed|hash|build|run|job|request|session|message|chat"
    r"|channel|issue|ticket|tweet|status|size|offset|inode|version|revision|serial|tracking|invoice|count|total|bytes|sku"
    r"|isbn|ean|phone|no|nr|#)s?[\"'`]?[ \t]{0,3}[:=#]?[ \t]{0,3}[\"'`]?$"
)
"""Words in front of a number that is no card's, though its sum is right by chance, as one in ten is."""
_PGPASS_NEEDS = r":(?:[0-9]{4,5}|\*):"
_LONE = {":": r"[0-9]{4}:[a-z0-9_-]{3}", ".": r"[a-z0-9_-]{3}\.[a-z0-9_-]{6}\."}


def _need(pattern: Pattern) -> str:
    """What must be in a text, in small letters, for a shape to be looked for: a short beginning says too little."""
    prefix = pattern.prefilter.lower()
    if len(prefix) > 3:
        return prefix
    return _LONE.get(prefix) or re.escape(prefix) + r"[a-z0-9_.$/+=~-]{3}"


def _by(need: Callable[[Pattern], str], patterns: Iterable[Pattern]) -> dict[str, list[Pattern]]:
    rows: dict[str, list[Pattern]] = {}
    for pattern in patterns:
        rows.setdefault(need(pattern), []).append(pattern)
    return rows


_NEEDS = _by(_need, PATTERNS)
_BY_WORD = _by(lambda pattern: pattern.prefilter.lower(), IN_CONTEXT)
_ORDER = {need: number for number, need in enumerate((*_NEEDS, *_BY_WORD))}


def found_in(text: str) -> list[Found]:
    """Every secret of a text, also under what covers it, in no order; they may overlap."""
    found = list(_in_plain(text))
    for view in look_through(text):
        found += (Found(net, *view.original(start, end), kind) for net, start, end, kind in _in_plain(view.text))
    return [one for one in found if not _is_cited(text, one)]


def _is_cited(text: str, one: Found) -> bool:
    """Whether what words before it call a secret is the name of the conversation that a line cites: a line that ends
    in "`LOGIN_SECRET` is not set" says nothing about its own provenance. A key is one there too, and so is what the
    name itself calls a secret."""
    cites = _CITES.search(text[max(0, one.start - CITED) : one.start]) if one.net == NAMED else None
    if cites is None or _CITED_TO.match(text, one.end) is None:
        return False
    name = cites[1] + text[one.start : one.end]
    return all(alone.start != len(cites[1]) for alone in _in_plain(name))


def end_of_wrapped(text: str, one: Found) -> int:
    """Where a key ends that goes on, alone, in the next line: such a line is no word."""
    rest = _GOES_ON.match(text, one.end) if one.end - one.start >= 12 and one.net != _KEY else None
    if rest is None or not (
        rest["cut"] or rest["in"] or one.end - text.rfind("\n", max(0, one.end - 60), one.end) > 50
    ):
        return one.end
    return rest.end("rest") if len(set(map(sort_of, rest["rest"]))) > 2 else one.end


def _in_plain(text: str) -> Iterator[Found]:
    """Every secret of a text that nothing covers, in no order; they may overlap."""
    raw = text.encode("ascii", "replace")  # one byte a character, so places are the same in both
    lowered = raw.lower()
    present = _seeker()(lowered)
    if "private key" in present:
        yield from _key_blocks(text)
    yield from _shapes(text, present)
    if _may_be_packed(raw):
        yield from _packed(text)
    yield from _in_context(text, lowered, present)
    if _CARD_NEEDS in present:
        yield from _cards(text)
    small = text.replace("\u0130", "I").lower()  # the one letter that grows when lowered
    for start, end, kind in near_words(text, small, present):
        yield Found(_CONTEXT, start, end, kind)
    for start, end, kind in named_secrets(text, small, present):
        yield Found(NAMED, start, end, kind)
    if present.intersection(_DETECTED):
        yield from _library_finds(text, lowered, present)


@cache
def _seeker() -> Callable[[bytes], frozenset[str]]:
    """Finds the words and beginnings that the nets need; what needs one that is absent is not tried."""
    long = [need for need, (first, *_) in _NEEDS.items() if need == first.prefilter.lower()]
    words = ["private key", *STEMS, *NEAR_STEMS, *_DETECTED, *long, *_BY_WORD]
    return _seeker_of(
        words, (_PGPASS_NEEDS, _CARD_NEEDS, NUMBERED_NEEDS, *(need for need in _NEEDS if need not in long))
    )


def _seeker_of(words: Sequence[str], further: Sequence[str]) -> Callable[[bytes], frozenset[str]]:
    """A function from a text in small ASCII letters to those of `words` (literal, small letters) and of `further`
    (expressions that RE2 and `re` read alike) that are in it.

    RE2 seeks hundreds of them together at the speed of one; where it cannot be had, each is sought by itself, which is
    right and several times slower.
    """
    names = (*dict.fromkeys(words), *further)
    literal = len(names) - len(further)
    try:
        import re2
    except ImportError:
        plain = [(name, name.encode()) for name in names[:literal]]
        others = [(name, re.compile(name.encode())) for name in names[literal:]]
        return lambda text: frozenset(
            [name for name, word in plain if word in text] + [name for name, one in others if one.search(text)]
        )
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.log_errors = False
    together = re2.Set.SearchSet(options)
    for number, name in enumerate(names):
        together.Add(re.escape(name) if number < literal else name)
    together.Compile()

    def found(text: bytes) -> frozenset[str]:
        numbers: Iterable[int] = together.Match(text) or ()
        return frozenset(names[number] for number in numbers)

    return found


def _shapes(text: str, present: frozenset[str]) -> Iterator[Found]:
    """Tokens by their shape alone."""
    for need in sorted(present & _NEEDS.keys(), key=_ORDER.__getitem__):
        for pattern in _NEEDS[need]:
            if pattern.prefilter in text:
                yield from _shaped(pattern, text)


def _in_context(text: str, lowered: bytes, present: frozenset[str]) -> Iterator[Found]:
    for need in sorted(present & _BY_WORD.keys(), key=_ORDER.__getitem__):
        word = need.encode()
        for pattern in _BY_WORD[need]:
            place = lowered.find(word)
            while place >= 0:
                match = pattern.regex.match(text, place)
                if match:
                    yield from _checked(pattern, match, _CONTEXT)
                place = lowered.find(word, max(match.end() if match else 0, place + len(word)))
    if _PGPASS_NEEDS in present:
        for match in PGPASS.finditer(text):
            yield Found(_CONTEXT, *match.span("secret"), "password")


def _cards(text: str) -> Iterator[Found]:
    for match in CARD.finditer(text):
        bare = match[0].isdigit() and _NUMBER_OF_ELSE.search(text, max(0, match.start() - 24), match.start())
        if not bare and is_card(match[0]):
            yield Found(_CONTEXT, *match.span(), "card-number")


def _shaped(pattern: Pattern, text: str) -> Iterator[Found]:
    for match in pattern.regex.finditer(text):
        yield from _checked(pattern, match, _SHAPE)
    if pattern.regex.pattern.startswith(re.escape(pattern.prefilter)) and len(pattern.prefilter) > 2:
        yield from _wrapped(pattern, text)


def _checked(pattern: Pattern, match: re.Match[str], net: int) -> Iterator[Found]:
    group = next((name for name in ("secret", "d", "s") if name in pattern.regex.groupindex and match[name]), 0)
    secret = match[group]
    if _MARK not in secret and (pattern.check is None or pattern.check(secret)):
        yield Found(net, *match.span(group), pattern.kind)


def _wrapped(pattern: Pattern, text: str) -> Iterator[Found]:
    """Tokens that a line break cuts in two, as a terminal does at its edge and a program between two strings."""
    place = text.find(pattern.prefilter)
    while place >= 0:
        end = _end_of_word(text, place)
        joined, pieces = text[place:end], [(place, end)]
        while len(pieces) < _WRAPPED_PIECES and (gap := _TOKEN_START.match(text, end)):
            start, end = gap.end(), _end_of_word(text, gap.end())
            piece = text[start:end]
            if end - start < 4 or not _mixes(piece) or text[end : end + 1] in (":", "(") or "=" in piece[:-2]:
                break
            whole = pattern.regex.match(joined)
            if (
                whole
                and whole.end() == len(joined)
                and ("\n" not in gap[0] or place - text.rfind("\n", max(0, place - 80), place) + len(joined) < 60)
            ):
                break  # it was complete, and the line had room for more
            joined += text[start:end]
            pieces.append((start, end))
            match = pattern.regex.match(joined)
            before = len(joined) - (end - start)
            if match and match.end() > before:
                yield Found(_SHAPE, place, start + match.end() - before, pattern.kind)
                if match.end() < len(joined):
                    break
        place = text.find(pattern.prefilter, place + 1)


def _mixes(piece: str) -> bool:
    """Whether a piece of a line looks like the rest of a token: letters and digits, or more letters than words have."""
    return (
        (any(map(str.isdigit, piece)) and any(map(str.isalpha, piece)))
        or len(piece) > 16
        or _CASES.search(piece) is not None
    )


_CASES = re.compile(r"[a-z][A-Z]\w*[A-Z][a-z]\w*[A-Z]|[A-Z]{2}[a-z]\w*[a-z][A-Z]{2}")


def _end_of_word(text: str, place: int) -> int:
    found = _TOKEN_END.search(text, place, place + 4000)
    return found.start() if found else min(len(text), place + 4000)


def _key_blocks(text: str) -> Iterator[Found]:
    """PEM and PGP private keys, whole; one that was cut off loses the lines that are there."""
    done = 0
    while head := _PEM_HEAD.search(text, done):
        stop = _PEM_END.search(text, head.end(), head.end() + _PEM_BYTES)
        again = _PEM_HEAD.search(text, head.end(), stop.start() if stop else head.end())
        if stop and not again and re.search(r"[A-Za-z0-9+/=]{16,}", text[head.end() : stop.start()]):
            done = stop.end()
        elif rest := _PEM_REST.match(text, head.end()):
            done = rest.end()
        else:
            done = head.end()
            continue
        yield Found(_KEY, head.start(), done, "private-key")


def _may_be_packed(raw: bytes) -> bool:
    """Whether a long word of a text holds base64 of something to read; few do."""
    words = raw.translate(_TABLE)
    place = words.find(_RUN)
    while place >= 0:
        end = words.find(b" ", place)
        end = len(words) if end < 0 else end
        word = raw[place : min(end, place + 24)]
        if not word.islower() and not word.isupper() and _reads(word):
            return True
        place = words.find(_RUN, end)
    return False


def _packed(text: str) -> Iterator[Found]:
    """Words of base64 that hold text with a secret in it, such as the key of a kubeconfig."""
    for match in _PACKED_WORD.finditer(text):
        word = match[0]
        inner = "".join(word.split())
        inner = inner[: len(inner) - len(inner) % 4] if not inner.endswith("=") else inner
        if inner.islower() or word.count("/") > 3 + len(word) // 16 or _KEEP.match(inner) or not _reads(inner[:24]):
            continue
        try:
            plain = base64.b64decode(inner + "=" * (-len(inner) % 4), validate=True).decode("utf-8")
        except (binascii.Error, ValueError):
            continue
        if any(True for one in _in_text_of_packed(plain)):
            yield Found(_PACKED, match.start(), match.end(), "packed-secret")


def _reads(head: str | bytes) -> bool:
    """Whether base64 that begins like this holds text: most does not, and need not be unpacked."""
    try:
        start = base64.b64decode(head[: len(head) - len(head) % 4], validate=True)
    except (binascii.Error, ValueError):
        return False
    return all(32 <= byte < 127 or byte in b"\t\r\n" for byte in start)


def _in_text_of_packed(plain: str) -> Iterator[Found]:
    """What is found in unpacked text; nothing is unpacked twice."""
    if "PRIVATE KEY" in plain:
        yield Found(_KEY, 0, len(plain), "private-key")
    lowered = plain.encode("ascii", "replace").lower()
    present = _seeker()(lowered)
    yield from _shapes(plain, present)
    yield from _in_context(plain, lowered, present)
    for start, end, kind in named_secrets(plain, plain.replace("\u0130", "I").lower(), present):
        yield Found(NAMED, start, end, kind)


def _library_finds(text: str, lowered: bytes, present: frozenset[str]) -> Iterator[Found]:
    """What the vendor detectors of detect-secrets find on lines that name the vendor and have a long word."""
    names = [name.encode() for name in _DETECTED if name in present]
    lines: dict[int, int] = {}
    for name in names:
        place = lowered.find(name)
        while place >= 0:
            start = lowered.rfind(b"\n", 0, place) + 1
            end = lowered.find(b"\n", place)
            lines[start] = end = len(lowered) if end < 0 else end
            place = lowered.find(name, end)
    for start, end in lines.items():
        for first, last in _windows(text, start, end):
            window = text[first:last]
            for kind, find in _detectors():
                for secret in find(window):
                    if len(secret) >= 12 and any(map(str.isdigit, secret)) and _MARK not in secret:
                        place = window.find(secret)
                        if place >= 0:
                            yield Found(_LIBRARY, first + place, first + place + len(secret), kind)


def _windows(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Places around words of 20 characters or more that mix letters and digits and name no content."""
    spans: list[tuple[int, int]] = []
    for word in _WORD.finditer(text, start, end):
        found = word[0]
        if not re.search(r"\d", found) or not re.search(r"[A-Za-z]", found) or _KEEP.match(found):
            continue
        if len(found) > 400 or found.count("/") > 1:
            continue
        first, last = max(start, word.start() - 80), min(end, word.end() + 80)
        if spans and first <= spans[-1][1]:
            spans[-1] = (spans[-1][0], last)
        else:
            spans.append((first, last))
    return spans


_DETECTED = ("aws", "artifactory", "jfrog", "cloudant", "ibm", "cos_", "-us", "softlayer", "sl_")
"""Words without which no detector finds what `core.base.secrets.shapes` does not: the library is slow to import."""


@cache
def _detectors() -> tuple[tuple[str, Callable[[str], Iterable[str]]], ...]:
    """The detectors of the library that know a vendor; those that guess by entropy or keyword are left out."""
    from detect_secrets.plugins.artifactory import ArtifactoryDetector
    from detect_secrets.plugins.aws import AWSKeyDetector
    from detect_secrets.plugins.cloudant import CloudantDetector
    from detect_secrets.plugins.ibm_cloud_iam import IbmCloudIamDetector
    from detect_secrets.plugins.ibm_cos_hmac import IbmCosHmacDetector
    from detect_secrets.plugins.mailchimp import MailchimpDetector
    from detect_secrets.plugins.softlayer import SoftlayerDetector
    from detect_secrets.plugins.square_oauth import SquareOAuthDetector

    return (
        ("artifactory-token", ArtifactoryDetector().analyze_string),
        ("aws-secret-key", AWSKeyDetector().analyze_string),
        ("cloudant-key", CloudantDetector().analyze_string),
        ("ibm-cloud-key", IbmCloudIamDetector().analyze_string),
        ("ibm-storage-key", IbmCosHmacDetector().analyze_string),
        ("mailchimp-key", MailchimpDetector().analyze_string),
        ("softlayer-key", SoftlayerDetector().analyze_string),
        ("square-token", SquareOAuthDetector().analyze_string),
    )
