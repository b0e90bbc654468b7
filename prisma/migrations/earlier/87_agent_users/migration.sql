-- Who has a chat with which agent, so that lists of agents need not read all chats of a person. Triggers keep it, also for programs that do not know it.
CREATE TABLE "agent_users" (
    "userId" TEXT NOT NULL,
    "agentId" TEXT NOT NULL,

    CONSTRAINT "agent_users_pkey" PRIMARY KEY ("userId","agentId")
);
CREATE INDEX "agent_users_agentId_idx" ON "agent_users"("agentId");
ALTER TABLE "agent_users" ADD CONSTRAINT "agent_users_agentId_fkey" FOREIGN KEY ("agentId") REFERENCES "agents"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- A new chat locks the row, and so does the removal of an old one, which then sees all chats that were made before: the last chat takes the row with it.
CREATE FUNCTION parley_keep_agent_users() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'DELETE' AND NEW."agentId" IS NOT NULL AND NEW."deletedAt" IS NULL THEN
    INSERT INTO "agent_users" ("userId", "agentId") VALUES (NEW."userId", NEW."agentId")
      ON CONFLICT ("userId", "agentId") DO UPDATE SET "userId" = EXCLUDED."userId";
  END IF;
  IF TG_OP <> 'INSERT' AND OLD."agentId" IS NOT NULL AND OLD."deletedAt" IS NULL THEN
    PERFORM FROM "agent_users" WHERE "userId" = OLD."userId" AND "agentId" = OLD."agentId" FOR UPDATE;
    DELETE FROM "agent_users" WHERE "userId" = OLD."userId" AND "agentId" = OLD."agentId"
      AND NOT EXISTS (SELECT FROM "chats" WHERE "agentId" = OLD."agentId" AND "userId" = OLD."userId" AND "deletedAt" IS NULL);
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER parley_keep_agent_users AFTER INSERT OR DELETE OR UPDATE OF "userId", "agentId", "deletedAt" ON "chats"
  FOR EACH ROW EXECUTE FUNCTION parley_keep_agent_users();
