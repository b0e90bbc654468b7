-- What a draft of an agent must pass before it is published: a dataset, and rules for what an experiment over it finds.
CREATE TABLE "agent_gates" (
    "agentId" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,
    "datasetId" TEXT NOT NULL,
    "mustTag" TEXT,
    "rateDropMax" DOUBLE PRECISION,
    "costRatioMax" DOUBLE PRECISION,
    "tokensMax" BIGINT NOT NULL,
    "scorers" JSONB NOT NULL,

    CONSTRAINT "agent_gates_pkey" PRIMARY KEY ("agentId"),
    CONSTRAINT "agent_gates_agentId_fkey" FOREIGN KEY ("agentId") REFERENCES "agents"("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "agent_gates_datasetId_fkey" FOREIGN KEY ("datasetId") REFERENCES "datasets"("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "agent_gates_datasetId_idx" ON "agent_gates"("datasetId");

-- As in 160_start: agents that processes keep in memory say whether they have a gate.
CREATE TRIGGER parley_announce AFTER INSERT OR DELETE OR UPDATE
  ON "agent_gates" FOR EACH ROW WHEN (current_setting('parley.single_process', true) IS DISTINCT FROM 'on')
  EXECUTE FUNCTION parley_announce('agent-changed', 'agentId');
