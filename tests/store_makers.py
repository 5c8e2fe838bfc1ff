"""Makes the databases of other tools with the tables that their own sources create, and a few made-up rows."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

OPENCODE = """
CREATE TABLE project (id TEXT PRIMARY KEY, worktree TEXT NOT NULL);
CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT NOT NULL, parent_id TEXT, slug TEXT NOT NULL,
    directory TEXT NOT NULL, title TEXT NOT NULL, version TEXT NOT NULL, time_created INTEGER NOT NULL,
    time_updated INTEGER NOT NULL, time_archived INTEGER);
CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, time_created INTEGER NOT NULL,
    time_updated INTEGER NOT NULL, data TEXT NOT NULL);
CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT NOT NULL, session_id TEXT NOT NULL,
    time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL, data TEXT NOT NULL);
CREATE TABLE session_message (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, type TEXT NOT NULL, seq INTEGER NOT NULL,
    time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL, data TEXT NOT NULL);
"""
GOOSE = """
CREATE TABLE schema_version (version INTEGER PRIMARY KEY, applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP);
CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT NOT NULL DEFAULT '', description TEXT NOT NULL DEFAULT '',
    user_set_name BOOLEAN DEFAULT FALSE, session_type TEXT NOT NULL DEFAULT 'user', working_dir TEXT NOT NULL,
    created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
    extension_data TEXT DEFAULT '{}');
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL REFERENCES sessions(id),
    role TEXT NOT NULL, content_json TEXT NOT NULL, created_timestamp INTEGER NOT NULL,
    timestamp TIMESTAMP DEFAULT CURRENT_TIMESTAMP, tokens INTEGER, metadata_json TEXT);
"""
CURSOR = """
CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
"""
LLM_OLD = """
CREATE TABLE conversations (id TEXT PRIMARY KEY, name TEXT, model TEXT);
CREATE TABLE responses (id TEXT PRIMARY KEY, model TEXT, prompt TEXT, system TEXT, prompt_json TEXT, options_json TEXT,
    response TEXT, response_json TEXT, conversation_id TEXT REFERENCES conversations(id), duration_ms INTEGER,
    datetime_utc TEXT);
CREATE TABLE tool_calls (id INTEGER PRIMARY KEY, response_id TEXT, tool_id INTEGER, name TEXT, arguments TEXT,
    tool_call_id TEXT);
CREATE TABLE tool_results (id INTEGER PRIMARY KEY, response_id TEXT, tool_id INTEGER, name TEXT, output TEXT,
    tool_call_id TEXT);
CREATE TABLE fragments (id INTEGER PRIMARY KEY, hash TEXT, content TEXT);
"""
LLM_NEW = """
CREATE TABLE messages (hash TEXT PRIMARY KEY, parent_hash TEXT, role TEXT, provider_metadata TEXT);
CREATE TABLE parts (id INTEGER PRIMARY KEY, message_hash TEXT, position INTEGER, type TEXT, tool_name TEXT, text TEXT,
    payload TEXT);
CREATE TABLE threads (id TEXT PRIMARY KEY, name TEXT, tip_message_hash TEXT, forked_from TEXT, datetime_utc TEXT);
CREATE TABLE turns (id TEXT PRIMARY KEY, thread_id TEXT, parent_message_hash TEXT, tip_message_hash TEXT, model TEXT,
    datetime_utc TEXT);
"""
AT = 1_767_000_000_000


def database(path: Path, schema: str, *, wal: bool = True) -> sqlite3.Connection:
    """An open store; the caller goes on writing, or closes it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    made = sqlite3.connect(path, isolation_level=None)
    made.execute(f"PRAGMA journal_mode = {'WAL' if wal else 'DELETE'}")
    made.executescript(schema)
    return made


def say_in_opencode(made: sqlite3.Connection, session: str, number: int, role: str, text: str) -> None:
    key = f"{session}-{number:04}"
    data = json.dumps({"role": role, "time": {"created": AT + number}})
    made.execute("INSERT INTO message VALUES (?, ?, ?, ?, ?)", (f"msg_{key}", session, AT + number, AT, data))
    part = json.dumps({"type": "text", "text": text})
    made.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", (f"prt_{key}", f"msg_{key}", session, AT, AT, part))


