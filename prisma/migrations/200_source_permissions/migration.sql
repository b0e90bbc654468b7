-- Who may open what at the source. A source is LENT, as all were before, or MIRRORED: then an item without a rule is open to nobody.
ALTER TABLE "data_sources"
  ADD COLUMN "access" TEXT NOT NULL DEFAULT 'LENT',
  ADD COLUMN "linkShared" TEXT NOT NULL DEFAULT 'HIDDEN',
  ADD COLUMN "recheck" TEXT NOT NULL DEFAULT 'NEVER';
ALTER TABLE "knowledge_items"
  ADD COLUMN "accessRuleId" INTEGER,
  ADD COLUMN "accessUnknown" JSONB;

CREATE TABLE "permission_principals" (
  "id" SERIAL PRIMARY KEY,
  "orgId" TEXT NOT NULL REFERENCES "organizations" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
  "directory" TEXT NOT NULL,
  "kind" TEXT NOT NULL,
  "key" TEXT NOT NULL,
  "name" TEXT,
  "membersReadAt" TIMESTAMPTZ(3),
  "unknown" JSONB
);
CREATE UNIQUE INDEX "permission_principals_orgId_directory_kind_key_key" ON "permission_principals" ("orgId", "directory", "kind", "key");
CREATE INDEX "permission_principals_orgId_kind_key_idx" ON "permission_principals" ("orgId", "kind", "key");

CREATE TABLE "permission_members" (
  "groupId" INTEGER NOT NULL REFERENCES "permission_principals" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
  "memberId" INTEGER NOT NULL REFERENCES "permission_principals" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
  PRIMARY KEY ("groupId", "memberId")
);
CREATE INDEX "permission_members_memberId_groupId_idx" ON "permission_members" ("memberId", "groupId");

CREATE TABLE "access_sets" (
  "id" SERIAL PRIMARY KEY,
  "dataSourceId" TEXT NOT NULL REFERENCES "data_sources" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
  "principals" INTEGER[] NOT NULL,
  "contentHash" TEXT NOT NULL
);
CREATE UNIQUE INDEX "access_sets_dataSourceId_contentHash_key" ON "access_sets" ("dataSourceId", "contentHash");
CREATE TABLE "access_set_principals" (
  "principalId" INTEGER NOT NULL REFERENCES "permission_principals" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
  "setId" INTEGER NOT NULL REFERENCES "access_sets" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
  PRIMARY KEY ("principalId", "setId")
);
CREATE INDEX "access_set_principals_setId_idx" ON "access_set_principals" ("setId");

CREATE TABLE "access_rules" (
  "id" SERIAL PRIMARY KEY,
  "dataSourceId" TEXT NOT NULL REFERENCES "data_sources" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
  "setIds" INTEGER[] NOT NULL CHECK (cardinality("setIds") > 0),
  "contentHash" TEXT NOT NULL
);
CREATE UNIQUE INDEX "access_rules_dataSourceId_contentHash_key" ON "access_rules" ("dataSourceId", "contentHash");

CREATE TABLE "permission_readings" (
  "dataSourceId" TEXT PRIMARY KEY REFERENCES "data_sources" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
  "directory" TEXT NOT NULL,
  "readAt" TIMESTAMPTZ(3),
  "fullAt" TIMESTAMPTZ(3),
  "startedAt" TIMESTAMPTZ(3),
  "state" JSONB,
  "place" JSONB,
  "missingRights" TEXT[] NOT NULL DEFAULT '{}',
  "errorCode" TEXT,
  "errorMessage" TEXT,
  "failedAt" TIMESTAMPTZ(3),
  "attempt" INTEGER NOT NULL DEFAULT 0,
  "leaseOwner" TEXT,
  "leaseUntil" TIMESTAMPTZ(3)
);
CREATE INDEX "permission_readings_directory_idx" ON "permission_readings" ("directory");

CREATE TABLE "person_accounts" (
  "connectionId" TEXT PRIMARY KEY REFERENCES "connections" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
  "userId" TEXT NOT NULL REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
  "orgId" TEXT NOT NULL REFERENCES "organizations" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
  "service" TEXT NOT NULL,
  "accountId" TEXT NOT NULL,
  "verifiedEmail" TEXT,
  "provenAt" TIMESTAMPTZ(3) NOT NULL
);
CREATE INDEX "person_accounts_userId_orgId_idx" ON "person_accounts" ("userId", "orgId");
CREATE INDEX "person_accounts_orgId_idx" ON "person_accounts" ("orgId");
