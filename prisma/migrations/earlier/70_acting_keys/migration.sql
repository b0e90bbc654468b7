-- AlterTable
ALTER TABLE "sessions" ADD COLUMN     "throughKeyId" TEXT;
