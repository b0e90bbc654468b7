/** `query` of a list that is read by cursor, a hundred at a time: its document has `$limit: Int = 100, $cursor: String`. */
export const pageQuery = {
  limit: 'How many to return. Default 100.',
  cursor: 'The `nextCursor` of the page before.',
} as const;

/** What the connection of a row with `page: 'cursor'` selects beside its nodes. */
export const pageInfo = 'pageInfo { hasNextPage endCursor }';
