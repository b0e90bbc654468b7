-- The schema of migrations 1 to 160 (earlier/), which a new database does not go through. A database that began with one of them goes on with them
-- instead. A test compares the two.

CREATE TABLE "agents" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,
    "orgId" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "description" TEXT NOT NULL,
    "instructions" TEXT NOT NULL,
    "introduction" TEXT,
    "seed" TEXT,
    "src" TEXT NOT NULL,
    "modelId" TEXT,
    "visibility" TEXT NOT NULL DEFAULT 'PRIVATE',
    "listInOrgCatalog" BOOLEAN NOT NULL DEFAULT false,
    "listInPublicCatalog" BOOLEAN NOT NULL DEFAULT false,
    "listInTenantCatalog" BOOLEAN NOT NULL DEFAULT false,
    "isApprovedByOrg" BOOLEAN NOT NULL DEFAULT false,
    "chatLogsVisible" BOOLEAN NOT NULL DEFAULT false,
    "generateCitations" BOOLEAN NOT NULL DEFAULT true,
    "intermediateStepsVisible" BOOLEAN NOT NULL DEFAULT false,
    "options" JSONB NOT NULL DEFAULT '{}',
    "profile" JSONB,
    "publicCategories" TEXT[],
    "orgCategoryIds" TEXT[],
    "categoryId" TEXT,
    "messageCount" INTEGER NOT NULL DEFAULT 0,
    "ratingCount" INTEGER NOT NULL DEFAULT 0,
    "ratingSum" INTEGER NOT NULL DEFAULT 0,
    "isDeleted" BOOLEAN NOT NULL DEFAULT false,
    "enabledTools" JSONB NOT NULL DEFAULT '[]',
    "approvedHash" TEXT,
    "rowBytes" INTEGER NOT NULL GENERATED ALWAYS AS (
      coalesce(octet_length("description"), 0) + coalesce(octet_length("instructions"), 0) + coalesce(octet_length("introduction"), 0) + coalesce(octet_length("seed"), 0) + coalesce(octet_length("src"), 0) + coalesce(octet_length("enabledTools"::text), 0) + coalesce(octet_length("options"::text), 0) + coalesce(octet_length("profile"::text), 0)
    ) STORED,

    CONSTRAINT "agents_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "agents_listInPublicCatalog_createdAt_id_idx" ON "agents"("listInPublicCatalog", "createdAt", "id");
CREATE INDEX "agents_listInTenantCatalog_createdAt_id_idx" ON "agents"("listInTenantCatalog", "createdAt", "id");
-- The list of all agents reads both catalogs, newest first, as one alternative.
CREATE INDEX "agents_open_catalogs" ON "agents" ("createdAt" DESC, "id" DESC) WHERE "visibility" = 'ANYONE_WITH_LINK' AND ("listInPublicCatalog" OR "listInTenantCatalog");
CREATE INDEX "agents_orgId_createdAt_id_idx" ON "agents"("orgId", "createdAt", "id");
CREATE INDEX "agents_userId_createdAt_idx" ON "agents"("userId", "createdAt");

CREATE TABLE "agent_categories" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,
    "orgId" TEXT NOT NULL,
    "name" TEXT NOT NULL,

    CONSTRAINT "agent_categories_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "agent_categories_orgId_name_key" ON "agent_categories"("orgId", "name");

CREATE TABLE "agent_data_sources" (
    "agentId" TEXT NOT NULL,
    "dataSourceId" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "agent_data_sources_pkey" PRIMARY KEY ("agentId", "dataSourceId")
);
CREATE INDEX "agent_data_sources_dataSourceId_idx" ON "agent_data_sources"("dataSourceId");

CREATE TABLE "agent_editors" (
    "agentId" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "agent_editors_pkey" PRIMARY KEY ("agentId", "userId")
);
CREATE INDEX "agent_editors_userId_idx" ON "agent_editors"("userId");

CREATE TABLE "agent_flow_versions" (
    "flowId" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "active" BOOLEAN NOT NULL DEFAULT false,
    "description" TEXT NOT NULL DEFAULT '',
    "data" JSON NOT NULL,
    "rowBytes" INTEGER NOT NULL GENERATED ALWAYS AS (
      coalesce(octet_length("description"), 0) + coalesce(octet_length("data"::text), 0)
    ) STORED,

    CONSTRAINT "agent_flow_versions_pkey" PRIMARY KEY ("flowId", "version")
);
-- At most one active version of a flow.
CREATE UNIQUE INDEX "agent_flow_versions_active" ON "agent_flow_versions"("flowId") WHERE "active";

CREATE TABLE "agent_flows" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,
    "agentId" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "enabled" BOOLEAN NOT NULL DEFAULT true,

    CONSTRAINT "agent_flows_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "agent_flows_agentId_name_key" ON "agent_flows"("agentId", "name");

CREATE TABLE "agent_grants" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "agentId" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    "connectionId" TEXT,
    "askedAgentId" TEXT,
    "memories" TEXT,

    CONSTRAINT "agent_grants_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "agent_grants_one_thing" CHECK (num_nonnulls("connectionId", "askedAgentId", "memories") = 1)
);
CREATE INDEX "agent_grants_agentId_idx" ON "agent_grants"("agentId");
CREATE INDEX "agent_grants_askedAgentId_idx" ON "agent_grants"("askedAgentId");
CREATE INDEX "agent_grants_connectionId_idx" ON "agent_grants"("connectionId");
CREATE INDEX "agent_grants_orgId_userId_agentId_idx" ON "agent_grants"("orgId", "userId", "agentId");

CREATE TABLE "agent_groups" (
    "agentId" TEXT NOT NULL,
    "groupId" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "agent_groups_pkey" PRIMARY KEY ("agentId", "groupId")
);
CREATE INDEX "agent_groups_groupId_idx" ON "agent_groups"("groupId");

-- Changes of agents' message counters. A turn adds a row instead of changing the row of its agent, so turns of one agent do not wait for each other.
CREATE TABLE "agent_message_counts" (
    "id" BIGSERIAL NOT NULL,
    "agentId" TEXT NOT NULL,
    "change" INTEGER NOT NULL,

    CONSTRAINT "agent_message_counts_pkey" PRIMARY KEY ("id")
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

CREATE TABLE "agent_ratings" (
    "agentId" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,
    "rating" INTEGER NOT NULL,

    CONSTRAINT "agent_ratings_pkey" PRIMARY KEY ("agentId", "userId")
);

CREATE TABLE "agent_secrets" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,
    "agentId" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "description" TEXT NOT NULL DEFAULT '',
    "secretType" TEXT NOT NULL,
    "sealed" TEXT,
    "isDerived" BOOLEAN NOT NULL DEFAULT false,
    "givenByUserId" TEXT,
    "origins" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "rowBytes" INTEGER NOT NULL GENERATED ALWAYS AS (
      coalesce(octet_length("description"), 0)
    ) STORED,

    CONSTRAINT "agent_secrets_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "agent_secrets_agentId_key_key" ON "agent_secrets"("agentId", "key");

CREATE TABLE "agent_skills" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,
    "agentId" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "description" TEXT NOT NULL,
    "content" TEXT NOT NULL,
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "rowBytes" INTEGER NOT NULL GENERATED ALWAYS AS (
      coalesce(octet_length("name"), 0) + coalesce(octet_length("description"), 0) + coalesce(octet_length("content"), 0)
    ) STORED,

    CONSTRAINT "agent_skills_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "agent_skills_agentId_name_key" ON "agent_skills"("agentId", "name");

CREATE TABLE "agent_tool_names" (
    "agentId" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "slug" TEXT NOT NULL,
    "name" TEXT NOT NULL,

    CONSTRAINT "agent_tool_names_pkey" PRIMARY KEY ("agentId")
);
CREATE UNIQUE INDEX "agent_tool_names_orgId_name_key" ON "agent_tool_names"("orgId", "name");

CREATE TABLE "agent_tools" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,
    "agentId" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "data" JSON NOT NULL,
    "rowBytes" INTEGER NOT NULL GENERATED ALWAYS AS (
      coalesce(octet_length("name"), 0) + coalesce(octet_length("data"::text), 0)
    ) STORED,

    CONSTRAINT "agent_tools_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "agent_tools_agentId_name_key" ON "agent_tools"("agentId", "name");

CREATE TABLE "agent_user_inputs" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,
    "agentId" TEXT NOT NULL,
    "variableName" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "label" TEXT NOT NULL,
    "configuration" JSON NOT NULL,
    "showOnChatCreate" BOOLEAN NOT NULL DEFAULT true,
    "orderIndex" INTEGER NOT NULL DEFAULT 0,
    "rowBytes" INTEGER NOT NULL GENERATED ALWAYS AS (
      coalesce(octet_length("label"), 0) + coalesce(octet_length("configuration"::text), 0)
    ) STORED,

    CONSTRAINT "agent_user_inputs_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "agent_user_inputs_agentId_variableName_key" ON "agent_user_inputs"("agentId", "variableName");

-- Who has a chat with which agent, so that lists of agents need not read all chats of a person. Triggers keep it, also for programs that do not know it.
CREATE TABLE "agent_users" (
    "userId" TEXT NOT NULL,
    "agentId" TEXT NOT NULL,

    CONSTRAINT "agent_users_pkey" PRIMARY KEY ("userId", "agentId")
);
CREATE INDEX "agent_users_agentId_idx" ON "agent_users"("agentId");

CREATE TABLE "api_keys" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,
    "orgId" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "scopes" TEXT[],
    "level" TEXT NOT NULL DEFAULT 'ORGANIZATION',
    "prefix" TEXT NOT NULL,
    "hash" TEXT NOT NULL,
    "lastUsedAt" TIMESTAMPTZ(3),
    "expiresAt" TIMESTAMPTZ(3),
    "revokedAt" TIMESTAMPTZ(3),
    "createdByKeyId" TEXT,
    "createdByUserId" TEXT,
    "lentKeyId" TEXT,
    "membershipId" TEXT,

    CONSTRAINT "api_keys_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "api_keys_hash_key" ON "api_keys"("hash");
CREATE INDEX "api_keys_orgId_createdAt_idx" ON "api_keys"("orgId", "createdAt");
CREATE INDEX "api_keys_userId_idx" ON "api_keys"("userId");

CREATE TABLE "audit_entries" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "orgId" TEXT NOT NULL,
    "actorUserId" TEXT NOT NULL,
    "actorEmail" TEXT NOT NULL,
    "actorKeyId" TEXT NOT NULL,
    "action" TEXT NOT NULL,
    "targetKind" TEXT,
    "targetId" TEXT,
    "changes" JSONB NOT NULL,
    "requestId" TEXT NOT NULL,
    "address" TEXT,
    "count" INTEGER NOT NULL DEFAULT 1,
    "kind" TEXT NOT NULL DEFAULT 'CHANGE',
    "outcome" TEXT NOT NULL DEFAULT 'SUCCEEDED',
    "targetIds" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "rowBytes" INTEGER NOT NULL GENERATED ALWAYS AS (
      coalesce(octet_length("changes"::text), 0)
    ) STORED,
    "sinkPosition" BIGINT,

    CONSTRAINT "audit_entries_pkey" PRIMARY KEY ("id")
) PARTITION BY RANGE ("id");
CREATE INDEX "audit_entries_by_action" ON "audit_entries" ("orgId", "action", "createdAt", "id");
CREATE INDEX "audit_entries_by_actor" ON "audit_entries" ("orgId", "actorUserId", "createdAt", "id");
CREATE INDEX "audit_entries_by_kind" ON "audit_entries" ("orgId", "kind", "createdAt", "id");
CREATE INDEX "audit_entries_by_target" ON "audit_entries" ("orgId", "targetId", "createdAt", "id") WHERE "targetId" IS NOT NULL;
CREATE INDEX "audit_entries_by_targets" ON "audit_entries" USING gin ("targetIds");
CREATE INDEX "audit_entries_of_several_actions" ON "audit_entries" ("orgId", "createdAt", "id") INCLUDE ("action", "rowBytes") WHERE "action" LIKE '%, %';
CREATE INDEX "audit_entries_createdAt_idx" ON "audit_entries"("createdAt");
CREATE INDEX "audit_entries_orgId_createdAt_id_idx" ON "audit_entries"("orgId", "createdAt", "id");
CREATE INDEX "audit_entries_sinkPosition_createdAt_id_idx" ON "audit_entries"("sinkPosition", "createdAt", "id");

