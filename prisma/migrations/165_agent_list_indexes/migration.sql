-- Outside a transaction: "agents" may be large, and its writers must not wait.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "agents_of_user" ON "agents" ("userId", "visibility", "createdAt", "id");
CREATE INDEX CONCURRENTLY IF NOT EXISTS "agents_by_category" ON "agents" USING gin (("orgCategoryIds" || "publicCategories" || "categoryId"));
CREATE INDEX CONCURRENTLY IF NOT EXISTS "agents_by_words" ON "agents" USING gin (parley_trigrams("name" || E'\n' || "description"));
DROP INDEX CONCURRENTLY IF EXISTS "agents_userId_createdAt_idx";
