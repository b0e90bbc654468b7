-- The copy of all passages at an OpenSearch (SEARCH_INDEX_URL): which index answers searches, which one is being built, and how far it is.
CREATE TABLE "search_indexes" (
    "id" TEXT NOT NULL,
    "serving" TEXT,
    "servingVersion" INTEGER,
    "building" TEXT,
    "buildingVersion" INTEGER,
    "buildCursor" TEXT NOT NULL DEFAULT '',
    "itemsDone" INTEGER NOT NULL DEFAULT 0,
    "itemsTotal" INTEGER NOT NULL DEFAULT 0,
    "passagesDone" BIGINT NOT NULL DEFAULT 0,
    "buildStartedAt" TIMESTAMPTZ(3),
    "builtAt" TIMESTAMPTZ(3),
    "checkCursor" TEXT NOT NULL DEFAULT '',
    "orphanCursor" TEXT NOT NULL DEFAULT '',
    "checkedAt" TIMESTAMPTZ(3),
    "leaseOwner" TEXT,
    "leaseUntil" TIMESTAMPTZ(3),
    "fence" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "search_indexes_pkey" PRIMARY KEY ("id")
);

-- Items whose passages changed since they were last sent. A row is deleted once its version has been sent.
CREATE TABLE "search_index_changes" (
    "itemId" TEXT NOT NULL,
    "dataSourceId" TEXT NOT NULL,
    "version" BIGSERIAL NOT NULL,
    "changedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "search_index_changes_pkey" PRIMARY KEY ("itemId")
);

-- CreateIndex
CREATE INDEX "search_index_changes_version_idx" ON "search_index_changes"("version");

-- CreateIndex
CREATE INDEX "search_index_changes_dataSourceId_idx" ON "search_index_changes"("dataSourceId");

-- Notes the change in the transaction that makes it, whichever program makes it. Without a row in search_indexes no copy is kept, and nothing is noted.
CREATE FUNCTION parley_note_search_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  item text;
  source text;
BEGIN
  IF NOT EXISTS (SELECT FROM search_indexes) THEN
    RETURN NULL;
  END IF;
  IF TG_TABLE_NAME = 'item_embeddings' THEN
    item := NEW.item_id;
    SELECT "dataSourceId" INTO source FROM knowledge_items WHERE id = item;
  ELSIF TG_OP = 'DELETE' THEN
    item := OLD.id;
    source := OLD."dataSourceId";
  ELSE
    item := NEW.id;
    source := NEW."dataSourceId";
  END IF;
  INSERT INTO search_index_changes ("itemId", "dataSourceId") VALUES (item, coalesce(source, ''))
  ON CONFLICT ("itemId") DO UPDATE SET "version" = excluded."version";
  RETURN NULL;
END
$$;

CREATE TRIGGER parley_search_index_live AFTER UPDATE OF "liveGeneration" ON "knowledge_items"
  FOR EACH ROW WHEN (OLD."liveGeneration" IS DISTINCT FROM NEW."liveGeneration") EXECUTE FUNCTION parley_note_search_change();
CREATE TRIGGER parley_search_index_added AFTER INSERT ON "knowledge_items"
  FOR EACH ROW WHEN (NEW."liveGeneration" IS NOT NULL) EXECUTE FUNCTION parley_note_search_change();
CREATE TRIGGER parley_search_index_gone AFTER DELETE ON "knowledge_items"
  FOR EACH ROW WHEN (OLD."liveGeneration" IS NOT NULL) EXECUTE FUNCTION parley_note_search_change();
-- A row says that all passages of the item have vectors.
CREATE TRIGGER parley_search_index_vectors AFTER INSERT OR UPDATE ON "item_embeddings"
  FOR EACH ROW EXECUTE FUNCTION parley_note_search_change();
