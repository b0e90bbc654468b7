/** What readers of documents leave out of the text, for programs. `sentences` holds the words for people. */
export const omissionKinds = [
  'PAGES_WITHOUT_TEXT',
  'HIDDEN_PARTS',
  'HIDDEN_SHEETS',
  'HIDDEN_SLIDES',
  'CHARTS',
  'FORMULAS',
  'ATTACHMENTS',
  'CHAPTERS',
] as const;
export type OmissionKind = (typeof omissionKinds)[number];

/** A kind of content that the text of a document leaves out. */
export interface Omission {
  readonly kind: OmissionKind;
  /** How often; at least 1. */
  readonly count: number;
  /** How many there are in the document, such as all its pages; null where only those left out are counted. */
  readonly total: number | null;
}

type Forms = readonly [one: string, many: string];
const leftOut: Forms = ['was left out', 'were left out'];
const notRead: Forms = ['could not be read', 'could not be read'];

const sentences: Readonly<Record<OmissionKind, { readonly noun: Forms; readonly verb: Forms }>> = {
  PAGES_WITHOUT_TEXT: { noun: ['page', 'pages'], verb: ['has no text', 'have no text'] },
  HIDDEN_PARTS: { noun: ['hidden part', 'hidden parts'], verb: leftOut },
  HIDDEN_SHEETS: { noun: ['hidden sheet', 'hidden sheets'], verb: leftOut },
  HIDDEN_SLIDES: { noun: ['hidden slide', 'hidden slides'], verb: leftOut },
  CHARTS: { noun: ['chart', 'charts'], verb: leftOut },
  FORMULAS: { noun: ['formula', 'formulas'], verb: ['has no stored result', 'have no stored result'] },
  ATTACHMENTS: { noun: ['attachment', 'attachments'], verb: notRead },
  CHAPTERS: { noun: ['chapter', 'chapters'], verb: notRead },
};

/** One omission in words, without a full stop: `3 of 40 pages have no text`. */
export function omissionText({ kind, count, total }: Omission): string {
  const { noun, verb } = sentences[kind];
  const label = (total ?? count) === 1 ? noun[0] : noun[1];
  const number = total === null ? String(count) : `${count} of ${total}`;
  return `${number} ${label} ${count === 1 ? verb[0] : verb[1]}`;
}

/** The text of a document with what it leaves out, for a model that would otherwise take it for the whole. */
export function textWithOmissions(text: string, omissions: readonly Omission[]): string {
  if (omissions.length === 0) return text;
  return `${text}\n\n[Not in this text: ${omissions.map(omissionText).join('; ')}.]`;
}

/** Omissions as they were stored or sent by the process that reads documents; undefined where they are none. */
export function parseOmissions(value: unknown): readonly Omission[] | undefined {
  if (!Array.isArray(value) || !value.every(isOmission)) return undefined;
  return value.map(({ kind, count, total }) => ({ kind, count, total }));
}

function isOmission(value: unknown): value is Omission {
  const { kind, count, total } = (value ?? {}) as Record<keyof Omission, unknown>;
  return omissionKinds.some((omissionKind) => omissionKind === kind) && isCount(count) && (total === null || isCount(total));
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0;
}
