import { findPermissionKind } from '../../../engine/knowledge/connectors/registry.ts';
import type { DataSourceType } from '../../../entities/knowledge/data-source.ts';
import type { SourcePermissions } from '../../../entities/knowledge/permissions.ts';
import type { Deps } from '../../deps.ts';
import type { Faults } from '../../ground/faults.ts';

/** Absent members are kept; null restores the default. */
export type SourcePermissionsInput = {
  readonly [Name in keyof SourcePermissions]?: SourcePermissions[Name] | null | undefined;
};

/**
 * Reads how permissions are to decide what is found in a source, with a fault for what has no effect there: MIRRORED of a kind whose service says no
 * permissions, and the other two of a source that is LENT.
 *
 * @param before  of a source that exists.
 */
export function readSourcePermissions(
  { knowledge }: Deps,
  type: DataSourceType,
  input: SourcePermissionsInput,
  faults: Faults,
  before?: SourcePermissions,
): Partial<SourcePermissions> {
  const wantedAccess = input.access === null ? 'LENT' : input.access;
  const changes: Partial<SourcePermissions> = {
    // The access that it has already is no change: that would throw away what was read, and close the source until it is read anew.
    ...(wantedAccess === undefined || wantedAccess === before?.access ? {} : { access: wantedAccess }),
    ...(input.linkShared === undefined ? {} : { linkShared: input.linkShared ?? 'HIDDEN' }),
    ...(input.recheck === undefined ? {} : { recheck: input.recheck ?? 'NEVER' }),
  };
  const { access = 'LENT', linkShared, recheck } = { ...before, ...changes };
  if (changes.access === 'MIRRORED' && !canMirror(type)) {
    faults.add('access', `access must be LENT: Parley reads no permissions of sources of the type ${type}`, 'INVALID_VALUE', {
      enum: ['LENT'],
    });
  }
  const isLent = access === 'LENT';
  if (isLent && changes.linkShared === 'FINDABLE') {
    faults.add('linkShared', 'linkShared must be HIDDEN: it has an effect in a source with "access": "MIRRORED" only');
  }
  if (changes.recheck === 'ON_ANSWER') {
    if (isLent) faults.add('recheck', 'recheck must be NEVER: it has an effect in a source with "access": "MIRRORED" only');
    else if (!knowledge.canRecheck(type))
      faults.add('recheck', `recheck must be NEVER: sources of the type ${type} cannot be asked for single documents`);
  }
  // What has no effect any more is not kept as if it had one.
  if (changes.access !== 'LENT') return changes;
  return {
    ...changes,
    ...(linkShared === 'FINDABLE' ? { linkShared: 'HIDDEN' } : {}),
    ...(recheck === 'ON_ANSWER' ? { recheck: 'NEVER' } : {}),
  };
}

/** Whether Parley knows who may open documents of a kind of source: an API source is told, the others are read. */
function canMirror(type: DataSourceType): boolean {
  return type === 'API' || findPermissionKind(type) !== undefined;
}
