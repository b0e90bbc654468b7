-- Outside a transaction: "messages" may be large, and its writers must not wait. Where the part of a chat begins that models get.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "messages_compressed" ON "messages" ("chatId", "ordinal") WHERE "compression" IS NOT NULL;
