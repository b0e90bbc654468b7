-- CreateTable
CREATE TABLE "removals" (
    "orgId" TEXT NOT NULL,
    "personHash" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "removals_pkey" PRIMARY KEY ("orgId","personHash")
);

-- AddForeignKey
ALTER TABLE "removals" ADD CONSTRAINT "removals_orgId_fkey" FOREIGN KEY ("orgId") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Who signed in by a provider or was deactivated, and is no member, was removed.
INSERT INTO "removals" ("orgId", "personHash")
SELECT DISTINCT gone."orgId", hash."personHash"
FROM (
  SELECT i."orgId", i."userId" FROM "sign_in_identities" i JOIN "organizations" o ON o."id" = i."orgId"
  UNION
  SELECT s."orgId", s."userId" FROM "scim_users" s JOIN "organizations" o ON o."id" = s."orgId" WHERE NOT s."isActive"
) gone
JOIN "users" u ON u."id" = gone."userId"
CROSS JOIN LATERAL (VALUES
  (encode(sha256(convert_to('user ' || u."id", 'UTF8')), 'hex')),
  (encode(sha256(convert_to('email ' || u."email", 'UTF8')), 'hex'))
) hash("personHash")
WHERE NOT EXISTS (SELECT FROM "memberships" m WHERE m."orgId" = gone."orgId" AND m."userId" = gone."userId");
