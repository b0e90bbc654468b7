-- What a legal hold keeps cannot be deleted, whichever statement tries: the rule is asked of the rows that go. Triggers ask it, so that no deletion of a store,
-- and none that a foreign key makes, has to know holds. They fire after the change, in its transaction, and take it back by an error of their own.
--
-- The argument of a trigger is SQL for the organization and the person of the rows that go, `gone`.
CREATE FUNCTION parley_refuse_held() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  since TIMESTAMPTZ;
  question TEXT;
BEGIN
  -- Rows that the service itself writes anew: the words of a run that were never its answer.
  IF EXISTS (SELECT FROM "legal_holds" WHERE "endedAt" IS NULL) AND current_setting('parley.takes_back', true) IS DISTINCT FROM 'on' THEN
    question := 'SELECT min(hold."createdAt") FROM (' || TG_ARGV[0] || ') AS held("orgId", "userId") JOIN "legal_holds" hold '
      || 'ON hold."endedAt" IS NULL AND hold."orgId" = held."orgId" AND (hold."userId" IS NULL OR hold."userId" = held."userId")';
    IF TG_LEVEL = 'ROW' THEN
      EXECUTE 'WITH gone AS (SELECT ($1).*) ' || question INTO since USING OLD;
    ELSE
      EXECUTE question INTO since;
    END IF;
    IF since IS NOT NULL THEN
      RAISE EXCEPTION USING ERRCODE = 'PH001', MESSAGE = 'A legal hold keeps this since ' || to_char(since AT TIME ZONE 'UTC', 'YYYY-MM-DD');
    END IF;
  END IF;
  IF TG_LEVEL = 'ROW' THEN RETURN OLD; END IF;
  RETURN NULL;
END $$;

-- The organizations in which a person has anything, members or not.
CREATE FUNCTION parley_organizations_of(person TEXT) RETURNS TABLE (id TEXT) LANGUAGE sql STABLE AS $$
  SELECT place."orgId" FROM (
    SELECT "orgId" FROM "memberships" WHERE "userId" = person
    UNION ALL
    SELECT "orgId" FROM "chats" WHERE "userId" = person
    UNION ALL
    SELECT "orgId" FROM "runs" WHERE "userId" = person
    UNION ALL
    SELECT "orgId" FROM "response_items" WHERE "userId" = person
    UNION ALL
    SELECT "orgId" FROM "agents" WHERE "userId" = person
    UNION ALL
    SELECT "orgId" FROM "data_sources" WHERE "ownerUserId" = person
    UNION ALL
    SELECT "orgId" FROM "files" WHERE "userId" = person
    UNION ALL
    SELECT "orgId" FROM "memories" WHERE "userId" = person
    UNION ALL
    SELECT "orgId" FROM "schedules" WHERE "userId" = person
    UNION ALL
    SELECT "orgId" FROM "message_feedback" WHERE "userId" = person
    UNION ALL
    SELECT agent."orgId" FROM "agent_ratings" rating JOIN "agents" agent ON agent.id = rating."agentId" WHERE rating."userId" = person
  ) place
$$;

CREATE TRIGGER parley_refuse_held AFTER DELETE ON "agents" REFERENCING OLD TABLE AS gone FOR EACH STATEMENT
  EXECUTE FUNCTION parley_refuse_held('SELECT "orgId", "userId" FROM gone');
CREATE TRIGGER parley_refuse_held AFTER DELETE ON "agent_tools" REFERENCING OLD TABLE AS gone FOR EACH STATEMENT
  EXECUTE FUNCTION parley_refuse_held('SELECT agent."orgId", agent."userId" FROM gone JOIN "agents" agent ON agent.id = gone."agentId"');
CREATE TRIGGER parley_refuse_held AFTER DELETE ON "agent_user_inputs" REFERENCING OLD TABLE AS gone FOR EACH STATEMENT
  EXECUTE FUNCTION parley_refuse_held('SELECT agent."orgId", agent."userId" FROM gone JOIN "agents" agent ON agent.id = gone."agentId"');
CREATE TRIGGER parley_refuse_held AFTER DELETE ON "agent_skills" REFERENCING OLD TABLE AS gone FOR EACH STATEMENT
  EXECUTE FUNCTION parley_refuse_held('SELECT agent."orgId", agent."userId" FROM gone JOIN "agents" agent ON agent.id = gone."agentId"');
