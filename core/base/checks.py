"""Which command lines check a piece of work, and whether a check passed."""

from __future__ import annotations

import re

from core.base.command_line import command_key

_RUNNERS = (
    "npx", "pnpm", "npm", "yarn", "bun", "bunx", "mise", "just", "make", "cargo", "go", "poetry", "uv", "hatch", "tox",
    "nox", "rake", "bundle", "composer", "mvn", r"\./mvnw", "gradle", r"\./gradlew", "dotnet", "swift", "flutter",
    "deno", "rye", "pdm", "pipenv", "python3?", "pytest", "ruff", "mypy", "black", "isort", "flake8", "pylint",
    "pyright", "eslint", "prettier", "tsc", "vitest", "jest", "golangci-lint", "gofmt", "rustfmt", "mix", "sbt",
    "ctest", "cmake", "ninja", "bazel", "turbo", "nx", "pre-commit", "biome", "rspec", "phpunit",
)  # fmt: skip
_STARTS = re.compile(
    r"^(?:[A-Z_]+=\S+\s+)*(?:sudo\s+|docker compose (?:run|exec)\s+(?:--rm\s+)?\S+\s+|\.?venv/bin/)?"
    rf"(?:{'|'.join(_RUNNERS)})\b"
)
_KINDS = {
    "integration": r"\b(?:integration|e2e|test:ci|tags=integration|playwright)\b",
    "format": r"\b(?:fmt|format|gofmt|rustfmt|prettier|black)\b",
    "lint": r"\b(?:lint|ruff|eslint|clippy|vet|golangci-lint|flake8|pylint|biome|pre-commit)\b",
    "types": r"\b(?:mypy|pyright|tsc|typecheck|type-check|check-types|check:types)\b",
    "test": r"\b(?:test|tests|pytest|vitest|jest|rspec|phpunit|ctest|tox|nox)\b",
    "build": r"\b(?:build|compile|check|verify|validate)\b",
}
# One test of many is what somebody looked at then, not how the repository is checked.
_ONE_TEST = re.compile(
    "|".join((
        r"\s-run\b", r"\s-k\s", "::", r"\s-t\s", "--grep", "--filter", "--testPathPattern", "-c ['\"]", "--version",
        "--help", r"\.(?:py|tsx?|jsx?|go|rs|rb|php|java|swift|cs|kt|vue)\b", r"\bnode_modules/",
        r"\b(?:rerun|shell|exec|init|add)\b",
        r"\s-m\s+(?!pytest|mypy|ruff|unittest|tests?\b|build|compileall)", "[\"'“]", r"-only-testing",
    ))
)  # fmt: skip
_NO_CHECK = re.compile(r"--version|--help|\b(?:rerun|shell|init|add|install)\b|\s-[ce] ['\"]")
_RED = re.compile(
    r"\bFAIL(?:ED|URES?)?\b|\b[1-9]\d* (?:\w+ )?(?:failed|failing|failures?|errors?|issues?|problems?)\b|"
    r"\btask failed\b|^Traceback|^\W*(?:\w+ )?error(?:\[|:|!| TS\d)|^panic:|\bbuild failed\b|ELIFECYCLE",
    re.IGNORECASE | re.MULTILINE,
)
_GREEN = re.compile(
    r"\b[1-9]\d* (?:\w+ )?pass(?:ed|ing)\b|^ok\b|^PASS\b|\b(?:tests?|checks) passed\b|\bno issues\b|✓|✔|"
    r"\b0 (?:issues|errors|problems|failed|fail)\b|\btest result: ok\b|\bBUILD SUCCESS\w*|"
    r"\bcompiled successfully\b|\bbuilt in \d",
    re.IGNORECASE | re.MULTILINE,
)


def check_kind(command: str) -> str:
    """Which check of a repository a command line is (format, lint, types, build, test or integration), "" for none and
    for one test of many."""
    if len(command) > 100 or "|" in command or ">" in command or "$" in command:
        return ""
    return "" if _ONE_TEST.search(command) else _kind(command)


def kinds_run(command: str) -> frozenset[str]:
    """The kinds of checks that a command line runs, of all or of a part, whatever is done with its output."""
    parts = command_key(command).split(" && ")
    return frozenset(kind for part in parts if not _NO_CHECK.search(part) and (kind := _kind(part)))


def _kind(command: str) -> str:
    if not _STARTS.match(command):
        return ""
    return next((kind for kind, pattern in _KINDS.items() if re.search(pattern, command)), "")


def passed(command: str, output: str, failed: bool | None) -> bool | None:
    """Whether a check passed; None where nothing tells. Behind a pipe every command succeeds, so what it printed has
    to say it."""
    if failed or _RED.search(output):
        return False
    if _GREEN.search(output) or (failed is False and "|" not in command):
        return True
    return None
