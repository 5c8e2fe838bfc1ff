"""Made-up secrets of many kinds, in the words that stand around such things, in five formats.

The values are drawn anew for each seed, by what is known of each format; none was ever valid. `RULES` are the kinds
that the rules of `core.base.secrets.redact` were written with, `UNSEEN` those written after the rules had been frozen.
"""

from __future__ import annotations

import base64
import json
import random
import re
import string
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import quote

LOWER, UPPER, DIGITS = string.ascii_lowercase, string.ascii_uppercase, string.digits
ALL = LOWER + UPPER + DIGITS
HEX = "0123456789abcdef"


@dataclass(frozen=True)
class Planted:
    """One secret: the text that holds it, in one format, and what must not be found anywhere afterwards."""

    kind: str
    form: str
    text: str
    secret: str
    parts: tuple[str, ...]


class Draw:
    """Random words of given letters."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)

    def __call__(self, letters: str, length: int) -> str:
        word = "".join(self._random.choice(letters) for _ in range(length))
        if letters == ALL and length > 3 and (word.isalpha() or word.isdigit()):
            return word[:-2] + "7q"
        return word

    def choice(self, words: str) -> str:
        return self._random.choice(words.split())

    def password(self) -> str:
        """As people choose them: a word, a number and a sign."""
        word = self.choice("Winter Falcon Bridge Copper Lantern Meadow Orchid Tundra Velvet Harbor")
        return f"{word}{self(DIGITS, 2)}{self.choice('! # ? + ~ ^')}{self(LOWER, 2)}"

    def simple(self) -> str:
        return self.choice("hunter dragon monkey sunset turtle walnut pepper") + self(DIGITS, 2)

    def card(self) -> str:
        digits = [4, *(self._random.randrange(10) for _ in range(14))]
        total = sum(d * 2 - 9 * (d > 4) if place % 2 == 0 else d for place, d in enumerate(digits))
        digits.append(-total % 10)
        return "".join(map(str, digits))


Make = Callable[[Draw], tuple[str, str]]


def _in(words: str, make: Callable[[Draw], str]) -> Make:
    """`words` with the secret in the place of `@@`."""

    def made(draw: Draw) -> tuple[str, str]:
        secret = make(draw)
        return words.replace("@@", secret), secret

    return made


def _token(prefix: str, letters: str, length: int, words: str = "the value is @@ as you see") -> Make:
    return _in(words, lambda draw: prefix + draw(letters, length))


def _kubeconfig(draw: Draw) -> tuple[str, str]:
    key = f"-----BEGIN RSA PRIVATE{' '}KEY-----\n" + "\n".join(draw(ALL, 64) for _ in range(4))
    secret = base64.b64encode(f"{key}\n-----END RSA PRIVATE{' '}KEY-----\n".encode()).decode()
    return f"users:\n- name: dev\n  user:\n    client-key-data: {secret}\n", secret


def _packed(draw: Draw) -> tuple[str, str]:
    secret = base64.b64encode(("gh" + "p_" + draw(ALL, 36) + "\n").encode()).decode()
    return f"it prints {secret} and stops", secret


def _split(draw: Draw) -> tuple[str, str]:
    token = "gh" + "p_" + draw(ALL, 36)
    return f"the terminal showed\n{token[:22]}\n{token[22:]}\nand more", f"{token[:22]}\n{token[22:]}"


def _pem(draw: Draw) -> tuple[str, str]:
    secret = "\n".join(draw(ALL, 64) for _ in range(3))
    return f"-----BEGIN OPENSSH PRIVATE{' '}KEY-----\n{secret}\n-----END OPENSSH PRIVATE{' '}KEY-----", secret


def _jwt(draw: Draw) -> str:
    claims = [{"alg": "HS256"}, {"sub": draw(DIGITS, 9)}]
    parts = [base64.urlsafe_b64encode(json.dumps(row).encode()).decode().rstrip("=") for row in claims]
    return ".".join([*parts, draw(ALL, 43)])


def _basic(draw: Draw) -> str:
    return base64.b64encode(f"dora:{draw.password()}".encode()).decode()


def _dollar(draw: Draw) -> str:
    return f"Pa$${draw(LOWER, 2)}0rd{draw(DIGITS, 2)}"


def _joined(sign: str) -> Callable[[Draw], str]:
    return lambda draw: f"{draw(LOWER, 3)}{sign}{draw(ALL, 6)}{draw(DIGITS, 1)}"


_STRONG = Draw.password
RULES: dict[str, Make] = {
    "github classic": _token("gh" + "p_", ALL, 36),
    "github fine-grained": _token("github" + "_pat_", ALL, 40),
    "gitlab": _token("gl" + "pat-", ALL, 20),
    "slack": _in("use @@ there", lambda d: "xo" + f"xb-{d(DIGITS, 12)}-{d(DIGITS, 12)}-{d(ALL, 24)}"),
    "stripe": _token("sk" + "_live_", ALL, 24),
    "openai": _token("sk" + "-proj-", ALL, 48),
    "anthropic": _token("sk" + "-ant-api03-", ALL, 80),
    "npm": _token("npm" + "_", ALL, 36),
    "pypi": _token("py" + "pi-AgEIcHlwaS5vcmc", ALL, 70),
    "jwt": _in("cookie value @@", _jwt),
    "discord": _in("bot @@", lambda d: f"M{d(ALL, 23)}.{d(ALL, 6)}.{d(ALL, 38)}"),
    "sendgrid": _in("mail @@", lambda d: f"SG.{d(ALL, 22)}.{d(ALL, 43)}"),
    "google": _token("AI" + "zaSy", ALL, 33),
    "hugging face": _token("hf" + "_", ALL, 34),
    "aws id": _token("AK" + "IA", UPPER + "234567", 16),
    "aws secret": _in("aws_secret_access_key = @@", lambda d: d(ALL, 40)),
    "azure ad": _in("AZURE value @@", lambda d: f"{d(ALL, 3)}8Q~{d(ALL, 34)}"),
    "azure storage": _in("AccountName=a;AccountKey=@@;EndpointSuffix=x", lambda d: d(ALL, 86) + "=="),
    "twilio": _token("S" + "K", HEX, 32),
    "telegram": _in("bot123456789:@@", lambda d: d(ALL, 35)),
    "kubeconfig": _kubeconfig,
    "packed": _packed,
    "split": _split,
    "private key": _pem,
    "card": _in("paid with @@ today", Draw.card),
    "card in groups": _in("paid with @@ today", lambda d: " ".join(re.findall("....", d.card()))),
    "set-cookie": _in("Set-Cookie: sid=@@; Path=/; HttpOnly", lambda d: d(ALL, 32)),
    "cookie": _in("Cookie: theme=dark; sessionid=@@", lambda d: d(ALL, 32)),
    "pgpass": _in("db.example.org:5432:shop:dora:@@", lambda d: d(ALL, 12)),
    "prose": _in("the password is @@ by the way", _STRONG),
    "prose of": _in("the password for the staging database is @@ by the way", _STRONG),
    "dollar": _in("DB_PASSWORD=@@", _dollar),
    "less": _in("DB_PASSWORD=@@", _joined("<")),
    "brace": _in("DB_PASSWORD=@@", _joined("{")),
    "your": _in("DB_PASSWORD=@@", lambda d: f"your{d(ALL, 4)}X{d(DIGITS, 3)}z"),
    "sample": _in("SMTP_PASSWORD=@@", lambda d: f"my{d(DIGITS, 2)}sample!{d(ALL, 4)}"),
    "simple": _in("password=@@", Draw.simple),
    "digits": _in("PASSWORD=@@", lambda d: d(DIGITS, 6) + "47"),
    "tag": _in("<user>dora</user><password>@@</password>", _STRONG),
    "table": _in("| user | dora |\n| password | @@ |", _STRONG),
    "netrc": _in("machine api.example.org login dora password @@", _STRONG),
    "sshpass": _in("sshpass -p @@ ssh dora@host", lambda d: d.simple() + "K"),
    "mysql": _in("mysql -u root -p@@ shop", Draw.simple),
    "docker": _in("docker login -u dora -p @@ registry.example.org", Draw.simple),
    "authorization": _in("Authorization: token @@", lambda d: d(HEX, 40)),
    "bearer": _in("Authorization: Bearer @@", lambda d: d(ALL, 40)),
    "basic": _in("Authorization: Basic @@", _basic),
    "german": _in("Das Kennwort lautet @@ übrigens", _STRONG),
    "german colon": _in("Passwort: @@", _STRONG),
    "russian": _in("пароль: @@", _STRONG),
    "french": _in("mot de passe : @@", _STRONG),
    "spanish": _in("la contraseña es @@", _STRONG),
    "chinese": _in("密码是 @@", _STRONG),
    "japanese": _in("パスワード: @@", _STRONG),
    "korean": _in("비밀번호: @@", _STRONG),
    "address": _in("postgres://app:@@@db.example.org/shop", lambda d: d(ALL, 14)),
    "curl": _in("curl -u dora:@@ https://example.org", Draw.simple),
    "api key": _in('api_key: "@@"', lambda d: d(ALL, 32)),
    "client secret": _in("client_secret=@@", lambda d: d(ALL, 32)),
    "access token": _in('{"access_token": "@@"}', lambda d: d(ALL, 40)),
    "quoted": _in("password = '@@'", _STRONG),
    "bold": _in("**Password:** `@@`", _STRONG),
}
UNSEEN: dict[str, Make] = {
    "openrouter": _token("sk" + "-or-v1-", HEX, 64, "OPENROUTER: @@"),
    "groq": _token("gs" + "k_", ALL, 52, "key=@@;"),
    "xai": _token("xa" + "i-", ALL, 80),
    "perplexity": _token("pp" + "lx-", ALL, 48, "(@@)"),
    "notion": _token("nt" + "n_", ALL, 46),
    "linear": _token("lin" + "_api_", ALL, 40, "[@@]"),
    "vault": _token("hv" + "s.", ALL, 92),
    "shopify": _token("shp" + "at_", HEX, 32, "Token=@@,"),
    "square": _token("sq0" + "atp-", ALL, 22),
    "digitalocean": _token("dop" + "_v1_", HEX, 64, "doctl -t @@"),
    "supabase": _token("sb" + "p_", HEX, 40),
    "grafana": _in("grafana @@", lambda d: "gl" + f"sa_{d(ALL, 32)}_{d(HEX, 8)}"),
    "airtable": _in("airtable @@", lambda d: "pa" + f"t{d(ALL, 14)}.{d(HEX, 64)}"),
    "datadog": _in("DD_API_KEY=@@", lambda d: d(HEX, 32)),
    "algolia": _in('algoliaAdminKey: "@@"', lambda d: d(HEX, 32)),
    "heroku": _in("HEROKU_API_KEY=@@", lambda d: "-".join(d(HEX, n) for n in (8, 4, 4, 4, 12))),
    "jwt secret": _in("JWT_SECRET=@@", lambda d: d(ALL, 24)),
    "django": _in("SECRET_KEY = '@@'", lambda d: f"django-insecure-{d(ALL, 20)}#{d(ALL, 20)}"),
    "rails": _in("secret_key_base: @@", lambda d: d(HEX, 128)),
    "connection string": _in("Server=db;User Id=sa;Password=@@;Encrypt=yes", _STRONG),
    "jdbc": _in("jdbc:mysql://db/shop?user=dora&password=@@&useSSL=true", Draw.simple),
    "redis": _in("redis://:@@@cache.example.org:6379/0", lambda d: d(ALL, 18)),
    "mongodb": _in("mongodb+srv://dora:@@@cluster.example.net/shop", lambda d: d(ALL, 16)),
    "amqp": _in("amqp://app:@@@mq.example.org:5672", Draw.simple),
    "redis-cli": _in("redis-cli -h cache -a @@ ping", Draw.simple),
    "pgpassword": _in("PGPASSWORD=@@ psql -h db -U dora shop", Draw.simple),
    "requirepass": _in("requirepass @@", lambda d: d.simple() + d(ALL, 4)),
    "identified by": _in("CREATE USER dora IDENTIFIED BY '@@';", _STRONG),
    "postgres role": _in("ALTER ROLE dora WITH PASSWORD '@@';", _STRONG),
    "wget": _in("wget --user=dora --password=@@ https://example.org/x", Draw.simple),
    "openssl": _in("openssl pkcs12 -export -passout pass:@@ -out a.p12", _STRONG),
    "yaml": _in("database:\n  username: dora\n  password: @@\n  port: 5432", _STRONG),
    "toml": _in('[smtp]\nhost = "mail"\npassword = "@@"', _STRONG),
    "json": _in('{"user": "dora", "password": "@@", "tls": true}', _STRONG),
    "kubernetes env": _in("- name: DB_PASSWORD\n  value: @@\n- name: PORT", _STRONG),
    "java": _in('dataSource.setPassword("@@");', _STRONG),
    "xml attribute": _in('<add key="Password" value="@@" />', _STRONG),
    "header": _in("X-Api-Key: @@", lambda d: d(ALL, 32)),
    "private token": _in("curl -H 'PRIVATE-TOKEN: @@' https://example.org", lambda d: d(ALL, 24)),
    "session": _in("Set-Cookie: JSESSIONID=@@; Secure", lambda d: d(UPPER + DIGITS, 32)),
    "phpsessid": _in("curl -b PHPSESSID=@@ https://example.org", lambda d: d(LOWER + DIGITS, 26)),
    "wifi": _in("the wifi password: @@", _STRONG),
    "my password": _in("my password is @@, please log in", _STRONG),
    "login with": _in("log in as dora with the password @@ and look", _STRONG),
    "username and password": _in("username: dora, password: @@", _STRONG),
    "slash": _in("credentials are dora / @@ (password)", _STRONG),
    "italian": _in("la password è @@", _STRONG),
    "portuguese": _in("a senha é @@", _STRONG),
    "dutch": _in("het wachtwoord is @@", _STRONG),
    "polish": _in("hasło: @@", _STRONG),
    "turkish": _in("şifre: @@", _STRONG),
    "russian prose": _in("пароль от базы: @@", _STRONG),
    "german for": _in("Das Passwort für die Datenbank ist @@.", _STRONG),
    "french prose": _in("le mot de passe de la base est @@ pour info", _STRONG),
    "chinese colon": _in("数据库密码：@@", _STRONG),
    "table wide": _in("| Service | User | Password |\n|---|---|---|\n| mail | dora | @@ |", _STRONG),
    "seed phrase": _in("seed phrase: @@", lambda d: " ".join(d(LOWER, 5) for _ in range(12))),
    "otp": _in("otpauth://totp/a:dora?secret=@@&issuer=a", lambda d: d(UPPER + "234567", 32)),
    "wireguard": _in("PrivateKey = @@", lambda d: d(ALL, 43) + "="),
    "npmrc": _in("//registry.example.org/:_authToken=@@", lambda d: d(ALL, 36)),
    "docker config": _in('"auths": {"r.example.org": {"auth": "@@"}}', _basic),
    "amex": _in("card 3782 822463 10005 and @@", lambda d: "-".join(re.findall("....", d.card()))),
    "quoted words": _in('export API_TOKEN="@@"', lambda d: d(ALL, 20)),
    "powershell": _in("$env:API_TOKEN = '@@'", lambda d: d(ALL, 28)),
    "fish": _in("set -x GITEA_TOKEN @@", lambda d: d(HEX, 40)),
    "dotenv spaces": _in("MAIL_PASSWORD = @@", _STRONG),
    "two lines": _in("password:\n  @@\n", _STRONG),
    "zero width": _in("the token gh\u200bp_@@ here", lambda d: d(ALL, 36)),
    "webhook": _in("https://hooks.slack.com/services/@@", lambda d: f"T{d(UPPER, 8)}/B{d(UPPER, 8)}/{d(ALL, 24)}"),
    "sas": _in("https://a.blob.core.windows.net/c?sv=2024&sig=@@", lambda d: d(ALL, 43) + "%3D"),
}
FORMS = ("plain", "colour", "json", "percent", "code")


def in_form(form: str, text: str, secret: str) -> str:
    """A text as it comes out of a terminal, a tool, an address or a file."""
    if form == "colour":
        return text.replace(secret, f"\x1b[01;31m\x1b[K{secret}\x1b[m\x1b[K")
    if form == "json":
        return json.dumps({"stdout": f"done\n{text}\nok", "code": 0})
    if form == "percent":
        return "https://example.org/log?text=" + quote(text, safe="") + "&n=1"
    if form == "code":
        return "Look:\n\n```\n" + "\n".join(f"  {line}" for line in text.split("\n")) + "\n```\n"
    return text


def planted(seed: int, kinds: dict[str, Make] | None = None, values: int = 2) -> list[Planted]:
    """Each kind, `values` times, in each format."""
    rows = []
    for kind, make in (kinds or {**RULES, **UNSEEN}).items():
        for number in range(values):
            text, secret = make(Draw(f"{seed} {kind} {number}"))
            pieces = [piece for piece in secret.split("\n") if piece]
            for form in FORMS:
                told = in_form(form, text, secret)
                parts = [
                    form_of for piece in pieces for form_of in (piece, json.dumps(piece)[1:-1], quote(piece, safe=""))
                ]
                rows.append(Planted(kind, form, told, secret, tuple(dict.fromkeys(parts))))
    return rows


def leaks(row: Planted, text: str) -> bool:
    """Whether a text still has a part of the secret: all of it, or the beginning of a long one."""
    return any(part in text or (len(part) > 24 and part[:16] in text) for part in row.parts)
