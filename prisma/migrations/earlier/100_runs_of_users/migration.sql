-- Outside a transaction: "runs" may be large, and its writers must not wait. With the organization in the index, runs of a user are counted without reading the rows.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "runs_userId_orgId_createdAt_id_idx" ON "runs"("userId", "orgId", "createdAt", "id");
DROP INDEX CONCURRENTLY IF EXISTS "runs_userId_createdAt_id_idx";
