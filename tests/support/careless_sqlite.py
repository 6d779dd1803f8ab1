"""SQLite as most systems build it: what is deleted stays in the file until something else is written there."""

import sqlite3


def use(monkeypatch):
    """Open every file with ``secure_delete`` off, unless whoever opens it switches it on."""
    connect = sqlite3.connect

    def careless(*names, **options):
        connection = connect(*names, **options)
        connection.execute("PRAGMA secure_delete = OFF")
        return connection

    monkeypatch.setattr(sqlite3, "connect", careless)
