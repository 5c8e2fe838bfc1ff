"""config.toml: every value checked, one value changed, nothing else touched."""

from __future__ import annotations

import hashlib
import re
import tomllib
from dataclasses import fields
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from platformdirs import user_cache_path, user_config_path

from core.base.answer import PRICES_FILE, price
from core.base.config import (
    NEW_FILE,
    SHIPPED_FILE,
    Config,
    LoadedConfig,
    changed_config,
    load_config,
    shown_value,
    user_config_file,
    writable_config_file,
)
from core.base.paths import APPLICATION, cache_folder, user_folder
from core.base.result import KnowledgeError, Ok, attempt
from core.base.settings import REMOVED, SETTINGS, Value, parse_setting
from core.base.trust import allow
from core.harvest.steps import DistilSettings
from core.library.workers import MANNED_SECONDS
from core.llm.wire import ModelSettings

OURS = "[ai_settings.knowledge]\n"


def load(folder: Path, text: str | bytes | None = None, *, trusted: bool = True, **env: str) -> LoadedConfig | str:
    """What is loaded with `text` as ./config.toml, allowed or not, or the error as one line."""
    variables = {"XDG_CONFIG_HOME": str(folder / "xdg")} | env
    if text is not None:
        data = text.encode() if isinstance(text, str) else text
        (folder / "config.toml").write_bytes(data)
        if trusted:
            assert allow(variables, {folder / "config.toml": hashlib.sha256(data).hexdigest()}) is None
    loaded = attempt(load_config, None, variables, folder)
    return loaded.value if isinstance(loaded, Ok) else str(loaded.error)


def ok(found: LoadedConfig | str) -> LoadedConfig:
    assert isinstance(found, LoadedConfig), found
    return found


def test_the_shipped_file_has_every_setting_once_with_a_comment_above_it() -> None:
    """A setting without a default stops the program; one without a comment cannot be understood."""
    shipped = tomllib.loads(SHIPPED_FILE.read_text("utf-8"))
    assert set(shipped["ai_settings"]["knowledge"]) | set(shipped["paths"]) == {one.key for one in SETTINGS}
    assert {one.name for one in fields(Config)} == {one.key for one in SETTINGS}
    lines = SHIPPED_FILE.read_text("utf-8").split("\n")
    for number, line in enumerate(lines):
        if "=" in line and not line.startswith("#"):
            assert lines[number - 1].startswith("#") or "price_output" in line, line


def test_without_any_file_the_shipped_values_hold(tmp_path: Path) -> None:
    """A first start must work with no file at all, and say where each value comes from."""
    loaded = ok(load(tmp_path))
    assert loaded.found_by == "shipped" and loaded.file == SHIPPED_FILE and loaded.home_setting == ""
    assert loaded.config.digest_max_bytes == 4096 and loaded.config.file_roots == ("~",)
    assert set(loaded.origins.values()) == {str(SHIPPED_FILE)} and loaded.warnings == ()


def test_files_are_looked_for_in_the_promised_order(tmp_path: Path) -> None:
    """The wrong file would silently run with somebody else's settings."""
    env = {"XDG_CONFIG_HOME": str(tmp_path / "xdg")}
    named, by_env = tmp_path / "a.toml", tmp_path / "b.toml"
    user = user_config_file(env)
    user.parent.mkdir(parents=True)
    for jobs, file in enumerate((named, by_env, tmp_path / "config.toml", user), 10):
        file.write_text(f"{OURS}jobs = {jobs}\n")
    load(tmp_path, f"{OURS}jobs = 12\n")  # which allows it
    seen = []
    for explicit, more in ((named, True), (None, True), (None, False)):
        found = load_config(explicit, env | ({"SLOP_CONFIG": "b.toml"} if more else {}), tmp_path)
        seen.append((found.config.jobs, found.found_by))
    (tmp_path / "config.toml").unlink()
    last = ok(load(tmp_path))
    seen.append((last.config.jobs, last.found_by))
    assert seen == [(10, "--config"), (11, "SLOP_CONFIG"), (12, "./config.toml"), (13, "user")]
    assert last.origins["jobs"] == str(user) and last.origins["redact"] == str(SHIPPED_FILE)


