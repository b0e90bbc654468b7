-- Where two subjects of one provider sign in as one user, the first one stays: an address may have been given to somebody else since.
UPDATE "sessions" SET "endedAt" = now(), "endedBy" = 'REVOKED' WHERE "endedAt" IS NULL AND "identityId" IN (
  SELECT later."id" FROM "sign_in_identities" later JOIN "sign_in_identities" first
    ON first."provider" = later."provider" AND first."userId" = later."userId" AND (first."createdAt", first."id") < (later."createdAt", later."id"));
DELETE FROM "sign_in_identities" later USING "sign_in_identities" first
  WHERE first."provider" = later."provider" AND first."userId" = later."userId" AND (first."createdAt", first."id") < (later."createdAt", later."id");

-- CreateIndex
CREATE UNIQUE INDEX "sign_in_identities_provider_userId_key" ON "sign_in_identities"("provider", "userId");
