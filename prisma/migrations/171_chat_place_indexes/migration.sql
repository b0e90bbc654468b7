-- Outside a transaction: "chats" may be large, and its writers must not wait. The first serves the list of a person without the archived chats, and the search in
-- their names, which reads it alone.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "chats_listed" ON "chats" ("userId", "updatedAt" DESC, "id" DESC) INCLUDE ("orgId", "name") WHERE "deletedAt" IS NULL AND "archivedAt" IS NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS "chats_archived" ON "chats" ("userId", "updatedAt" DESC, "id" DESC) WHERE "deletedAt" IS NULL AND "archivedAt" IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS "chats_tagged" ON "chats" ("userId", "updatedAt" DESC, "id" DESC) INCLUDE ("orgId", "tags") WHERE "deletedAt" IS NULL AND "tags" <> '{}';
CREATE INDEX CONCURRENTLY IF NOT EXISTS "chats_by_tag" ON "chats" USING gin ("tags");
