/**
 * The keys of lexemes: 32-bit numbers, one for each lexeme of a source in a text-search configuration. Sources share no key, so the index list of a key
 * holds chunks of one source, and the size of other customers' sources does not matter.
 *
 * A new lexeme gets the next number (`lexeme_keys`), a negative one: lexemes that come together lie side by side in the index, so a document changes few
 * of its pages. Earlier versions made keys by a hash, and so does this one until `lexeme_numberings.since`, because those versions find a lexeme by its
 * hash only. Such keys are not negative and stay: a lexeme is found by its row, whatever made its key. Hashed lexemes of one source that share a key are
 * counted as one (one pair in a vocabulary of 65,000).
 */
export const newLexemeKey = `nextval('lexeme_keys')::int`;

/** SQL: whether new lexemes get numbers by now. */
export const isNumbering = 'EXISTS (SELECT FROM lexeme_numberings WHERE since <= now())';

/** SQL for the key of a lexeme by its hash. */
export function hashedLexemeKey(dataSourceId: string, config: string, term: string): string {
  return `(hashtextextended(${dataSourceId} || ' ' || ${config} || ' ' || ${term}, 0) & 2147483647)::int`;
}

/**
 * SQL: selects the rows of a lexeme with their places in the table: one, or one for each of its keys. The bounds and the order are for the planner: it
 * expects few lexemes of a source that is new, and would read all of them with an index that lacks the term.
 */
export function lexemeRows(dataSourceId: string, config: string, term: string): string {
  return `SELECT key, df, ctid AS place FROM lexeme_frequencies
    WHERE data_source_id = ${dataSourceId} AND term >= ${term} AND term <= ${term} AND config = ${config} ORDER BY term LIMIT 4`;
}

/** SQL: selects the row of a lexeme. Should it have two keys, the one of more chunks counts, then the lower one. */
export function lexemeRow(dataSourceId: string, config: string, term: string): string {
  return `SELECT key, df, place FROM (${lexemeRows(dataSourceId, config, term)}) AS same ORDER BY df DESC, key LIMIT 1`;
}

/** SQL: the same for the lexeme that has a key. */
export function lexemeRowOfKey(dataSourceId: string, key: string): string {
  return `SELECT key, df, ctid AS place FROM lexeme_frequencies
    WHERE data_source_id = ${dataSourceId} AND lexeme_frequencies.key >= ${key} AND lexeme_frequencies.key <= ${key}
    ORDER BY lexeme_frequencies.key LIMIT 1`;
}
