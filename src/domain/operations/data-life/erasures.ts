import { DomainError } from '../../../entities/ground/errors.ts';
import { isId } from '../../../entities/ground/ids.ts';
import type { Page, PageRequest } from '../../../entities/ground/page.ts';
import type { Erasure, ErasureAction, ErasureLine, ErasureStatus } from '../../../entities/operations/data-life/jobs.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { Deps } from '../../deps.ts';
import { refuseHeld } from '../../ground/access/kept-by-hold.ts';
import { removeBlobs, removeChat } from '../../ground/blobs.ts';
import { giveBackTokens } from '../../ground/given-back-tokens.ts';
import {
  administeredAmong,
  administeredOrganization,
  lastAdmin,
  missing,
  requireNoKeyAbove,
} from '../../people/administration.ts';
import { exportBlobKey } from './exports.ts';

export interface ErasePersonInput {
  readonly userId: string;
  /** Default: the caller's. */
  readonly orgId?: string | null | undefined;
  /** Who gets what others use too. Default: the caller's user. */
  readonly transferToUserId?: string | null | undefined;
}

/** What is counted in batches reaches the database before the erasure begins, so that it is erased too. */
const beginAfterMs = 3_000;
const reasonsToStay = {
  member: 'The person is a member of other organizations, which have to erase it too.',
  held: 'Another organization has to keep what the person has there.',
} as const;
const chatsPerRound = 100;
const runsPerRound = 500;

/**
 * Ends a person's membership at once, and erases in the background what the person has in the organization. The user itself goes with the last membership.
 *
 * @throws DomainError FORBIDDEN, also for a person with a key above the caller's level; NOT_FOUND for a person or a successor out of reach; CONFLICT for the
 * caller's own user, the last administrator, and while a legal hold keeps something of the person.
 */
export async function erasePerson(deps: Deps, caller: Caller, input: ErasePersonInput): Promise<Erasure> {
  const organization = await administeredOrganization(deps, caller, input.orgId);
  const { userId } = input;
  const person = { orgId: organization.id, userId };
  const [user] = isId('user', userId) ? await deps.storage.people.accounts.findUsers([userId]) : [];
  if (user === undefined || user.tenantId !== organization.tenantId) throw missing('user', 'userId');
  if (caller.level === 'ORGANIZATION' && !(await wasThere(deps, person))) throw missing('user', 'userId');
  if (userId === caller.userId)
    throw new DomainError('CONFLICT', 'This call is made as the person; another administrator must erase it');
  await requireNoKeyAbove(deps, caller, person);
  const successor = input.transferToUserId ?? caller.userId;
  if (successor === userId)
    throw new DomainError('INVALID_VALUE', 'The person cannot be its own successor', { param: 'transferToUserId' });
  if ((await deps.storage.people.accounts.findRole(organization.id, successor)) === undefined) {
    throw new DomainError('NOT_FOUND', 'transferToUserId must name a member of the organization', { param: 'transferToUserId' });
  }
  refuseHeld((await deps.storage.legalHolds.find(person))?.createdAt);
  const id = deps.newId('erasure');
  const row = { id, createdAt: deps.now(), ...person, requestedByUserId: caller.userId, transferToUserId: successor };
  const owner = { tenantId: organization.tenantId, orgId: organization.id };
  const active = await deps.storage.operations.erasures.activeRunIds(person);
  await deps.audit.change(caller, async (tx) => {
    if ((await deps.storage.people.memberships.deleteOf(person)) === 'last-admin') throw lastAdmin();
    await deps.storage.operations.erasures.create(row);
    await deps.jobs.enqueue('data.erase', { erasureId: id }, { owner, key: id, startAfterMs: beginAfterMs, tx });
    return { id: userId, orgId: organization.id };
  });
  for (const runId of active) deps.storage.signals.publish('run-cancel', runId);
  return { ...row, status: 'PENDING', report: [], endedAt: null };
}

/** Whether an organization ever had somebody: the account of a stranger is not its to erase or to keep. */
export async function wasThere({ storage }: Deps, person: { readonly orgId: string; readonly userId: string }): Promise<boolean> {
  const { orgId, userId } = person;
  if (await storage.people.removals.isRemoved(orgId, { userId, emails: [], subjects: [] })) return true;
  return storage.operations.erasures.hasAny(person);
}

/** Erasures of an organization, newest first. @throws DomainError FORBIDDEN, NOT_FOUND for an organization out of reach. */
export async function listErasures(
  deps: Deps,
  caller: Caller,
  orgId: string | null | undefined,
  page: PageRequest,
): Promise<Page<Erasure>> {
  const { id } = await administeredOrganization(deps, caller, orgId);
  return deps.storage.operations.erasures.list(id, page);
}

