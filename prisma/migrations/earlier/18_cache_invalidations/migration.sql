-- CreateTable
CREATE TABLE "installations" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "installations_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "cache_invalidations" (
    "id" BIGSERIAL NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "xid" xid8 NOT NULL DEFAULT pg_current_xact_id(),
    "topic" TEXT NOT NULL,
    "subject" TEXT NOT NULL,

    CONSTRAINT "cache_invalidations_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "cache_invalidations_xid_idx" ON "cache_invalidations"("xid");

-- Announces a change to every instance, in the transaction that makes it: a row to look up, and a notification of it.
-- Arguments: the topic, and the column that holds the id it is about.
CREATE FUNCTION parley_announce() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  subject text;
BEGIN
  IF TG_OP = 'DELETE' THEN
    EXECUTE format('SELECT ($1).%I', TG_ARGV[1]) INTO subject USING OLD;
  ELSE
    EXECUTE format('SELECT ($1).%I', TG_ARGV[1]) INTO subject USING NEW;
  END IF;
  INSERT INTO cache_invalidations (topic, subject) VALUES (TG_ARGV[0], subject);
  PERFORM pg_notify('parley_signals', '- ' || TG_ARGV[0] || ' ' || subject);
  RETURN NULL;
END
$$;

-- Columns that runs and requests write (lastUsedAt, messageCount, sums of ratings) are not among these.
-- The embedded database sets parley.single_process: nobody else is to be told.
CREATE TRIGGER parley_announce AFTER INSERT OR DELETE OR UPDATE OF "orgId", "userId", "scopes", "level", "hash", "expiresAt", "revokedAt"
  ON "api_keys" FOR EACH ROW WHEN (current_setting('parley.single_process', true) IS DISTINCT FROM 'on')
  EXECUTE FUNCTION parley_announce('key-changed', 'id');
CREATE TRIGGER parley_announce AFTER INSERT OR DELETE OR UPDATE
  ON "memberships" FOR EACH ROW WHEN (current_setting('parley.single_process', true) IS DISTINCT FROM 'on')
  EXECUTE FUNCTION parley_announce('user-changed', 'userId');
CREATE TRIGGER parley_announce AFTER INSERT OR DELETE OR UPDATE
  ON "organizations" FOR EACH ROW WHEN (current_setting('parley.single_process', true) IS DISTINCT FROM 'on')
  EXECUTE FUNCTION parley_announce('organization-changed', 'id');
CREATE TRIGGER parley_announce AFTER INSERT OR DELETE OR UPDATE OF
    "orgId", "userId", "name", "description", "instructions", "introduction", "seed", "src", "modelId", "visibility", "listInOrgCatalog",
    "listInPublicCatalog", "listInTenantCatalog", "isApprovedByOrg", "chatLogsVisible", "generateCitations", "intermediateStepsVisible",
    "options", "profile", "publicCategories", "orgCategoryIds", "categoryId", "isDeleted"
  ON "agents" FOR EACH ROW WHEN (current_setting('parley.single_process', true) IS DISTINCT FROM 'on')
  EXECUTE FUNCTION parley_announce('agent-changed', 'id');
CREATE TRIGGER parley_announce AFTER INSERT OR DELETE OR UPDATE
  ON "agent_editors" FOR EACH ROW WHEN (current_setting('parley.single_process', true) IS DISTINCT FROM 'on')
  EXECUTE FUNCTION parley_announce('agent-changed', 'agentId');
CREATE TRIGGER parley_announce AFTER INSERT OR DELETE OR UPDATE
  ON "agent_groups" FOR EACH ROW WHEN (current_setting('parley.single_process', true) IS DISTINCT FROM 'on')
  EXECUTE FUNCTION parley_announce('agent-changed', 'agentId');
CREATE TRIGGER parley_announce AFTER INSERT OR DELETE OR UPDATE
  ON "agent_tools" FOR EACH ROW WHEN (current_setting('parley.single_process', true) IS DISTINCT FROM 'on')
  EXECUTE FUNCTION parley_announce('agent-changed', 'agentId');
CREATE TRIGGER parley_announce AFTER INSERT OR DELETE OR UPDATE
  ON "agent_user_inputs" FOR EACH ROW WHEN (current_setting('parley.single_process', true) IS DISTINCT FROM 'on')
  EXECUTE FUNCTION parley_announce('agent-changed', 'agentId');
CREATE TRIGGER parley_announce AFTER INSERT OR DELETE OR UPDATE
  ON "agent_data_sources" FOR EACH ROW WHEN (current_setting('parley.single_process', true) IS DISTINCT FROM 'on')
  EXECUTE FUNCTION parley_announce('agent-changed', 'agentId');
CREATE TRIGGER parley_announce AFTER DELETE OR UPDATE OF "orgId", "deletingAt"
  ON "data_sources" FOR EACH ROW WHEN (current_setting('parley.single_process', true) IS DISTINCT FROM 'on')
  EXECUTE FUNCTION parley_announce('data-source-changed', 'id');
CREATE TRIGGER parley_announce AFTER INSERT OR DELETE OR UPDATE
  ON "group_members" FOR EACH ROW WHEN (current_setting('parley.single_process', true) IS DISTINCT FROM 'on')
  EXECUTE FUNCTION parley_announce('group-changed', 'groupId');
