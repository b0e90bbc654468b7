-- AlterTable
ALTER TABLE "api_keys" ADD COLUMN     "lentKeyId" TEXT,
ADD COLUMN     "membershipId" TEXT;

-- AlterTable
ALTER TABLE "invitations" ADD COLUMN     "invitedByKeyId" TEXT;

-- AlterTable
ALTER TABLE "sign_in_links" ADD COLUMN     "createdByKeyId" TEXT,
ADD COLUMN     "createdByUserId" TEXT,
ADD COLUMN     "membershipId" TEXT;

-- A key of somebody who is no member now is of a membership that has ended.
UPDATE "api_keys" SET "membershipId" = coalesce(
  (SELECT m."id" FROM "memberships" m WHERE m."orgId" = "api_keys"."orgId" AND m."userId" = "api_keys"."userId"), ''
);
-- Keys that were made for another person, and those that were made with them.
WITH RECURSIVE lent ("id", "root") AS (
  SELECT "id", "id" FROM "api_keys" WHERE "createdByUserId" <> "userId"
  UNION ALL
  SELECT k."id", lent."root" FROM "api_keys" k JOIN lent ON k."createdByKeyId" = lent."id" WHERE k."createdByUserId" = k."userId"
)
UPDATE "api_keys" SET "lentKeyId" = lent."root" FROM lent WHERE lent."id" = "api_keys"."id";
