-- Every row of segments, keys, tickets and tokens gets the checksum that fldp.collector.checksums computes: the first
-- 32 bits of SHA-256 over all columns, each with its type and length.
CREATE FUNCTION field(value bigint) RETURNS bytea LANGUAGE sql AS
    $$ SELECT coalesce('\x01'::bytea || int8send(value), '\x00'::bytea) $$;
CREATE FUNCTION field(value bytea) RETURNS bytea LANGUAGE sql AS
    $$ SELECT coalesce('\x03'::bytea || int8send(length(value)) || value, '\x00'::bytea) $$;
CREATE FUNCTION field(value text) RETURNS bytea LANGUAGE sql AS
    $$ SELECT coalesce('\x02'::bytea || int8send(octet_length(value)) || convert_to(value, 'UTF8'), '\x00'::bytea) $$;
CREATE FUNCTION row_checksum(fields bytea) RETURNS bigint LANGUAGE sql AS
    $$ SELECT (get_byte(hash, 0)::bigint << 24) | (get_byte(hash, 1) << 16) | (get_byte(hash, 2) << 8) | get_byte(hash, 3)
       FROM sha256(fields) AS hash $$;

ALTER TABLE segments ADD COLUMN checksum bigint;
ALTER TABLE segments ALTER COLUMN checksum TYPE bigint USING row_checksum(
    field(survey::bigint) || field(day) || field(kind::bigint) || field(n) || field(folded::bigint) || field(data));
ALTER TABLE segments ALTER COLUMN checksum SET NOT NULL;

ALTER TABLE keys ADD COLUMN checksum bigint;
ALTER TABLE keys ALTER COLUMN checksum TYPE bigint USING row_checksum(
    field(survey::bigint) || field(key) || field(body) || field(accepted));
ALTER TABLE keys ALTER COLUMN checksum SET NOT NULL;

ALTER TABLE tickets ADD COLUMN checksum bigint;
ALTER TABLE tickets ALTER COLUMN checksum TYPE bigint USING row_checksum(
    field(survey::bigint) || field(ticket) || field(spent::bigint));
ALTER TABLE tickets ALTER COLUMN checksum SET NOT NULL;

ALTER TABLE tokens ADD COLUMN checksum bigint;
ALTER TABLE tokens ALTER COLUMN checksum TYPE bigint USING row_checksum(
    field(id) || field(hash) || field(scope) || field(survey) || field(created) || field(expires) || field(revoked));
ALTER TABLE tokens ALTER COLUMN checksum SET NOT NULL;

DROP FUNCTION row_checksum(bytea);
DROP FUNCTION field(bigint);
DROP FUNCTION field(bytea);
DROP FUNCTION field(text);

-- Surveys that were deleted, until nothing is left of what belonged to them.
CREATE TABLE deletions (
    number  integer PRIMARY KEY,
    version text COLLATE "C" NOT NULL,
    name    text COLLATE "C" NOT NULL
);
-- What earlier releases have left of deletions that were cut short.
INSERT INTO deletions SELECT survey, '', '' FROM (
    SELECT survey FROM segments UNION SELECT survey FROM tallies UNION SELECT survey FROM keys UNION SELECT survey FROM tickets
) AS owners WHERE survey NOT IN (SELECT number FROM surveys);
