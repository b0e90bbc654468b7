import {
  type OwnRetention,
  type RetainedKind,
  type Retention,
  retainedKinds,
  retentionDays,
  retentionMembers,
} from '../../../entities/operations/data-life/retention.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { Settings } from '../../../settings.ts';
import type { Deps } from '../../deps.ts';
import { Faults } from '../../ground/faults.ts';
import { administeredOrganization } from '../../people/administration.ts';

/** Absent members are kept; null: as the installation does. */
export interface UpdateRetentionInput
  extends Partial<Record<(typeof retentionMembers)[RetainedKind], number | null | undefined>> {
  /** Default: the caller's. */
  readonly orgId?: string | null | undefined;
}
/** What applies where an organization chose nothing; undefined: nothing is deleted for its age. */
export function defaultDays(settings: Settings, kind: RetainedKind): number | undefined {
  const days = {
    chats: settings.CHAT_RETENTION_DAYS,
    runs: settings.RUN_RETENTION_DAYS,
    events: settings.RUN_EVENTS_RETENTION_DAYS,
    usage: settings.USAGE_RETENTION_DAYS,
    audit: settings.AUDIT_RETENTION_DAYS,
  }[kind];
  return days === 0 ? undefined : days;
}

/** How long organizations keep data, in the order of their ids. The caller has been shown the organizations. Cost: one statement. */
export async function loadRetentions({ storage, settings }: Deps, orgIds: readonly string[]): Promise<readonly Retention[]> {
  const retentionsByOrganization = await storage.operations.retention.findMany(orgIds);
  return orgIds.map((orgId) => toRetention(settings, orgId, retentionsByOrganization.get(orgId)));
}

/**
 * Says how long an organization keeps data. The next sweep, within an hour, follows it.
 *
 * @throws DomainError FORBIDDEN, NOT_FOUND for an organization out of reach, INVALID_VALUE for days out of bounds.
 */
export async function updateDataRetention(
  deps: Deps,
  caller: Caller,
  { orgId, ...input }: UpdateRetentionInput,
): Promise<Retention> {
  const { id } = await administeredOrganization(deps, caller, orgId);
  const faults = new Faults();
  const choice: Partial<Record<RetainedKind, number | null>> = {};
  for (const kind of retainedKinds) {
    const days = input[retentionMembers[kind]];
    if (days === undefined) continue;
    if (days !== null)
      faults.requireRange(retentionMembers[kind], days, { ...retentionDays[kind], isWhole: true }, 'a number of days');
    choice[kind] = days;
  }
  faults.throwIfAny();
  await deps.audit.change(caller, async () => {
    await deps.storage.operations.retention.set(id, choice);
    return { id };
  });
  const [retention = toRetention(deps.settings, id, undefined)] = await loadRetentions(deps, [id]);
  return retention;
}

function toRetention(settings: Settings, orgId: string, ownRetention: OwnRetention | undefined): Retention {
  const toPeriod = (kind: RetainedKind) => {
    const days = ownRetention?.[kind] ?? null;
    return { days, effectiveDays: days ?? defaultDays(settings, kind) ?? null };
  };
  return {
    orgId,
    chats: toPeriod('chats'),
    runs: toPeriod('runs'),
    events: toPeriod('events'),
    usage: toPeriod('usage'),
    audit: toPeriod('audit'),
  };
}
