-- Labels of a run, which everybody sees who sees the run.
ALTER TABLE "runs" ADD COLUMN "tags" TEXT[] NOT NULL DEFAULT '{}';

-- What a person narrows the list of runs to, by name.
CREATE TABLE "saved_run_filters" (
  "id" TEXT NOT NULL,
  "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "orgId" TEXT NOT NULL,
  "userId" TEXT NOT NULL,
  "name" TEXT NOT NULL,
  "query" TEXT NOT NULL,
  CONSTRAINT "saved_run_filters_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "saved_run_filters_orgId_userId_name_key" ON "saved_run_filters" ("orgId", "userId", "name");
