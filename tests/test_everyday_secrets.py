"""Everyday passwords: told in a sentence, in a table, in the answer to a question, or typed into a file by hand. They
reach no model and no prompt, and what looks like them stays."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

import pytest

from core.commands.conversations import ConversationFilters, find
from core.commands.memories import save
from core.mcp_server import tools
from tests.cli_call import call
from tests.made_home import UUID, Clock, harvested, make_home, read, write
from tests.quality.hard_secrets import rows
from tests.test_harvest_secrets import Echo

SEED = ("abandon", "ability", "able", "about", "above", "absent", "absorb", "abstract", "absurd", "abuse", "access",
        "accident")  # fmt: skip
PACKED = base64.b64encode(b"user:\n  name: dev\n  password: hunter-Blue-77\n").decode()
TOLD = {
    "a season and a year": ("the password is Summer2024!, thanks", "Summer2024!"),
    "letters and digits": ("the password is HUNTER77 by the way", "HUNTER77"),
    "a word": ("Password for the db: plumtree\n", "plumtree"),
    "a word in a sentence": ("log in as ann, password is plumtree.", "plumtree"),
    "another language": ("das Passwort vom Router ist Pflaumenbaum.", "Pflaumenbaum"),
    "no grammar": ("change the ftp pw from Juno2!x to Juno3!x please", "Juno3!x"),
    "short name": ('{"host": "db", "user": "etl", "pass": "plum.tree"}', "plum.tree"),
    "blanks": ('{"smtp": {"user": "a", "pass": "plum tree sky"}}', "plum tree sky"),
    "csv": ("name,url,username,password\nx,https://x.org,ann,plumtree\n", "plumtree"),
    "tsv": ("host\tuser\tpw\nweb1\troot\tplumtree\n", "plumtree"),
    "insert": ("INSERT INTO users (name, password) VALUES ('ann', 'oak'), ('bo', 'plumtree');", "plumtree"),
    "anchor": ("db:\n  user: app\n  password: &pw teal-otter\n", "teal-otter"),
    "block": ("defaults:\n  user: app\n  password: |\n    teal otter\n", "teal otter"),
    "powershell": ("ConvertTo-SecureString 'Otter`Dam' -AsPlainText -Force", "Otter`Dam"),
    "curl": ("curl -su 'ann:plum tree' https://x.org/api", "plum tree"),
    "app password": ('smtp_pass = "pjvk xgwd ohel tnbz"', "pjvk xgwd ohel tnbz"),
    "numbered seed": ("recovery phrase:\n" + "\n".join(f"{n}. {word}" for n, word in enumerate(SEED, 1)), "accident"),
    "a prompt": ("Enter password: plumtree\nWelcome to the monitor", "plumtree"),
    "what a command shows": ("$ cat .vault_pass\nplum-tree-2\n$ ls", "plum-tree-2"),
    "the next line": ("The password for the server\nis plumtree7", "plumtree7"),
    "a seed in a sentence": (f"my wallet words are {' '.join(SEED)} can you derive it", "accident"),
    "a seed of a list": ("\n".join(f"{n}. {word}" for n, word in enumerate(SEED, 1)), "accident"),
    "a seed in columns": ("\n".join(f" {n} {SEED[n - 1]}  {n + 6} {SEED[n + 5]}" for n in range(1, 7)), "accident"),
    "an app password": ("the mail app password: qzrt mbru xoel kfaj", "xoel"),
    "a licence in digits": ("serial number 9038-7173-7900-8739 for the full version", "9038-7173"),
    "one recovery code": ("only one scratch code left, 37857375, use it", "37857375"),
    "a PIN in a sentence": ("my bank card PIN, 6037, should not be there", "6037"),
    "a code with words between": ("alarm code: star, 91527, hash", "91527"),
    "digits that are typed": ("the door opens with 4 8 1 5 then the key sign", "4 8 1 5"),
    "a passphrase behind a prompt": ("Enter passphrase for key '/a/.ssh/id': the moon owes me nine euros\n", "euros"),
    "drawn by lot, lines below": ("the following password opens it:\n\ncdf35a3d487c547ade2afd5a9dc654fc\n", "cdf35a3d"),
    "drawn by lot, no sign": ("WIF 5JPsFosbvkmZzXMIEo6tHO9d9pojxHR39StfzMCdKymSvwXsz96 of the wallet", "5JPsFosb"),
    "key printed by a command": ("$ wg genkey\nOVGei3HZmKYkXPpGzB/BYPy0zKbC5g2AQA1rMxsWFsy=\n", "OVGei3HZ"),
    "a link of a terminal": ("Generated password: \x1b]8;;Fennel-12\x1b\\copy\x1b]8;;\x1b\\", "Fennel-12"),
    "packed in base64": (f"data:\n  config.yaml: {PACKED}\n", PACKED[:24]),
    "a key that goes on in the next line": (f"It is gh{'p_'}{'aB3dE5gH7' * 4}\n    Quill7x\nuse it", "Quill7x"),
    "a verification code": ("Your verification code is 482113.", "482113"),
}  # fmt: skip
ASKED = {
    "a word": ("What is the db password?", "plumtree", "plumtree"),
    "words": ("I need the passphrase for the key.", "the plum tree sleeps", "the plum tree sleeps"),
    "two things": ("Please send the user and the password.", "ann\nplumtree", "plumtree"),
    "another language": ("Wie lautet das Passwort?", "es ist Pflaumenbaum", "Pflaumenbaum"),
    "the sentence before": (
        "I cannot go on, since there is no password for the staging database. Can you paste it?",
        "plumtree",
        "plumtree",
    ),
    "a code": ("Which code did they text you?", "482 113", "482 113"),
    "the last line": ("What is the passphrase?", "here it comes\n\nthanks a lot now\n\nribbon", "ribbon"),
    "Korean": ("인증 코드를 입력해 주세요.", "plumtree", "plumtree"),
}
KEPT = ["never mind", "I don't know, ask Tove tomorrow", "yes please, a long one", "no"]


def session(folder: Path, *turns: tuple[str, Any]) -> Path:
    """A conversation of a coding tool with these turns."""
    lines = []
    for at, (role, text) in enumerate(turns):
        row = {"type": role, "parentUuid": None, "uuid": f"u{at}", "sessionId": "s", "cwd": "/srv/shop"}
        message = {"role": role, "content": text}
        lines.append(json.dumps({**row, "timestamp": f"2026-05-04T10:{at:02}:00.000Z", "message": message}))
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"talk-{UUID}"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize(("text", "secret"), TOLD.values(), ids=[*TOLD])
def test_an_everyday_password_reaches_neither_the_model_nor_a_search(tmp_path: Path, text: str, secret: str) -> None:
    workspace, model = make_home(tmp_path), Echo()
    session(workspace.paths.conversations, ("user", f"Deploy it.\n\n{text}"), ("assistant", "It is deployed."))
    harvested(workspace, model, Clock(), keep=True)
    told = [*model.prompts, str(find(workspace, "deploy", ConversationFilters(), 10, seconds=60.0))]
    assert "Deploy it" in model.prompts[0] and not [one for one in told if secret in one]


def test_a_title_shows_no_beginning_of_a_password_that_a_line_cuts_in_two(tmp_path: Path) -> None:
    workspace, model = make_home(tmp_path), Echo()
    text = 'it got wrapped: password = "Teal-ot=\nter-dam"'
    session(workspace.paths.conversations, ("user", text), ("assistant", "It is deployed."))
    harvested(workspace, model, Clock(), keep=True)
    told = [*model.prompts, str(find(workspace, "deployed", ConversationFilters(), 10, seconds=60.0))]
    assert "It is deployed" in model.prompts[0] and not [one for one in told if "Teal-ot" in one]


@pytest.mark.parametrize(("question", "answer", "secret"), ASKED.values(), ids=[*ASKED])
def test_what_was_asked_for_in_the_turn_before_is_a_secret(
    tmp_path: Path, question: str, answer: str, secret: str
) -> None:
    """Alone it looks like nothing: only the question tells what it is."""
    workspace, model = make_home(tmp_path), Echo()
    session(workspace.paths.conversations, ("assistant", question), ("user", answer), ("assistant", "Thanks."))
    harvested(workspace, model, Clock(), keep=True)
    told = [*model.prompts, str(find(workspace, "thanks", ConversationFilters(), 10, seconds=60.0))]
    assert "Thanks" in model.prompts[0] and not [one for one in told if secret in one]


def test_what_was_asked_for_stays_a_secret_where_a_tool_spoke_in_between(tmp_path: Path) -> None:
    workspace, model = make_home(tmp_path), Echo()
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "notes.md"}
    asks = {"type": "text", "text": "What is the db password?"}
    turns: list[tuple[str, Any]] = [("assistant", [asks, call]), ("user", [result]), ("user", "plumtree")]
    session(workspace.paths.conversations, *turns, ("assistant", "Thanks."))
    harvested(workspace, model, Clock(), keep=True)
    assert "Thanks" in model.prompts[0] and not [one for one in model.prompts if "plumtree" in one]


@pytest.mark.parametrize("answer", KEPT)
def test_an_answer_that_gives_nothing_away_stays(tmp_path: Path, answer: str) -> None:
    workspace, model = make_home(tmp_path), Echo()
    session(workspace.paths.conversations, ("assistant", "What is the password?"), ("user", answer))
    harvested(workspace, model, Clock(), keep=True)
    assert answer in model.prompts[0]


def test_look_alikes_stay() -> None:
    """Hashes, placeholders, code and talk about passwords, written by somebody who had not seen the rules."""
    harmed = [(row.kind, row.form, row.damaged()) for row in rows("hard_look_alikes") if row.damaged()]
    assert harmed == []


def test_a_key_that_was_typed_by_hand_stands_in_no_digest(tmp_path: Path) -> None:
    """Tools read digest.md by themselves, as the pages recommend, and no gate stands between."""
    workspace = make_home(tmp_path)
    token = "gh" + "p_" + "x9Kq" * 9
    typed = f"# Facts\n\n- the bot's token is {token}\n- password: Summer2024!\n- the port is 8443\n"
    write(workspace, "facts.md", typed)
    home = str(workspace.paths.home)
    said = "".join(call("digest", "on", "--home", home)[1:])
    said += "".join(call("digest", "show", "--home", home)[1:]) + "".join(call("context", "--home", home)[1:])
    said += "".join(call("digest", "show", "--json", "--home", home)[1:]) + tools.digest_text(workspace)
    written = read(workspace, "digest.md")
    assert "8443" in written and "8443" in said and len(written.encode()) <= 4096
    assert not [secret for secret in (token, "Summer2024!") if secret in written + said]
    assert read(workspace, "facts.md") == typed
    told = "".join(call("status", "--home", home)[1:]) + "".join(call("doctor", "--home", home)[1:])
    assert "have changed since" not in told and "older than the category files" not in told, "it was written just now"


def test_a_table_with_line_ends_of_windows_stands_in_no_memory(tmp_path: Path) -> None:
    """A cell in quotes has blanks and commas; it ends before the line end, whatever that is."""
    workspace = make_home(tmp_path)
    save(workspace, 'The accounts:\r\n\r\nname,password\r\nbo,"oak, elm"\r\nann,"plum,tree"\r\n')
    texts = [path.read_text() for path in workspace.paths.home.rglob("*.md")]
    assert texts and not [text for text in texts if "plum,tree" in text or "oak, elm" in text]


def test_a_digest_of_the_users_own_hand_is_shown_without_its_key(tmp_path: Path) -> None:
    workspace = make_home(tmp_path)
    write(workspace, "digest.md", "# Mine\n\nthe password is Summer2024!\n")
    home = str(workspace.paths.home)
    assert "Summer2024!" not in "".join(call("digest", "show", "--home", home)[1:])
    assert "Summer2024!" in read(workspace, "digest.md")


def test_a_full_digest_stays_within_its_size(tmp_path: Path) -> None:
    """A placeholder is longer than a short password."""
    workspace = make_home(tmp_path)
    write(workspace, "facts.md", "# Facts\n\n" + "".join(f"- host {n}, password: Ab{n:03}!x\n" for n in range(400)))
    call("digest", "on", "--home", str(workspace.paths.home))
    written = read(workspace, "digest.md")
    assert 2000 < len(written.encode()) <= 4096 and written.count("[redacted: password]") == written.count("- host")


def test_a_decision_beside_a_password_is_harvested(tmp_path: Path) -> None:
    """The placeholder of the password was taken for a template's, and all that was said with it was lost."""
    workspace = make_home(tmp_path)
    words = "We decided to store sessions in Redis, not in Postgres, because of load. Its password is Mirabelle-77."
    turns = [("user", words), ("assistant", "Noted.")]
    rows = [
        {"type": role, "uuid": str(at), "parentUuid": str(at - 1) if at else None, "sessionId": "s", "cwd": "/srv/shop",
         "timestamp": f"2026-06-11T10:00:0{at}Z", "message": {"role": role, "content": text}}
        for at, (role, text) in enumerate(turns)
    ]  # fmt: skip
    (tmp_path / "s.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    place = ["--now", "--source", str(tmp_path / "s.jsonl"), "--home", str(workspace.paths.home)]
    assert call("harvest", "--apply", *place)[0] == 0
    found = read(workspace, "decisions.md")
    assert "store sessions in Redis" in found and "Mirabelle" not in found


def test_the_page_claims_no_more_than_is_masked() -> None:
    """SECURITY.md had two marks where its figures should have stood."""
    page = " ".join((Path(__file__).parents[1] / "SECURITY.md").read_text(encoding="utf-8").split())
    claimed = re.search(r"`\) (\d+) % are masked, .*? \(`unseen`\), (\d+) %", page)
    assert claimed is not None
    for share, some in zip(claimed.groups(), (rows("hard_secrets"), rows("unseen_secrets")), strict=True):
        masked = sum(not row.leaked() for row in some)
        assert int(share) <= 100 * masked / len(some) < int(share) + 15
