"""Asking a model, over HTTP or through a program."""

from __future__ import annotations

import copy
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from core.base.answer import Answer
from core.base.paths import ASKED_LINE
from core.base.result import KnowledgeError, attempt, refuse
from core.harvest.answer import SCHEMA
from core.harvest.asking import category_schema
from core.knowledge.categories import CATEGORIES
from core.library import describe
from core.library.use import patterns
from core.llm.credentials import keys_from, read_keys
from core.llm.generate import connect
from core.llm.window import window_of
from core.llm.wire import LENGTHS, SIZES, ModelSettings, adapted
from tests.llm_server import KEY, answered, model_server, reply, told
from tests.waiting import wait_until

# --- From settings to a callable: what cannot work is told before anything is sent.


def connected(settings: ModelSettings, key: str = "") -> Any:
    return connect(settings, credentials=lambda provider, variables: key)


@pytest.mark.parametrize(
    ("settings", "code", "hint"),
    [
        (ModelSettings("opneai", model="m"), "unknown-provider", "openai"),
        (ModelSettings("offline"), "unknown-provider", "openai"),
        (ModelSettings("openai"), "no-credentials", "--model"),
        (ModelSettings("ollama"), "no-model", "--model"),
        (ModelSettings("openai", model="m"), "no-credentials", "OPENAI_API_KEY"),
        (ModelSettings("anthropic", model="m"), "no-credentials", "ANTHROPIC_API_KEY"),
        (ModelSettings("gemini", model="m"), "no-credentials", "GEMINI_API_KEY"),
        (ModelSettings("ollama", model="m", base_url="localhost:11434"), "bad-address", "http://"),
        (ModelSettings("openai", model="m", base_url="https://h/v1?key=x"), "bad-address", "?"),
        (ModelSettings("openai", model="m", base_url="http://[::1"), "bad-address", "http://"),
        (ModelSettings("command"), "no-command", "command"),
        (ModelSettings("ollama", model="m", timeout_seconds=0), "bad-settings", "request_timeout_seconds"),
    ],
)
def test_settings_that_cannot_work_are_told_before_anything_is_sent(
    settings: ModelSettings, code: str, hint: str
) -> None:
    """Else the user would learn of a missing name or key from each of 17 conversations, one after the other."""
    result = attempt(connected, settings)
    assert isinstance(result, KnowledgeError)
    assert (result.error.code, hint in result.error.hint) == (code, True)


def test_a_server_of_ones_own_needs_no_key() -> None:
    """Else nobody could use llama.cpp or vLLM at home without inventing a key."""
    with model_server(reply({"choices": [{"message": {"content": "ok"}}]})) as server:
        generate = connected(ModelSettings("openai", model="m", base_url=server.url))
        assert generate("What?").text == "ok"
    assert "authorization" not in server.requests[0].headers


def test_a_problem_with_the_credentials_is_passed_on() -> None:
    """Else an exposed credentials file would be used without a word."""
    problem = KnowledgeError("credentials-exposed", "others can open the file")
    with pytest.raises(KnowledgeError) as caught:
        connect(ModelSettings("openai", model="m"), credentials=lambda provider, variables: refuse(problem))
    assert caught.value is problem


# --- credentials -----------------------------------------------------------------------------------------------------
# Keys: found where the user put them, refused where others can read them, never shown.


OTHER = "-".join(("sk", "other", "9876543210"))
posix_only = pytest.mark.skipif(os.name != "posix", reason="permission bits are POSIX")


def write(folder: Path, content: str | bytes, mode: int = 0o600) -> Path:
    """A credentials file with this content and mode."""
    path = folder / "credentials.toml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    path.chmod(mode)
    return path


def refused(result: Any, code: str, *words: str) -> None:
    told(result, code, *words)
    assert OTHER not in str(result.error)


def test_the_environment_comes_first_in_the_order_of_its_variables(tmp_path: Path) -> None:
    """Else a key set for one run would be overruled by an old one in a file."""
    path = write(tmp_path, f'[keys]\ngemini = "{OTHER}"\n')
    find = keys_from(path, {"GEMINI_API_KEY": "", "GOOGLE_API_KEY": f" {KEY}\n"})
    assert find("gemini", ("GEMINI_API_KEY", "GOOGLE_API_KEY")) == KEY
    assert find("gemini", ("ELSEWHERE",)) == OTHER


def test_no_key_anywhere_is_no_error_yet(tmp_path: Path) -> None:
    """A server at home needs none; who needs one says so."""
    assert keys_from(tmp_path / "credentials.toml", {})("openai", ("OPENAI_API_KEY",)) == ""
    assert keys_from(None, {})("openai", ("OPENAI_API_KEY",)) == ""
    assert keys_from(write(tmp_path, "# nothing yet\n"), {})("openai", ()) == ""


