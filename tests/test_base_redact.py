"""Secrets leave the text, everything else stays. The fake keys are put together here so that no scanner fires."""

from __future__ import annotations

import base64
import random
import unicodedata
from collections.abc import Iterable
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.base.secrets import repeats
from core.base.secrets.redact import MARK, Redacted, redact
from core.base.secrets.repeats import REPEATED, Secrets
from tests.cpu_time import grows_faster

CORPUS = Path(__file__).resolve().parents[2] / "shared" / "corpus" / "conversations"

MIXED = "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7dE9fG1hJ3kL5mN7pQ9rS1tU3vW5xY"
HEX = "0123456789abcdef" * 10
BEGIN, END = "-----BEGIN RSA PRIVATE" + " KEY-----", "-----END RSA PRIVATE" + " KEY-----"

# (kind, what stands before the secret, the secret, what stands after it)
PLANTED = [
    ("openai-key", "key ", "sk-" + MIXED[:48], ""),
    ("openai-key", "key ", "sk-" + "proj-" + MIXED[:60], ""),
    ("openai-key", "a line end written out\\n", "sk-" + HEX[:32], ""),
    ("anthropic-key", "", "sk-" + "ant-api03-" + MIXED[:60], ""),
    ("google-api-key", "?key=", "AI" + "za" + MIXED[:35], "&x=1"),
    ("hugging-face-token", "", "hf" + "_" + MIXED[:34], ""),
    ("npm-token", "//registry/:_authToken=", "npm" + "_" + MIXED[:36], ""),
    *(("github-token", "", "gh" + letter + "_" + MIXED[:36], "") for letter in "pousr"),
    ("github-token", "", "github" + "_pat_" + MIXED[:22] + "_" + MIXED[:59], ""),
    ("gitlab-token", "", "gl" + "pat-" + MIXED[:20], ""),
    ("slack-token", "", "xo" + "xb-123456789012-123456789012-" + MIXED[:24], ""),
    ("slack-webhook", "https://hooks.slack" + ".com/services/", "T00000000/B00000000/" + MIXED[:24], ""),
    ("stripe-key", "", "sk" + "_live_" + MIXED[:24], ""),
    ("stripe-key", "", "rk" + "_live_" + MIXED[:24], ""),
    ("aws-access-key", "", "AK" + "IAIOSFODNN7EXAMPLE", ""),
    ("aws-secret-key", "aws_secret_access_key = ", MIXED[:20] + "/" + MIXED[20:39], ""),
    ("azure-storage-key", "AccountName=x;Account" + "Key=", MIXED + MIXED[:18] + "==", ";EndpointSuffix=y"),
    ("jwt", "", "ey" + "JhbGciOiJIUzI1NiJ9.ey" + "JzdWIiOiIxMjM0NTY3ODkwIn0." + MIXED[:43], ""),
    ("bearer-token", "Authorization: Bearer ", MIXED[:30], ""),
    ("basic-credentials", "Authorization: Basic ", base64.b64encode(b"user:hunter22").decode(), ""),
    ("url-password", "postgres://app:", "s3cr3t" + "pw", "@db.local:5432/x"),
    ("url-password", "curl -u me:", "hunter" + "2x", " https://x.y"),
    ("password", "DB_PASSWORD=", "hunter" + "2xyz", ""),
    ("password", "password: '", "tr0ub4dor" + "&3", "'"),
    ("password", '{\\"password\\": \\"', "sword" + "fish", '\\"}'),
    ("password", "mysql --password ", "hunter" + "2x", ""),
    ("secret", 'api_key: "', MIXED[:24], '"'),
    ("secret", "token = '", MIXED[:20], "'"),
    ("secret", "x-api-key: ", MIXED[:32], ""),
    ("twilio-key", "", "S" + "K" + HEX[:32], ""),
    ("sendgrid-key", "", "SG." + MIXED[:22] + "." + MIXED[:43], ""),
    ("telegram-token", "bot123456789:", MIXED[:35], "/sendMessage"),
    ("discord-token", "", "M" + MIXED[:23] + "." + MIXED[:6] + "." + MIXED[:27], ""),
    ("discord-webhook", "https://discord.com/api/webhooks/", "123456789012345678/" + MIXED, ""),
    ("pypi-token", "", "py" + "pi-" + MIXED, ""),
    ("digitalocean-token", "", "dop" + "_v1_" + HEX[:64], ""),
    ("databricks-token", "", "da" + "pi" + HEX[:32], ""),
    ("age-secret-key", "", "AGE-SECRET" + "-KEY-1" + "Q7" * 29, ""),
    ("mailgun-key", "", "key" + "-" + HEX[:32], ""),
    ("mailchimp-key", "", HEX[:32] + "-us12", ""),  # the library's find
    ("square-token", "", "sq0" + "atp-" + MIXED[:22], ""),
    ("shopify-token", "", "shp" + "at_" + HEX[:32], ""),
    ("private-key", "", f"{BEGIN}\n{MIXED[:64]}\n{MIXED[:64]}\n{END}", ""),
    ("private-key", '"private_key": "', f"{BEGIN}\\n{MIXED[:64]}\\nab==\\n{END}", '\\n"'),
    ("private-key", "", f"{BEGIN}\n{MIXED[:64]}\n{MIXED[:64]}", "\n[cut off here]"),
]

