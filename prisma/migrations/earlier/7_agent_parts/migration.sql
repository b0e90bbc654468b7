-- AlterTable
ALTER TABLE "chats" ADD COLUMN     "userInputs" JSONB NOT NULL DEFAULT '{}';

-- CreateTable
CREATE TABLE "agent_tools" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,
    "agentId" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "data" JSON NOT NULL,

    CONSTRAINT "agent_tools_pkey" PRIMARY KEY ("id")
);

-- CreateTable
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

    CONSTRAINT "agent_user_inputs_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "agent_skills" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,
    "agentId" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "description" TEXT NOT NULL,
    "content" TEXT NOT NULL,
    "enabled" BOOLEAN NOT NULL DEFAULT true,

    CONSTRAINT "agent_skills_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "agent_flows" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,
    "agentId" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "enabled" BOOLEAN NOT NULL DEFAULT true,

    CONSTRAINT "agent_flows_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "agent_flow_versions" (
    "flowId" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "active" BOOLEAN NOT NULL DEFAULT false,
    "description" TEXT NOT NULL DEFAULT '',
    "data" JSON NOT NULL,

    CONSTRAINT "agent_flow_versions_pkey" PRIMARY KEY ("flowId","version")
);

-- CreateTable
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

    CONSTRAINT "agent_secrets_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "agent_tools_agentId_name_key" ON "agent_tools"("agentId", "name");

-- CreateIndex
CREATE UNIQUE INDEX "agent_user_inputs_agentId_variableName_key" ON "agent_user_inputs"("agentId", "variableName");

-- CreateIndex
CREATE UNIQUE INDEX "agent_skills_agentId_name_key" ON "agent_skills"("agentId", "name");

-- CreateIndex
CREATE UNIQUE INDEX "agent_flows_agentId_name_key" ON "agent_flows"("agentId", "name");

-- CreateIndex
CREATE UNIQUE INDEX "agent_secrets_agentId_key_key" ON "agent_secrets"("agentId", "key");

-- AddForeignKey
ALTER TABLE "agent_tools" ADD CONSTRAINT "agent_tools_agentId_fkey" FOREIGN KEY ("agentId") REFERENCES "agents"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "agent_user_inputs" ADD CONSTRAINT "agent_user_inputs_agentId_fkey" FOREIGN KEY ("agentId") REFERENCES "agents"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "agent_skills" ADD CONSTRAINT "agent_skills_agentId_fkey" FOREIGN KEY ("agentId") REFERENCES "agents"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "agent_flows" ADD CONSTRAINT "agent_flows_agentId_fkey" FOREIGN KEY ("agentId") REFERENCES "agents"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "agent_flow_versions" ADD CONSTRAINT "agent_flow_versions_flowId_fkey" FOREIGN KEY ("flowId") REFERENCES "agent_flows"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "agent_secrets" ADD CONSTRAINT "agent_secrets_agentId_fkey" FOREIGN KEY ("agentId") REFERENCES "agents"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- At most one active version of a flow.
CREATE UNIQUE INDEX "agent_flow_versions_active" ON "agent_flow_versions"("flowId") WHERE "active";
