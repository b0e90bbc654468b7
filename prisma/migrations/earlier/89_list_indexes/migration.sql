-- Outside a transaction: these tables may be large, and their writers must not wait.
-- The names of a person's chats are searched in the index alone. It has columns beside its key, which the Prisma schema cannot say; a partial index is left
-- alone there, and every row is in it.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "chats_of_user" ON "chats" ("userId", "updatedAt" DESC, "id" DESC) INCLUDE ("orgId", "deletedAt", "name") WHERE "userId" IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS "chats_userId_updatedAt_id_idx";
CREATE INDEX CONCURRENTLY IF NOT EXISTS "users_createdAt_id_idx" ON "users" ("createdAt", "id");
CREATE INDEX CONCURRENTLY IF NOT EXISTS "users_tenantId_createdAt_id_idx" ON "users" ("tenantId", "createdAt", "id");
CREATE INDEX CONCURRENTLY IF NOT EXISTS "audit_entries_by_action" ON "audit_entries" ("orgId", "action", "createdAt", "id");
CREATE INDEX CONCURRENTLY IF NOT EXISTS "audit_entries_of_several_actions" ON "audit_entries" ("orgId", "createdAt", "id") INCLUDE ("action", "rowBytes") WHERE "action" LIKE '%, %';
CREATE INDEX CONCURRENTLY IF NOT EXISTS "audit_entries_by_actor" ON "audit_entries" ("orgId", "actorUserId", "createdAt", "id");
CREATE INDEX CONCURRENTLY IF NOT EXISTS "audit_entries_by_kind" ON "audit_entries" ("orgId", "kind", "createdAt", "id");
CREATE INDEX CONCURRENTLY IF NOT EXISTS "audit_entries_by_target" ON "audit_entries" ("orgId", "targetId", "createdAt", "id") WHERE "targetId" IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS "audit_entries_by_targets" ON "audit_entries" USING gin ("targetIds");
