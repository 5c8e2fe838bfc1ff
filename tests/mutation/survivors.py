"""Mutants that no test notices, and why that is right: module -> key of the mutant -> reason."""

from __future__ import annotations

EXPLAINED: dict[str, dict[str, str]] = {}
