-- Keys of new lexemes are numbers in the order of their first use, so those of one source lie side by side in the index of passages, and a document
-- changes few pages of it. Keys made by a hash, which are not negative, stay.
CREATE SEQUENCE "lexeme_keys" AS integer MINVALUE -2147483648 MAXVALUE -2 START WITH -2147483648 CYCLE;
-- Copied and dropped with the table.
ALTER SEQUENCE "lexeme_keys" OWNED BY "lexeme_frequencies"."key";

CREATE TABLE "lexeme_numberings" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "since" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "lexeme_numberings_pkey" PRIMARY KEY ("id")
);
-- The last release finds a word by its hash only. In an installation that is in use, its instances have a day to be replaced.
INSERT INTO "lexeme_numberings" ("since")
SELECT now() + CASE WHEN EXISTS (SELECT FROM "organizations") THEN interval '1 day' ELSE interval '0' END;
