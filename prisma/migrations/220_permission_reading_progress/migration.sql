-- How far a reading of permissions is, and whether it was said that permissions are about to count no more.
ALTER TABLE "permission_readings"
  ADD COLUMN "itemCount" INTEGER NOT NULL DEFAULT 0,
  ADD COLUMN "warnedAt" TIMESTAMPTZ(3);
