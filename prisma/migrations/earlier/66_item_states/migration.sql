-- The index of the states of documents has columns beside its key, which the Prisma schema cannot say. As a partial index it is left alone there;
-- every row is in it.
DROP INDEX "knowledge_items_dataSourceId_indexStatus_idx";
CREATE INDEX "knowledge_items_states" ON "knowledge_items" ("dataSourceId", "indexStatus")
  INCLUDE ("liveGeneration", "indexPercentage", "sizeBytes", "id")
  WHERE "dataSourceId" IS NOT NULL;
