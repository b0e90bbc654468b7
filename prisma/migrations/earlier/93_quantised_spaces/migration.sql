-- Spaces that are made from now on have an index of bits; the spaces that are there keep theirs, so nothing is built anew. Until the
-- instances of the last release are replaced, they compare every vector of such a new space.
ALTER TABLE "embedding_spaces" ADD COLUMN "isQuantised" BOOLEAN NOT NULL DEFAULT false;
