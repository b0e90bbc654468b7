-- AlterTable
ALTER TABLE "connections" ADD COLUMN     "needsReauthorization" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "renewalOwner" TEXT,
ADD COLUMN     "renewalUntil" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "data_sources" ADD COLUMN     "isSyncForced" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "isSyncWanted" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "lastSyncedAt" TIMESTAMPTZ(3),
ADD COLUMN     "syncState" JSONB;

-- AlterTable
ALTER TABLE "knowledge_items" ADD COLUMN     "changeKey" TEXT,
ADD COLUMN     "listedKey" TEXT,
ADD COLUMN     "missedRuns" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "queuedRunId" TEXT,
ADD COLUMN     "seenRunId" TEXT;

-- CreateTable
CREATE TABLE "source_runs" (
    "id" TEXT NOT NULL,
    "dataSourceId" TEXT NOT NULL,
    "trigger" TEXT NOT NULL,
    "isForced" BOOLEAN NOT NULL DEFAULT false,
    "status" TEXT NOT NULL DEFAULT 'LISTING',
    "startedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "listedAt" TIMESTAMPTZ(3),
    "endedAt" TIMESTAMPTZ(3),
    "listedCount" INTEGER NOT NULL DEFAULT 0,
    "addedCount" INTEGER NOT NULL DEFAULT 0,
    "changedCount" INTEGER NOT NULL DEFAULT 0,
    "unchangedCount" INTEGER NOT NULL DEFAULT 0,
    "skippedCount" INTEGER NOT NULL DEFAULT 0,
    "removedCount" INTEGER NOT NULL DEFAULT 0,
    "heldCount" INTEGER NOT NULL DEFAULT 0,
    "failedCount" INTEGER NOT NULL DEFAULT 0,
    "isComplete" BOOLEAN NOT NULL DEFAULT false,
    "bound" TEXT,
    "errorCode" TEXT,
    "errorMessage" TEXT,
    "currentItem" TEXT,
    "place" JSONB,
    "attempt" INTEGER NOT NULL DEFAULT 0,
    "leaseOwner" TEXT,
    "leaseUntil" TIMESTAMPTZ(3),
    "fence" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "source_runs_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "source_runs_dataSourceId_startedAt_id_idx" ON "source_runs"("dataSourceId", "startedAt", "id");

-- CreateIndex
CREATE INDEX "source_runs_status_leaseUntil_idx" ON "source_runs"("status", "leaseUntil");

-- AddForeignKey
ALTER TABLE "source_runs" ADD CONSTRAINT "source_runs_dataSourceId_fkey" FOREIGN KEY ("dataSourceId") REFERENCES "data_sources"("id") ON DELETE CASCADE ON UPDATE CASCADE;
