"""The shapes of known secrets, vendor by vendor: the table behind `core.base.secrets.nets`.

Facts about shapes are those of the public documentation of each vendor, of gitleaks' rules and of detect-secrets.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from core.base.secrets.values import has_digit, is_chosen, is_phrase, is_placeholder


@dataclass(frozen=True)
class Pattern:
    """One shape of secret. The group `secret` is replaced, or the whole match where there is none.

    `prefilter` is a literal that any match begins with, or contains where the shape is `inner`; it is sought in the
    lowered text where the shape is `caseless`. What `check` refuses is none.
    """

    kind: str
    prefilter: str
    expression: str
    caseless: bool = False
    check: Callable[[str], bool] | None = None

    @cached_property
    def regex(self) -> re.Pattern[str]:
        """Compiled when the prefilter was met: all three hundred take longer than most commands."""
        return re.compile(self.expression, re.I if self.caseless else 0)


_E = r"(?![A-Za-z0-9])"


def _token(kind: str, prefix: str, rest: str) -> Pattern:
    """A token that its `prefix` and its length give away, whatever stands before it."""
    return Pattern(kind, prefix, re.escape(prefix) + rest)


def _word(kind: str, prefix: str, rest: str) -> Pattern:
    """A token whose `prefix` may also end a word (task-, mask_): no letter or digit may stand before it.

    That is asked after the prefix and not before it, because the search is many times faster when an expression begins
    with plain letters.
    """
    plain = re.escape(prefix)
    return Pattern(kind, prefix, rf"{plain}(?<![A-Za-z0-9]{plain}){rest}")


PATTERNS: tuple[Pattern, ...] = (
    _token("anthropic-key", "sk-ant-", r"[\w-]{16,}"),
    _token("openai-key", "sk-proj-", r"[\w-]{20,}"),
    _token("openai-key", "sk-svcacct-", r"[\w-]{20,}"),
    _token("openai-key", "sk-admin-", r"[\w-]{20,}"),
    _token("openrouter-key", "sk-or-v1-", r"[a-f0-9]{40,}"),
    # Words joined by hyphens (sk-folding-cube) are no keys: a digit is needed, or one unbroken word.
    _word("openai-key", "sk-", r"(?:(?=[A-Za-z_-]{0,200}\d)[\w-]{20,}|[A-Za-z]{20,}(?![\w-]))"),
    _token("google-api-key", "AIza", r"[\w-]{35}(?![\w-])"),
    _token("google-api-key", "AQ.Ab8", r"[\w-]{40,}"),
    _word("google-oauth-token", "ya29.", r"[\w.-]{20,}"),
    _word("google-refresh-token", "1//0", r"[\w-]{30,}"),
    _token("google-client-secret", "GOCSPX-", r"[\w-]{20,}"),
    _token("hugging-face-token", "hf_", r"[A-Za-z0-9]{30,}"),
    _token("hugging-face-token", "api_org_", r"[A-Za-z]{34}"),
    _token("npm-token", "npm_", r"[A-Za-z0-9]{36}" + _E),
    _token("github-token", "ghs_", r"[A-Za-z0-9_]{30,}(?:\.[\w-]{10,}){0,2}"),
    _token("github-token", "ghp_", r"[A-Za-z0-9]{30,}"),
    _token("github-token", "gho_", r"[A-Za-z0-9]{30,}"),
    _token("github-token", "ghu_", r"[A-Za-z0-9]{30,}"),
    _token("github-token", "ghr_", r"[A-Za-z0-9]{30,}"),
    _token("github-token", "github_pat_", r"\w{22,}"),
    _token("gitlab-token", "gl",
           r"(?:pat|dt|rt|rtr|ptt|soat|oas|cbt|ft|ffct|imt|agent|wt)-(?=[\w.-]{0,60}\d)[\w-]{20,}(?:\.[\w.]{5,20})?"),
    _token("gitlab-token", "GR1348941", r"[\w-]{20,}"),
    _token("slack-token", "xoxe.xox", r"[bp]-\d-[A-Za-z0-9]{30,}"),
    _token("slack-token", "xox",
           r"[abceoprsd]-(?=[A-Za-z0-9-]{0,60}\d)[A-Za-z0-9-]{10,}(?:%[0-9A-Fa-f]{2}[\w%-]{10,})?"),
    _token("slack-token", "xapp-", r"\d-[A-Z0-9]{5,}-\d+-[a-z0-9]{20,}"),
    _token("slack-webhook", "hooks.slack.com/", r"(?:services|workflows|triggers)/(?P<secret>[\w/+]{20,})"),
    _token("teams-webhook", ".webhook.office.com/", r"webhookb2/(?P<secret>[\w@/-]{60,})"),
    _word("stripe-key", "sk_", r"(?:live|test|prod)_[A-Za-z0-9]{10,}"),
    _word("stripe-key", "rk_", r"(?:live|test|prod)_[A-Za-z0-9]{10,}"),
    _token("stripe-webhook-secret", "whsec_", r"[A-Za-z0-9+/=]{24,}"),
    _word("aws-access-key", "AKIA", r"[A-Z0-9]{16}" + _E),
    _word("aws-access-key", "ASIA", r"[A-Z0-9]{16}" + _E),
    _word("aws-access-key", "ABIA", r"[A-Z0-9]{16}" + _E),
    _word("aws-access-key", "ACCA", r"[A-Z0-9]{16}" + _E),
    _word("aws-bedrock-key", "ABSK", r"[A-Za-z0-9+/]{60,}={0,2}"),
    _token("azure-storage-key", "AccountKey=", r"(?P<secret>[A-Za-z0-9+/]{40,}={0,2})"),
    _token("azure-shared-key", "SharedAccessKey=", r"(?P<secret>[A-Za-z0-9+/]{30,}={0,2})"),
    _token("azure-signature", "sig=", r"(?<=[?&;]sig=)(?P<secret>[\w%+/-]{30,}={0,2})"),
    Pattern("azure-client-secret", "Q~", r"[\w~.]{3}\dQ~[\w~.-]{31,34}"),
    Pattern("jwt", "eyJ", r"eyJ(?<![\w.-]eyJ)[\w-]{8,}\.eyJ[\w-]{4,}(?:\.[\w-]{8,})?"),
    _word("jwt", "eyJ", r"[\w-]{8,600}\.eyJ[\w-]{4,}\.[\w-]{8,}"),
    Pattern("jwt", "eyJ", r"eyJ(?<![\w.-]eyJ)[\w-]{14,}\.(?:[\w-]{10,}|)\.[\w-]{10,}\.[\w-]{10,}\.[\w-]{10,}"),  # encrypted: five parts
    _word("sendgrid-key", "SG.", r"[\w-]{16,40}\.[\w-]{30,}"),
    Pattern("telegram-token", ":", r":(?<=\d{8}:)(?P<secret>[\w-]{35})(?![\w-])"),
    Pattern("discord-token", ".", r"[MNO](?<![\w.-][MNO])[\w-]{23,25}\.[\w-]{6}\.[\w-]{27,45}(?![\w.-])"),
    _token("discord-webhook", "/api/webhooks/", r"(?P<secret>\d{15,20}/[\w-]{40,})"),
    _word("twilio-key", "SK", r"[0-9a-f]{32}" + _E),
    _token("pypi-token", "pypi-", r"[\w-]{40,}"),
    _token("digitalocean-token", "do", r"[opr]_v1_[a-f0-9]{64}" + _E),
    _token("databricks-token", "dapi", r"[a-f0-9]{32}(?:-\d)?" + _E),
    _token("age-secret-key", "AGE-SECRET-KEY-1", r"[A-Z0-9]{50,}"),
    _word("mailgun-key", "key-", r"[0-9a-f]{32}" + _E),
    _token("square-token", "sq0", r"(?:atp|csp|idp)-[\w-]{22,}"),
    _word("square-token", "EAAA", r"[\w-]{60}(?![\w-])"),
    _word("facebook-token", "EAAC", r"[A-Za-z0-9]{80,}"),
    _word("facebook-token", "EAAM", r"[A-Za-z0-9]{80,}"),
    _token("shopify-token", "shp", r"(?:at|ca|pa|ss)_[a-fA-F0-9]{32}" + _E),
    _word("cloudflare-key", "v1.0-", r"[a-f0-9]{24}-[a-f0-9]{100,}"),
    _token("docker-token", "dckr_", r"(?:pat|oat)_[\w-]{20,}"),
    _word("doppler-token", "dp.", r"(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9_.-]{40,}"),
    _token("figma-token", "figd_", r"[\w-]{20,}"),
    _token("grafana-token", "glsa_", r"\w{32,}"),
    _token("grafana-token", "glc_", r"[A-Za-z0-9+/]{32,}={0,3}"),
    _token("groq-key", "gsk_", r"[A-Za-z0-9]{40,}"),
    _token("langsmith-key", "lsv2_", r"(?:pt|sk)_\w{32,}"),
    _token("langfuse-key", "sk-lf-", r"[a-f0-9-]{36}"),
    _token("linear-key", "lin_api_", r"[A-Za-z0-9]{32,}"),
    _token("linear-key", "lin_oauth_", r"[A-Za-z0-9]{32,}"),
    _token("new-relic-key", "NRAK-", r"[A-Za-z0-9]{27}" + _E),
    _token("new-relic-key", "NRJS-", r"[a-f0-9]{19}" + _E),
    _token("new-relic-key", "NRII-", r"[\w-]{32}" + _E),
    _token("notion-token", "ntn_", r"[A-Za-z0-9]{40,}"),
    _word("notion-token", "secret_", r"[A-Za-z0-9]{43}" + _E),
    _token("perplexity-key", "pplx-", r"[A-Za-z0-9]{40,}"),
    _token("planetscale-token", "pscale_", r"(?:tkn|pw|oauth)_[\w.=-]{32,}"),
    _token("postman-key", "PMAK-", r"[a-fA-F0-9]{24}-[a-fA-F0-9]{34}"),
    _token("replicate-token", "r8_", r"[A-Za-z0-9]{37}" + _E),
    _token("rubygems-key", "rubygems_", r"[a-f0-9]{48}" + _E),
    _token("sentry-token", "sntry", r"[su]_[\w+/=-]{40,}"),
    Pattern("sentry-dsn", "@o", r"(?<=://)(?P<secret>[0-9a-f]{32})(?::[0-9a-f]{32})?@o?\d*"),
    _token("supabase-key", "sbp_", r"[a-f0-9]{40}" + _E),
    _token("supabase-key", "sb_secret_", r"[\w-]{22,}"),
    _token("tailscale-key", "tskey-", r"[a-z]+-[\w-]{16,}"),
    _token("vault-token", "hvs.", r"[\w-]{24,}"),
    _token("vault-token", "hvb.", r"[\w-]{60,}"),
    _token("vault-token", "hvr.", r"[\w-]{24,}"),
    Pattern("terraform-token", ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,70}"),
    _token("xai-key", "xai-", r"[A-Za-z0-9]{60,}"),
    _token("atlassian-token", "ATATT3", r"[\w=-]{60,}"),
    _token("atlassian-token", "ATCTT3", r"[\w=-]{60,}"),
    _token("bitbucket-token", "ATBB", r"[A-Za-z0-9]{32}" + _E),
    _word("1password-key", "A3-", r"[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}"),
    _token("1password-token", "ops_eyJ", r"[A-Za-z0-9+/]{100,}={0,3}"),
    _word("adobe-secret", "p8e-", r"[A-Za-z0-9]{32}" + _E),
    _word("alibaba-key", "LTAI", r"[A-Za-z0-9]{12,20}" + _E),
    _word("artifactory-token", "AKCp", r"[A-Za-z0-9]{50,}"),
    _word("artifactory-token", "cmVmd", r"[A-Za-z0-9]{59}" + _E),
    _word("clickhouse-key", "4b1d", r"[A-Za-z0-9]{38}" + _E),
    _token("clojars-token", "CLOJARS_", r"[a-z0-9]{60}"),
    _token("duffel-token", "duffel_", r"(?:test|live)_[\w=-]{43}"),
    _token("dynatrace-token", "dt0", r"[a-z]\d\d\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{64}"),
    _word("easypost-key", "EZ", r"[AT]K[A-Za-z0-9]{54}" + _E),
    _token("flutterwave-key", "FLWSECK", r"(?:_TEST)?-[A-Za-z0-9]{12,40}(?:-X)?"),
    _token("fly-token", "fm", r"[12][ar]?_[A-Za-z0-9+/]{100,}={0,3}"),
    _token("fly-token", "fo1_", r"[\w-]{43}"),
    _token("frameio-token", "fio-u-", r"[\w=-]{64}"),
    _token("heroku-key", "HRKU-", r"[\w-]{36,64}"),
    _word("infracost-key", "ico-", r"[A-Za-z0-9]{32}" + _E),
    _token("intra42-secret", "s-s4t2", r"(?:ud|af)-[a-f0-9]{64}"),
    Pattern("maxmind-key", "_mmk", r"(?<!\w)[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk"),
    _word("mapbox-token", "sk.eyJ", r"[\w-]{40,}\.[\w-]{20,}"),
    _word("octopus-key", "API-", r"[A-Z0-9]{26}" + _E),
    _token("openshift-token", "sha256~", r"[\w-]{43}(?![\w-])"),
    _token("plaid-token", "access-", r"(?:sandbox|development|production)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    _word("prefect-key", "pn", r"[ub]_[A-Za-z0-9]{36}" + _E),
    _word("pulumi-token", "pul-", r"[a-f0-9]{40}" + _E),
    _token("readme-key", "rdme_", r"[a-z0-9]{70}"),
    _token("scalingo-token", "tk-us-", r"[\w-]{48}"),
    _token("brevo-key", "xkeysib-", r"[a-f0-9]{64}-[A-Za-z0-9]{16}"),
    _token("brevo-key", "xsmtpsib-", r"[a-f0-9]{64}-[A-Za-z0-9]{16}"),
    _token("settlemint-token", "sm_", r"[aps]at_[A-Za-z0-9]{16}"),
    _token("shippo-token", "shippo_", r"(?:live|test)_[a-fA-F0-9]{40}"),
    _token("sourcegraph-token", "sgp_", r"(?:(?:[a-fA-F0-9]{16}|local)_)?[a-fA-F0-9]{40}"),
    _token("typeform-token", "tfp_", r"[\w.=-]{44,}"),
    _token("yandex-key", "AQVN", r"[\w-]{35,38}(?![\w-])"),
    _token("yandex-token", "t1.", r"[\w-]{10,}={0,2}\.[\w-]{86}={0,2}"),
    _word("airtable-token", "pat", r"[A-Za-z0-9]{14}\.[a-f0-9]{64}"),
    _token("hubspot-token", "pat-", r"(?:na|eu)\d-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    _token("cohere-key", "co_", r"[A-Za-z0-9]{40}" + _E),
    _token("tavily-key", "tvly-", r"[\w-]{24,}"),
    _token("firecrawl-key", "fc-", r"[a-f0-9]{32}" + _E),
    _token("nvidia-key", "nvapi-", r"[\w-]{50,}"),
    _token("fireworks-key", "fw_", r"[A-Za-z0-9]{24}" + _E),
    _token("elevenlabs-key", "sk_", r"[a-f0-9]{48}" + _E),
    _token("pinecone-key", "pcsk_", r"[\w-]{40,}"),
    _token("resend-key", "re_", r"[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}"),
    _token("render-key", "rnd_", r"[A-Za-z0-9]{28,}"),
    _token("vercel-token", "vc", r"[pkar]_[A-Za-z0-9]{24,}" + _E),
    _token("deno-token", "dd", r"[pw]_[A-Za-z0-9]{36}" + _E),
    _token("neon-key", "napi_", r"[a-z0-9]{50,}"),
    _token("circleci-token", "CCIPAT_", r"[A-Za-z0-9]{20,}_[a-f0-9]{40}"),
    _token("buildkite-token", "bkua_", r"[a-f0-9]{40}"),
    _token("cratesio-token", "cio", r"[A-Za-z0-9]{32}" + _E),
    _token("nuget-key", "oy2", r"[a-z0-9]{43}" + _E),
    _token("hashicorp-batch", "s.", r"(?<![\w.]s\.)(?=[A-Za-z]{0,23}\d)[A-Za-z0-9]{24}" + _E),
    _token("contentful-token", "CFPAT-", r"[\w-]{43}"),
    _token("asana-token", "2/", r"\d{15,17}/\d{15,17}:[a-f0-9]{32}"),
    _token("mongodb-key", "mdb_", r"s[ak]_(?:id|sk)_[\w-]{24,}"),
    _token("private-key", "nsec1", r"[a-z0-9]{58}" + _E),
    Pattern("private-key", "prv", r"(?<![A-Za-z0-9])[xyzt]prv[1-9A-HJ-NP-Za-km-z]{100,112}"),
    _token("private-key", "b3BlbnNzaC1rZXktdjE", r"[A-Za-z0-9+/=]{20,}(?:\s{1,8}[A-Za-z0-9+/=]{16,}){0,400}"),
    *(
        _token("private-key", head, r"[A-Za-z0-9+/]{20,}(?:\s{1,8}[A-Za-z0-9+/]{16,}){0,400}={0,2}")
        for head in ("MIIEvQIBADANBgkqhkiG", "MIIEpAIBAAKCAQEA", "MIIEowIBAAKCAQEA", "MHcCAQEEI", "MC4CAQAwBQYDK2V", "MIGHAgEAMBMGByqGSM49")
    ),
    _word("password-hash", "$2", r"[aby]\$\d\d\$[./A-Za-z0-9]{53}"),
    _token("password-hash", "$argon2", r"[id]{1,2}\$[\w=,$+/.-]{40,}"),
    _token("password-hash", "$6$", r"(?:rounds=\d+\$)?[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{86}"),
    _token("password-hash", "$y$", r"[./A-Za-z0-9]{1,8}\$[./A-Za-z0-9]{1,86}\$[./A-Za-z0-9]{43}"),
    Pattern("url-password", "@tcp(", r"(?<![\w/:])[\w.-]{1,40}:(?P<secret>[^\s\"'`/:]{3,60})@tcp\("),
    _token("vault-block", "$ANSIBLE_VAULT;", r"[\w.;]{1,40}\r?\n(?P<secret>(?:[ \t]{0,24}[0-9a-f]{20,80}\r?\n?){1,200})"),
    _token("session-cookie", "_gitlab_session=", r"(?P<secret>[0-9a-f]{32})"),
)  # fmt: skip
"""Shapes that need nothing around them, sought by what they begin with."""


# --- what only the words around it give away -------------------------------------------------------------------------

_SHELL = r"(?:\"(?P<d>[^\"\n]{3,120})\"|'(?P<s>[^'\n]{3,120})'|(?P<secret>[^\s\"'|&;<>`]{3,120}))"


def _no_variable(secret: str) -> bool:
    """Whether what a shell is given is the thing itself and not a variable or a placeholder."""
    return not secret.startswith(("$", "<", "{", "%", "-", "/", "@", "[")) and not is_placeholder(secret)


def _is_bearer(secret: str) -> bool:
    return has_digit(secret) and _no_variable(secret)


def _is_strong(secret: str) -> bool:
    """Whether letters, digits and signs stand together, as a program wants them of a password."""
    signs = re.sub(r"[\w./:\[\]{}<>-]", "", secret)
    return bool(signs) and has_digit(secret) and any(map(str.isalpha, secret)) and _no_variable(secret)


def _is_argument(secret: str) -> bool:
    """Whether a string in a call that logs somebody in is a password, and not the name of a field or an address."""
    return (
        _no_variable(secret)
        and (" " not in secret or is_phrase(secret))
        and not re.search(
            r"(?i)pass|user|token|://|^[\w.-]+\.[A-Za-z]{2,4}$|^[a-z]+(?:_[a-z]+)+$|^(?:get|post|put|basic|bearer|login)$",
            secret,
        )
    )


def _is_odd(secret: str) -> bool:
    """Whether no name of a variable is it."""
    return not secret.isidentifier() and bool(re.search(r"[;!#$%^&*?@}]", secret)) and _no_variable(secret)


def _has_literal(secret: str) -> bool:
    """Whether what a shell prints has more in it than variables and formats."""
    return bool(re.search(r"\w{4}", re.sub(r"%[sbq]|\\[nrt]|\$\{?\w+\}?|<[^>]*>", "", secret)))


def _is_login(secret: str) -> bool:
    """Whether what stands behind a name and a sign is a password that logs in: `ann / …`."""
    return _is_strong(secret) or is_chosen(secret.rstrip(".,;"))


def _is_random(secret: str) -> bool:
    return has_digit(secret) and any(map(str.isalpha, secret)) and _no_variable(secret)


def _is_basic(secret: str) -> bool:
    try:
        return b":" in base64.b64decode(secret + "=" * (-len(secret) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False


def _is_url_password(secret: str) -> bool:
    return not is_placeholder(secret) and not re.search(
        r"^\W+$|^(?:password|passwd|pass|pw|pwd|secret|token)$|^\d{2,5}/|^\d{1,5}$", secret, re.I
    )


def _is_cookie(secret: str) -> bool:
    return len(secret) >= 8 and has_digit(secret) and _no_variable(secret) and not _UUID.match(secret)


_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$", re.I)


def _is_card(number: str) -> bool:
    """Luhn's sum, ISO/IEC 7812-1, and the first digits that issuers of cards have."""
    digits = [int(one) for one in number if one.isdigit()]
    if len(set(digits)) < 2:
        return False
    total = sum(
        digit if place % 2 == 0 else digit * 2 - 9 * (digit > 4) for place, digit in enumerate(reversed(digits))
    )
    return total % 10 == 0


