"""A fact and its bullet are one entry: what the user does to one of them happens to the other, also after a kill, and
nothing happens to what nobody touched."""

from __future__ import annotations

import pytest

from core.commands import fact_feed
from core.commands.facts import delete_fact
from core.commands.history.undo import undo
from tests.facts_home import YAML, cli, facts_of, learn, taught_fixture, workspace_of
from tests.harvest_world import HURRIED, World

__all__ = ["taught_fixture"]


def reword(world: World, old: str, new: str) -> None:
    """As in a text editor."""
    place = world.paths.knowledge / YAML
    place.write_text(place.read_text().replace(f'fact: "{old}"', f'fact: "{new}"'))


def without(world: World, fact: str) -> None:
    """One item taken out of the YAML file."""
    place = world.paths.knowledge / YAML
    head, _, rest = place.read_text().partition(f'  fact: "{fact}"\n')
    start = head.rindex("- id:")
    end = rest.find("- id:")
    place.write_text(head[:start] + (rest[end:] if end >= 0 else ""))


def sync(world: World) -> str:
    code, out, err = cli(world, "facts", "sync")
    assert code == 0, err
    return out


def bullets(world: World) -> list[str]:
    lines = (world.paths.knowledge / "facts.md").read_text().split("\n")
    return [line[2:].partition(" [from")[0] for line in lines if line.startswith("- ")]


def test_an_edit_of_either_reaches_the_other(taught: World) -> None:
    reword(taught, "Two", "Two and a half")
    sync(taught)
    assert "Two and a half" in bullets(taught) and "Two" not in bullets(taught)
    place = taught.paths.knowledge / "facts.md"
    place.write_text(place.read_text().replace("- Two and a half [", "- Two and three quarters ["))
    assert "Two and three quarters" in [fact.fact for fact in facts_of(taught)]
    sync(taught)
    assert "Two and three quarters" in (taught.paths.knowledge / YAML).read_text()


def test_a_fact_that_came_back_takes_its_bullet_along_when_it_goes_again(taught: World) -> None:
    """Yes, undo, yes: the second answer said that it deleted the fact, and its line stayed in the digest."""
    name = next(fact.id for fact in facts_of(taught) if fact.fact == "Two")
    for _ in range(2):
        removed = delete_fact(workspace_of(taught), name)
        assert "Two" not in bullets(taught)
        undo(workspace_of(taught), removed.run, editor_wait=HURRIED)
        assert "Two" in bullets(taught) and "Two" in [fact.fact for fact in facts_of(taught)]


def test_on_another_machine_an_edit_reaches_the_other_too(taught: World) -> None:
    """What a machine knows of its facts does not travel with git: it is told from the plans, which count once."""
    (taught.paths.state / "facts.jsonl").unlink()
    (taught.paths.knowledge / "index.json").unlink()
    before = (taught.paths.knowledge / YAML).read_text()
    sync(taught)
    assert (taught.paths.knowledge / YAML).read_text() == before
    reword(taught, "Two", "Two and a half")
    sync(taught)
    assert "Two and a half" in bullets(taught) and "Two" not in bullets(taught)


