/** A file of a request, received completely; its declared members are untrusted. */
export interface UploadedFile {
  /** Without any path, control characters removed, at most 200 characters. */
  readonly filename: string;
  /** As the client declared it. */
  readonly mimeType: string;
  /** Counted, not declared. */
  readonly sizeBytes: number;
  /** Reads from the first byte; may be called again. The bytes are deleted after the reply. */
  stream(): NodeJS.ReadableStream;
}
