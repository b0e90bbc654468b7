-- Outside a transaction: "usage_sums" may be large, and writers of the ledger must not wait. In this index a day is in the order of the table, page by page.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "usage_sums_orgId_dimension_day_idx" ON "usage_sums"("orgId", "dimension", "day");
