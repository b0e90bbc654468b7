// Raw SQL: vectors. A table, a function and a trigger beside the table of an extension.

/** Sketches the vectors that are there already: half a minute for a million. */
export const fillSketchesSql = `
INSERT INTO chunk_sketches (chunk_id, space, access_rule_id, sketch)
SELECT known.chunk_id, known.space, item."accessRuleId", parley_sketch(known.embedding)
FROM knowledge_items AS item JOIN chunk_embeddings AS known ON known.item_id = item.id
WHERE item."accessRuleId" IS NOT NULL AND known.embedding IS NOT NULL`;

/**
 * Sketches of vectors, by access rule: a person who opens a small part of a large source is searched by reading the sketches of that part, which stand
 * together in an index, and then the vectors of the nearest. Passages whose item has a rule have one; the rule is that of the item.
 *
 * A sketch says of each dimension which of some thresholds the number is above. The bits in which two sketches differ grow as the vectors part. The
 * thresholds divide the numbers of a vector of length 1 into parts of about the same size: more of them where there are few dimensions, so that a
 * sketch has some 600 bits or, with more dimensions, their signs.
 */
export const sketchesSql = `
DROP TABLE IF EXISTS chunk_sketches;
CREATE OR REPLACE FUNCTION parley_sketch(vector halfvec) RETURNS bit varying LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  dimensions int := vector_dims(vector);
  threshold real;
  sketch bit varying := '';
BEGIN
  FOREACH threshold IN ARRAY (CASE
    WHEN dimensions >= 512 THEN '{0}'
    WHEN dimensions >= 320 THEN '{-0.43,0.43}'
    WHEN dimensions >= 200 THEN '{-0.67,0,0.67}'
    ELSE '{-0.97,-0.43,0,0.43,0.97}'
  END)::real[] LOOP
    sketch := sketch || binary_quantize(vector - array_fill((threshold / sqrt(dimensions))::real, ARRAY[dimensions])::halfvec)::bit varying;
  END LOOP;
  RETURN sketch;
END $$;

CREATE TABLE chunk_sketches (
  chunk_id bigint NOT NULL,
  space int NOT NULL,
  access_rule_id int NOT NULL,
  sketch bit varying NOT NULL,
  PRIMARY KEY (chunk_id, space),
  FOREIGN KEY (chunk_id, space) REFERENCES chunk_embeddings (chunk_id, space) ON DELETE CASCADE
);

CREATE OR REPLACE FUNCTION parley_sketch_item() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- A database that was restored where the extension is missing has this trigger alone.
  IF to_regclass('chunk_embeddings') IS NULL THEN RETURN NULL; END IF;
  IF NEW."accessRuleId" IS NULL THEN
    DELETE FROM chunk_sketches AS sketched USING chunk_embeddings AS known
    WHERE known.item_id = NEW.id AND sketched.chunk_id = known.chunk_id AND sketched.space = known.space;
  ELSE
    INSERT INTO chunk_sketches (chunk_id, space, access_rule_id, sketch)
    SELECT known.chunk_id, known.space, NEW."accessRuleId", parley_sketch(known.embedding) FROM chunk_embeddings AS known
    WHERE known.item_id = NEW.id AND known.embedding IS NOT NULL
    ON CONFLICT (chunk_id, space) DO UPDATE SET access_rule_id = excluded.access_rule_id;
  END IF;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER parley_sketch_item AFTER UPDATE OF "accessRuleId" ON knowledge_items
  FOR EACH ROW WHEN (OLD."accessRuleId" IS DISTINCT FROM NEW."accessRuleId") EXECUTE FUNCTION parley_sketch_item();

-- Behind the trigger, which keeps rules as they are until all of this is committed.
${fillSketchesSql};

CREATE INDEX chunk_sketches_rule_idx ON chunk_sketches (space, access_rule_id) INCLUDE (chunk_id, sketch);
`;
