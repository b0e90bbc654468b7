-- Outside a transaction: "runs" may be large, and its writers must not wait. With the organization in the index, runs of a key are counted without reading the rows.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "runs_keyId_orgId_createdAt_id_idx" ON "runs"("keyId", "orgId", "createdAt", "id");
DROP INDEX CONCURRENTLY IF EXISTS "runs_keyId_createdAt_id_idx";
