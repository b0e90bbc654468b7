-- What runs remember of an agent says whether it has a flow or a skill that this version does not run.
CREATE TRIGGER parley_announce AFTER INSERT OR DELETE OR UPDATE
  ON "agent_flows" FOR EACH ROW WHEN (current_setting('parley.single_process', true) IS DISTINCT FROM 'on')
  EXECUTE FUNCTION parley_announce('agent-changed', 'agentId');
CREATE TRIGGER parley_announce AFTER INSERT OR DELETE OR UPDATE
  ON "agent_skills" FOR EACH ROW WHEN (current_setting('parley.single_process', true) IS DISTINCT FROM 'on')
  EXECUTE FUNCTION parley_announce('agent-changed', 'agentId');

-- A version names its flow only. Where the flow is gone too, its own trigger has announced the agent.
CREATE FUNCTION parley_announce_flow_version() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  subject text;
BEGIN
  SELECT "agentId" INTO subject FROM agent_flows WHERE id = CASE WHEN TG_OP = 'DELETE' THEN OLD."flowId" ELSE NEW."flowId" END;
  IF subject IS NOT NULL THEN
    INSERT INTO cache_invalidations (topic, subject) VALUES ('agent-changed', subject);
    PERFORM pg_notify('parley_signals', '- agent-changed ' || subject);
  END IF;
  RETURN NULL;
END
$$;
CREATE TRIGGER parley_announce AFTER INSERT OR DELETE OR UPDATE
  ON "agent_flow_versions" FOR EACH ROW WHEN (current_setting('parley.single_process', true) IS DISTINCT FROM 'on')
  EXECUTE FUNCTION parley_announce_flow_version();
