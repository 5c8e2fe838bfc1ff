"""`python -m tests.quality.exam.agent`: what a reader who plays an agent uses; each call's characters are counted.

`prepare FOLDER` makes the home of `real_home.py` there, and beside it, for each question, a folder with links to the
raw transcripts of its repository, to be searched with grep. `tools FOLDER QUESTION` lists the tools that an agent is
shown in the question's project, `call FOLDER QUESTION TOOL JSON` calls one, and `search FOLDER QUESTION -- COMMAND…`
runs a command of the shell in the folder of raw transcripts. `calls.jsonl` in FOLDER gets a row for each call.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

from mcp import Client

from core.commands.workspace import open_workspace
from core.mcp_server.server import build_server
from tests.quality.exam.__main__ import questions, sessions
from tests.quality.exam.score import Question
from tests.quality.real_home import CONVERSATIONS, RealHome, repository_of

CALLS, SEARCH = "calls.jsonl", "search"


def prepare(folder: Path) -> None:
    """Make the home and the folders of raw transcripts."""
    home = RealHome(folder / "made")
    home.put_real(sessions())
    home.harvest()
    for question in questions():
        place = folder / "raw" / question.id
        place.mkdir(parents=True)
        for session in sessions():
            if repository_of(session) == repository_of(question.about):
                (place / session.replace("/", "__")[-60:]).symlink_to(CONVERSATIONS / session)


def noted(folder: Path, question: str, what: str, given: str, text: str) -> None:
    """Print an answer, and write down what was asked for and how long it was."""
    with (folder / CALLS).open("a", encoding="utf-8") as stream:
        row = {"question": question, "call": what, "given": given, "characters": len(text)}
        stream.write(json.dumps(row) + "\n")
    print(text)


def earlier(folder: Path, question: str) -> list[tuple[str, str]]:
    """The calls of tools that were made for a question before, with what was given to them."""
    rows = (folder / CALLS).read_text(encoding="utf-8").splitlines() if (folder / CALLS).exists() else []
    calls = [row for row in map(json.loads, rows) if row["question"] == question and row["call"] != SEARCH]
    return [(row["call"], row["given"]) for row in calls]


def server_of(folder: Path, question: Question) -> object:
    """The server as if it had been started in the question's project; for a session of another system, or of none, as
    if its user had allowed all conversations."""
    made = folder / "made"
    person = made / "user"
    environment = {"PATH": os.environ["PATH"], "HOME": str(person), "GIT_CEILING_DIRECTORIES": str(made)}
    environment |= {f"XDG_{name}_HOME": str(person / name.lower()) for name in ("CACHE", "CONFIG", "DATA", "STATE")}
    ledger = json.loads((person / ".manual_slop" / "knowledge" / "ledger.json").read_bytes())["entries"].values()
    session = str(made / "sessions" / question.about)
    known = next((one.get("project", "") for one in ledger if one["path"].startswith(session)), "")
    project = known or question.project
    place = Path(project if os.path.isabs(project) else made.anchor)
    config = folder / "everywhere.toml"
    config.write_text("[ai_settings.knowledge]\nmcp_all_conversations = true\n", encoding="utf-8")
    settings = None if os.path.isabs(project) else config
    return build_server(open_workspace(str(person / ".manual_slop"), settings, environment, place))


async def asked(folder: Path, question: Question, tool: str, given: str) -> str:
    """The text of an answer, or with no tool what tools there are. A server lives as long as its agent, and knows what
    it showed: the earlier calls of the question are made again before."""
    async with Client(server_of(folder, question)) as client:  # type: ignore[arg-type]
        if not tool:
            found = (await client.list_tools()).tools
            return "\n\n".join(f"{row.name}: {row.description}\n{json.dumps(row.input_schema)}" for row in found)
        for before, words in earlier(folder, question.id):
            await client.call_tool(before, json.loads(words or "{}"))
        result = await client.call_tool(tool, json.loads(given or "{}"))
        return "".join(getattr(row, "text", "") for row in result.content)


def main(words: list[str]) -> None:
    """Do what the words say."""
    act, folder = words[0], Path(words[1])
    if act == "prepare":
        prepare(folder)
        return
    question = next(one for one in questions() if one.id == words[2])
    if act == "search":
        done = subprocess.run(
            words[words.index("--") + 1 :], cwd=folder / "raw" / question.id, capture_output=True, check=False
        )
        noted(folder, question.id, SEARCH, "", (done.stdout + done.stderr).decode("utf-8", "replace"))
    elif act == "tools":
        print(asyncio.run(asked(folder, question, "", "")))
    else:
        given = "".join(words[4:5])
        noted(folder, question.id, words[3], given, asyncio.run(asked(folder, question, words[3], given)))


if __name__ == "__main__":
    main(sys.argv[1:])