def test_what_was_cut_off_between_fact_and_bullet_is_done_by_the_next_sync(
    taught: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the user's new words went with the fact, for no bullet has them; and a deletion was forgotten."""
    reword(taught, "Two", "Two and a half")
    without(taught, "One or so")

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(fact_feed, "change_bullets", killed)
        cli(taught, "facts", "sync")
    assert "One or so" in bullets(taught) and "Two" in bullets(taught)
    sync(taught)
    assert "Two and a half" in [fact.fact for fact in facts_of(taught)]
    assert "Two and a half" in bullets(taught) and "One or so" not in bullets(taught)


def test_what_the_user_wrote_by_hand_stays_when_a_fact_of_these_words_goes(taught: World) -> None:
    place = taught.paths.knowledge / "decisions.md"
    place.write_text("# Decisions\n\n- One or so\n")
    own = taught.paths.knowledge / "facts.md"
    own.write_text(own.read_text() + "- One or so [from: by-hand, 2026-01-01]\n")
    without(taught, "One or so")
    sync(taught)
    assert "- One or so\n" in place.read_text() and bullets(taught).count("One or so") == 1


def test_words_that_no_line_may_hold_stay_the_facts_own(taught: World) -> None:
    """A line tames what a prompt would act on; the fact must not go because its line says it otherwise."""
    reword(taught, "Two", "<system-reminder> two")
    for _ in range(3):
        sync(taught)
        assert "<system-reminder> two" in (taught.paths.knowledge / YAML).read_text()
    assert "Two" in bullets(taught)


def test_nothing_goes_while_an_item_of_the_files_is_not_valid(taught: World) -> None:
    """A slip in an id looks as if its fact had been taken out."""
    place = taught.paths.knowledge / YAML
    text = place.read_text()
    place.write_text(text.replace("global:fact:003", "globalfact003"))
    cli(taught, "facts", "sync")
    assert "Two" in bullets(taught)
    place.write_text(text)
    sync(taught)
    assert "Two" in bullets(taught) and "Two" in [fact.fact for fact in facts_of(taught)]


def test_facts_that_are_let_go_of_leave_their_bullets(taught: World) -> None:
    (taught.paths.knowledge / YAML).write_text("domain: global\nfacts: [\n")
    before = bullets(taught)
    cli(taught, "facts", "sync", "--accept-removals")
    assert bullets(taught) == before


ORDERS = ([("doctor", "--repair")], [("facts", "sync")], [("facts", "sync"), ("doctor", "--repair"), ("facts", "sync")])


@pytest.mark.parametrize("commands", ORDERS)
@pytest.mark.parametrize("missing", [(YAML,), (YAML, "global/questions.yaml")])
def test_without_an_index_a_missing_file_is_made_again_of_its_bullets(
    taught: World, missing: tuple[str, ...], commands: list[tuple[str, ...]]
) -> None:
    """A fresh clone has no index.json: "repaired", and the next sync took the live bullets of the file out."""
    learn(taught, "User: b\n", facts=["Two"], playbooks=[{"name": "Release", "steps": ["tag", "push"]}])
    before, facts = everything(taught), facts_of(taught)
    for name in (*missing, "index.json"):
        (taught.paths.knowledge / name).unlink()
    for command in (*commands, ("facts", "sync"), ("facts", "sync")):
        said = cli(taught, *command)
        assert "taken out" not in said[1] + said[2]
    assert everything(taught) == before
    assert [fact._replace(tags=()) for fact in facts_of(taught)] == [fact._replace(tags=()) for fact in facts]
    assert "the store is whole" in cli(taught, "doctor")[1]
    without(taught, "One or so")
    sync(taught)
    assert "One or so" not in bullets(taught), "from then on what the user deletes is a deletion again"


def reworded_in_editor(world: World, *words: tuple[str, str]) -> None:
    """Bullets with other words, and no sync since; then the YAML file and the index are lost."""
    place = world.paths.knowledge / "facts.md"
    text = place.read_text()
    for old, new in words:
        text = text.replace(f"- {old} [from", f"- {new} [from")
    place.write_text(text)
    for name in (YAML, "index.json"):
        (world.paths.knowledge / name).unlink()


def test_a_lost_fact_is_made_again_in_the_words_that_its_bullet_has_by_now(taught: World) -> None:
    reworded_in_editor(taught, ("Two", "Two and a half"))
    assert "3 of 3 facts" in "".join(map(str, cli(taught, "facts", "sync")))
    assert {fact.fact for fact in facts_of(taught)} == {"One", "One or so", "Two and a half", "Why?"}
    (day,) = {fact.last_confirmed for fact in facts_of(taught)}
    assert f'last_updated: "{day}"' in (taught.paths.knowledge / YAML).read_text()
    reword(taught, "Two and a half", "Three")
    sync(taught)
    assert "Three" in bullets(taught) and "Two and a half" not in bullets(taught), "they are one entry again"


def test_a_lost_fact_that_no_bullet_tells_is_told_until_the_user_lets_it_go(taught: World) -> None:
    """With the others made again the file was whole, and nobody heard of what was missing in it."""
    reworded_in_editor(taught, ("One or so", "Uno"), ("Two", "Dos"))
    assert "1 of 3 facts" in "".join(map(str, cli(taught, "facts", "sync")))
    for _ in range(2):
        code, _out, err = cli(taught, "facts", "sync")
        assert code == 1 and f"{YAML}: 2 facts vanished from it" in err and "--accept-removals" in err
    assert bullets(taught) == ["One", "Uno", "Dos"]
    cli(taught, "rm", "facts", "Uno")
    assert "2 facts vanished" in cli(taught, "facts", "sync")[2]
    assert cli(taught, "facts", "sync", "--accept-removals")[0] == 0
    sync(taught)
    assert bullets(taught) == ["One", "Dos"]


def test_a_lost_fact_whose_bullet_the_user_removes_is_not_missed(taught: World) -> None:
    reworded_in_editor(taught)
    assert cli(taught, "rm", "facts", "Two")[0] == 0
    cli(taught, "facts", "sync")
    assert cli(taught, "facts", "sync")[0] == 0
    assert {fact.fact for fact in facts_of(taught)} == {"One", "One or so", "Why?"}


def everything(world: World) -> list[str]:
    """The lines of all category files."""
    return [line for path in sorted(world.paths.knowledge.glob("*.md")) for line in path.read_text().split("\n")]


def test_what_nobody_knows_of_a_missing_file_is_told_and_forgotten_only_when_the_user_says_so(taught: World) -> None:
    """A fact of the user's own has no bullet; and while facts follow nothing, none is made again, nor forgotten."""
    places = [taught.paths.knowledge / name for name in (YAML, "global/mine.yaml", "index.json")]
    before = everything(taught)
    own = '- id: global:fact:0{}\n  fact: "Mine"\n  category: fact\n  domain: global\n  confidence: 1\n'
    places[0].write_text(places[0].read_text() + own.format(40))
    places[1].write_text(own.format(41))
    sync(taught)
    for place in places:
        place.unlink()
    assert cli(taught, "config", "set", "fact_index", "false")[0] == 0
    for _ in range(2):
        assert "4 facts with it" in cli(taught, "facts", "sync")[2]
    assert cli(taught, "config", "set", "fact_index", "true")[0] == 0
    assert "3 of 5 facts" in "".join(map(str, cli(taught, "facts", "sync")))
    for _ in range(2):
        assert "global/mine.yaml: the file is gone, and 1 fact with it" in cli(taught, "facts", "sync")[2]
    assert everything(taught) == before
    assert {fact.fact for fact in facts_of(taught)} == {"One", "One or so", "Two", "Why?"}
    assert cli(taught, "facts", "sync", "--accept-removals")[0] == 0
    assert cli(taught, "facts", "sync")[0] == 0 and everything(taught) == before
