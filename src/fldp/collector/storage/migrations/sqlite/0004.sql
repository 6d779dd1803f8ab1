-- Withdrawals. Segments get two more kinds, which take out what others added: 3 packed reports, 4 the state of a merged
-- tally. Their n is negative.
ALTER TABLE keys ADD COLUMN day BLOB;       -- SHA-256 of the key and its day; NULL for rows of earlier releases
ALTER TABLE keys ADD COLUMN withdrawn INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tallies ADD COLUMN withdrawn INTEGER NOT NULL DEFAULT 0;  -- how many of the day were added and taken out
CREATE TRIGGER key_changed AFTER UPDATE ON keys
    BEGIN UPDATE state SET keys_sum = keys_sum - OLD.checksum + NEW.checksum; END;

-- Versions of surveys that were deleted: that there were such versions, and nothing else of them.
CREATE TABLE past_versions (
    number  INTEGER PRIMARY KEY,
    version TEXT NOT NULL,
    name    TEXT NOT NULL,
    created TEXT NOT NULL,
    closed  TEXT
);
CREATE INDEX past_versions_by_name ON past_versions (name, number);