/** Those among `ids` of organizations that the caller administers, in any order. */
export async function getErasures(deps: Deps, caller: Caller, ids: readonly string[]): Promise<readonly Erasure[]> {
  const erasureRows = await deps.storage.operations.erasures.findMany(ids);
  const orgIds = erasureRows.map(({ orgId }) => orgId);
  const administeredIds = await administeredAmong(deps, caller, orgIds);
  return erasureRows.filter(({ orgId }) => administeredIds.has(orgId));
}

/** Registers the job that erases. Each of its steps may be made again: a job that was cut off goes on with what is still there. */
export function registerErasures(deps: Deps): void {
  deps.jobs.work('data.erase', { concurrency: 1 }, async ({ erasureId }, signal) => {
    const erasure = await deps.storage.operations.erasures.find(erasureId);
    if (erasure !== undefined && !['DONE', 'STOPPED'].includes(erasure.status))
      await new ErasureWork(deps, erasure, signal).run();
  });
}

class ErasureWork {
  readonly #deps: Deps;
  readonly #erasure: Erasure;
  readonly #signal: AbortSignal;
  /** By table and action; an attempt that was cut off left its counts. */
  readonly #lines: Map<string, ErasureLine>;

  constructor(deps: Deps, erasure: Erasure, signal: AbortSignal) {
    this.#deps = deps;
    this.#erasure = erasure;
    this.#signal = signal;
    this.#lines = new Map(erasure.report.map((line) => [`${line.table} ${line.action}`, line]));
  }