CREATE TABLE "audit_sinks" (
    "id" TEXT NOT NULL,
    "numbered" BIGINT NOT NULL DEFAULT 0,
    "sent" BIGINT NOT NULL DEFAULT 0,
    "batchId" TEXT,
    "lastSentAt" TIMESTAMPTZ(3),
    "failures" INTEGER NOT NULL DEFAULT 0,
    "failingSince" TIMESTAMPTZ(3),
    "lastError" TEXT,
    "nextAttemptAt" TIMESTAMPTZ(3),
    "leaseOwner" TEXT,
    "leaseUntil" TIMESTAMPTZ(3),
    "fence" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "audit_sinks_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "cache_invalidations" (
    "id" BIGSERIAL NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "xid" xid8 NOT NULL DEFAULT pg_current_xact_id(),
    "topic" TEXT NOT NULL,
    "subject" TEXT NOT NULL,

    CONSTRAINT "cache_invalidations_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "cache_invalidations_xid_idx" ON "cache_invalidations"("xid");

CREATE TABLE "call_approvals" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,
    "orgId" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    "runId" TEXT NOT NULL,
    "functionName" TEXT NOT NULL,
    "parameters" JSON NOT NULL,
    "answeredAt" TIMESTAMPTZ(3),

    CONSTRAINT "call_approvals_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "call_approvals_expiresAt_idx" ON "call_approvals"("expiresAt");

CREATE TABLE "chat_files" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "chatId" TEXT NOT NULL,
    "source" TEXT NOT NULL,
    "filename" TEXT NOT NULL,
    "sizeBytes" INTEGER NOT NULL,
    "mimeType" TEXT NOT NULL,
    "metadata" JSONB NOT NULL DEFAULT '{}',
    "status" TEXT NOT NULL,
    "blobKey" TEXT,
    "deletedAt" TIMESTAMPTZ(3),
    "rowBytes" INTEGER NOT NULL GENERATED ALWAYS AS (
      coalesce(octet_length("filename"), 0) + coalesce(octet_length("mimeType"), 0) + coalesce(octet_length("metadata"::text), 0)
    ) STORED,

    CONSTRAINT "chat_files_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "chat_files_blobKey_idx" ON "chat_files"("blobKey");
CREATE INDEX "chat_files_chatId_createdAt_id_idx" ON "chat_files"("chatId", "createdAt", "id");
CREATE INDEX "chat_files_deleted" ON "chat_files" ("deletedAt") WHERE "deletedAt" IS NOT NULL;
CREATE INDEX "chat_files_status_createdAt_idx" ON "chat_files"("status", "createdAt");

CREATE TABLE "chat_reads" (
    "chatId" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    "readAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "chat_reads_pkey" PRIMARY KEY ("chatId", "userId")
);

CREATE TABLE "chats" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,
    "orgId" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    "agentId" TEXT,
    "name" TEXT NOT NULL DEFAULT '',
    "pinPosition" INTEGER,
    "deletedAt" TIMESTAMPTZ(3),
    "activeRunId" TEXT,
    "userInputs" JSONB NOT NULL DEFAULT '{}',
    "lastRunId" TEXT,
    "modelId" TEXT,
    "summary" TEXT,
    "metadata" JSONB NOT NULL DEFAULT '{}',
    "isVisibleToEditors" BOOLEAN NOT NULL DEFAULT false,
    "rowBytes" INTEGER NOT NULL GENERATED ALWAYS AS (
      coalesce(octet_length("name"), 0) + coalesce(octet_length("userInputs"::text), 0)
    ) STORED,
    "answeredAt" TIMESTAMPTZ(3),

    CONSTRAINT "chats_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "chats_agentId_updatedAt_id_idx" ON "chats"("agentId", "updatedAt" DESC, "id" DESC);
CREATE INDEX "chats_agentId_userId_updatedAt_id_idx" ON "chats"("agentId", "userId", "updatedAt" DESC, "id" DESC);
-- What waits to be deleted for good: few rows of large tables.
CREATE INDEX "chats_deleted" ON "chats" ("deletedAt") WHERE "deletedAt" IS NOT NULL;
-- The names of a person's chats are searched in the index alone. It has columns beside its key, which the Prisma schema cannot say; a partial index is left
-- alone there, and every row is in it.
CREATE INDEX "chats_of_user" ON "chats" ("userId", "updatedAt" DESC, "id" DESC) INCLUDE ("orgId", "deletedAt", "name") WHERE "userId" IS NOT NULL;
CREATE INDEX "chats_orgId_updatedAt_id_idx" ON "chats"("orgId", "updatedAt", "id");
CREATE INDEX "chats_visible_to_editors" ON "chats"("orgId", "updatedAt" DESC, "id" DESC) INCLUDE ("agentId") WHERE "isVisibleToEditors" AND "deletedAt" IS NULL;

CREATE TABLE "chunk_texts" (
    "chunk_id" BIGINT NOT NULL,
    "heading_path" TEXT NOT NULL,
    "text" TEXT NOT NULL,
    "gap_before" TEXT NOT NULL,
    "config" TEXT NOT NULL,
    "token_count" INTEGER NOT NULL,
    "content_hash" TEXT NOT NULL,
    "page" INTEGER,
    "char_start" INTEGER NOT NULL,
    "char_end" INTEGER NOT NULL,
    "line_end" INTEGER,
    "line_start" INTEGER,

    CONSTRAINT "chunk_texts_pkey" PRIMARY KEY ("chunk_id")
);

CREATE TABLE "chunks" (
    "id" BIGSERIAL NOT NULL,
    "data_source_id" TEXT NOT NULL,
    "item_id" TEXT NOT NULL,
    "generation" INTEGER NOT NULL,
    "ordinal" INTEGER NOT NULL,
    "length" INTEGER NOT NULL,
    "term_counts" SMALLINT[],
    "term_keys" INTEGER[],

    CONSTRAINT "chunks_pkey" PRIMARY KEY ("id")
);
-- CLUSTER puts the passages of an item side by side.
ALTER TABLE "chunks" CLUSTER ON "chunks_pkey";
CREATE INDEX "chunks_item_id_generation_ordinal_idx" ON "chunks"("item_id", "generation", "ordinal");
CREATE INDEX "chunks_term_keys_idx" ON "chunks" USING GIN ("term_keys") WITH (fastupdate = on, gin_pending_list_limit = 512);

CREATE TABLE "code_states" (
    "chatId" TEXT NOT NULL,
    "blobKey" TEXT NOT NULL,
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "code_states_pkey" PRIMARY KEY ("chatId")
);
CREATE INDEX "code_states_blobKey_idx" ON "code_states"("blobKey");
CREATE INDEX "code_states_expiresAt_idx" ON "code_states"("expiresAt");

CREATE TABLE "connection_attempts" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,
    "orgId" TEXT NOT NULL,
    "ownerUserId" TEXT NOT NULL,
    "provider" TEXT NOT NULL,
    "returnTo" TEXT,
    "sealed" TEXT NOT NULL,
    "confirmHash" TEXT,

    CONSTRAINT "connection_attempts_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "connection_attempts_expiresAt_idx" ON "connection_attempts"("expiresAt");

CREATE TABLE "connections" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,
    "orgId" TEXT NOT NULL,
    "ownerUserId" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "provider" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "baseUrl" TEXT,
    "installationId" BIGINT,
    "scopes" TEXT[],
    "expiresAt" TIMESTAMPTZ(3),
    "sealed" TEXT NOT NULL,
    "needsReauthorization" BOOLEAN NOT NULL DEFAULT false,
    "renewalOwner" TEXT,
    "renewalUntil" TIMESTAMPTZ(3),

    CONSTRAINT "connections_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "connections_orgId_createdAt_id_idx" ON "connections"("orgId", "createdAt", "id");
CREATE INDEX "connections_ownerUserId_orgId_createdAt_id_idx" ON "connections"("ownerUserId", "orgId", "createdAt", "id");

CREATE TABLE "data_exports" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "orgId" TEXT NOT NULL,
    "userId" TEXT,
    "requestedByUserId" TEXT NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'PENDING',
    "counts" JSONB NOT NULL DEFAULT '{}',
    "sizeBytes" BIGINT,
    "blobKey" TEXT,
    "endedAt" TIMESTAMPTZ(3),
    "expiresAt" TIMESTAMPTZ(3),

    CONSTRAINT "data_exports_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "data_exports_expiresAt_idx" ON "data_exports"("expiresAt");
CREATE INDEX "data_exports_orgId_createdAt_id_idx" ON "data_exports"("orgId", "createdAt", "id");

CREATE TABLE "data_retentions" (
    "orgId" TEXT NOT NULL,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,
    "chatDays" INTEGER,
    "runDays" INTEGER,
    "eventDays" INTEGER,
    "usageDays" INTEGER,
    "auditDays" INTEGER,

    CONSTRAINT "data_retentions_pkey" PRIMARY KEY ("orgId")
);

CREATE TABLE "data_sources" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,
    "lastIndexedAt" TIMESTAMPTZ(3),
    "orgId" TEXT NOT NULL,
    "ownerUserId" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "refreshPeriod" TEXT NOT NULL DEFAULT 'NEVER',
    "data" JSONB NOT NULL DEFAULT '{}',
    "cite" BOOLEAN NOT NULL DEFAULT true,
    "orgVisible" BOOLEAN NOT NULL DEFAULT false,
    "deletingAt" TIMESTAMPTZ(3),
    "errorCode" TEXT,
    "errorMessage" TEXT,
    "isSyncForced" BOOLEAN NOT NULL DEFAULT false,
    "isSyncWanted" BOOLEAN NOT NULL DEFAULT false,
    "lastSyncedAt" TIMESTAMPTZ(3),
    "syncState" JSONB,
    "rowBytes" INTEGER NOT NULL GENERATED ALWAYS AS (
      coalesce(octet_length("name"), 0) + coalesce(octet_length("errorMessage"), 0) + coalesce(octet_length("data"::text), 0)
    ) STORED,

    CONSTRAINT "data_sources_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "data_sources_createdAt_id_idx" ON "data_sources"("createdAt", "id");
CREATE INDEX "data_sources_orgId_createdAt_id_idx" ON "data_sources"("orgId", "createdAt", "id");
CREATE INDEX "data_sources_ownerUserId_idx" ON "data_sources"("ownerUserId");

CREATE TABLE "embedding_spaces" (
    "id" SERIAL NOT NULL,
    "model" TEXT NOT NULL,
    "dimensions" INTEGER NOT NULL,
    "isQuantised" BOOLEAN NOT NULL DEFAULT false,
    "hasFloats" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "embedding_spaces_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "embedding_spaces_model_dimensions_key" ON "embedding_spaces"("model", "dimensions");

CREATE TABLE "erasures" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "orgId" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    "requestedByUserId" TEXT NOT NULL,
    "transferToUserId" TEXT NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'PENDING',
    "report" JSONB NOT NULL DEFAULT '[]',
    "endedAt" TIMESTAMPTZ(3),

    CONSTRAINT "erasures_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "erasures_orgId_createdAt_id_idx" ON "erasures"("orgId", "createdAt", "id");

CREATE TABLE "file_upload_parts" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "uploadId" TEXT NOT NULL,
    "sizeBytes" INTEGER NOT NULL,
    "blobKey" TEXT NOT NULL,

    CONSTRAINT "file_upload_parts_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "file_upload_parts_blobKey_idx" ON "file_upload_parts"("blobKey");
CREATE INDEX "file_upload_parts_uploadId_idx" ON "file_upload_parts"("uploadId");

CREATE TABLE "file_uploads" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "orgId" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    "filename" TEXT NOT NULL,
    "mimeType" TEXT NOT NULL,
    "purpose" TEXT NOT NULL,
    "sizeBytes" INTEGER NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'pending',
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,
    "fileExpirySeconds" INTEGER,
    "fileId" TEXT,

    CONSTRAINT "file_uploads_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "file_uploads_expiresAt_idx" ON "file_uploads"("expiresAt");
CREATE INDEX "file_uploads_orgId_userId_status_idx" ON "file_uploads"("orgId", "userId", "status");

CREATE TABLE "files" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "orgId" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    "filename" TEXT NOT NULL,
    "sizeBytes" INTEGER NOT NULL,
    "mimeType" TEXT NOT NULL,
    "purpose" TEXT NOT NULL,
    "blobKey" TEXT NOT NULL,
    "expiresAt" TIMESTAMPTZ(3),
    "rowBytes" INTEGER NOT NULL GENERATED ALWAYS AS (
      coalesce(octet_length("filename"), 0) + coalesce(octet_length("mimeType"), 0)
    ) STORED,

    CONSTRAINT "files_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "files_blobKey_idx" ON "files"("blobKey");
CREATE INDEX "files_expiresAt_idx" ON "files"("expiresAt");
CREATE INDEX "files_orgId_userId_createdAt_id_idx" ON "files"("orgId", "userId", "createdAt", "id");

-- What is left of the events of a response once they are deleted.
CREATE TABLE "folded_responses" (
    "runId" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "events" JSON NOT NULL,

    CONSTRAINT "folded_responses_pkey" PRIMARY KEY ("runId")
);

CREATE TABLE "group_members" (
    "groupId" TEXT NOT NULL,
    "email" TEXT NOT NULL,
    "userId" TEXT,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,
    "rowBytes" INTEGER NOT NULL GENERATED ALWAYS AS (
      coalesce(octet_length("email"), 0)
    ) STORED,

    CONSTRAINT "group_members_pkey" PRIMARY KEY ("groupId", "email")
);
CREATE INDEX "group_members_userId_idx" ON "group_members"("userId");

CREATE TABLE "groups" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,
    "orgId" TEXT NOT NULL,
    "ownerUserId" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "availability" TEXT NOT NULL DEFAULT 'EVERYONE',

    CONSTRAINT "groups_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "groups_orgId_createdAt_idx" ON "groups"("orgId", "createdAt");

CREATE TABLE "idempotency_records" (
    "keyId" TEXT NOT NULL,
    "idempotencyKey" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "requestHash" TEXT NOT NULL,
    "replyStatus" INTEGER,
    "replyBody" TEXT,
    "replyHeaders" JSONB,
    "leaseUntil" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "idempotency_records_pkey" PRIMARY KEY ("keyId", "idempotencyKey")
);
CREATE INDEX "idempotency_records_createdAt_idx" ON "idempotency_records"("createdAt");

CREATE TABLE "installations" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "installations_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "invitations" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "orgId" TEXT NOT NULL,
    "email" TEXT NOT NULL,
    "role" TEXT NOT NULL,
    "groupIds" TEXT[],
    "hash" TEXT NOT NULL,
    "mailHash" TEXT,
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,
    "invitedByUserId" TEXT NOT NULL,
    "invitedByLevel" TEXT NOT NULL,
    "delivery" TEXT NOT NULL,
    "deliveryProblem" TEXT,
    "acceptedAt" TIMESTAMPTZ(3),
    "userId" TEXT,
    "revokedAt" TIMESTAMPTZ(3),
    "invitedByKeyId" TEXT,

    CONSTRAINT "invitations_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "invitations_expiresAt_idx" ON "invitations"("expiresAt");
CREATE UNIQUE INDEX "invitations_hash_key" ON "invitations"("hash");
CREATE UNIQUE INDEX "invitations_mailHash_key" ON "invitations"("mailHash");
CREATE INDEX "invitations_orgId_createdAt_idx" ON "invitations"("orgId", "createdAt");
CREATE INDEX "invitations_userId_idx" ON "invitations"("userId");

CREATE TABLE "item_embeddings" (
    "item_id" TEXT NOT NULL,
    "space" INTEGER NOT NULL,
    "generation" INTEGER NOT NULL,

    CONSTRAINT "item_embeddings_pkey" PRIMARY KEY ("item_id", "space")
);

CREATE TABLE "knowledge_items" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,
    "orgId" TEXT NOT NULL,
    "dataSourceId" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "uniqueId" TEXT NOT NULL,
    "parentUniqueId" TEXT,
    "type" TEXT NOT NULL,
    "indexStatus" TEXT NOT NULL DEFAULT 'INITIALIZED',
    "indexPercentage" INTEGER NOT NULL DEFAULT 0,
    "documentCount" INTEGER NOT NULL DEFAULT 0,
    "tokenCount" INTEGER NOT NULL DEFAULT 0,
    "contentBlobKey" TEXT,
    "documentsBlobKey" TEXT,
    "filename" TEXT,
    "mimeType" TEXT,
    "sizeBytes" BIGINT,
    "contentUrl" TEXT,
    "isContentStoredExternally" BOOLEAN NOT NULL DEFAULT false,
    "isBlobStorageDeleted" BOOLEAN NOT NULL DEFAULT false,
    "metadata" JSONB NOT NULL DEFAULT '{}',
    "cite" BOOLEAN NOT NULL DEFAULT true,
    "contentHash" TEXT,
    "liveGeneration" INTEGER,
    "errorCode" TEXT,
    "errorMessage" TEXT,
    "isRetryable" BOOLEAN NOT NULL DEFAULT false,
    "attempt" INTEGER NOT NULL DEFAULT 0,
    "leaseOwner" TEXT,
    "leaseUntil" TIMESTAMPTZ(3),
    "lastCheckedAt" TIMESTAMPTZ(3),
    "indexedAt" TIMESTAMPTZ(3),
    "isForced" BOOLEAN NOT NULL DEFAULT false,
    "isRunWanted" BOOLEAN NOT NULL DEFAULT false,
    "lastGeneration" INTEGER NOT NULL DEFAULT 0,
    "needsCleaning" BOOLEAN NOT NULL DEFAULT false,
    "changeKey" TEXT,
    "listedKey" TEXT,
    "missedRuns" INTEGER NOT NULL DEFAULT 0,
    "queuedRunId" TEXT,
    "seenRunId" TEXT,
    "rowBytes" INTEGER NOT NULL GENERATED ALWAYS AS (
      coalesce(octet_length("name"), 0) + coalesce(octet_length("uniqueId"), 0) + coalesce(octet_length("parentUniqueId"), 0) + coalesce(octet_length("filename"), 0) + coalesce(octet_length("mimeType"), 0) + coalesce(octet_length("contentUrl"), 0) + coalesce(octet_length("errorMessage"), 0) + coalesce(octet_length("metadata"::text), 0)
    ) STORED,
    "notes" JSONB NOT NULL DEFAULT '{}',
    "omissions" JSONB NOT NULL DEFAULT '[]',

    CONSTRAINT "knowledge_items_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "knowledge_items_dataSourceId_uniqueId_key" ON "knowledge_items"("dataSourceId", "uniqueId");
CREATE INDEX "knowledge_items_leaseUntil_idx" ON "knowledge_items"("leaseUntil");
CREATE INDEX "knowledge_items_needsCleaning_indexStatus_idx" ON "knowledge_items"("needsCleaning", "indexStatus");
-- The names of the documents of a source are searched in the index alone, and so are the places of a page. It has columns beside its key, which the Prisma
-- schema cannot say; a partial index is left alone there, and every row is in it.
CREATE INDEX "knowledge_items_of_source" ON "knowledge_items" ("dataSourceId", "createdAt", "id") INCLUDE ("name", "indexStatus", "rowBytes") WHERE "dataSourceId" IS NOT NULL;
CREATE INDEX "knowledge_items_states" ON "knowledge_items" ("dataSourceId", "indexStatus")
  INCLUDE ("liveGeneration", "indexPercentage", "sizeBytes", "id")
  WHERE "dataSourceId" IS NOT NULL;

CREATE TABLE "legal_holds" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "orgId" TEXT NOT NULL,
    "userId" TEXT,
    "reason" TEXT NOT NULL,
    "createdByUserId" TEXT NOT NULL,
    "endedAt" TIMESTAMPTZ(3),
    "endedByUserId" TEXT,

    CONSTRAINT "legal_holds_pkey" PRIMARY KEY ("id")
);
-- The holds that last, which every deletion looks for.
CREATE INDEX "legal_holds_lasting" ON "legal_holds" ("orgId") WHERE "endedAt" IS NULL;
CREATE INDEX "legal_holds_orgId_createdAt_id_idx" ON "legal_holds"("orgId", "createdAt", "id");

CREATE TABLE "lexeme_frequencies" (
    "config" TEXT NOT NULL,
    "term" TEXT NOT NULL COLLATE "C",
    "df" INTEGER NOT NULL,
    "data_source_id" TEXT NOT NULL,
    "key" INTEGER NOT NULL,

    CONSTRAINT "lexeme_frequencies_pkey" PRIMARY KEY ("data_source_id", "key")
) WITH (fillfactor = 60);
CREATE INDEX "lexeme_frequencies_data_source_id_term_idx" ON "lexeme_frequencies"("data_source_id", "term");

-- Keys of lexemes are numbers in the order of their first use, so those of one source lie side by side in the index of passages, and a document
-- changes few pages of it.
CREATE SEQUENCE "lexeme_keys" AS integer MINVALUE -2147483648 MAXVALUE -2 START WITH -2147483648 CYCLE;
-- Copied and dropped with the table.
ALTER SEQUENCE "lexeme_keys" OWNED BY "lexeme_frequencies"."key";

CREATE TABLE "lexeme_numberings" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "since" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "lexeme_numberings_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "lexeme_statistics" (
    "config" TEXT NOT NULL,
    "chunks" BIGINT NOT NULL,
    "sum_length" BIGINT NOT NULL,
    "data_source_id" TEXT NOT NULL,

    CONSTRAINT "lexeme_statistics_pkey" PRIMARY KEY ("data_source_id", "config")
);

