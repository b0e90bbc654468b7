-- AlterTable
ALTER TABLE "knowledge_items" ADD COLUMN     "notes" JSONB NOT NULL DEFAULT '{}';

-- What crawls kept between the properties of a page, which people are shown.
UPDATE "knowledge_items" SET
  "notes" = (SELECT jsonb_object_agg(key, value) FROM jsonb_each("metadata") WHERE key IN ('etag', 'lastModified', 'links', 'linkScope', 'readKey')),
  "metadata" = "metadata" - ARRAY['links', 'linkScope', 'readKey']
WHERE "type" = 'WEB_URL' AND "metadata" ? 'readKey';
