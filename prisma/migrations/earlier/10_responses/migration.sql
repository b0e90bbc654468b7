-- AlterTable
ALTER TABLE "chats" ADD COLUMN     "lastRunId" TEXT,
ADD COLUMN     "modelId" TEXT,
ALTER COLUMN "agentId" DROP NOT NULL;

-- AlterTable
ALTER TABLE "messages" ADD COLUMN     "context" JSONB,
ADD COLUMN     "isHidden" BOOLEAN NOT NULL DEFAULT false;

-- AlterTable
ALTER TABLE "runs" ADD COLUMN     "isBackground" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "isSteerClosed" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "isWaiting" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "likeness" TEXT,
ADD COLUMN     "pauseRequestedAt" TIMESTAMPTZ(3),
ADD COLUMN     "pendingMessages" JSON,
ADD COLUMN     "previousId" TEXT,
ADD COLUMN     "queuePosition" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "queuedRequests" INTEGER NOT NULL DEFAULT 1,
ADD COLUMN     "steers" JSONB NOT NULL DEFAULT '[]';

-- CreateTable
CREATE TABLE "response_items" (
    "runId" TEXT NOT NULL,
    "direction" TEXT NOT NULL,
    "ordinal" INTEGER NOT NULL,
    "itemId" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    "item" JSON NOT NULL,

    CONSTRAINT "response_items_pkey" PRIMARY KEY ("runId","direction","ordinal")
);

-- CreateIndex
CREATE INDEX "response_items_itemId_idx" ON "response_items"("itemId");
