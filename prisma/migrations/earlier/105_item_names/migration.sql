-- Outside a transaction: "knowledge_items" may be large, and indexing must not wait.
-- The names of the documents of a source are searched in the index alone, and so are the places of a page. It has columns beside its key, which the Prisma
-- schema cannot say; a partial index is left alone there, and every row is in it.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "knowledge_items_of_source" ON "knowledge_items" ("dataSourceId", "createdAt", "id") INCLUDE ("name", "indexStatus", "rowBytes") WHERE "dataSourceId" IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS "knowledge_items_dataSourceId_createdAt_id_idx";
