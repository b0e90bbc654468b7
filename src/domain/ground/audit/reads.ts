import { type AuditedRequest, auditTargetsMax } from '../../../entities/operations/audit.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { AuditBatch } from '../../../storage/operations/audit/batch.ts';
import type { NewAuditEntry } from '../../../storage/operations/audit/entries.ts';
import type { PlacedThing, UnseenContent } from '../../../storage/operations/audit/unseen-content.ts';
import { editableAgents, usableAgents, visibleChats, visibleDataSources } from '../access/access.ts';
import type { CallOrigin } from './origin.ts';
import { targets } from './targets.ts';

/** What reads need of the service. */
export interface ReadDeps {
  readonly batch: AuditBatch;
  readonly unseen: UnseenContent;
  newId(kind: 'auditEntry'): string;
  now(): Date;
}

/** Kinds of people's content. `instructions`: the inner data of an agent, which callers who may only use the agent do not see. */
export type ContentNoun = 'agent' | 'instructions' | 'dataSource' | 'chat';

/** A thing that a caller was shown. With its owner, reads of own things are not looked up in the database. */
export interface ShownThing {
  readonly id: string;
  readonly orgId?: string;
  readonly userId?: string;
  readonly ownerUserId?: string;
}

/** Operations that always get an entry: they hand out a copy. */
export const exportOperations: ReadonlySet<string> = new Set(['agentBundle', 'chatExport', 'chatTree']);

/** Operations that show what somebody shared: an entry about the share, unless its maker looks. */
export const sharedOperations: ReadonlySet<string> = new Set(['sharedChat', 'sharedChatUpdated']);

/**
 * The caller of a request, so that what it reads becomes an entry. A caller of whom no read does is returned as it is: one who sees no more than a
 * plain member of its organization, unless it exports.
 *
 * @param actions  the root fields of the request.
 */
export function toReader(caller: Caller, actions: readonly string[], origin: CallOrigin): Caller {
  const isAdministrator = caller.role !== 'MEMBER' || caller.level !== 'ORGANIZATION';
  const isEntered = (action: string) => exportOperations.has(action) || sharedOperations.has(action);
  if (!isAdministrator && !actions.some(isEntered)) return caller;
  const { requestId, address } = origin;
  return { ...caller, request: { action: actions.join(', '), requestId, address, changedIds: new Set() } };
}

/**
 * What one request showed. Becomes one audit entry in each organization (one more for every further `auditTargetsMax` things), with the things that a
 * plain member would not have seen, and with exports, whoever made them; no entry without such a thing.
 */
export class RequestReads {
  readonly #deps: ReadDeps;
  readonly #caller: Caller;
  readonly #changedIds: ReadonlySet<string>;
  readonly #entry: Omit<NewAuditEntry, 'id' | 'orgId' | 'targetKind' | 'targetId' | 'targetIds'>;
  readonly #seen = new Map<ContentNoun, Set<string>>();
  readonly #exports = new Map<string, PlacedThing>();
  /** The same entries also when the request reads more after they were written. */
  readonly #entryIds = new Map<string, string>();
  #isWaiting = false;

  constructor(deps: ReadDeps, caller: Caller, { action, requestId, address, changedIds }: AuditedRequest) {
    this.#deps = deps;
    this.#caller = caller;
    this.#changedIds = changedIds;
    this.#entry = {
      createdAt: deps.now(),
      actorUserId: caller.userId,
      actorKeyId: caller.keyId,
      action,
      kind: 'READ',
      outcome: 'SUCCEEDED',
      count: 1,
      changes: [],
      requestId,
      address: address ?? null,
    };
  }

  note(noun: ContentNoun, things: readonly ShownThing[]): void {
    const nounIds = this.#seen.get(noun) ?? new Set<string>();
    const countBefore = nounIds.size;
    for (const thing of things) if (!this.#isOwn(thing) && !this.#changedIds.has(thing.id)) nounIds.add(thing.id);
    if (nounIds.size === countBefore) return;
    this.#seen.set(noun, nounIds);
    this.#write();
  }

  noteExport({ id, orgId }: PlacedThing): void {
    this.#exports.set(id, { id, orgId });
    this.#write();
  }

  #isOwn({ orgId, userId, ownerUserId = userId }: ShownThing): boolean {
    return ownerUserId === this.#caller.userId && orgId === this.#caller.orgId;
  }

  #write(): void {
    if (!this.#isWaiting) this.#isWaiting = this.#deps.batch.add(() => this.#entries());
  }

  async #entries(): Promise<readonly NewAuditEntry[]> {
    this.#isWaiting = false;
    const things = new Map([...this.#exports.values(), ...(await this.#unseen())].map((thing) => [thing.id, thing]));
    return [...Map.groupBy(things.values(), ({ orgId }) => orgId)].flatMap(([orgId, orgThings]) =>
      Array.from({ length: Math.ceil(orgThings.length / auditTargetsMax) }, (_, part) => ({
        ...this.#entry,
        id: this.#entryIdOf(`${orgId} ${part}`),
        orgId,
        ...targets(orgThings.slice(part * auditTargetsMax, (part + 1) * auditTargetsMax).map(({ id }) => id)),
      })),
    );
  }

  #entryIdOf(place: string): string {
    const id = this.#entryIds.get(place) ?? this.#deps.newId('auditEntry');
    this.#entryIds.set(place, id);
    return id;
  }

  async #unseen(): Promise<readonly PlacedThing[]> {
    const { unseen } = this.#deps;
    const plain: Caller = { ...this.#caller, role: 'MEMBER', level: 'ORGANIZATION' };
    const find = async (noun: ContentNoun, ofIds: (ids: readonly string[]) => Promise<readonly PlacedThing[]>) => {
      const ids = this.#seen.get(noun);
      return ids === undefined ? [] : ofIds([...ids]);
    };
    return [
      ...(await find('instructions', (ids) => unseen.agents(ids, editableAgents(plain)))),
      ...(await find('agent', (ids) => unseen.agents(ids, usableAgents(plain)))),
      ...(await find('dataSource', (ids) => unseen.dataSources(ids, visibleDataSources(plain)))),
      ...(await find('chat', (ids) => unseen.chats(ids, visibleChats(plain)))),
    ];
  }
}
