-- Rules of who sees what have many branches, of which a statement takes few. PostgreSQL takes their sum for work that is worth compiling, and spends a
-- second to save milliseconds. A setting of the role in this database holds behind a pooler too, unlike one of a session.
DO $$
BEGIN
  EXECUTE format('ALTER ROLE CURRENT_USER IN DATABASE %I SET jit = off', current_database());
EXCEPTION WHEN insufficient_privilege THEN
  RAISE NOTICE 'jit stays on: this role may not change its own settings';
END $$;
