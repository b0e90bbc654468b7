-- AlterTable
ALTER TABLE "chats" ADD COLUMN     "answeredAt" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "messages" ADD COLUMN     "isActive" BOOLEAN NOT NULL DEFAULT true,
ADD COLUMN     "parentId" TEXT;

-- A chat so far is one branch: each message follows the one before.
UPDATE "messages" SET "parentId" = "before"."id"
FROM (SELECT "id" AS "of", lag("id") OVER (PARTITION BY "chatId" ORDER BY "ordinal") AS "id" FROM "messages") "before"
WHERE "messages"."id" = "before"."of" AND "before"."id" IS NOT NULL;

-- CreateTable
CREATE TABLE "message_feedback" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,
    "messageId" TEXT NOT NULL,
    "runId" TEXT,
    "chatId" TEXT NOT NULL,
    "agentId" TEXT,
    "orgId" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    "rating" TEXT NOT NULL,
    "tags" TEXT[],
    "comment" TEXT,

    CONSTRAINT "message_feedback_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "chat_reads" (
    "chatId" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    "readAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "chat_reads_pkey" PRIMARY KEY ("chatId","userId")
);

-- CreateIndex
CREATE UNIQUE INDEX "message_feedback_messageId_key" ON "message_feedback"("messageId");

-- CreateIndex
CREATE INDEX "message_feedback_orgId_createdAt_id_idx" ON "message_feedback"("orgId", "createdAt" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "message_feedback_userId_createdAt_id_idx" ON "message_feedback"("userId", "createdAt" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "message_feedback_agentId_rating_createdAt_id_idx" ON "message_feedback"("agentId", "rating", "createdAt" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "message_feedback_runId_idx" ON "message_feedback"("runId");

-- CreateIndex
CREATE INDEX "messages_chatId_isActive_ordinal_idx" ON "messages"("chatId", "isActive", "ordinal");

-- CreateIndex
CREATE INDEX "messages_chatId_parentId_idx" ON "messages"("chatId", "parentId");

-- AddForeignKey
ALTER TABLE "message_feedback" ADD CONSTRAINT "message_feedback_messageId_fkey" FOREIGN KEY ("messageId") REFERENCES "messages"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "message_feedback" ADD CONSTRAINT "message_feedback_agentId_fkey" FOREIGN KEY ("agentId") REFERENCES "agents"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "chat_reads" ADD CONSTRAINT "chat_reads_chatId_fkey" FOREIGN KEY ("chatId") REFERENCES "chats"("id") ON DELETE CASCADE ON UPDATE CASCADE;
