-- AlterTable
ALTER TABLE "usage_entries" ADD COLUMN "isEstimated" BOOLEAN NOT NULL DEFAULT false;
