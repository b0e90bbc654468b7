-- Lists end their pages by the bytes of their rows. The database computes the size of what may be long when it writes a row, so that a page is
-- cut before long values are read.

ALTER TABLE "agents" ADD COLUMN "rowBytes" INTEGER NOT NULL GENERATED ALWAYS AS (
  coalesce(octet_length("description"), 0) + coalesce(octet_length("instructions"), 0) + coalesce(octet_length("introduction"), 0) + coalesce(octet_length("seed"), 0) + coalesce(octet_length("src"), 0) + coalesce(octet_length("enabledTools"::text), 0) + coalesce(octet_length("options"::text), 0) + coalesce(octet_length("profile"::text), 0)
) STORED;

ALTER TABLE "data_sources" ADD COLUMN "rowBytes" INTEGER NOT NULL GENERATED ALWAYS AS (
  coalesce(octet_length("name"), 0) + coalesce(octet_length("errorMessage"), 0) + coalesce(octet_length("data"::text), 0)
) STORED;

ALTER TABLE "chats" ADD COLUMN "rowBytes" INTEGER NOT NULL GENERATED ALWAYS AS (
  coalesce(octet_length("name"), 0) + coalesce(octet_length("userInputs"::text), 0)
) STORED;

ALTER TABLE "agent_tools" ADD COLUMN "rowBytes" INTEGER NOT NULL GENERATED ALWAYS AS (
  coalesce(octet_length("name"), 0) + coalesce(octet_length("data"::text), 0)
) STORED;

ALTER TABLE "agent_user_inputs" ADD COLUMN "rowBytes" INTEGER NOT NULL GENERATED ALWAYS AS (
  coalesce(octet_length("label"), 0) + coalesce(octet_length("configuration"::text), 0)
) STORED;

ALTER TABLE "agent_skills" ADD COLUMN "rowBytes" INTEGER NOT NULL GENERATED ALWAYS AS (
  coalesce(octet_length("name"), 0) + coalesce(octet_length("description"), 0) + coalesce(octet_length("content"), 0)
) STORED;

ALTER TABLE "agent_flow_versions" ADD COLUMN "rowBytes" INTEGER NOT NULL GENERATED ALWAYS AS (
  coalesce(octet_length("description"), 0) + coalesce(octet_length("data"::text), 0)
) STORED;

ALTER TABLE "agent_secrets" ADD COLUMN "rowBytes" INTEGER NOT NULL GENERATED ALWAYS AS (
  coalesce(octet_length("description"), 0)
) STORED;

ALTER TABLE "knowledge_items" ADD COLUMN "rowBytes" INTEGER NOT NULL GENERATED ALWAYS AS (
  coalesce(octet_length("name"), 0) + coalesce(octet_length("uniqueId"), 0) + coalesce(octet_length("parentUniqueId"), 0) + coalesce(octet_length("filename"), 0) + coalesce(octet_length("mimeType"), 0) + coalesce(octet_length("contentUrl"), 0) + coalesce(octet_length("errorMessage"), 0) + coalesce(octet_length("metadata"::text), 0)
) STORED;

ALTER TABLE "audit_entries" ADD COLUMN "rowBytes" INTEGER NOT NULL GENERATED ALWAYS AS (
  coalesce(octet_length("changes"::text), 0)
) STORED;

ALTER TABLE "files" ADD COLUMN "rowBytes" INTEGER NOT NULL GENERATED ALWAYS AS (
  coalesce(octet_length("filename"), 0) + coalesce(octet_length("mimeType"), 0)
) STORED;

ALTER TABLE "chat_files" ADD COLUMN "rowBytes" INTEGER NOT NULL GENERATED ALWAYS AS (
  coalesce(octet_length("filename"), 0) + coalesce(octet_length("mimeType"), 0) + coalesce(octet_length("metadata"::text), 0)
) STORED;

ALTER TABLE "vector_stores" ADD COLUMN "rowBytes" INTEGER NOT NULL GENERATED ALWAYS AS (
  coalesce(octet_length("description"), 0) + coalesce(octet_length("metadata"::text), 0)
) STORED;

ALTER TABLE "group_members" ADD COLUMN "rowBytes" INTEGER NOT NULL GENERATED ALWAYS AS (
  coalesce(octet_length("email"), 0)
) STORED;

ALTER TABLE "messages" ADD COLUMN "rowBytes" INTEGER NOT NULL GENERATED ALWAYS AS (
  coalesce(octet_length("content"), 0) + coalesce(octet_length("parts"::text), 0) + coalesce(octet_length("toolCalls"::text), 0) + coalesce(octet_length("citations"::text), 0) + coalesce(octet_length("context"::text), 0) + coalesce(octet_length("compression"), 0) + coalesce(octet_length("item"::text), 0)
) STORED;

ALTER TABLE "response_items" ADD COLUMN "rowBytes" INTEGER NOT NULL GENERATED ALWAYS AS (
  coalesce(octet_length("item"::text), 0)
) STORED;

-- Editors see a chat through its agent. Chats that were shown to editors of another organization, or whose agent is gone, are closed to them.
UPDATE "chats" c SET "agentId" = NULL WHERE "agentId" IS NOT NULL AND NOT EXISTS (SELECT 1 FROM "agents" a WHERE a.id = c."agentId");
UPDATE "chats" c SET "isVisibleToEditors" = false FROM "agents" a WHERE a.id = c."agentId" AND c."isVisibleToEditors" AND a."orgId" <> c."orgId";
ALTER TABLE "chats" ADD CONSTRAINT "chats_agentId_fkey" FOREIGN KEY ("agentId") REFERENCES "agents"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- The list of all agents reads both catalogs, newest first, as one alternative.
CREATE INDEX "agents_open_catalogs" ON "agents" ("createdAt" DESC, "id" DESC) WHERE "visibility" = 'ANYONE_WITH_LINK' AND ("listInPublicCatalog" OR "listInTenantCatalog");

-- The ids of the master keys that wrap a data key, in order: `id.sealed id.sealed`.
CREATE FUNCTION parley_wrapping_ids(wrapped TEXT) RETURNS TEXT[] LANGUAGE sql IMMUTABLE AS $$
  SELECT ARRAY(SELECT split_part(part, '.', 1) FROM unnest(string_to_array(wrapped, ' ')) AS part ORDER BY 1)
$$;
ALTER TABLE "organization_keys" ADD COLUMN "masterKeyIds" TEXT[] NOT NULL GENERATED ALWAYS AS (parley_wrapping_ids("wrapped")) STORED;
