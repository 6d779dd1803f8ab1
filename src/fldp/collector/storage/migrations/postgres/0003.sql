-- Private keys that encapsulated requests (RFC 9458) are encrypted to. The two newest are kept.
CREATE TABLE gateway_keys (
    number   integer PRIMARY KEY,                -- 1, 2, ...; on the wire its rest modulo 255
    private  bytea NOT NULL,                     -- X25519, 32 bytes
    created  text COLLATE "C" NOT NULL,          -- UTC
    checksum bigint NOT NULL                     -- of the row
);
