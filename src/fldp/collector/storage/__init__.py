"""Where the collector keeps reports: the store interface, SQLite, PostgreSQL, backup, fsck."""
