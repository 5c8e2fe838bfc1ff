"""Campaigns that measure how well the program does its work; each is a command that prints a table."""
