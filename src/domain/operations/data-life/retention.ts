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
export async function retentionsOf({ storage, settings }: Deps, orgIds: readonly string[]): Promise<readonly Retention[]> {
  const chosen = await storage.retention.findMany(orgIds);
  return orgIds.map((orgId) => retentionOf(settings, orgId, chosen.get(orgId)));
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
    await deps.storage.retention.set(id, choice);
    return { id };
  });
  const [retention = retentionOf(deps.settings, id, undefined)] = await retentionsOf(deps, [id]);
  return retention;
}

function retentionOf(settings: Settings, orgId: string, chosen: OwnRetention | undefined): Retention {
  const periodOf = (kind: RetainedKind) => {
    const days = chosen?.[kind] ?? null;
    return { days, effectiveDays: days ?? defaultDays(settings, kind) ?? null };
  };
  return {
    orgId,
    chats: periodOf('chats'),
    runs: periodOf('runs'),
    events: periodOf('events'),
    usage: periodOf('usage'),
    audit: periodOf('audit'),
  };
}
