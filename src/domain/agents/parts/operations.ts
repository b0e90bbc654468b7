import type { AgentView } from '../../../entities/agents/agent.ts';
import type { AgentPart, AgentPartKind, AgentParts, EndedApproval, PartView } from '../../../entities/agents/part.ts';
import type { IdKind } from '../../../entities/ground/ids.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { AgentPartStore } from '../../../storage/agents/parts/parts.ts';
import type { Transaction } from '../../../storage/ground/database.ts';
import type { Deps } from '../../deps.ts';
import { canEditAgent } from '../../ground/access/access.ts';
import { Faults } from '../../ground/faults.ts';
import { getAgent, getAgents } from '../agents.ts';
import { changeAgents, type ExpectedDraft } from '../versions/change.ts';
import { findPublishedKind, findPublishedParts } from '../versions/published-view.ts';
import { editableAgent, editablePart, endedApproval, getPart, missingPart, type PartPlace, partKinds } from './access.ts';

/** What callers do with the parts of one kind. The parts of an agent are shown whole to who may edit it, and changed by them alone. */
export interface PartOperations<Part extends AgentPart, New, Changes> {
  /** The parts of an agent, in order. @throws DomainError NOT_FOUND; FORBIDDEN where only editors see the kind. */
  list(deps: Deps, caller: Caller, agentId: string): Promise<readonly PartView<Part>[]>;
  /** @throws DomainError NOT_FOUND; FORBIDDEN where only editors see the kind. */
  get(deps: Deps, caller: Caller, place: PartPlace): Promise<PartView<Part>>;
  /** The parts with these ids, of any agents: those that the caller may see. */
  getMany(deps: Deps, caller: Caller, ids: readonly string[]): Promise<readonly PartView<Part>[]>;
  /** @throws DomainError NOT_FOUND, FORBIDDEN, CONFLICT for a taken name or too many parts, or with every fault of the input. */
  create(deps: Deps, caller: Caller, agentId: string, input: New, expectedDraft?: ExpectedDraft): Promise<PartView<Part>>;
  /** @throws DomainError NOT_FOUND, FORBIDDEN, CONFLICT, or with every fault of the input. */
  update(deps: Deps, caller: Caller, place: PartPlace, input: Changes, expectedDraft?: ExpectedDraft): Promise<PartView<Part>>;
  /** @returns the former part. @throws DomainError NOT_FOUND, FORBIDDEN. */
  delete(deps: Deps, caller: Caller, place: PartPlace, expectedDraft?: ExpectedDraft): Promise<PartView<Part>>;
  /** A part as the caller sees it. */
  show(caller: Caller, agent: AgentView, part: Part): PartView<Part>;
}

/** A write of a part. Its rules add what is wrong with the input to the faults. */
export interface PartWrite {
  readonly deps: Deps;
  readonly caller: Caller;
  readonly agent: AgentView;
  /** The id of the part. */
  readonly id: string;
  readonly faults: Faults;
}

/** What is stored of a part, and what is written with it in the same transaction. */
interface StoredValues<Values> {
  readonly values: Values;
  readonly also?: (tx: Transaction) => Promise<void>;
}

/** What one kind of parts has of its own. */
export interface PartRules<Kind extends AgentPartKind, New, Changes, Values> {
  readonly kind: Kind;
  /** What callers see who may not edit the agent. `nothing`: the kind is for editors alone. */
  readonly hide: ((part: PartOf<Kind>) => PartOf<Kind>) | 'nothing';
  readonly readNew: (input: New, write: PartWrite) => StoredValues<Values> | Promise<StoredValues<Values>>;
  readonly readChanges: (
    input: Changes,
    before: PartOf<Kind>,
    write: PartWrite,
  ) => StoredValues<Partial<Values>> | Promise<StoredValues<Partial<Values>>>;
  /** What is deleted with a part of the agent, in the same transaction. */
  readonly alsoDelete?: (tx: Transaction, agentId: string) => Promise<void>;
}

type PartOf<Kind extends AgentPartKind> = AgentParts[Kind][number];
type Also = StoredValues<unknown>['also'];

interface PartStore<Part extends AgentPart, Values> {
  ofAgents(agentIds: readonly string[]): Promise<readonly Part[]>;
  findMany(ids: readonly string[]): Promise<readonly Part[]>;
  create(part: Values & Omit<AgentPart, 'updatedAt'>, also: Also): Promise<Part>;
  update(agentId: string, id: string, changes: Partial<Values>, also: Also): Promise<Part>;
  delete(agentId: string, id: string, also: Also): Promise<boolean>;
}

