import { membersOf, readStrings } from '../../../../lib/json/json.ts';
import { type SinceFull, watchedIdsMax } from './full-listing.ts';

/**
 * What a complete listing leaves for the next run.
 *
 * A feed of changes is of a whole drive, and says of a file only which folder it lies in. So the folders of the source have to be known, and a folder
 * or a shortcut that is taken away says nothing of what it led to: then everything is listed.
 */
export interface DriveState extends SinceFull {
  /** What was listed. */
  readonly rootId: string;
  /** Where the changes go on, by drive; '' is the one that the service begins from. */
  readonly tokens: Readonly<Record<string, string>>;
  readonly folderIds: readonly string[];
  /** Of the folders, those that belong to the source wherever they lie: its root, and what shortcuts lead to. */
  readonly entryIds: readonly string[];
  readonly shortcutIds: readonly string[];
  /** Files outside of the folders that shortcuts lead to. */
  readonly targetIds: readonly string[];
  /** Items that the last run called deleted. */
  readonly goneIds: readonly string[];
}

/** @returns undefined for a state that cannot be used, such as that of another root. */
export function readState(value: unknown, rootId: string): DriveState | undefined {
  const members = membersOf(value);
  const tokens = Object.entries(membersOf(members.tokens)).filter(
    (token): token is [string, string] => typeof token[1] === 'string',
  );
  const { fullAt, runs } = members;
  if (members.rootId !== rootId || tokens.length === 0 || typeof fullAt !== 'string' || typeof runs !== 'number')
    return undefined;
  return {
    ...{ rootId, fullAt, runs, tokens: Object.fromEntries(tokens) },
    folderIds: readStrings(members.folderIds),
    entryIds: readStrings(members.entryIds),
    shortcutIds: readStrings(members.shortcutIds),
    targetIds: readStrings(members.targetIds),
    goneIds: readStrings(members.goneIds),
  };
}

/** The ids of a source that changes are compared with. */
export class WatchedIds {
  readonly folders: Set<string>;
  readonly entries: Set<string>;
  readonly shortcuts: Set<string>;
  readonly targets: Set<string>;
  /** The folder in which a listing found a folder or a shortcut; not kept for the next run. */
  readonly parents = new Map<string, string>();

  constructor(state?: Pick<DriveState, 'folderIds' | 'entryIds' | 'shortcutIds' | 'targetIds'>) {
    this.folders = new Set(state?.folderIds);
    this.entries = new Set(state?.entryIds);
    this.shortcuts = new Set(state?.shortcutIds);
    this.targets = new Set(state?.targetIds);
  }

  get size(): number {
    return this.folders.size + this.shortcuts.size + this.targets.size;
  }

  get areTooMany(): boolean {
    return this.size > watchedIdsMax;
  }

  toState(): Pick<DriveState, 'folderIds' | 'entryIds' | 'shortcutIds' | 'targetIds'> {
    return {
      folderIds: [...this.folders],
      entryIds: [...this.entries],
      shortcutIds: [...this.shortcuts],
      targetIds: [...this.targets],
    };
  }
}
