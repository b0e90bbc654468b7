import { DomainError } from '../../../entities/ground/errors.ts';
import { isId } from '../../../entities/ground/ids.ts';
import type { Page, PageRequest } from '../../../entities/ground/page.ts';
import type { LegalHold } from '../../../entities/operations/data-life/hold.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { Deps } from '../../deps.ts';
import { Faults } from '../../ground/faults.ts';
import { administeredAmong, administeredOrganization, missing } from '../../people/administration.ts';
import { wasThere } from './erasures.ts';

export interface SetLegalHoldInput {
  /** Default: the caller's. */
  readonly orgId?: string | null | undefined;
  /** Default: the whole organization. */
  readonly userId?: string | null | undefined;
  readonly reason: string;
}
export interface HoldListFilter {
  readonly orgId?: string | null | undefined;
  readonly userId?: string | null | undefined;
  readonly isLasting?: boolean | null | undefined;
}

const reasonLengthMax = 2_000;

/**
 * Keeps everything of an organization, or of one person in it, from being deleted until the hold is ended. Also of a person who has left the organization.
 *
 * @throws DomainError FORBIDDEN, NOT_FOUND for an organization or a person out of reach, INVALID_VALUE.
 */
export async function setLegalHold(deps: Deps, caller: Caller, input: SetLegalHoldInput): Promise<LegalHold> {
  const organization = await administeredOrganization(deps, caller, input.orgId);
  const userId = input.userId ?? null;
  const faults = new Faults();
  faults.requireName('reason', input.reason, reasonLengthMax);
  faults.throwIfAny();
  if (userId !== null) {
    const [user] = isId('user', userId) ? await deps.storage.people.accounts.findUsers([userId]) : [];
    if (user === undefined || user.tenantId !== organization.tenantId) throw missing('user', 'userId');
    if (caller.level === 'ORGANIZATION' && !(await wasThere(deps, { orgId: organization.id, userId })))
      throw missing('user', 'userId');
  }
  const hold = {
    id: deps.newId('legalHold'),
    createdAt: deps.now(),
    orgId: organization.id,
    userId,
    reason: input.reason.trim(),
    createdByUserId: caller.userId,
  };
  return deps.audit.change(caller, async () => {
    await deps.storage.legalHolds.create(hold);
    return { ...hold, endedAt: null, endedByUserId: null };
  });
}

/** Ends a hold: what it kept may be deleted again. @throws DomainError FORBIDDEN, NOT_FOUND for one out of reach, CONFLICT for one that has ended. */
export async function endLegalHold(deps: Deps, caller: Caller, id: string): Promise<LegalHold> {
  const [hold] = isId('legalHold', id) ? await deps.storage.legalHolds.findMany([id]) : [];
  if (hold === undefined) throw missing('legal hold', 'id');
  await administeredOrganization(deps, caller, hold.orgId).catch((error: unknown) => {
    throw error instanceof DomainError && error.code === 'NOT_FOUND' ? missing('legal hold', 'id') : error;
  });
  const endedAt = deps.now();
  return deps.audit.change(caller, async () => {
    if (!(await deps.storage.legalHolds.end(id, { userId: caller.userId, at: endedAt }))) {
      throw new DomainError('CONFLICT', 'This legal hold has ended already', { param: 'id' });
    }
    return { ...hold, endedAt, endedByUserId: caller.userId };
  });
}

/** Holds of an organization, newest first. @throws DomainError FORBIDDEN, NOT_FOUND for an organization out of reach. */
export async function listLegalHolds(
  deps: Deps,
  caller: Caller,
  filter: HoldListFilter,
  page: PageRequest,
): Promise<Page<LegalHold>> {
  const { id } = await administeredOrganization(deps, caller, filter.orgId);
  const where = { orgId: id, userId: filter.userId ?? undefined, isLasting: filter.isLasting ?? undefined };
  return deps.storage.legalHolds.list(where, page);
}

/** The holds among `ids` of organizations that the caller administers, in any order. */
export async function getLegalHolds(deps: Deps, caller: Caller, ids: readonly string[]): Promise<readonly LegalHold[]> {
  const holds = await deps.storage.legalHolds.findMany(ids);
  const orgIds = holds.map(({ orgId }) => orgId);
  const administeredOrgIds = await administeredAmong(deps, caller, orgIds);
  return holds.filter(({ orgId }) => administeredOrgIds.has(orgId));
}
