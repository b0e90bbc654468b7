-- Changes of agents' message counters. A turn adds a row instead of changing the row of its agent, so turns of one agent do not wait for each other.
-- CreateTable
CREATE TABLE "agent_message_counts" (
    "id" BIGSERIAL NOT NULL,
    "agentId" TEXT NOT NULL,
    "change" INTEGER NOT NULL,

    CONSTRAINT "agent_message_counts_pkey" PRIMARY KEY ("id")
);

-- The rows live for half a second: dead ones are removed early, so that reading the live ones stays cheap.
ALTER TABLE "agent_message_counts" SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