CREATE TABLE "memberships" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "orgId" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    "role" TEXT NOT NULL DEFAULT 'MEMBER',

    CONSTRAINT "memberships_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "memberships_orgId_userId_key" ON "memberships"("orgId", "userId");
CREATE INDEX "memberships_userId_idx" ON "memberships"("userId");

CREATE TABLE "memories" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,
    "orgId" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    "agentId" TEXT,
    "key" TEXT,
    "text" TEXT NOT NULL,
    "config" TEXT NOT NULL,
    "searchText" TEXT NOT NULL,
    "callKey" TEXT,

    CONSTRAINT "memories_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "memories_agentId_idx" ON "memories"("agentId");
CREATE UNIQUE INDEX "memories_orgId_userId_callKey_key" ON "memories"("orgId", "userId", "callKey");
CREATE INDEX "memories_orgId_userId_createdAt_id_idx" ON "memories"("orgId", "userId", "createdAt", "id");

CREATE TABLE "message_feedback" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,
    "messageId" TEXT NOT NULL,
    "runId" TEXT,
    "chatId" TEXT NOT NULL,
    "agentId" TEXT,
    "orgId" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    "rating" TEXT NOT NULL,
    "tags" TEXT[],
    "comment" TEXT,

    CONSTRAINT "message_feedback_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "message_feedback_agentId_rating_createdAt_id_idx" ON "message_feedback"("agentId", "rating", "createdAt" DESC, "id" DESC);
CREATE UNIQUE INDEX "message_feedback_messageId_key" ON "message_feedback"("messageId");
CREATE INDEX "message_feedback_orgId_createdAt_id_idx" ON "message_feedback"("orgId", "createdAt" DESC, "id" DESC);
CREATE INDEX "message_feedback_runId_idx" ON "message_feedback"("runId");
CREATE INDEX "message_feedback_userId_createdAt_id_idx" ON "message_feedback"("userId", "createdAt" DESC, "id" DESC);

CREATE TABLE "messages" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,
    "chatId" TEXT NOT NULL,
    "ordinal" INTEGER NOT NULL,
    "role" TEXT NOT NULL,
    "content" TEXT NOT NULL,
    "parts" JSONB,
    "toolCalls" JSONB,
    "toolCallId" TEXT,
    "toolStatus" TEXT,
    "citations" JSONB,
    "runId" TEXT,
    "status" TEXT NOT NULL DEFAULT 'completed',
    "context" JSONB,
    "isHidden" BOOLEAN NOT NULL DEFAULT false,
    "compression" TEXT,
    "item" JSON,
    "rowBytes" INTEGER NOT NULL GENERATED ALWAYS AS (
      coalesce(octet_length("content"), 0) + coalesce(octet_length("parts"::text), 0) + coalesce(octet_length("toolCalls"::text), 0) + coalesce(octet_length("citations"::text), 0) + coalesce(octet_length("context"::text), 0) + coalesce(octet_length("compression"), 0) + coalesce(octet_length("item"::text), 0)
    ) STORED,
    "isActive" BOOLEAN NOT NULL DEFAULT true,
    "parentId" TEXT,

    CONSTRAINT "messages_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "messages_chatId_isActive_ordinal_idx" ON "messages"("chatId", "isActive", "ordinal");
CREATE UNIQUE INDEX "messages_chatId_ordinal_key" ON "messages"("chatId", "ordinal");
CREATE INDEX "messages_chatId_parentId_idx" ON "messages"("chatId", "parentId");
CREATE INDEX "messages_runId_idx" ON "messages"("runId");

-- The ids of the master keys that wrap a data key, in order: `id.sealed id.sealed`.
CREATE FUNCTION parley_wrapping_ids(wrapped TEXT) RETURNS TEXT[] LANGUAGE sql IMMUTABLE AS $$
  SELECT ARRAY(SELECT split_part(part, '.', 1) FROM unnest(string_to_array(wrapped, ' ')) AS part ORDER BY 1)
$$;
CREATE TABLE "organization_keys" (
    "orgId" TEXT NOT NULL,
    "createdAt" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMP(3) NOT NULL,
    "wrapped" TEXT NOT NULL,
    "masterKeyIds" TEXT[] NOT NULL GENERATED ALWAYS AS (parley_wrapping_ids("wrapped")) STORED,

    CONSTRAINT "organization_keys_pkey" PRIMARY KEY ("orgId")
);

CREATE TABLE "organizations" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,
    "tenantId" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "dataUsageTokenLimit" BIGINT,
    "apiUsageTokenLimit" BIGINT,

    CONSTRAINT "organizations_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "organizations_tenantId_idx" ON "organizations"("tenantId");

CREATE TABLE "passkey_challenges" (
    "hash" TEXT NOT NULL,
    "userId" TEXT,
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "passkey_challenges_pkey" PRIMARY KEY ("hash")
);
CREATE INDEX "passkey_challenges_expiresAt_idx" ON "passkey_challenges"("expiresAt");
CREATE INDEX "passkey_challenges_userId_idx" ON "passkey_challenges"("userId");

CREATE TABLE "passkeys" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "userId" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "credentialId" TEXT NOT NULL,
    "publicKey" TEXT NOT NULL,
    "counter" BIGINT NOT NULL,
    "transports" TEXT[],
    "isBackedUp" BOOLEAN NOT NULL,
    "lastUsedAt" TIMESTAMPTZ(3),
    "level" TEXT NOT NULL DEFAULT 'ORGANIZATION',
    "orgIds" TEXT[],

    CONSTRAINT "passkeys_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "passkeys_credentialId_key" ON "passkeys"("credentialId");
