import type { Deps } from '../domain/deps.ts';
import type { RunnableAgent } from '../entities/agents/agent.ts';
import { DomainError } from '../entities/ground/errors.ts';
import { isId } from '../entities/ground/ids.ts';
import { protocolVersion } from '../wire/a2a/params.ts';

const textTypes = ['text/plain', 'application/json'];
const documentTypes = ['text/markdown', 'text/csv', 'text/html', 'application/pdf'];
const imageTypes = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

/**
 * An agent that shows itself to everybody.
 *
 * @throws DomainError NOT_FOUND, also for one that asks for a key.
 */
export async function findPublicAgent({ storage, now }: Deps, id: string): Promise<RunnableAgent> {
  const agent = isId('agent', id) ? await storage.agents.findRunnable(id, now().getTime()) : undefined;
  if (agent === undefined || agent.visibility !== 'ANYONE_WITH_LINK') throw missingCard();
  return agent;
}

function missingCard(): DomainError {
  return new DomainError('NOT_FOUND', 'There is no such card for everybody: send a key that may use the agent', {
    param: 'aiId',
  });
}

/** The card of an agent. @param isExtended  for a caller who may use it: with its skills. */
export async function toCard(deps: Deps, agent: RunnableAgent, isExtended: boolean): Promise<object> {
  const { id, name, description, src, version, modelId } = agent;
  const model = modelId === null ? undefined : await deps.models.find(modelId);
  const about = description.trim() === '' ? `Answers as ${name}.` : description;
  const skill = { id: 'ask', name, description: about, tags: ['chat', ...(agent.dataSourceIds.length > 0 ? ['knowledge'] : [])] };
  const own = agent.skills.map((one) => ({ id: one.id, name: one.name, description: one.description, tags: ['skill'] }));
  return {
    name,
    description: about,
    supportedInterfaces: [{ url: `${deps.publicUrl()}/a2a/${id}`, protocolBinding: 'JSONRPC', protocolVersion }],
    version: String(version),
    capabilities: { streaming: true, pushNotifications: true, extendedAgentCard: true },
    securitySchemes: {
      bearer: { httpAuthSecurityScheme: { scheme: 'Bearer', description: 'An API key with CHATS:WRITE and CHATS:READ.' } },
    },
    securityRequirements: [{ schemes: { bearer: { list: [] } } }],
    defaultInputModes: [...textTypes, ...documentTypes, ...(model?.acceptsImages === false ? [] : imageTypes)],
    defaultOutputModes: textTypes,
    skills: isExtended ? [skill, ...own] : [skill],
    ...(/^https?:\/\//.test(src) ? { iconUrl: src } : {}),
  };
}
