CREATE TABLE "chat_shares" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "orgId" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    "chatId" TEXT NOT NULL,
    "mode" TEXT NOT NULL,
    "audience" TEXT NOT NULL,
    "leafId" TEXT,
    "hash" TEXT NOT NULL,
    "makerKeyId" TEXT NOT NULL,
    "makerLevel" TEXT NOT NULL,
    "expiresAt" TIMESTAMPTZ(3),
    "revokedAt" TIMESTAMPTZ(3),
    "openedAt" TIMESTAMPTZ(3),
    "openCount" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "chat_shares_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "chat_share_readers" (
    "shareId" TEXT NOT NULL,
    "userId" TEXT NOT NULL,

    CONSTRAINT "chat_share_readers_pkey" PRIMARY KEY ("shareId", "userId")
);

CREATE UNIQUE INDEX "chat_shares_hash_key" ON "chat_shares"("hash");
CREATE INDEX "chat_shares_orgId_userId_createdAt_id_idx" ON "chat_shares"("orgId", "userId", "createdAt", "id");
CREATE INDEX "chat_shares_orgId_createdAt_id_idx" ON "chat_shares"("orgId", "createdAt", "id");
CREATE INDEX "chat_shares_chatId_createdAt_id_idx" ON "chat_shares"("chatId", "createdAt", "id");
CREATE INDEX "chat_shares_leafId_idx" ON "chat_shares"("leafId");
CREATE INDEX "chat_share_readers_userId_idx" ON "chat_share_readers"("userId");

ALTER TABLE "chat_shares" ADD CONSTRAINT "chat_shares_chatId_fkey" FOREIGN KEY ("chatId") REFERENCES "chats"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "chat_shares" ADD CONSTRAINT "chat_shares_leafId_fkey" FOREIGN KEY ("leafId") REFERENCES "messages"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "chat_share_readers" ADD CONSTRAINT "chat_share_readers_shareId_fkey" FOREIGN KEY ("shareId") REFERENCES "chat_shares"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "chat_share_readers" ADD CONSTRAINT "chat_share_readers_userId_fkey" FOREIGN KEY ("userId") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
