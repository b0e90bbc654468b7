-- Chats that people bring from other products: one row a file, and where each chat comes from.
CREATE TABLE "chat_imports" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,
    "orgId" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    "agentId" TEXT,
    "filename" TEXT NOT NULL,
    "sizeBytes" INTEGER NOT NULL,
    "status" TEXT NOT NULL,
    "format" TEXT,
    "totalCount" INTEGER,
    "windowStart" INTEGER NOT NULL DEFAULT 0,
    "windowDone" INTEGER NOT NULL DEFAULT 0,
    "importedCount" INTEGER NOT NULL DEFAULT 0,
    "existingCount" INTEGER NOT NULL DEFAULT 0,
    "messageCount" INTEGER NOT NULL DEFAULT 0,
    "retainedCount" INTEGER NOT NULL DEFAULT 0,
    "omissions" JSONB NOT NULL DEFAULT '[]',
    "error" TEXT,
    "blobKey" TEXT,
    "endedAt" TIMESTAMPTZ(3),

    CONSTRAINT "chat_imports_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "chat_imports_agentId_fkey" FOREIGN KEY ("agentId") REFERENCES "agents"("id") ON DELETE SET NULL ON UPDATE CASCADE
);
CREATE INDEX "chat_imports_orgId_userId_createdAt_id_idx" ON "chat_imports"("orgId", "userId", "createdAt", "id");
CREATE INDEX "chat_imports_agentId_idx" ON "chat_imports"("agentId");
-- Imports that have not ended.
CREATE INDEX "chat_imports_open" ON "chat_imports" ("createdAt") WHERE "endedAt" IS NULL;

CREATE TABLE "chat_origins" (
    "chatId" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    "origin" TEXT NOT NULL,
    "importId" TEXT,

    CONSTRAINT "chat_origins_pkey" PRIMARY KEY ("chatId"),
    CONSTRAINT "chat_origins_chatId_fkey" FOREIGN KEY ("chatId") REFERENCES "chats"("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "chat_origins_importId_fkey" FOREIGN KEY ("importId") REFERENCES "chat_imports"("id") ON DELETE SET NULL ON UPDATE CASCADE
);
-- A deleted chat keeps its row for a while: the writer of an import, who holds its person's row, sees to it that no two live chats have one origin.
CREATE INDEX "chat_origins_orgId_userId_origin_idx" ON "chat_origins"("orgId", "userId", "origin");
CREATE INDEX "chat_origins_importId_chatId_idx" ON "chat_origins"("importId", "chatId");

ALTER TABLE "messages" ADD COLUMN "modelName" TEXT;
