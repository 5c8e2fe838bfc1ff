"""Texts that people wrote for each other, harvested without a model: what was agreed, taken on, asked and left open.

The words here are made up; how often such lines are found in real texts is measured by tests/bench/quality.py.
"""

from __future__ import annotations

from array import array
from pathlib import Path

import pytest

from core.conversations.conversation import Conversation, Turn
from core.conversations.read import read_conversation
from core.offline import models as offline_models
from core.offline.models import NAMES, Weights, bucket, chance, pack, shipped_models, unpack
from core.offline.rules import MAX_ITEMS, distil_offline
from core.offline.talk import read_talk

MINUTES = """### 2. Storage

**Ada Brook:** the next topic is where the records live
… we have two candidates

> *Bo Lind:* I prefer one file for each record

**Ada Brook:** let us have a proposal

> The Working Group will store each record in a file of its own.

> *Ada Brook:* +1

> *Bo Lind:* +1

> *Cy Dahl:* +1

> The Working Group will store each record in a file of its own.

**Cy Dahl:** who writes the migration guide?

**Bo Lind:** I can look at it next week

> ***Action #1: Bo to write the migration guide***

**Ada Brook:** thank you all
"""

CHANNEL = [
    "[10:00] <ada> how do I mount an encrypted disk at boot?",
    "[10:00] <bo> ada: put it into crypttab",
    "[10:01] <ada> bo: thanks, that worked",
    "[10:01] <cy> does anybody know why my scanner is only found by root?",
    "[10:02] <dee> bo: which release are you on?",
    "[10:02] <bo> dee: the current one",
    "[10:03] <dee> bo: then you have the fixed kernel already",
    "[10:03] <bo> dee: good to know",
    "[10:04] <ada> bo: one more thing, the swap is encrypted as well",
    "[10:05] <bo> ada: fine, leave it like that",
    "[10:06] <dee> bo: you can check with dmesg",
    "[10:07] <bo> dee: will do",
]


def harvest(text: str) -> dict[str, list[dict[str, str]]]:
    found = distil_offline(read_conversation("text", text.encode()))
    for rows in found.values():
        assert all(row["quote"] in text for row in rows), rows
    return found


def statements(text: str, category: str) -> list[str]:
    return [row["statement"] for row in harvest(text)[category]]


def test_what_a_meeting_voted_for_is_a_decision() -> None:
    """Without this, the one line of the minutes that binds everybody is lost among the talk."""
    assert statements(MINUTES, "decisions") == ["The Working Group will store each record in a file of its own."]


def test_an_action_that_somebody_took_on_is_an_open_task() -> None:
    assert "Bo to write the migration guide" in statements(MINUTES, "tasks_open")


def test_an_action_is_recognised_without_its_marker() -> None:
    """A scribe who writes `Bo to write …` without the word ACTION has still written down who does what."""
    assert any("migration guide" in row for row in statements(MINUTES.replace("Action #1: ", ""), "tasks_open"))


def test_a_marked_decision_needs_no_vote() -> None:
    text = "\n".join(f"<{name}> we talked about the cache for a while, number {n}" for n in range(5) for name in "ab")
    assert statements(text + "\n<a> RESOLVED: the cache is written at the end only", "decisions") == [
        "The cache is written at the end only"
    ]


def test_a_question_that_nobody_took_up_stays_and_one_that_was_answered_goes() -> None:
    """A user looks for what was left open; a list that also holds what was answered is not read."""
    assert statements("\n".join(CHANNEL), "questions") == ["Does anybody know why my scanner is only found by root?"]


def test_without_names_in_front_only_the_last_word_can_be_unanswered() -> None:
    talk = [f"{name}: this is what I think about the matter, {n}" for n in range(6) for name in ("Ada", "Bo")]
    asked = [*talk[:4], "Ada: how large is the index now?", *talk[5:], "Ada: who deploys it on Friday?"]
    assert statements("\n".join(asked), "questions") == ["Who deploys it on Friday?"]


def test_a_long_talk_may_leave_more_than_a_short_one() -> None:
    lines = [f"<u{n % 7}> ACTION: u{n} to check the number {n} of the list" for n in range(40)]
    assert len(harvest("\n".join(lines))["tasks_open"]) == MAX_ITEMS
    filler = [f"<u{n % 7}> we went on about the topic for a while, {n}" for n in range(600)]
    assert MAX_ITEMS < len(harvest("\n".join(lines + filler))["tasks_open"]) <= 40


def test_a_mail_that_asks_for_something_is_an_open_task() -> None:
    text = "Thanks for the quick reply. Could you please send me the signed contract by Friday?"
    assert statements(text, "tasks_open") == ["Could you please send me the signed contract by Friday?"]
    assert not any(harvest("Thanks a lot, the meeting went well and everybody enjoyed the talk.").values())


def test_a_list_of_settings_is_no_talk() -> None:
    for text in (
        "\n".join(f"Key{n}: value {n}" for n in range(30)),
        "Name: x\nVersion: 2\nHome: /srv\nUser: root\nPort: 80\nShell: sh\nName: y\nVersion: 3",
        "def f():\n    return 1\n" * 20,
        "",
    ):
        assert read_talk(read_conversation("x", text.encode())) is None


