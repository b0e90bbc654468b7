-- Questions with what a good answer to each must be, to try an agent with. A case is never changed: a change ends its row and writes another, so that a
-- revision of a dataset says the same for ever.
CREATE TABLE "datasets" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,
    "orgId" TEXT NOT NULL,
    "agentId" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "description" TEXT NOT NULL DEFAULT '',
    "callsTools" BOOLEAN NOT NULL DEFAULT false,
    "revision" INTEGER NOT NULL DEFAULT 0,
    "caseCount" INTEGER NOT NULL DEFAULT 0,
    "draftCount" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "datasets_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "datasets_agentId_fkey" FOREIGN KEY ("agentId") REFERENCES "agents"("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "datasets_agentId_createdAt_id_idx" ON "datasets"("agentId", "createdAt", "id");

CREATE TABLE "dataset_cases" (
    "id" TEXT NOT NULL,
    "fromRevision" INTEGER NOT NULL,
    "toRevision" INTEGER,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "orgId" TEXT NOT NULL,
    "datasetId" TEXT NOT NULL,
    "content" JSONB NOT NULL,
    "tags" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "weight" DOUBLE PRECISION NOT NULL DEFAULT 1,
    "isDraft" BOOLEAN NOT NULL DEFAULT false,
    "sourceRunId" TEXT,
    "sourceChatId" TEXT,
    "sourceUserId" TEXT,
    "rowBytes" INTEGER NOT NULL GENERATED ALWAYS AS (octet_length("content"::text)) STORED,

    CONSTRAINT "dataset_cases_pkey" PRIMARY KEY ("id", "fromRevision"),
    CONSTRAINT "dataset_cases_datasetId_fkey" FOREIGN KEY ("datasetId") REFERENCES "datasets"("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "dataset_cases_datasetId_createdAt_id_idx" ON "dataset_cases"("datasetId", "createdAt", "id");
-- Cases that come from what a person said.
CREATE INDEX "dataset_cases_of_people" ON "dataset_cases" ("orgId", "sourceUserId") WHERE "sourceUserId" IS NOT NULL;

-- As in 160_start: what a legal hold keeps is not deleted.
CREATE TRIGGER parley_refuse_held AFTER DELETE ON "dataset_cases" REFERENCING OLD TABLE AS gone FOR EACH STATEMENT
  EXECUTE FUNCTION parley_refuse_held('SELECT "orgId", "sourceUserId" FROM gone');
