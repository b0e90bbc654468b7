-- CreateTable
CREATE TABLE "tenants" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,
    "name" TEXT NOT NULL,

    CONSTRAINT "tenants_pkey" PRIMARY KEY ("id")
);

-- CreateTable
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

-- CreateTable
CREATE TABLE "users" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,
    "tenantId" TEXT NOT NULL,
    "email" TEXT NOT NULL,
    "name" TEXT NOT NULL,

    CONSTRAINT "users_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "memberships" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "orgId" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    "role" TEXT NOT NULL DEFAULT 'MEMBER',

    CONSTRAINT "memberships_pkey" PRIMARY KEY ("id")
);

-- CreateTable
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

    CONSTRAINT "api_keys_pkey" PRIMARY KEY ("id")
);

-- CreateTable
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

-- CreateTable
CREATE TABLE "group_members" (
    "groupId" TEXT NOT NULL,
    "email" TEXT NOT NULL,
    "userId" TEXT,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "group_members_pkey" PRIMARY KEY ("groupId","email")
);

-- CreateTable
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

    CONSTRAINT "agents_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "agent_editors" (
    "agentId" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "agent_editors_pkey" PRIMARY KEY ("agentId","userId")
);

-- CreateTable
CREATE TABLE "agent_groups" (
    "agentId" TEXT NOT NULL,
    "groupId" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "agent_groups_pkey" PRIMARY KEY ("agentId","groupId")
);

-- CreateTable
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

    CONSTRAINT "data_sources_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "agent_data_sources" (
    "agentId" TEXT NOT NULL,
    "dataSourceId" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "agent_data_sources_pkey" PRIMARY KEY ("agentId","dataSourceId")
);

-- CreateTable
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

    CONSTRAINT "knowledge_items_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "chunks" (
    "id" BIGSERIAL NOT NULL,
    "org_id" TEXT NOT NULL,
    "data_source_id" TEXT NOT NULL,
    "item_id" TEXT NOT NULL,
    "generation" INTEGER NOT NULL,
    "ordinal" INTEGER NOT NULL,
    "title" TEXT NOT NULL,
    "heading_path" TEXT NOT NULL,
    "text" TEXT NOT NULL,
    "config" TEXT NOT NULL,
    "lexemes" tsvector NOT NULL,
    "length" INTEGER NOT NULL,
    "token_count" INTEGER NOT NULL,
    "content_hash" TEXT NOT NULL,
    "page" INTEGER,
    "char_start" INTEGER NOT NULL,
    "char_end" INTEGER NOT NULL,

    CONSTRAINT "chunks_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "lexeme_frequencies" (
    "org_id" TEXT NOT NULL,
    "config" TEXT NOT NULL,
    "term" TEXT NOT NULL,
    "df" INTEGER NOT NULL,

    CONSTRAINT "lexeme_frequencies_pkey" PRIMARY KEY ("org_id","config","term")
);

-- CreateTable
CREATE TABLE "lexeme_statistics" (
    "org_id" TEXT NOT NULL,
    "config" TEXT NOT NULL,
    "chunks" BIGINT NOT NULL,
    "sum_length" BIGINT NOT NULL,

    CONSTRAINT "lexeme_statistics_pkey" PRIMARY KEY ("org_id","config")
);

-- CreateTable
CREATE TABLE "chats" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,
    "orgId" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    "agentId" TEXT NOT NULL,
    "name" TEXT NOT NULL DEFAULT '',
    "pinPosition" INTEGER,
    "deletedAt" TIMESTAMPTZ(3),
    "activeRunId" TEXT,

    CONSTRAINT "chats_pkey" PRIMARY KEY ("id")
);

-- CreateTable
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

    CONSTRAINT "messages_pkey" PRIMARY KEY ("id")
);

-- CreateTable
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
    "request" JSONB NOT NULL,
    "usage" JSONB,
    "selection" JSONB,
    "lastSequence" INTEGER NOT NULL DEFAULT -1,
    "leaseOwner" TEXT,
    "leaseUntil" TIMESTAMPTZ(3),
    "fence" INTEGER NOT NULL DEFAULT 0,
    "attempt" INTEGER NOT NULL DEFAULT 0,
    "cancelRequestedAt" TIMESTAMPTZ(3),

    CONSTRAINT "runs_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "run_event_batches" (
    "runId" TEXT NOT NULL,
    "firstSequence" INTEGER NOT NULL,
    "lastSequence" INTEGER NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "events" JSONB NOT NULL,

    CONSTRAINT "run_event_batches_pkey" PRIMARY KEY ("runId","firstSequence")
);

-- CreateTable
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

    CONSTRAINT "usage_entries_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "idempotency_records" (
    "keyId" TEXT NOT NULL,
    "idempotencyKey" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "requestHash" TEXT NOT NULL,
    "replyStatus" INTEGER,
    "replyBody" TEXT,
    "replyHeaders" JSONB,
    "leaseUntil" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "idempotency_records_pkey" PRIMARY KEY ("keyId","idempotencyKey")
);

-- CreateIndex
CREATE INDEX "organizations_tenantId_idx" ON "organizations"("tenantId");

-- CreateIndex
CREATE UNIQUE INDEX "users_tenantId_email_key" ON "users"("tenantId", "email");

-- CreateIndex
CREATE INDEX "memberships_userId_idx" ON "memberships"("userId");

-- CreateIndex
CREATE UNIQUE INDEX "memberships_orgId_userId_key" ON "memberships"("orgId", "userId");

-- CreateIndex
CREATE UNIQUE INDEX "api_keys_hash_key" ON "api_keys"("hash");

