import type { ModelInfo } from '../../engine/models/catalog.ts';
import type { Caller } from '../../entities/accounts/caller.ts';
import { listAgents } from '../agents/agents.ts';
import type { Deps } from '../deps.ts';

/** A value of `model` for completions. */
export interface CatalogEntry {
  readonly id: string;
  /** The name shown to people. */
  readonly name: string;
  readonly createdAtMs: number;
  /** The provider of a model, or the organization of an agent. */
  readonly ownedBy: string;
}

/** Clients load the whole list to choose from it. */
const agentsMax = 1_000;

/** The models of this installation, the default first. */
export async function listModels(deps: Deps): Promise<readonly ModelInfo[]> {
  const models = await deps.models.list();
  const defaultId = deps.models.defaultModelId();
  return [...models.filter((model) => model.id === defaultId), ...models.filter((model) => model.id !== defaultId)];
}

/** All models, then the newest agents that the caller may list; no agents for a key that may neither read nor run them. */
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
