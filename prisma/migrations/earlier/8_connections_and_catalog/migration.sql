-- CreateTable
CREATE TABLE "agent_ratings" (
    "agentId" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,
    "rating" INTEGER NOT NULL,

    CONSTRAINT "agent_ratings_pkey" PRIMARY KEY ("agentId","userId")
);

-- CreateTable
CREATE TABLE "agent_categories" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,
    "orgId" TEXT NOT NULL,
    "name" TEXT NOT NULL,

    CONSTRAINT "agent_categories_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "connections" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,
    "orgId" TEXT NOT NULL,
    "ownerUserId" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "provider" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "baseUrl" TEXT,
    "installationId" BIGINT,
    "scopes" TEXT[],
    "expiresAt" TIMESTAMPTZ(3),
    "sealed" TEXT NOT NULL,

    CONSTRAINT "connections_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "used_tickets" (
    "id" TEXT NOT NULL,
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "used_tickets_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "agent_categories_orgId_name_key" ON "agent_categories"("orgId", "name");

-- CreateIndex
CREATE INDEX "connections_orgId_createdAt_id_idx" ON "connections"("orgId", "createdAt", "id");

-- CreateIndex
CREATE INDEX "connections_ownerUserId_orgId_createdAt_id_idx" ON "connections"("ownerUserId", "orgId", "createdAt", "id");

-- CreateIndex
CREATE INDEX "used_tickets_expiresAt_idx" ON "used_tickets"("expiresAt");

-- AddForeignKey
ALTER TABLE "agent_ratings" ADD CONSTRAINT "agent_ratings_agentId_fkey" FOREIGN KEY ("agentId") REFERENCES "agents"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "agent_categories" ADD CONSTRAINT "agent_categories_orgId_fkey" FOREIGN KEY ("orgId") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "connections" ADD CONSTRAINT "connections_orgId_fkey" FOREIGN KEY ("orgId") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;
