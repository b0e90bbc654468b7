import type { IncomingMessage } from 'node:http';
import { DomainError, type PublicError } from '../entities/ground/errors.ts';
import type { FaultNotes } from '../entities/ground/fault-notes.ts';

/** Clients of a format that names its version, and carries the key, in headers of its own. */
export interface HeaderClient {
  readonly versionHeader: string;
  readonly versions: readonly string[];
  /** Holds the key instead of `Authorization`, which wins. */
  readonly keyHeader: string;
  /** A route that other clients use too: these are those that send the header of the version. */
  readonly isOptional?: true;
  /** The header of replies that names the request. */
  readonly requestIdHeader: string;
  readonly errorForm: (shownError: PublicError) => PublicError;
  /** The reply of a route that other clients use too. */
  readonly encode?: (value: never, query: URLSearchParams, faults: FaultNotes) => object;
}

export function isOf(client: HeaderClient | undefined, { headers }: Pick<IncomingMessage, 'headers'>): client is HeaderClient {
  return client !== undefined && (client.isOptional !== true || headers[client.versionHeader] !== undefined);
}

/** Puts the key where every other request has it. */
export function readKeyHeader({ keyHeader }: HeaderClient, { headers }: IncomingMessage): void {
  const key = headers[keyHeader];
  // Some clients send the header empty where they have no token.
  if (typeof key === 'string' && (headers.authorization ?? '').trim() === '') headers.authorization = `Bearer ${key}`;
}

/** @throws DomainError UNSUPPORTED_VALUE for a version that is not spoken. A request without one is of the newest. */
export function requireVersion({ versionHeader, versions }: HeaderClient, { headers }: IncomingMessage): void {
  const version = headers[versionHeader];
  if (version === undefined || versions.includes(String(version))) return;
  const message = `${versionHeader} must be one of ${versions.join(', ')}`;
  throw new DomainError('UNSUPPORTED_VALUE', message, { param: versionHeader, allowed: { enum: versions } });
}
