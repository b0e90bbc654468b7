-- AlterTable
ALTER TABLE "chats" ADD COLUMN     "summary" TEXT;

-- AlterTable
ALTER TABLE "messages" ADD COLUMN     "compression" TEXT;

-- CreateTable
CREATE TABLE "chat_files" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "chatId" TEXT NOT NULL,
    "source" TEXT NOT NULL,
    "filename" TEXT NOT NULL,
    "sizeBytes" INTEGER NOT NULL,
    "mimeType" TEXT NOT NULL,
    "metadata" JSONB NOT NULL DEFAULT '{}',
    "status" TEXT NOT NULL,
    "blobKey" TEXT,
    "deletedAt" TIMESTAMPTZ(3),

    CONSTRAINT "chat_files_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "chat_files_chatId_createdAt_id_idx" ON "chat_files"("chatId", "createdAt", "id");

-- CreateIndex
CREATE INDEX "chat_files_status_createdAt_idx" ON "chat_files"("status", "createdAt");

-- CreateIndex
CREATE INDEX "chat_files_blobKey_idx" ON "chat_files"("blobKey");

-- AddForeignKey
ALTER TABLE "chat_files" ADD CONSTRAINT "chat_files_chatId_fkey" FOREIGN KEY ("chatId") REFERENCES "chats"("id") ON DELETE CASCADE ON UPDATE CASCADE;
