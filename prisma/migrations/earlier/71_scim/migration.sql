-- CreateTable
CREATE TABLE "scim_users" (
    "orgId" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,
    "externalId" TEXT,
    "givenName" TEXT,
    "familyName" TEXT,
    "isActive" BOOLEAN NOT NULL DEFAULT true,
    "role" TEXT NOT NULL,

    CONSTRAINT "scim_users_pkey" PRIMARY KEY ("orgId","userId")
);

-- CreateTable
CREATE TABLE "scim_groups" (
    "groupId" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "externalId" TEXT,

    CONSTRAINT "scim_groups_pkey" PRIMARY KEY ("groupId")
);

-- CreateIndex
CREATE INDEX "scim_users_userId_idx" ON "scim_users"("userId");

-- CreateIndex
CREATE INDEX "scim_users_orgId_externalId_idx" ON "scim_users"("orgId", "externalId");

-- CreateIndex
CREATE INDEX "scim_groups_orgId_externalId_idx" ON "scim_groups"("orgId", "externalId");

-- AddForeignKey
ALTER TABLE "scim_users" ADD CONSTRAINT "scim_users_userId_fkey" FOREIGN KEY ("userId") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "scim_groups" ADD CONSTRAINT "scim_groups_groupId_fkey" FOREIGN KEY ("groupId") REFERENCES "groups"("id") ON DELETE CASCADE ON UPDATE CASCADE;
