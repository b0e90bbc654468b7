-- Outside a transaction: "runs" may be large, and its writers must not wait. Few runs stand beside others.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "runs_beside" ON "runs" ("chatId", "besideMessageId") WHERE "besideMessageId" IS NOT NULL;
