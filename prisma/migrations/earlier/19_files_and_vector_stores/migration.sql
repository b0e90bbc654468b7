-- AlterTable
ALTER TABLE "chats" ADD COLUMN     "metadata" JSONB NOT NULL DEFAULT '{}';

-- AlterTable
ALTER TABLE "messages" ADD COLUMN     "item" JSON;

-- CreateTable
CREATE TABLE "files" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "orgId" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    "filename" TEXT NOT NULL,
    "sizeBytes" INTEGER NOT NULL,
    "mimeType" TEXT NOT NULL,
    "purpose" TEXT NOT NULL,
    "blobKey" TEXT NOT NULL,
    "expiresAt" TIMESTAMPTZ(3),

    CONSTRAINT "files_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "vector_stores" (
    "dataSourceId" TEXT NOT NULL,
    "description" TEXT NOT NULL DEFAULT '',
    "metadata" JSONB NOT NULL DEFAULT '{}',
    "expiresAfterDays" INTEGER,
    "lastActiveAt" TIMESTAMPTZ(3) NOT NULL,
    "expiresAt" TIMESTAMPTZ(3),

    CONSTRAINT "vector_stores_pkey" PRIMARY KEY ("dataSourceId")
);

-- CreateIndex
CREATE INDEX "files_orgId_userId_createdAt_id_idx" ON "files"("orgId", "userId", "createdAt", "id");

-- CreateIndex
CREATE INDEX "files_expiresAt_idx" ON "files"("expiresAt");

-- CreateIndex
CREATE INDEX "files_blobKey_idx" ON "files"("blobKey");

-- CreateIndex
CREATE INDEX "vector_stores_expiresAt_idx" ON "vector_stores"("expiresAt");

-- AddForeignKey
ALTER TABLE "vector_stores" ADD CONSTRAINT "vector_stores_dataSourceId_fkey" FOREIGN KEY ("dataSourceId") REFERENCES "data_sources"("id") ON DELETE CASCADE ON UPDATE CASCADE;