@pytest.mark.parametrize("rule", ["--config", "SLOP_CONFIG"])
def test_a_named_file_that_is_missing_or_a_folder_is_an_error(tmp_path: Path, rule: str) -> None:
    """Going on with defaults would ignore what the user asked for."""
    for name in ("nowhere.toml", "."):
        explicit = Path(name) if rule == "--config" else None
        found = attempt(load_config, explicit, {} if explicit else {"SLOP_CONFIG": name}, tmp_path)
        assert isinstance(found, KnowledgeError) and found.error.code == "no-config" and rule in str(found.error)


def test_a_strangers_config_toml_is_passed_over(tmp_path: Path) -> None:
    """Starting the program inside a Rust or Hugo project must not fail, nor take that file for ours."""
    other = ok(load(tmp_path, 'baseURL = "https://example.org"\n[build]\njobs = "many"\n', trusted=False))
    assert other.found_by == "shipped" and other.folder is None and other.warnings == ()
    broken = ok(load(tmp_path, "not = = toml", trusted=False))
    assert broken.found_by == "shipped" and "passed over" in broken.warnings[0]
    host = '[paths]\nlogs = "/var"\n[ai_settings]\nmodel = 3\n'
    assert ok(load(tmp_path, host, trusted=False)).warnings == ()
    mine = ok(load(tmp_path, host))
    assert mine.found_by == "./config.toml" and mine.warnings == () and mine.config.jobs == 4
    assert "line 1" in str(load(tmp_path, "[ai_settings.knowledge\n"))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('jobs = "4"', ('the text "4"', "a whole number from 1 to 64", "line 3")),
        ("jobs = true", ("is true", "a whole number")),
        ("jobs = 0", ("the number 0", "from 1 to 64")),
        ("jobs = 4.0", ("the number 4.0", "a whole number")),
        ("digest_enabled = 1", ("the number 1", "true or false")),
        ('reclaim = "sometimes"', ('"sometimes"', '"always", "model" or "never"')),
        ('file_roots = ["relative"]', ("a list", "absolute folders")),
        ('command = "prog"', ('the text "prog"', "a list of texts")),
        ("request_timeout_seconds = nan", ("nan", "seconds")),
        ("price_input_per_million = -2", ("-2", "-1 for the shipped price table")),
        ('base_url = "http://user:pass@host"', ("base_url", "without a password")),
        ("trash_days = 2026-01-01", ("a date", "a whole number")),
        ("model = {}", ("a table", "the name of a model")),
    ],
)
def test_a_wrong_value_names_file_line_key_and_what_is_accepted(
    tmp_path: Path, line: str, said: tuple[str, ...]
) -> None:
    """Without these four the user cannot repair the file."""
    message = load(tmp_path, f"# mine\n{OURS}{line}\n")
    assert isinstance(message, str)
    for words in (str(tmp_path / "config.toml"), line.partition(" ")[0], *said):
        assert words in message


def test_lines_are_found_in_dotted_and_inline_forms(tmp_path: Path) -> None:
    """A wrong line number sends the user to somebody else's setting."""
    other = "[other]\njobs = 1\n"
    for text in (
        f"{other}[ai_settings]\nknowledge.jobs = true\n",
        f"{other}[ai_settings]\nknowledge = {{ jobs = true }}\n",
    ):
        assert "line 4" in str(load(tmp_path, text))
    assert "line 1" in str(load(tmp_path, f"ai_settings.knowledge.jobs = true\n{other}"))
    assert "a table" in str(load(tmp_path, "ai_settings.knowledge = 3\n"))


def test_unreadable_text_is_one_sentence(tmp_path: Path) -> None:
    """A traceback tells a user nothing."""
    assert "line 3, column 8" in str(load(tmp_path, f"{OURS}jobs = 4\njobs = = 4\n"))
    assert "UTF-8 text (line 2)" in str(load(tmp_path, OURS.encode() + b'model = "\xff"\n'))
    assert "nested too deeply" in str(load(tmp_path, "ai_settings.x = " + "[" * 100_000))
    assert "not valid TOML" in str(load(tmp_path, f"{OURS}model = 2026-13-45\n"))
    assert ok(load(tmp_path, b"\xef\xbb\xbf" + OURS.encode() + b"jobs = 7\r\n")).config.jobs == 7


