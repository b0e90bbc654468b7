-- CreateTable
CREATE TABLE "agent_tool_names" (
    "agentId" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "slug" TEXT NOT NULL,
    "name" TEXT NOT NULL,

    CONSTRAINT "agent_tool_names_pkey" PRIMARY KEY ("agentId")
);

-- CreateIndex
CREATE UNIQUE INDEX "agent_tool_names_orgId_name_key" ON "agent_tool_names"("orgId", "name");

-- AddForeignKey
ALTER TABLE "agent_tool_names" ADD CONSTRAINT "agent_tool_names_agentId_fkey" FOREIGN KEY ("agentId") REFERENCES "agents"("id") ON DELETE CASCADE ON UPDATE CASCADE;
