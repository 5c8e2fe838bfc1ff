"""The shapes of known secrets, vendor by vendor: the table behind `core.base.redact`."""

from __future__ import annotations

import re
from typing import NamedTuple


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
