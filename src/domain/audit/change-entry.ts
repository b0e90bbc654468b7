import type { Caller } from '../../entities/accounts/caller.ts';
import { type AuditChange, auditTargetsMax } from '../../entities/audit.ts';
import { type IdKind, kindOfId } from '../../entities/ids.ts';
import type { NewAuditEntry } from '../../storage/audit/entries.ts';
import type { ChangeRecord } from '../../storage/audit/recorded-pool.ts';
import type { Deps } from '../deps.ts';
import type { CallOrigin } from './origin.ts';
import { targets } from './targets.ts';

/** A mutation that is about to run. */
export interface ChangeCall extends CallOrigin {
  /** The mutation: `createAgent`. */
  readonly action: string;
  /** Ids among its arguments, the most important first. */
  readonly ids: readonly string[];
  /** The organization that the arguments name. */
  readonly orgId: string | undefined;
  readonly changes: readonly AuditChange[];
}

/** Kinds of ids that are no targets: parts of chats, runs and sources, and internal rows. */
const innerKinds: ReadonlySet<IdKind> = new Set([
  'auditEntry',
  'completion',
  'functionCall',
  'input',
  'knowledgeItem',
  'message',
  'reasoning',
  'request',
  'serverToolCall',
  'serverToolOutput',
  'subagent',
  'toolCall',
  'usageEntry',
]);
const attemptsMax = 5;
const retryMs = 1_000;

/**
 * Runs a mutation and writes its entry in the transaction of the change (storage/audit/recorded-pool.ts). A change whose entry
 * cannot be written is not made. A mutation that changes no row writes its entry before it answers.
 *
 * The entry is written with what is known before the mutation returns. A second statement amends it when the result names another
 * target, or when the mutation fails after it committed a transaction.
 *
 * @throws the error of `work`; the database's error when the entry cannot be written.
 */
export async function withAuditEntry<T>(deps: Deps, caller: Caller, call: ChangeCall, work: () => Promise<T> | T): Promise<T> {
  const entry = new ChangeEntry(deps, caller, call);
  let result: T;
  try {
    result = await deps.storage.db.recorded(entry, work);
  } catch (error) {
    await entry.failed();
    throw error;
  }
  await entry.succeeded(result);
  return result;
}

class ChangeEntry implements ChangeRecord {
  readonly #deps: Deps;
  readonly #call: ChangeCall;
  readonly #made: string[] = [];
  #entry: NewAuditEntry;
  #state: 'open' | 'committed' | 'closed' = 'open';

  constructor(deps: Deps, caller: Caller, call: ChangeCall) {
    this.#deps = deps;
    this.#call = call;
    this.#entry = {
      id: deps.newId('auditEntry'),
      createdAt: deps.now(),
      orgId: call.orgId ?? caller.orgId,
      actorUserId: caller.userId,
      actorKeyId: caller.keyId,
      action: call.action,
      kind: 'CHANGE',
      outcome: 'SUCCEEDED',
      count: 1,
      ...targets([]),
      changes: call.changes,
      requestId: call.requestId,
      address: call.address ?? null,
    };
  }

  get isPending(): boolean {
    return this.#state === 'open';
  }

  made(id: string): void {
    const kind = kindOfId(id);
    if (kind !== undefined && !innerKinds.has(kind) && this.#made.length < auditTargetsMax) this.#made.push(id);
  }

  write(client: Parameters<ChangeRecord['write']>[0]): Promise<boolean> {
    this.#entry = { ...this.#entry, ...targets([...this.#made, ...this.#call.ids]) };
    return this.#deps.storage.auditEntries.writeWithChange(this.#entry, client);
  }

  committed(): void {
    if (this.#state === 'open') this.#state = 'committed';
  }

  async succeeded(result: unknown): Promise<void> {
    const isWritten = this.#state === 'committed';
    this.#state = 'closed';
    const last = { ...this.#entry, ...this.#targetsOf(result), orgId: organizationOf(this.#call, result) ?? this.#entry.orgId };
    if (!isWritten) await this.#deps.storage.auditEntries.write([last]);
    else if (!isSame(last, this.#entry)) await this.#amend(last, 1);
  }

  async failed(): Promise<void> {
    const isWritten = this.#state === 'committed';
    this.#state = 'closed';
    if (isWritten) await this.#amend({ ...this.#entry, outcome: 'FAILED' }, 1);
  }

  #targetsOf(result: unknown) {
    const own = memberOf(result, 'id');
    const isTarget = own !== undefined && kindOfId(own) !== undefined;
    return targets([...(isTarget ? [own] : []), ...this.#call.ids, ...this.#made]);
  }

  /** The entry is stored already: an amendment that fails is retried after the reply, and logged when it is given up. */
  async #amend(entry: NewAuditEntry, attempt: number): Promise<void> {
    try {
      await this.#deps.storage.auditEntries.write([entry]);
    } catch (error) {
      if (attempt >= attemptsMax) this.#deps.logger.error({ err: error, entry }, 'an audit entry could not be amended');
      else setTimeout(() => void this.#amend(entry, attempt + 1), retryMs * attempt).unref();
    }
  }
}

function isSame(left: NewAuditEntry, right: NewAuditEntry): boolean {
  return left.targetId === right.targetId && left.orgId === right.orgId;
}

/** Administrators of the changed organization see the entry, also when the caller is of another organization. */
function organizationOf({ action }: ChangeCall, result: unknown): string | undefined {
  // It has no administrators any more.
  if (action === 'deleteOrganization') return undefined;
  const id = memberOf(result, 'id');
  return id !== undefined && kindOfId(id) === 'organization' ? id : memberOf(result, 'orgId');
}

function memberOf(value: unknown, member: string): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const found = (value as Readonly<Record<string, unknown>>)[member];
  return typeof found === 'string' && found !== '' ? found : undefined;
}