CREATE INDEX "passkeys_userId_createdAt_idx" ON "passkeys"("userId", "createdAt");

CREATE TABLE "passwords" (
    "userId" TEXT NOT NULL,
    "hash" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,
    "level" TEXT NOT NULL DEFAULT 'ORGANIZATION',
    "orgIds" TEXT[],

    CONSTRAINT "passwords_pkey" PRIMARY KEY ("userId")
);

CREATE TABLE "rate_buckets" (
    "id" TEXT NOT NULL,
    "tokens" DOUBLE PRECISION NOT NULL,
    "perMinute" DOUBLE PRECISION NOT NULL,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "rate_buckets_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "removals" (
    "orgId" TEXT NOT NULL,
    "personHash" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "removals_pkey" PRIMARY KEY ("orgId", "personHash")
);

-- Tasks that one of all instances repeats.
CREATE TABLE "repeated_tasks" (
    "id" TEXT NOT NULL,
    "nextAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "endedAt" TIMESTAMPTZ(3),
    "leaseOwner" TEXT,
    "leaseUntil" TIMESTAMPTZ(3),
    "fence" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "repeated_tasks_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "response_items" (
    "runId" TEXT NOT NULL,
    "direction" TEXT NOT NULL,
    "ordinal" INTEGER NOT NULL,
    "itemId" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    "item" JSON NOT NULL,
    "rowBytes" INTEGER NOT NULL GENERATED ALWAYS AS (
      coalesce(octet_length("item"::text), 0)
    ) STORED,

    CONSTRAINT "response_items_pkey" PRIMARY KEY ("runId", "direction", "ordinal")
);
CREATE INDEX "response_items_itemId_idx" ON "response_items"("itemId");

CREATE TABLE "run_event_batches" (
    "runId" TEXT NOT NULL,
    "firstSequence" INTEGER NOT NULL,
    "lastSequence" INTEGER NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "events" JSON NOT NULL,

    CONSTRAINT "run_event_batches_pkey" PRIMARY KEY ("runId", "firstSequence")
) PARTITION BY RANGE ("runId");

-- The partition for all ids without a partition of their own.
CREATE TABLE "run_event_batches_rest" PARTITION OF "run_event_batches" DEFAULT;

CREATE TABLE "runs" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,
    "startedAt" TIMESTAMPTZ(3),
    "endedAt" TIMESTAMPTZ(3),
    "orgId" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    "keyId" TEXT NOT NULL,
    "agentId" TEXT,
    "chatId" TEXT,
    "modelId" TEXT NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'in_progress',
    "incompleteReason" TEXT,
    "errorCode" TEXT,
    "errorMessage" TEXT,
    "request" JSON NOT NULL,
    "selection" JSONB,
    "lastSequence" INTEGER NOT NULL DEFAULT -1,
    "leaseOwner" TEXT,
    "leaseUntil" TIMESTAMPTZ(3),
    "fence" INTEGER NOT NULL DEFAULT 0,
    "attempt" INTEGER NOT NULL DEFAULT 0,
    "cancelRequestedAt" TIMESTAMPTZ(3),
    "isBackground" BOOLEAN NOT NULL DEFAULT false,
    "isSteerClosed" BOOLEAN NOT NULL DEFAULT false,
    "isWaiting" BOOLEAN NOT NULL DEFAULT false,
    "likeness" TEXT,
    "pauseRequestedAt" TIMESTAMPTZ(3),
    "pendingMessages" JSON,
    "previousId" TEXT,
    "queuePosition" INTEGER NOT NULL DEFAULT 0,
    "queuedRequests" INTEGER NOT NULL DEFAULT 1,
    "steers" JSONB NOT NULL DEFAULT '[]',
    "kind" TEXT NOT NULL DEFAULT 'chat',
    "isStored" BOOLEAN NOT NULL DEFAULT true,
    "answeredModelId" TEXT,
    "firstTokenMs" INTEGER,
    "durationMs" INTEGER,
    "inputTokens" INTEGER,
    "outputTokens" INTEGER,
    "cachedTokens" INTEGER,
    "reasoningTokens" INTEGER,
    "isEstimated" BOOLEAN NOT NULL DEFAULT false,
    "cost" DECIMAL(24,12),
    "retrieval" JSONB,
    "steps" JSONB,
    "hasFoundNothing" BOOLEAN NOT NULL DEFAULT false,
    "ratedUp" INTEGER NOT NULL DEFAULT 0,
    "ratedDown" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "runs_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "runs_by_status" ON "runs" ("orgId", "status", "createdAt", "id") WHERE "status" <> 'completed';
CREATE INDEX "runs_keyId_orgId_createdAt_id_idx" ON "runs"("keyId", "orgId", "createdAt", "id");
CREATE INDEX "runs_leased" ON "runs" ("leaseUntil") WHERE "status" = 'in_progress';
CREATE INDEX "runs_of_agent" ON "runs" ("agentId", "createdAt", "id")
  INCLUDE ("orgId", "status", "inputTokens", "outputTokens", "cachedTokens", "reasoningTokens", "cost", "ratedUp", "ratedDown", "hasFoundNothing")
  WHERE "agentId" IS NOT NULL;
CREATE INDEX "runs_of_agent_by_status" ON "runs" ("agentId", "status", "createdAt", "id") WHERE "agentId" IS NOT NULL AND "status" <> 'completed';
CREATE INDEX "runs_of_chat" ON "runs" ("chatId", "createdAt") WHERE "chatId" IS NOT NULL;
CREATE INDEX "runs_orgId_createdAt_id_idx" ON "runs" ("orgId", "createdAt", "id");
CREATE INDEX "runs_orgId_kind_createdAt_id_idx" ON "runs" ("orgId", "kind", "createdAt", "id");
CREATE INDEX "runs_orgId_modelId_createdAt_id_idx" ON "runs" ("orgId", "modelId", "createdAt", "id");
-- Questions without an answer, by agent.
CREATE INDEX "runs_unanswered" ON "runs" ("agentId", "createdAt", "id") WHERE "agentId" IS NOT NULL AND ("hasFoundNothing" OR "ratedDown" > 0);
-- Questions without an answer, of all agents of an organization.
CREATE INDEX "runs_unanswered_of_organization" ON "runs" ("orgId", "createdAt", "id") WHERE "hasFoundNothing" OR "ratedDown" > 0;
CREATE INDEX "runs_userId_orgId_createdAt_id_idx" ON "runs"("userId", "orgId", "createdAt", "id");
CREATE INDEX "runs_with_ratings" ON "runs"("orgId", "createdAt", "id") INCLUDE ("ratedUp", "ratedDown") WHERE "ratedUp" > 0 OR "ratedDown" > 0;

CREATE TABLE "schedule_runs" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "orgId" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    "scheduleId" TEXT NOT NULL,
    "dueAt" TIMESTAMPTZ(3) NOT NULL,
    "trigger" TEXT NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'PENDING',
    "runId" TEXT,
    "chatId" TEXT,
    "deliveryId" TEXT,
    "errorMessage" TEXT,
    "startedAt" TIMESTAMPTZ(3),
    "endedAt" TIMESTAMPTZ(3),

    CONSTRAINT "schedule_runs_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "schedule_runs_createdAt_idx" ON "schedule_runs"("createdAt");
-- What is not over: at most one of a schedule.
CREATE UNIQUE INDEX "schedule_runs_open" ON "schedule_runs" ("scheduleId") WHERE status IN ('PENDING', 'RUNNING');
CREATE INDEX "schedule_runs_orgId_userId_idx" ON "schedule_runs"("orgId", "userId");
CREATE INDEX "schedule_runs_scheduleId_createdAt_id_idx" ON "schedule_runs"("scheduleId", "createdAt", "id");
CREATE INDEX "schedule_runs_userId_idx" ON "schedule_runs"("userId");

CREATE TABLE "schedules" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,
    "orgId" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    "agentId" TEXT,
    "name" TEXT NOT NULL,
    "prompt" TEXT NOT NULL,
    "userInputs" JSONB NOT NULL DEFAULT '{}',
    "cron" TEXT NOT NULL,
    "timeZone" TEXT NOT NULL,
    "chatMode" TEXT NOT NULL,
    "chatId" TEXT,
    "webhookId" TEXT,
    "isEnabled" BOOLEAN NOT NULL DEFAULT true,
    "pausedReason" TEXT,
    "nextRunAt" TIMESTAMPTZ(3),
    "failures" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "schedules_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "schedules_agentId_idx" ON "schedules"("agentId");
-- What is due, by its time.
CREATE INDEX "schedules_due" ON "schedules" ("nextRunAt") WHERE "isEnabled";
CREATE INDEX "schedules_orgId_userId_createdAt_id_idx" ON "schedules"("orgId", "userId", "createdAt", "id");
CREATE INDEX "schedules_userId_idx" ON "schedules"("userId");

CREATE TABLE "scim_groups" (
    "groupId" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "externalId" TEXT,

    CONSTRAINT "scim_groups_pkey" PRIMARY KEY ("groupId")
);
CREATE INDEX "scim_groups_orgId_externalId_idx" ON "scim_groups"("orgId", "externalId");

CREATE TABLE "scim_users" (
    "orgId" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,
    "externalId" TEXT,
    "givenName" TEXT,
    "familyName" TEXT,
    "isActive" BOOLEAN NOT NULL DEFAULT true,
    "role" TEXT NOT NULL,

    CONSTRAINT "scim_users_pkey" PRIMARY KEY ("orgId", "userId")
);
CREATE INDEX "scim_users_orgId_externalId_idx" ON "scim_users"("orgId", "externalId");
CREATE INDEX "scim_users_userId_idx" ON "scim_users"("userId");

-- Items whose passages changed since they were last sent. A row is deleted once its version has been sent.
CREATE TABLE "search_index_changes" (
    "itemId" TEXT NOT NULL,
    "dataSourceId" TEXT NOT NULL,
    "version" BIGSERIAL NOT NULL,
    "changedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "search_index_changes_pkey" PRIMARY KEY ("itemId")
);
CREATE INDEX "search_index_changes_dataSourceId_idx" ON "search_index_changes"("dataSourceId");
CREATE INDEX "search_index_changes_version_idx" ON "search_index_changes"("version");

