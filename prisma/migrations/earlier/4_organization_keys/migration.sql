-- CreateTable
CREATE TABLE "organization_keys" (
    "orgId" TEXT NOT NULL,
    "createdAt" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMP(3) NOT NULL,
    "wrapped" TEXT NOT NULL,

    CONSTRAINT "organization_keys_pkey" PRIMARY KEY ("orgId")
);

-- AddForeignKey
ALTER TABLE "organization_keys" ADD CONSTRAINT "organization_keys_orgId_fkey" FOREIGN KEY ("orgId") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;
