import { membersOf, readStringMembers, readStrings } from '../../../../lib/json/json.ts';

/** What a reading of permissions leaves for the next one. */
export interface TrackerPermissionState {
  readonly projectKey: string;
  /** When the reading began, ISO 8601: issues that changed since are asked for. */
  readonly begunAt: string;
  /** Who may browse the project, and who may see each security level that an issue had. */
  readonly browsersHash: string;
  readonly levelHashes: Readonly<Record<string, string>>;
  readonly groupIds: readonly string[];
}

/** Where a reading of all issues is. */
export interface TrackerPermissionPlace {
  readonly begunAt: string;
  readonly token: string;
  readonly groupIds: readonly string[];
  readonly levelIds: readonly string[];
}

/** @returns undefined for a state that cannot be used, such as that of another project. */
export function readPermissionState(value: unknown, projectKey: string): TrackerPermissionState | undefined {
  const { begunAt, browsersHash, levelHashes, groupIds, ...of } = membersOf(value);
  if (of.projectKey !== projectKey || typeof begunAt !== 'string' || typeof browsersHash !== 'string') return undefined;
  const hashes = readStringMembers(levelHashes);
  return { projectKey, begunAt, browsersHash, levelHashes: hashes, groupIds: readStrings(groupIds) };
}

export function readPermissionPlace(value: unknown): TrackerPermissionPlace | undefined {
  const { begunAt, token, groupIds, levelIds } = membersOf(value);
  if (typeof begunAt !== 'string' || typeof token !== 'string') return undefined;
  return { begunAt, token, groupIds: readStrings(groupIds), levelIds: readStrings(levelIds) };
}
