-- SQLite gives the number of a deleted row to the next one unless the table says AUTOINCREMENT. Compaction names rows by
-- their numbers, some time after it read them, so a number must never mean another row.
ALTER TABLE segments RENAME TO old_segments;
DROP INDEX segments_by_day;
CREATE TABLE segments (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    survey INTEGER NOT NULL,
    day    TEXT NOT NULL,                   -- UTC, such as 2026-11-01
    kind   INTEGER NOT NULL,                -- 1: packed reports; 2: the state of a tally merged from elsewhere
    n      INTEGER NOT NULL,                -- how many reports
    folded INTEGER NOT NULL,                -- 1 when they are in the tally
    data   BLOB NOT NULL
);
INSERT INTO segments (id, survey, day, kind, n, folded, data)
    SELECT id, survey, day, kind, n, folded, data FROM old_segments ORDER BY id;
DROP TABLE old_segments;
CREATE INDEX segments_by_day ON segments (survey, folded, day, kind, n);
