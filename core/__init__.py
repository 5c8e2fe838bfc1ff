"""The UI-free core: conversations in, plain-text knowledge out. Start with core/README.md."""
