-- The index of the migration before replaces it. An index of a partitioned table cannot be dropped concurrently.
DROP INDEX "audit_entries_by_targets";