@posix_only
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o644])
def test_a_file_that_others_can_open_is_refused(tmp_path: Path, mode: int) -> None:
    """Else everyone on a shared computer could read, or replace, the key."""
    path = write(tmp_path, f'[keys]\nopenai = "{KEY}"\n', mode)
    refused(attempt(keys_from(path, {}), "openai", ()), "credentials-exposed", str(path), f"{mode:04o}", "chmod 600")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (f'[keys]\nopenai = "{KEY}\n', ("line 2",)),
        (f"[keys]\n\nopenai = {KEY}\n", ("line 3",)),
        (f'[keys]\nopenai = "{KEY}"\nopenai = "{OTHER}"', ("at its end",)),
        (f'keys = "{KEY}"\n', ("not a table",)),
        (f'[keys]\nopenai = ["{KEY}"]\n', ("'openai'", "not a string")),
        (b'[keys]\nopenai = "\xff"\n', ("UTF-8",)),
        ("#" * 70_000, ("too large",)),
        ("a = " + "[" * 20_000, ("TOML",)),
        ("a = " + "9" * 20_000, ("TOML",)),
    ],
)
def test_a_malformed_file_is_told_without_showing_it(tmp_path: Path, content: str | bytes, words: list[str]) -> None:
    """Else a typing error would end in a traceback that shows the key."""
    path = write(tmp_path, content)
    refused(attempt(keys_from(path, {}), "openai", ()), "credentials-malformed", str(path), *words)


@posix_only
def test_what_is_no_file_is_told(tmp_path: Path) -> None:
    """Else a folder or a FIFO of this name would stop or hold the program."""
    fifo = tmp_path / "credentials.toml"
    os.mkfifo(fifo, 0o600)
    refused(attempt(read_keys, fifo), "credentials-unreadable", "regular file")
    refused(attempt(read_keys, tmp_path), "credentials-unreadable")
    refused(attempt(read_keys, fifo / "below"), "credentials-unreadable", "directory")


@pytest.mark.parametrize("key", [f"{KEY}\n{OTHER}", f"{KEY} x", "schlüssel", "a\x00b"])
def test_a_key_that_no_header_can_carry_is_told(key: str) -> None:
    """Else a key pasted with a line break would fail deep in the HTTP library, which quotes it."""
    refused(
        attempt(keys_from(None, {"OPENAI_API_KEY": key}), "openai", ("OPENAI_API_KEY",)),
        "bad-credentials",
        "OPENAI_API_KEY",
    )


# --- schema ----------------------------------------------------------------------------------------------------------
# What each provider's structured output accepts, made of the schemas that this program has: else a provider refuses
# them, and every answer comes without one.

OURS = [SCHEMA, *(category_schema(row.name) for row in CATEGORIES), describe.SCHEMA, patterns.SCHEMA]


