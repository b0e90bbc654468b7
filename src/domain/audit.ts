import type { AuditChange, AuditEntry, AuditFilter } from '../entities/audit.ts';
import type { Caller } from '../entities/caller.ts';
import { DomainError } from '../entities/errors.ts';
import { kindOfId } from '../entities/ids.ts';
import type { Page, PageRequest } from '../entities/page.ts';
import type { NewAuditEntry } from '../storage/audit-entries.ts';
import { administeredOrganization } from './administration.ts';
import type { Deps } from './deps.ts';

/** Runs say and cost something, and change nothing of the organization; the ledger has them. */
export const unauditedOperations: ReadonlySet<string> = new Set(['createCompletion', 'sendMessage', 'submitToolOutputs']);

/** A change that was made. */
export interface MadeChange {
  /** The mutation: `createAgent`. */
  readonly action: string;
  /** What the mutation returned. */
  readonly result: unknown;
  /** Ids among its arguments, the first of them the most important. */
  readonly ids: readonly string[];
  readonly changes: readonly AuditChange[];
  readonly requestId: string;
}

const sweepEveryMs = 3_600_000;
const attemptsMax = 5;
const retryMs = 1_000;

/**
 * Writes who changed what, once the change is made. The change stands whatever becomes of its entry: when the database fails now, the entry is
 * tried again behind the reply, and logged when it is lost.
 */
export async function recordChange(deps: Deps, caller: Caller, change: MadeChange): Promise<void> {
  const { action, changes, requestId } = change;
  const target = targetOf(change);
  const entry: NewAuditEntry = {
    id: deps.newId('auditEntry'),
    createdAt: deps.now(),
    orgId: organizationOf(change) ?? caller.orgId,
    actorUserId: caller.userId,
    actorKeyId: caller.keyId,
    action,
    targetKind: target === undefined ? null : (kindOfId(target) ?? null),
    targetId: target ?? null,
    changes,
    requestId,
  };
  await write(deps, entry, 1);
}

/**
 * Changes made in an organization, newest first, for its administrators.
 *
 * @throws DomainError FORBIDDEN for who administers nothing, NOT_FOUND for an organization out of reach.
 */
export async function listAuditEntries(
  deps: Deps,
  caller: Caller,
  { orgId, ...filter }: Omit<AuditFilter, 'orgId'> & { readonly orgId?: string | undefined },
  page: PageRequest,
): Promise<Page<AuditEntry>> {
  const { from, to } = filter;
  if (from !== undefined && to !== undefined && from >= to) {
    throw new DomainError('INVALID_VALUE', 'to must be later than from', { param: 'to' });
  }
  // What happened in an organization that is gone is still there to be read from above all.
  const isAbove = caller.level === 'INSTANCE' && orgId !== undefined;
  const { id } = isAbove ? { id: orgId } : await administeredOrganization(deps, caller, orgId);
  return deps.storage.auditEntries.list({ ...filter, orgId: id }, page);
}

/** Deletes entries past AUDIT_RETENTION_DAYS, now and then. */
export function registerAuditSweep(deps: Deps): void {
  deps.jobs.every('audit.sweep', sweepEveryMs, async (signal) => {
    while (!signal.aborted && (await deps.storage.auditEntries.sweep(deps.settings.AUDIT_RETENTION_DAYS)) > 0);
  });
}

async function write(deps: Deps, entry: NewAuditEntry, attempt: number): Promise<void> {
  try {
    await deps.storage.auditEntries.add([entry]);
  } catch (error) {
    if (attempt >= attemptsMax) deps.logger.error({ err: error, entry }, 'an entry of the audit log could not be written');
    else setTimeout(() => void write(deps, entry, attempt + 1), retryMs * attempt).unref();
  }
}

function targetOf({ result, ids }: MadeChange): string | undefined {
  const own = memberOf(result, 'id');
  return own !== undefined && kindOfId(own) !== undefined ? own : ids.find((id) => kindOfId(id) !== undefined);
}

/** Administrators of the organization that was changed are to see it, also when the caller came from another. */
function organizationOf({ action, result }: MadeChange): string | undefined {
  const id = memberOf(result, 'id');
  // Nobody administers it any more.
  if (action === 'deleteOrganization') return undefined;
  return id !== undefined && kindOfId(id) === 'organization' ? id : memberOf(result, 'orgId');
}

function memberOf(value: unknown, member: string): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const found = (value as Readonly<Record<string, unknown>>)[member];
  return typeof found === 'string' && found !== '' ? found : undefined;
}
