-- AlterTable
ALTER TABLE "chunk_texts" ADD COLUMN     "line_end" INTEGER,
ADD COLUMN     "line_start" INTEGER;
