"""Talks to language models; hands out one callable."""