-- The copy of all passages at an OpenSearch (SEARCH_INDEX_URL): which index answers searches, which one is being built, and how far it is.
CREATE TABLE "search_indexes" (
    "id" TEXT NOT NULL,
    "serving" TEXT,
    "servingVersion" INTEGER,
    "building" TEXT,
    "buildingVersion" INTEGER,
    "buildCursor" TEXT NOT NULL DEFAULT '',
    "itemsDone" INTEGER NOT NULL DEFAULT 0,
    "itemsTotal" INTEGER NOT NULL DEFAULT 0,
    "passagesDone" BIGINT NOT NULL DEFAULT 0,
    "buildStartedAt" TIMESTAMPTZ(3),
    "builtAt" TIMESTAMPTZ(3),
    "checkCursor" TEXT NOT NULL DEFAULT '',
    "orphanCursor" TEXT NOT NULL DEFAULT '',
    "checkedAt" TIMESTAMPTZ(3),
    "leaseOwner" TEXT,
    "leaseUntil" TIMESTAMPTZ(3),
    "fence" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "search_indexes_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "sessions" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "userId" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "hash" TEXT NOT NULL,
    "method" TEXT NOT NULL,
    "lastUsedAt" TIMESTAMPTZ(3) NOT NULL,
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,
    "endedAt" TIMESTAMPTZ(3),
    "endedBy" TEXT,
    "userAgent" TEXT,
    "network" TEXT,
    "identityId" TEXT,
    "providerSessionHash" TEXT,
    "throughKeyId" TEXT,
    "level" TEXT NOT NULL DEFAULT 'ORGANIZATION',
    "passkeyId" TEXT,

    CONSTRAINT "sessions_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "sessions_expiresAt_idx" ON "sessions"("expiresAt");
CREATE UNIQUE INDEX "sessions_hash_key" ON "sessions"("hash");
CREATE INDEX "sessions_identityId_idx" ON "sessions"("identityId");
CREATE INDEX "sessions_orgId_idx" ON "sessions"("orgId");
CREATE INDEX "sessions_providerSessionHash_idx" ON "sessions"("providerSessionHash");
CREATE INDEX "sessions_userId_createdAt_idx" ON "sessions"("userId", "createdAt");

CREATE TABLE "sign_in_attempts" (
    "subject" TEXT NOT NULL,
    "count" INTEGER NOT NULL,
    "resetAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "sign_in_attempts_pkey" PRIMARY KEY ("subject")
);
CREATE INDEX "sign_in_attempts_resetAt_idx" ON "sign_in_attempts"("resetAt");

CREATE TABLE "sign_in_identities" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "userId" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "provider" TEXT NOT NULL,
    "issuer" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "email" TEXT,
    "lastUsedAt" TIMESTAMPTZ(3) NOT NULL,
    "isAdminByGroup" BOOLEAN NOT NULL DEFAULT false,
    "groupIds" TEXT[],

    CONSTRAINT "sign_in_identities_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "sign_in_identities_orgId_idx" ON "sign_in_identities"("orgId");
CREATE UNIQUE INDEX "sign_in_identities_provider_issuer_subject_key" ON "sign_in_identities"("provider", "issuer", "subject");
CREATE UNIQUE INDEX "sign_in_identities_provider_userId_key" ON "sign_in_identities"("provider", "userId");
CREATE INDEX "sign_in_identities_userId_createdAt_idx" ON "sign_in_identities"("userId", "createdAt");

CREATE TABLE "sign_in_links" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "userId" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "hash" TEXT NOT NULL,
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,
    "usedAt" TIMESTAMPTZ(3),
    "level" TEXT NOT NULL DEFAULT 'ORGANIZATION',
    "createdByKeyId" TEXT,
    "createdByUserId" TEXT,
    "membershipId" TEXT,

    CONSTRAINT "sign_in_links_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "sign_in_links_expiresAt_idx" ON "sign_in_links"("expiresAt");
CREATE UNIQUE INDEX "sign_in_links_hash_key" ON "sign_in_links"("hash");
CREATE INDEX "sign_in_links_orgId_idx" ON "sign_in_links"("orgId");
CREATE INDEX "sign_in_links_userId_idx" ON "sign_in_links"("userId");

CREATE TABLE "source_embeddings" (
    "data_source_id" TEXT NOT NULL,
    "serving_space" INTEGER,
    "attempt" INTEGER NOT NULL DEFAULT 0,
    "retry_at" TIMESTAMPTZ(3),
    "error_code" TEXT,
    "error_message" TEXT,

    CONSTRAINT "source_embeddings_pkey" PRIMARY KEY ("data_source_id")
);

CREATE TABLE "source_runs" (
    "id" TEXT NOT NULL,
    "dataSourceId" TEXT NOT NULL,
    "trigger" TEXT NOT NULL,
    "isForced" BOOLEAN NOT NULL DEFAULT false,
    "status" TEXT NOT NULL DEFAULT 'LISTING',
    "startedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "listedAt" TIMESTAMPTZ(3),
    "endedAt" TIMESTAMPTZ(3),
    "listedCount" INTEGER NOT NULL DEFAULT 0,
    "addedCount" INTEGER NOT NULL DEFAULT 0,
    "changedCount" INTEGER NOT NULL DEFAULT 0,
    "unchangedCount" INTEGER NOT NULL DEFAULT 0,
    "skippedCount" INTEGER NOT NULL DEFAULT 0,
    "removedCount" INTEGER NOT NULL DEFAULT 0,
    "heldCount" INTEGER NOT NULL DEFAULT 0,
    "failedCount" INTEGER NOT NULL DEFAULT 0,
    "isComplete" BOOLEAN NOT NULL DEFAULT false,
    "bound" TEXT,
    "errorCode" TEXT,
    "errorMessage" TEXT,
    "currentItem" TEXT,
    "place" JSONB,
    "attempt" INTEGER NOT NULL DEFAULT 0,
    "leaseOwner" TEXT,
    "leaseUntil" TIMESTAMPTZ(3),
    "fence" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "source_runs_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "source_runs_dataSourceId_startedAt_id_idx" ON "source_runs"("dataSourceId", "startedAt", "id");
CREATE INDEX "source_runs_status_leaseUntil_idx" ON "source_runs"("status", "leaseUntil");

-- How far the hourly deletion has got in a table, so that it does not read again what stays.
CREATE TABLE "sweep_places" (
    "kind" TEXT NOT NULL,
    "startedAt" TIMESTAMPTZ(3) NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "id" TEXT NOT NULL,

    CONSTRAINT "sweep_places_pkey" PRIMARY KEY ("kind")
);

CREATE TABLE "tenants" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,
    "name" TEXT NOT NULL,

    CONSTRAINT "tenants_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "usage_counters" (
    "orgId" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "used" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "usage_counters_pkey" PRIMARY KEY ("orgId", "kind")
);

CREATE TABLE "usage_days" (
    "orgId" TEXT NOT NULL,
    "day" DATE NOT NULL,
    "agentId" TEXT NOT NULL DEFAULT '',
    "dataTokens" BIGINT NOT NULL DEFAULT 0,
    "apiTokens" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "usage_days_pkey" PRIMARY KEY ("orgId", "day", "agentId")
);
CREATE INDEX "usage_days_orgId_day_idx" ON "usage_days"("orgId", "day");

CREATE TABLE "usage_entries" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "orgId" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    "keyId" TEXT,
    "agentId" TEXT,
    "runId" TEXT,
    "purpose" TEXT NOT NULL,
    "modelId" TEXT NOT NULL,
    "inputTokens" INTEGER NOT NULL,
    "outputTokens" INTEGER NOT NULL,
    "cachedTokens" INTEGER NOT NULL DEFAULT 0,
    "reasoningTokens" INTEGER NOT NULL DEFAULT 0,
    "isEstimated" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "usage_entries_pkey" PRIMARY KEY ("id")
) PARTITION BY RANGE ("id");
CREATE INDEX "usage_entries_orgId_createdAt_idx" ON "usage_entries"("orgId", "createdAt");

-- The sums by month of people, keys and agents, so that a report over half a year reads a few rows of each and not one for every day. Triggers keep them,
-- also for programs that know only the sums by day. Of models there are few: their days are enough.
CREATE TABLE "usage_months" (
    "dataTokens" BIGINT NOT NULL DEFAULT 0,
    "apiTokens" BIGINT NOT NULL DEFAULT 0,
    "month" DATE NOT NULL,
    "orgId" TEXT NOT NULL,
    "dimension" TEXT NOT NULL,
    "value" TEXT NOT NULL,

    CONSTRAINT "usage_months_pkey" PRIMARY KEY ("orgId", "dimension", "month", "value")
) PARTITION BY LIST ("dimension");
-- Rows of equal keys are in the order of the table, so a month is read page by page; in the order of the primary key each row is on another page.
CREATE INDEX "usage_months_orgId_dimension_month_idx" ON "usage_months"("orgId", "dimension", "month");
CREATE TABLE "usage_months_user" PARTITION OF "usage_months" FOR VALUES IN ('user');
CREATE TABLE "usage_months_key" PARTITION OF "usage_months" FOR VALUES IN ('key');
CREATE TABLE "usage_months_agent" PARTITION OF "usage_months" FOR VALUES IN ('agent');

CREATE TABLE "usage_reservations" (
    "owner" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "tokens" BIGINT NOT NULL,
    "leaseUntil" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "usage_reservations_pkey" PRIMARY KEY ("owner", "orgId", "kind")
);
CREATE INDEX "usage_reservations_orgId_kind_idx" ON "usage_reservations"("orgId", "kind");

CREATE TABLE "usage_sums" (
    "orgId" TEXT NOT NULL,
    "dimension" TEXT NOT NULL,
    "day" DATE NOT NULL,
    "value" TEXT NOT NULL,
    "dataTokens" BIGINT NOT NULL DEFAULT 0,
    "apiTokens" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "usage_sums_pkey" PRIMARY KEY ("orgId", "dimension", "day", "value")
);
CREATE INDEX "usage_sums_orgId_dimension_day_idx" ON "usage_sums"("orgId", "dimension", "day");

