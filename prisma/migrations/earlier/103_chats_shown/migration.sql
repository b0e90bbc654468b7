-- Outside a transaction: "chats" may be large, and its writers must not wait. A search of runs for words looks through the newest chats that editors may read, which are few among all.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "chats_visible_to_editors" ON "chats"("orgId", "updatedAt" DESC, "id" DESC) INCLUDE ("agentId") WHERE "isVisibleToEditors" AND "deletedAt" IS NULL;
