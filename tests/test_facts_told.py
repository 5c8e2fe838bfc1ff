"""A fact that a harvest made of a bullet is told only while a bullet says it: whatever the user does to the line, none
of the ways that hand facts out goes on telling the old words, and nothing is lost by it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

import tests.mcp_tools  # noqa: F401 - describes each tool once
from core.commands.workspace import open_workspace
from core.injection import stable_prefix
from core.mcp_server.server import build_server
from tests.cli_call import call
from tests.facts_home import cli, learn
from tests.harvest_world import World
from tests.shop import shop_fixture, turn  # noqa: F401 - pytest finds the fixture by itself

OLD = "The nightly upload takes forty minutes"
NEW = "The nightly upload takes ninety minutes"
ASKS = "nightly upload minutes"
SAID = (OLD, "The staging database listens on port 5433", "The release notes are written by Marguerite")

MORE = """The billing export takes a trailing comma
The customer table lives in the Lisbon region
The invoice printer listens on port 9100
The payroll run starts at six in the evening
The voucher codes are checked by Ottoline
The ticket queue belongs to the support team
The archive bucket is emptied each April
The metrics page is served by the old gateway
The supplier list comes from a spreadsheet of Bartholomew
The returns desk closes at four
The shipping labels are printed in Ghent
The harbour scanner sends its readings by radio""".splitlines()


def knowledge() -> Path:
    return open_workspace().paths.knowledge


def lines() -> str:
    return (knowledge() / "facts.md").read_text()


def rewrite(name: str, old: str, new: str) -> None:
    """As in a text editor."""
    place = knowledge() / name
    text = place.read_text()
    assert old in text
    place.write_text(text.replace(old, new))


def told(*words: str) -> str:
    code, out, err = call(*words)
    assert code == 0, err
    return out


def line_of(words: str) -> str:
    return next(row for row in lines().split("\n") if words in row)


def harvest(folder: Path, said: tuple[str, ...]) -> None:
    """By the rules, from a folder that is named, four statements a session."""
    place = folder.parent / "talks"
    place.mkdir()
    understood = [{"type": "text", "text": "Understood."}]
    for number in range(0, len(said), 4):
        name, rows = f"s{number // 4 + 2}", list[dict[str, Any]]()
        for one in said[number : number + 4]:
            rows.append(turn("user", f"Remember: {one[0].lower()}{one[1:]}.", len(rows), name, folder))
            rows.append(turn("assistant", understood, len(rows), name, folder))
        (place / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    told("harvest", "--source", str(place), "--apply", "--now")
    told("config", "set", "bootstrap_facts", "true")
    told("search", ASKS)  # from now on there is an index that is older than what the user does


@pytest.fixture(name="home")
def home_fixture(shop: Path) -> Path:
    harvest(shop, SAID)
    return shop


# --- the ways that hand facts out -------------------------------------------------------------------------------------


def asked(tool: str, **arguments: Any) -> str:
    """What an agent is told."""

    async def ask() -> str:
        async with Client(build_server(open_workspace(), everything=True)) as client:
            answer = await client.call_tool(tool, arguments)
            return "".join(getattr(part, "text", "") for part in answer.content)

    return asyncio.run(ask())


WAYS: dict[str, Callable[[], str]] = {
    "find": lambda: told("find", *ASKS.split()),
    "find fact": lambda: told("find", "--kind", "fact", *ASKS.split()),
    "search": lambda: told("search", *ASKS.split()),
    "context": lambda: told("context"),
    "facts list": lambda: told("facts", "list"),
    "facts bootstrap": lambda: told("facts", "bootstrap"),
    "agents find": lambda: asked("find", query=ASKS),
    "agents search": lambda: asked("search_knowledge", query=ASKS),
    "agents facts": lambda: asked("get_facts"),
    "agents context": lambda: asked("get_context"),
    "a host": lambda: stable_prefix(open_workspace().paths, open_workspace().config, Path.cwd()).text,
}


def telling(words: str) -> list[str]:
    """The ways by which a statement is told; what was said in a conversation is history, and begins otherwise."""
    return [way for way, ask in WAYS.items() if f"{words}." in ask()]


# --- what the user does -----------------------------------------------------------------------------------------------


def taken_back_run() -> None:
    told("undo", told("undo").split()[0])


GOES: dict[str, Callable[[], Any]] = {
    "deleted in an editor": lambda: rewrite("facts.md", f"{line_of(OLD)}\n", ""),
    "reworded in an editor": lambda: rewrite("facts.md", OLD, NEW),
    "two reworded in an editor": lambda: [rewrite("facts.md", OLD, NEW), rewrite("facts.md", "5433", "5434")],
    "struck in an editor": lambda: rewrite("facts.md", f"{OLD}.", f"~~{OLD}.~~"),
    "its file emptied": lambda: (knowledge() / "facts.md").write_text("# Facts\n"),
    "its file deleted": lambda: (knowledge() / "facts.md").unlink(),
    "rm": lambda: told("rm", "facts", OLD),
    "edit": lambda: told("edit", "facts", OLD, f"{NEW}."),
    "retract": lambda: told("retract", "facts", OLD),
    "the harvest undone": taken_back_run,
}


@pytest.mark.parametrize("case", GOES)
def test_no_way_tells_what_its_file_no_longer_says(home: Path, case: str) -> None:
    assert telling(OLD) == list(WAYS)
    files = (knowledge() / "repos" / "shop" / "facts.yaml").read_bytes()
    GOES[case]()
    mine = "editor" in case or "file" in case
    assert telling(OLD) == []
    after = knowledge() / "repos" / "shop" / "facts.yaml"
    assert not mine or after.read_bytes() == files, "who only reads writes nothing"


STAYS: dict[str, Callable[[], Any]] = {
    "other signs": lambda: rewrite("facts.md", f"{OLD}.", f"**{OLD.replace('nightly', 'NIGHTLY')}**"),
    "with a space that does not break": lambda: rewrite("facts.md", OLD, OLD.replace("nightly ", "nightly\u00a0")),
    "with wide digits and an ellipsis": lambda: rewrite("facts.md", f"{OLD}.", f"{OLD}\u2026"),
    "with a tab before its source": lambda: rewrite("facts.md", f"{OLD}. [from: ", f"{OLD}.\t[from: "),
    "in another file": lambda: [
        (knowledge() / "decisions.md").write_text(f"# Decisions\n\n{line_of(OLD)}\n"),
        rewrite("facts.md", f"{line_of(OLD)}\n", ""),
    ],
}


@pytest.mark.parametrize("case", STAYS)
def test_a_fact_is_told_as_long_as_some_line_says_it(home: Path, case: str) -> None:
    STAYS[case]()
    assert f"{OLD}." in WAYS["find fact"]() and f"{OLD}." in WAYS["a host"]()


COMES_BACK: dict[str, Callable[[str], Any]] = {
    "in an editor": lambda before: (knowledge() / "facts.md").write_text(before),
    "after a sync": lambda before: [told("facts", "sync"), (knowledge() / "facts.md").write_text(before)],
}


@pytest.mark.parametrize("case", COMES_BACK)
def test_a_bullet_that_comes_back_brings_its_fact_back(home: Path, case: str) -> None:
    before = lines()
    rewrite("facts.md", f"{line_of(OLD)}\n", "")
    assert telling(OLD) == []
    COMES_BACK[case](before)
    if case == "after a sync":
        told("facts", "sync")
    assert telling(OLD) == list(WAYS)


def test_undo_of_a_removal_brings_its_fact_back(home: Path) -> None:
    run = told("rm", "facts", OLD).split("knowledge undo ")[1].split("'")[0]
    assert telling(OLD) == []
    told("undo", run)
    assert telling(OLD) == list(WAYS)


OWN = {
    "written by hand": lambda: (knowledge() / "repos/shop/mine.yaml").write_text(
        f'- id: shop:fact:090\n  fact: "{NEW}."\n  category: fact\n  domain: shop\n  confidence: 1\n'
    ),
    "edited by hand": lambda: rewrite("repos/shop/facts.yaml", OLD, NEW),
}


@pytest.mark.parametrize("case", OWN)
def test_what_the_user_wrote_in_the_yaml_file_is_their_word(home: Path, case: str) -> None:
    """No bullet says it, and none ever did."""
    OWN[case]()
    rewrite("facts.md", f"{line_of(OLD)}\n", "")
    for way in ("find", "find fact", "search", "facts list", "facts bootstrap", "agents find", "agents facts"):
        assert f"{NEW}." in WAYS[way](), way


def test_many_at_once_stay_in_their_file_and_are_told_by_nobody(shop: Path) -> None:
    """That may be an accident, so a sync takes none of them out; but no line says them any more."""
    harvest(shop, (OLD, *MORE))
    before = lines()
    assert before.count("\n- ") > 10
    (knowledge() / "facts.md").write_text("# Facts\n")
    assert telling(OLD) == []
    assert "have lost their bullets at once" in call("facts", "sync")[1]
    assert OLD in (knowledge() / "repos/shop/facts.yaml").read_text()
    assert telling(OLD) == []
    (knowledge() / "facts.md").write_text(before)
    assert "find fact" in telling(OLD) and "facts list" in telling(OLD)


REPEATS = {
    "as it stands": lambda: None,
    "with lines below": lambda: rewrite("facts.md", line_of(OLD), f"{line_of(OLD)}\n  measured in May"),
    "said again by hand since": lambda: rewrite("facts.md", "\n- ", f"\n- {OLD} [from: by-hand, 2020-01-01]\n- "),
}


@pytest.mark.parametrize("case", REPEATS)
def test_a_fact_that_only_repeats_a_line_is_no_second_hit(home: Path, case: str) -> None:
    REPEATS[case]()
    hits = json.loads(told("find", *ASKS.split(), "--json"))["hits"]
    said = [hit for hit in hits if hit["text"].startswith(OLD)]
    assert [hit["kind"] for hit in said] == ["bullet"]


SHAPES: dict[str, tuple[dict[str, Any], str]] = {
    "code inside a word": ({"facts": ["The flag is --zone=`quince` here"]}, "quince"),
    "a playbook": ({"playbooks": [{"name": "Water the quince", "steps": ["open the tap", "close it"]}]}, "quince"),
    "a playbook with code": (
        {"playbooks": [{"name": "Water the quince", "steps": ["run `make tap`", "close `it`"]}]},
        "quince",
    ),
    "a share of Windows": ({"facts": ["\\\\quince\\share is where the copies lie"]}, "quince"),
    "code in code": ({"facts": ["Run ``echo `date`/x`` with the quince"]}, "quince"),
    "with quotation marks": ({"facts": ['It isn\'t "quince" but a pear']}, "quince"),
    "with a long detail": ({"facts": [{"statement": "The quince is watered", "detail": "at dawn " * 40}]}, "quince"),
}


@pytest.mark.parametrize("case", SHAPES)
def test_a_line_of_any_shape_is_known_as_that_of_its_fact(world: World, case: str) -> None:
    rows, word = SHAPES[case]
    learn(world, **rows)
    asks = ("search", "--kind", "fact", word)
    assert "1. [fact" in cli(world, *asks)[1]
    place = next(path for path in world.paths.knowledge.glob("*.md") if word in path.read_text())
    place.write_text(place.read_text().replace(word, "medlar"))
    assert "[fact" not in cli(world, *asks)[1], "its words are others now"
    place.write_text(place.read_text().replace("medlar", word))
    assert "1. [fact" in cli(world, *asks)[1]


@pytest.mark.parametrize("case", SHAPES)
def test_a_list_of_all_that_matches_has_a_line_of_any_shape_once(world: World, case: str) -> None:
    """The line, and not beside it the fact that says the same."""
    rows, word = SHAPES[case]
    learn(world, **rows)
    assert [hit["kind"] for hit in json.loads(cli(world, "search", word, "--json")[1])] == ["bullet"]


def test_a_fact_of_the_own_project_gives_way_to_no_line_of_another(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In its place stood the other project's line, last."""
    blog, place = home.parent / "blog", tmp_path / "more"
    blog.mkdir()
    place.mkdir()
    rows = [turn("user", "Remember: the nightly job of the blog runs at noon.", 0, "s7", blog)]
    rows.append(turn("assistant", [{"type": "text", "text": "Understood."}], 1, "s7", blog))
    (place / "s7.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    told("harvest", "--source", str(place), "--apply", "--now")
    (knowledge() / "repos/blog/mine.yaml").write_text(
        f'- id: blog:fact:090\n  fact: "{SAID[1]}."\n  category: fact\n  domain: blog\n  confidence: 1\n'
    )
    told("facts", "sync")
    monkeypatch.chdir(blog)
    first = json.loads(told("find", "staging", "database", "port", "--json"))["hits"][0]
    assert (first["kind"], first["text"]) == ("fact", f"{SAID[1]}.")
