-- A published survey. Its number is never used again, so what belongs to a deleted one belongs to nobody.
CREATE TABLE surveys (
    number        INTEGER PRIMARY KEY AUTOINCREMENT,
    version       TEXT NOT NULL UNIQUE,     -- 64 hexadecimal digits
    name          TEXT NOT NULL,
    specification TEXT NOT NULL,            -- canonical JSON
    created       TEXT NOT NULL,            -- UTC
    closed        TEXT                      -- UTC, when its owner closed it; NULL while it is not
);
CREATE INDEX surveys_by_name ON surveys (name, number);

-- Reports, many in one row, sorted by their own bytes, so that their order says nothing about who sent them or when.
-- Those not folded yet are the tail: one row for each survey and day of a commit. Folding adds them to the tally of their
-- day, and then merges them into larger sorted rows (retention raw) or deletes them (retention tally).
CREATE TABLE segments (
    id     INTEGER PRIMARY KEY,
    survey INTEGER NOT NULL,
    day    TEXT NOT NULL,                   -- UTC, such as 2026-11-01
    kind   INTEGER NOT NULL,                -- 1: packed reports; 2: the state of a tally merged from elsewhere
    n      INTEGER NOT NULL,                -- how many reports
    folded INTEGER NOT NULL,                -- 1 when they are in the tally
    data   BLOB NOT NULL
);
CREATE INDEX segments_by_day ON segments (survey, folded, day, kind, n);

-- The sum of all folded reports of a survey and day.
CREATE TABLE tallies (
    survey INTEGER NOT NULL,
    day    TEXT NOT NULL,
    n      INTEGER NOT NULL,
    state  BLOB NOT NULL,                   -- 64-bit integers, little-endian
    UNIQUE (survey, day)
);

-- What was acknowledged. No time, no row number, in the order of hashes: nothing leads from here to a report.
CREATE TABLE keys (
    survey   INTEGER NOT NULL,
    key      BLOB NOT NULL,                 -- SHA-256 of the idempotency key
    body     BLOB NOT NULL,                 -- SHA-256 of the key and the body: without the key it tells nothing of the body
    accepted INTEGER NOT NULL,              -- the answer
    PRIMARY KEY (survey, key)
) WITHOUT ROWID;

-- Single-use tickets. Which report one was spent on is not known, nor when.
CREATE TABLE tickets (
    survey INTEGER NOT NULL,
    ticket BLOB NOT NULL,                   -- SHA-256
    spent  INTEGER NOT NULL,
    PRIMARY KEY (survey, ticket)
) WITHOUT ROWID;

CREATE TABLE tokens (
    id      TEXT PRIMARY KEY,
    hash    BLOB NOT NULL UNIQUE,           -- SHA-256 of the token
    scope   TEXT NOT NULL,                  -- admin, read or send
    survey  TEXT,                           -- the only survey it is good for, by name; NULL for all
    created TEXT NOT NULL,                  -- UTC, as are the others
    expires TEXT,
    revoked TEXT
);
