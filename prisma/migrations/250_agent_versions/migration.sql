-- What people ask is a version of an agent, and what its editors change is its draft: the agent and its parts. An agent of before has version 1, whose row
-- is written before its first change.
ALTER TABLE "agents"
  ADD COLUMN "publishing" TEXT NOT NULL DEFAULT 'AT_ONCE',
  ADD COLUMN "publishedVersion" INTEGER NOT NULL DEFAULT 1,
  ADD COLUMN "draftRevision" INTEGER NOT NULL DEFAULT 1,
  ADD COLUMN "isDraftChanged" BOOLEAN NOT NULL DEFAULT false,
  ADD COLUMN "canaryVersion" INTEGER,
  ADD COLUMN "canaryPercent" INTEGER,
  ADD COLUMN "canaryStartedAt" TIMESTAMPTZ(3);

CREATE TABLE "agent_versions" (
  "agentId" TEXT NOT NULL,
  "number" INTEGER NOT NULL,
  "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "userId" TEXT,
  "note" TEXT NOT NULL DEFAULT '',
  "members" TEXT[] NOT NULL DEFAULT '{}',
  "isPublished" BOOLEAN NOT NULL DEFAULT true,
  "rolledBackTo" INTEGER,
  "overrideReason" TEXT,
  "content" JSON NOT NULL,
  CONSTRAINT "agent_versions_pkey" PRIMARY KEY ("agentId", "number"),
  CONSTRAINT "agent_versions_agentId_fkey" FOREIGN KEY ("agentId") REFERENCES "agents"("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "agent_versions_userId_idx" ON "agent_versions" ("userId");

-- Who made which change of a draft: the newest ones of an agent, for whoever saves an older draft.
CREATE TABLE "agent_draft_changes" (
  "agentId" TEXT NOT NULL,
  "revision" INTEGER NOT NULL,
  "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "userId" TEXT,
  "members" TEXT[] NOT NULL DEFAULT '{}',
  CONSTRAINT "agent_draft_changes_pkey" PRIMARY KEY ("agentId", "revision"),
  CONSTRAINT "agent_draft_changes_agentId_fkey" FOREIGN KEY ("agentId") REFERENCES "agents"("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "agent_draft_changes_userId_idx" ON "agent_draft_changes" ("userId");

-- The version that answered; 0: the draft. Null: no agent, or an answer of before.
ALTER TABLE "runs" ADD COLUMN "agentVersion" INTEGER;
ALTER TABLE "messages" ADD COLUMN "agentVersion" INTEGER;
ALTER TABLE "usage_entries" ADD COLUMN "agentVersion" INTEGER;

-- Everything of an agent that reaches the model, as it is now. JSON as text, because the order of a schema's members matters. Secrets stand here by their
-- ids; the settings of a source are its own, and are here to be compared.
CREATE FUNCTION parley_agent_content(agent text) RETURNS json LANGUAGE sql STABLE AS $$
  SELECT json_build_object(
    'name', a."name", 'description', a."description", 'instructions', a."instructions", 'introduction', a."introduction", 'seed', a."seed",
    'modelId', a."modelId", 'options', a."options", 'enabledTools', a."enabledTools", 'generateCitations', a."generateCitations",
    'tools', coalesce((SELECT json_agg(json_build_object('id', t."id", 'createdAt', t."createdAt", 'name', t."name", 'type', t."type", 'data', t."data")
      ORDER BY t."name" COLLATE "C") FROM agent_tools t WHERE t."agentId" = a."id"), '[]'),
    'userInputs', coalesce((SELECT json_agg(json_build_object('id', u."id", 'createdAt', u."createdAt", 'variableName', u."variableName",
      'type', u."type", 'label', u."label", 'configuration', u."configuration", 'showOnChatCreate', u."showOnChatCreate", 'orderIndex', u."orderIndex")
      ORDER BY u."orderIndex", u."variableName" COLLATE "C") FROM agent_user_inputs u WHERE u."agentId" = a."id"), '[]'),
    'skills', coalesce((SELECT json_agg(json_build_object('id', s."id", 'createdAt', s."createdAt", 'name', s."name", 'description', s."description",
      'content', s."content", 'enabled', s."enabled") ORDER BY s."name" COLLATE "C") FROM agent_skills s WHERE s."agentId" = a."id"), '[]'),
    'flows', coalesce((SELECT json_agg(json_build_object('id', f."id", 'createdAt', f."createdAt", 'name', f."name", 'enabled', f."enabled",
      'versions', coalesce((SELECT json_agg(json_build_object('version', v."version", 'active', v."active", 'description', v."description",
        'data', v."data") ORDER BY v."version") FROM agent_flow_versions v WHERE v."flowId" = f."id"), '[]'))
      ORDER BY f."name" COLLATE "C") FROM agent_flows f WHERE f."agentId" = a."id"), '[]'),
    'sources', coalesce((SELECT json_agg(json_build_object('id', s."id", 'name', s."name", 'type', s."type", 'cite', s."cite", 'access', s."access")
      ORDER BY s."id") FROM agent_data_sources d JOIN data_sources s ON s."id" = d."dataSourceId"
      WHERE d."agentId" = a."id" AND s."deletingAt" IS NULL AND s."orgId" = a."orgId"), '[]'),
    'secrets', coalesce((SELECT json_agg(json_build_object('id', k."id", 'key', k."key") ORDER BY k."key" COLLATE "C")
      FROM agent_secrets k WHERE k."agentId" = a."id"), '[]'))
  FROM agents a WHERE a."id" = agent
$$;

-- Locks an agent until the transaction ends, writes the row of its version where there is none yet, and reads what a change needs of it. Each statement of
-- the function sees what was committed while it waited for the lock.
CREATE FUNCTION parley_open_agent(agent text, target_number integer) RETURNS TABLE (
  "orgId" text, "publishing" text, "publishedVersion" integer, "draftRevision" integer, "isDraftChanged" boolean, "canaryVersion" integer,
  "isApprovedByOrg" boolean, "lastVersion" integer, "draft" text, "published" text, "target" text
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  found agents;
  content json;
BEGIN
  SELECT * INTO found FROM agents a WHERE a."id" = agent AND NOT a."isDeleted" FOR UPDATE;
  IF found."id" IS NULL THEN
    RETURN;
  END IF;
  content := parley_agent_content(agent);
  IF NOT EXISTS (SELECT FROM agent_versions v WHERE v."agentId" = agent AND v."number" = found."publishedVersion") THEN
    INSERT INTO agent_versions ("agentId", "number", "createdAt", "userId", "content")
      VALUES (agent, found."publishedVersion", found."createdAt", found."userId", content);
  END IF;
  RETURN QUERY SELECT found."orgId", found."publishing", found."publishedVersion", found."draftRevision", found."isDraftChanged", found."canaryVersion",
    found."isApprovedByOrg", (SELECT max(v."number") FROM agent_versions v WHERE v."agentId" = agent), content::text,
    CASE WHEN found."isDraftChanged"
      THEN (SELECT v."content"::text FROM agent_versions v WHERE v."agentId" = agent AND v."number" = found."publishedVersion") END,
    (SELECT v."content"::text FROM agent_versions v WHERE v."agentId" = agent AND v."number" = target_number);
END
$$;

-- Makes an agent and its parts what a version holds. Parts that are equal stay as they are; the others have the ids that they had. Of its sources it gets
-- those of `source_ids` that are there. Secrets stay as they are.
CREATE FUNCTION parley_restore_agent(agent text, held json, source_ids text[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  draft json := parley_agent_content(agent);
BEGIN
  -- What is replaced is in a version, so a legal hold loses nothing.
  PERFORM set_config('parley.takes_back', 'on', true);
  UPDATE agents a SET "name" = held->>'name', "description" = held->>'description', "instructions" = held->>'instructions',
    "introduction" = held->>'introduction', "seed" = held->>'seed', "modelId" = held->>'modelId', "options" = (held->'options')::jsonb,
    "enabledTools" = (held->'enabledTools')::jsonb, "generateCitations" = (held->>'generateCitations')::boolean, "updatedAt" = now()
  WHERE a."id" = agent;
  DELETE FROM agent_tools t WHERE t."agentId" = agent AND t."id" NOT IN (
    SELECT c->>'id' FROM json_array_elements(held->'tools') c JOIN json_array_elements(draft->'tools') o ON o::text = c::text);
  INSERT INTO agent_tools ("id", "createdAt", "updatedAt", "agentId", "name", "type", "data")
    SELECT (c->>'id'), (c->>'createdAt')::timestamptz, now(), agent, c->>'name', c->>'type', c->'data'
    FROM json_array_elements(held->'tools') c ON CONFLICT ("id") DO NOTHING;
  DELETE FROM agent_user_inputs u WHERE u."agentId" = agent AND u."id" NOT IN (
    SELECT c->>'id' FROM json_array_elements(held->'userInputs') c JOIN json_array_elements(draft->'userInputs') o ON o::text = c::text);
  INSERT INTO agent_user_inputs ("id", "createdAt", "updatedAt", "agentId", "variableName", "type", "label", "configuration", "showOnChatCreate", "orderIndex")
    SELECT c->>'id', (c->>'createdAt')::timestamptz, now(), agent, c->>'variableName', c->>'type', c->>'label', c->'configuration',
      (c->>'showOnChatCreate')::boolean, (c->>'orderIndex')::integer
    FROM json_array_elements(held->'userInputs') c ON CONFLICT ("id") DO NOTHING;
  DELETE FROM agent_skills s WHERE s."agentId" = agent AND s."id" NOT IN (
    SELECT c->>'id' FROM json_array_elements(held->'skills') c JOIN json_array_elements(draft->'skills') o ON o::text = c::text);
  INSERT INTO agent_skills ("id", "createdAt", "updatedAt", "agentId", "name", "description", "content", "enabled")
    SELECT c->>'id', (c->>'createdAt')::timestamptz, now(), agent, c->>'name', c->>'description', c->>'content', (c->>'enabled')::boolean
    FROM json_array_elements(held->'skills') c ON CONFLICT ("id") DO NOTHING;
  DELETE FROM agent_flows f WHERE f."agentId" = agent AND f."id" NOT IN (
    SELECT c->>'id' FROM json_array_elements(held->'flows') c JOIN json_array_elements(draft->'flows') o ON o::text = c::text);
  WITH restored AS (
    INSERT INTO agent_flows ("id", "createdAt", "updatedAt", "agentId", "name", "enabled")
      SELECT c->>'id', (c->>'createdAt')::timestamptz, now(), agent, c->>'name', (c->>'enabled')::boolean
      FROM json_array_elements(held->'flows') c ON CONFLICT ("id") DO NOTHING
      RETURNING "id"
  )
  INSERT INTO agent_flow_versions ("flowId", "version", "active", "description", "data")
    SELECT c->>'id', (v->>'version')::integer, (v->>'active')::boolean, v->>'description', v->'data'
    FROM json_array_elements(held->'flows') c JOIN restored r ON r."id" = c->>'id', json_array_elements(c->'versions') v;
  DELETE FROM agent_data_sources d WHERE d."agentId" = agent AND d."dataSourceId" <> ALL (source_ids);
  INSERT INTO agent_data_sources ("agentId", "dataSourceId")
    SELECT agent, s."id" FROM data_sources s JOIN agents a ON a."id" = agent AND a."orgId" = s."orgId"
    WHERE s."id" = ANY (source_ids) AND s."deletingAt" IS NULL ON CONFLICT DO NOTHING;
  PERFORM set_config('parley.takes_back', 'off', true);
END
$$;

CREATE TRIGGER parley_refuse_held AFTER DELETE ON "agent_versions" REFERENCING OLD TABLE AS gone FOR EACH STATEMENT
  EXECUTE FUNCTION parley_refuse_held('SELECT agent."orgId", agent."userId" FROM gone JOIN "agents" agent ON agent.id = gone."agentId"');

-- Runs remember which version people get.
DROP TRIGGER parley_announce ON "agents";
CREATE TRIGGER parley_announce AFTER INSERT OR DELETE OR UPDATE OF
    "orgId", "userId", "name", "description", "instructions", "introduction", "seed", "src", "modelId", "visibility", "listInOrgCatalog",
    "listInPublicCatalog", "listInTenantCatalog", "isApprovedByOrg", "chatLogsVisible", "generateCitations", "intermediateStepsVisible",
    "enabledTools", "options", "profile", "publicCategories", "orgCategoryIds", "categoryId", "isDeleted", "publishing", "publishedVersion",
    "draftRevision", "isDraftChanged", "canaryVersion", "canaryPercent", "canaryStartedAt"
  ON "agents" FOR EACH ROW WHEN (current_setting('parley.single_process', true) IS DISTINCT FROM 'on')
  EXECUTE FUNCTION parley_announce('agent-changed', 'id');
