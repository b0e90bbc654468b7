import type { AgentView } from '../../../entities/agents/agent.ts';
import type { AgentPart, AgentPartKind, AgentParts, EndedApproval, PartView } from '../../../entities/agents/part.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import { isId } from '../../../entities/ground/ids.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { PartTable } from '../../../storage/agents/parts/part-table.ts';
import type { Deps } from '../../deps.ts';
import { canEditAgent } from '../../ground/access/access.ts';
import { findAgent, getAgent } from '../agents.ts';
import { findPublishedKind } from '../versions/published-view.ts';

/** An agent whose parts the caller may change. @throws DomainError NOT_FOUND; FORBIDDEN when the caller may only use it. */
export async function editableAgent(deps: Deps, caller: Caller, agentId: string): Promise<AgentView> {
  const agent = await getAgent(deps, caller, agentId);
  requireEditable(caller, agent);
  return agent;
}

function requireEditable(caller: Caller, agent: AgentView): void {
  if (canEditAgent(caller, agent)) return;
  throw new DomainError('FORBIDDEN', 'Only the owner, editors and administrators may change what an agent is made of');
}

/** Whether an agent lost its approval. @param before  the agent before the change. Cost: a statement for an approved agent. */
export async function endedApproval(
  { storage }: Deps,
  before: Pick<AgentView, 'id' | 'isApprovedByOrg'>,
): Promise<EndedApproval> {
  return before.isApprovedByOrg && !(await storage.agents.isApproved(before.id)) ? { endedApproval: true } : {};
}

/** A part by its id alone, or by that of its agent too, which REST has in its paths: a part of another agent is not there. */
export interface PartPlace {
  readonly id: string;
  readonly agentId?: string | null | undefined;
}

/** A part with its agent. @throws DomainError NOT_FOUND. Cost: one statement for each of the two, and for the versions of a flow. */
export function getPart<Kind extends AgentPartKind>(
  deps: Deps,
  caller: Caller,
  kind: Kind,
  place: PartPlace,
): Promise<Found<Kind>> {
  return findPart(deps, caller, kind, place, () => {});
}

/** The same for who may change it. @throws DomainError NOT_FOUND; FORBIDDEN when the caller may only use the agent. */
export function editablePart<Kind extends AgentPartKind>(
  deps: Deps,
  caller: Caller,
  kind: Kind,
  place: PartPlace,
): Promise<Found<Kind>> {
  return findPart(deps, caller, kind, place, (agent) => requireEditable(caller, agent));
}

type PartOf<Kind extends AgentPartKind> = AgentParts[Kind][number];
interface Found<Kind extends AgentPartKind> {
  readonly agent: AgentView;
  readonly part: PartOf<Kind>;
}
type Lookups = { readonly [Kind in AgentPartKind]: Pick<PartTable<PartOf<Kind>>, 'find'> };

/** @param check  refuses an agent, before anyone is told whether it has the part. */
async function findPart<Kind extends AgentPartKind>(
  deps: Deps,
  caller: Caller,
  kind: Kind,
  { id, agentId }: PartPlace,
  check: (agent: AgentView) => void,
): Promise<Found<Kind>> {
  const { idKind, param } = partKinds[kind];
  const table = (deps.storage.agents.parts satisfies Lookups as Lookups)[kind];
  const isPossible = isId(idKind, id);
  // Who may not edit an agent whose draft differs sees the part as people get it.
  const findShown = async (part: PartOf<Kind> | undefined, agent: AgentView) => {
    const published = await findPublishedKind(deps, caller, agent, kind);
    return published === undefined ? part : published.find((one) => one.id === id);
  };
  if (agentId !== undefined && agentId !== null) {
    const agent = await getAgent(deps, caller, agentId);
    check(agent);
    const part = isPossible ? await findShown(await table.find(agent.id, id), agent) : undefined;
    if (part === undefined) throw missingPart(param);
    return { agent, part };
  }
  const part = isPossible ? await table.find(undefined, id) : undefined;
  const agent = part === undefined ? undefined : await findAgent(deps, caller, part.agentId);
  if (part === undefined || agent === undefined) throw missingPart(param);
  check(agent);
  const shownPart = await findShown(part, agent);
  if (shownPart === undefined) throw missingPart(param);
  return { agent, part: shownPart };
}

/** The kinds of parts: of which kind their ids are, and the parameter that names one. */
export const partKinds = {
  tools: { idKind: 'agentTool', param: 'toolId' },
  userInputs: { idKind: 'agentUserInput', param: 'userInputId' },
  skills: { idKind: 'agentSkill', param: 'skillId' },
  flows: { idKind: 'agentFlow', param: 'flowId' },
  secrets: { idKind: 'agentSecret', param: 'secretId' },
} as const satisfies Readonly<Record<AgentPartKind, object>>;

/** What only editors of the agent see of a part; null for others. */
export function readInside<Part extends AgentPart, Inside>(
  deps: Deps,
  caller: Caller,
  part: PartView<Part>,
  inside: (part: Part) => Inside,
): Inside | null {
  if (!part.isWhole) return null;
  deps.audit.read(caller, 'instructions', [{ id: part.agentId }]);
  return inside(part);
}

export function missingPart(param: string): DomainError {
  return new DomainError('NOT_FOUND', `There is no such ${nouns[param] ?? 'part'}`, { param });
}

const nouns: Readonly<Record<string, string>> = {
  toolId: 'tool',
  userInputId: 'user input',
  skillId: 'skill',
  flowId: 'flow',
  secretId: 'secret',
};
