-- Outside a transaction: "agents" may be large, and its writers must not wait. It counts what an organization shows without reading the agents.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "agents_by_visibility" ON "agents" ("orgId", "visibility", "createdAt", "id") INCLUDE ("listInOrgCatalog") WHERE NOT "isDeleted";
