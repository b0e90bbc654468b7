-- AlterTable
ALTER TABLE "api_keys" ADD COLUMN     "createdByKeyId" TEXT,
ADD COLUMN     "createdByUserId" TEXT;

-- AlterTable
ALTER TABLE "audit_entries" ADD COLUMN     "address" TEXT,
ADD COLUMN     "count" INTEGER NOT NULL DEFAULT 1,
ADD COLUMN     "kind" TEXT NOT NULL DEFAULT 'CHANGE',
ADD COLUMN     "outcome" TEXT NOT NULL DEFAULT 'SUCCEEDED',
ADD COLUMN     "targetIds" TEXT[] DEFAULT ARRAY[]::TEXT[];
