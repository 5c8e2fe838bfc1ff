"""Forty questions over real sessions, asked as a person and as an agent ask them, judged by a program."""
