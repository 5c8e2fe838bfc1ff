"""Passwords and keys in a conversation: they reach no model, no file of ours and no screen, and the user is told."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from core.base.answer import Answer
from core.base.secrets import repeats
from core.base.secrets.redact import Redacted, redact
from core.commands import bullets, status
from core.commands.context import context
from core.commands.conversations import ConversationFilters, find
from core.commands.harvest import harvest
from core.commands.harvest_options import HarvestRequest
from core.commands.history.ledger import ledger
from core.commands.panel.ledger_rows import rows_of
from core.commands.panel.titles import titles_of
from core.commands.quarantine import quarantine_accept, quarantine_list
from core.commands.workspace import Workspace
from core.conversations.conversation import Conversation, Turn
from core.conversations.read import read_conversation
from core.harvest.answer import items_from
from core.harvest.distil import distil, redacted_conversation
from core.harvest.quotes import NO_SOURCE
from core.harvest.steps import DistilSettings
from core.knowledge.projects import own_name
from core.llm.generate import connect
from core.llm.wire import ModelSettings, excerpt
from core.sources.scan import scan_conversations
from tests.cli_call import call
from tests.edited import held_line
from tests.made_home import UUID, Clock, Model, converse, error, harvested, make_home, read, write
from tests.spoken_home import claude_row

MIXED = "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z"
GITHUB = "gh" + "p_" + MIXED
FACE = "hf" + "_" + MIXED
PASSWORD = "hunter" + "2xyz"
SECRETS = (GITHUB, FACE, PASSWORD)
SAID = f"my token is {GITHUB} and DB_PASSWORD={PASSWORD}"


class Echo(Model):
    """A model that keeps its prompts, and summarises where no items are asked for."""

    def __init__(self, **rows: Any) -> None:
        super().__init__(**rows)
        self.prompts: list[str] = []

    def __call__(self, prompt: str, schema: Mapping[str, Any] | None = None) -> Answer:
        self.prompts.append(prompt)
        return super().__call__(prompt, schema) if schema else Answer(f"summary {len(self.prompts)}")


def everywhere(folder: Path) -> dict[str, bytes]:
    """Every file that the program wrote: all of the home but the conversations themselves, and the cache."""
    kept = folder / "home" / "conversations"
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file() and kept not in path.parents}


def test_no_secret_leaves_a_conversation(tmp_path: Path) -> None:
    """Neither to the model nor into knowledge, ledger, journal archive, quarantine, changes, digest or a cache."""
    workspace = make_home(tmp_path)
    path = converse(workspace, text=SAID)
    path.rename(path.with_name(f"{FACE}-{UUID}"))
    model = Echo(
        facts=[f"the token is {GITHUB}", {"statement": "cut", "detail": "y" * 470 + "/" + FACE}, "harmless"],
        files=[{"path": f"/srv/{FACE}", "note": "n"}],
        playbooks=[{"name": "Log in", "steps": f"mysql --password {PASSWORD}", "quote": PASSWORD}],
    )
    report = harvested(workspace, model, Clock(), keep=True)
    assert model.prompts and not any(secret in prompt for prompt in model.prompts for secret in SECRETS)
    assert report.redacted == {"github-token": 2, "password": 2} and report.quarantined == 4
    parts = [secret[:12] for secret in (GITHUB, PASSWORD)] + ["--password hunter"]
    found = [(name, part) for name, data in everywhere(tmp_path).items() for part in parts if part.encode() in data]
    assert found == []
    held = quarantine_list(workspace)
    assert {row.held for row in held} == {"secret"} and any("[redacted: github-token]" in row.text for row in held)
    assert "harmless" in read(workspace, "digest.md") and "[redacted" not in read(workspace, "digest.md")


def test_letting_a_held_item_in_brings_its_placeholder_and_not_the_secret(tmp_path: Path) -> None:
    workspace = make_home(tmp_path)
    converse(workspace)
    harvested(workspace, Model(facts=[f"the token is {GITHUB}"]), Clock())
    quarantine_accept(workspace, held_line(workspace.paths, "the token"))
    assert "- the token is [redacted: github-token] [from:" in read(workspace, "facts.md")


def test_what_the_person_is_shown_has_kinds_and_counts_alone(tmp_path: Path) -> None:
    """Reports end up in tickets and on screenshots."""
    home = tmp_path / "home"
    talks = home / "conversations"
    talks.mkdir(parents=True)
    (talks / f"chat-{UUID}").write_text(f"User: {SAID}\n\nUser: We decided to use {GITHUB} for it.\n")
    said = ""
    for words in (["harvest", "--apply", "--debug"], ["harvest", "--json"], ["ledger", "--json"], ["review"],
                  ["undo"], ["doctor"], ["status", "--json"], ["context"]):  # fmt: skip
        said += "".join(call(*words, "--home", str(home))[1:])
    assert "secrets replaced: github-token:2, password:1" in said
    assert not any(secret in said for secret in SECRETS)


@pytest.mark.parametrize("row", [f"{'x' * 470}/{FACE}", {"statement": f"{'x' * 470}/{FACE}"}])
def test_a_secret_is_found_before_the_line_is_cut(row: Any) -> None:
    """Half of a key has no known shape any more, and half of it is still too much."""
    [item] = items_from({"facts": [row]}, NO_SOURCE, quotes="check", secrets=True).items
    assert item.held == "secret" and FACE[:6] not in item.text


def test_a_secret_that_invisible_characters_cut_in_two_is_found(tmp_path: Path) -> None:
    row = f"the token is {GITHUB[:10]}\u200b{GITHUB[10:]}"
    [item] = items_from({"facts": [row]}, NO_SOURCE, quotes="check", secrets=True).items
    assert item.held == "secret" and GITHUB[:10] not in item.text


def titled(workspace: Workspace, title: str, *said: str) -> Path:
    """A session whose tool called it by its first request."""
    rows: list[dict[str, Any]] = [{"type": "custom-title", "customTitle": title, "sessionId": "s"}]
    for at, text in enumerate(said):
        role = ("user", "assistant")[at % 2]
        row = {"type": role, "sessionId": "s", "uuid": f"u{at}", "timestamp": f"2026-05-04T10:{at:02}:00.000Z"}
        rows.append(row | {"cwd": "/srv/shop", "message": {"role": role, "content": text}})
    path = workspace.paths.conversations / f"talk-{UUID}"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_a_title_tells_no_key_that_lost_its_punctuation(tmp_path: Path) -> None:
    """Neither in the ledger, a dry run, the panel, a prompt nor a search: also where the conversation has grown since,
    and what is new does not tell the key again."""
    workspace = make_home(tmp_path)
    bare = GITHUB.replace("_", "")
    title, said = f"Deploy with {bare[:24]}", [f"Deploy with {GITHUB} please", "It is deployed."]
    model, clock, told = Echo(), Clock(), []
    for more in ((), ("Now the second server.", "That one, too.")):
        said += more
        path = titled(workspace, title, *said)
        told.append(str(titles_of(workspace, scan_conversations(workspace.paths))))
        told.append(str(harvest(workspace, HarvestRequest(), now=clock)))
        harvested(workspace, model, clock, keep=True)
        rows = ledger(workspace)
        told += [str([row.entry for row in rows]), str([rows_of(rows).called(own_name(row.entry)) for row in rows])]
        told.append(str(find(workspace, "deploy", ConversationFilters(), 10, seconds=60.0)))
    told += model.prompts
    assert "second server" in model.prompts[-1] and len(said) == 4
    assert not [text for text in told if bare[:12] in text or GITHUB[:12] in text]
    written = {str(file): file.read_bytes() for file in tmp_path.rglob("*") if file.is_file() and file != path}
    assert not [name for name, data in written.items() if bare[:12].encode() in data]


def test_a_password_of_signs_alone_does_not_empty_a_title(tmp_path: Path) -> None:
    workspace = make_home(tmp_path)
    titled(workspace, "Fix the build", "use sshpass -p '!@#^&*!!#' ssh host", "It is deployed.")
    harvested(workspace, Echo(), Clock(), keep=True)
    [hit] = find(workspace, "deployed", ConversationFilters(), 10, seconds=60.0).hits
    assert hit.title == "Fix the build"


def test_a_long_title_is_cut_behind_a_word(tmp_path: Path) -> None:
    workspace = make_home(tmp_path)
    path = titled(workspace, "Mend the scale " * 15, "Mend the scale", "Done.")
    shown = titles_of(workspace, scan_conversations(workspace.paths))[str(path)].title
    harvested(workspace, Model(facts=["a fact"]), Clock(), keep=True)
    [row] = ledger(workspace)
    assert row.entry["title"] == shown and shown.endswith(" …") and len(shown) <= 122


def _cut_at(length: int) -> str:
    """A text in which a key stands across that place."""
    return f"{'word ' * (length // 5 - 6)}{GITHUB} {'word ' * 2000}"


@pytest.mark.parametrize(
    "records",
    [
        [
            json.loads(claude_row("user", "put it there", "2026-05-04T10:00:00Z")),
            json.loads(claude_row("assistant", [{"type": "tool_use", "id": "c", "name": "mcp__notes__put",
                                                 "input": {"text": _cut_at(400)}}], "2026-05-04T10:01:00Z")),
        ],
        [
            {"sessionId": "s", "projectHash": "h", "startTime": "2026-05-04T10:00:00Z"},
            {"id": "m", "type": "user", "content": f"look\n--- Content from referenced files ---{_cut_at(2000)}"},
        ],
        [
            {"uuid": "u", "parentUuid": None, "sessionId": "s", "type": "user", "message": {"role": "user", "parts": [
                {"text": f"look\n--- Content from referenced files ---{_cut_at(2000)}"}]}},
        ],
    ],
    ids=["call", "gemini", "qwen"],
)  # fmt: skip
def test_what_a_reader_cuts_off_is_no_half_of_a_key(records: list[dict[str, Any]]) -> None:
    """Half a key looks like none: it went to the model, and into the archive."""
    read = read_conversation("s", "\n".join(map(json.dumps, records)).encode())
    clean, _ = redacted_conversation(read)
    assert "word word" in str(clean.turns) and GITHUB[:12] not in str(clean.turns)


def test_neither_what_an_agent_ran_nor_where_it_worked_gives_a_secret_away(tmp_path: Path) -> None:
    """Rules harvest commands, and an archive keeps folder and branch, beside the turns."""
    row = {"parentUuid": None, "sessionId": "s", "cwd": f"/srv/{FACE}", "gitBranch": f"try-{GITHUB}"}
    ran = f"curl -H 'Authorization: Bearer {GITHUB}' localhost && PGPASSWORD=plumtree psql -h db {PASSWORD}"
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": ran}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": f"{PASSWORD} is wrong", "is_error": True}
    said = [("user", f"DB_PASSWORD={PASSWORD} is set"), ("assistant", [call]), ("user", [result])]
    rows = [
        {**row, "type": role, "uuid": f"u{at}", "message": {"role": role, "content": content}}
        for at, (role, content) in enumerate(said)
    ]
    clean, _ = redacted_conversation(read_conversation("s", "\n".join(map(json.dumps, rows)).encode()))
    assert "psql -h db" in str([turn.events for turn in clean.turns]) and clean.folder and clean.branch
    assert not [secret for secret in (*SECRETS, "plumtree") if secret in str(clean)]


def test_redaction_can_be_switched_off_by_the_person(tmp_path: Path) -> None:
    """Who works with made-up keys all day must be able to read their own notes."""
    workspace = make_home(tmp_path, "redact = false")
    converse(workspace, text=SAID)
    model = Echo()
    harvested(workspace, model, Clock())
    assert GITHUB in model.prompts[-1]
    bullets.add(workspace, "facts", f"the token is {GITHUB}")
    assert GITHUB in read(workspace, "facts.md") and GITHUB in context(workspace).prefix.text


def test_a_long_conversation_is_summarised_without_its_secrets() -> None:
    """The summary is asked for part by part, with prompts of its own."""
    model = Echo()
    talk = Conversation("x", "plain", tuple(Turn("user", f"{n} {SAID} " + "word " * 300) for n in range(8)))
    distil(talk, "x", DistilSettings(2, 2000, "check", True, "HARVEST", "SUMMARIZE", long="summarise"), model)
    assert len(model.prompts) > 3 and not any(secret in prompt for prompt in model.prompts for secret in SECRETS)


def token(number: int) -> str:
    """A token that is unlike all others from its first letters on."""
    return "gh" + "p_" + f"{number:02d}q7Rt" * 6


def long_talk() -> tuple[str, list[str]]:
    """A conversation of several parts with a token at the beginning, in the middle, at the end and at the border of
    each part; one turn alone is longer than a part. And the tokens."""
    part = 49_152
    numbers = iter(range(100))
    tokens: list[str] = []

    def next_token() -> str:
        tokens.append(token(next(numbers)))
        return tokens[-1]

    words = "we looked at what the build had printed\n"
    short = words * 40
    huge = "\n".join(
        f"{words * (size // len(words))}key {next_token()} here" for size in (10, part - 40, part // 2, part, 2000)
    )
    turns = [f"{next_token()} {short}", f"{short}{next_token()}", huge, f"{short}\u001b[32m{next_token()}\u001b[0m"]
    turns += [f"{short * 8}and {next_token()} again" for _turn in range(10)]
    roles = ("User", "Assistant")  # of two turns of one role the reader makes one
    return "\n\n".join(f"{roles[number % 2]}: {text}" for number, text in enumerate(turns)) + "\n", tokens


def test_no_part_of_a_long_conversation_is_sent_with_its_secrets(tmp_path: Path) -> None:
    """A program that clears the first part alone looks right in every short test, and sends the rest."""
    workspace = make_home(tmp_path)
    text, tokens = long_talk()
    converse(workspace).write_text(text)
    model = Echo()
    report = harvested(workspace, model, Clock(), keep=True)
    sent = "\n".join(model.prompts)
    assert len(model.prompts) > 4 and len(sent) > 5 * 49_152
    assert [number for number, one in enumerate(tokens) if one[:12] in sent] == []
    assert report.redacted == {"github-token": len(tokens)}
    assert sent.count("[redacted: github-token]") >= len(tokens)


def test_a_key_in_the_name_of_a_file_stands_in_no_line(tmp_path: Path) -> None:
    """The name is the provenance of each line, and goes where the line goes."""
    workspace = make_home(tmp_path)
    path = converse(workspace)
    path.rename(path.with_name(f"{FACE}-{UUID}"))
    harvested(workspace, Model(facts=["the cache is warm"]), Clock(), keep=True)
    lines = read(workspace, "facts.md") + read(workspace, "digest.md") + context(workspace).prefix.text
    assert "the cache is warm" in lines and "(redacted: hugging-face-token)" in lines and FACE[:12] not in lines


def test_a_secret_that_is_said_again_alone_is_sent_no_more_than_the_first_time(tmp_path: Path) -> None:
    """Nothing beside it says what it is, the second time; nor does a later harvest of the same session."""
    workspace = make_home(tmp_path)
    path = converse(workspace, text=f"DB_PASSWORD={PASSWORD} is set")
    path.write_text(f"{path.read_text()}\n\nAssistant: It lets me in by {PASSWORD} then.\n")
    model = Echo()
    harvested(workspace, model, Clock(), keep=True)
    path.write_text(f"{path.read_text()}\n\nUser: go on, {PASSWORD} still works.\n")
    harvested(workspace, model, Clock(), keep=True)
    assert "still works" in model.prompts[-1] and "lets me in by" in "".join(model.prompts[:-1])
    assert not any(PASSWORD in prompt for prompt in model.prompts)


def test_a_title_that_comes_after_the_harvest_says_no_password_of_before(tmp_path: Path) -> None:
    """A tool writes it when the session has ended; nothing else of the file is new."""
    workspace, clock = make_home(tmp_path), Clock()
    titled(workspace, "The server", f"DB_PASSWORD={PASSWORD} is set", "It lets me in.")
    harvested(workspace, Echo(), clock, keep=True)
    path = titled(workspace, f"Log in with {PASSWORD}", f"DB_PASSWORD={PASSWORD} is set", "It lets me in.")
    harvested(workspace, Echo(), clock, keep=True)
    assert len(ledger(workspace)) == 2
    written = {str(file): file.read_bytes() for file in tmp_path.rglob("*") if file.is_file() and file != path}
    assert not [name for name, data in written.items() if PASSWORD.encode() in data and "/trash/" not in name]


@pytest.mark.parametrize("cover", ["{}", "\x1b[01;31m\x1b[K{}\x1b[m\x1b[K", "`{}`"])
def test_a_title_that_cuts_a_key_in_two_shows_no_half_of_it(tmp_path: Path, cover: str) -> None:
    """A title is the first line, cut at 80 characters and without its signs: `ghp_` alone is lost there already."""
    workspace = make_home(tmp_path)
    path = converse(workspace)
    path.write_text(f"User: please look at the deploy again, it says that {cover.format(GITHUB)} is bad\n")
    model = Echo(facts=["the cache is warm"])
    harvested(workspace, model, Clock(), keep=True)
    written = {name: data for name, data in everywhere(tmp_path).items() if "/trash/" not in name}
    half = MIXED[:10]
    assert model.prompts and not any(half in prompt for prompt in model.prompts)
    assert [name for name, data in written.items() if half.encode() in data] == []


def test_a_key_in_the_name_of_a_file_is_piped_nowhere(tmp_path: Path) -> None:
    """`knowledge ledger | agent` is a prompt as well, and a log of a timer's runs is read by others."""
    talks = tmp_path / "home" / "conversations"
    talks.mkdir(parents=True)
    (tmp_path / "config.toml").write_text('[ai_settings.knowledge]\nreclaim = "always"\n')
    for name in (f"{FACE}-{UUID}", f"kept-{GITHUB}-{UUID[:-1]}f"):
        (talks / name).write_text(f"User: We decided to use {name[:4]} for the cache.\n")
    (talks / f"{FACE}-{UUID[:-1]}0").write_bytes(bytes(range(256)) * 10)
    shown = []
    for words in (["sources"], ["harvest"], ["harvest", "--apply"], ["ledger"], ["trash"], ["undo"],
                  ["review"], ["status"], ["doctor"]):  # fmt: skip
        _, out, err = call(*words, "--home", str(tmp_path / "home"), "--config", str(tmp_path / "config.toml"))
        if any(secret[:12] in out + err for secret in SECRETS[:2]):
            shown.append((words, out, err))
    assert shown == []


