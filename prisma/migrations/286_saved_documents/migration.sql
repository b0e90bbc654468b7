-- Documents of GraphQL that an organization has saved. `hash` is the SHA-256 of the text, in hexadecimal.
CREATE TABLE "saved_documents" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,
    "orgId" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "description" TEXT NOT NULL,
    "document" TEXT NOT NULL,
    "hash" TEXT NOT NULL,

    CONSTRAINT "saved_documents_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "saved_documents_orgId_fkey" FOREIGN KEY ("orgId") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE UNIQUE INDEX "saved_documents_orgId_name_key" ON "saved_documents"("orgId", "name");
CREATE INDEX "saved_documents_orgId_createdAt_id_idx" ON "saved_documents"("orgId", "createdAt", "id");

-- As in 160_start: processes keep the documents of organizations in memory.
CREATE TRIGGER parley_announce AFTER INSERT OR DELETE OR UPDATE
  ON "saved_documents" FOR EACH ROW WHEN (current_setting('parley.single_process', true) IS DISTINCT FROM 'on')
  EXECUTE FUNCTION parley_announce('saved-documents-changed', 'orgId');