KEPT = [
    "commit 9f1c2d3e4b5a69788796a5b4c3d2e1f001234567",
    "550e8400-e29b-41d4-a716-446655440000",
    "sha256:" + HEX[:64],
    '"integrity": "sha512-' + MIXED + MIXED[:18] + '=="',
    "from core.llm.token_counter import max_tokens",
    "password = os.environ['DB_PASSWORD']",
    "api_key=<your key>",
    "token: xxxxxxxx",
    "PASSWORD=${DB_PASSWORD}",
    "password = changeme",
    "secret = get_secret('name')",
    "token = response.json()['token']",
    "max_tokens=4096, tokens: 123456",
    "/home/user/project/src/very_long_file_name_here_v2.py",
    "https://example.com/a:b@c and git@github.com:owner/repo",
    "sk-folding-cube-spinner-xx",
    "def login(password: str = None) -> privateKey: Uint8Array;",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
    "--token-budget 4000; primary_key=True1; sort_key: created_at2",
    "Basic authentication needed; Bearer authentication is used here",
    "const apiKey = process.env.API_KEY_1",
    "password: '/run/db/login1' and API_TOKEN=./keys/prod2.json",
    "--- PASS: TestFoo_Bar1 (0.00s)",
    f"it begins with {BEGIN} and then the key follows",
]


@pytest.mark.parametrize(("kind", "before", "secret", "after"), PLANTED)
def test_a_planted_key_is_replaced_and_only_the_key(kind: str, before: str, secret: str, after: str) -> None:
    """A key that slips through is sent to a model and stays in the notes for good."""
    found = redact(f"first line\nsay {before}{secret}{after} now\nlast line")
    assert found.text == f"first line\nsay {before}{MARK}{kind}]{after} now\nlast line"
    assert found.counts == {kind: 1}
    assert redact(found.text).text == found.text


@pytest.mark.parametrize("text", KEPT)
def test_what_is_no_secret_stays(text: str) -> None:
    """A hash, a path or a line of code turned into a placeholder is knowledge lost."""
    assert redact(text).text == text


def test_a_block_named_pass_does_not_stop_the_harvest() -> None:
    """A shader or a file of Terraform that was pasted into one conversation must not end the run; what is no password
    stays, and what is one goes."""
    shader = "SubShader {\n  Pass {\n    half4 result = light1.color*fade2;\n  }\n}\n"
    secret = "hunter" + "2xyz"
    found = redact(f'{shader}variable "pass" {{\n  default = "{secret}"\n}}\nPASSWORD={secret}\n')
    block = f'variable "pass" {{\n  default = "{MARK}password]"\n}}\n'
    assert found.text == f"{shader}{block}PASSWORD={MARK}password]\n"


