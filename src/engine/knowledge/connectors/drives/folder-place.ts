import { membersOf, readElements, readString, readStrings } from '../../../../lib/json/json.ts';
import type { DriveState } from './state.ts';
import { readTreePlace, type TreePlace } from './tree.ts';

type Ids = Pick<DriveState, 'folderIds' | 'entryIds' | 'shortcutIds' | 'targetIds'>;

/** Where the listing of a whole folder is. */
export interface FolderPlace {
  readonly rootId: string;
  /** When the listing began, ISO 8601. */
  readonly fullAt: string;
  /** Null once all folders are listed, and what changed meanwhile is read. */
  readonly tree: TreePlace | null;
  /** Where the changes of each drive go on from the beginning of the listing; null where its service tells none. */
  readonly feeds: readonly (readonly [drive: string, token: string | null])[];
  readonly entryIds: readonly string[];
  /** Null where they are too many to be written with each page. */
  readonly ids: (Ids & { readonly parents: readonly (readonly [id: string, folderId: string])[] }) | null;
  /** Whether the run named items before this listing began. */
  readonly isMixed: boolean;
}

/** A place that was stored. */
export interface ReadFolderPlace {
  readonly fullAt: string | undefined;
  readonly tree: TreePlace | null;
  readonly feeds: readonly (readonly [string, string | undefined])[];
  readonly entryIds: readonly string[];
  readonly ids: Ids | undefined;
  readonly parents: readonly (readonly [string, string])[];
  readonly isMixed: boolean;
}

/** @returns undefined for a place that cannot be used, such as that of another root. */
export function readFolderPlace(value: unknown, rootId: string): ReadFolderPlace | undefined {
  const members = membersOf(value);
  const tree = members.tree === null ? null : readTreePlace(members.tree);
  if (members.rootId !== rootId || tree === undefined) return undefined;
  const ids = membersOf(members.ids);
  return {
    tree,
    fullAt: readString(members.fullAt),
    feeds: readPairs(members.feeds).map(([drive, token]) => [drive ?? '', token] as const),
    parents: readPairs(ids.parents).map(([id, folderId]) => [id ?? '', folderId ?? ''] as const),
    entryIds: readStrings(members.entryIds),
    ids: !Array.isArray(ids.folderIds)
      ? undefined
      : {
          folderIds: readStrings(ids.folderIds),
          entryIds: readStrings(ids.entryIds),
          shortcutIds: readStrings(ids.shortcutIds),
          targetIds: readStrings(ids.targetIds),
        },
    isMixed: members.isMixed === true,
  };
}

function readPairs(value: unknown): readonly (readonly [string | undefined, string | undefined])[] {
  return readElements(value).map((pair) => {
    const [first, second] = readElements(pair);
    return [readString(first), readString(second)] as const;
  });
}
