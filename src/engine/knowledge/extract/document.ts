import type { Omission } from '../../../entities/knowledge/omission.ts';

/** The extracted text of a document, with its blocks. */
export interface ExtractedDocument {
  /** The title in the document; null when it has none: callers use the file's name. */
  readonly title: string | null;
  /** Determined from the content, not from the sender's declaration. */
  readonly mimeType: string;
  /** The whole text, similar to Markdown. Well-formed, without NUL, so PostgreSQL takes it; line ends are `\n`. */
  readonly text: string;
  /** In order, without overlap; together they cover every character of `text` that is not white space. */
  readonly blocks: readonly Block[];
  /** Null for formats without pages. */
  readonly pageCount: number | null;
  /** The line of the file that `text` begins with, from 1; null where the text is not that of the file line by line. */
  readonly firstLine: number | null;
  /** What the text leaves out, one entry a kind. */
  readonly omissions: readonly Omission[];
}

export const blockKinds = ['heading', 'paragraph', 'list', 'table', 'code'] as const;
export type BlockKind = (typeof blockKinds)[number];

/** A block of the text. Offsets are UTF-16 code units into `ExtractedDocument.text`, the end exclusive. */
export interface Block {
  readonly kind: BlockKind;
  /** 1 to 6 on headings, else null. */
  readonly level: number | null;
  readonly charStart: number;
  readonly charEnd: number;
  /** Counted from 1; null for formats without pages. */
  readonly page: number | null;
}

/** A document as received: a file on disk, with the sender's untrusted declarations. */
export interface DocumentSource {
  readonly path: string;
  readonly filename: string;
  readonly mimeType: string;
}

/** What is asked about bytes besides their text, and where they are. The program of the reader process knows the questions. */
export interface Question {
  readonly content: { readonly path: string } | { readonly bytes: Uint8Array };
  /** JSON. */
  readonly question: unknown;
}

/** An answer of the reader process: its members come from untrusted bytes. */
export interface Answer {
  readonly text: string;
  readonly lists: Readonly<Record<string, readonly string[]>>;
  readonly value: unknown;
}

/** The bytes of a document, with the sender's untrusted declarations. */
export interface DocumentBytes {
  readonly bytes: Uint8Array;
  readonly filename: string;
  readonly mimeType: string;
}

export interface ExtractLimits {
  /** Processor time of one document; a busy machine gives it four times that by the clock. Without the wait for a free process. */
  readonly timeoutMs: number;
  /** Resident memory that one document may add to a fresh process. */
  readonly memoryMaxBytes: number;
  /** Most UTF-16 code units of text. A document with more fails; it is never cut silently. */
  readonly textMaxChars: number;
}
