-- Chats of before. Writers of chats do not wait for this: the triggers of the migration before are there.
INSERT INTO "agent_users" ("userId", "agentId")
SELECT DISTINCT "userId", "agentId" FROM "chats" WHERE "agentId" IS NOT NULL AND "deletedAt" IS NULL
ON CONFLICT DO NOTHING;
