import { membersOf, readStringMembers, readStrings } from '../../../../lib/json/json.ts';

/** What a reading of permissions leaves for the next one. */
export interface SharingState {
  /** Where the changes go on, by drive: '' is all that is in none. '' as a value: the drive tells none to this account. */
  readonly tokens: Readonly<Record<string, string>>;
  /** What shared drives open to, by drive: a change of that is none of a file. */
  readonly driveHashes: Readonly<Record<string, string>>;
  /** The folders of the source, and those above them. */
  readonly folderIds: readonly string[];
  readonly areFoldersTooMany: boolean;
  readonly groupIds: readonly string[];
  /** When everything was read last, ISO 8601. */
  readonly fullAt: string;
  /** When members of groups were read last, ISO 8601. */
  readonly groupsAt: string;
  readonly missingRights: readonly string[];
}

/** Where a reading of everything is. */
export interface SharingPlace extends Pick<SharingState, 'tokens' | 'driveHashes' | 'folderIds' | 'groupIds'> {
  /** The folder that was told of last; folders come in the order of their ids. */
  readonly after: string;
}

export function readPlace(value: unknown): SharingPlace | undefined {
  const { after } = membersOf(value);
  return typeof after === 'string' ? { after, ...readProgress(value) } : undefined;
}

export function readSharingState(value: unknown): SharingState | undefined {
  const { areFoldersTooMany, fullAt, groupsAt, missingRights } = membersOf(value);
  if (typeof fullAt !== 'string' || typeof groupsAt !== 'string') return undefined;
  const rest = { areFoldersTooMany: areFoldersTooMany === true, fullAt, groupsAt, missingRights: readStrings(missingRights) };
  return { ...readProgress(value), ...rest };
}

function readProgress(value: unknown): Omit<SharingPlace, 'after'> {
  const { tokens, driveHashes, folderIds, groupIds } = membersOf(value);
  return {
    ...{ tokens: readStringMembers(tokens), driveHashes: readStringMembers(driveHashes) },
    ...{ folderIds: readStrings(folderIds), groupIds: readStrings(groupIds) },
  };
}
