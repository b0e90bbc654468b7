-- Outside a transaction: "runs" may be large, and its writers must not wait. With the ratings in the index, runs that were rated up or down are counted without reading the rows.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "runs_with_ratings" ON "runs"("orgId", "createdAt", "id") INCLUDE ("ratedUp", "ratedDown") WHERE "ratedUp" > 0 OR "ratedDown" > 0;
DROP INDEX CONCURRENTLY IF EXISTS "runs_rated";
