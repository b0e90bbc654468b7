-- CreateTable
CREATE TABLE "agent_grants" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "agentId" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    "connectionId" TEXT,
    "askedAgentId" TEXT,
    "memories" TEXT,

    CONSTRAINT "agent_grants_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "agent_grants_orgId_userId_agentId_idx" ON "agent_grants"("orgId", "userId", "agentId");

-- CreateIndex
CREATE INDEX "agent_grants_agentId_idx" ON "agent_grants"("agentId");

-- CreateIndex
CREATE INDEX "agent_grants_connectionId_idx" ON "agent_grants"("connectionId");

-- CreateIndex
CREATE INDEX "agent_grants_askedAgentId_idx" ON "agent_grants"("askedAgentId");

-- AddForeignKey
ALTER TABLE "agent_grants" ADD CONSTRAINT "agent_grants_agentId_fkey" FOREIGN KEY ("agentId") REFERENCES "agents"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "agent_grants" ADD CONSTRAINT "agent_grants_orgId_userId_fkey" FOREIGN KEY ("orgId", "userId") REFERENCES "memberships"("orgId", "userId") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "agent_grants" ADD CONSTRAINT "agent_grants_connectionId_fkey" FOREIGN KEY ("connectionId") REFERENCES "connections"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "agent_grants" ADD CONSTRAINT "agent_grants_askedAgentId_fkey" FOREIGN KEY ("askedAgentId") REFERENCES "agents"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- A row grants one thing.
ALTER TABLE "agent_grants" ADD CONSTRAINT "agent_grants_one_thing" CHECK (num_nonnulls("connectionId", "askedAgentId", "memories") = 1);
