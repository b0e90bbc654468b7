/**
 * SQL for the key of a lexeme: a hash of source, text-search configuration and term. Sources share no key, so the index list of a key holds chunks of
 * one source, and the size of other customers' sources does not matter. Two terms of one source that share a key are counted as one (one pair in a
 * vocabulary of 65,000).
 */
export function lexemeKey(dataSourceId: string, config: string, term: string): string {
  return `(hashtextextended(${dataSourceId} || ' ' || ${config} || ' ' || ${term}, 0) & 2147483647)::int`;
}
