-- The first experiments stored of a cited document its id and name, without the source that decides who may open it. It is looked up where the document is
-- still there; of the others nobody is shown the name while a source is MIRRORED.
UPDATE "experiment_results" AS result
SET "details" = jsonb_set(result."details", '{citations}', (
  SELECT jsonb_agg(CASE WHEN item.id IS NULL THEN cited.value ELSE cited.value || jsonb_build_object('dataSourceId', item."dataSourceId") END ORDER BY cited.place)
  FROM jsonb_array_elements(result."details"->'citations') WITH ORDINALITY AS cited(value, place)
  LEFT JOIN "knowledge_items" AS item ON item.id = cited.value->>'itemId' AND NOT cited.value ? 'dataSourceId'))
WHERE jsonb_path_exists(result."details", '$.citations[*] ? (!exists(@.dataSourceId))');
