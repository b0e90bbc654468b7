-- AlterTable
ALTER TABLE "run_event_batches" ALTER COLUMN "events" SET DATA TYPE JSON;

-- AlterTable
ALTER TABLE "runs" ALTER COLUMN "request" SET DATA TYPE JSON;

-- CreateIndex
CREATE INDEX "chats_agentId_updatedAt_id_idx" ON "chats"("agentId", "updatedAt" DESC, "id" DESC);
