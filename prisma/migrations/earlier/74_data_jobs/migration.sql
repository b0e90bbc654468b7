-- CreateTable
CREATE TABLE "data_exports" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "orgId" TEXT NOT NULL,
    "userId" TEXT,
    "requestedByUserId" TEXT NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'PENDING',
    "counts" JSONB NOT NULL DEFAULT '{}',
    "sizeBytes" BIGINT,
    "blobKey" TEXT,
    "endedAt" TIMESTAMPTZ(3),
    "expiresAt" TIMESTAMPTZ(3),

    CONSTRAINT "data_exports_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "erasures" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "orgId" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    "requestedByUserId" TEXT NOT NULL,
    "transferToUserId" TEXT NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'PENDING',
    "report" JSONB NOT NULL DEFAULT '[]',
    "endedAt" TIMESTAMPTZ(3),

    CONSTRAINT "erasures_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "data_exports_orgId_createdAt_id_idx" ON "data_exports"("orgId", "createdAt", "id");

-- CreateIndex
CREATE INDEX "data_exports_expiresAt_idx" ON "data_exports"("expiresAt");

-- CreateIndex
CREATE INDEX "erasures_orgId_createdAt_id_idx" ON "erasures"("orgId", "createdAt", "id");
