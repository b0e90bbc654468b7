/** A file that came with a request, complete when a resolver sees it: untrusted in every declared member. */
export interface UploadedFile {
  /** Without any path, control characters removed, at most 200 characters. */
  readonly filename: string;
  /** As the client declared it. */
  readonly mimeType: string;
  /** Counted, not declared. */
  readonly sizeBytes: number;
  /** From the first byte; may be called again. The bytes are gone once the request has been answered. */
  stream(): NodeJS.ReadableStream;
}
