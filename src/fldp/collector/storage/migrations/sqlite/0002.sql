-- 1. SQLite gives the number of a deleted row to the next one unless the table says AUTOINCREMENT. Compaction names rows by
--    their numbers, some time after it read them, so a number must never mean another row.
-- 2. Every row of segments, keys, tickets and tokens gets a checksum, and the table state their sums.
-- 3. Deletions that were begun are remembered until they are complete.
ALTER TABLE segments RENAME TO old_segments;
DROP INDEX segments_by_day;
CREATE TABLE segments (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,  -- never used again
    survey   INTEGER NOT NULL,
    day      TEXT NOT NULL,                   -- UTC, such as 2026-11-01
    kind     INTEGER NOT NULL,                -- 1: packed reports; 2: the state of a tally merged from elsewhere
    n        INTEGER NOT NULL,                -- how many reports
    folded   INTEGER NOT NULL,                -- 1 when they are in the tally
    data     BLOB NOT NULL,
    checksum INTEGER NOT NULL                 -- of all columns but id
);
INSERT INTO segments (id, survey, day, kind, n, folded, data, checksum)
    SELECT id, survey, day, kind, n, folded, data, row_checksum(survey, day, kind, n, folded, data)
    FROM old_segments ORDER BY id;
DROP TABLE old_segments;
CREATE INDEX segments_by_day ON segments (survey, folded, day, kind, n);

ALTER TABLE keys RENAME TO old_keys;
CREATE TABLE keys (
    survey   INTEGER NOT NULL,
    key      BLOB NOT NULL,                 -- SHA-256 of the idempotency key
    body     BLOB NOT NULL,                 -- SHA-256 of the key and the body: without the key it tells nothing of the body
    accepted INTEGER NOT NULL,              -- the answer
    checksum INTEGER NOT NULL,              -- of the row
    PRIMARY KEY (survey, key)
) WITHOUT ROWID;
INSERT INTO keys SELECT *, row_checksum(survey, key, body, accepted) FROM old_keys;
DROP TABLE old_keys;

ALTER TABLE tickets RENAME TO old_tickets;
CREATE TABLE tickets (
    survey   INTEGER NOT NULL,
    ticket   BLOB NOT NULL,                 -- SHA-256
    spent    INTEGER NOT NULL,
    checksum INTEGER NOT NULL,              -- of the row
    PRIMARY KEY (survey, ticket)
) WITHOUT ROWID;
INSERT INTO tickets SELECT *, row_checksum(survey, ticket, spent) FROM old_tickets;
DROP TABLE old_tickets;

ALTER TABLE tokens RENAME TO old_tokens;
CREATE TABLE tokens (
    id       TEXT PRIMARY KEY,
    hash     BLOB NOT NULL UNIQUE,          -- SHA-256 of the token
    scope    TEXT NOT NULL,                 -- admin, read or send
    survey   TEXT,                          -- the only survey it is good for, by name; NULL for all
    created  TEXT NOT NULL,                 -- UTC, as are the others
    expires  TEXT,
    revoked  TEXT,
    checksum INTEGER NOT NULL               -- of the row
);
INSERT INTO tokens SELECT *, row_checksum(id, hash, scope, survey, created, expires, revoked) FROM old_tokens
    ORDER BY old_tokens.rowid;
DROP TABLE old_tokens;

-- Surveys that were deleted, until nothing is left of what belonged to them.
CREATE TABLE deletions (
    number  INTEGER PRIMARY KEY,
    version TEXT NOT NULL,
    name    TEXT NOT NULL
);
-- What earlier releases have left of deletions that were cut short.
INSERT INTO deletions SELECT survey, '', '' FROM (
    SELECT survey FROM segments UNION SELECT survey FROM tallies UNION SELECT survey FROM keys UNION SELECT survey FROM tickets
) AS owners WHERE survey NOT IN (SELECT number FROM surveys);

-- One row. How many rows the tables have, and the sums of their checksums, kept by the triggers below: a row that is lost
-- is noticed. Each transaction adds 1 to commits; what is written after it into the file fldp.db-witness is compared.
CREATE TABLE state (
    identity         BLOB NOT NULL,         -- random; a copy of the file has the same
    commits          INTEGER NOT NULL,
    digest           BLOB NOT NULL,         -- of this row and of the digest before
    segments         INTEGER NOT NULL,
    segments_sum     INTEGER NOT NULL,
    keys             INTEGER NOT NULL,
    keys_sum         INTEGER NOT NULL,
    tickets          INTEGER NOT NULL,
    tickets_sum      INTEGER NOT NULL,
    tokens           INTEGER NOT NULL,
    tokens_sum       INTEGER NOT NULL
);
INSERT INTO state SELECT randomblob(16), 0, zeroblob(16),
    (SELECT count(*) FROM segments), (SELECT coalesce(sum(checksum), 0) FROM segments),
    (SELECT count(*) FROM keys), (SELECT coalesce(sum(checksum), 0) FROM keys),
    (SELECT count(*) FROM tickets), (SELECT coalesce(sum(checksum), 0) FROM tickets),
    (SELECT count(*) FROM tokens), (SELECT coalesce(sum(checksum), 0) FROM tokens);

CREATE TRIGGER segment_added AFTER INSERT ON segments
    BEGIN UPDATE state SET segments = segments + 1, segments_sum = segments_sum + NEW.checksum; END;
CREATE TRIGGER segment_removed AFTER DELETE ON segments
    BEGIN UPDATE state SET segments = segments - 1, segments_sum = segments_sum - OLD.checksum; END;
CREATE TRIGGER key_added AFTER INSERT ON keys
    BEGIN UPDATE state SET keys = keys + 1, keys_sum = keys_sum + NEW.checksum; END;
CREATE TRIGGER key_removed AFTER DELETE ON keys
    BEGIN UPDATE state SET keys = keys - 1, keys_sum = keys_sum - OLD.checksum; END;
CREATE TRIGGER ticket_added AFTER INSERT ON tickets
    BEGIN UPDATE state SET tickets = tickets + 1, tickets_sum = tickets_sum + NEW.checksum; END;
CREATE TRIGGER ticket_changed AFTER UPDATE ON tickets
    BEGIN UPDATE state SET tickets_sum = tickets_sum - OLD.checksum + NEW.checksum; END;
CREATE TRIGGER ticket_removed AFTER DELETE ON tickets
    BEGIN UPDATE state SET tickets = tickets - 1, tickets_sum = tickets_sum - OLD.checksum; END;
CREATE TRIGGER token_added AFTER INSERT ON tokens
    BEGIN UPDATE state SET tokens = tokens + 1, tokens_sum = tokens_sum + NEW.checksum; END;
CREATE TRIGGER token_changed AFTER UPDATE ON tokens
    BEGIN UPDATE state SET tokens_sum = tokens_sum - OLD.checksum + NEW.checksum; END;