def inside(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A schema and all that are in it."""
    yield schema
    for part in (*schema.get("properties", {}).values(), *filter(None, [schema.get("items")])):
        yield from inside(part)


def test_openai_strict_mode_closes_objects_and_requires_everything() -> None:
    """What was optional may be null: else the model would have to invent a link where there is none."""
    for part in (part for schema in OURS for part in inside(adapted(schema, strict=True))):
        if part["type"] == "object":
            assert part["required"] == list(part["properties"]) and part["additionalProperties"] is False
    row = adapted(SCHEMA, strict=True)["properties"]["facts"]["items"]["properties"]
    assert (row["quote"]["type"], row["confirms"]["type"]) == ("string", ["string", "null"])
    assert None in row["kind"]["enum"] and None in row["scope"]["enum"]


@pytest.mark.parametrize(
    ("without", "known"), [(SIZES, set()), (LENGTHS, {"maxItems"}), ((), {"maxItems", "maxLength"})]
)
def test_a_provider_gets_the_keywords_that_it_knows(without: tuple[str, ...], known: set[str]) -> None:
    before = copy.deepcopy(OURS)
    used = {key for schema in OURS for part in inside(adapted(schema, without)) for key in part}
    assert used == {"type", "enum", "items", "properties", "required", "additionalProperties", *known}
    assert before == OURS  # the provider that is asked next gets its own


# --- window ----------------------------------------------------------------------------------------------------------
# The window of a model: too small, a conversation costs dozens of calls; too large, a server cuts it silently.


def asked(provider: str, body: Any, status: int = 200) -> tuple[int, str]:
    """What the program takes for the window when a server answers like this, and what it asked for."""
    with model_server(reply(body, status)) as server:
        window = window_of(ModelSettings(provider, "m", server.url), lambda name, variables: "")
    (request,) = server.requests
    return window, f"{request.method} {request.path}"


@pytest.mark.parametrize(
    ("provider", "body", "window", "path"),
    [
        ("ollama", {"model_info": {"llama.context_length": 40_960}}, 40_960, "POST /api/show"),
        ("openai", {"data": [{"id": "n"}, {"id": "m", "max_model_len": 16_384}]}, 16_384, "/models"),
        ("openai", {"data": [{"id": "file.gguf", "meta": {"n_ctx_train": 32_768}}]}, 32_768, "/models"),
        ("gemini", {"inputTokenLimit": 1_048_576}, 1_048_576, "GET /v1beta/models/m"),
        ("anthropic", {"id": "m", "max_input_tokens": 200_000}, 200_000, "GET /v1/models/m"),
        ("openai", {"data": [{"id": "m"}]}, 0, "/models"),
        ("openai", {"data": [{"id": "m", "context_length": True}, 7]}, 0, "/models"),
        ("ollama", ["nonsense"], 0, "POST"),
    ],
)
def test_the_window_is_what_the_server_says(provider: str, body: Any, window: int, path: str) -> None:
    found, seen = asked(provider, body)
    assert found == window and path in seen


def test_a_server_that_refuses_or_is_not_there_tells_nothing() -> None:
    assert asked("openai", {"data": [{"id": "m", "max_model_len": 16_384}]}, status=404)[0] == 0
    assert window_of(ModelSettings("ollama", "m", "http://127.0.0.1:9"), lambda name, variables: "") == 0
    assert window_of(ModelSettings("command", "m", command=("x",)), lambda name, variables: "") == 0


@pytest.mark.parametrize(
    ("settings", "window"),
    [
        (ModelSettings("openai", "gpt-4o-mini"), 128_000),
        (ModelSettings("openai", "gpt-4"), 8_192),
        (ModelSettings("command", "", command=("llm", "-m", "openai/gpt-5.2")), 270_000),
        (ModelSettings("command", "", command=("/usr/bin/claude", "-p")), 200_000),
        (ModelSettings("command", "nobody-knows-it", command=("x",)), 0),
    ],
)
def test_where_nobody_tells_the_window_the_models_name_does(settings: ModelSettings, window: int) -> None:
    """Taken for 8,192 tokens, a conversation cost three calls instead of one, and twice the price."""
    assert window_of(settings, lambda name, variables: "") == window


# --- Any program as a model: real programs, well behaved and not.

runs_programs = pytest.mark.skipif(os.name != "posix", reason="process groups and signals are POSIX")


def run(
    command: tuple[str, ...], prompt: str = "prompt", cancelled: Callable[[], bool] = lambda: False, **settings: Any
) -> Any:
    """Ask the program once, in a thread, and fail the test if the call does not come back."""
    settings = {"timeout_seconds": 120.0, **settings}
    connected = connect(
        ModelSettings("command", command=command, **settings),
        credentials=lambda provider, variables: "",
        cancelled=cancelled,
    )
    return answered(connected, prompt)


def python(code: str) -> tuple[str, ...]:
    """A program that is this code."""
    return (sys.executable, "-c", code)


def is_gone(pid: int) -> bool:
    """Whether the process ends within the test's patience (its new parent may take a moment to bury it)."""

    def gone() -> bool:
        try:
            os.kill(pid, 0)
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
        except (ProcessLookupError, FileNotFoundError):
            return True

    if wait_until(gone):
        return True
    os.kill(pid, signal.SIGKILL)
    return False


def test_the_prompt_goes_in_and_the_answer_comes_out() -> None:
    """Else a coding agent could not be used; long prompts and foreign letters must survive the pipes."""
    code = "import sys; d = sys.stdin.buffer.read(); sys.stdout.buffer.write(d[::1].upper() + b' %d' % len(d))"
    prompt = "grüße " * 100_000
    result = run(python(code), prompt, model="agent")
    given = f"{ASKED_LINE}\n\n{prompt}".encode()
    expected = given.upper().decode() + f" {len(given)}"
    assert result == Answer(expected, "agent", requests=1)


def test_a_program_that_does_not_read_its_input_may_still_answer() -> None:
    """Else a script that ignores its input would fail as soon as the prompt is larger than a pipe."""
    assert run(python("print('{}')"), "x" * 500_000).text == "{}\n"


FAILING: dict[str, tuple[str, dict[str, Any], str, tuple[str, ...]]] = {
    "with its first complaint: the agent wants a login": (
        "import sys; print('half'); sys.stderr.write('\\x1b[31mnot\\x1b[0m logged in\\n' * 9999); sys.exit(3)",
        {}, "command-failed", ("status 3", "not logged in", "by hand"),
    ),
    "a spinner on standard output would hold the run for ever": (
        "import time\nwhile True: print('.', end='', flush=True); time.sleep(0.01)",
        {"timeout_seconds": 0.5}, "timed-out", (),
    ),
    "a runaway program could fill the memory": (
        "import sys\nwhile True: sys.stdout.write('x' * 65536)", {"max_answer_bytes": 100_000}, "answer-too-large", (),
    ),
    "one that is quick to end would slip its answer past the limit, cut in the middle": (
        "print('x' * 2000)", {"max_answer_bytes": 1000}, "answer-too-large", (),
    ),
    "mangled letters would be written into the user's knowledge": (
        "import sys; sys.stdout.buffer.write(b'caf\\xe9')", {}, "bad-answer", ("UTF-8",),
    ),
    "silence would pass for an answer": ("pass", {}, "empty-answer", ()),
}  # fmt: skip


@pytest.mark.parametrize("why", FAILING)
def test_a_program_that_fails_is_told(why: str) -> None:
    code, settings, error, words = FAILING[why]
    told(attempt(run, python(code), **settings), error, *words)


@runs_programs
def test_a_program_that_dies_is_told() -> None:
    """Else an answer that stopped in the middle of a crash would be believed."""
    code = "import os, sys; print('half', flush=True); os.kill(os.getpid(), 9)"
    told(attempt(run, python(code)), "command-failed", "signal 9")


def test_a_missing_program_is_told() -> None:
    """The commonest mistake: the sentence must name the program and the setting."""
    told(attempt(run, ("no-such-program-here", "-p")), "command-missing", "no-such-program-here", "command")


@runs_programs
def test_a_program_that_is_no_program_is_told(tmp_path: Path) -> None:
    """Else a script without its first line would end in a traceback."""
    script = tmp_path / "agent"
    script.write_bytes(b"\x7fELF nonsense")
    script.chmod(0o755)
    told(attempt(run, (str(script),)), "command-missing", "cannot be started")
    script.chmod(0o644)
    told(attempt(run, (str(script),)), "command-missing", "executable")


@runs_programs
@pytest.mark.parametrize("deaf", [False, True], ids=["polite", "deaf"])
def test_a_program_that_hangs_ends_with_everything_it_started(tmp_path: Path, deaf: bool) -> None:
    """Else each time-out would leave an agent behind that goes on working, and costing money."""
    note = tmp_path / "pids"
    ignore = "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" if deaf else ""
    code = (
        f"import os, pathlib, signal, subprocess, sys, time\n{ignore}"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"note = pathlib.Path({str(note)!r})\n"
        "note.with_suffix('.new').write_text(f'{os.getpid()} {child.pid}')\n"
        "note.with_suffix('.new').rename(note)\n"
        "time.sleep(600)"
    )
    told(attempt(run, python(code), cancelled=note.exists), "cancelled")
    pids = [int(pid) for pid in note.read_text().split()]
    assert len(pids) == 2 and all(is_gone(pid) for pid in pids)


def test_cancelling_ends_the_program() -> None:
    """Else Ctrl-C and the panel's stop button would wait for the agent."""
    asked = iter([False] * 3)
    told(attempt(run, python("import time; time.sleep(600)"), cancelled=lambda: next(asked, True)), "cancelled")


def test_no_program_starts_after_the_run_was_stopped(tmp_path: Path) -> None:
    """Each that waited for its turn was asked once more, and paid for."""
    note = tmp_path / "asked"
    failed = attempt(run, python(f"open({str(note)!r}, 'w')"), cancelled=lambda: True)
    told(failed, "cancelled")
    assert not note.exists() and isinstance(failed, KnowledgeError) and failed.requests == 0


@runs_programs
def test_ctrl_c_ends_the_program(tmp_path: Path) -> None:
    """Its process group is not the terminal's: Ctrl-C alone would leave the agent at work."""
    note = tmp_path / "pid"
    code = f"import os, time; os.symlink(str(os.getpid()), {str(note)!r}); time.sleep(600)"

    def interrupted() -> bool:
        if note.is_symlink():
            raise KeyboardInterrupt
        return False

    with pytest.raises(KeyboardInterrupt):
        connect(ModelSettings("command", command=python(code)), credentials=keys_from(None, {}), cancelled=interrupted)(
            "prompt"
        )
    assert is_gone(int(note.readlink().name))


@runs_programs
@pytest.mark.skipif(sys.platform == "win32", reason="a shell's background")
def test_the_answer_of_a_wrapper_that_ended_before_its_program_is_read() -> None:
    """It was taken for an empty answer."""
    assert run(["/bin/sh", "-c", "(sleep 0.2; echo late) & exit 0"]).text == "late\n"


def test_a_child_left_behind_does_not_hold_the_answer(tmp_path: Path) -> None:
    """Some agents leave a server running that keeps the output open; their answer is complete all the same."""
    note = tmp_path / "pid"
    code = (
        "import pathlib, subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"pathlib.Path({str(note)!r}).write_text(str(child.pid))\n"
        "print('the answer')"
    )
    assert run(python(code)).text == "the answer\n"
    assert is_gone(int(note.read_text()))
