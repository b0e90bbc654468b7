-- What a passage's item has in "accessRuleId": searches leave out most of what a person may not open before they read its item, which decides.
ALTER TABLE "chunks" ADD COLUMN "access_rule_id" INTEGER;
CREATE INDEX "data_sources_mirrored" ON "data_sources" ("id") WHERE "access" <> 'LENT';

-- Searches keep in memory which sources are MIRRORED. One that is not known to be is not searched at all, so a late announcement opens nothing.
DROP TRIGGER parley_announce ON "data_sources";
CREATE TRIGGER parley_announce AFTER DELETE OR UPDATE OF "orgId", "deletingAt", "access"
  ON "data_sources" FOR EACH ROW WHEN (current_setting('parley.single_process', true) IS DISTINCT FROM 'on')
  EXECUTE FUNCTION parley_announce('data-source-changed', 'id');

-- The copy at an OpenSearch has the rule of each passage.
CREATE TRIGGER parley_search_index_access AFTER UPDATE OF "accessRuleId" ON "knowledge_items"
  FOR EACH ROW WHEN (OLD."accessRuleId" IS DISTINCT FROM NEW."accessRuleId" AND NEW."liveGeneration" IS NOT NULL)
  EXECUTE FUNCTION parley_note_search_change();
