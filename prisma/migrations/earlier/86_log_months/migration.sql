-- Reads the tables once, while others go on writing to them.
ALTER TABLE "usage_entries" VALIDATE CONSTRAINT "usage_entries_before";
ALTER TABLE "audit_entries" VALIDATE CONSTRAINT "audit_entries_before";

-- From here on nothing is read or copied: only names and bounds change. Programs of the last version go on with the same names.
CREATE FUNCTION pg_temp.parley_time_of_ids(at TIMESTAMP) RETURNS TEXT LANGUAGE sql AS $$
  SELECT string_agg(substr('0123456789abcdefghjkmnpqrstvwxyz', ((extract(epoch FROM at)::bigint * 1000 >> 5 * place) & 31)::int + 1, 1), '' ORDER BY place DESC)
  FROM generate_series(0, 9) AS place
$$;
DO $$
DECLARE
  logged TEXT;
  prefix TEXT;
  bound TEXT;
  lower_bound TEXT;
  upper_bound TEXT;
  month TIMESTAMP;
  old_index RECORD;
  given RECORD;
  is_used BOOLEAN;
BEGIN
  FOR logged, prefix IN VALUES ('usage_entries', 'use_'), ('audit_entries', 'aud_') LOOP
    EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', logged);
    SELECT substring(pg_get_constraintdef(oid) FROM '''([^'']+)''') INTO bound
    FROM pg_constraint WHERE conname = logged || '_before' AND conrelid = to_regclass(logged);
    EXECUTE format('SELECT EXISTS (SELECT FROM %I)', logged) INTO is_used;
    EXECUTE format('ALTER TABLE %I RENAME TO %I', logged, logged || '_before');
    EXECUTE format(
      'CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING GENERATED INCLUDING STORAGE) PARTITION BY RANGE ("id")', logged, logged || '_before');
    FOR old_index IN
      SELECT relname AS name, indisprimary AS is_primary,
        replace(pg_get_indexdef(indexrelid), format(' ON %s.%I ', n.nspname, logged || '_before'), format(' ON %s.%I ', n.nspname, logged)) AS definition
      FROM pg_index JOIN pg_class c ON c.oid = indexrelid JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE indrelid = to_regclass(logged || '_before') ORDER BY relname
    LOOP
      EXECUTE format('ALTER INDEX %I RENAME TO %I', old_index.name, left(old_index.name, 56) || '_before');
      IF old_index.is_primary THEN
        EXECUTE format('ALTER TABLE %I ADD CONSTRAINT %I PRIMARY KEY ("id")', logged, old_index.name);
      ELSE
        EXECUTE old_index.definition;
      END IF;
    END LOOP;
    FOR given IN
      SELECT CASE WHEN grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END AS grantee, privilege_type
      FROM pg_class, aclexplode(relacl) WHERE oid = to_regclass(logged || '_before') AND grantee <> relowner
    LOOP
      EXECUTE format('GRANT %s ON %I TO %s', given.privilege_type, logged, given.grantee);
    END LOOP;
    IF is_used THEN
      EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (MINVALUE) TO (%L)', logged, logged || '_before', bound);
      EXECUTE format('ALTER TABLE %I DROP CONSTRAINT %I', logged || '_before', logged || '_before');
    ELSE
      EXECUTE format('DROP TABLE %I', logged || '_before');
    END IF;
    FOR ahead IN 0..3 LOOP
      month := date_trunc('month', now() AT TIME ZONE 'utc') + ahead * interval '1 month';
      lower_bound := prefix || pg_temp.parley_time_of_ids(month);
      upper_bound := prefix || pg_temp.parley_time_of_ids(month + interval '1 month');
      CONTINUE WHEN is_used AND lower_bound < bound;
      EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (%L) TO (%L)', logged || to_char(month, '_YYYY_MM'), logged, lower_bound, upper_bound);
    END LOOP;
    -- What belongs to no month: a write never fails.
    EXECUTE format('CREATE TABLE %I PARTITION OF %I DEFAULT', logged || '_other', logged);
  END LOOP;
END $$;
DROP FUNCTION pg_temp.parley_time_of_ids;
