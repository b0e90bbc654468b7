-- Runs of versions of an agent over the cases of a dataset, one row for each answer. A row is claimed before its question is asked, so that no process asks
-- it twice.
CREATE TABLE "experiments" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,
    "startedAt" TIMESTAMPTZ(3),
    "endedAt" TIMESTAMPTZ(3),
    "orgId" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    "agentId" TEXT NOT NULL,
    "datasetId" TEXT NOT NULL,
    "revision" INTEGER NOT NULL,
    "status" TEXT NOT NULL,
    "variants" JSONB NOT NULL,
    "scorers" JSONB NOT NULL,
    "repeats" INTEGER NOT NULL,
    "tokensMax" BIGINT NOT NULL,
    "costMax" DOUBLE PRECISION,
    "seed" INTEGER NOT NULL,
    "plannedCount" INTEGER NOT NULL,
    "doneCount" INTEGER NOT NULL DEFAULT 0,
    "failedCount" INTEGER NOT NULL DEFAULT 0,
    "interruptedCount" INTEGER NOT NULL DEFAULT 0,
    "tokens" BIGINT NOT NULL DEFAULT 0,
    "cost" DOUBLE PRECISION NOT NULL DEFAULT 0,
    "fence" INTEGER NOT NULL DEFAULT 0,
    "error" TEXT,
    "summary" JSONB,

    CONSTRAINT "experiments_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "experiments_agentId_fkey" FOREIGN KEY ("agentId") REFERENCES "agents"("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "experiments_datasetId_fkey" FOREIGN KEY ("datasetId") REFERENCES "datasets"("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "experiments_agentId_createdAt_id_idx" ON "experiments"("agentId", "createdAt", "id");
CREATE INDEX "experiments_datasetId_idx" ON "experiments"("datasetId");
-- Those that have not ended.
CREATE INDEX "experiments_open" ON "experiments" ("orgId") WHERE "endedAt" IS NULL;

CREATE TABLE "experiment_results" (
    "experimentId" TEXT NOT NULL,
    "caseId" TEXT NOT NULL,
    "caseRevision" INTEGER NOT NULL,
    "variant" INTEGER NOT NULL,
    "repeat" INTEGER NOT NULL,
    "weight" DOUBLE PRECISION NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'PENDING',
    "fence" INTEGER NOT NULL DEFAULT 0,
    "answer" TEXT,
    "details" JSONB,
    "scores" JSONB,
    "passed" BOOLEAN,
    "value" DOUBLE PRECISION,
    "tokens" INTEGER NOT NULL DEFAULT 0,
    "cost" DOUBLE PRECISION,
    "durationMs" INTEGER,
    "error" TEXT,
    "pairState" TEXT,
    "pair" JSONB,
    "rowBytes" INTEGER NOT NULL GENERATED ALWAYS AS (
      coalesce(octet_length("answer"), 0) + coalesce(octet_length("details"::text), 0) + coalesce(octet_length("scores"::text), 0)
    ) STORED,

    CONSTRAINT "experiment_results_pkey" PRIMARY KEY ("experimentId", "caseId", "variant", "repeat"),
    CONSTRAINT "experiment_results_experimentId_fkey" FOREIGN KEY ("experimentId") REFERENCES "experiments"("id") ON DELETE CASCADE ON UPDATE CASCADE,
    -- An answer goes with the case, and so with an erasure of the person whose words the case holds.
    CONSTRAINT "experiment_results_case_fkey" FOREIGN KEY ("caseId", "caseRevision") REFERENCES "dataset_cases"("id", "fromRevision") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "experiment_results_caseId_caseRevision_idx" ON "experiment_results"("caseId", "caseRevision");
-- What is still to be asked, and answers that are still to be compared.
CREATE INDEX "experiment_results_pending" ON "experiment_results" ("experimentId", "caseId", "repeat", "variant") WHERE "state" = 'PENDING';
CREATE INDEX "experiment_results_pairs" ON "experiment_results" ("experimentId", "caseId", "repeat", "variant") WHERE "pairState" = 'PENDING';
