-- AlterTable
ALTER TABLE "knowledge_items" ADD COLUMN     "omissions" JSONB NOT NULL DEFAULT '[]';
