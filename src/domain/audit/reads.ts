import type { Caller } from '../../entities/accounts/caller.ts';
import type { AuditBatch } from '../../storage/audit/batch.ts';
import type { NewAuditEntry } from '../../storage/audit/entries.ts';
import type { PlacedThing, UnseenContent } from '../../storage/audit/unseen-content.ts';
import { editableAgents, usableAgents, visibleChats, visibleDataSources } from '../access/access.ts';
import type { ContentNoun } from '../access/reference-scopes.ts';
import type { CallOrigin } from './origin.ts';
import { targets } from './targets.ts';

/** What reads need of the service. */
export interface ReadDeps {
  readonly batch: AuditBatch;
  readonly unseen: UnseenContent;
  newId(kind: 'auditEntry'): string;
  now(): Date;
}

/** Whether the caller sees more than a plain member of its organization: an administrator, or a key above ORGANIZATION level. */
export function seesAsAdministrator({ role, level }: Caller): boolean {
  return role === 'ADMIN' || level !== 'ORGANIZATION';
}

/** Operations that always get an entry: they hand out a copy. */
export const exportOperations: ReadonlySet<string> = new Set(['agentBundle', 'chatExport']);

/**
 * What one operation of a call showed. Becomes one audit entry in each organization, with the things that a plain member would not
 * have seen; no entry without such a thing. Exports get an entry for every caller.
 */
export class OperationReads {
  readonly #deps: ReadDeps;
  readonly #caller: Caller;
  readonly #entry: Omit<NewAuditEntry, 'id' | 'orgId' | 'targetKind' | 'targetId' | 'targetIds'>;
  readonly #seen = new Map<ContentNoun, Set<string>>();
  /** One entry in each organization, even when the call reads more after its first entry was written. */
  readonly #entryIds = new Map<string, string>();
  #isWaiting = false;

  constructor(deps: ReadDeps, caller: Caller, action: string, origin: CallOrigin) {
    this.#deps = deps;
    this.#caller = caller;
    this.#entry = {
      createdAt: deps.now(),
      actorUserId: caller.userId,
      actorKeyId: caller.keyId,
      action,
      kind: 'READ',
      outcome: 'SUCCEEDED',
      count: 1,
      changes: [],
      requestId: origin.requestId,
      address: origin.address ?? null,
    };
  }

  note(noun: ContentNoun, id: string): void {
    const ids = this.#seen.get(noun);
    if (ids?.has(id)) return;
    if (ids === undefined) this.#seen.set(noun, new Set([id]));
    else ids.add(id);
    if (this.#isWaiting) return;
    this.#isWaiting = this.#deps.batch.add(() => this.#entries());
  }

  async #entries(): Promise<readonly NewAuditEntry[]> {
    this.#isWaiting = false;
    const things = exportOperations.has(this.#entry.action) ? await this.#all() : await this.#unseen();
    const byOrganization = Map.groupBy(things, ({ orgId }) => orgId);
    return [...byOrganization].map(([orgId, found]) => ({
      ...this.#entry,
      id: this.#entryIdOf(orgId),
      orgId,
      ...targets(found.map(({ id }) => id)),
    }));
  }

  #entryIdOf(orgId: string): string {
    const id = this.#entryIds.get(orgId) ?? this.#deps.newId('auditEntry');
    this.#entryIds.set(orgId, id);
    return id;
  }

  /** Filters that match nothing as "visible" find every thing. */
  #all(): Promise<readonly PlacedThing[]> {
    const nothing = { any: [] };
    return this.#find({ agents: nothing, inside: nothing, dataSources: nothing, chats: nothing });
  }

  #unseen(): Promise<readonly PlacedThing[]> {
    const plain: Caller = { ...this.#caller, role: 'MEMBER', level: 'ORGANIZATION' };
    return this.#find({
      agents: usableAgents(plain),
      inside: editableAgents(plain),
      dataSources: visibleDataSources(plain),
      chats: visibleChats(plain),
    });
  }

  async #find(visible: {
    readonly agents: ReturnType<typeof usableAgents>;
    readonly inside: ReturnType<typeof editableAgents>;
    readonly dataSources: ReturnType<typeof visibleDataSources>;
    readonly chats: ReturnType<typeof visibleChats>;
  }): Promise<readonly PlacedThing[]> {
    const { unseen } = this.#deps;
    const things: PlacedThing[] = [];
    const add = async (noun: ContentNoun, find: (ids: readonly string[]) => Promise<readonly PlacedThing[]>) => {
      const ids = this.#seen.get(noun);
      if (ids !== undefined) things.push(...(await find([...ids])));
    };
    await add('instructions', (ids) => unseen.agents(ids, visible.inside));
    await add('agent', (ids) => unseen.agents(ids, visible.agents));
    await add('dataSource', (ids) => unseen.dataSources(ids, visible.dataSources));
    await add('chat', (ids) => unseen.chats(ids, visible.chats));
    await add('run', (ids) => unseen.chatsOfRuns(ids, visible.chats));
    return things;
  }
}
