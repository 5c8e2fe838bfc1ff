"""The words that a user may choose from, one tuple each, for the table of commands, the settings and the rooms, and the
names of tools; of one how it is said.

Plain tuples in a module that imports nothing: `knowledge --help` shows them, and may not load a room for it.
"""

from __future__ import annotations

# What can be found, in the order in which people look for it. Each kind is made by a room; see core/commands/search.py.
ENTRY_KINDS = ("bullet", "note", "memory", "context", "fact", "document")
# What a user may look for: these, and what was said in conversations.
SEARCH_KINDS = (*ENTRY_KINDS, "conversation")
# Who can have said what a search finds in a conversation.
SPOKEN_ROLES = ("user", "assistant", "tool")
HINT_EVENTS = ("prompt", "command", "failure", "file")
"""When a tool is handed a line without asking."""
PROVIDERS = (
    *("offline", "openai", "ollama", "anthropic", "gemini", "command"),
    *("local", "claude_code", "codex", "antigravity", "gemini_cli"),
)
PROGRAMS = ("command", "claude_code", "codex", "antigravity", "gemini_cli")
"""Those of them that are asked as a program: nobody knows what that costs, or how large the window is."""
# What a bullet can be: five files of the knowledge folder, and notes on source files.
BULLET_CATEGORIES = ("facts", "decisions", "questions", "playbooks", "tasks", "files")
ANY_CATEGORY = "any"
# Five categories of the fact index, in the order in which they are listed.
FACT_CATEGORIES = ("fact", "pitfall", "pattern", "tool-quirk", "question")
TASK_TYPES = (
    "factual_lookup", "implementation_howto", "conceptual_understanding", "opinion_gathering", "decision_support",
    "debugging", "exploratory_research", "creative_inspiration", "other",
)  # fmt: skip
"""What somebody may be doing when something is handed to them."""


def task_words(task: str) -> str:
    """`implementation_howto` as people write it."""
    return task.replace("_", " ").replace("howto", "how-to")


OUTCOMES = ("win", "partial", "miss", "misleading")
"""How that served: it helped, it was not enough, it was beside the point, it led astray."""
# What documents of the library are, how they are looked for and shown, and how they stand to each other.
CONTENT_TYPES = ("article", "paper", "note", "code", "conversation", "reference")
DOSSIER_SIZES = ("full", "compact", "minimal")
SCOPES = ("all", "tasks", "sources", "gaps", "retire", "connections", "concept")
RELATIONS = (
    "related_to", "supports", "contradicts", "supersedes", "elaborates", "applies", "derived_from", "same_as",
    "complements", "better_for",
)  # fmt: skip
TOOLS = {
    "claude_code": "Claude Code", "codex": "Codex", "aider": "aider", "specstory": "SpecStory",
    "gemini_cli": "Gemini CLI", "opencode": "OpenCode", "cursor": "Cursor", "chatgpt": "ChatGPT",
    "claude_ai": "Claude.ai", "cline": "Cline", "cline_tasks": "Cline", "copilot_cli": "Copilot CLI",
    "goose": "Goose", "llm": "llm", "swe_agent": "SWE-agent", "manual_slop": "Manual Slop", "home": "Manual Slop",
    "droid": "Droid", "grok": "Grok Build", "kimi": "Kimi", "hermes": "Hermes", "pi": "Pi or OpenClaw",
    "antigravity": "Antigravity", "qwen": "Qwen Code", "amp": "Amp", "crush": "Crush", "kiro": "Kiro",
    "continue_dev": "Continue", "vscode": "VS Code", "deepseek": "DeepSeek Harness", "zed": "Zed",
    "devin": "Devin",
}  # fmt: skip
"""What people call the tool that a format belongs to."""
