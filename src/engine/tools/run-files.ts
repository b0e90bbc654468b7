import type { OutputFile } from '../../entities/conversations/runs/tool.ts';

/** The files of the run's chat. A stateless run has those of its own calls only, in memory. */
export interface RunFiles {
  list(signal: AbortSignal): Promise<readonly RunFile[]>;
  /** @throws DomainError NOT_FOUND for a file of another chat; REQUEST_TOO_LARGE above `bytesMax`. */
  read(file: Pick<RunFile, 'id'>, bytesMax: number, signal: AbortSignal): Promise<Buffer>;
  /**
   * Stores a file that a tool made, as a chat file with the source SYSTEM. The name is made safe and unique in the chat.
   *
   * @param key  of the call: storing again under the same key and name stores nothing twice.
   * @throws DomainError CONFLICT when the chat has as many files as it may; REQUEST_TOO_LARGE.
   */
  save(file: NewRunFile, key: string, signal: AbortSignal): Promise<OutputFile>;
  /**
   * Gives a file that a tool made new bytes under its id and name; the bytes before are deleted. A file of a person is not changed: the bytes
   * become a new file, as with `save`.
   *
   * @throws as `read` and `save`.
   */
  replace(file: RunFile, bytes: Buffer, key: string, signal: AbortSignal): Promise<OutputFile>;
}

export interface RunFile {
  /** The id of the chat file; its name in a stateless run. */
  readonly id: string;
  readonly filename: string;
  readonly mimeType: string;
  readonly sizeBytes: number;
  /** The key of the call that made it, or last replaced its bytes; null for a file of a person. */
  readonly madeBy: string | null;
}

export interface NewRunFile {
  readonly filename: string;
  readonly mimeType: string;
  readonly bytes: Buffer;
}
