-- Searches and lists keep in memory which sources are MIRRORED. They hear of a change by a topic of its own: indexing publishes 'data-source-changed' for
-- every document, and each made them read it anew. The trigger of before stays for instances of the earlier version.
CREATE TRIGGER parley_announce_access AFTER UPDATE OF "orgId", "access"
  ON "data_sources" FOR EACH ROW WHEN (current_setting('parley.single_process', true) IS DISTINCT FROM 'on')
  EXECUTE FUNCTION parley_announce('permissions-changed', 'id');
