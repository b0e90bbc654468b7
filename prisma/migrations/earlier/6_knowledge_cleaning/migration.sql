-- AlterTable
ALTER TABLE "knowledge_items" ADD COLUMN     "needsCleaning" BOOLEAN NOT NULL DEFAULT false;

-- CreateIndex
CREATE INDEX "knowledge_items_needsCleaning_indexStatus_idx" ON "knowledge_items"("needsCleaning", "indexStatus");
