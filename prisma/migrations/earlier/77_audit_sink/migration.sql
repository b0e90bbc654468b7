-- AlterTable
ALTER TABLE "audit_entries" ADD COLUMN     "sinkPosition" BIGINT;

-- CreateTable
CREATE TABLE "audit_sinks" (
    "id" TEXT NOT NULL,
    "numbered" BIGINT NOT NULL DEFAULT 0,
    "sent" BIGINT NOT NULL DEFAULT 0,
    "batchId" TEXT,
    "lastSentAt" TIMESTAMPTZ(3),
    "failures" INTEGER NOT NULL DEFAULT 0,
    "failingSince" TIMESTAMPTZ(3),
    "lastError" TEXT,
    "nextAttemptAt" TIMESTAMPTZ(3),
    "leaseOwner" TEXT,
    "leaseUntil" TIMESTAMPTZ(3),
    "fence" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "audit_sinks_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "audit_entries_sinkPosition_createdAt_id_idx" ON "audit_entries"("sinkPosition", "createdAt", "id");

-- The only row.
INSERT INTO "audit_sinks" ("id") VALUES ('audit');
