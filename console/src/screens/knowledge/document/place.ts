import type { DocumentPageQuery } from '../documents.ts';

export type CitedDocument = NonNullable<DocumentPageQuery['citedDocument']>;

/** The passage that the address of a document names. */
export interface WantedPassage {
  readonly passageId: string | undefined;
  readonly page: number | undefined;
  /** Where it stands in the text of the document, in UTF-16 code units. */
  readonly range: { readonly start: number; readonly end: number } | undefined;
  /** Its words, where the address has them in place of numbers. */
  readonly text: string | undefined;
}

/** Reads `?citation=<id>&page=<n>&passage=<start>-<end>`; `passage` may also be the words themselves. */
export function wantedPassage(search: string): WantedPassage {
  const query = new URLSearchParams(search);
  const passage = query.get('passage') ?? '';
  const [, start, end] = /^(\d{1,9})-(\d{1,9})$/.exec(passage) ?? [];
  const page = Number(query.get('page'));
  const range = start === undefined || end === undefined ? undefined : { start: Number(start), end: Number(end) };
  return {
    passageId: query.get('citation') ?? undefined,
    page: Number.isInteger(page) && page > 0 ? page : undefined,
    range: range !== undefined && range.start < range.end ? range : undefined,
    text: range === undefined && passage.trim() !== '' ? passage : undefined,
  };
}

/** The part of a signed link that this service answers, under whatever name the browser knows it. */
export function ownPath(url: string): string {
  const { pathname, search } = new URL(url, location.origin);
  return pathname + search;
}

/** Whether an address leads out of this service. */
export function isElsewhere(url: string): boolean {
  return /^https?:/.test(url) && !/\/api\/v1\/data-sources\/\w+\/knowledge\/\w+\/content/.test(url);
}
