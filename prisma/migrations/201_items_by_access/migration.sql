-- Outside a transaction: "knowledge_items" may be large, and its writers must not wait.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "knowledge_items_by_access" ON "knowledge_items" ("dataSourceId", "accessRuleId") WHERE "accessRuleId" IS NOT NULL;