def test_several_secrets_are_counted_by_kind() -> None:
    """The user sees how many were replaced, and never which."""
    text = f"a {'gh' + 'p_' + MIXED[:36]} b {'gh' + 'o_' + MIXED[:36]}\r\nPASSWORD={'hunter' + '2xyz'}\r\n"
    found = redact(text)
    assert found.counts == {"github-token": 2, "password": 1}
    assert found.text.count("\r\n") == 2 and MIXED[:20] not in found.text and "hunter" not in found.text


PIECES = st.sampled_from(
    [part for _kind, before, secret, after in PLANTED for part in (before, secret, secret[:-3], after) if part]
    + [
        MARK,
        "]",
        "[",
        "\n",
        " ",
        '"',
        "'",
        "=",
        ": ",
        "://",
        "@",
        "\\n",
        "é",
        "\ud800",
        "\u0130",
        "password",
        "Bearer ",
    ]
)


@given(st.lists(PIECES, max_size=8).map("".join))
def test_redacting_twice_is_redacting_once(text: str) -> None:
    """Text is redacted before the model and again after it: placeholders must not grow or change."""
    once = redact(text)
    again = redact(once.text)
    assert again.text == once.text and again.counts == {}


HOSTILE = [
    "sk-",
    "eyJ",
    "eyJa.",
    "://a:",
    "://a:b@c",
    BEGIN,
    "password=",
    "curl -u ",
    "aws secret ",
    '"key": "',
    "a1" * 12,
    "password for the a ",
    "|--|\n|password|\n",
    "\\u0041%41\x1b[",
    "gh" + "p_a1\n",
    "4111 ",
    "cookie: a=b; ",
]