def opencode(path: Path, *, wal: bool = True) -> sqlite3.Connection:
    made = database(path, OPENCODE, wal=wal)
    for id, parent in (("ses_1", None), ("ses_2", "ses_1"), ("ses_3", None), ("ses_empty", None)):
        row = (id, "p", parent, id, "/srv/app", f"Title {id}", "1.0", AT, AT + 5000, None)
        made.execute("INSERT INTO session VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
    say_in_opencode(made, "ses_1", 1, "user", "Which port do we use?")
    say_in_opencode(made, "ses_1", 2, "assistant", "We use port 8080.")
    tool = {
        "type": "tool",
        "tool": "bash",
        "state": {"status": "completed", "input": {"command": "ls"}, "output": "a.py"},
    }
    row = ("prt_ses_1-0003", "msg_ses_1-0002", "ses_1", AT, AT, json.dumps(tool))
    made.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", row)
    say_in_opencode(made, "ses_2", 1, "user", "Look for the port.")
    newer = (
        ("user", {"text": "Newer question?", "files": []}),
        ("assistant", {"content": [{"type": "text", "text": "Newer answer."}, {"type": "reasoning", "text": "hm"}]}),
        ("model-switched", {"model": "x"}),
    )
    for seq, (kind, data) in enumerate(newer):
        row = (f"evt_{9 - seq}", "ses_3", kind, seq, AT, AT, json.dumps(data))
        made.execute("INSERT INTO session_message VALUES (?, ?, ?, ?, ?, ?, ?)", row)
    return made


def opencode_files(storage: Path, *, first: bool = False) -> Path:
    """The two older sessions of `opencode` as the storage before the database holds them; `first` for its first
    layout. Returns the folder."""
    about = {"slug": "s", "directory": "/srv/app", "title": "Ports", "time": {"created": AT, "updated": AT + 5000}}

    def put(path: str, value: object) -> None:
        (storage / path).parent.mkdir(parents=True, exist_ok=True)
        (storage / path).write_text(json.dumps(value, indent=2))

    def say(session: str, number: int, role: str, *parts: object) -> None:
        key = f"{session}-{number:04}"
        ids = {"id": f"msg_{key}", "sessionID": session}
        put(
            f"{'session/' if first else ''}message/{session}/msg_{key}.json",
            ids | {"role": role, "time": {"created": AT + number}},
        )
        folder = f"session/part/{session}/msg_{key}" if first else f"part/msg_{key}"
        for at, part in enumerate(parts, number):
            own = {"id": f"prt_{session}-{at:04}", "messageID": f"msg_{key}", "sessionID": session}
            put(f"{folder}/prt_{session}-{at:04}.json", own | dict(part))  # type: ignore[call-overload]

    below = "session/info" if first else "session/p"
    put(f"{below}/ses_1.json", {"id": "ses_1", **about})
    put(f"{below}/ses_2.json", {"id": "ses_2", "parentID": "ses_1", **about})
    put(f"{below}/ses_empty.json", {"id": "ses_empty", **about})
    state = {"status": "completed", "input": {"command": "ls"}, "output": "a.py"}
    answer = ({"type": "text", "text": "We use port 8080."}, {"type": "tool", "tool": "bash", "state": state})
    say("ses_1", 1, "user", {"type": "text", "text": "Which port do we use?"})
    say("ses_1", 2, "assistant", *answer)
    say("ses_2", 1, "user", {"type": "text", "text": "Look for the port."})
    return storage


def goose(path: Path, *, wal: bool = True) -> sqlite3.Connection:
    made = database(path, GOOSE, wal=wal)
    query = "INSERT INTO sessions (id, name, session_type, working_dir, updated_at) VALUES (?, ?, ?, ?, ?)"
    for id, kind in (("20260101_1", "user"), ("20260101_2", "sub_agent")):
        made.execute(query, (id, "Ports", kind, "/srv/app", "2026-01-02 03:04:05"))
    rows = (
        ("20260101_1", "user", [{"type": "text", "text": "Which port?"}], {"userVisible": True}),
        ("20260101_1", "assistant", [{"type": "text", "text": "Port 8080."}], {"userVisible": True}),
        ("20260101_1", "user", [{"type": "text", "text": "Hidden from the user"}], {"userVisible": False}),
        ("20260101_2", "user", [{"type": "text", "text": "Do it."}], None),
    )
    for session, role, content, about in rows:
        query = (
            "INSERT INTO messages (session_id, role, content_json, created_timestamp, metadata_json) VALUES (?,?,?,?,?)"
        )
        made.execute(query, (session, role, json.dumps(content), AT // 1000, json.dumps(about) if about else None))
    return made


def cursor(path: Path, *, wal: bool = True) -> sqlite3.Connection:
    made = database(path, CURSOR, wal=wal)
    put = "INSERT INTO cursorDiskKV VALUES (?, ?)"
    heads = [{"bubbleId": name, "type": 1 if name == "b1" else 2} for name in ("b1", "b2", "b3", "gone")]
    about = {
        "composerId": "c1",
        "name": "Ports",
        "createdAt": AT,
        "lastUpdatedAt": AT,
        "fullConversationHeadersOnly": heads,
    }
    made.execute(put, ("composerData:c1", json.dumps(about)))
    call = {"name": "run_terminal_cmd", "rawArgs": '{"command": "ls"}', "result": '{"output": "a.py"}'}
    bubbles = {
        "b1": {
            "type": 1,
            "text": "Which port?",
            "workspaceUris": ["file:///srv/my%20app"],
            "createdAt": "2026-01-02T03:04:05Z",
        },
        "b2": {"type": 2, "text": "Port 8080."},
        "b3": {"type": 2, "text": "", "toolFormerData": call},
    }
    for key, bubble in bubbles.items():
        made.execute(put, (f"bubbleId:c1:{key}", json.dumps(bubble).encode()))
    inline = {
        "composerId": "c0",
        "createdAt": AT,
        "conversation": [{"type": 1, "text": "Older?"}, {"type": 2, "text": "Yes."}],
    }
    made.execute(put, ("composerData:c0", json.dumps(inline)))
    made.execute(put, ("composerData:empty", json.dumps({"fullConversationHeadersOnly": []})))
    return made


def llm(path: Path, *, wal: bool = True) -> sqlite3.Connection:
    made = database(path, LLM_OLD + LLM_NEW, wal=wal)
    made.executemany("INSERT INTO conversations VALUES (?, ?, 'm')", [("old", "Ports"), ("both", "Went on")])
    rows = (
        ("r1", "Which port?", "Be brief.", "Port 8080.", "old", "2026-01-02T03:04:05"),
        ("r2", "And the other?", None, "Port 9090.", "old", "2026-01-02T03:05:05"),
        ("r3", "Alone?", None, "Yes.", None, "2026-01-02T03:06:05"),
        ("r4", "First?", None, "One.", "both", "2026-01-02T03:07:05"),
    )
    query = (
        "INSERT INTO responses (id, prompt, system, response, conversation_id, datetime_utc) VALUES (?, ?, ?, ?, ?, ?)"
    )
    made.executemany(query, rows)
    made.execute("INSERT INTO tool_calls (response_id, name, arguments) VALUES ('r1', 'scan', '{\"host\": \"a\"}')")
    made.execute("INSERT INTO fragments VALUES (7, 'x', 'the shared text')")
    chain = (
        ("h1", None, "user", "First?", None),
        ("h2", "h1", "assistant", "One.", None),
        ("h3", "h2", "user", None, '{"text_ref": [{"literal": "See "}, {"fragment": 7}]}'),
        ("h4", "h3", "assistant", "Two.", None),
    )
    for key, parent, role, text, payload in chain:
        made.execute("INSERT INTO messages VALUES (?, ?, ?, NULL)", (key, parent, role))
        query = "INSERT INTO parts (message_hash, position, type, text, payload) VALUES (?, 0, 'text', ?, ?)"
        made.execute(query, (key, text, payload))
    made.execute("INSERT INTO threads VALUES ('both', 'Went on', 'h4', NULL, '2026-01-03T00:00:00')")
    return made


MAKERS: dict[str, Callable[..., sqlite3.Connection]] = {
    "opencode": opencode,
    "goose": goose,
    "cursor": cursor,
    "llm": llm,
}
