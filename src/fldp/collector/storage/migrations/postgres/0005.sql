-- Keys that sign passes. A key belongs to one version of a survey forever: a blind signer cannot see what it signs for.
CREATE TABLE issuers (
    key_id   bytea PRIMARY KEY,                  -- SHA-256 of the public key
    private  bytea,                              -- both primes, 256 bytes; NULL where somebody else issues
    created  text COLLATE "C" NOT NULL,          -- UTC
    version  text COLLATE "C",                   -- the survey that names it; NULL while none does
    checksum bigint NOT NULL                     -- of the row
);
