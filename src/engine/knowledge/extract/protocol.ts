import type { Omission } from '../../../entities/knowledge/omission.ts';
import type { ExtractErrorCode } from './error.ts';

/** Parent → child. The document's bytes follow on standard input, exactly `sizeBytes` of them: the child can open no file itself. */
export interface ReadRequest {
  readonly type: 'read';
  readonly filename: string;
  readonly mimeType: string;
  readonly sizeBytes: number;
  readonly textMaxChars: number;
  /** What is asked about the bytes, in JSON; absent: the text of a document. */
  readonly question?: unknown;
}

/** Child → parent. Text and blocks are sent in parts, so that no message blocks the parent's event loop. */
export type ReaderMessage =
  | { readonly type: 'ready' }
  | { readonly type: 'text'; readonly piece: string }
  /** Five numbers for each block: index in `blockKinds`, level or 0, charStart, charEnd, page or 0. */
  | { readonly type: 'blocks'; readonly values: readonly number[] }
  | {
      readonly type: 'done';
      readonly title: string | null;
      readonly mimeType: string;
      readonly pageCount: number | null;
      readonly firstLine: number | null;
      readonly omissions: readonly Omission[];
    }
  /** Parts of the lists of an answer, by name. */
  | { readonly type: 'list'; readonly name: string; readonly values: readonly string[] }
  /** The end of an answer to a question. */
  | { readonly type: 'answered'; readonly value: unknown }
  | { readonly type: 'failed'; readonly code: ExtractErrorCode; readonly message: string };

export const blockWidth = 5;
/** The signal by which a child's watchdog ends its own process when it exceeds its memory; the signal's default action ends a process. */
export const memorySignal = 'SIGUSR2';