CREATE TRIGGER parley_refuse_held AFTER DELETE ON "agent_flows" REFERENCING OLD TABLE AS gone FOR EACH STATEMENT
  EXECUTE FUNCTION parley_refuse_held('SELECT agent."orgId", agent."userId" FROM gone JOIN "agents" agent ON agent.id = gone."agentId"');
CREATE TRIGGER parley_refuse_held AFTER DELETE ON "agent_secrets" REFERENCING OLD TABLE AS gone FOR EACH STATEMENT
  EXECUTE FUNCTION parley_refuse_held('SELECT agent."orgId", agent."userId" FROM gone JOIN "agents" agent ON agent.id = gone."agentId" WHERE NOT gone."isDerived"');
CREATE TRIGGER parley_refuse_held AFTER DELETE ON "agent_ratings" REFERENCING OLD TABLE AS gone FOR EACH STATEMENT
  EXECUTE FUNCTION parley_refuse_held('SELECT agent."orgId", gone."userId" FROM gone JOIN "agents" agent ON agent.id = gone."agentId"');
CREATE TRIGGER parley_refuse_held AFTER DELETE ON "chats" REFERENCING OLD TABLE AS gone FOR EACH STATEMENT
  EXECUTE FUNCTION parley_refuse_held('SELECT "orgId", "userId" FROM gone');
CREATE TRIGGER parley_refuse_held AFTER DELETE ON "messages" REFERENCING OLD TABLE AS gone FOR EACH STATEMENT
  EXECUTE FUNCTION parley_refuse_held('SELECT chat."orgId", chat."userId" FROM gone JOIN "chats" chat ON chat.id = gone."chatId"');
CREATE TRIGGER parley_refuse_held AFTER DELETE ON "chat_files" REFERENCING OLD TABLE AS gone FOR EACH STATEMENT
  EXECUTE FUNCTION parley_refuse_held('SELECT chat."orgId", chat."userId" FROM gone JOIN "chats" chat ON chat.id = gone."chatId"');
CREATE TRIGGER parley_refuse_held AFTER DELETE ON "message_feedback" REFERENCING OLD TABLE AS gone FOR EACH STATEMENT
  EXECUTE FUNCTION parley_refuse_held('SELECT "orgId", "userId" FROM gone');
CREATE TRIGGER parley_refuse_held AFTER DELETE ON "runs" REFERENCING OLD TABLE AS gone FOR EACH STATEMENT
  EXECUTE FUNCTION parley_refuse_held('SELECT "orgId", "userId" FROM gone');
CREATE TRIGGER parley_refuse_held AFTER DELETE ON "response_items" REFERENCING OLD TABLE AS gone FOR EACH STATEMENT
  EXECUTE FUNCTION parley_refuse_held('SELECT "orgId", "userId" FROM gone');
CREATE TRIGGER parley_refuse_held AFTER DELETE ON "files" REFERENCING OLD TABLE AS gone FOR EACH STATEMENT
  EXECUTE FUNCTION parley_refuse_held('SELECT "orgId", "userId" FROM gone');
CREATE TRIGGER parley_refuse_held AFTER DELETE ON "memories" REFERENCING OLD TABLE AS gone FOR EACH STATEMENT
  EXECUTE FUNCTION parley_refuse_held('SELECT "orgId", "userId" FROM gone');
CREATE TRIGGER parley_refuse_held AFTER DELETE ON "schedules" REFERENCING OLD TABLE AS gone FOR EACH STATEMENT
  EXECUTE FUNCTION parley_refuse_held('SELECT "orgId", "userId" FROM gone');
CREATE TRIGGER parley_refuse_held AFTER DELETE ON "schedule_runs" REFERENCING OLD TABLE AS gone FOR EACH STATEMENT
  EXECUTE FUNCTION parley_refuse_held('SELECT "orgId", "userId" FROM gone');
CREATE TRIGGER parley_refuse_held AFTER DELETE ON "data_sources" REFERENCING OLD TABLE AS gone FOR EACH STATEMENT
  EXECUTE FUNCTION parley_refuse_held('SELECT "orgId", "ownerUserId" FROM gone WHERE "deletingAt" IS NULL');
