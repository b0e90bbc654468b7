import type { RunnableAgent } from '../../../entities/agents/agent.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import { isId } from '../../../entities/ground/ids.ts';
import type { Caller, Scope } from '../../../entities/people/caller.ts';
import type { NamedPart, NamedSources, RequestTools } from '../../agents/tools/read.ts';
import type { Deps } from '../../deps.ts';
import { visibleDataSources } from '../../ground/access/access.ts';
import { requireOwnFiles } from '../../ground/attachments/own-files.ts';
import { Faults } from '../../ground/faults.ts';
import { toMember } from './agent-rights.ts';
import { findFor } from './subagents.ts';

/**
 * Makes sure that what the tools of a request name by themselves exists for the caller and may be read, before anything is stored: agents, MCP
 * servers, images, data sources and vector stores. What the agent brings needs only the right to ask the agent.
 *
 * @throws DomainError naming the member: NOT_FOUND for an agent; INVALID_VALUE for a server, an image, a vector store, a data source, and
 * one that is none of the agent's; INSUFFICIENT_SCOPE for things that the key may not read; MISSING_REQUIRED_PARAMETER for a model without anything to
 * search.
 *
 * Cost: a statement for each server, source and store, and for each agent that is not cached; one for all images.
 */
export async function requireNamedParts(
  deps: Deps,
  caller: Caller,
  { parts, serviceTools }: Pick<RequestTools, 'parts' | 'serviceTools'>,
  agent: RunnableAgent | undefined,
): Promise<void> {
  for (const part of parts) {
    // A tool that the choice leaves out, or a later one replaces, reads nothing.
    const mayRun = serviceTools.includes(part.tool);
    if (part.kind === 'server') await requireServer(deps, caller, part, mayRun);
    if (part.kind === 'search' && mayRun) await requireSources(deps, caller, part, agent);
    if (part.kind === 'agent') await requireAskable(deps, caller, part);
  }
  const images = parts.flatMap((part) => (part.kind === 'image' ? [part] : []));
  // A run reads no files of data sources by their ids.
  await requireOwnFiles(deps, { ...caller, scopes: new Set() }, images);
}

type NamedAgent = Extract<NamedPart, { readonly kind: 'agent' | 'image' }>;
type NamedServer = Extract<NamedPart, { readonly kind: 'server' }>;

/** A run works with the rights of a plain member, so an agent that only an administrator may use is refused too. */
async function requireAskable(deps: Deps, caller: Caller, { id, param }: NamedAgent): Promise<void> {
  if ((await findFor(deps, toMember(caller), id)) !== undefined) return;
  throw new DomainError('NOT_FOUND', `${param} names no AI that you may use`, { param });
}

/** A server of the operator is open to the organization. Any other name is that of a connection of the caller: another user's has that user's secrets. */
async function requireServer(
  { storage, mcp }: Deps,
  caller: Caller,
  { id, param, at }: NamedServer,
  mayRun: boolean,
): Promise<void> {
  if (mcp.findOperators(id, caller) !== undefined) return;
  if (mayRun) requireScopeFor(caller, 'CONNECTIONS:READ', `${at}.server`);
  if (param === undefined || !caller.scopes.has('CONNECTIONS:READ')) return;
  const owner = { orgId: caller.orgId, ownerUserId: caller.userId };
  const { connections } = storage.knowledge;
  const connection = isId('mcpServer', id) ? await connections.find(id, owner) : await connections.findMcpServer(id, owner);
  if (connection?.kind === 'MCP_SERVER') return;
  const names = mcp.operatorNames(caller).slice(0, 20).join(', ');
  const others = names === '' ? '' : `; servers of this installation: ${names}`;
  const message = `${param}: there is no MCP server ${JSON.stringify(id.slice(0, 100))} for you: it must be the name of one of this installation, or the name or id of a connection of yours${others}`;
  throw new DomainError('INVALID_VALUE', message, { param });
}

async function requireSources(
  deps: Deps,
  caller: Caller,
  { stores, sources }: Extract<NamedPart, { readonly kind: 'search' }>,
  agent: RunnableAgent | undefined,
): Promise<void> {
  if (agent === undefined && stores.ids.length === 0 && sources.ids.length === 0) {
    const message = `${stores.param} is needed here: a model has no knowledge of its own to search`;
    throw new DomainError('MISSING_REQUIRED_PARAMETER', message, { param: stores.param });
  }
  const faults = new Faults();
  if (agent !== undefined) {
    const others = sources.ids.filter((id) => !agent.dataSourceIds.includes(id));
    for (const id of others) faults.add(sources.param, `${missing(sources, 'data source', id)} of this agent`);
    faults.throwIfAny();
  }
  const { storage } = deps;
  const where = visibleDataSources(caller);
  const unchecked = agent === undefined ? [stores, sources] : [stores];
  for (const { ids, param } of unchecked) if (ids.length > 0) requireScopeFor(caller, 'DATA_SOURCES:READ', param);
  for (const id of new Set(stores.ids)) {
    const store = isId('dataSource', id) ? await storage.knowledge.vectorStores.find(id, where) : undefined;
    if (store === undefined) faults.add(stores.param, missing(stores, 'vector store', id));
  }
  for (const id of agent === undefined ? new Set(sources.ids) : []) {
    const source = isId('dataSource', id) ? await storage.knowledge.sources.find(id, where) : undefined;
    // A run searches data sources of the organization that is charged.
    if (source?.orgId !== caller.orgId) faults.add(sources.param, missing(sources, 'data source', id));
  }
  faults.throwIfAny();
}

function missing({ param }: NamedSources, what: string, id: string): string {
  return `${param}: there is no ${what} ${JSON.stringify(id.slice(0, 64))}`;
}

function requireScopeFor(caller: Caller, scope: Scope, param: string): void {
  if (caller.scopes.has(scope)) return;
  throw new DomainError('INSUFFICIENT_SCOPE', `${param} needs a key with the scope ${scope}`, { param });
}
