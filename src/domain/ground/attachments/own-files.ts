import type { StoredFile } from '../../../entities/conversations/files/file.ts';
import { isId } from '../../../entities/ground/ids.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { FileOwner } from '../../../storage/conversations/files/file-tables.ts';
import type { Deps } from '../../deps.ts';
import { Faults } from '../faults.ts';

/** Those of the ids that are files of the caller with content. One statement. */
export function findFiles(deps: Deps, caller: Caller, ids: readonly string[]): Promise<readonly StoredFile[]> {
  const validIds = ids.filter(isFileId);
  return validIds.length === 0 ? Promise.resolve([]) : deps.storage.conversations.files.findMany(validIds, toFileOwner(caller));
}

/** A file that a request names. */
export interface NamedFile {
  readonly id: string;
  /** The member that names it. */
  readonly param: string;
}

/**
 * The files that a request names, by their ids.
 *
 * @throws DomainError INVALID_VALUE naming each member: another user's file and one without content are answered like a missing file.
 *
 * Cost: one statement; none without names.
 */
export async function requireOwnFiles(
  deps: Deps,
  caller: Caller,
  references: readonly NamedFile[],
): Promise<ReadonlyMap<string, StoredFile>> {
  const ids = references.map(({ id }) => id);
  const files = new Map((await findFiles(deps, caller, ids)).map((file) => [file.id, file]));
  const faults = new Faults();
  for (const { id, param } of references) {
    if (!files.has(id)) faults.add(param, `${param} names no file of yours, or one without content`);
  }
  faults.throwIfAny();
  return files;
}

export function toFileOwner({ userId, orgId, scopes }: Caller): FileOwner {
  return { userId, orgId, hasSources: scopes.has('DATA_SOURCES:READ') };
}

export function isFileId(id: string): boolean {
  return isId('chatFile', id) || isId('knowledgeItem', id);
}
