import type { ModelInfo } from '../../engine/models/catalog.ts';
import type { Caller } from '../../entities/accounts/caller.ts';
import { listAgents } from '../agents/agents.ts';
import type { Deps } from '../deps.ts';

/** What `model` of a completion may name. */
export interface CatalogEntry {
  readonly id: string;
  /** For people. */
  readonly name: string;
  readonly createdAtMs: number;
  /** The provider of a model, the organization of an agent. */
  readonly ownedBy: string;
}

/** Clients show these as one list to choose from. */
const agentsMax = 1_000;

/** The models of this installation, the default first. */
export async function listModels(deps: Deps): Promise<readonly ModelInfo[]> {
  const models = await deps.models.list();
  const defaultId = deps.models.defaultModelId();
  return [...models.filter((model) => model.id === defaultId), ...models.filter((model) => model.id !== defaultId)];
}

/** Models, then the newest agents that the caller may list; none of those for a key that may neither read agents nor run them. */
export async function listCatalog(deps: Deps, caller: Caller): Promise<readonly CatalogEntry[]> {
  const models = (await listModels(deps)).map(({ id, provider, createdAtMs }) => ({
    id,
    name: id,
    createdAtMs,
    ownedBy: provider,
  }));
  if (!caller.scopes.has('AGENTS:READ') && !caller.scopes.has('CHATS:WRITE')) return models;
  const { items } = await listAgents(deps, caller, { scope: 'ALL' }, { limit: agentsMax, after: undefined });
  return [
    ...models,
    ...items.map(({ id, name, createdAt, orgName }) => ({ id, name, createdAtMs: createdAt.getTime(), ownedBy: orgName })),
  ];
}
