-- Every run leaves one row, whichever API began it. The row says what the run cost and did.
ALTER TABLE "runs"
  ADD COLUMN "kind" TEXT NOT NULL DEFAULT 'chat',
  ADD COLUMN "isStored" BOOLEAN NOT NULL DEFAULT true,
  ADD COLUMN "answeredModelId" TEXT,
  ADD COLUMN "firstTokenMs" INTEGER,
  ADD COLUMN "durationMs" INTEGER,
  ADD COLUMN "inputTokens" INTEGER,
  ADD COLUMN "outputTokens" INTEGER,
  ADD COLUMN "cachedTokens" INTEGER,
  ADD COLUMN "reasoningTokens" INTEGER,
  ADD COLUMN "isEstimated" BOOLEAN NOT NULL DEFAULT false,
  ADD COLUMN "cost" DECIMAL(24,12),
  ADD COLUMN "retrieval" JSONB,
  ADD COLUMN "steps" JSONB,
  ADD COLUMN "hasFoundNothing" BOOLEAN NOT NULL DEFAULT false,
  ADD COLUMN "ratedUp" INTEGER NOT NULL DEFAULT 0,
  ADD COLUMN "ratedDown" INTEGER NOT NULL DEFAULT 0;

-- Runs of before say what is known of them.
UPDATE "runs" SET
  "kind" = CASE WHEN "id" LIKE 'resp\_%' THEN 'response' ELSE 'chat' END,
  "answeredModelId" = CASE WHEN "selection"->>'model' <> '' THEN
    CASE WHEN starts_with("selection"->>'model', ("selection"->>'provider') || '/') THEN "selection"->>'model'
      ELSE ("selection"->>'provider') || '/' || ("selection"->>'model') END END,
  "firstTokenMs" = ("selection"->'latencyHints'->>'firstTokenMs')::int,
  "durationMs" = least(extract(epoch FROM "endedAt" - "startedAt") * 1000, 2147483647)::int,
  "inputTokens" = least(("usage"->>'inputTokens')::numeric, 2147483647)::int,
  "outputTokens" = least(("usage"->>'outputTokens')::numeric, 2147483647)::int,
  "cachedTokens" = least(("usage"->>'cachedTokens')::numeric, 2147483647)::int,
  "reasoningTokens" = least(("usage"->>'reasoningTokens')::numeric, 2147483647)::int,
  "isEstimated" = coalesce(("usage"->>'isEstimated')::boolean, false);
ALTER TABLE "runs" DROP COLUMN "usage";

-- Rows stand in these indexes in the order in which they are written, so that a new row is added at the end of each. Lists read them backwards.
DROP INDEX "runs_orgId_status_idx";
DROP INDEX "runs_chatId_createdAt_idx";
DROP INDEX "runs_leaseUntil_idx";
CREATE INDEX "runs_orgId_createdAt_id_idx" ON "runs" ("orgId", "createdAt", "id");
CREATE INDEX "runs_userId_createdAt_id_idx" ON "runs" ("userId", "createdAt", "id");
CREATE INDEX "runs_keyId_createdAt_id_idx" ON "runs" ("keyId", "createdAt", "id");
CREATE INDEX "runs_orgId_modelId_createdAt_id_idx" ON "runs" ("orgId", "modelId", "createdAt", "id");
CREATE INDEX "runs_orgId_kind_createdAt_id_idx" ON "runs" ("orgId", "kind", "createdAt", "id");

-- Partial ones cost a row nothing that they leave out: most runs are completed, and many are calls of a model without agent and chat.
CREATE INDEX "runs_of_agent" ON "runs" ("agentId", "createdAt", "id") WHERE "agentId" IS NOT NULL;
CREATE INDEX "runs_of_chat" ON "runs" ("chatId", "createdAt") WHERE "chatId" IS NOT NULL;
CREATE INDEX "runs_leased" ON "runs" ("leaseUntil") WHERE "status" = 'in_progress';
CREATE INDEX "runs_by_status" ON "runs" ("orgId", "status", "createdAt", "id") WHERE "status" <> 'completed';
CREATE INDEX "runs_of_agent_by_status" ON "runs" ("agentId", "status", "createdAt", "id") WHERE "agentId" IS NOT NULL AND "status" <> 'completed';
CREATE INDEX "runs_rated" ON "runs" ("orgId", "createdAt", "id") WHERE "ratedUp" > 0 OR "ratedDown" > 0;
-- Questions without an answer, by agent.
CREATE INDEX "runs_unanswered" ON "runs" ("agentId", "createdAt", "id") WHERE "agentId" IS NOT NULL AND ("hasFoundNothing" OR "ratedDown" > 0);

-- A run counts the ratings of its messages, also when a message is deleted with its rating.
CREATE FUNCTION parley_count_ratings() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    UPDATE "runs" SET "ratedUp" = "ratedUp" - (OLD."rating" = 'UP')::int, "ratedDown" = "ratedDown" - (OLD."rating" = 'DOWN')::int
      WHERE "id" = OLD."runId";
  END IF;
  IF TG_OP <> 'DELETE' THEN
    UPDATE "runs" SET "ratedUp" = "ratedUp" + (NEW."rating" = 'UP')::int, "ratedDown" = "ratedDown" + (NEW."rating" = 'DOWN')::int
      WHERE "id" = NEW."runId";
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER parley_count_ratings AFTER INSERT OR DELETE OR UPDATE OF "rating", "runId" ON "message_feedback"
  FOR EACH ROW EXECUTE FUNCTION parley_count_ratings();
UPDATE "runs" SET "ratedUp" = f."up", "ratedDown" = f."down"
FROM (SELECT "runId", count(*) FILTER (WHERE "rating" = 'UP') AS "up", count(*) FILTER (WHERE "rating" = 'DOWN') AS "down"
  FROM "message_feedback" WHERE "runId" IS NOT NULL GROUP BY 1) f
WHERE "runs"."id" = f."runId";