def test_the_search_index_holds_no_secret_that_a_person_wrote(tmp_path: Path) -> None:
    """The index is a copy in the cache folder, which people throw at a backup or a bug report."""
    from core.commands.search import search

    workspace = make_home(tmp_path)
    write(workspace, "facts.md", f"# Facts\n\n- log in with {GITHUB} at the gate\n")
    found = search(workspace, "gate")
    assert "[redacted: github-token]" in found.hits[0].entry.text
    cached = [path for path in tmp_path.rglob("*") if "cache" in str(path) and path.is_file()]
    assert cached and not any(GITHUB[:14].encode() in path.read_bytes() for path in cached)
    (tmp_path / "config.toml").write_text("[ai_settings.knowledge]\nredact = false\n")
    open_again = make_home(tmp_path, "redact = false")
    assert GITHUB in search(open_again, "gate").hits[0].entry.text


def test_a_password_in_an_address_of_the_settings_is_not_repeated(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text(f'[ai_settings.knowledge]\nbase_url = "http://dora:{PASSWORD}@127.0.0.1:9/v1"\n')
    for words in (["status"], ["config", "show"], ["config", "set", "base_url", f"http://dora:{PASSWORD}@h/v1"]):
        code, out, err = call(*words, "--config", str(config), "--home", str(tmp_path))
        assert code != 0 and "base_url" in err and PASSWORD not in out + err


def test_of_made_up_secrets_of_many_kinds_hardly_one_gets_through() -> None:
    """A sample of `python -m tests.quality.secrets`: over the wire to a real server, and on the disk."""
    from tests.quality.planted_secrets import RULES, UNSEEN
    from tests.quality.secrets import campaign

    kinds = {**RULES, **UNSEEN}
    some = {name: kinds[name] for name in list(kinds)[::12]}
    kept = campaign(11, some, 1, each=80)
    leaked = {row.kind for row in kept.wire} | {row.kind for row, _place in kept.disk}
    assert kept.tried == len(some) * 5
    assert len(kept.wire) + len(kept.disk) <= kept.tried // 20, sorted(leaked)


# --- what a user writes --------------------------------------------------------------------------------------------


def test_adding_and_editing_replace_secrets_and_say_so(tmp_path: Path) -> None:
    """A key that is typed by mistake would travel to a provider with every new conversation."""
    workspace = make_home(tmp_path)
    added = bullets.add(workspace, "facts", f"log in with {GITHUB}")
    assert added.warning.startswith("secrets replaced: github-token:1 (")
    bullets.add(workspace, "facts", "plain")
    edited = bullets.edit(workspace, "facts", "plain", f"DB_PASSWORD={PASSWORD}")
    assert edited.warning.startswith("secrets replaced: password:1 (")
    data = everywhere(tmp_path)
    assert data and not any(secret.encode() in text for text in data.values() for secret in SECRETS)


def test_a_person_may_insist_and_still_no_prompt_carries_it(tmp_path: Path) -> None:
    workspace = make_home(tmp_path)
    write(workspace, "digest.md", "")
    bullets.add(workspace, "facts", "plain")
    insisted = bullets.edit(workspace, "facts", "plain", f"log in with {GITHUB}", keep_secrets=True)
    assert insisted.warning == "" and GITHUB in read(workspace, "facts.md")
    prompt = context(workspace).prefix.text
    assert "[redacted: github-token]" in prompt and GITHUB not in prompt


def test_the_command_line_takes_the_flag(tmp_path: Path) -> None:
    home = ["--home", str(tmp_path / "home")]
    (tmp_path / "home").mkdir()
    code, out, err = call("add", "facts", f"a {GITHUB}", *home)
    assert code == 0 and GITHUB not in out + err and "--keep-secrets" in out
    assert call("edit", "facts", "redacted", f"a {GITHUB}", "--keep-secrets", *home)[0] == 0
    assert GITHUB in (tmp_path / "home" / "knowledge" / "facts.md").read_text()


# --- errors ----------------------------------------------------------------------------------------------------------


def test_what_a_provider_says_back_is_cleared(tmp_path: Path) -> None:
    """Servers and programs quote what they were given; the sentence ends up in the ledger."""
    assert FACE not in excerpt(f"no such token {FACE}")
    assert FACE[:10] not in excerpt("x" * 160 + f" token {FACE}")
    script = tmp_path / "model.sh"
    script.write_text(f"#!/bin/sh\ncat >/dev/null\necho 'bad key {GITHUB}' >&2\nexit 3\n")
    script.chmod(0o755)
    asked = connect(ModelSettings("command", command=(str(script),)), credentials=lambda *_: "")
    found = error(asked, "prompt")
    assert GITHUB not in str(found) and "github-token" in str(found)


def test_an_unexpected_error_shows_no_control_characters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last net: a bug of ours must not hand the terminal to a file's name."""

    def broken(workspace: Workspace) -> None:
        raise ValueError("\x1b]0;owned\x07\nknowledge: all is well")

    monkeypatch.setattr(status, "COMMANDS", tuple(row._replace(runs=broken) for row in status.COMMANDS))
    code, _, err = call("status", "--home", str(tmp_path))
    assert code == 1 and err.count("\n") == 1 and err.rstrip("\n").isprintable()


def test_a_settings_file_of_a_stranger_cannot_command_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`./config.toml` may come with a cloned repository."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config.toml").write_text('[ai_settings.knowledge]\n"\\u001b[2Jx" = 1\n')
    err = call("status", "--home", str(tmp_path / "home"))[2]
    assert "does not count: ?[2Jx" in err and "\x1b" not in err


def test_each_turn_is_looked_through_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Redaction is most of the time of a harvest by rules: of a conversation that is new it was done twice."""
    looked: list[str] = []

    def looking(text: str, known: object) -> Redacted:
        looked.append(text)
        return redact(text)

    monkeypatch.setattr(repeats, "redact", looking)
    turns = tuple(Turn("user", f"turn {number}") for number in range(9))
    talk = Conversation("talk", "plain", turns)
    redacted_conversation(talk, talk)
    assert sorted(looked) == sorted(turn.text for turn in turns)
    looked.clear()
    redacted_conversation(Conversation("talk", "plain", turns[6:]), talk)
    assert sorted(looked) == sorted(turn.text for turn in turns), "what stands before the end that is new, too"