  async run(): Promise<void> {
    const steps = [
      () => this.#things(),
      () => this.#chats(),
      () => this.#files(),
      () => this.#runs(),
      () => this.#exports(),
      () => giveBackTokens(this.#deps, { orgId: this.#erasure.orgId, ownerUserId: this.#erasure.userId }, this.#signal),
      () => this.#rest(),
      () => this.#records(),
    ];
    for (const step of steps) {
      this.#signal.throwIfAborted();
      if ((await this.#deps.storage.legalHolds.find(this.#erasure)) !== undefined) return this.#save('STOPPED');
      await step();
      await this.#save('RUNNING');
    }
    await this.#save('DONE');
  }

  /** Hands over what others use, and deletes the rest of what the person owns. */
  async #things(): Promise<void> {
    const {
      operations: { erasures, ownership },
      knowledge: { sources: dataSources },
    } = this.#deps.storage;
    const { orgId, transferToUserId } = this.#erasure;
    const { shared: sharedThings, own } = await erasures.holdings(this.#erasure);
    await ownership.transfer(this.#person, sharedThings, transferToUserId);
    const why = 'Others use it. It belongs to transferToUserId now, with what the person wrote in it.';
    this.#note('agents', 'TRANSFERRED', sharedThings.agentIds.length, why);
    this.#note('data_sources', 'TRANSFERRED', sharedThings.dataSourceIds.length, why);
    this.#note('groups', 'TRANSFERRED', sharedThings.groupIds.length, 'It says who may use what.');
    this.#note('projects', 'TRANSFERRED', sharedThings.projectIds.length, why);
    this.#note('projects', 'ERASED', await erasures.deleteProjects(this.#person));
    const prompts = await erasures.handOverPrompts(this.#person, transferToUserId);
    this.#note('prompts', 'TRANSFERRED', prompts.handedOver, why);
    this.#note('prompts', 'ERASED', prompts.deleted);
    const experimentCount = await erasures.handOverExperiments(this.#person, transferToUserId);
    this.#note('experiments', 'TRANSFERRED', experimentCount, 'They are about agents that others have.');
    const deletedAgentCount = await erasures.deleteAgents(own.agentIds);
    this.#note('agents', 'ERASED', deletedAgentCount);
    this.#note('agents', 'STAYS', own.agentIds.length - deletedAgentCount, 'A legal hold keeps what other people have at it.');
    if (own.dataSourceIds.length === 0) return;
    const [organization] = await this.#deps.storage.people.accounts.findOrganizations([orgId]);
    const owner = { tenantId: organization?.tenantId ?? '', orgId };
    const markedSourceIds = await dataSources.markDeleting(own.dataSourceIds, this.#deps.now(), async (tx, ids) => {
      const jobs = ids.map((dataSourceId) => ({ payload: { dataSourceId }, owner, key: dataSourceId }));
      await this.#deps.jobs.enqueueAll('knowledge.delete-source', jobs, { tx });
    });
    this.#note('data_sources', 'ERASED', markedSourceIds.length);
    await this.#save('RUNNING');
    // Another job deletes documents, passages and bytes. This one is tried again until that is done.
    const remainingSourceCount = (await erasures.holdings(this.#erasure)).own.dataSourceIds.length;
    if (remainingSourceCount > 0) throw new Error(`${remainingSourceCount} sources are still being deleted`);
  }

  async #chats(): Promise<void> {
    const { erasures } = this.#deps.storage.operations;
    for (;;) {
      this.#signal.throwIfAborted();
      const ids = await erasures.chatIds(this.#person, chatsPerRound);
      if (ids.length === 0) return;
      for (const id of ids) {
        await removeChat(this.#deps, id);
        await erasures.deleteChat(id);
      }
      this.#note('chats', 'ERASED', ids.length);
    }
  }

  async #files(): Promise<void> {
    const { erasures } = this.#deps.storage.operations;
    await removeBlobs(this.#deps, await erasures.fileKeys(this.#person));
    this.#noteAll(await erasures.deleteFiles(this.#person));
  }

  async #runs(): Promise<void> {
    for (;;) {
      this.#signal.throwIfAborted();
      const count = await this.#deps.storage.operations.erasures.deleteRuns(this.#person, runsPerRound);
      this.#note('runs', 'ERASED', count);
      if (count < runsPerRound) break;
    }
  }

  async #exports(): Promise<void> {
    const {
      blobs,
      operations: { dataExports },
    } = this.#deps.storage;
    for (const dataExport of await dataExports.with(this.#person)) {
      await blobs.delete(exportBlobKey(dataExport));
      await dataExports.delete(dataExport.id);
      this.#note('data_exports', 'ERASED', 1);
    }
  }

  async #rest(): Promise<void> {
    const { erasures } = this.#deps.storage.operations;
    const usage = await erasures.pseudonymiseUsage(this.#person);
    this.#note('usage_entries', 'PSEUDONYMISED', usage, 'The organization pays by it: tokens stay, as used by nobody.');
    const versions = await erasures.pseudonymiseVersions(this.#person);
    this.#note('agent_versions', 'PSEUDONYMISED', versions, 'They are part of agents that stay: who made them is taken out.');
    this.#note('agent_ratings', 'ERASED', await erasures.deleteRatings(this.#person));
    this.#noteAll(await erasures.deleteRest(this.#person));
    this.#noteAll(await erasures.deleteKeys(this.#person));
  }

  async #records(): Promise<void> {
    const {
      operations: { erasures },
      people: { accounts },
    } = this.#deps.storage;
    const { userId } = this.#erasure;
    const [user] = await accounts.findUsers([userId]);
    const audit = await erasures.pseudonymiseAudit(this.#person, user?.email ?? '');
    const why = 'It proves who did what until its retention ends: ids stay, e-mail, name and network address are taken out.';
    this.#note('audit_entries', 'PSEUDONYMISED', audit, why);
    const holds = await erasures.countHolds(this.#person);
    this.#note(
      'legal_holds',
      'STAYS',
      holds,
      'It says that, when and why data was held. Its reason is what an administrator wrote.',
    );
    const fate = await erasures.deleteUser(userId);
    if (fate === 'gone') this.#note('users', 'ERASED', user === undefined ? 0 : 1);
    else this.#note('users', 'STAYS', 1, reasonsToStay[fate]);
  }

  get #person() {
    const { orgId, userId } = this.#erasure;
    return { orgId, userId };
  }

  #note(table: string, action: ErasureAction, count: number, reason?: string): void {
    if (count === 0) return;
    const key = `${table} ${action}`;
    const before = action === 'STAYS' ? 0 : (this.#lines.get(key)?.count ?? 0);
    this.#lines.set(key, { table, action, count: before + count, ...(reason === undefined ? {} : { reason }) });
  }

  #noteAll(counts: Readonly<Record<string, number>>): void {
    for (const [table, count] of Object.entries(counts)) this.#note(table, 'ERASED', count);
  }

  async #save(status: ErasureStatus): Promise<void> {
    const { erasures } = this.#deps.storage.operations;
    const isOver = status === 'DONE' || status === 'STOPPED';
    const endTime = isOver ? { endedAt: this.#deps.now() } : {};
    await erasures.update(this.#erasure.id, { status, report: [...this.#lines.values()], ...endTime });
  }
}
