-- Texts that people keep for the box of a chat, their own and shared ones.
CREATE TABLE "prompts" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,
    "orgId" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "command" TEXT NOT NULL,
    "text" TEXT NOT NULL,
    "visibility" TEXT NOT NULL DEFAULT 'PRIVATE',
    "rowBytes" INTEGER NOT NULL GENERATED ALWAYS AS (octet_length("name") + octet_length("text")) STORED,

    CONSTRAINT "prompts_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "prompts_orgId_userId_createdAt_id_idx" ON "prompts"("orgId", "userId", "createdAt", "id");
-- Those that others may use.
CREATE INDEX "prompts_shared" ON "prompts" ("orgId", "visibility", "createdAt", "id") WHERE "visibility" <> 'PRIVATE';

CREATE TABLE "prompt_groups" (
    "promptId" TEXT NOT NULL,
    "groupId" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "prompt_groups_pkey" PRIMARY KEY ("promptId", "groupId"),
    CONSTRAINT "prompt_groups_promptId_fkey" FOREIGN KEY ("promptId") REFERENCES "prompts"("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "prompt_groups_groupId_fkey" FOREIGN KEY ("groupId") REFERENCES "groups"("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "prompt_groups_groupId_idx" ON "prompt_groups"("groupId");

-- As in 160_start: what a legal hold keeps is neither deleted nor handed to somebody whom no hold concerns.
CREATE TRIGGER parley_refuse_held AFTER DELETE ON "prompts" REFERENCING OLD TABLE AS gone FOR EACH STATEMENT
  EXECUTE FUNCTION parley_refuse_held('SELECT "orgId", "userId" FROM gone');
CREATE TRIGGER parley_refuse_held_handover AFTER UPDATE OF "userId" ON "prompts" FOR EACH ROW WHEN (OLD."userId" <> NEW."userId")
  EXECUTE FUNCTION parley_refuse_held('SELECT gone."orgId", gone."userId" FROM gone JOIN "legal_holds" own ON own."endedAt" IS NULL AND own."orgId" = gone."orgId" AND own."userId" = gone."userId"');
