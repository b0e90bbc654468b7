import type { DocumentPageQuery } from '../documents.ts';

export type CitedDocument = NonNullable<DocumentPageQuery['citedDocument']>;

/** The passage that the address of a document names. */
export interface WantedPassage {
  readonly passageId: string | undefined;
  readonly page: number | undefined;
  /** Where it stands in the text of the document, in UTF-16 code units. */
  readonly range: { readonly start: number; readonly end: number } | undefined;
  /** Where in it the words stand that support the answer. */
  readonly support: { readonly start: number; readonly end: number } | undefined;
  /** The address of the answer that the reader came from, with its sources open. */
  readonly back: string | undefined;
  /** Its words, where the address has them in place of numbers. */
  readonly text: string | undefined;
}

/**
 * Reads `?citation=<id>&page=<n>&passage=<start>-<end>&support=<start>-<end>&chat=<id>&answer=<id>&source=<n>`; `passage` may also be the words themselves.
 */
export function wantedPassage(search: string): WantedPassage {
  const query = new URLSearchParams(search);
  const passage = query.get('passage') ?? '';
  const page = Number(query.get('page'));
  const range = readRange(passage);
  return {
    passageId: query.get('citation') ?? undefined,
    page: Number.isInteger(page) && page > 0 ? page : undefined,
    range: range !== undefined && range.start < range.end ? range : undefined,
    support: readRange(query.get('support') ?? ''),
    back: readBack(query),
    text: range === undefined && passage.trim() !== '' ? passage : undefined,
  };
}

function readRange(text: string): { readonly start: number; readonly end: number } | undefined {
  const [, start, end] = /^(\d{1,9})-(\d{1,9})$/.exec(text) ?? [];
  return start === undefined || end === undefined ? undefined : { start: Number(start), end: Number(end) };
}

function readBack(query: URLSearchParams): string | undefined {
  const [chat, answer, source] = ['chat', 'answer', 'source'].map((name) => query.get(name) ?? '');
  if (chat === undefined || !/^\w+$/.test(chat)) return undefined;
  return `/chats/${chat}${answer === '' ? '' : `?${new URLSearchParams({ answer: answer ?? '', source: source ?? '' })}`}`;
}

/** Whether an address leads out of this service. */
export function isElsewhere(url: string): boolean {
  return /^https?:/.test(url) && !/\/api\/v1\/data-sources\/\w+\/knowledge\/\w+\/content/.test(url);
}
