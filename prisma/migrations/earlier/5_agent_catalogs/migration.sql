-- CreateIndex
CREATE INDEX "agents_listInPublicCatalog_createdAt_id_idx" ON "agents"("listInPublicCatalog", "createdAt", "id");

-- CreateIndex
CREATE INDEX "agents_listInTenantCatalog_createdAt_id_idx" ON "agents"("listInTenantCatalog", "createdAt", "id");
