-- CreateTable
CREATE TABLE "memories" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,
    "orgId" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    "agentId" TEXT,
    "key" TEXT,
    "text" TEXT NOT NULL,
    "config" TEXT NOT NULL,
    "searchText" TEXT NOT NULL,
    "callKey" TEXT,

    CONSTRAINT "memories_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "memories_orgId_userId_createdAt_id_idx" ON "memories"("orgId", "userId", "createdAt", "id");

-- CreateIndex
CREATE INDEX "memories_agentId_idx" ON "memories"("agentId");

-- CreateIndex
CREATE UNIQUE INDEX "memories_orgId_userId_callKey_key" ON "memories"("orgId", "userId", "callKey");

-- AddForeignKey
ALTER TABLE "memories" ADD CONSTRAINT "memories_agentId_fkey" FOREIGN KEY ("agentId") REFERENCES "agents"("id") ON DELETE CASCADE ON UPDATE CASCADE;
