-- What is left of the events of a response once they are deleted.
-- CreateTable
CREATE TABLE "folded_responses" (
    "runId" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "events" JSON NOT NULL,

    CONSTRAINT "folded_responses_pkey" PRIMARY KEY ("runId")
);

-- AddForeignKey
ALTER TABLE "folded_responses" ADD CONSTRAINT "folded_responses_runId_fkey" FOREIGN KEY ("runId") REFERENCES "runs"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- The table of events becomes the partition for all ids without a partition of their own: no row is copied and none is looked at. Ids of runs begin
-- with their time, so ranges of ids are ranges of time. Old events are found by their ids.
ALTER TABLE "run_event_batches" RENAME TO "run_event_batches_rest";
ALTER TABLE "run_event_batches_rest" RENAME CONSTRAINT "run_event_batches_pkey" TO "run_event_batches_rest_pkey";
DROP INDEX "run_event_batches_createdAt_idx";

CREATE TABLE "run_event_batches" (
    "runId" TEXT NOT NULL,
    "firstSequence" INTEGER NOT NULL,
    "lastSequence" INTEGER NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "events" JSON NOT NULL,

    CONSTRAINT "run_event_batches_pkey" PRIMARY KEY ("runId","firstSequence")
) PARTITION BY RANGE ("runId");

ALTER TABLE "run_event_batches" ATTACH PARTITION "run_event_batches_rest" DEFAULT;
