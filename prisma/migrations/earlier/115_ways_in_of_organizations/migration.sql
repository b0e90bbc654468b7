-- AlterTable
ALTER TABLE "passkeys" ADD COLUMN     "orgIds" TEXT[];

-- AlterTable
ALTER TABLE "passwords" ADD COLUMN     "orgIds" TEXT[];

-- AlterTable
ALTER TABLE "sessions" ADD COLUMN     "passkeyId" TEXT;

-- AlterTable
ALTER TABLE "users" ADD COLUMN     "emailVerifiedAt" TIMESTAMPTZ(3);

-- Ways in of before open what they opened: every organization that their person is a member of.
UPDATE "passwords" SET "orgIds" = ARRAY(SELECT "orgId" FROM "memberships" m WHERE m."userId" = "passwords"."userId");
UPDATE "passkeys" SET "orgIds" = ARRAY(SELECT "orgId" FROM "memberships" m WHERE m."userId" = "passkeys"."userId");

-- A provider of sign-ins links by an e-mail that it has verified.
UPDATE "users" SET "emailVerifiedAt" = i."createdAt"
FROM (SELECT "userId", "email", min("createdAt") AS "createdAt" FROM "sign_in_identities" GROUP BY "userId", "email") i
WHERE i."userId" = "users"."id" AND i."email" = "users"."email";