@pytest.mark.parametrize("unit", HOSTILE)
def test_the_time_grows_with_the_length_and_no_faster(unit: str) -> None:
    """One pasted megabyte of a nasty pattern must not stop the harvest."""
    redact("warm-up " + MIXED)
    small, large = (unit * (length // len(unit)) for length in (4_000, 32_000))
    # Eight times the text: linear is 8, quadratic is 64.
    assert not grows_faster(lambda: redact(small), lambda: redact(large), 24)


@pytest.mark.parametrize("filler", ["-", "._", ":!", "|"])
def test_a_value_of_separators_does_not_take_for_ever(filler: str) -> None:
    """Found by the fuzzer: seven hundred bytes in a conversation held a run for longer than anybody would wait."""
    small, large = (f"password=a{(filler * length)[:length]}5\u00e9" for length in (12, 24))
    # Twice the length: a step more for each character is 2, a way more to divide it for each is 4096.
    assert not grows_faster(lambda: redact(small), lambda: redact(large), 60)


def test_the_corpus_keeps_nearly_everything() -> None:
    """The corpus was cleared of real keys, so what is replaced in it is almost all a mistake of ours."""
    if not CORPUS.is_dir():
        pytest.skip("the corpus is not here")
    files = [file for file in sorted(CORPUS.rglob("*.md")) if file.stat().st_size < 200_000][:60]
    found = [redact(file.read_text("utf-8", "replace")) for file in files]
    assert len(files) > 20
    assert sum(sum(one.counts.values()) for one in found) <= 10, [one.counts for one in found if one.counts]


def test_a_password_with_an_ampersand_leaves_no_tail() -> None:
    assert "3x" not in redact("password=Tr0ub4dor&3x").text
    assert redact("/?password=Tr0ub4dor&next=3").text == "/?password=[redacted: password]&next=3"


# --- what lies over a token ------------------------------------------------------------------------------------------

TOKENS = {
    "github-token": "gh" + "p_" + MIXED[:36],
    "gitlab-token": "gl" + "pat-" + MIXED[:20],
    "slack-token": "xo" + "xb-123456789012-123456789012-" + MIXED[:24],
    "stripe-key": "sk" + "_live_" + MIXED[:24],
    "openai-key": "sk-" + "proj-" + MIXED[:60],
    "anthropic-key": "sk-" + "ant-api03-" + MIXED[:60],
    "npm-token": "npm" + "_" + MIXED[:36],
    "pypi-token": "py" + "pi-" + MIXED,
    "jwt": "ey" + "JhbGciOiJIUzI1NiJ9.ey" + "JzdWIiOiIxMjM0NTY3ODkwIn0." + MIXED[:43],
    "discord-token": "M" + MIXED[:23] + "." + MIXED[:6] + "." + MIXED[:27],
    "sendgrid-key": "SG." + MIXED[:22] + "." + MIXED[:43],
    "google-api-key": "AI" + "za" + MIXED[:35],
    "hugging-face-token": "hf" + "_" + MIXED[:34],
    "aws-access-key": "AK" + "IAIOSFODNN7EXAMPLE",
}
OVER = [
    "\x1b[32m@@\x1b[0m", "\x1b[01;31m\x1b[K@@\x1b[m\x1b[K", "\x1b]8;;file:///x\x07@@\x1b]8;;\x07",
    "\\u001b[32m@@\\u001b[0m", "\\x1b[1;32m@@\\x1b[0m", "\\033[32m@@\\033[0m", "[32m@@[0m", "^[[32m@@^[[0m",
    "^[[01;31m^[[K@@^[[m^[[K", "a%3D@@%26b", "a%253D@@", "token\\u003d@@", '{\\"a\\":\\"x\\\\n@@\\"}', "&quot;@@&quot;",
    "a\u200b@@\u2060 b", "\x9b32m@@\x9b0m", "one\r\n@@\x00",
]  # fmt: skip


@pytest.mark.parametrize("kind", TOKENS)
def test_a_token_is_found_behind_whatever_lies_before_it(kind: str) -> None:
    """`grep --color` alone was enough to send a key to a model and into every file."""
    for over in OVER:
        found = redact(f"see {over.replace('@@', TOKENS[kind])} there")
        wanted = f"see {over.replace('@@', f'{MARK}{kind}]')} there"
        assert (found.text, found.counts) == (wanted, {kind: 1}), repr(over)


HIDDEN = (
    *("\u200b", "\u2060", "\ufeff", "\u00ad", "\u034f", "\u2028", "\u2800", "\x1b[0m", "\x00", "\r"),
    *("\\33[1m", "\\u{200b}", "\\U0000200b", "\\342\\200\\213", "\\xe2\\x80\\x8b", "[m", "[K"),
    *("&#8203;", "&#x0200B;", "&ZeroWidthSpace;", "&shy;", "=\n", "=\r\n"),
)


@pytest.mark.parametrize("kind", TOKENS)
def test_what_nobody_sees_does_not_cut_a_token_in_two(kind: str) -> None:
    token = TOKENS[kind]
    for hidden in HIDDEN:
        for cut in (2, len(token) // 2):
            assert redact(f"a {token[:cut]}{hidden}{token[cut:]} b").text == f"a {MARK}{kind}] b", repr(hidden)


@pytest.mark.parametrize(
    "deeper", ["see %252541 there", '{\\\\"a\\\\":\\\\"\\\\\\\\u0041\\\\"}', "&amp;amp;amp;lt;", "a\b\b\bc"]
)
def test_what_lies_deeper_elsewhere_hides_no_token(deeper: str) -> None:
    """One address in an address, far away in the output of a tool, and what a program had painted was sent."""
    for hidden in OVER[:6]:
        token = TOKENS["github-token"]
        painted = hidden.replace("@@", f"{token[:9]}\x1b[1m{token[9:]}") + "\nanother line\n" * 9
        for text in (f"{painted}{deeper}\n", f"{deeper}\n{painted}"):
            assert MIXED[5:36] not in redact(text).text, (hidden, deeper)


SPELLED = {
    "octal": lambda sign: f"\\{ord(sign):03o}",
    "short octal": lambda sign: f"\\{ord(sign):o}",
    "eight digits": lambda sign: f"\\U{ord(sign):08x}",
    "braces": lambda sign: f"\\u{{{ord(sign):x}}}",
    "entity": lambda sign: f"&#{ord(sign):05d};",
    "hexadecimal entity": lambda sign: f"&#x{ord(sign):04x};",
    "quoted-printable": lambda sign: f"={ord(sign):02X}",
    "full width": lambda sign: chr(ord(sign) + 0xFEE0),
    "mathematical": lambda sign: unicodedata.lookup(f"MATHEMATICAL BOLD {_name(sign)}") if sign.isalnum() else sign,
}


def _name(sign: str) -> str:
    size = "CAPITAL" if sign.isupper() else "SMALL"
    return unicodedata.name(sign) if sign.isdigit() else f"{size} {sign.upper()}"


@pytest.mark.parametrize("how", SPELLED)
@pytest.mark.parametrize("kind", TOKENS)
def test_a_token_that_is_spelled_otherwise_is_the_same_token(kind: str, how: str) -> None:
    """A shell, a mail, a page or a C string writes it so, and who reads it has the key."""
    token, spell = TOKENS[kind], SPELLED[how]
    for text in ("".join(map(spell, token)), token[:7] + "".join(map(spell, token[7:12])) + token[12:]):
        assert redact(f"it is: {text} there").text == f"it is: {MARK}{kind}] there", text


@pytest.mark.parametrize("between", ['" + "', "' + '", '" "', "' '", '" . "'])
def test_a_token_in_pieces_of_a_program_is_one_token(between: str) -> None:
    token = TOKENS["github-token"]
    assert MIXED[24:36] not in redact(f'key = "{token[:20]}{between}{token[20:]}"').text


@pytest.mark.parametrize("between", ["\n", "\r\n", '" +\n    "', "\\\n", "\n> "])
def test_a_token_over_two_lines_is_one_token(between: str) -> None:
    token = TOKENS["github-token"]
    assert redact(f"a\n{token[:20]}{between}{token[20:]}\nb").text == f"a\n{MARK}github-token]\nb"


def test_the_next_line_is_no_part_of_a_whole_token() -> None:
    assert redact(f"{TOKENS['github-token']}\nline2 follows").text == f"{MARK}github-token]\nline2 follows"


DOCUMENTED = [
    "DB_PASSWORD=your-password", "API_KEY=your_api_key_here", "export TOKEN=<token>", "PASSWORD=${DB_PASSWORD:-}",
    "password: {{ vault_password }}", "password = config['db']['password1']", "os.environ['API_KEY_2']",
    "api_key: sk-...", "PASSWORD=changeme123", "SECRET=my-secret-key", "password: str = Field(min_length=8)",
    "const password = await hash(input1)", "| password | string | required |",
    "| Token | Count |\n|---|---|\n| input | 12034 |", "<password>your password</password>",
    "the password is required, the password is hashed with argon2", "Authorization: Bearer <token>",
    "Authorization: Bearer $TOKEN_1", "mysql -u root -p shop", "docker run -p 8080:80 nginx", "mkdir -p src/app2",
    "ssh -p 2222 host1", "password: 'required|min:8'", "token_count=4096 and max_tokens: 8192",
    "session_id=550e8400-e29b-41d4-a716-446655440000", "order 4111 1111 1111 1112 of 1234567890123456",
    "main.c:1234:5:error:expected1", "Passwort vergessen? Mot de passe oublié ? パスワードを忘れた場合",
]  # fmt: skip


PASSWORDS = ("Meadow" + "89?fy", "Harbor" + "26am!x")
TABLES = {
    "markdown": "| Service | User | Password |\n|---|---|---|\n| mail | dora | @@ |\n| web | kim | `##` |",
    "no bars at the sides": "Service | Password | User\n--- | :-: | ---\nmail | @@ | dora\nweb | ## | kim\n",
    "quoted": "> | Service | Password | User |\n> |:--|:-:|--:|\n> | mail | @@ | dora |\n> | web | ## | kim |",
    "behind other words": "- logins: | Service | Password |\n  |---|---|\n  | mail | @@ |\n  | web | ## |",
    "line ends of Windows": "| User | Password |\r\n|---|---|\r\n| dora | @@ |\r\n| kim | ## |\r\n",
    "psql": " service |  password  | user\n---------+------------+------\n mail    | @@ | dora\n web     | ## | kim\n",
    "mysql": "+------+----------+\n| user | password |\n+------+----------+\n| dora | @@ |\n+------+----------+\n"
             "| kim  | ## |\n+------+----------+\n",
    "boxes": "┌──────┬──────────┐\n│ user │ password │\n├──────┼──────────┤\n│ dora │ @@ │\n├──────┼──────────┤\n"
             "│ kim  │ ## │\n└──────┴──────────┘",
}  # fmt: skip


@pytest.mark.parametrize("table", TABLES.values(), ids=[*TABLES])
def test_what_stands_below_a_heading_is_found_however_the_table_is_drawn(table: str) -> None:
    """The way a client of a database prints its users: the label stands lines above the value."""
    text = table.replace("@@", PASSWORDS[0]).replace("##", PASSWORDS[1])
    mark = f"{MARK}password]"
    assert redact(text).text == table.replace("@@", mark).replace("##", mark)
    words = table.replace("@@", "reset").replace("##", "set in 2024")
    assert redact(words).text == words


@pytest.mark.parametrize("text", DOCUMENTED)
def test_words_that_stand_for_a_secret_are_kept(text: str) -> None:
    """Documentation full of placeholders of ours would be knowledge lost."""
    assert redact(text).text == text


def test_without_re2_the_same_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is quicker, and must not be needed."""
    import sys

    from core.base.secrets import nets as module
    from tests.quality.planted_secrets import RULES, planted

    rows = planted(5, RULES, 1)
    together = [redact(row.text) for row in rows]
    monkeypatch.setitem(sys.modules, "re2", None)
    module._seeker.cache_clear()
    try:
        assert [redact(row.text) for row in rows] == together
    finally:
        module._seeker.cache_clear()


def test_a_uuid_does_not_load_the_slow_library() -> None:
    """`knowledge context` answers in a blink, in every prompt of a shell."""
    import subprocess
    import sys

    code = (
        "import sys; from core.base.secrets.redact import redact;"
        "redact('talk-550e8400-e29b-41d4-a716-446655440000 key 12');"
        "print('detect_secrets' in sys.modules, 'requests' in sys.modules)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.split() == ["False", "False"]


# --- covered, glued, wrapped ------------------------------------------------------------------------------------------

TOKEN = "gh" + "p_" + MIXED[:36]
ERASED = {
    "typed and taken back": TOKEN[:10] + "x\b" + TOKEN[10:],
    "three taken back": TOKEN[:10] + "xyz\b\b\b" + TOKEN[10:],
    "bold in a manual": "".join(f"{sign}\b{sign}" for sign in TOKEN),
    "underlined": "".join(f"_\b{sign}" for sign in TOKEN),
    "as cat -v shows it": TOKEN[:10] + "x^H" + TOKEN[10:],
    "in JSON": "".join(f"{sign}\\b{sign}" for sign in TOKEN),
    "in C": "".join(f"{sign}\\010{sign}" for sign in TOKEN),
    "in JSON, by number": "".join(f"{sign}\\u0008{sign}" for sign in TOKEN),
}


@pytest.mark.parametrize("how", ERASED)
def test_a_backspace_inside_a_token_hides_nothing(how: str) -> None:
    """What a terminal shows is a key, whatever was printed over what."""
    redacted = redact(f"remote: {ERASED[how]} done").text
    assert MARK in redacted and redacted.startswith("remote: ") and redacted.endswith(" done")
    assert len(redacted) < 60, redacted


AZURE = "aB3" + "8Q" + "~" + MIXED[:34]


@pytest.mark.parametrize("before", ["", "x=", "secretwas", "client_", "-", "value.", "%3D", "\x1b[32m", "~"])
def test_an_azure_secret_is_found_behind_whatever_it_is_glued_to(before: str) -> None:
    assert AZURE[3:] not in redact(f"{before}{AZURE} x").text


CARDS = [
    "4111111111111111", "4242 4242 4242 4242", "5555-5555-5555-4444", "378282246310005", "3056 930902 5904",
    "6011111111111117",
]  # fmt: skip


@pytest.mark.parametrize("card", CARDS)
def test_a_card_number_goes_whatever_its_digits(card: str) -> None:
    for text in (f"card {card} exp 12/30", f'{{"number": "{card}"}}', f"PAN={card}"):
        assert card not in redact(text).text, text


@pytest.mark.parametrize(
    "text",
    [
        "4111111111111112", "0000 0000 0000 0000", "4444 4444 4444 4444",
        '"id": 5105105105105100', "issue 4111111111111111",
        "trace=4539578763621486", "t=1700000000000000", "4539578763621486.5", "/4539578763621486",
        "4539578763621486abc", "45395787636214860001", "order #4539578763621486",
    ],
)  # fmt: skip
def test_a_number_that_no_card_has_or_that_names_something_stays(text: str) -> None:
    assert redact(text).text == text


@pytest.mark.parametrize("name", ["client-key-data", "client-certificate-data", "certificate-authority-data"])
@pytest.mark.parametrize(
    "form", ["{}: {}", '"{}": "{}"', "{}: >-\n      {}", "{}: |\n      {}", "{}={}", "set u.{} {}"]
)
def test_what_kubectl_keeps_is_masked_in_every_form(name: str, form: str) -> None:
    data = base64.b64encode((MIXED * 4).encode()[:201]).decode()
    for shown in (data, data[:64] + "\n      " + data[64:128] + "\n      " + data[128:]):
        redacted = redact("    " + form.format(name, shown) + "\n    token-file: /x").text
        assert not any(data[at : at + 20] in redacted for at in range(0, 180, 20)), redacted
        assert redacted.endswith("token-file: /x")
    assert redact(f"{name}: DATA+OMITTED").text == f"{name}: DATA+OMITTED"


@pytest.mark.parametrize("name", ["password: ", "DB_PASSWORD=", 'api_key = "'])
@pytest.mark.parametrize(
    "wrapped",
    [
        "{{%s}}", "{{ %s }}", "{%s}", "${%s}", "<%s>", "%%%s%%", "{{'%s'}}", "${PASS:-%s}", "<%%= '%s' %%>", "#{'%s'}",
        "{{ .Values.x | default '%s' }}",
    ],
)  # fmt: skip
def test_a_real_value_in_the_braces_of_a_template_is_one(name: str, wrapped: str) -> None:
    for value in ("hunt" + "3r2Xy9", "aB3xK9" + "mQ2wE7", "Pa$$" + "w0rd99"):
        assert value not in redact(name + wrapped % value).text


@pytest.mark.parametrize(
    "text",
    [
        "password: {{ vault_password }}", "password: {{password}}", "DB_PASSWORD=${DB_PASSWORD}",
        "token: ${{ secrets.T2_X9 }}",
        "password: {{ .Values.db.password }}", 'api_key: "{{ api_key_v2 }}"', "password: {{user1.password}}",
        "DB_PASSWORD=${DB_PASSWORD:-changeme}", 'password: {{ lookup("env", "PW2") }}', "password: <your-password-1>",
        'secret: {{ include "x.fullname" . }}-s3', "password: {{ item.2 }}", "password: ${PASSWORD_2}",
        "password: %PW1%",
        'password: {{ hostvars["db1"].pw }}', "token: {{ steps.step1.outputs.t2 }}", "password: <input type=x1>",
    ],
)  # fmt: skip
def test_a_template_stays_a_template(text: str) -> None:
    assert redact(text).text == text


def test_a_secret_that_begins_like_another_leaves_no_end_behind() -> None:
    """The order of a set is another in every process: in some of them the end of the longer one went to the model."""
    for short, long in (("Xk7-", "Xk7-Wq93"), ("Xk7-Wq93Zz", "Xk7-Wq93Zz-81Lm"), ("Pa55-word", "Pa55-word.Old9")):
        for first, second in ((short, long), (long, short)):
            secrets = Secrets()
            secrets.clear(f"DB_PASSWORD={first}\nADMIN_PASSWORD={second}")
            assert long.removeprefix(short) not in secrets.hide(f"take {long} for it")


# --- said again ------------------------------------------------------------------------------------------------------


def secrets_of(values: Iterable[str]) -> Secrets:
    """Secrets that a text gave away with the word in front of each."""
    secrets = Secrets()
    secrets.clear("\n".join(f"password: {value}" for value in values))
    return secrets


def without_one_by_one(text: str, values: Iterable[str]) -> str:
    """The simple way: each value on its own, the longest first."""
    for value in sorted(values, key=lambda value: (-len(value), value)):
        text = text.replace(value, "\0")
    return text.replace("\0", REPEATED)


@pytest.mark.parametrize("few", [0, 1000])
@given(st.data())
def test_many_secrets_are_hidden_as_one_by_one(few: int, data: st.DataObject) -> None:
    """One that begins another, lies in it or runs on into the next: no end of it may be left."""
    drawn = st.text("xY7", min_size=6, max_size=12).filter(lambda value: not (value.isalpha() or value.isdigit()))
    values = data.draw(st.sets(drawn, max_size=6))
    pieces = st.one_of(st.sampled_from(sorted(values) or ["x"]), st.text("xY7 ", max_size=5))
    text = "".join(data.draw(st.lists(pieces, max_size=8)))
    secrets = Secrets()
    with (
        patch.object(repeats, "redact", lambda text, known=(): Redacted("[redacted: password]", {"password": 1})),
        patch.object(repeats, "MAX_SECRETS_ONE_BY_ONE", few),
    ):
        for value in values:
            secrets.clear(value)
        assert secrets.hide(text) == without_one_by_one(text, values)


def test_hiding_takes_no_longer_for_many_times_the_secrets() -> None:
    """1,600 turns with a password each took three seconds, twice as many eleven."""
    letters, text = random.Random(1), "words of a turn that says nothing. " * 2000

    def many(number: int) -> Secrets:
        secrets = secrets_of("".join(letters.choices("abcdefKLMNOP23456789", k=16)) for _ in range(number))
        assert len(secrets._values) > number * 0.9 and secrets.hide(text) == text
        return secrets

    some, more = many(1_500), many(12_000)
    assert not grows_faster(lambda: some.hide(text), lambda: more.hide(text), 3)


@pytest.mark.parametrize(
    "name", ["password: Hunter2xyz", "db_password=Tr0ub4dor&3", "notes password=Hunter2xyz, again"]
)
def test_a_name_that_tells_a_password_is_no_mere_name(name: str) -> None:
    """Words before a provenance do not make a secret of the name in it; words within it do."""
    told = redact(f"- The port is 8080 [from: {name}, 2026-01-01]").text
    assert "Hunter2xyz" not in told and "Tr0ub4dor" not in told and told.endswith(", 2026-01-01]")
