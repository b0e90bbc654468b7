-- The ledger and the audit log become tables of months (docs/decisions/log-tables.md). Migration 86 makes the present table the partition of everything
-- before a bound. An id begins with its time, so the bound is an id: the first of the third month from now. This migration only promises that the ids
-- are below it: nothing is read, and writers wait for a moment.
CREATE FUNCTION pg_temp.parley_time_of_ids(at TIMESTAMP) RETURNS TEXT LANGUAGE sql AS $$
  SELECT string_agg(substr('0123456789abcdefghjkmnpqrstvwxyz', ((extract(epoch FROM at)::bigint * 1000 >> 5 * place) & 31)::int + 1, 1), '' ORDER BY place DESC)
  FROM generate_series(0, 9) AS place
$$;
DO $$
DECLARE
  bound TEXT := pg_temp.parley_time_of_ids(date_trunc('month', now() AT TIME ZONE 'utc') + interval '3 months');
BEGIN
  EXECUTE format('ALTER TABLE "usage_entries" ADD CONSTRAINT "usage_entries_before" CHECK ("id" < %L) NOT VALID', 'use_' || bound);
  EXECUTE format('ALTER TABLE "audit_entries" ADD CONSTRAINT "audit_entries_before" CHECK ("id" < %L) NOT VALID', 'aud_' || bound);
END $$;
DROP FUNCTION pg_temp.parley_time_of_ids;

-- How far the hourly deletion has got in a table, so that it does not read again what stays.
CREATE TABLE "sweep_places" (
    "kind" TEXT NOT NULL,
    "startedAt" TIMESTAMPTZ(3) NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "id" TEXT NOT NULL,

    CONSTRAINT "sweep_places_pkey" PRIMARY KEY ("kind")
);

-- Tasks that one of all instances repeats.
CREATE TABLE "repeated_tasks" (
    "id" TEXT NOT NULL,
    "nextAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "endedAt" TIMESTAMPTZ(3),
    "leaseOwner" TEXT,
    "leaseUntil" TIMESTAMPTZ(3),
    "fence" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "repeated_tasks_pkey" PRIMARY KEY ("id")
);
