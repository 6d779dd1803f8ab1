-- Private keys that encapsulated requests (RFC 9458) are encrypted to. The two newest are kept.
CREATE TABLE gateway_keys (
    number   INTEGER PRIMARY KEY,           -- 1, 2, ...; on the wire its rest modulo 255
    private  BLOB NOT NULL,                 -- X25519, 32 bytes
    created  TEXT NOT NULL,                 -- UTC
    checksum INTEGER NOT NULL               -- of the row
);
