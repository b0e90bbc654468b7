-- AlterTable
ALTER TABLE "agents" ADD COLUMN     "enabledTools" JSONB NOT NULL DEFAULT '[]';
