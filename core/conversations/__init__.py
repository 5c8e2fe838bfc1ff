"""Reads conversations of any tool into one record."""
