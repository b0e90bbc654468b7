import type { Logger } from 'pino';
import { kindOfId } from '../../../entities/ground/ids.ts';
import { type AuditChange, type AuditedCall, toAuditValue } from '../../../entities/operations/audit.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { Database, Transaction } from '../../../storage/ground/database.ts';
import type { AuditEntryStore, NewAuditEntry } from '../../../storage/operations/audit/entries.ts';
import type { CallOrigin } from './origin.ts';
import { targets } from './targets.ts';

/** What a mutation needs of the service for its entry. */
export interface ChangeDeps {
  readonly storage: ChangeStorage;
  readonly logger: Logger;
  newId(kind: 'auditEntry'): string;
  now(): Date;
}
interface ChangeStorage {
  readonly db: Database;
  readonly operations: { readonly auditEntries: AuditEntryStore };
}

/** A mutation that is about to run. */
export interface ChangeCall extends CallOrigin {
  /** The mutation: `createAgent`. */
  readonly action: string;
  /** Ids among its arguments, the most important first. */
  readonly ids: readonly string[];
  /** The organization that the arguments name. */
  readonly orgId: string | undefined;
  readonly changes: readonly AuditChange[];
  /** The thing that the argument `id` names. Absent: the values of before are not recorded. */
  readonly changedId?: string | undefined;
  /** Members of `changes` whose values may be recorded. */
  readonly shownMembers?: ReadonlySet<string>;
  readonly isRest?: boolean | undefined;
}

/**
 * Makes a change in one transaction with the entry of the caller's mutation: neither is stored without the other. Jobs and the command line have no
 * mutation, and write no entry.
 *
 * The target of the entry is the thing that `write` returns (`id`), or the things (`targetIds`), then what the arguments name. A mutation that makes several changes calls this for each;
 * the entry then names the last target.
 *
 * A thing that the caller may not see or change is refused by `write` as always: only who may delete it is told of a legal hold on it.
 *
 * @param write  the writes of stores; no network, model or file in it. It is part of the transaction.
 * @throws what `write` throws; DomainError CONFLICT for a deletion of what a legal hold keeps; the database's error when the entry cannot be written. Nothing is stored then.
 */
export function recordChange<T>(
  { db, operations: { auditEntries } }: ChangeStorage,
  caller: Caller,
  write: (tx: Transaction) => Promise<T>,
): Promise<T> {
  return db.transaction(async (tx) => {
    const { call } = caller;
    const changes = await changesWithBefore(auditEntries, caller, call);
    const result = await write(tx);
    if (call !== undefined) {
      await auditEntries.write([{ ...toEntry(caller, call, result), changes }]);
      call.isWritten = true;
    }
    return result;
  });
}

/** The changes of a mutation with the values that they replace. The first write of a mutation records them. */
async function changesWithBefore(
  auditEntries: AuditEntryStore,
  { orgId }: Caller,
  call: AuditedCall | undefined,
): Promise<readonly AuditChange[]> {
  if (call === undefined) return [];
  const { action, changedId, changes, shownMembers, isWritten } = call;
  if (isWritten || !changes.some(({ member }) => shownMembers.has(member))) return changes;
  const state = await auditEntries.stateBefore({ action, id: changedId, orgId: call.orgId ?? orgId });
  if (state === undefined) return changes;
  return changes.map((change) => {
    const before = shownMembers.has(change.member) ? toAuditValue(state[change.member]) : undefined;
    return before === undefined ? change : { ...change, before };
  });
}

/** A change that the service makes by itself. */
export interface ChangeOfService {
  readonly orgId: string;
  /** The mutation by which a person would make it. */
  readonly action: string;
  readonly targetIds: readonly string[];
  readonly changes: readonly AuditChange[];
}

/**
 * The same for a change that nobody asked for: its entry has no actor.
 *
 * @param write  returns whether it changed anything; without a change there is no entry.
 */
export function recordChangeOfService(
  { storage, newId, now }: Pick<ChangeDeps, 'newId' | 'now' | 'storage'>,
  { orgId, action, targetIds, changes }: ChangeOfService,
  write: (tx: Transaction) => Promise<boolean>,
): Promise<boolean> {
  return storage.db.transaction(async (tx) => {
    if (!(await write(tx))) return false;
    const entry = {
      id: newId('auditEntry'),
      createdAt: now(),
      orgId,
      action,
      kind: 'CHANGE',
      outcome: 'SUCCEEDED',
      count: 1,
    } as const;
    const nobody = { actorUserId: '', actorKeyId: '', requestId: '', address: null };
    await storage.operations.auditEntries.write([{ ...entry, ...nobody, ...targets(targetIds), changes }]);
    return true;
  });
}

/**
 * Runs a mutation that writes its entry by `audit.change`. A mutation that changes no row gets its entry before it answers; one that fails after a change
 * says so in its entry.
 *
 * @param work  gets the caller with the call.
 * @throws the error of `work`; the database's error when the entry cannot be written; DomainError CONFLICT for a deletion of what a legal hold keeps.
 */
export async function withAuditEntry<T>(
  { storage, newId, now, logger }: ChangeDeps,
  caller: Caller,
  changeCall: ChangeCall,
  work: (caller: Caller) => Promise<T> | T,
): Promise<T> {
  const { changedId, shownMembers = new Set() } = changeCall;
  const entryState = { entryId: newId('auditEntry'), createdAt: now(), isWritten: false };
  const call: AuditedCall = { ...changeCall, changedId, shownMembers, ...entryState };
  const auditedCaller = { ...caller, call };
  let result: T;
  try {
    result = await work(auditedCaller);
  } catch (error) {
    if (call.isWritten) {
      await storage.operations.auditEntries
        .fail(call.entryId)
        .catch((failure: unknown) =>
          logger.error({ err: failure, entryId: call.entryId }, 'an audit entry could not be amended'),
        );
    }
    throw error;
  }
  if (!call.isWritten) await storage.operations.auditEntries.write([toEntry(caller, call, result)]);
  for (const id of call.ids) caller.request?.changedIds.add(id);
  return result;
}

function toEntry(caller: Caller, call: AuditedCall, result: unknown): NewAuditEntry {
  const id = readMember(result, 'id');
  const isTarget = id !== undefined && kindOfId(id) !== undefined;
  return {
    id: call.entryId,
    createdAt: call.createdAt,
    orgId: findOrganizationId(call, result) ?? call.orgId ?? caller.orgId,
    actorUserId: caller.userId,
    actorKeyId: caller.keyId,
    action: call.action,
    kind: 'CHANGE',
    outcome: 'SUCCEEDED',
    count: 1,
    ...targets([...(isTarget ? [id] : []), ...listTargetIds(result), ...call.ids]),
    changes: call.changes,
    requestId: call.requestId,
    address: call.address ?? null,
  };
}

/** A change of several things names them all. */
function listTargetIds(result: unknown): readonly string[] {
  const ids = typeof result === 'object' && result !== null && 'targetIds' in result ? result.targetIds : [];
  return Array.isArray(ids) ? ids : [];
}

/** Administrators of the changed organization see the entry, also when the caller is of another organization. */
function findOrganizationId({ action }: AuditedCall, result: unknown): string | undefined {
  // It has no administrators any more.
  if (action === 'deleteOrganization') return undefined;
  const id = readMember(result, 'id');
  return id !== undefined && kindOfId(id) === 'organization' ? id : readMember(result, 'orgId');
}

function readMember(value: unknown, member: string): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const memberValue = (value as Readonly<Record<string, unknown>>)[member];
  return typeof memberValue === 'string' && memberValue !== '' ? memberValue : undefined;
}
