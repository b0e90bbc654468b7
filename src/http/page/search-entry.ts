/** What the search of the header finds: a part of the manual, or an operation. */
export interface SearchEntry {
  readonly kind: 'manual' | 'rest' | 'graphql';
  readonly title: string;
  /** What the title belongs to, or what the operation does. */
  readonly detail: string;
  /** Of a page of this service. */
  readonly address: string;
  /** Further words that lead here. */
  readonly text: string;
}
