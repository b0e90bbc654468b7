/** What a document is to the rest of the engine: its text, and where the parts of the text begin and end. */
export interface ExtractedDocument {
  /** What the document calls itself; null when it says nothing: callers fall back to the file's name. */
  readonly title: string | null;
  /** Decided from the content, never from what the sender declared. */
  readonly mimeType: string;
  /** The whole text, near Markdown. Well-formed, without NUL, so PostgreSQL takes it; line ends are `\n`. */
  readonly text: string;
  /** In order, without overlap; together they cover every character of `text` that is not white space. */
  readonly blocks: readonly Block[];
  /** Null for formats without pages. */
  readonly pageCount: number | null;
}

export const blockKinds = ['heading', 'paragraph', 'list', 'table', 'code'] as const;
export type BlockKind = (typeof blockKinds)[number];

/** A part of the text that belongs together. Offsets are UTF-16 code units into `ExtractedDocument.text`, the end exclusive. */
export interface Block {
  readonly kind: BlockKind;
  /** 1 to 6 on headings, else null. */
  readonly level: number | null;
  readonly charStart: number;
  readonly charEnd: number;
  /** Counted from 1; null for formats without pages. */
  readonly page: number | null;
}

/** A document as it came: a file on disk, and what the sender said about it (hints, never trusted). */
export interface DocumentSource {
  readonly path: string;
  readonly filename: string;
  readonly mimeType: string;
}

/** The bytes of a document, with what the sender said about them. */
export interface DocumentBytes {
  readonly bytes: Uint8Array;
  readonly filename: string;
  readonly mimeType: string;
}

export interface ExtractLimits {
  /** Wall clock for one document, in a process that is ready; waiting for a free process is not counted. */
  readonly timeoutMs: number;
  /** Resident memory that one document may add to a fresh process. */
  readonly memoryMaxBytes: number;
  /** Most UTF-16 code units of text; a document with more fails, it is never cut in silence. */
  readonly textMaxChars: number;
}
