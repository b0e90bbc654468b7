import { membersOf, readStringMembers, readStrings } from '../../../../lib/json/json.ts';

/** What a reading has come to. */
export interface GraphProgress {
  /** Where the changes go on, by drive: '' is the one that the source names. '' as a value: Graph tells none. */
  readonly links: Readonly<Record<string, string>>;
  /** Who may open whole drives, by drive: of that, changes do not always tell. */
  readonly rootHashes: Readonly<Record<string, string>>;
  readonly groupIds: readonly string[];
}

/** What a reading of permissions leaves for the next one. */
export interface GraphSharingState extends GraphProgress {
  /** The folder that each folder of the source lies in: what is moved inherits from elsewhere. */
  readonly folders: Readonly<Record<string, string>>;
  readonly areFoldersTooMany: boolean;
  /** When everything was read last, and the members of groups: ISO 8601. */
  readonly fullAt: string;
  readonly groupsAt: string;
  readonly missingRights: readonly string[];
}

/** Where a reading of everything is. */
export interface GraphSharingPlace extends GraphProgress {
  /** The item that was told of last; items come in the order of their ids. */
  readonly after: string;
}

export function readPlace(value: unknown): GraphSharingPlace | undefined {
  const { after } = membersOf(value);
  return typeof after === 'string' ? { after, ...readProgress(value) } : undefined;
}

export function readGraphState(value: unknown): GraphSharingState | undefined {
  const { folders, areFoldersTooMany, fullAt, groupsAt, missingRights } = membersOf(value);
  if (typeof fullAt !== 'string' || typeof groupsAt !== 'string') return undefined;
  return {
    ...readProgress(value),
    ...{ folders: readStringMembers(folders), areFoldersTooMany: areFoldersTooMany === true, fullAt, groupsAt },
    missingRights: readStrings(missingRights),
  };
}

function readProgress(value: unknown): GraphProgress {
  const { links, rootHashes, groupIds } = membersOf(value);
  return { links: readStringMembers(links), rootHashes: readStringMembers(rootHashes), groupIds: readStrings(groupIds) };
}
