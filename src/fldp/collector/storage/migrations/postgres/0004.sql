-- Withdrawals. Segments get two more kinds, which take out what others added: 3 packed reports, 4 the state of a merged
-- tally. Their n is negative. Collectors of the release before may write until the first of these rows: the columns have
-- defaults, and this function, from then on the trigger of all they write to, refuses them.
ALTER TABLE keys ADD COLUMN day bytea;       -- SHA-256 of the key and its day; NULL for rows of earlier releases
ALTER TABLE keys ADD COLUMN withdrawn integer NOT NULL DEFAULT 0;
ALTER TABLE tallies ADD COLUMN withdrawn bigint NOT NULL DEFAULT 0;  -- how many of the day were added and taken out
CREATE FUNCTION refuse_earlier_release() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'collectors of an earlier release must not write here any more: replace this one'; END $$;

-- Versions of surveys that were deleted: that there were such versions, and nothing else of them.
CREATE TABLE past_versions (
    number  integer PRIMARY KEY,
    version text COLLATE "C" NOT NULL,
    name    text COLLATE "C" NOT NULL,
    created text COLLATE "C" NOT NULL,
    closed  text COLLATE "C"
);
CREATE INDEX past_versions_by_name ON past_versions (name, number);
