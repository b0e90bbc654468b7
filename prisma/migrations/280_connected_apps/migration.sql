-- Clients that people connect by OAuth. The access of a client is a key of its person, whose secrets (tokens) change.
ALTER TABLE "api_keys" ADD COLUMN "clientId" TEXT, ADD COLUMN "resource" TEXT;
CREATE INDEX "api_keys_of_clients" ON "api_keys" ("userId", "createdAt" DESC, "id" DESC) WHERE "clientId" IS NOT NULL;

CREATE TABLE "oauth_clients" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "usedAt" TIMESTAMPTZ(3) NOT NULL,
    "name" TEXT NOT NULL,
    "network" TEXT,
    "metadata" JSONB,

    CONSTRAINT "oauth_clients_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "oauth_clients_usedAt_idx" ON "oauth_clients"("usedAt");

CREATE TABLE "oauth_records" (
    "hash" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "keyId" TEXT,
    "payload" JSONB NOT NULL,
    "consumedAt" TIMESTAMPTZ(3),
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "oauth_records_pkey" PRIMARY KEY ("hash"),
    CONSTRAINT "oauth_records_keyId_fkey" FOREIGN KEY ("keyId") REFERENCES "api_keys"("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "oauth_records_keyId_idx" ON "oauth_records"("keyId");
CREATE INDEX "oauth_records_expiresAt_idx" ON "oauth_records"("expiresAt");
