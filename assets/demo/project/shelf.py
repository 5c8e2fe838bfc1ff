"""Shelf: keeps bookmarks in one SQLite file and checks now and then whether they are still alive."""

import sqlite3
import urllib.request

TIMEOUT_SECONDS = 8


def open_shelf(path):
    database = sqlite3.connect(path)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("CREATE TABLE IF NOT EXISTS bookmark (url TEXT PRIMARY KEY, title TEXT, checked TEXT)")
    return database


def is_alive(url):
    request = urllib.request.Request(url, method="HEAD", headers={"User-Agent": "shelf/1"})
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:
            return answer.status < 400
    except OSError:
        return False
