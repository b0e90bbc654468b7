-- Questions without an answer, of all agents of an organization.
CREATE INDEX "runs_unanswered_of_organization" ON "runs" ("orgId", "createdAt", "id") WHERE "hasFoundNothing" OR "ratedDown" > 0;
