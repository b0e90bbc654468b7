-- AlterTable
ALTER TABLE "sessions" ADD COLUMN     "identityId" TEXT,
ADD COLUMN     "providerSessionHash" TEXT;

-- CreateTable
CREATE TABLE "sign_in_identities" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "userId" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "provider" TEXT NOT NULL,
    "issuer" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "email" TEXT,
    "lastUsedAt" TIMESTAMPTZ(3) NOT NULL,
    "isAdminByGroup" BOOLEAN NOT NULL DEFAULT false,
    "groupIds" TEXT[],

    CONSTRAINT "sign_in_identities_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "sessions_identityId_idx" ON "sessions"("identityId");

-- CreateIndex
CREATE INDEX "sessions_providerSessionHash_idx" ON "sessions"("providerSessionHash");

-- CreateIndex
CREATE INDEX "sign_in_identities_userId_createdAt_idx" ON "sign_in_identities"("userId", "createdAt");

-- CreateIndex
CREATE INDEX "sign_in_identities_orgId_idx" ON "sign_in_identities"("orgId");

-- CreateIndex
CREATE UNIQUE INDEX "sign_in_identities_provider_issuer_subject_key" ON "sign_in_identities"("provider", "issuer", "subject");

-- AddForeignKey
ALTER TABLE "sign_in_identities" ADD CONSTRAINT "sign_in_identities_userId_fkey" FOREIGN KEY ("userId") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
