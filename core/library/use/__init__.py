"""What the library is for: retrieving, recording how it went, and learning from that."""
