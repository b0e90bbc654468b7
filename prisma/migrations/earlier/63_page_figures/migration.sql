-- What pages sum up stands in the index, so that they do not read the rows: the states of the documents of sources, and what the runs of agents cost.
DROP INDEX "knowledge_items_dataSourceId_indexStatus_idx";
CREATE INDEX "knowledge_items_dataSourceId_indexStatus_idx" ON "knowledge_items" ("dataSourceId", "indexStatus")
  INCLUDE ("liveGeneration", "indexPercentage", "sizeBytes", "id");

DROP INDEX "runs_of_agent";
CREATE INDEX "runs_of_agent" ON "runs" ("agentId", "createdAt", "id")
  INCLUDE ("orgId", "status", "inputTokens", "outputTokens", "cachedTokens", "reasoningTokens", "cost", "ratedUp", "ratedDown", "hasFoundNothing")
  WHERE "agentId" IS NOT NULL;