def test_an_unknown_key_is_a_warning_with_the_nearest_known_one(tmp_path: Path) -> None:
    """A misspelt switch would otherwise be ignored without a word."""
    loaded = ok(load(tmp_path, f"{OURS}digest_enable = false\nzzz = 1\n[paths]\nhme = 3\n"))
    assert len(loaded.warnings) == 2
    assert "line 2: unknown setting 'digest_enable'" in loaded.warnings[0]
    assert "'digest_enabled'" in loaded.warnings[0] and "nearest" not in loaded.warnings[1]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[ai_settings.knowlege]\njobs = 3\n", "the table [ai_settings.knowlege] is ignored"),
        ("[ai_setting.knowledge]\njobs = 3\n", ""),
        ("[knowledge]\njobs = 3\n", "the table [knowledge] is ignored"),
        ("title = 1\njobs = 3\n", ", line 2: jobs stands in no table and is ignored"),
        ("[ai_settings.other]\njobs = 3\n", ""),
        ("[paths]\nhome = '~/x'\n", ""),
    ],
)
def test_a_table_with_nearly_our_name_is_a_warning(tmp_path: Path, text: str, told: str) -> None:
    """A whole file counted for nothing, without a word."""
    (tmp_path / "mine.toml").write_text(text)
    warnings = load_config(tmp_path / "mine.toml", {}, tmp_path).warnings
    assert len(warnings) == bool(told) and told in "".join(warnings), warnings


@pytest.mark.parametrize(("key", "now"), sorted(REMOVED.items()))
def test_a_setting_that_went_is_refused_where_it_asks_for_something_else(tmp_path: Path, key: str, now: Value) -> None:
    """Who switched something off would not learn that it is on; who left the line as it was loses nothing."""
    kept = ok(load(tmp_path, f"{OURS}{key} = {shown_value(now)}\n"))
    assert kept.warnings == () and kept.config == ok(load(tmp_path, OURS)).config
    other = "false" if now is True else "12345"
    told = str(load(tmp_path, f"{OURS}jobs = 3\n{key} = {other}\n"))
    for words in (f"config.toml, line 3: {key} is", other, f"always {shown_value(now)}", "Take the line out."):
        assert words in told


def test_the_values_of_settings_that_went_are_those_in_force() -> None:
    """The sentence about such a line would tell something else than what happens."""
    assert ModelSettings("openai").max_answer_bytes == REMOVED["max_answer_bytes"]
    assert DistilSettings(1, 1, "off", False).part_bytes == REMOVED["summary_part_bytes"]
    assert REMOVED["workers_wait_seconds"] == MANNED_SECONDS


def test_the_shipped_file_of_an_installation_is_never_written(tmp_path: Path) -> None:
    """The next upgrade would take the user's settings away."""
    env = {"XDG_CONFIG_HOME": str(tmp_path / "xdg")}
    assert writable_config_file(ok(load(tmp_path)), env) == tmp_path / "xdg" / "manual_slop" / "config.toml"
    assert writable_config_file(ok(load(tmp_path, OURS)), env) == tmp_path / "config.toml"
    for folder in (SHIPPED_FILE.parent, tmp_path / "clone"):  # a checkout of this program, and another one beside it
        folder.mkdir(exist_ok=True)
        if folder != SHIPPED_FILE.parent:
            (folder / "config.toml").write_bytes(SHIPPED_FILE.read_bytes())
        checkout = ok(load_config(None, env, folder))  # type: ignore[union-attr]
        assert writable_config_file(checkout, env) == tmp_path / "xdg" / "manual_slop" / "config.toml"
        assert checkout.warnings == ()


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("digest_enabled", "true", True),
        ("ai_settings.knowledge.digest_enabled", "off", False),
        ("jobs", " 8 ", 8),
        ("price_input_per_million", "2.5", 2.5),
        ("file_roots", '["~", "/srv"]', ("~", "/srv")),
        ("provider", "ollama", "ollama"),
        ("model", '"gpt # 1"', "gpt # 1"),
        ("paths.home", "~/x", "~/x"),
    ],
)
def test_typed_words_become_values(key: str, text: str, value: object) -> None:
    """`config set` must store a number as a number."""
    parsed = attempt(parse_setting, key, text)
    assert isinstance(parsed, Ok) and parsed.value == value and type(parsed.value) is type(value)


