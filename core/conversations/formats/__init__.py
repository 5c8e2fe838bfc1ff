"""One file a format: the bytes of one conversation become turns and events."""
