-- CreateTable
CREATE TABLE "invitations" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "orgId" TEXT NOT NULL,
    "email" TEXT NOT NULL,
    "role" TEXT NOT NULL,
    "groupIds" TEXT[],
    "hash" TEXT NOT NULL,
    "mailHash" TEXT,
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,
    "invitedByUserId" TEXT NOT NULL,
    "invitedByLevel" TEXT NOT NULL,
    "delivery" TEXT NOT NULL,
    "deliveryProblem" TEXT,
    "acceptedAt" TIMESTAMPTZ(3),
    "userId" TEXT,
    "revokedAt" TIMESTAMPTZ(3),

    CONSTRAINT "invitations_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "invitations_hash_key" ON "invitations"("hash");

-- CreateIndex
CREATE UNIQUE INDEX "invitations_mailHash_key" ON "invitations"("mailHash");

-- CreateIndex
CREATE INDEX "invitations_orgId_createdAt_idx" ON "invitations"("orgId", "createdAt");

-- CreateIndex
CREATE INDEX "invitations_userId_idx" ON "invitations"("userId");

-- CreateIndex
CREATE INDEX "invitations_expiresAt_idx" ON "invitations"("expiresAt");

-- AddForeignKey
ALTER TABLE "invitations" ADD CONSTRAINT "invitations_orgId_fkey" FOREIGN KEY ("orgId") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;
