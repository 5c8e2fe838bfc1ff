"""A harvest without a language model: what the structure of a session says, then what its sentences say outright."""
