-- CreateIndex
CREATE INDEX "data_sources_createdAt_id_idx" ON "data_sources"("createdAt", "id");
