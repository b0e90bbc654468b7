-- AlterTable
ALTER TABLE "agent_secrets" ADD COLUMN     "givenByUserId" TEXT,
ADD COLUMN     "origins" TEXT[] DEFAULT ARRAY[]::TEXT[];

-- Values that are stored already may go where the tools that name them call now. A secret that this finds no origin for is asked for again.
DO $$
DECLARE
  tool RECORD;
  address TEXT[];
  origin TEXT;
BEGIN
  FOR tool IN SELECT "agentId", data FROM "agent_tools" WHERE type <> 'CLIENT_FUNCTION' AND position('{{secret:' IN data::text) > 0 LOOP
    BEGIN
      address := regexp_match(tool.data ->> 'url', '^\s*(https?)://(?:[^/?#@\\]*@)?([^/?#@\\{}\s]+)(?:[/?#]|\s*$)', 'i');
    EXCEPTION WHEN OTHERS THEN
      -- Text that PostgreSQL does not decode, such as \u0000.
      address := NULL;
    END;
    CONTINUE WHEN address IS NULL;
    origin := lower(address[1]) || '://' || regexp_replace(lower(address[2]), CASE lower(address[1]) WHEN 'http' THEN ':(80)?$' ELSE ':(443)?$' END, '');
    UPDATE "agent_secrets" s SET "origins" = array_append(s."origins", origin)
    WHERE s."agentId" = tool."agentId" AND s."sealed" IS NOT NULL AND NOT origin = ANY(s."origins")
      AND position('{{secret:' || s.key || '}}' IN tool.data::text) > 0;
  END LOOP;
END $$;
