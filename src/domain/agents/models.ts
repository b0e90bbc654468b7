import type { CatalogEntry, ModelInfo } from '../../engine/models/catalog.ts';
import { DomainError } from '../../entities/ground/errors.ts';
import { isId } from '../../entities/ground/ids.ts';
import type { Caller } from '../../entities/people/caller.ts';
import type { Deps } from '../deps.ts';
import { getAgent, listAgents } from './agents.ts';

/** Clients load the whole list to choose from it. */
const agentsMax = 1_000;

/** The models of this installation, the default first. */
export async function listModels(deps: Deps): Promise<readonly ModelInfo[]> {
  const models = await deps.models.list();
  const defaultId = deps.models.defaultModelId();
  return [...models.filter((model) => model.id === defaultId), ...models.filter((model) => model.id !== defaultId)];
}

/** A model, or an agent that the caller may use. @throws DomainError MODEL_NOT_FOUND, also for a key that may neither read nor run agents. */
export async function findCatalogEntry(deps: Deps, caller: Caller, id: string): Promise<CatalogEntry> {
  if (!isId('agent', id)) {
    const model = await deps.models.find(id);
    if (model === undefined) throw missingModel(id);
    return toCatalogEntry(model);
  }
  if (!mayNameAgents(caller)) throw missingModel(id);
  const { name, createdAt, orgName } = await getAgent(deps, caller, id).catch((error: unknown) => {
    throw error instanceof DomainError && error.code === 'NOT_FOUND' ? missingModel(id) : error;
  });
  return { id, name, createdAtMs: createdAt.getTime(), owner: orgName };
}

/** All models, then the newest agents that the caller may list; no agents for a key that may neither read nor run them. */
export async function listCatalog(deps: Deps, caller: Caller): Promise<readonly CatalogEntry[]> {
  const models = (await listModels(deps)).map(toCatalogEntry);
  if (!mayNameAgents(caller)) return models;
  const { items } = await listAgents(deps, caller, { scope: 'ALL' }, { limit: agentsMax, after: undefined });
  return [
    ...models,
    ...items.map(({ id, name, createdAt, orgName }) => ({ id, name, createdAtMs: createdAt.getTime(), owner: orgName })),
  ];
}

function toCatalogEntry({ id, provider, createdAtMs }: ModelInfo): CatalogEntry {
  return { id, name: id, createdAtMs, owner: provider };
}

function mayNameAgents({ scopes }: Caller): boolean {
  return scopes.has('AGENTS:READ') || scopes.has('CHATS:WRITE');
}

export function missingModel(id: string, param = 'model'): DomainError {
  return new DomainError('MODEL_NOT_FOUND', `There is no model or agent "${id.slice(0, 100)}"`, { param });
}
