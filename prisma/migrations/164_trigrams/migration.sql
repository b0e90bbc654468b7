-- Every three characters that follow each other in a text, in lower case. A text that contains another one, in any case, has all of its trigrams: an
-- index finds it. No extension is needed.
CREATE FUNCTION parley_trigrams(value text) RETURNS text[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT coalesce(array_agg(DISTINCT trigram), '{}') FROM (
    SELECT c || lead(c) OVER following || lead(c, 2) OVER following AS trigram
    FROM unnest(string_to_array(lower(value), NULL)) WITH ORDINALITY AS characters (c, place)
    WINDOW following AS (ORDER BY place)
  ) AS trigrams WHERE trigram IS NOT NULL
$$;
