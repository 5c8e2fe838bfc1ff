"""The UI-free core: conversations in, plain-text knowledge out. Start with core/README.md."""

__version__ = "0.1.0"
