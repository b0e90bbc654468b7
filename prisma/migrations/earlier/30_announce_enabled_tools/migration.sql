-- Other processes remember what tools an agent has.
DROP TRIGGER parley_announce ON "agents";
CREATE TRIGGER parley_announce AFTER INSERT OR DELETE OR UPDATE OF
    "orgId", "userId", "name", "description", "instructions", "introduction", "seed", "src", "modelId", "visibility", "listInOrgCatalog",
    "listInPublicCatalog", "listInTenantCatalog", "isApprovedByOrg", "chatLogsVisible", "generateCitations", "intermediateStepsVisible",
    "enabledTools", "options", "profile", "publicCategories", "orgCategoryIds", "categoryId", "isDeleted"
  ON "agents" FOR EACH ROW WHEN (current_setting('parley.single_process', true) IS DISTINCT FROM 'on')
  EXECUTE FUNCTION parley_announce('agent-changed', 'id');
