import type { AgentView, RunnableAgent } from '../../../entities/agents/agent.ts';
import { draftVersion } from '../../../entities/agents/version.ts';
import type { Variant } from '../../../entities/conversations/evaluation/experiment.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import { agentForRun } from '../../agents/agents.ts';
import type { Deps } from '../../deps.ts';
import type { Faults } from '../../ground/faults.ts';

/** Reads the versions that are asked (`draft`, `published`, a number), noting those that there are not. The published one becomes its number. */
export async function readVersions(
  deps: Deps,
  caller: Caller,
  agent: AgentView,
  inputs: readonly string[],
  faults: Faults,
): Promise<readonly Pick<Variant, 'version' | 'draftRevision'>[]> {
  const versions = new Map<string, Pick<Variant, 'version' | 'draftRevision'>>();
  for (const [index, input] of inputs.entries()) {
    const param = `versions[${index}]`;
    const found = await findVersion(deps, caller, agent, input);
    if (found !== undefined) versions.set(found.version, found);
    else
      faults.add(
        param,
        `${param} must be draft, published or the number of a version: there is no version ${input.slice(0, 20)}`,
      );
  }
  return [...versions.values()];
}

async function findVersion(
  deps: Deps,
  caller: Caller,
  { id }: AgentView,
  input: string,
): Promise<Pick<Variant, 'version' | 'draftRevision'> | undefined> {
  const agent = await agentForRun(deps, caller, id);
  if (input === 'draft') return { version: 'draft', draftRevision: agent.draftRevision };
  if (input === 'published') return { version: String(agent.publishedVersion), draftRevision: null };
  if (!/^[1-9]\d{0,8}$/.test(input)) return undefined;
  try {
    await agentForRun(deps, caller, id, { version: Number(input) });
    return { version: input, draftRevision: null };
  } catch (error) {
    if (error instanceof DomainError && error.code === 'NOT_FOUND') return undefined;
    throw error;
  }
}

/** The draft of an experiment was changed: its answers would be those of two agents. */
export class DraftChangedError extends DomainError {
  constructor() {
    super('CONFLICT', 'The draft was changed while the experiment ran: begin a new one', { param: 'id' });
  }
}

/**
 * The agent as a variant asks it.
 *
 * @throws DomainError NOT_FOUND when it is gone, or the caller may not use it any more; DraftChangedError CONFLICT.
 *
 * Cost: nothing while it is cached.
 */
export async function findVariantAgent(
  deps: Deps,
  caller: Caller,
  agentId: string,
  { version, draftRevision }: Variant,
): Promise<RunnableAgent> {
  const agent = await agentForRun(deps, caller, agentId, { version: version === 'draft' ? draftVersion : Number(version) });
  if (draftRevision !== null && agent.draftRevision !== draftRevision) throw new DraftChangedError();
  return agent;
}
