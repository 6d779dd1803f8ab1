-- Keys that sign passes. A key belongs to one version of a survey forever: a blind signer cannot see what it signs for.
CREATE TABLE issuers (
    key_id   BLOB PRIMARY KEY,              -- SHA-256 of the public key
    private  BLOB,                          -- both primes, 256 bytes; NULL where somebody else issues
    created  TEXT NOT NULL,                 -- UTC
    version  TEXT,                          -- the survey that names it; NULL while none does
    checksum INTEGER NOT NULL               -- of the row
) WITHOUT ROWID;
