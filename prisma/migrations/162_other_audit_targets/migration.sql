-- Outside a transaction: "audit_entries" may be large, and its writers must not wait.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "audit_entries_by_other_targets" ON "audit_entries" USING gin (array_remove("targetIds", "targetId"));
