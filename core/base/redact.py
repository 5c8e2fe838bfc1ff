"""Finds passwords, keys and tokens in text and puts placeholders in their place.

Three nets, from the surest to the widest: known shapes (`core.base.secret_shapes`), a name such as `password` with a
value beside it, and the vendor detectors of the detect-secrets library for lines that hold a long random-looking word.
What looks random but names content and opens nothing (commit hashes, UUIDs, checksums, package-lock integrity) is kept.

Only lines that may hold a secret are looked at closely: one pass over the bytes finds lines with a word of 20 token
characters or more, and lines with one of a few words such as "secret". The rest is never touched.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache

from core.base.secret_shapes import IN_CONTEXT, PATTERNS

MARK = "[redacted: "


@dataclass(frozen=True)
class Redacted:
    """The text with placeholders `[redacted: kind]`, and how many secrets of each kind were replaced."""

    text: str
    counts: dict[str, int] = field(default_factory=dict)


_QUOTE = r"\\{0,3}[\"'`]"
_CORE = re.compile(r"pass|pwd|secret|token|key|cred")
ASSIGNMENT = re.compile(
    r"(?P<core>pass(?:word|wd|phrase)?|pwd|secret(?:[_-]?(?:access[_-]?)?key)?|token|key|credentials?)(?:[_-]?base)?"
    rf"(?:{_QUOTE})?\]?(?P<sep>\s{{0,4}}(?::\s?str\s{{0,2}}=|=>|:=|[:=](?!=))\s{{0,4}}|\s{{1,2}})"
    rf"(?:{_QUOTE}(?P<quoted>[^\"'`\\\n]{{6,400}}){_QUOTE}"
    r"|(?P<bare>(?:[^\s\"'`,;(){}<>&|\\$\[\]]|&(?=[^\s&=]{1,40}(?:\s|$))){6,200})(?P<next>[(\[{<]?))",
    re.I,
)
"""From the last word of a name on: the word, a separator and a value. `_is_secret_value` decides what the value is."""
_KEY_OF = re.compile(
    r"(?i)(?:api|access|auth|private|account|encryption|signing|master|license|service|subscription|storage|deploy)[_-]?$"
)

_PLACEHOLDER = re.compile(
    r"(?i)x{4,}|\*{3,}|\.{3}|…|<|\{|\$|%[({]?\w+[)}%]|_here|your|change[-_]?(?:me|this)|example|placeholder|dummy|redacted"
    r"|fake|sample|insert|replace|undefined|environ|getenv|process\.env|secrets\.|\bnull\b|\bnone\b|\bmock|_?test_|test-"
)
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z._/:?!|-]*\d{0,2}$")  # one class: a group in a group takes for ever
_PATH = re.compile(
    r"(?:~|\.{1,2}|[A-Za-z]:)?[/\\]|.*://|[\w.@/-]+\.(?:py|js|ts|tsx|go|rs|md|json|toml|ya?ml|txt|env|pem|key)$"
)
_CODE = re.compile(r"[A-Za-z_]\w*\.\w+|self\b|this\b|await\b|(?i:u?int|float|byte|string)\d*(?i:array|vec)?$")
_NAMES_A_FIELD = re.compile(r"(?i)pass|secret|token|key|user|field|input|required|invalid")
_NAMES_CONTENT = re.compile(
    r"(?i)(?:[0-9a-f]{7,64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|sha(?:1|256|384|512)-.*)$"
)

_WORDS = (b"pass", b"pwd", b"secret", b"token", b"key", b"cred", b"bearer", b"basic ", b"curl", b"://")
_RUN = b"x" * 20
_TABLE = bytes(0x78 if (chr(code).isalnum() and code < 128) or chr(code) in "_-" else 0x20 for code in range(256))
_LONG_WORD = re.compile(r"[A-Za-z0-9+/_=-]{20,}")
_PEM_HEAD = re.compile(r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_PEM_END = re.compile(r"-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_PEM_REST = re.compile(r"(?:(?:\\[nr]|\s)+[A-Za-z0-9+/=]{16,})+(?:(?:\\[nr]|\s)+[A-Za-z0-9+/]+={1,2})?")
_PEM_BYTES = 20_000


def redact(text: str) -> Redacted:
    """Replace every secret in `text`. Lines keep their number, but a key block of many lines becomes one placeholder.

    Redacting the result again changes nothing. The time grows with the length of the text and no faster.
    """
    counts: defaultdict[str, int] = defaultdict(int)
    if "PRIVATE KEY" in text:
        text = _without_key_blocks(text, counts)
    pieces: list[str] = []
    done = 0
    for start, end, long_word, context in _suspicious_lines(text):
        line = text[start:end]
        clean = _once(line, long_word, context, counts)
        if clean != line:
            for _round in range(8):  # a placeholder may give its neighbour a border that it did not have
                before, clean = clean, _once(clean, True, True, counts)
                if clean == before:
                    break
            pieces += (text[done:start], clean)
            done = end
    return Redacted("".join((*pieces, text[done:])) if pieces else text, dict(counts))


def _suspicious_lines(text: str) -> list[tuple[int, int, bool, bool]]:
    """Each line that may hold a secret, in order: start, end, has a long word, has one of `_WORDS`."""
    raw = text.encode("ascii", "replace")  # one byte a character, so places are the same in both
    blocks, lowered = raw.translate(_TABLE), raw.lower()
    words = [word for word in _WORDS if word in lowered]
    if not words and _RUN not in blocks:
        return []
    long, context = _lines_with(raw, blocks, [_RUN]), _lines_with(raw, lowered, words)
    return [(start, end, start in long, start in context) for start, end in sorted((long | context).items())]


def _lines_with(raw: bytes, haystack: bytes, needles: list[bytes]) -> dict[int, int]:
    lines: dict[int, int] = {}
    for needle in needles:
        place = haystack.find(needle)
        while place >= 0:
            start = raw.rfind(b"\n", 0, place) + 1
            end = raw.find(b"\n", place)
            lines[start] = end = len(raw) if end < 0 else end
            place = haystack.find(needle, end)
    return lines


def _once(line: str, long_word: bool, context: bool, counts: defaultdict[str, int]) -> str:
    if long_word:
        for kind, prefilter, regex, _caseless in PATTERNS:
            if prefilter in line:
                line = regex.sub(_placing(kind, regex, counts), line)
    if context:
        lowered = line.lower()
        for kind, prefilter, regex, caseless in IN_CONTEXT:
            if prefilter in (lowered if caseless else line):
                line = regex.sub(_placing(kind, regex, counts), line)
        line = _without_assigned(line, counts)
    for kind, secret in _library_finds(line) if long_word else ():
        if secret in line:
            counts[kind] += 1
            line = line.replace(secret, f"{MARK}{kind}]")
    return line


def _placing(kind: str, regex: re.Pattern[str], counts: defaultdict[str, int]) -> Callable[[re.Match[str]], str]:
    check = _CHECKS.get(kind)
    group = regex.groupindex.get("secret", 0)

    def replaced(match: re.Match[str]) -> str:
        secret = match[group]
        if secret.startswith(MARK.strip()) or (check and not check(secret)):
            return match[0]
        counts[kind] += 1
        start, end = match.start(group) - match.start(), match.end(group) - match.start()
        return f"{match[0][:start]}{MARK}{kind}]{match[0][end:]}"

    return replaced


def _is_bearer(secret: str) -> bool:
    return any(map(str.isdigit, secret)) and not _PLACEHOLDER.search(secret)


def _is_basic(secret: str) -> bool:
    try:
        return b":" in base64.b64decode(secret, validate=True)
    except (binascii.Error, ValueError):
        return False


def _is_url_password(secret: str) -> bool:
    return not re.search(r"^\W+$|[<>{}$*…]|%[({]|\.{3}|^(?:password|passwd|pass|pw|pwd|secret|token)$", secret, re.I)


_CHECKS: dict[str, Callable[[str], bool]] = {
    "bearer-token": _is_bearer,
    "basic-credentials": _is_basic,
    "url-password": _is_url_password,
}


def _without_assigned(line: str, counts: defaultdict[str, int]) -> str:
    if ":" not in line and "=" not in line and "--" not in line:
        return line  # nothing is assigned, and no option has a value
    pieces: list[str] = []
    done = 0
    lowered = line.replace("\u0130", "I").lower()  # the one letter that grows when lowered
    for hit in _CORE.finditer(lowered):
        if hit.start() < done or not (match := ASSIGNMENT.match(line, hit.start())):
            continue
        first = hit.start()
        while first > max(0, hit.start() - 40) and (line[first - 1].isalnum() or line[first - 1] in "_.-"):
            first -= 1
        group = "quoted" if match["quoted"] is not None else "bare"
        if _is_secret_value(line[first : hit.start()], match, match[group]):
            kind = "password" if lowered[hit.start()] == "p" else "secret"
            counts[kind] += 1
            pieces += (line[done : match.start(group)], f"{MARK}{kind}]")
            done = match.end(group)
    return "".join((*pieces, line[done:]))


def _is_secret_value(before: str, match: re.Match[str], value: str) -> bool:
    """Whether what stands after a name such as `password` is a secret, and not a word, a path, code or a blank.

    `before` is what the name has before its last word: `client_` of `client_secret`.
    """
    core = match["core"].lower()
    if core == "key" and not _KEY_OF.search(before):
        return False
    if core == "pass" and (":" in match["sep"] if not before else before[-1].isalpha() and match["core"][0].islower()):
        return False  # bypass, compass; the "PASS: name" of a test run
    if match["sep"].isspace() and not before.startswith("--"):
        return False
    if any(map(str.isspace, value)) or _PLACEHOLDER.search(value[:80]) or _PATH.match(value) or len(set(value)) < 4:
        return False
    digits = sum(map(str.isdigit, value))
    password = core[0] == "p"
    if match["quoted"] is not None:
        if password:
            return value.isascii() and not _NAMES_A_FIELD.search(value)
        return digits > 0 and not _IDENTIFIER.match(value) and not value.isdigit()
    if match["next"] or value.isdigit() or _CODE.match(value):
        return False
    env_style = (before + match["core"]).isupper() and match["sep"] in ("=", ": ")
    if _IDENTIFIER.match(value) and not (env_style and password and "." not in value):
        return False
    return digits > 0 or env_style


def _without_key_blocks(text: str, counts: defaultdict[str, int]) -> str:
    """PEM and PGP private keys, whole; one that was cut off loses the lines that are there."""
    pieces: list[str] = []
    done = 0
    while head := _PEM_HEAD.search(text, done):
        stop = _PEM_END.search(text, head.end(), head.end() + _PEM_BYTES)
        again = _PEM_HEAD.search(text, head.end(), stop.start() if stop else head.end())
        if stop and not again and re.search(r"[A-Za-z0-9+/=]{16,}", text[head.end() : stop.start()]):
            start, end = head.start(), stop.end()
        elif rest := _PEM_REST.match(text, head.end()):
            start, end = head.start(), rest.end()
        else:
            pieces.append(text[done : head.end()])
            done = head.end()
            continue
        counts["private-key"] += 1
        pieces += (text[done:start], f"{MARK}private-key]")
        done = end
    return "".join((*pieces, text[done:]))


def _library_finds(line: str) -> Iterator[tuple[str, str]]:
    """What the vendor detectors of detect-secrets find around the random-looking words of `line`."""
    for window in _windows(line):
        for kind, find in _detectors():
            for secret in find(window):
                if len(secret) >= 12 and any(map(str.isdigit, secret)) and MARK.strip() not in secret:
                    yield kind, secret


def _windows(line: str) -> list[str]:
    """Pieces of `line` around words of 20 characters or more that mix letters and digits and name no content."""
    spans: list[list[int]] = []
    for word in _LONG_WORD.finditer(line):
        found = word[0]
        if not re.search(r"\d", found) or not re.search(r"[A-Za-z]", found) or _NAMES_CONTENT.match(found):
            continue
        if len(found) > 400 or found.count("/") > 1 or _IDENTIFIER.match(found):
            continue
        start, end = max(0, word.start() - 80), min(len(line), word.end() + 80)
        if spans and start <= spans[-1][1]:
            spans[-1][1] = end
        else:
            spans.append([start, end])
    return [line[start:end] for start, end in spans]


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
