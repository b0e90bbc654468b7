-- What is masked in the runs of an organization, or of an agent. `ownerId` is the id of either.
CREATE TABLE "guards" (
    "ownerId" TEXT NOT NULL,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,
    "orgId" TEXT NOT NULL,
    "agentId" TEXT,
    "kinds" TEXT[],
    "patterns" JSONB NOT NULL,
    "putsBack" BOOLEAN NOT NULL,
    "modelId" TEXT,

    CONSTRAINT "guards_pkey" PRIMARY KEY ("ownerId"),
    CONSTRAINT "guards_agentId_fkey" FOREIGN KEY ("agentId") REFERENCES "agents"("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "guards_orgId_idx" ON "guards"("orgId");
CREATE UNIQUE INDEX "guards_agentId_key" ON "guards"("agentId");

-- As in 160_start: processes keep guards in memory.
CREATE TRIGGER parley_announce AFTER INSERT OR DELETE OR UPDATE
  ON "guards" FOR EACH ROW WHEN (current_setting('parley.single_process', true) IS DISTINCT FROM 'on')
  EXECUTE FUNCTION parley_announce('guard-changed', 'ownerId');

-- How many values runs have masked, by day and kind; nothing of the values. `agentId` is '' for none.
CREATE TABLE "guard_counts" (
    "orgId" TEXT NOT NULL,
    "agentId" TEXT NOT NULL,
    "day" DATE NOT NULL,
    "kind" TEXT NOT NULL,
    "count" BIGINT NOT NULL,

    CONSTRAINT "guard_counts_pkey" PRIMARY KEY ("orgId", "day", "agentId", "kind")
);
