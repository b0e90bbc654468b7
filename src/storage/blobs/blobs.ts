import type { Readable } from 'node:stream';

/** Bytes by key, in a folder or in a bucket. Keys are made by Parley (`<orgId>/<kind>/<id>`), never by a caller. */
export interface Blobs {
  /** Writes all or nothing. Returns the size and the SHA-256 in hex. @throws DomainError REQUEST_TOO_LARGE beyond `sizeBytesMax`. */
  put(
    key: string,
    content: Readable | Uint8Array,
    sizeBytesMax: number,
  ): Promise<{ readonly sizeBytes: number; readonly sha256: string }>;
  /** @throws DomainError NOT_FOUND */
  get(key: string): Promise<Readable>;
  /** @throws DomainError NOT_FOUND */
  read(key: string): Promise<Buffer>;
  /** A missing key is no error. */
  delete(key: string): Promise<void>;
  /** Keys of blobs written before a moment, in portions. Also removes the temporary files of interrupted writes from before that moment. */
  listOlder(before: Date): AsyncIterable<readonly string[]>;
  /** Deletes all blobs of an organization: every key that begins with its id. */
  deleteOrganization(orgId: string): Promise<void>;
  /** Whether anything of any organization is there. */
  holdsOrganizations(): Promise<boolean>;
  close(): Promise<void>;
}