@pytest.mark.parametrize(
    ("key", "text"),
    [("jobs", "many"), ("jobs", "true"), ("file_roots", "~"), ("jobs", "1\nx = 2"), ("digest_enabled", "2")],
)
def test_typed_words_that_do_not_fit_are_refused(key: str, text: str) -> None:
    """A refused word says what would be accepted."""
    refused = attempt(parse_setting, key, text)
    assert isinstance(refused, KnowledgeError) and "Accepted: " in str(refused.error)
    unknown = attempt(parse_setting, "digest_enable", text)
    assert isinstance(unknown, KnowledgeError) and "'digest_enabled'" in str(unknown.error)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f"{OURS}digest_enabled   =   true   # why\n", f"{OURS}digest_enabled   =   false   # why\n"),
        ("ai_settings.knowledge.digest_enabled = true", "ai_settings.knowledge.digest_enabled = false"),
        ("[ai_settings]\r\nknowledge = {a = 1, digest_enabled=true}\r\n", None),
        ("[ai_settings]\nknowledge.'digest_enabled' = true\n", None),
        (
            f"{OURS}  jobs = 4 # four\n\n# next\n[b]\n",
            f"{OURS}digest_enabled = false\n  jobs = 4 # four\n\n# next\n[b]\n",
        ),
        (f"{OURS}# only words\n\n[b]\n", f"{OURS}digest_enabled = false\n# only words\n\n[b]\n"),
        ("[ai_settings]\nknowledge = {}\n", "[ai_settings]\nknowledge = {digest_enabled = false}\n"),
        ("ai_settings = {a = 1}\n[b]\n", "ai_settings = {a = 1,knowledge = {digest_enabled = false}}\n[b]\n"),
        ("ai_settings.x = 1\r\n", f"ai_settings.x = 1\r\n\r\n{OURS.strip()}\r\ndigest_enabled = false\r\n"),
        ("[ai_settings]\na=1\n[b]\nz=1", f"[ai_settings]\na=1\n[b]\nz=1\n\n{OURS}digest_enabled = false\n"),
        (
            f'x = """\n{OURS}"""\n{OURS}jobs = [1,\n2] # x',
            f'x = """\n{OURS}"""\n{OURS}digest_enabled = false\njobs = [1,\n2] # x',
        ),
        ("", f"{NEW_FILE}\n{OURS}digest_enabled = false\n"),
    ],
)
def test_one_value_changes_and_the_rest_stays(before: str, after: str | None) -> None:
    """The file is the user's: comments, order, spaces and line ends are theirs."""
    changed = changed_config(before.encode(), "digest_enabled", False)
    expected = before.replace("true", "false") if after is None else after
    assert changed == expected.encode()
    assert changed_config(expected.encode(), "digest_enabled", False) == changed


def test_a_change_that_cannot_be_made_is_refused() -> None:
    """Better no change than a damaged file."""
    for data in (b"not = = toml", b'ai_settings = "text"\n', b"[[ai_settings]]\n", b"\xff"):
        assert isinstance(attempt(changed_config, data, "digest_enabled", False), KnowledgeError)
    assert isinstance(attempt(changed_config, b"", "jobs", 0), KnowledgeError)
    assert isinstance(attempt(changed_config, b"", "nothing", 0), KnowledgeError)


VALUES = st.one_of(
    st.sampled_from(
        ["1", "-0.0", "nan", "0x1F", "true", "1979-05-27T07:32:00Z", "'c:\\x'", '"a # = [b]"', "[ 1, 2, ]", "[]", "{}"]
    ),
    st.sampled_from(['"""\n [t]\n"""', "'''\n'q'\n'''", "[\n  'a', # note\n  'b'\n]", "{ a = 1, 'b c' = [] }"]),
    st.just('"digest_enabled = true"'),
)
NAMES = st.sampled_from(["a", "b-c", '"quoted key"', "'x.y'", "digest_enabled", "knowledge", "a . b", "jobs"])
NOISE = st.sampled_from(["", "  ", "# a comment", "   # digest_enabled = true", "\t"])
TOGGLES = st.sampled_from(
    [
        "[ai_settings.knowledge]\n@",
        "[ai_settings.knowledge]\njobs = 4\n  @   # inline words",
        "[ai_settings]\nprovider = 'x'\nknowledge.@",
        "[ai_settings]\nknowledge = { jobs = 1, @, x = [1] }",
        "[ ai_settings . knowledge ]\n\n@\t\n[ai_settings.knowledge.extra]\ny = 1",
    ]
)


