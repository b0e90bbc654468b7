-- Outside a transaction: "runs" may be large, and its writers must not wait. Few runs have tags.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "runs_tagged" ON "runs" ("orgId", "createdAt", "id") WHERE "tags" <> '{}';
