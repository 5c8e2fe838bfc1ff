"""The timeline: a year of conversations and what they taught."""
