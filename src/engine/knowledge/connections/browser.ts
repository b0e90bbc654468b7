import type { Connection } from '../../../entities/knowledge/connection.ts';
import type { ConnectorServices } from '../connectors/connector.ts';

export const browseKinds = ['drive', 'folder', 'file', 'space', 'page', 'project', 'repository'] as const;
export type BrowseKind = (typeof browseKinds)[number];

/** Something at another service that may be added as a source, or holds such things. */
export interface BrowseEntry {
  /** What a source is added by, and what `parent` takes. */
  readonly id: string;
  readonly name: string;
  readonly kind: BrowseKind;
  /** Whether it can be a `parent`; it may still be empty. */
  readonly hasChildren: boolean;
  /** Whether a source can be made of it. */
  readonly canBeAdded: boolean;
  /** Where it lies, for people: the names from the top down to its own, with ` / ` between them, as far as the service says. */
  readonly path: string;
}

export interface BrowseQuery {
  /** The id of an entry; absent: the top. */
  readonly parent?: string | undefined;
  /** Searches by name, in everything that the connection reaches: `parent` says nothing then. */
  readonly search?: string | undefined;
  /** From the page before. */
  readonly cursor?: string | undefined;
}

export interface BrowsePage {
  readonly entries: readonly BrowseEntry[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

/** What a browser works with. */
export type BrowseServices = Pick<
  ConnectorServices,
  'settings' | 'vendors' | 'tokens' | 'installations' | 'egress' | 'logger' | 'now'
>;

/** Lists what could be added from one kind of connection, at most 100 entries a page. @throws SourceError, or the signal's reason. */
export type Browser = (
  services: BrowseServices,
  connection: Connection,
  query: BrowseQuery,
  signal: AbortSignal,
) => Promise<BrowsePage>;

/** The name of an entry in a place. */
export function joinPlace(place: string, name: string): string {
  return place === '' ? name : `${place} / ${name}`;
}
