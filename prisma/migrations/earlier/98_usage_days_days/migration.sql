-- Outside a transaction: "usage_days" may be large, and writers of the ledger must not wait. In this index a day is in the order of the table, page by page.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "usage_days_orgId_day_idx" ON "usage_days"("orgId", "day");
