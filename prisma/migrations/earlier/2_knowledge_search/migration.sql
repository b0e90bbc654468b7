-- DropIndex
DROP INDEX "chunks_data_source_id_idx";

-- DropIndex
DROP INDEX "chunks_lexemes_idx";

-- AlterTable
ALTER TABLE "chunks" DROP COLUMN "char_end",
DROP COLUMN "char_start",
DROP COLUMN "config",
DROP COLUMN "content_hash",
DROP COLUMN "heading_path",
DROP COLUMN "lexemes",
DROP COLUMN "org_id",
DROP COLUMN "page",
DROP COLUMN "text",
DROP COLUMN "title",
DROP COLUMN "token_count",
ADD COLUMN     "term_counts" SMALLINT[],
ADD COLUMN     "term_keys" INTEGER[];

-- AlterTable
ALTER TABLE "knowledge_items" ADD COLUMN     "isForced" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "isRunWanted" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "lastGeneration" INTEGER NOT NULL DEFAULT 0;

-- AlterTable
ALTER TABLE "lexeme_frequencies" DROP CONSTRAINT "lexeme_frequencies_pkey",
DROP COLUMN "org_id",
ADD COLUMN     "data_source_id" TEXT NOT NULL,
ADD COLUMN     "key" INTEGER NOT NULL,
ADD CONSTRAINT "lexeme_frequencies_pkey" PRIMARY KEY ("data_source_id", "key");

-- AlterTable
ALTER TABLE "lexeme_statistics" DROP CONSTRAINT "lexeme_statistics_pkey",
DROP COLUMN "org_id",
ADD COLUMN     "data_source_id" TEXT NOT NULL,
ADD CONSTRAINT "lexeme_statistics_pkey" PRIMARY KEY ("data_source_id", "config");

-- CreateTable
CREATE TABLE "chunk_texts" (
    "chunk_id" BIGINT NOT NULL,
    "heading_path" TEXT NOT NULL,
    "text" TEXT NOT NULL,
    "gap_before" TEXT NOT NULL,
    "config" TEXT NOT NULL,
    "token_count" INTEGER NOT NULL,
    "content_hash" TEXT NOT NULL,
    "page" INTEGER,
    "char_start" INTEGER NOT NULL,
    "char_end" INTEGER NOT NULL,

    CONSTRAINT "chunk_texts_pkey" PRIMARY KEY ("chunk_id")
);

-- CreateIndex
CREATE INDEX "chunks_term_keys_idx" ON "chunks" USING GIN ("term_keys");

-- CreateIndex
CREATE INDEX "lexeme_frequencies_data_source_id_term_idx" ON "lexeme_frequencies"("data_source_id", "term");

-- A pending list would be read by every search and emptied by whoever fills it: index at once instead.
ALTER INDEX "chunks_term_keys_idx" SET (fastupdate = off);

-- A range of code points is a prefix; room in each page keeps the counting updates in place (HOT).
DROP INDEX "lexeme_frequencies_data_source_id_term_idx";
ALTER TABLE "lexeme_frequencies" ALTER COLUMN "term" TYPE TEXT COLLATE "C";
CREATE INDEX "lexeme_frequencies_data_source_id_term_idx" ON "lexeme_frequencies"("data_source_id", "term");
ALTER TABLE "lexeme_frequencies" SET (fillfactor = 60);