/** The operations of one kind of parts. */
export function createPartOperations<Kind extends AgentPartKind, New, Changes, Values>(
  rules: PartRules<Kind, New, Changes, Values>,
  findStore: (stores: AgentPartStore) => PartStore<PartOf<Kind>, Values>,
): PartOperations<PartOf<Kind>, New, Changes> {
  type Part = PartOf<Kind>;
  const { kind, hide } = rules;
  const { idKind, param }: { readonly idKind: IdKind; readonly param: string } = partKinds[kind];
  const storeOf = ({ storage }: Deps) => findStore(storage.agents.parts);
  const findForReading = hide === 'nothing' ? editablePart : getPart;
  const show = (caller: Caller, agent: AgentView, part: Part): PartView<Part> =>
    hide === 'nothing' || canEditAgent(caller, agent) ? toView<Part>(part, true) : toView<Part>(hide(part), false);
  const showChanged = async (deps: Deps, agent: AgentView, part: Part): Promise<PartView<Part>> =>
    toView<Part>(part, true, await endedApproval(deps, agent));
  return {
    show,
    async list(deps, caller, agentId) {
      const agent = await (hide === 'nothing' ? editableAgent : getAgent)(deps, caller, agentId);
      const parts = (await findPublishedKind(deps, caller, agent, kind)) ?? (await storeOf(deps).ofAgents([agent.id]));
      return parts.map((part) => show(caller, agent, part));
    },
    async get(deps, caller, place) {
      const { agent, part } = await findForReading(deps, caller, kind, place);
      return show(caller, agent, part);
    },
    async getMany(deps, caller, ids) {
      const parts = await storeOf(deps).findMany(ids);
      const visible = await getAgents(deps, caller, [...new Set(parts.map(({ agentId }) => agentId))]);
      const agents = new Map(visible.map((agent) => [agent.id, agent]));
      const published = await findPublishedParts(deps, caller, visible);
      return parts.flatMap((part) => {
        const agent = agents.get(part.agentId);
        const isHidden = agent === undefined || (hide === 'nothing' && !canEditAgent(caller, agent));
        if (isHidden) return [];
        const ofPeople =
          kind === 'secrets' ? undefined : (published.get(agent.id)?.[kind as Exclude<Kind, 'secrets'>] as readonly Part[]);
        const shownPart = ofPeople === undefined ? part : ofPeople.find(({ id }) => id === part.id);
        return shownPart === undefined ? [] : [show(caller, agent, shownPart)];
      });
    },
    async create(deps, caller, agentId, input, expectedDraft) {
      const agent = await editableAgent(deps, caller, agentId);
      const write = { deps, caller, agent, id: deps.newId(idKind), faults: new Faults() };
      const { values, also } = await rules.readNew(input, write);
      write.faults.throwIfAny();
      const row = { ...values, id: write.id, createdAt: deps.now(), agentId: agent.id };
      const add = () => storeOf(deps).create(row, also);
      const storedPart = await changeAgents(deps, caller, [agent.id], add, expectedDraft);
      return showChanged(deps, agent, storedPart);
    },
    async update(deps, caller, place, input, expectedDraft) {
      const { agent, part: before } = await editablePart(deps, caller, kind, place);
      const reading = { deps, caller, agent, id: before.id, faults: new Faults() };
      const { values, also } = await rules.readChanges(input, before, reading);
      reading.faults.throwIfAny();
      const write = () => storeOf(deps).update(agent.id, before.id, values, also);
      const storedPart = await changeAgents(deps, caller, [agent.id], write, expectedDraft);
      return showChanged(deps, agent, storedPart);
    },
    async delete(deps, caller, place, expectedDraft) {
      const { agent, part } = await editablePart(deps, caller, kind, place);
      const { alsoDelete } = rules;
      const also = alsoDelete === undefined ? undefined : (tx: Transaction) => alsoDelete(tx, agent.id);
      const remove = async () => {
        if (!(await storeOf(deps).delete(agent.id, part.id, also))) throw missingPart(param);
      };
      await changeAgents(deps, caller, [agent.id], remove, expectedDraft);
      return showChanged(deps, agent, part);
    },
  };
}

function toView<Part extends AgentPart>(part: Part, isWhole: boolean, approval: EndedApproval = {}): PartView<Part> {
  return { ...part, isWhole, ...approval };
}

/** Null is a fault of these members. */
export function refuseNull<Name extends string>(
  input: { readonly [Member in Name]?: unknown },
  names: readonly Name[],
  faults: Faults,
): void {
  for (const name of names) if (input[name] === null) faults.add(name, `${name} cannot be null`);
}
