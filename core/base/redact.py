"""Finds passwords, keys and tokens in text and puts placeholders in their place.

Three nets, from the surest to the widest: known shapes (`PATTERNS`), a name such as `password` with a value beside it,
and the vendor detectors of the detect-secrets library for lines that hold a long random-looking word. What looks
random but names content and opens nothing (commit hashes, UUIDs, checksums, package-lock integrity) is kept.

Only lines that may hold a secret are looked at closely: one pass over the bytes finds lines with a word of 20 token
characters or more, and lines with one of a few words such as "secret". The rest is never touched.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

MARK = "[redacted: "


@dataclass(frozen=True)
class Redacted:
    """The text with placeholders `[redacted: kind]`, and how many secrets of each kind were replaced."""

    text: str
    counts: dict[str, int] = field(default_factory=dict)


class Pattern(NamedTuple):
    """One shape of secret. The group `secret` is replaced, or the whole match where there is none.

    `prefilter` is a literal that any match contains, sought in the lowered line where the shape is `caseless`.
    """

    kind: str
    prefilter: str
    regex: re.Pattern[str]
    caseless: bool = False


_E = r"(?![A-Za-z0-9])"


def _shape(kind: str, prefilter: str, regex: str, flags: int = 0) -> Pattern:
    return Pattern(kind, prefilter, re.compile(regex, flags), bool(flags))


def _starts(kind: str, prefix: str, rest: str) -> Pattern:
    """A token that begins with a fixed `prefix`.

    No letter or digit may stand before it, except those of a written-out "\\n". That is asked after the prefix and not
    before it, because the search is many times faster when an expression begins with plain letters.
    """
    plain = re.escape(prefix)
    return _shape(kind, prefix, rf"{plain}(?:(?<![A-Za-z0-9]{plain})|(?<=\\[nrt]{plain})){rest}")


PATTERNS: tuple[Pattern, ...] = (
    _starts("anthropic-key", "sk-ant-", r"[\w-]{16,}"),
    # Words joined by hyphens (sk-folding-cube) are no keys: a digit is needed, or one unbroken word.
    _starts("openai-key", "sk-", r"(?:(?=[A-Za-z_-]{0,200}\d)[\w-]{20,}|[A-Za-z]{20,}(?![\w-]))"),
    _starts("google-api-key", "AIza", r"[\w-]{35}(?![\w-])"),
    _starts("google-oauth-token", "ya29.", r"[\w-]{20,}"),
    _starts("google-client-secret", "GOCSPX-", r"[\w-]{20,}"),
    _starts("hugging-face-token", "hf_", r"[A-Za-z0-9]{30,}"),
    _starts("npm-token", "npm_", r"[A-Za-z0-9]{36}" + _E),
    _starts("github-token", "gh", r"[pousr]_[A-Za-z0-9]{30,}"),
    _starts("github-token", "github_pat_", r"\w{22,}"),
    _starts("gitlab-token", "gl", r"(?:pat|dt|rt|ptt|soat|cbt|ft|imt|agent)-[\w-]{20,}"),
    _starts("slack-token", "xox", r"[abeoprs]-[A-Za-z0-9-]{10,}"),
    _starts("slack-token", "xapp-", r"\d-[A-Z0-9]{5,}-\d+-[a-z0-9]{20,}"),
    _shape("slack-webhook", "hooks.slack.com", r"hooks\.slack\.com/(?:services|workflows)/(?P<secret>[\w/]{20,})"),
    _starts("stripe-key", "sk_", r"(?:live|test)_[A-Za-z0-9]{16,}"),
    _starts("stripe-key", "rk_", r"(?:live|test)_[A-Za-z0-9]{16,}"),
    _starts("stripe-webhook-secret", "whsec_", r"[A-Za-z0-9+/=]{24,}"),
    _starts("aws-access-key", "AKIA", r"[A-Z0-9]{16}" + _E),
    _starts("aws-access-key", "ASIA", r"[A-Z0-9]{16}" + _E),
    _shape("azure-storage-key", "AccountKey=", r"AccountKey=(?P<secret>[A-Za-z0-9+/]{40,}={0,2})"),
    _shape("azure-shared-key", "SharedAccessKey=", r"SharedAccessKey=(?P<secret>[A-Za-z0-9+/]{30,}={0,2})"),
    _shape("azure-signature", "sig=", r"[?&;]sig=(?P<secret>[A-Za-z0-9%+/]{30,}={0,2})"),
    _shape("jwt", "eyJ", r"eyJ(?:(?<![\w.-]eyJ)|(?<=\\[nrt]eyJ))[\w-]{8,}\.eyJ[\w-]{4,}\.[\w-]{8,}"),
    _starts("sendgrid-key", "SG.", r"[\w-]{16,40}\.[\w-]{30,}"),
    _shape("telegram-token", ":", r":(?<=\d{8}:)(?P<secret>[\w-]{35})(?![\w-])"),
    _shape("discord-token", ".", r"[MNO](?<![\w.-][MNO])[\w-]{23,25}\.[\w-]{6}\.[\w-]{27,45}(?![\w.-])"),
    _shape("discord-webhook", "/api/webhooks/", r"discord(?:app)?\.com/api/webhooks/(?P<secret>\d{15,20}/[\w-]{40,})"),
    _starts("twilio-key", "SK", r"[0-9a-f]{32}" + _E),
    _starts("pypi-token", "pypi-", r"[\w-]{40,}"),
    _starts("digitalocean-token", "do", r"[opr]_v1_[a-f0-9]{64}" + _E),
    _starts("databricks-token", "dapi", r"[a-f0-9]{32}(?:-\d)?" + _E),
    _starts("age-secret-key", "AGE-SECRET-KEY-1", r"[A-Z0-9]{50,}"),
    _starts("mailgun-key", "key-", r"[0-9a-f]{32}" + _E),
    _starts("square-token", "sq0", r"(?:atp|csp|idp)-[\w-]{22,}"),
    _starts("square-token", "EAAA", r"[\w-]{60}(?![\w-])"),
    _starts("shopify-token", "shp", r"(?:at|ca|pa|ss)_[a-fA-F0-9]{32}" + _E),
    _starts("cloudflare-key", "v1.0-", r"[a-f0-9]{24}-[a-f0-9]{100,}"),
    _starts("docker-token", "dckr_pat_", r"[\w-]{20,}"),
    _starts("doppler-token", "dp.", r"(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9]{40,}"),
    _starts("figma-token", "figd_", r"[\w-]{20,}"),
    _starts("grafana-token", "glsa_", r"\w{32,}"),
    _starts("groq-key", "gsk_", r"[A-Za-z0-9]{40,}"),
    _starts("langsmith-key", "lsv2_", r"(?:pt|sk)_\w{32,}"),
    _starts("linear-key", "lin_api_", r"[A-Za-z0-9]{32,}"),
    _starts("new-relic-key", "NRAK-", r"[A-Z0-9]{27}" + _E),
    _starts("notion-token", "ntn_", r"[A-Za-z0-9]{40,}"),
    _starts("perplexity-key", "pplx-", r"[A-Za-z0-9]{40,}"),
    _starts("planetscale-token", "pscale_", r"(?:tkn|pw|oauth)_[\w.-]{32,}"),
    _starts("postman-key", "PMAK-", r"[a-f0-9]{24}-[a-f0-9]{34}"),
    _starts("replicate-token", "r8_", r"[A-Za-z0-9]{37}" + _E),
    _starts("rubygems-key", "rubygems_", r"[a-f0-9]{48}" + _E),
    _starts("sentry-token", "sntry", r"[su]_[\w+/=-]{40,}"),
    _starts("supabase-key", "sbp_", r"[a-f0-9]{40}" + _E),
    _starts("tailscale-key", "tskey-", r"[a-z]+-[\w-]{16,}"),
    _starts("vault-token", "hvs.", r"[\w-]{24,}"),
    _starts("xai-key", "xai-", r"[A-Za-z0-9]{60,}"),
    _starts("atlassian-token", "ATATT3", r"[\w=-]{60,}"),
)
"""Shapes with a long word in them, sought on lines that have one."""

IN_CONTEXT: tuple[Pattern, ...] = (
    _shape("url-password", "://", r"://[^\s/:@\"'<>\[]{0,80}:(?P<secret>[^\s/@\"'<>]{1,120})@(?=[\w\[{$%-])"),
    _shape("url-password", "curl", r" -(?:u|-user)[ =][\"']?[^\s:\"'/]{1,80}:(?P<secret>[^\s\"'/]{4,})"),
    _shape("bearer-token", "bearer", r"\bbearer\s{1,3}(?P<secret>[A-Za-z0-9._~+/-]{16,}=*)", re.I),
    _shape("basic-credentials", "basic", r"\bbasic\s{1,3}(?P<secret>[A-Za-z0-9+/]{8,}={0,2})", re.I),
    _shape(
        "aws-secret-key",
        "aws",
        r"aws.{0,20}?(?:secret|private).{0,20}?key.{0,12}?[=:\s\"'>]\s*(?P<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
        re.I,
    ),
    _shape(
        "cloudflare-key",
        "cloudflare",
        r"cloudflare[\w-]{0,20}(?:token|key)[\"']?\s{0,3}[=:]\s{0,3}[\"']?(?P<secret>[\w-]{37,40})(?![\w-])",
        re.I,
    ),
)
"""Shapes that only the words around them give away, sought on lines with one of `_WORDS`."""

_QUOTE = r"\\{0,3}[\"'`]"
_CORE = re.compile(r"pass|pwd|secret|token|key|cred")
ASSIGNMENT = re.compile(
    r"(?P<core>pass(?:word|wd|phrase)?|pwd|secret(?:[_-]?(?:access[_-]?)?key)?|token|key|credentials?)(?:[_-]?base)?"
    rf"(?:{_QUOTE})?\]?(?P<sep>\s{{0,4}}(?::\s?str\s{{0,2}}=|=>|:=|[:=](?!=))\s{{0,4}}|\s{{1,2}})"
    rf"(?:{_QUOTE}(?P<quoted>[^\"'`\\\n]{{6,400}}){_QUOTE}"
    r"|(?P<bare>[^\s\"'`,;(){}<>&|\\$\[\]]{6,400})(?P<next>[(\[{<]?))",
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
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z]*(?:[._/:?!|-]+[A-Za-z]*)*\d{0,2}$")
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
    counts: Counter[str] = Counter()
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


def _suspicious_lines(text: str) -> Iterator[tuple[int, int, bool, bool]]:
    """Each line that may hold a secret, in order: start, end, has a long word, has one of `_WORDS`."""
    raw = text.encode("ascii", "replace")  # one byte a character, so places are the same in both
    long = _lines_with(raw, raw.translate(_TABLE), (_RUN,))
    context = _lines_with(raw, raw.lower(), _WORDS)
    for start, end in sorted((long | context).items()):
        yield start, end, start in long, start in context


def _lines_with(raw: bytes, haystack: bytes, needles: tuple[bytes, ...]) -> dict[int, int]:
    lines: dict[int, int] = {}
    for needle in needles:
        place = haystack.find(needle)
        while place >= 0:
            start = raw.rfind(b"\n", 0, place) + 1
            end = raw.find(b"\n", place)
            lines[start] = end = len(raw) if end < 0 else end
            place = haystack.find(needle, end)
    return lines


def _once(line: str, long_word: bool, context: bool, counts: Counter[str]) -> str:
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


def _placing(kind: str, regex: re.Pattern[str], counts: Counter[str]) -> Callable[[re.Match[str]], str]:
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


def _without_assigned(line: str, counts: Counter[str]) -> str:
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
    if any(map(str.isspace, value)) or _PLACEHOLDER.search(value) or _PATH.match(value) or len(set(value)) < 4:
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


def _without_key_blocks(text: str, counts: Counter[str]) -> str:
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
                if len(secret) >= 12 and MARK.strip() not in secret:
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
