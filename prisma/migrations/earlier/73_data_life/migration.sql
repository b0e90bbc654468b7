-- CreateTable
CREATE TABLE "data_retentions" (
    "orgId" TEXT NOT NULL,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,
    "chatDays" INTEGER,
    "runDays" INTEGER,
    "eventDays" INTEGER,
    "usageDays" INTEGER,
    "auditDays" INTEGER,

    CONSTRAINT "data_retentions_pkey" PRIMARY KEY ("orgId")
);

-- CreateTable
CREATE TABLE "legal_holds" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "orgId" TEXT NOT NULL,
    "userId" TEXT,
    "reason" TEXT NOT NULL,
    "createdByUserId" TEXT NOT NULL,
    "endedAt" TIMESTAMPTZ(3),
    "endedByUserId" TEXT,

    CONSTRAINT "legal_holds_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "legal_holds_orgId_createdAt_id_idx" ON "legal_holds"("orgId", "createdAt", "id");

-- CreateIndex
CREATE INDEX "chats_orgId_updatedAt_id_idx" ON "chats"("orgId", "updatedAt", "id");

-- AddForeignKey
ALTER TABLE "data_retentions" ADD CONSTRAINT "data_retentions_orgId_fkey" FOREIGN KEY ("orgId") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What waits to be deleted for good: few rows of large tables.
CREATE INDEX "chats_deleted" ON "chats" ("deletedAt") WHERE "deletedAt" IS NOT NULL;
CREATE INDEX "chat_files_deleted" ON "chat_files" ("deletedAt") WHERE "deletedAt" IS NOT NULL;
-- The holds that last, which every deletion looks for.
CREATE INDEX "legal_holds_lasting" ON "legal_holds" ("orgId") WHERE "endedAt" IS NULL;