CREATE TRIGGER parley_refuse_held AFTER DELETE ON "knowledge_items" REFERENCING OLD TABLE AS gone FOR EACH STATEMENT
  EXECUTE FUNCTION parley_refuse_held('SELECT source."orgId", source."ownerUserId" FROM gone JOIN "data_sources" source ON source.id = gone."dataSourceId" WHERE source."deletingAt" IS NULL AND source."type" IN (''API'', ''FILE_UPLOAD'') AND gone."indexStatus" <> ''DELETING''');
CREATE TRIGGER parley_refuse_held AFTER DELETE ON "organizations" REFERENCING OLD TABLE AS gone FOR EACH STATEMENT
  EXECUTE FUNCTION parley_refuse_held('SELECT lasting."orgId", lasting."userId" FROM gone JOIN "legal_holds" lasting ON lasting."orgId" = gone.id AND lasting."endedAt" IS NULL');

-- Before the row goes: its memberships go with it.
CREATE TRIGGER parley_refuse_held BEFORE DELETE ON "users" FOR EACH ROW
  EXECUTE FUNCTION parley_refuse_held('SELECT lasting."orgId", gone.id FROM gone JOIN "legal_holds" lasting ON lasting."endedAt" IS NULL AND (lasting."userId" = gone.id OR lasting."userId" IS NULL AND lasting."orgId" IN (SELECT place.id FROM parley_organizations_of(gone.id) place))');

-- Things that are hidden first, and deleted by a job or never. What was hidden before the hold began is deleted to the end. Documents of a connected source
-- follow the other service.
CREATE TRIGGER parley_refuse_held_hidden AFTER UPDATE OF "isDeleted" ON "agents" FOR EACH ROW WHEN (NEW."isDeleted" AND NOT OLD."isDeleted")
  EXECUTE FUNCTION parley_refuse_held('SELECT "orgId", "userId" FROM gone');
CREATE TRIGGER parley_refuse_held_hidden AFTER UPDATE OF "deletedAt" ON "chats" FOR EACH ROW WHEN (NEW."deletedAt" IS NOT NULL AND OLD."deletedAt" IS NULL)
  EXECUTE FUNCTION parley_refuse_held('SELECT "orgId", "userId" FROM gone');
CREATE TRIGGER parley_refuse_held_hidden AFTER UPDATE OF "deletedAt" ON "chat_files" FOR EACH ROW WHEN (NEW."deletedAt" IS NOT NULL AND OLD."deletedAt" IS NULL AND OLD."blobKey" IS NOT NULL)
  EXECUTE FUNCTION parley_refuse_held('SELECT chat."orgId", chat."userId" FROM gone JOIN "chats" chat ON chat.id = gone."chatId" WHERE chat."deletedAt" IS NULL');
CREATE TRIGGER parley_refuse_held_hidden AFTER UPDATE OF "deletingAt" ON "data_sources" FOR EACH ROW WHEN (NEW."deletingAt" IS NOT NULL AND OLD."deletingAt" IS NULL)
  EXECUTE FUNCTION parley_refuse_held('SELECT "orgId", "ownerUserId" FROM gone');
CREATE TRIGGER parley_refuse_held_hidden AFTER UPDATE OF "indexStatus" ON "knowledge_items" FOR EACH ROW WHEN (NEW."indexStatus" = 'DELETING' AND OLD."indexStatus" <> 'DELETING')
  EXECUTE FUNCTION parley_refuse_held('SELECT source."orgId", source."ownerUserId" FROM gone JOIN "data_sources" source ON source.id = gone."dataSourceId" WHERE source."deletingAt" IS NULL AND source."type" IN (''API'', ''FILE_UPLOAD'')');
-- A part of a message that is deleted: its text, or one of its calls.
CREATE TRIGGER parley_refuse_held_hidden AFTER UPDATE OF "content", "toolCalls" ON "messages" FOR EACH ROW
  WHEN (NEW."content" = '' AND OLD."content" <> '' OR jsonb_typeof(OLD."toolCalls") = 'array' AND jsonb_path_query_array(coalesce(NEW."toolCalls", '[]'), '$[*].id') <> jsonb_path_query_array(OLD."toolCalls", '$[*].id'))
  EXECUTE FUNCTION parley_refuse_held('SELECT chat."orgId", chat."userId" FROM gone JOIN "chats" chat ON chat.id = gone."chatId"');
