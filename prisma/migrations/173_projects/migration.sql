-- What chats have in common: instructions, sources and agents, shared with groups.
CREATE TABLE "projects" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,
    "orgId" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "instructions" TEXT NOT NULL DEFAULT '',
    "rowBytes" INTEGER NOT NULL GENERATED ALWAYS AS (octet_length("name") + octet_length("instructions")) STORED,

    CONSTRAINT "projects_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "projects_orgId_createdAt_id_idx" ON "projects"("orgId", "createdAt", "id");
CREATE INDEX "projects_userId_createdAt_id_idx" ON "projects"("userId", "createdAt", "id");

CREATE TABLE "project_groups" (
    "projectId" TEXT NOT NULL,
    "groupId" TEXT NOT NULL,

    CONSTRAINT "project_groups_pkey" PRIMARY KEY ("projectId", "groupId")
);
CREATE INDEX "project_groups_groupId_idx" ON "project_groups"("groupId");

CREATE TABLE "project_sources" (
    "projectId" TEXT NOT NULL,
    "dataSourceId" TEXT NOT NULL,

    CONSTRAINT "project_sources_pkey" PRIMARY KEY ("projectId", "dataSourceId")
);
CREATE INDEX "project_sources_dataSourceId_idx" ON "project_sources"("dataSourceId");

CREATE TABLE "project_agents" (
    "projectId" TEXT NOT NULL,
    "agentId" TEXT NOT NULL,
    "position" INTEGER NOT NULL,

    CONSTRAINT "project_agents_pkey" PRIMARY KEY ("projectId", "agentId")
);
CREATE INDEX "project_agents_agentId_idx" ON "project_agents"("agentId");

ALTER TABLE "project_groups" ADD CONSTRAINT "project_groups_projectId_fkey" FOREIGN KEY ("projectId") REFERENCES "projects"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "project_groups" ADD CONSTRAINT "project_groups_groupId_fkey" FOREIGN KEY ("groupId") REFERENCES "groups"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "project_sources" ADD CONSTRAINT "project_sources_projectId_fkey" FOREIGN KEY ("projectId") REFERENCES "projects"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "project_sources" ADD CONSTRAINT "project_sources_dataSourceId_fkey" FOREIGN KEY ("dataSourceId") REFERENCES "data_sources"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "project_agents" ADD CONSTRAINT "project_agents_projectId_fkey" FOREIGN KEY ("projectId") REFERENCES "projects"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "project_agents" ADD CONSTRAINT "project_agents_agentId_fkey" FOREIGN KEY ("agentId") REFERENCES "agents"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Without a foreign key: a project lets go of its chats before it is deleted, and announces each of them.
ALTER TABLE "chats" ADD COLUMN "projectId" TEXT;
CREATE INDEX "chats_of_project" ON "chats" ("projectId", "userId", "updatedAt" DESC, "id" DESC) WHERE "projectId" IS NOT NULL;

CREATE TRIGGER parley_refuse_held AFTER DELETE ON "projects" REFERENCING OLD TABLE AS gone FOR EACH STATEMENT
  EXECUTE FUNCTION parley_refuse_held('SELECT "orgId", "userId" FROM gone');
CREATE TRIGGER parley_refuse_held_handover AFTER UPDATE OF "userId" ON "projects" FOR EACH ROW WHEN (OLD."userId" <> NEW."userId")
  EXECUTE FUNCTION parley_refuse_held('SELECT gone."orgId", gone."userId" FROM gone JOIN "legal_holds" own ON own."endedAt" IS NULL AND own."orgId" = gone."orgId" AND own."userId" = gone."userId"');

CREATE OR REPLACE FUNCTION parley_organizations_of(person TEXT) RETURNS TABLE (id TEXT) LANGUAGE sql STABLE AS $$
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
    SELECT "orgId" FROM "projects" WHERE "userId" = person
    UNION ALL
    SELECT "orgId" FROM "schedules" WHERE "userId" = person
    UNION ALL
    SELECT "orgId" FROM "message_feedback" WHERE "userId" = person
    UNION ALL
    SELECT agent."orgId" FROM "agent_ratings" rating JOIN "agents" agent ON agent.id = rating."agentId" WHERE rating."userId" = person
  ) place
$$;