def test_a_conversation_with_an_assistant_is_never_a_talk() -> None:
    """The small models were trained on mail and meetings; on coding sessions they would find work everywhere."""
    text = "User: please send the file\n\nAssistant: done\n\nUser: " + "\n".join(CHANNEL)
    assert read_talk(read_conversation("x", text.encode())) is None


CHEAT_SHEET = """# restic

> Back up folders.

- Make a repository:

`restic init --repo {{path/to/repository}}`

- Back up a folder:

`restic --repo {{path/to/repository}} backup {{path/to/folder}}`
"""

RUNBOOK = """# Disk almost full

## Meaning

The volume of the database is filling up.

## Diagnosis

- Check which tables have grown since yesterday
- Verify that the nightly vacuum has run

```shell
$ df -h /var/lib/postgresql
Filesystem  Size
```

## Mitigation

Delete the oldest archive files.
"""


def test_each_example_of_a_cheat_sheet_is_a_playbook() -> None:
    assert [(row["name"], row["steps"]) for row in harvest(CHEAT_SHEET)["playbooks"]] == [
        ("Make a repository", "restic init --repo {{path/to/repository}}"),
        ("Back up a folder", "restic --repo {{path/to/repository}} backup {{path/to/folder}}"),
    ]


def test_a_runbook_gives_its_steps_in_order_and_not_the_output_below_them() -> None:
    rows = {row["name"]: row["steps"] for row in harvest(RUNBOOK)["playbooks"]}
    assert rows["Disk almost full: Diagnosis"].startswith("Check which tables have grown since yesterday; Verify that")
    steps = "; ".join(rows.values())
    assert rows["Disk almost full: Diagnosis"].endswith("df -h /var/lib/postgresql")
    assert "Delete the oldest archive files" in steps
    assert "Filesystem" not in steps


def test_an_essay_with_an_instruction_in_it_is_no_runbook() -> None:
    """A design note that says "check" once must not leave a playbook."""
    said = "The parser keeps a table of tokens because that is what made it fast in the first place. "
    assert not harvest("# Design\n\n" + said * 20 + "Check the table first.\n")["playbooks"]


def test_a_list_of_prompts_is_no_runbook() -> None:
    """What people told a coding assistant to do is no procedure, even where its answers were not kept."""
    line = '{"session_id":"1","ts":1,"text":"Check the tests. Verify the build. Run `make all` and restart it."}\n'
    assert not harvest(line * 3)["playbooks"]
    aider = "# aider chat started at 2025-01-01 10:00:00\n\n#### Check the logs. Verify the build. Restart it.\n"
    assert not harvest(aider)["playbooks"]


def test_a_record_says_what_will_be_done() -> None:
    text = "# 4. Use one queue\n\nJobs get lost today. We will use one queue for all jobs of the importer.\n"
    assert statements(text, "decisions") == ["We will use one queue for all jobs of the importer."]


# --- the small models: what is shipped can be read, and a damaged file only costs the models -------------------------


def test_the_shipped_models_are_whole_and_small() -> None:
    models = shipped_models()
    assert set(models) == set(NAMES)
    assert all(any(model.buckets) and 0 < model.threshold < 1 for model in models.values())
    assert offline_models.MODELS_FILE.stat().st_size < 60_000


def test_weights_survive_the_file() -> None:
    """A weight that changes its sign or its size on the way to disk turns answers around."""
    model = Weights(array("f", [0.0, 1.27, -0.5, 0.01]), -0.25, 0.4)
    again = unpack(pack({"request": model}))["request"]
    assert again.bias == -0.25 and again.threshold == 0.4
    assert all(abs(old - new) < 0.006 for old, new in zip(model.buckets, again.buckets, strict=True))
    assert pack({"request": again}) == pack({"request": model})


def test_a_feature_counts_once_and_pulls_its_own_way() -> None:
    weights = array("f", bytes(4 * 16))
    weights[bucket("yes", 16)] = 2.0
    model = Weights(weights, -1.0, 0.5)
    assert chance(model, ["yes", "yes"]) == chance(model, ["yes"]) > 0.7 > chance(model, []) > 0.2


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"models": {"request": {}}}', '{"models": {"request": 1}}', '{"models": []}']
)
def test_a_damaged_file_leaves_the_rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str) -> None:
    """A broken installation must not stop a harvest."""
    damaged = tmp_path / "offline.json"
    damaged.write_text(content)
    monkeypatch.setattr(offline_models, "MODELS_FILE", damaged)
    shipped_models.cache_clear()
    try:
        assert shipped_models() == {}
        found = distil_offline(Conversation("c", "plain", (Turn("user", "TODO: renew the certificate of it"),)))
        assert [row["statement"] for row in found["tasks_open"]] == ["Renew the certificate of it"]
    finally:
        shipped_models.cache_clear()
