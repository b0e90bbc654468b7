-- Clients that organizations registered by hand at the authorization servers of MCP servers. Their members sign in with them.
CREATE TABLE "mcp_oauth_clients" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,
    "orgId" TEXT NOT NULL,
    "url" TEXT NOT NULL,
    "issuer" TEXT NOT NULL,
    "clientId" TEXT NOT NULL,
    "hasSecret" BOOLEAN NOT NULL,
    "sealed" TEXT NOT NULL,
    "scopes" TEXT[],

    CONSTRAINT "mcp_oauth_clients_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "mcp_oauth_clients_orgId_fkey" FOREIGN KEY ("orgId") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE UNIQUE INDEX "mcp_oauth_clients_orgId_url_key" ON "mcp_oauth_clients"("orgId", "url");
CREATE INDEX "mcp_oauth_clients_orgId_createdAt_id_idx" ON "mcp_oauth_clients"("orgId", "createdAt", "id");
