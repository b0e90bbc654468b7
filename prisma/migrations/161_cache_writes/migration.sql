-- Tokens that providers write to their prompt caches, beside those that they read from them.
ALTER TABLE "runs" ADD COLUMN "cacheWriteTokens" INTEGER;
ALTER TABLE "usage_entries" ADD COLUMN "cacheWriteTokens" INTEGER NOT NULL DEFAULT 0;

-- The figures of an agent are read from this index alone.
DROP INDEX "runs_of_agent";
CREATE INDEX "runs_of_agent" ON "runs" ("agentId", "createdAt", "id")
  INCLUDE ("orgId", "status", "inputTokens", "outputTokens", "cachedTokens", "cacheWriteTokens", "reasoningTokens", "cost", "ratedUp", "ratedDown", "hasFoundNothing")
  WHERE "agentId" IS NOT NULL;
