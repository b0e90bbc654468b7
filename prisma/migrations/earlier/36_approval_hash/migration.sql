-- AlterTable
ALTER TABLE "agents" ADD COLUMN     "approvedHash" TEXT;

-- The hash of everything of an agent that reaches the model: its texts, model and options, and its tools, enabled skills and flows, user inputs and
-- sources. Secrets do not reach the model. What is new and reaches the model belongs here, with a trigger on its table.
CREATE FUNCTION parley_agent_hash(agent agents) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT encode(sha256(convert_to(jsonb_build_array(
    agent."name", agent."description", agent."instructions", agent."introduction", agent."seed", agent."modelId", agent."options"::text,
    agent."enabledTools"::text, agent."generateCitations",
    (SELECT jsonb_agg(jsonb_build_array(t."name", t."type", t."data"::text) ORDER BY t."name") FROM agent_tools t WHERE t."agentId" = agent."id"),
    (SELECT jsonb_agg(jsonb_build_array(s."name", s."description", s."content") ORDER BY s."name")
      FROM agent_skills s WHERE s."agentId" = agent."id" AND s."enabled"),
    (SELECT jsonb_agg(jsonb_build_array(f."name", v."version", v."data"::text) ORDER BY f."name", v."version")
      FROM agent_flows f JOIN agent_flow_versions v ON v."flowId" = f."id" WHERE f."agentId" = agent."id" AND f."enabled" AND v."active"),
    (SELECT jsonb_agg(jsonb_build_array(u."variableName", u."type", u."configuration"::text) ORDER BY u."variableName")
      FROM agent_user_inputs u WHERE u."agentId" = agent."id"),
    (SELECT jsonb_agg(d."dataSourceId" ORDER BY d."dataSourceId") FROM agent_data_sources d WHERE d."agentId" = agent."id")
  )::text, 'UTF8')), 'hex')
$$;

UPDATE "agents" a SET "approvedHash" = parley_agent_hash(a) WHERE a."isApprovedByOrg";

-- An approval holds for the hash that it was given for, whoever changes the agent and by whatever way.
CREATE FUNCTION parley_keep_approval() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  hash text;
BEGIN
  IF NOT NEW."isApprovedByOrg" THEN
    NEW."approvedHash" := NULL;
    RETURN NEW;
  END IF;
  hash := parley_agent_hash(NEW);
  IF NOT OLD."isApprovedByOrg" THEN
    NEW."approvedHash" := hash;
  ELSIF OLD."approvedHash" IS DISTINCT FROM hash THEN
    NEW."isApprovedByOrg" := false;
    NEW."approvedHash" := NULL;
  END IF;
  RETURN NEW;
END
$$;
CREATE TRIGGER parley_keep_approval BEFORE UPDATE OF
    "name", "description", "instructions", "introduction", "seed", "modelId", "options", "enabledTools", "generateCitations", "isApprovedByOrg"
  ON "agents" FOR EACH ROW EXECUTE FUNCTION parley_keep_approval();

-- Weighs the approval again after a change of a part.
CREATE FUNCTION parley_weigh_approval() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  agent text;
BEGIN
  IF TG_TABLE_NAME = 'agent_flow_versions' THEN
    SELECT f."agentId" INTO agent FROM agent_flows f WHERE f."id" = CASE WHEN TG_OP = 'DELETE' THEN OLD."flowId" ELSE NEW."flowId" END;
  ELSIF TG_OP = 'DELETE' THEN
    agent := OLD."agentId";
  ELSE
    agent := NEW."agentId";
  END IF;
  UPDATE "agents" SET "isApprovedByOrg" = true WHERE "id" = agent AND "isApprovedByOrg";
  RETURN NULL;
END
$$;
CREATE TRIGGER parley_weigh_approval AFTER INSERT OR DELETE OR UPDATE ON "agent_tools" FOR EACH ROW EXECUTE FUNCTION parley_weigh_approval();
CREATE TRIGGER parley_weigh_approval AFTER INSERT OR DELETE OR UPDATE ON "agent_skills" FOR EACH ROW EXECUTE FUNCTION parley_weigh_approval();
CREATE TRIGGER parley_weigh_approval AFTER INSERT OR DELETE OR UPDATE ON "agent_flows" FOR EACH ROW EXECUTE FUNCTION parley_weigh_approval();
CREATE TRIGGER parley_weigh_approval AFTER INSERT OR DELETE OR UPDATE ON "agent_flow_versions" FOR EACH ROW EXECUTE FUNCTION parley_weigh_approval();
CREATE TRIGGER parley_weigh_approval AFTER INSERT OR DELETE OR UPDATE ON "agent_user_inputs" FOR EACH ROW EXECUTE FUNCTION parley_weigh_approval();
CREATE TRIGGER parley_weigh_approval AFTER INSERT OR DELETE OR UPDATE ON "agent_data_sources" FOR EACH ROW EXECUTE FUNCTION parley_weigh_approval();