@st.composite
def documents(draw: st.DrawFn) -> tuple[bytes, bytes]:
    """A settings file with foreign tables around ours, and the same file with the one value changed."""
    parts: list[str] = []
    place = draw(st.integers(0, 3))
    for number in range(4):
        if number == place:
            parts.append(draw(TOGGLES).replace("@", "digest_enabled = @TRUE@"))
        opening = draw(st.sampled_from([f"[t{number}]", f"[[l{number}]]", f"[ t{number} . 'u v' ]"]))
        lines = [f"{name} = {draw(VALUES)}{draw(NOISE)}" for name in draw(st.lists(NAMES, max_size=3, unique=True))]
        parts.append("\n".join([opening + draw(NOISE), *lines, draw(NOISE)]))
    text = "\n".join(parts) + draw(st.sampled_from(["", "\n", "\n\n# the end", "  "]))
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    mark = draw(st.sampled_from([b"", b"\xef\xbb\xbf"]))
    return tuple(mark + text.replace("@TRUE@", word).encode() for word in ("true", "false"))  # type: ignore[return-value]


@given(documents())
@example((b"[ai_settings.knowledge]\ndigest_enabled = true", b"[ai_settings.knowledge]\ndigest_enabled = false"))
def test_switching_the_digest_changes_that_value_and_no_other_byte(pair: tuple[bytes, bytes]) -> None:
    """Whatever else is in the shared file must survive a click on the switch, byte for byte."""
    on, off = pair
    try:
        tomllib.loads(on.decode("utf-8-sig"))
    except tomllib.TOMLDecodeError:
        return
    assert changed_config(on, "digest_enabled", False) == off
    assert changed_config(off, "digest_enabled", True) == on


@pytest.mark.parametrize("home", ["", "here", "~"])
def test_a_home_that_is_no_place_does_not_move_the_settings_to_where_the_work_is(
    home: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder somebody else filled must not become the user's own, just because a variable is empty or relative."""
    monkeypatch.setenv("HOME", home)
    for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    assert user_folder({}) == user_config_path(APPLICATION)
    assert cache_folder(Path("/home"), {}).parent == user_cache_path(APPLICATION) / "knowledge"


# --- price -----------------------------------------------------------------------------------------------------------
# The estimate before a run: right where it is known, silent where it is not.


MILLION = 1_000_000


@pytest.mark.parametrize(
    ("provider", "model", "dollars"),
    [
        ("openai", "gpt-5.4", 17.5),
        ("openai", "gpt-5.4-mini-2026-03-17", 5.25),
        ("openai", "gpt-5.41", None),
        ("openai", "gpt-4.1-mini", None),
        ("openai", "deepseek/deepseek-flash", 1.5),
        ("anthropic", "claude-opus-4-1-20250805", 90.0),
        ("anthropic", "claude-opus-4-6", 30.0),
        ("anthropic", "Claude-Haiku-4-5", 6.0),
        ("gemini", "models/gemini-2.5-flash-lite", 0.5),
        ("gemini", "claude-opus-4-6", None),
        ("openai", "a-model-nobody-knows", None),
        ("openai", "", None),
        ("ollama", "llama3", 0.0),
        ("offline", "", 0.0),
        ("command", "gpt-5.4", None),
    ],
)
def test_the_price_of_a_million_tokens_each_way(provider: str, model: str, dollars: float | None) -> None:
    """A wrong price shows a bill that does not come; a guessed one is worse than none."""
    found = price(provider, model, MILLION, MILLION)
    assert found is None if dollars is None else found == pytest.approx(dollars)


def test_the_users_own_prices_win() -> None:
    """Whoever has a contract of their own must see their own figures, for a command as well."""
    assert price("command", "", 2 * MILLION, MILLION, (1.0, 3.0)) == pytest.approx(5.0)
    assert price("openai", "gpt-5.4", MILLION, MILLION, (0.0, -1.0)) == pytest.approx(15.0)
    assert price("openai", "gpt-5.4", 1000, 0, (-1.0, -1.0)) == pytest.approx(0.0025)


def test_every_row_of_the_shipped_table_is_whole_and_dated() -> None:
    """A price without a date cannot be trusted, and a broken row would silently drop the estimate."""
    for maker, table in tomllib.loads(PRICES_FILE.read_text("utf-8")).items():
        assert re.fullmatch(r"2026-\d\d-\d\d", table["checked"]), maker
        for model, row in table["models"].items():
            assert not row or (set(row) == {"input", "output"} and 0 < row["input"] < row["output"]), model
