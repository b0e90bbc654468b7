-- Spaces that the embedded database makes from now on, below 512 dimensions, have an index of numbers of four bytes. The spaces that are there keep theirs.
ALTER TABLE "embedding_spaces" ADD COLUMN "hasFloats" BOOLEAN NOT NULL DEFAULT false;