-- CreateIndex
CREATE INDEX "api_keys_orgId_createdAt_idx" ON "api_keys"("orgId", "createdAt");

-- CreateIndex
CREATE INDEX "api_keys_userId_idx" ON "api_keys"("userId");

-- CreateIndex
CREATE INDEX "groups_orgId_createdAt_idx" ON "groups"("orgId", "createdAt");

-- CreateIndex
CREATE INDEX "group_members_userId_idx" ON "group_members"("userId");

-- CreateIndex
CREATE INDEX "agents_orgId_createdAt_id_idx" ON "agents"("orgId", "createdAt", "id");

-- CreateIndex
CREATE INDEX "agents_userId_createdAt_idx" ON "agents"("userId", "createdAt");

-- CreateIndex
CREATE INDEX "agent_editors_userId_idx" ON "agent_editors"("userId");

-- CreateIndex
CREATE INDEX "agent_groups_groupId_idx" ON "agent_groups"("groupId");

-- CreateIndex
CREATE INDEX "data_sources_orgId_createdAt_id_idx" ON "data_sources"("orgId", "createdAt", "id");

-- CreateIndex
CREATE INDEX "data_sources_ownerUserId_idx" ON "data_sources"("ownerUserId");

-- CreateIndex
CREATE INDEX "agent_data_sources_dataSourceId_idx" ON "agent_data_sources"("dataSourceId");

-- CreateIndex
CREATE INDEX "knowledge_items_dataSourceId_createdAt_id_idx" ON "knowledge_items"("dataSourceId", "createdAt", "id");

-- CreateIndex
CREATE INDEX "knowledge_items_dataSourceId_indexStatus_idx" ON "knowledge_items"("dataSourceId", "indexStatus");

-- CreateIndex
CREATE INDEX "knowledge_items_leaseUntil_idx" ON "knowledge_items"("leaseUntil");

-- CreateIndex
CREATE UNIQUE INDEX "knowledge_items_dataSourceId_uniqueId_key" ON "knowledge_items"("dataSourceId", "uniqueId");

-- CreateIndex
CREATE INDEX "chunks_lexemes_idx" ON "chunks" USING GIN ("lexemes");

-- CreateIndex
CREATE INDEX "chunks_item_id_generation_ordinal_idx" ON "chunks"("item_id", "generation", "ordinal");

-- CreateIndex
CREATE INDEX "chunks_data_source_id_idx" ON "chunks"("data_source_id");

-- CreateIndex
CREATE INDEX "chats_userId_updatedAt_id_idx" ON "chats"("userId", "updatedAt" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "chats_agentId_userId_updatedAt_id_idx" ON "chats"("agentId", "userId", "updatedAt" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "messages_runId_idx" ON "messages"("runId");

-- CreateIndex
CREATE UNIQUE INDEX "messages_chatId_ordinal_key" ON "messages"("chatId", "ordinal");

-- CreateIndex
CREATE INDEX "runs_orgId_status_idx" ON "runs"("orgId", "status");

-- CreateIndex
CREATE INDEX "runs_chatId_createdAt_idx" ON "runs"("chatId", "createdAt");

-- CreateIndex
CREATE INDEX "runs_leaseUntil_idx" ON "runs"("leaseUntil");

-- CreateIndex
CREATE INDEX "usage_entries_orgId_createdAt_idx" ON "usage_entries"("orgId", "createdAt");

-- CreateIndex
CREATE INDEX "idempotency_records_createdAt_idx" ON "idempotency_records"("createdAt");

-- AddForeignKey
ALTER TABLE "organizations" ADD CONSTRAINT "organizations_tenantId_fkey" FOREIGN KEY ("tenantId") REFERENCES "tenants"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "users" ADD CONSTRAINT "users_tenantId_fkey" FOREIGN KEY ("tenantId") REFERENCES "tenants"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "memberships" ADD CONSTRAINT "memberships_orgId_fkey" FOREIGN KEY ("orgId") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "memberships" ADD CONSTRAINT "memberships_userId_fkey" FOREIGN KEY ("userId") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "group_members" ADD CONSTRAINT "group_members_groupId_fkey" FOREIGN KEY ("groupId") REFERENCES "groups"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "agents" ADD CONSTRAINT "agents_orgId_fkey" FOREIGN KEY ("orgId") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "agent_editors" ADD CONSTRAINT "agent_editors_agentId_fkey" FOREIGN KEY ("agentId") REFERENCES "agents"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "agent_groups" ADD CONSTRAINT "agent_groups_agentId_fkey" FOREIGN KEY ("agentId") REFERENCES "agents"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "agent_groups" ADD CONSTRAINT "agent_groups_groupId_fkey" FOREIGN KEY ("groupId") REFERENCES "groups"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "data_sources" ADD CONSTRAINT "data_sources_orgId_fkey" FOREIGN KEY ("orgId") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "agent_data_sources" ADD CONSTRAINT "agent_data_sources_agentId_fkey" FOREIGN KEY ("agentId") REFERENCES "agents"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "agent_data_sources" ADD CONSTRAINT "agent_data_sources_dataSourceId_fkey" FOREIGN KEY ("dataSourceId") REFERENCES "data_sources"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "knowledge_items" ADD CONSTRAINT "knowledge_items_dataSourceId_fkey" FOREIGN KEY ("dataSourceId") REFERENCES "data_sources"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "messages" ADD CONSTRAINT "messages_chatId_fkey" FOREIGN KEY ("chatId") REFERENCES "chats"("id") ON DELETE CASCADE ON UPDATE CASCADE;
