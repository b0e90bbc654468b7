-- CreateTable
CREATE TABLE "connection_attempts" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,
    "orgId" TEXT NOT NULL,
    "ownerUserId" TEXT NOT NULL,
    "provider" TEXT NOT NULL,
    "returnTo" TEXT,
    "sealed" TEXT NOT NULL,
    "confirmHash" TEXT,

    CONSTRAINT "connection_attempts_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "connection_attempts_expiresAt_idx" ON "connection_attempts"("expiresAt");

-- AddForeignKey
ALTER TABLE "connection_attempts" ADD CONSTRAINT "connection_attempts_orgId_fkey" FOREIGN KEY ("orgId") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;
