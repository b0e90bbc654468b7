-- CreateTable
CREATE TABLE "file_uploads" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "orgId" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    "filename" TEXT NOT NULL,
    "mimeType" TEXT NOT NULL,
    "purpose" TEXT NOT NULL,
    "sizeBytes" INTEGER NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'pending',
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,
    "fileExpirySeconds" INTEGER,
    "fileId" TEXT,

    CONSTRAINT "file_uploads_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "file_upload_parts" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "uploadId" TEXT NOT NULL,
    "sizeBytes" INTEGER NOT NULL,
    "blobKey" TEXT NOT NULL,

    CONSTRAINT "file_upload_parts_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "vector_store_file_batches" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "dataSourceId" TEXT NOT NULL,
    "cancelledAt" TIMESTAMPTZ(3),

    CONSTRAINT "vector_store_file_batches_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "vector_store_batch_files" (
    "batchId" TEXT NOT NULL,
    "itemId" TEXT NOT NULL,

    CONSTRAINT "vector_store_batch_files_pkey" PRIMARY KEY ("batchId","itemId")
);

-- CreateIndex
CREATE INDEX "file_uploads_orgId_userId_status_idx" ON "file_uploads"("orgId", "userId", "status");

-- CreateIndex
CREATE INDEX "file_uploads_expiresAt_idx" ON "file_uploads"("expiresAt");

-- CreateIndex
CREATE INDEX "file_upload_parts_uploadId_idx" ON "file_upload_parts"("uploadId");

-- CreateIndex
CREATE INDEX "file_upload_parts_blobKey_idx" ON "file_upload_parts"("blobKey");

-- CreateIndex
CREATE INDEX "vector_store_file_batches_dataSourceId_idx" ON "vector_store_file_batches"("dataSourceId");

-- CreateIndex
CREATE INDEX "vector_store_batch_files_itemId_idx" ON "vector_store_batch_files"("itemId");

-- AddForeignKey
ALTER TABLE "file_upload_parts" ADD CONSTRAINT "file_upload_parts_uploadId_fkey" FOREIGN KEY ("uploadId") REFERENCES "file_uploads"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "vector_store_file_batches" ADD CONSTRAINT "vector_store_file_batches_dataSourceId_fkey" FOREIGN KEY ("dataSourceId") REFERENCES "vector_stores"("dataSourceId") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "vector_store_batch_files" ADD CONSTRAINT "vector_store_batch_files_batchId_fkey" FOREIGN KEY ("batchId") REFERENCES "vector_store_file_batches"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "vector_store_batch_files" ADD CONSTRAINT "vector_store_batch_files_itemId_fkey" FOREIGN KEY ("itemId") REFERENCES "knowledge_items"("id") ON DELETE CASCADE ON UPDATE CASCADE;