def _command(name: str, rest: str, *, plain: bool = False) -> Pattern:
    """A program `name` that is given a password, after `rest` of its command line."""
    value = r"(?P<secret>[^\s\"'|;]{3,80})" if plain else _SHELL
    return Pattern("password", name, re.escape(name) + rest + value, check=_no_variable)


def _said(prefix: str, rest: str) -> Pattern:
    """A password behind words that say so, in small or large letters."""
    return Pattern("password", prefix, re.escape(prefix) + rest, True, _no_variable)


_COOKIES = (
    "phpsessid", "jsessionid", "sessionid", "session_token", "connect.sid", "asp.net_sessionid", "csrftoken",
    "laravel_session", "_session_id", "remember_token", ".aspxauth", "xsrf-token", "auth_session", "wordpress_logged_in",
)  # fmt: skip
_KUBECONFIG = {
    "client-key-data": "private-key",
    "client-certificate-data": "certificate",
    "certificate-authority-data": "certificate",
}
"""What kubectl writes into its settings, as base64; the certificates tell whose cluster it is and are of no other use."""
ANYWHERE: tuple[Pattern, ...] = (
    Pattern("url-password", "://",
           r"://[^\s/:@\"'<>\[]{0,80}:(?P<secret>[^\s/@\"'<>]{1,120}(?:[/<>][^\s/@\"'<>]{1,60})?)@(?=[\w\[{$%-])",
           check=_is_url_password),
    Pattern("url-password", "curl ",
           r"curl (?:[^\n]{0,400}?[ ])?-(?:[a-zA-Z]{0,6}u|-user|-proxy-user"
           r"|U)[ =]?(?:\"[^\s:\"'/]{1,80}:(?P<d>[^\"\n]{3,120})\"|'[^\s:\"'/]{1,80}:(?P<s>[^'\n]{3,120})'"
           r"|[^\s:\"'/]{1,80}:(?P<secret>[^\s\"']{3,}))",
           check=_no_variable),
    Pattern("bearer-token", "bearer", r"bearer[\s:+=\"']{1,3}(?P<secret>[A-Za-z0-9._~+/-]{16,}=*)", True, _is_bearer),
    Pattern("basic-credentials", "basic", r"basic[ \t+]{1,3}(?P<secret>[A-Za-z0-9+/_-]{8,}={0,2})", True, _is_basic),
    Pattern("authorization", "authorization",
           r"authorization\\?[\"']?\s?[:=,]\s{0,3}\\?[\"']?(?:(?:token|apikey|api-key|key|digest|negotiate|ntlm|ssws"
           r"|splunk"
           r"|genie|bot|oauth|jwt|user|private-token)[\s:=]{1,2})?(?P<secret>[A-Za-z0-9._~+/=:-]{12,})"
           r"(?![A-Za-z0-9._~+/=:(-])",
           True, _is_bearer),
    Pattern("basic-credentials", '"auth"', r"\"auth\"\s{0,3}:\s{0,3}\"(?P<secret>[A-Za-z0-9+/]{8,}={0,2})\"",
           check=_is_basic),
    *(
        Pattern("password", name, re.escape(name) + r"[\"']?[ ]?[=:]?[ ]?[\[(][ ]?(?:[^,()\n]{1,120},[ ]?)?[\"'][\w.@\\-]{1,60}[\"'],\s{0,4}[\"']"
        r"(?P<secret>[^\"'\n]{4,80})[\"']\s?[,)\]]",
               True, _is_argument)
        for name in ("auth", "login", "authenticate", "credential", "credentials", "pdo", "mysqli", "sql_connect", "getconnection")
    ),
    Pattern("password", "wifi:", r"WIFI:[^\n]{0,120}?;P:(?P<secret>(?:\\.|[^;\\\n]){4,80});", True),
    Pattern("password", "securestring", r"SecureString[ \t]{1,4}(?:-String[ \t]{1,4})?[\"'](?P<secret>[^\"'\n]{3,120})[\"']", True, _no_variable),
    *(
        Pattern("password", name,
               re.escape(name) + r"[a-z]{0,7}\b[^\n:/]{0,30}?[: ][ \t]?[\w.@-]{2,40}[ \t]?[/:][ \t]?(?P<secret>[^\s\\\"'`,()]{4,60})",
               True, _is_login)
        for name in ("cred", "log in", "login", "logged in", "sign in", "zugangsdaten", "identifiants", "credenciales", "логин")
    ),
    *(
        Pattern("password", name, name + r"=\{(?P<secret>(?:[^{}\n]|\}\}){3,80})\}(?=[;\"'\s]|$)", True, _is_odd)
        for name in ("pwd", "password")
    ),
    *(
        Pattern("password", name, name + r"\w{0,20}\n[^\n]{0,200}?\binput_value=(?:'(?P<s>[^'\n]{3,120})'|\"(?P<d>[^\"\n]{3,120})\")", True, _no_variable)
        for name in ("password", "passwd", "secret", "token", "api_key")
    ),
    *(
        Pattern("session-cookie", name, name + r"/[^\t\n]{0,200}\t(?:TRUE|FALSE)\t\d{1,12}\t[^\t\n]{1,80}\t(?P<secret>\S{8,4000})", True, _is_cookie)
        for name in ("\ttrue\t", "\tfalse\t")
    ),
    *(
        Pattern("url-password", name, re.escape(name) + r"[^&\s]{1,60}&(?:p|pw)=(?P<secret>[^&\s\"'#]{3,120})", True, _no_variable)
        for name in ("?u=", "?user=", "?usr=", "?login=")
    ),
    *(
        Pattern("password", name, name + r"[a-z]{0,8}[^\n:/]{0,24}?[: ][ \t]?(?:admin|root|administrator|sa|postgres|guest|pi"
        r"|ubuntu)[ \t]?[/:][ \t]?(?P<secret>[^\s/,.;:\"'`()]{4,40})(?![\w/:])", True, _no_variable)
        for name in ("cred", "login", "log in", "logged in")
    ),
    Pattern("password", "invalid user ", r"invalid user (?P<secret>\S{5,60})(?= from)", True, _is_login),
    *(
        Pattern("private-key", name, name + r"\s?(?P<secret>(?:\s{1,24}(?:[0-9a-f]{2}:){2,20}(?:[0-9a-f]{2})?){1,40})", True)
        for name in ("priv:", "privateexponent:", "prime1:", "prime2:")
    ),
    Pattern("signature", "/private-", r"/private-(?P<secret>[0-9a-f]{16,64})\b", True),
    _token("okta-token", "SSWS ", r"(?P<secret>00[\w-]{40})"),
    Pattern("aws-secret-key", "aws",
           r"aws.{0,20}?(?:secret|private).{0,20}?key.{0,12}?[=:\s\"'>]\s*"
           r"(?P<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])", True),
    Pattern("cloudflare-key", "cloudflare",
           r"cloudflare[\w-]{0,20}(?:token|key)[\"']?\s{0,3}[=:]\s{0,3}[\"']?(?P<secret>[\w-]{37,40})(?![\w-])", True),
    *(
        Pattern(
            kind,
            name,
            name
            + r"\\?[\"']?(?:[ \t]{0,4}[:=][ \t]{0,4}"
            r"|[ \t]{1,4})(?:[>|][+-]?[ \t]{0,4}\r?\n[ \t]{1,24})?\\?[\"']?(?P<secret>[A-Za-z0-9+/]{16,}"
            r"(?:\r?\n[ \t]{1,24}[A-Za-z0-9+/]{4,}(?=={0,2}[ \t]{0,4}(?:[\"'\\]|\r?\n|$))){0,400}={0,2})",
        )
        for name, kind in _KUBECONFIG.items()
    ),
    *(
        Pattern("signature", f"{name}=", re.escape(name) + r"(?<=[?&;]" + re.escape(name) + r")=(?P<secret>[\w%+/=~.-]{16,2000})", True, _is_random)
        for name in ("signature", "hmac", "hash", "md5", "policy", "hdnts", "hdnea", "token", "access_token", "auth", "key", "code", "ticket", "jwt", "st", "sas")
    ),
    *(
        Pattern("webhook", path, re.escape(path) + r"(?P<secret>[\w/-]{16,200})", True, _is_random)
        for path in ("/hooks/", "/hook/", "webhook.site/", "/webhook/", "/webhooks/", "with/key/", "/bot/v2/hook/", "hc-ping.com/", "/ping/")
    ),
    Pattern("private-key", "<d>", r"<D>(?P<secret>[A-Za-z0-9+/=\s]{40,})</D>", True),
    Pattern("private-key", "secret key\n", r"secret key\n(?P<secret>[A-Za-z0-9+/=]{40,})", True),
    Pattern("private-key", '"d"', r"\"d\"\s{0,3}:\s{0,3}\"(?P<secret>[\w-]{40,})\""),
    Pattern("signature", "x-amz-", r"x-amz-(?:signature|security-token)=(?P<secret>[\w%+/=-]{32,})", True),
)  # fmt: skip
COOKIES: tuple[Pattern, ...] = (
    Pattern("session-cookie", "cookie:",
           r"cookie:[^\S\n]{0,2}(?:[^=;,\s\"']{1,60}=[^;\s\"']{0,400};[^\S\n]?){0,12}?[^=;,\s\"']{1,60}="
           r"(?P<secret>[^;\s\"',\\]{8,400})", True, _is_cookie),
    *(
        Pattern(
            "session-cookie",
            name,
            rf"{re.escape(name)}(?<![A-Za-z]{re.escape(name)})[\"']?[ \t]?=[ \t]?[\"']?(?P<secret>[^;\s\"',&`]{{12,400}})",
            True,
            _is_cookie,
        )
        for name in _COOKIES
    ),
    Pattern("session-cookie", "session=", r"session=(?P<secret>[^;\s\"',&]{20,400})", True, _is_cookie),
)  # fmt: skip
COMMANDS: tuple[Pattern, ...] = (
    _command("sshpass", r"[ \t]+(?:-[eP]\s?\S+[ \t]+)?-p[ \t]?"),
    _command("mysql", r"(?:dump|admin|import|sh|check)?\b[^\n|;]{0,200}?[ \t]-p"),
    _command("mariadb", r"(?:-\w+)?\b[^\n|;]{0,200}?[ \t]-p"),
    _command(" login", r"\b[^\n|;]{0,200}?[ \t](?:-p|--pass)[ \t=]"),
    _command("mongo", r"(?:sh|dump|restore|export|import)?\b[^\n|;]{0,200}?[ \t]-p[ \t]?"),
    _command("redis-cli", r"\b[^\n|;]{0,120}?[ \t]-a[ \t]"),
    _command("sqlcmd", r"\b[^\n|;]{0,200}?[ \t]-P[ \t]?"),
    _command("ldap", r"(?:search|modify|add|whoami|delete|passwd)\b[^\n|;]{0,200}?[ \t]-w[ \t]"),
    _command("htpasswd", r"[ \t]+-\w{0,4}b\w{0,4}[ \t]+(?:-\w[ \t]+){0,4}\S{1,120}[ \t]+\S{1,60}[ \t]+"),
    _command("smbclient", r"\b[^\n|;]{0,120}?-U[ \t]?[\"']?[^\s%\"']{1,60}%", plain=True),
    _command("7z", r"[ \t]+[axe]\b[^\n|;]{0,120}?[ \t]-p", plain=True),
    _command("http ", r"[^\n|;]{0,120}?-a[ \t][\"']?[^\s:\"']{1,40}:", plain=True),
    _command("net user", r"[ \t]{1,4}[\w.-]{1,40}[ \t]{1,4}", plain=True),
    _command("cmdkey", r"[^\n]{0,200}?/pass:"),
    _command("schtasks", r"[^\n]{0,300}?/rp[ \t]"),
    _command("openssl", r"[ \t]+enc\b[^\n|;]{0,200}?[ \t]-k[ \t]"),
    _command("ssh-keygen", r"\b[^\n|;]{0,200}?[ \t]-[NP][ \t]"),
    _command("lftp", r"\b[^\n|;]{0,120}?-u[ \t][\"']?[^\s,\"']{1,60},", plain=True),
    _command("freerdp", r"\b[^\n|;]{0,200}?/p:"),
    _command("sqlplus", r"[ \t]+(?:-\w[ \t]+){0,3}\w{1,40}/", plain=True),
    _command("wpa_passphrase", r"[ \t]+(?:\"[^\"\n]{1,40}\"|'[^'\n]{1,40}'|\S{1,40})[ \t]+"),
    _command("useradd", r"\b[^\n|;]{0,160}?[ \t]-p[ \t]"),
    _command("usermod", r"\b[^\n|;]{0,160}?[ \t]-p[ \t]"),
    _command("rclone obscure", r"[ \t]+"),
    _command("snmp", r"(?:walk|get|set|bulkwalk|trap)\b[^\n|;]{0,120}?-c[ \t]"),
    _command("secret set", r"\b[^\n|;]{0,160}?(?:--body|-b)[ =]?"),
    _command("chpasswd", r"[ \t]*<<<[ \t]*[\"']?[\w.-]{1,40}:", plain=True),
    _command("sudo", r"[ \t]+-S[^\n|;<]{0,60}<<<[ \t]*"),
    _command("zip", r"\b[^\n|;]{0,120}?[ \t]-P[ \t]"),
    Pattern(
        "password",
        "net use",
        r"net use[ \t]{1,4}(?:[*\w:]{1,4}[ \t]{1,4})?\\\\\S{1,120}[ \t]{1,4}/user:\S{1,60}[ \t]{1,4}"
        r"(?P<secret>[^\s/]\S{3,60})",
        check=_no_variable,
    ),
    Pattern("password", "-pass", r"-pass(?:in|out)?[ \t]+[\"']?pass:(?P<secret>[^\s\"']{3,80})", check=_no_variable),
)
PROMPTS: tuple[Pattern, ...] = (
    Pattern(
        "password",
        "assword",
        r"assword:?[\"')\]]{0,4}[^\n]{0,12}\r?\n[ \t\w.]{0,20}?\bsend(?:line)?[ (]{1,2}b?[\"'](?P<secret>(?:[^\"'\n\\]"
        r"|\\[^rn\n]){4,80})(?:\\[rn]){0,2}[\"']",
        check=_no_variable,
    ),
    Pattern("password", "user ", r"user \S{1,60}\r?\n(?:[^\n]{0,120}\n)?PASS (?P<secret>\S{3,120})", True),
    Pattern(
        "basic-credentials",
        "auth plain",
        r"auth plain[ \t](?:\r?\n[^\n]{0,20})?(?P<secret>[A-Za-z0-9+/]{12,}={0,2})",
        True,
    ),
    Pattern(
        "basic-credentials", "334 ugfzc3dvcmq6", r"334 UGFzc3dvcmQ6\s{1,3}(?P<secret>[A-Za-z0-9+/]{4,}={0,2})", True
    ),
    Pattern(
        "private-key",
        "-----begin openvpn static",
        r"-----BEGIN OpenVPN Static key V1-----\s(?P<secret>[0-9a-f\s]{32,1200})",
        True,
    ),
)
PIPES: tuple[Pattern, ...] = (
    Pattern("basic-credentials", "echo -n ",
           r"echo -n[ \t]+[\"']?[\w.@-]{1,60}:(?P<secret>[^\s\"'|]{3,80}[\"']?[ \t]*\|[ \t]*"
           r"(?:openssl )?base64\b[^\n]{0,40}(?:\n[A-Za-z0-9+/]{8,}={0,2})?)",
           check=_no_variable),
    Pattern("password", "printf ",
           r"printf[ \t]+(?P<secret>[^\n|]{4,160}?)[ \t]*\|[ \t]*(?:sudo[ \t]+(?:-S|passwd|chpasswd)|docker[ \t]+login"
           r"|cryptsetup|passwd|chpasswd|kinit)\b",
           check=_has_literal),
    Pattern("password", "chpasswd",
           r"chpasswd[^\n|]{0,40}<<-?[ \t]*[\"']?(?P<end>\w{1,12})[\"']?\n(?P<secret>[^\0]{4,600}?)\n[ \t]*(?P=end)\b", check=_no_variable),
    Pattern("password", "echo ",
           r"echo[ \t]{1,4}[\"']?[\w.-]{1,40}:(?P<secret>[^\s\"'|]{4,80})[\"']?[ \t]{0,4}\|[ \t]{0,4}"
           r"(?:sudo[ \t]+)?chpasswd",
           check=_no_variable),
    Pattern("password", "echo ",
           r"echo[ \t]{1,4}[\"']?(?P<secret>[^\s\"'|]{4,80})[\"']?[ \t]{0,4}\|[ \t]{0,4}"
           r"(?:sudo[ \t]+(?:-\w+[ \t]+){0,3}-S|docker[ \t]+login|cryptsetup|passwd|kinit)", check=_no_variable),
)  # fmt: skip
STATEMENTS: tuple[Pattern, ...] = (
    _said("identified by", r"\s{1,4}(?:password[ \t]{1,4}|values[ \t]{1,4})?(?:[\"'](?P<secret>[^\"'\n]{3,120})[\"']"
    r"|(?P<s>[^\s\"';,()]{4,120})(?=;))"),
    _said("identified with", r"[ \t]{1,4}\S{1,60}[ \t]{1,4}(?:by|as)[ \t]{1,4}[\"'](?P<secret>[^\"'\n]{3,120})[\"']"),
    _said("password('", r"(?<=')(?P<secret>[^'\n]{4,120})'\)"),
    _said("password \"", r"(?<=\")(?P<secret>[^\"\n]{4,120})\";"),
    _said("psk \"", r"(?<=\")(?P<secret>[^\"\n]{4,120})\""),
    _said("eap \"", r"(?<=\")(?P<secret>[^\"\n]{4,120})\""),
    _said("xauth password ", r"(?P<secret>\S{4,120})"),
    _said("ipsec secret ", r"(?P<secret>\S{4,120})"),
    _said("<auth-user-pass>", r"\s{1,4}\S{1,80}\s{1,4}(?P<secret>\S{3,120})\s{1,4}</"),
    _said("password '", r"(?<=')(?P<secret>(?:[^'\n]|''){4,120})'"),
    _said("machine ",
          r"[ \t]{0,4}\S{1,120}\s{1,4}(?:login|user)[ \t]{1,4}\S{1,120}\s{1,4}password[ \t]{1,4}(?P<secret>\S{3,120})"),
    _said("net use",
          r"[ \t]{1,4}(?:[*\w:]{1,4}[ \t]{1,4})?\\\\\S{1,120}[ \t]{1,4}(?:/user:\S{1,60}[ \t]{1,4})?"
          r"(?P<secret>[^\s/]\S{3,60})(?=[ \t]{1,4}/user:)"),
    Pattern("snmp-community", "community", r"community[ \t]+(?P<secret>\w{4,40})[ \t]+(?:ro|rw)\b", True),
    _said("requirepass", r"[ \t]{1,4}[\"']?(?P<secret>[^\s\"']{4,120})"),
    _said("masterauth", r"[ \t]{1,4}[\"']?(?P<secret>[^\s\"']{4,120})"),
    _said("username ", r"\S{1,60}[ \t]{1,4}(?:privilege[ \t]{1,4}\d{1,2}[ \t]{1,4}(?:password|secret)[ \t]{1,4}(?:\d[ \t]{1,4})?"
    r"|(?:password|secret)[ \t]{1,4}\d[ \t]{1,4})(?P<secret>\S{4,80})"),
    _said("key-string", r"[ \t]{1,4}(?:\d[ \t]{1,4})?(?P<secret>\S{4,80})"),
    _said("isakmp key", r"[ \t]{1,4}(?:\d[ \t]{1,4})?(?P<secret>\S{4,80})[ \t]{1,4}address"),
    _said("rootpw ", r"(?P<secret>\S{6,120})"),
    _said("enable secret", r"[ \t]{1,4}(?:\d[ \t]{1,4})?(?P<secret>\S{4,80})"),
)  # fmt: skip
SEEDS: tuple[Pattern, ...] = (
    Pattern("one-time-seed", "otpauth://", r"otpauth://[^\s\"'<>]{0,200}?secret=(?P<secret>[A-Za-z2-7]{16,})"),
    Pattern("one-time-seed", "otpauth-migration://", r"otpauth-migration://[^\s\"'<>]{0,60}?data=(?P<secret>[\w%+/=-]{16,})"),
    Pattern("private-key", "private-lines", r"private-lines: \d+(?P<secret>(?:\r?\n[A-Za-z0-9+/=]{4,100}){1,200})",
           True),
    Pattern("signature", "x-goog-signature=", r"x-goog-signature=(?P<secret>[\w%+/=-]{32,})", True),
)  # fmt: skip
IN_CONTEXT = ANYWHERE + COOKIES + COMMANDS + PROMPTS + PIPES + STATEMENTS + SEEDS
"""Shapes that only the words around them give away; each begins with its `prefilter`."""

CARD = re.compile(
    r"(?<![\w.#%/-])(?:(?:4\d{3}|5[1-5]\d\d|2[2-7]\d\d|6(?:011|4[4-9]\d|5\d\d)|62\d\d"
    r"|35[2-8]\d)([ -]?)\d{4}\1\d{4}\1\d{4}(?!\d|[.,-]\d|\w|%)"
    r"|3[47]\d\d([ -]?)\d{6}\2\d{5}(?!\d|[.,-]\d|\w|%)"
    r"|3(?:0[0-5]|[68]\d)\d([ -])\d{6}\3\d{4}(?!\d|[.,-]\d|\w|%))"
)
"""A card number as it is printed; `is_card` looks at its sum."""
is_card = _is_card

PGPASS = re.compile(
    r"(?<![^\s=`\"'>|])(?:[A-Za-z0-9-][\w.-]{0,80}|\*|\[[0-9a-f:]{2,40}\]):(?:\d{4,5}|\*):(?:[A-Za-z_][\w-]{0,60}|\*)"
    r":[A-Za-z_*][\w.@-]{0,60}:(?P<secret>[^\s:&`\"']{4,120})(?![^\s&`\"'])"
)
"""A line of `.pgpass`: host, port, database, user, password."""