CREATE TABLE "used_tickets" (
    "id" TEXT NOT NULL,
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "used_tickets_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "used_tickets_expiresAt_idx" ON "used_tickets"("expiresAt");

CREATE TABLE "users" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,
    "tenantId" TEXT NOT NULL,
    "email" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "isOperator" BOOLEAN NOT NULL DEFAULT false,
    "emailVerifiedAt" TIMESTAMPTZ(3),

    CONSTRAINT "users_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "users_createdAt_id_idx" ON "users" ("createdAt", "id");
CREATE INDEX "users_email_idx" ON "users"("email");
CREATE INDEX "users_tenantId_createdAt_id_idx" ON "users" ("tenantId", "createdAt", "id");
CREATE UNIQUE INDEX "users_tenantId_email_key" ON "users"("tenantId", "email");

CREATE TABLE "vector_store_batch_files" (
    "batchId" TEXT NOT NULL,
    "itemId" TEXT NOT NULL,

    CONSTRAINT "vector_store_batch_files_pkey" PRIMARY KEY ("batchId", "itemId")
);
CREATE INDEX "vector_store_batch_files_itemId_idx" ON "vector_store_batch_files"("itemId");

CREATE TABLE "vector_store_file_batches" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "dataSourceId" TEXT NOT NULL,
    "cancelledAt" TIMESTAMPTZ(3),

    CONSTRAINT "vector_store_file_batches_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "vector_store_file_batches_dataSourceId_idx" ON "vector_store_file_batches"("dataSourceId");

CREATE TABLE "vector_stores" (
    "dataSourceId" TEXT NOT NULL,
    "description" TEXT NOT NULL DEFAULT '',
    "metadata" JSONB NOT NULL DEFAULT '{}',
    "expiresAfterDays" INTEGER,
    "lastActiveAt" TIMESTAMPTZ(3) NOT NULL,
    "expiresAt" TIMESTAMPTZ(3),
    "rowBytes" INTEGER NOT NULL GENERATED ALWAYS AS (
      coalesce(octet_length("description"), 0) + coalesce(octet_length("metadata"::text), 0)
    ) STORED,

    CONSTRAINT "vector_stores_pkey" PRIMARY KEY ("dataSourceId")
);
CREATE INDEX "vector_stores_expiresAt_idx" ON "vector_stores"("expiresAt");

CREATE TABLE "webhook_deliveries" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "orgId" TEXT NOT NULL,
    "webhookId" TEXT NOT NULL,
    "userId" TEXT,
    "event" TEXT NOT NULL,
    "body" TEXT NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'PENDING',
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "nextAttemptAt" TIMESTAMPTZ(3),
    "lastAttemptAt" TIMESTAMPTZ(3),
    "lastStatus" INTEGER,
    "lastBodyStart" TEXT,
    "lastError" TEXT,

    CONSTRAINT "webhook_deliveries_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "webhook_deliveries_createdAt_idx" ON "webhook_deliveries"("createdAt");
-- What waits to be sent, by its webhook: those of one that is switched off are passed over as a whole.
CREATE INDEX "webhook_deliveries_due" ON "webhook_deliveries" ("webhookId", "nextAttemptAt") WHERE status = 'PENDING';
CREATE INDEX "webhook_deliveries_orgId_userId_idx" ON "webhook_deliveries"("orgId", "userId");
CREATE INDEX "webhook_deliveries_webhookId_createdAt_idx" ON "webhook_deliveries"("webhookId", "createdAt");

CREATE TABLE "webhooks" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,
    "orgId" TEXT NOT NULL,
    "url" TEXT NOT NULL,
    "description" TEXT NOT NULL,
    "events" TEXT[],
    "agentIds" TEXT[],
    "secret" TEXT NOT NULL,
    "previousSecret" TEXT,
    "previousUntil" TIMESTAMPTZ(3),
    "isEnabled" BOOLEAN NOT NULL DEFAULT true,
    "disabledReason" TEXT,
    "failingSince" TIMESTAMPTZ(3),

    CONSTRAINT "webhooks_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "webhooks_orgId_createdAt_idx" ON "webhooks"("orgId", "createdAt");

ALTER TABLE "agent_categories" ADD CONSTRAINT "agent_categories_orgId_fkey" FOREIGN KEY ("orgId") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "agent_data_sources" ADD CONSTRAINT "agent_data_sources_agentId_fkey" FOREIGN KEY ("agentId") REFERENCES "agents"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "agent_data_sources" ADD CONSTRAINT "agent_data_sources_dataSourceId_fkey" FOREIGN KEY ("dataSourceId") REFERENCES "data_sources"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "agent_editors" ADD CONSTRAINT "agent_editors_agentId_fkey" FOREIGN KEY ("agentId") REFERENCES "agents"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "agent_flow_versions" ADD CONSTRAINT "agent_flow_versions_flowId_fkey" FOREIGN KEY ("flowId") REFERENCES "agent_flows"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "agent_flows" ADD CONSTRAINT "agent_flows_agentId_fkey" FOREIGN KEY ("agentId") REFERENCES "agents"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "agent_grants" ADD CONSTRAINT "agent_grants_agentId_fkey" FOREIGN KEY ("agentId") REFERENCES "agents"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "agent_grants" ADD CONSTRAINT "agent_grants_askedAgentId_fkey" FOREIGN KEY ("askedAgentId") REFERENCES "agents"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "agent_grants" ADD CONSTRAINT "agent_grants_connectionId_fkey" FOREIGN KEY ("connectionId") REFERENCES "connections"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "agent_grants" ADD CONSTRAINT "agent_grants_orgId_userId_fkey" FOREIGN KEY ("orgId", "userId") REFERENCES "memberships"("orgId", "userId") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "agent_groups" ADD CONSTRAINT "agent_groups_agentId_fkey" FOREIGN KEY ("agentId") REFERENCES "agents"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "agent_groups" ADD CONSTRAINT "agent_groups_groupId_fkey" FOREIGN KEY ("groupId") REFERENCES "groups"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "agent_ratings" ADD CONSTRAINT "agent_ratings_agentId_fkey" FOREIGN KEY ("agentId") REFERENCES "agents"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "agent_secrets" ADD CONSTRAINT "agent_secrets_agentId_fkey" FOREIGN KEY ("agentId") REFERENCES "agents"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "agent_skills" ADD CONSTRAINT "agent_skills_agentId_fkey" FOREIGN KEY ("agentId") REFERENCES "agents"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "agent_tool_names" ADD CONSTRAINT "agent_tool_names_agentId_fkey" FOREIGN KEY ("agentId") REFERENCES "agents"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "agent_tools" ADD CONSTRAINT "agent_tools_agentId_fkey" FOREIGN KEY ("agentId") REFERENCES "agents"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "agent_user_inputs" ADD CONSTRAINT "agent_user_inputs_agentId_fkey" FOREIGN KEY ("agentId") REFERENCES "agents"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "agent_users" ADD CONSTRAINT "agent_users_agentId_fkey" FOREIGN KEY ("agentId") REFERENCES "agents"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "agents" ADD CONSTRAINT "agents_orgId_fkey" FOREIGN KEY ("orgId") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "call_approvals" ADD CONSTRAINT "call_approvals_orgId_fkey" FOREIGN KEY ("orgId") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "chat_files" ADD CONSTRAINT "chat_files_chatId_fkey" FOREIGN KEY ("chatId") REFERENCES "chats"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "chat_reads" ADD CONSTRAINT "chat_reads_chatId_fkey" FOREIGN KEY ("chatId") REFERENCES "chats"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "chats" ADD CONSTRAINT "chats_agentId_fkey" FOREIGN KEY ("agentId") REFERENCES "agents"("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "code_states" ADD CONSTRAINT "code_states_chatId_fkey" FOREIGN KEY ("chatId") REFERENCES "chats"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "connection_attempts" ADD CONSTRAINT "connection_attempts_orgId_fkey" FOREIGN KEY ("orgId") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "connections" ADD CONSTRAINT "connections_orgId_fkey" FOREIGN KEY ("orgId") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "data_retentions" ADD CONSTRAINT "data_retentions_orgId_fkey" FOREIGN KEY ("orgId") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "data_sources" ADD CONSTRAINT "data_sources_orgId_fkey" FOREIGN KEY ("orgId") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "file_upload_parts" ADD CONSTRAINT "file_upload_parts_uploadId_fkey" FOREIGN KEY ("uploadId") REFERENCES "file_uploads"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "folded_responses" ADD CONSTRAINT "folded_responses_runId_fkey" FOREIGN KEY ("runId") REFERENCES "runs"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "group_members" ADD CONSTRAINT "group_members_groupId_fkey" FOREIGN KEY ("groupId") REFERENCES "groups"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "invitations" ADD CONSTRAINT "invitations_orgId_fkey" FOREIGN KEY ("orgId") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "item_embeddings" ADD CONSTRAINT "item_embeddings_item_id_fkey" FOREIGN KEY ("item_id") REFERENCES "knowledge_items"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "item_embeddings" ADD CONSTRAINT "item_embeddings_space_fkey" FOREIGN KEY ("space") REFERENCES "embedding_spaces"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "knowledge_items" ADD CONSTRAINT "knowledge_items_dataSourceId_fkey" FOREIGN KEY ("dataSourceId") REFERENCES "data_sources"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "memberships" ADD CONSTRAINT "memberships_orgId_fkey" FOREIGN KEY ("orgId") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "memberships" ADD CONSTRAINT "memberships_userId_fkey" FOREIGN KEY ("userId") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "memories" ADD CONSTRAINT "memories_agentId_fkey" FOREIGN KEY ("agentId") REFERENCES "agents"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "message_feedback" ADD CONSTRAINT "message_feedback_agentId_fkey" FOREIGN KEY ("agentId") REFERENCES "agents"("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "message_feedback" ADD CONSTRAINT "message_feedback_messageId_fkey" FOREIGN KEY ("messageId") REFERENCES "messages"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "messages" ADD CONSTRAINT "messages_chatId_fkey" FOREIGN KEY ("chatId") REFERENCES "chats"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "organization_keys" ADD CONSTRAINT "organization_keys_orgId_fkey" FOREIGN KEY ("orgId") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "organizations" ADD CONSTRAINT "organizations_tenantId_fkey" FOREIGN KEY ("tenantId") REFERENCES "tenants"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "passkeys" ADD CONSTRAINT "passkeys_userId_fkey" FOREIGN KEY ("userId") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "passwords" ADD CONSTRAINT "passwords_userId_fkey" FOREIGN KEY ("userId") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "removals" ADD CONSTRAINT "removals_orgId_fkey" FOREIGN KEY ("orgId") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "schedule_runs" ADD CONSTRAINT "schedule_runs_scheduleId_fkey" FOREIGN KEY ("scheduleId") REFERENCES "schedules"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "schedules" ADD CONSTRAINT "schedules_agentId_fkey" FOREIGN KEY ("agentId") REFERENCES "agents"("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "scim_groups" ADD CONSTRAINT "scim_groups_groupId_fkey" FOREIGN KEY ("groupId") REFERENCES "groups"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "scim_users" ADD CONSTRAINT "scim_users_userId_fkey" FOREIGN KEY ("userId") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "sign_in_identities" ADD CONSTRAINT "sign_in_identities_userId_fkey" FOREIGN KEY ("userId") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "source_embeddings" ADD CONSTRAINT "source_embeddings_data_source_id_fkey" FOREIGN KEY ("data_source_id") REFERENCES "data_sources"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "source_embeddings" ADD CONSTRAINT "source_embeddings_serving_space_fkey" FOREIGN KEY ("serving_space") REFERENCES "embedding_spaces"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "source_runs" ADD CONSTRAINT "source_runs_dataSourceId_fkey" FOREIGN KEY ("dataSourceId") REFERENCES "data_sources"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "users" ADD CONSTRAINT "users_tenantId_fkey" FOREIGN KEY ("tenantId") REFERENCES "tenants"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "vector_store_batch_files" ADD CONSTRAINT "vector_store_batch_files_batchId_fkey" FOREIGN KEY ("batchId") REFERENCES "vector_store_file_batches"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "vector_store_batch_files" ADD CONSTRAINT "vector_store_batch_files_itemId_fkey" FOREIGN KEY ("itemId") REFERENCES "knowledge_items"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "vector_store_file_batches" ADD CONSTRAINT "vector_store_file_batches_dataSourceId_fkey" FOREIGN KEY ("dataSourceId") REFERENCES "vector_stores"("dataSourceId") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "vector_stores" ADD CONSTRAINT "vector_stores_dataSourceId_fkey" FOREIGN KEY ("dataSourceId") REFERENCES "data_sources"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_webhookId_fkey" FOREIGN KEY ("webhookId") REFERENCES "webhooks"("id") ON DELETE CASCADE ON UPDATE CASCADE;

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

-- A run counts the ratings of its messages, also when a message is deleted with its rating.
CREATE FUNCTION parley_count_ratings() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    UPDATE "runs" SET "ratedUp" = "ratedUp" - (OLD."rating" = 'UP')::int, "ratedDown" = "ratedDown" - (OLD."rating" = 'DOWN')::int
      WHERE "id" = OLD."runId";
  END IF;
  IF TG_OP <> 'DELETE' THEN
    UPDATE "runs" SET "ratedUp" = "ratedUp" + (NEW."rating" = 'UP')::int, "ratedDown" = "ratedDown" + (NEW."rating" = 'DOWN')::int
      WHERE "id" = NEW."runId";
  END IF;
  RETURN NULL;
END $$;

-- A new chat locks the row, and so does the removal of an old one, which then sees all chats that were made before: the last chat takes the row with it.
CREATE FUNCTION parley_keep_agent_users() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'DELETE' AND NEW."agentId" IS NOT NULL AND NEW."deletedAt" IS NULL THEN
    INSERT INTO "agent_users" ("userId", "agentId") VALUES (NEW."userId", NEW."agentId")
      ON CONFLICT ("userId", "agentId") DO UPDATE SET "userId" = EXCLUDED."userId";
  END IF;
  IF TG_OP <> 'INSERT' AND OLD."agentId" IS NOT NULL AND OLD."deletedAt" IS NULL THEN
    PERFORM FROM "agent_users" WHERE "userId" = OLD."userId" AND "agentId" = OLD."agentId" FOR UPDATE;
    DELETE FROM "agent_users" WHERE "userId" = OLD."userId" AND "agentId" = OLD."agentId"
      AND NOT EXISTS (SELECT FROM "chats" WHERE "agentId" = OLD."agentId" AND "userId" = OLD."userId" AND "deletedAt" IS NULL);
  END IF;
  RETURN NULL;
END $$;

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

CREATE FUNCTION parley_keep_usage_months() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  changed RECORD;
  of_dimension TEXT;
  of_value TEXT;
  data BIGINT := 0;
  api BIGINT := 0;
BEGIN
  IF TG_OP = 'DELETE' THEN changed := OLD; ELSE changed := NEW; END IF;
  IF TG_TABLE_NAME = 'usage_days' THEN
    of_dimension := 'agent';
    of_value := changed."agentId";
  ELSE
    of_dimension := changed."dimension";
    of_value := changed."value";
    IF of_dimension = 'model' THEN RETURN NULL; END IF;
  END IF;
  IF TG_OP <> 'DELETE' THEN
    data := NEW."dataTokens";
    api := NEW."apiTokens";
  END IF;
  IF TG_OP <> 'INSERT' THEN
    data := data - OLD."dataTokens";
    api := api - OLD."apiTokens";
  END IF;
  IF TG_OP = 'DELETE' THEN
    UPDATE "usage_months" SET "dataTokens" = "dataTokens" + data, "apiTokens" = "apiTokens" + api
      WHERE "orgId" = changed."orgId" AND "dimension" = of_dimension AND "month" = date_trunc('month', changed."day")::date AND "value" = of_value;
    -- A person who was erased leaves no row behind.
    DELETE FROM "usage_months" WHERE "orgId" = changed."orgId" AND "dimension" = of_dimension
      AND "month" = date_trunc('month', changed."day")::date AND "value" = of_value AND "dataTokens" = 0 AND "apiTokens" = 0;
  ELSE
    INSERT INTO "usage_months" AS m ("orgId", "dimension", "month", "value", "dataTokens", "apiTokens")
      VALUES (changed."orgId", of_dimension, date_trunc('month', changed."day")::date, of_value, data, api)
      ON CONFLICT ("orgId", "dimension", "month", "value") DO UPDATE
        SET "dataTokens" = m."dataTokens" + excluded."dataTokens", "apiTokens" = m."apiTokens" + excluded."apiTokens";
  END IF;
  RETURN NULL;
END $$;

-- Notes the change in the transaction that makes it, whichever program makes it. Without a row in search_indexes no copy is kept, and nothing is noted.
CREATE FUNCTION parley_note_search_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  item text;
  source text;
BEGIN
  IF NOT EXISTS (SELECT FROM search_indexes) THEN
    RETURN NULL;
  END IF;
  IF TG_TABLE_NAME = 'item_embeddings' THEN
    item := NEW.item_id;
    SELECT "dataSourceId" INTO source FROM knowledge_items WHERE id = item;
  ELSIF TG_OP = 'DELETE' THEN
    item := OLD.id;
    source := OLD."dataSourceId";
  ELSE
    item := NEW.id;
    source := NEW."dataSourceId";
  END IF;
  INSERT INTO search_index_changes ("itemId", "dataSourceId") VALUES (item, coalesce(source, ''))
  ON CONFLICT ("itemId") DO UPDATE SET "version" = excluded."version";
  RETURN NULL;
END
$$;

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

CREATE FUNCTION parley_webhook_approval_wanted() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE asking RECORD;
BEGIN
  IF EXISTS (SELECT 1 FROM webhooks WHERE "orgId" = NEW."orgId") THEN
    SELECT "agentId", "chatId" INTO asking FROM runs WHERE id = NEW."runId";
    PERFORM parley_webhook_deliveries(NEW."orgId", NEW."userId", asking."agentId", 'approval.wanted', json_build_object('approvalId', NEW.id,
      'runId', NEW."runId", 'agentId', asking."agentId", 'chatId', asking."chatId", 'userId', NEW."userId", 'expiresAt', NEW."expiresAt"));
  END IF;
  RETURN NULL;
END;
$$;

-- Deliveries are written by triggers, in the transaction of what they tell, whichever statement writes it. Runs cost no further statement.
-- `person` is whose it is, for exports and erasures.
CREATE FUNCTION parley_webhook_deliveries(org TEXT, person TEXT, agent TEXT, kind TEXT, data JSON) RETURNS void LANGUAGE sql AS $$
  INSERT INTO webhook_deliveries (id, "orgId", "webhookId", "userId", event, body, "nextAttemptAt")
  -- An id as makeId writes it, of random bits only.
  SELECT 'whd_0' || (SELECT string_agg(substr('0123456789abcdefghjkmnpqrstvwxyz', 1 + (get_byte(bytes, at) & 31), 1), '' ORDER BY at)
                     FROM (SELECT uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) AS bytes, w.id) AS random, generate_series(0, 24) AS at),
    w."orgId", w.id, person, kind,
    json_build_object('type', kind, 'timestamp', to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'data', data)::text, now()
  FROM webhooks AS w
  WHERE w."orgId" = org AND w."isEnabled" AND kind = ANY (w.events)
    AND (cardinality(w."agentIds") = 0 OR agent = ANY (w."agentIds") OR kind NOT IN ('run.ended', 'approval.wanted'));
$$;

-- A limit of tokens holds for good, so each mark is passed once, until the limit is changed. The row of the counter is locked by who adds to it: of several
-- instances one passes the mark.
CREATE FUNCTION parley_webhook_limit_near() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  used_before BIGINT := 0;
  token_limit BIGINT;
  mark INTEGER;
BEGIN
  IF NOT EXISTS (SELECT 1 FROM webhooks WHERE "orgId" = NEW."orgId") THEN RETURN NULL; END IF;
  IF TG_OP = 'UPDATE' THEN used_before := OLD.used; END IF;
  SELECT CASE NEW.kind WHEN 'api' THEN "apiUsageTokenLimit" ELSE "dataUsageTokenLimit" END INTO token_limit FROM organizations WHERE id = NEW."orgId";
  FOREACH mark IN ARRAY ARRAY[95, 80] LOOP
    IF used_before * 100 < token_limit * mark AND NEW.used * 100 >= token_limit * mark THEN
      PERFORM parley_webhook_deliveries(NEW."orgId", NULL, NULL, 'limit.near',
        json_build_object('kind', NEW.kind, 'percent', mark, 'used', NEW.used, 'limit', token_limit));
      RETURN NULL;
    END IF;
  END LOOP;
  RETURN NULL;
END;
$$;

CREATE FUNCTION parley_webhook_run_ended() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM webhooks WHERE "orgId" = NEW."orgId") THEN
    PERFORM parley_webhook_deliveries(NEW."orgId", NEW."userId", NEW."agentId", 'run.ended', json_build_object('runId', NEW.id, 'status', NEW.status,
      'agentId', NEW."agentId", 'chatId', NEW."chatId", 'userId', NEW."userId", 'errorCode', NEW."errorCode"));
  END IF;
  RETURN NULL;
END;
$$;

CREATE FUNCTION parley_webhook_source_failed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE source RECORD;
BEGIN
  SELECT "orgId", "ownerUserId", id INTO source FROM data_sources WHERE id = NEW."dataSourceId";
  IF FOUND THEN
    PERFORM parley_webhook_deliveries(source."orgId", source."ownerUserId", NULL, 'source.failed',
      json_build_object('dataSourceId', source.id, 'sourceRunId', NEW.id, 'errorCode', NEW."errorCode"));
  END IF;
  RETURN NULL;
END;
$$;

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


CREATE TRIGGER parley_announce AFTER INSERT OR DELETE OR UPDATE
  ON "agent_data_sources" FOR EACH ROW WHEN (current_setting('parley.single_process', true) IS DISTINCT FROM 'on')
  EXECUTE FUNCTION parley_announce('agent-changed', 'agentId');
CREATE TRIGGER parley_announce AFTER INSERT OR DELETE OR UPDATE
  ON "agent_editors" FOR EACH ROW WHEN (current_setting('parley.single_process', true) IS DISTINCT FROM 'on')
  EXECUTE FUNCTION parley_announce('agent-changed', 'agentId');
CREATE TRIGGER parley_announce AFTER INSERT OR DELETE OR UPDATE
  ON "agent_flow_versions" FOR EACH ROW WHEN (current_setting('parley.single_process', true) IS DISTINCT FROM 'on')
  EXECUTE FUNCTION parley_announce_flow_version();

-- What runs remember of an agent says whether it has a flow or a skill that this version does not run.
CREATE TRIGGER parley_announce AFTER INSERT OR DELETE OR UPDATE
  ON "agent_flows" FOR EACH ROW WHEN (current_setting('parley.single_process', true) IS DISTINCT FROM 'on')
  EXECUTE FUNCTION parley_announce('agent-changed', 'agentId');
CREATE TRIGGER parley_announce AFTER INSERT OR DELETE OR UPDATE
  ON "agent_groups" FOR EACH ROW WHEN (current_setting('parley.single_process', true) IS DISTINCT FROM 'on')
  EXECUTE FUNCTION parley_announce('agent-changed', 'agentId');
CREATE TRIGGER parley_announce AFTER INSERT OR DELETE OR UPDATE
  ON "agent_skills" FOR EACH ROW WHEN (current_setting('parley.single_process', true) IS DISTINCT FROM 'on')
  EXECUTE FUNCTION parley_announce('agent-changed', 'agentId');
CREATE TRIGGER parley_announce AFTER INSERT OR DELETE OR UPDATE
  ON "agent_tools" FOR EACH ROW WHEN (current_setting('parley.single_process', true) IS DISTINCT FROM 'on')
  EXECUTE FUNCTION parley_announce('agent-changed', 'agentId');
CREATE TRIGGER parley_announce AFTER INSERT OR DELETE OR UPDATE
  ON "agent_user_inputs" FOR EACH ROW WHEN (current_setting('parley.single_process', true) IS DISTINCT FROM 'on')
  EXECUTE FUNCTION parley_announce('agent-changed', 'agentId');
CREATE TRIGGER parley_announce AFTER INSERT OR DELETE OR UPDATE OF
    "orgId", "userId", "name", "description", "instructions", "introduction", "seed", "src", "modelId", "visibility", "listInOrgCatalog",
    "listInPublicCatalog", "listInTenantCatalog", "isApprovedByOrg", "chatLogsVisible", "generateCitations", "intermediateStepsVisible",
    "enabledTools", "options", "profile", "publicCategories", "orgCategoryIds", "categoryId", "isDeleted"
  ON "agents" FOR EACH ROW WHEN (current_setting('parley.single_process', true) IS DISTINCT FROM 'on')
  EXECUTE FUNCTION parley_announce('agent-changed', 'id');

-- Columns that runs and requests write (lastUsedAt, messageCount, sums of ratings) are not among these.
-- The embedded database sets parley.single_process: nobody else is to be told.
CREATE TRIGGER parley_announce AFTER INSERT OR DELETE OR UPDATE OF "orgId", "userId", "scopes", "level", "hash", "expiresAt", "revokedAt"
  ON "api_keys" FOR EACH ROW WHEN (current_setting('parley.single_process', true) IS DISTINCT FROM 'on')
  EXECUTE FUNCTION parley_announce('key-changed', 'id');
CREATE TRIGGER parley_announce AFTER DELETE OR UPDATE OF "orgId", "deletingAt"
  ON "data_sources" FOR EACH ROW WHEN (current_setting('parley.single_process', true) IS DISTINCT FROM 'on')
  EXECUTE FUNCTION parley_announce('data-source-changed', 'id');
CREATE TRIGGER parley_announce AFTER INSERT OR DELETE OR UPDATE
  ON "group_members" FOR EACH ROW WHEN (current_setting('parley.single_process', true) IS DISTINCT FROM 'on')
  EXECUTE FUNCTION parley_announce('group-changed', 'groupId');
CREATE TRIGGER parley_announce AFTER INSERT OR DELETE OR UPDATE
  ON "memberships" FOR EACH ROW WHEN (current_setting('parley.single_process', true) IS DISTINCT FROM 'on')
  EXECUTE FUNCTION parley_announce('user-changed', 'userId');
CREATE TRIGGER parley_announce AFTER INSERT OR DELETE OR UPDATE
  ON "organizations" FOR EACH ROW WHEN (current_setting('parley.single_process', true) IS DISTINCT FROM 'on')
  EXECUTE FUNCTION parley_announce('organization-changed', 'id');

-- Runs of a schedule carry its id where others carry that of a key: they end with it, on every instance.
CREATE TRIGGER parley_announce AFTER DELETE OR UPDATE OF "userId"
  ON "schedules" FOR EACH ROW WHEN (current_setting('parley.single_process', true) IS DISTINCT FROM 'on')
  EXECUTE FUNCTION parley_announce('key-changed', 'id');

-- Announced as changes of keys are. Uses (lastUsedAt, expiresAt) are not among the columns.
CREATE TRIGGER parley_announce AFTER INSERT OR DELETE OR UPDATE OF "orgId", "userId", "hash", "endedAt", "endedBy"
  ON "sessions" FOR EACH ROW WHEN (current_setting('parley.single_process', true) IS DISTINCT FROM 'on')
  EXECUTE FUNCTION parley_announce('key-changed', 'id');

-- Instances drop the callers of somebody who becomes an operator, or is none any more.
CREATE TRIGGER parley_announce AFTER UPDATE OF "isOperator"
  ON "users" FOR EACH ROW WHEN (current_setting('parley.single_process', true) IS DISTINCT FROM 'on')
  EXECUTE FUNCTION parley_announce('user-changed', 'id');
CREATE TRIGGER parley_count_ratings AFTER INSERT OR DELETE OR UPDATE OF "rating", "runId" ON "message_feedback"
  FOR EACH ROW EXECUTE FUNCTION parley_count_ratings();
CREATE TRIGGER parley_keep_agent_users AFTER INSERT OR DELETE OR UPDATE OF "userId", "agentId", "deletedAt" ON "chats"
  FOR EACH ROW EXECUTE FUNCTION parley_keep_agent_users();
CREATE TRIGGER parley_keep_approval BEFORE UPDATE OF
    "name", "description", "instructions", "introduction", "seed", "modelId", "options", "enabledTools", "generateCitations", "isApprovedByOrg"
  ON "agents" FOR EACH ROW EXECUTE FUNCTION parley_keep_approval();

CREATE TRIGGER parley_keep_usage_months AFTER INSERT OR DELETE OR UPDATE OF "dataTokens", "apiTokens" ON "usage_days"
  FOR EACH ROW EXECUTE FUNCTION parley_keep_usage_months();
CREATE TRIGGER parley_keep_usage_months AFTER INSERT OR DELETE OR UPDATE OF "dataTokens", "apiTokens" ON "usage_sums"
  FOR EACH ROW EXECUTE FUNCTION parley_keep_usage_months();
CREATE TRIGGER parley_refuse_held AFTER DELETE ON "agent_flows" REFERENCING OLD TABLE AS gone FOR EACH STATEMENT
  EXECUTE FUNCTION parley_refuse_held('SELECT agent."orgId", agent."userId" FROM gone JOIN "agents" agent ON agent.id = gone."agentId"');
CREATE TRIGGER parley_refuse_held AFTER DELETE ON "agent_ratings" REFERENCING OLD TABLE AS gone FOR EACH STATEMENT
  EXECUTE FUNCTION parley_refuse_held('SELECT agent."orgId", gone."userId" FROM gone JOIN "agents" agent ON agent.id = gone."agentId"');
CREATE TRIGGER parley_refuse_held AFTER DELETE ON "agent_secrets" REFERENCING OLD TABLE AS gone FOR EACH STATEMENT
  EXECUTE FUNCTION parley_refuse_held('SELECT agent."orgId", agent."userId" FROM gone JOIN "agents" agent ON agent.id = gone."agentId" WHERE NOT gone."isDerived"');
CREATE TRIGGER parley_refuse_held AFTER DELETE ON "agent_skills" REFERENCING OLD TABLE AS gone FOR EACH STATEMENT
  EXECUTE FUNCTION parley_refuse_held('SELECT agent."orgId", agent."userId" FROM gone JOIN "agents" agent ON agent.id = gone."agentId"');
CREATE TRIGGER parley_refuse_held AFTER DELETE ON "agent_tools" REFERENCING OLD TABLE AS gone FOR EACH STATEMENT
  EXECUTE FUNCTION parley_refuse_held('SELECT agent."orgId", agent."userId" FROM gone JOIN "agents" agent ON agent.id = gone."agentId"');
CREATE TRIGGER parley_refuse_held AFTER DELETE ON "agent_user_inputs" REFERENCING OLD TABLE AS gone FOR EACH STATEMENT
  EXECUTE FUNCTION parley_refuse_held('SELECT agent."orgId", agent."userId" FROM gone JOIN "agents" agent ON agent.id = gone."agentId"');
CREATE TRIGGER parley_refuse_held AFTER DELETE ON "agents" REFERENCING OLD TABLE AS gone FOR EACH STATEMENT
  EXECUTE FUNCTION parley_refuse_held('SELECT "orgId", "userId" FROM gone');
CREATE TRIGGER parley_refuse_held AFTER DELETE ON "chat_files" REFERENCING OLD TABLE AS gone FOR EACH STATEMENT
  EXECUTE FUNCTION parley_refuse_held('SELECT chat."orgId", chat."userId" FROM gone JOIN "chats" chat ON chat.id = gone."chatId"');
CREATE TRIGGER parley_refuse_held AFTER DELETE ON "chats" REFERENCING OLD TABLE AS gone FOR EACH STATEMENT
  EXECUTE FUNCTION parley_refuse_held('SELECT "orgId", "userId" FROM gone');
CREATE TRIGGER parley_refuse_held AFTER DELETE ON "data_sources" REFERENCING OLD TABLE AS gone FOR EACH STATEMENT
  EXECUTE FUNCTION parley_refuse_held('SELECT "orgId", "ownerUserId" FROM gone WHERE "deletingAt" IS NULL');
CREATE TRIGGER parley_refuse_held AFTER DELETE ON "files" REFERENCING OLD TABLE AS gone FOR EACH STATEMENT
  EXECUTE FUNCTION parley_refuse_held('SELECT "orgId", "userId" FROM gone');
CREATE TRIGGER parley_refuse_held AFTER DELETE ON "knowledge_items" REFERENCING OLD TABLE AS gone FOR EACH STATEMENT
  EXECUTE FUNCTION parley_refuse_held('SELECT source."orgId", source."ownerUserId" FROM gone JOIN "data_sources" source ON source.id = gone."dataSourceId" WHERE source."deletingAt" IS NULL AND source."type" IN (''API'', ''FILE_UPLOAD'') AND gone."indexStatus" <> ''DELETING''');
CREATE TRIGGER parley_refuse_held AFTER DELETE ON "memories" REFERENCING OLD TABLE AS gone FOR EACH STATEMENT
  EXECUTE FUNCTION parley_refuse_held('SELECT "orgId", "userId" FROM gone');
CREATE TRIGGER parley_refuse_held AFTER DELETE ON "message_feedback" REFERENCING OLD TABLE AS gone FOR EACH STATEMENT
  EXECUTE FUNCTION parley_refuse_held('SELECT "orgId", "userId" FROM gone');
CREATE TRIGGER parley_refuse_held AFTER DELETE ON "messages" REFERENCING OLD TABLE AS gone FOR EACH STATEMENT
  EXECUTE FUNCTION parley_refuse_held('SELECT chat."orgId", chat."userId" FROM gone JOIN "chats" chat ON chat.id = gone."chatId"');
CREATE TRIGGER parley_refuse_held AFTER DELETE ON "organizations" REFERENCING OLD TABLE AS gone FOR EACH STATEMENT
  EXECUTE FUNCTION parley_refuse_held('SELECT lasting."orgId", lasting."userId" FROM gone JOIN "legal_holds" lasting ON lasting."orgId" = gone.id AND lasting."endedAt" IS NULL');
CREATE TRIGGER parley_refuse_held AFTER DELETE ON "response_items" REFERENCING OLD TABLE AS gone FOR EACH STATEMENT
  EXECUTE FUNCTION parley_refuse_held('SELECT "orgId", "userId" FROM gone');
CREATE TRIGGER parley_refuse_held AFTER DELETE ON "runs" REFERENCING OLD TABLE AS gone FOR EACH STATEMENT
  EXECUTE FUNCTION parley_refuse_held('SELECT "orgId", "userId" FROM gone');
CREATE TRIGGER parley_refuse_held AFTER DELETE ON "schedule_runs" REFERENCING OLD TABLE AS gone FOR EACH STATEMENT
  EXECUTE FUNCTION parley_refuse_held('SELECT "orgId", "userId" FROM gone');
CREATE TRIGGER parley_refuse_held AFTER DELETE ON "schedules" REFERENCING OLD TABLE AS gone FOR EACH STATEMENT
  EXECUTE FUNCTION parley_refuse_held('SELECT "orgId", "userId" FROM gone');

-- Before the row goes: its memberships go with it.
CREATE TRIGGER parley_refuse_held BEFORE DELETE ON "users" FOR EACH ROW
  EXECUTE FUNCTION parley_refuse_held('SELECT lasting."orgId", gone.id FROM gone JOIN "legal_holds" lasting ON lasting."endedAt" IS NULL AND (lasting."userId" = gone.id OR lasting."userId" IS NULL AND lasting."orgId" IN (SELECT place.id FROM parley_organizations_of(gone.id) place))');

-- A hold on a person is told by whose a row is. Handed over, the thing would be somebody's whom no hold concerns, who could delete it. A hold on the whole
-- organization keeps it whosever it is, so that one refuses nothing here.
CREATE TRIGGER parley_refuse_held_handover AFTER UPDATE OF "userId" ON "agents" FOR EACH ROW WHEN (OLD."userId" <> NEW."userId")
  EXECUTE FUNCTION parley_refuse_held('SELECT gone."orgId", gone."userId" FROM gone JOIN "legal_holds" own ON own."endedAt" IS NULL AND own."orgId" = gone."orgId" AND own."userId" = gone."userId"');
CREATE TRIGGER parley_refuse_held_handover AFTER UPDATE OF "ownerUserId" ON "data_sources" FOR EACH ROW WHEN (OLD."ownerUserId" <> NEW."ownerUserId")
  EXECUTE FUNCTION parley_refuse_held('SELECT gone."orgId", gone."ownerUserId" FROM gone JOIN "legal_holds" own ON own."endedAt" IS NULL AND own."orgId" = gone."orgId" AND own."userId" = gone."ownerUserId"');
CREATE TRIGGER parley_refuse_held_handover AFTER UPDATE OF "userId" ON "schedules" FOR EACH ROW WHEN (OLD."userId" <> NEW."userId")
  EXECUTE FUNCTION parley_refuse_held('SELECT gone."orgId", gone."userId" FROM gone JOIN "legal_holds" own ON own."endedAt" IS NULL AND own."orgId" = gone."orgId" AND own."userId" = gone."userId"');

-- Things that are hidden first, and deleted by a job or never. What was hidden before the hold began is deleted to the end. Documents of a connected source
-- follow the other service.
CREATE TRIGGER parley_refuse_held_hidden AFTER UPDATE OF "isDeleted" ON "agents" FOR EACH ROW WHEN (NEW."isDeleted" AND NOT OLD."isDeleted")
  EXECUTE FUNCTION parley_refuse_held('SELECT "orgId", "userId" FROM gone');
CREATE TRIGGER parley_refuse_held_hidden AFTER UPDATE OF "deletedAt" ON "chat_files" FOR EACH ROW WHEN (NEW."deletedAt" IS NOT NULL AND OLD."deletedAt" IS NULL AND OLD."blobKey" IS NOT NULL)
  EXECUTE FUNCTION parley_refuse_held('SELECT chat."orgId", chat."userId" FROM gone JOIN "chats" chat ON chat.id = gone."chatId" WHERE chat."deletedAt" IS NULL');
CREATE TRIGGER parley_refuse_held_hidden AFTER UPDATE OF "deletedAt" ON "chats" FOR EACH ROW WHEN (NEW."deletedAt" IS NOT NULL AND OLD."deletedAt" IS NULL)
  EXECUTE FUNCTION parley_refuse_held('SELECT "orgId", "userId" FROM gone');
CREATE TRIGGER parley_refuse_held_hidden AFTER UPDATE OF "deletingAt" ON "data_sources" FOR EACH ROW WHEN (NEW."deletingAt" IS NOT NULL AND OLD."deletingAt" IS NULL)
  EXECUTE FUNCTION parley_refuse_held('SELECT "orgId", "ownerUserId" FROM gone');
CREATE TRIGGER parley_refuse_held_hidden AFTER UPDATE OF "indexStatus" ON "knowledge_items" FOR EACH ROW WHEN (NEW."indexStatus" = 'DELETING' AND OLD."indexStatus" <> 'DELETING')
  EXECUTE FUNCTION parley_refuse_held('SELECT source."orgId", source."ownerUserId" FROM gone JOIN "data_sources" source ON source.id = gone."dataSourceId" WHERE source."deletingAt" IS NULL AND source."type" IN (''API'', ''FILE_UPLOAD'')');

-- A part of a message that is deleted: its text, or one of its calls.
CREATE TRIGGER parley_refuse_held_hidden AFTER UPDATE OF "content", "toolCalls" ON "messages" FOR EACH ROW
  WHEN (NEW."content" = '' AND OLD."content" <> '' OR jsonb_typeof(OLD."toolCalls") = 'array' AND jsonb_path_query_array(coalesce(NEW."toolCalls", '[]'), '$[*].id') <> jsonb_path_query_array(OLD."toolCalls", '$[*].id'))
  EXECUTE FUNCTION parley_refuse_held('SELECT chat."orgId", chat."userId" FROM gone JOIN "chats" chat ON chat.id = gone."chatId"');
CREATE TRIGGER parley_search_index_added AFTER INSERT ON "knowledge_items"
  FOR EACH ROW WHEN (NEW."liveGeneration" IS NOT NULL) EXECUTE FUNCTION parley_note_search_change();
CREATE TRIGGER parley_search_index_gone AFTER DELETE ON "knowledge_items"
  FOR EACH ROW WHEN (OLD."liveGeneration" IS NOT NULL) EXECUTE FUNCTION parley_note_search_change();
CREATE TRIGGER parley_search_index_live AFTER UPDATE OF "liveGeneration" ON "knowledge_items"
  FOR EACH ROW WHEN (OLD."liveGeneration" IS DISTINCT FROM NEW."liveGeneration") EXECUTE FUNCTION parley_note_search_change();

-- A row says that all passages of the item have vectors.
CREATE TRIGGER parley_search_index_vectors AFTER INSERT OR UPDATE ON "item_embeddings"
  FOR EACH ROW EXECUTE FUNCTION parley_note_search_change();
CREATE TRIGGER parley_webhook_approval_wanted AFTER INSERT ON call_approvals FOR EACH ROW EXECUTE FUNCTION parley_webhook_approval_wanted();
CREATE TRIGGER parley_webhook_limit_near AFTER INSERT OR UPDATE OF used ON usage_counters FOR EACH ROW EXECUTE FUNCTION parley_webhook_limit_near();
CREATE TRIGGER parley_webhook_run_ended AFTER UPDATE OF status ON runs FOR EACH ROW
  WHEN (OLD.status = 'in_progress' AND NEW.status <> 'in_progress') EXECUTE FUNCTION parley_webhook_run_ended();
CREATE TRIGGER parley_webhook_run_written AFTER INSERT ON runs FOR EACH ROW
  WHEN (NEW.status <> 'in_progress') EXECUTE FUNCTION parley_webhook_run_ended();
CREATE TRIGGER parley_webhook_source_failed AFTER UPDATE OF status ON source_runs FOR EACH ROW
  WHEN (OLD.status <> 'FAILED' AND NEW.status = 'FAILED') EXECUTE FUNCTION parley_webhook_source_failed();
CREATE TRIGGER parley_weigh_approval AFTER INSERT OR DELETE OR UPDATE ON "agent_data_sources" FOR EACH ROW EXECUTE FUNCTION parley_weigh_approval();
CREATE TRIGGER parley_weigh_approval AFTER INSERT OR DELETE OR UPDATE ON "agent_flow_versions" FOR EACH ROW EXECUTE FUNCTION parley_weigh_approval();
CREATE TRIGGER parley_weigh_approval AFTER INSERT OR DELETE OR UPDATE ON "agent_flows" FOR EACH ROW EXECUTE FUNCTION parley_weigh_approval();
CREATE TRIGGER parley_weigh_approval AFTER INSERT OR DELETE OR UPDATE ON "agent_skills" FOR EACH ROW EXECUTE FUNCTION parley_weigh_approval();
CREATE TRIGGER parley_weigh_approval AFTER INSERT OR DELETE OR UPDATE ON "agent_tools" FOR EACH ROW EXECUTE FUNCTION parley_weigh_approval();
CREATE TRIGGER parley_weigh_approval AFTER INSERT OR DELETE OR UPDATE ON "agent_user_inputs" FOR EACH ROW EXECUTE FUNCTION parley_weigh_approval();

-- The only row.
INSERT INTO "audit_sinks" ("id") VALUES ('audit');
-- No program finds a word of this database by the hash of the lexeme.
INSERT INTO "lexeme_numberings" ("since") VALUES (now());

-- The months of the ledger and of the audit log, this one and three to come; a job makes later ones (docs/decisions/log-tables.md). An id begins with
-- its time, so a month is a range of ids.
CREATE FUNCTION pg_temp.parley_time_of_ids(at TIMESTAMP) RETURNS TEXT LANGUAGE sql AS $$
  SELECT string_agg(substr('0123456789abcdefghjkmnpqrstvwxyz', ((extract(epoch FROM at)::bigint * 1000 >> 5 * place) & 31)::int + 1, 1), '' ORDER BY place DESC)
  FROM generate_series(0, 9) AS place
$$;
DO $$
DECLARE
  logged TEXT;
  prefix TEXT;
  month TIMESTAMP;
BEGIN
  FOR logged, prefix IN VALUES ('usage_entries', 'use_'), ('audit_entries', 'aud_') LOOP
    FOR ahead IN 0..3 LOOP
      month := date_trunc('month', now() AT TIME ZONE 'utc') + ahead * interval '1 month';
      EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (%L) TO (%L)', logged || to_char(month, '_YYYY_MM'), logged,
        prefix || pg_temp.parley_time_of_ids(month), prefix || pg_temp.parley_time_of_ids(month + interval '1 month'));
    END LOOP;
    -- What belongs to no month: a write never fails.
    EXECUTE format('CREATE TABLE %I PARTITION OF %I DEFAULT', logged || '_other', logged);
  END LOOP;
END $$;
DROP FUNCTION pg_temp.parley_time_of_ids;

-- Rules of who sees what have many branches, of which a statement takes few. PostgreSQL takes their sum for work that is worth compiling, and spends a
-- second to save milliseconds. A setting of the role in this database holds behind a pooler too, unlike one of a session.
DO $$
BEGIN
  EXECUTE format('ALTER ROLE CURRENT_USER IN DATABASE %I SET jit = off', current_database());
EXCEPTION WHEN insufficient_privilege THEN
  RAISE NOTICE 'jit stays on: this role may not change its own settings';
END $$;
