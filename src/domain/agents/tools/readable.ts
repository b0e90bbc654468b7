import { serverNameIn } from '../../../engine/tools/mcp/request-secrets.ts';
import type { RunnableAgent } from '../../../entities/agents/agent.ts';
import { type EnabledTool, toolTypeOf } from '../../../entities/conversations/runs/tool.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import { isId } from '../../../entities/ground/ids.ts';
import type { Caller, Scope } from '../../../entities/people/caller.ts';
import { isObject } from '../../../lib/json/json.ts';
import type { Deps } from '../../deps.ts';
import { visibleDataSources } from '../../ground/access/access.ts';
import { Faults } from '../../ground/faults.ts';

/** The tools of a request. */
export interface RequestedTools {
  readonly enabled: readonly EnabledTool[];
  /** As the request wrote them: errors name their place. */
  readonly written: unknown;
}

/**
 * Makes sure that what the tools of a request name by themselves may be read by the caller, before a run begins. What the agent brings needs only
 * the right to ask the agent.
 *
 * @returns a promise only for tools that name vector stores or data sources.
 * @throws DomainError INSUFFICIENT_SCOPE for things that the key may not read; INVALID_VALUE for a data source that is none of the agent's, for
 * sources and vector stores that the caller may not read, and for a model without anything to search.
 */
export function requireReadableTools(
  deps: Deps,
  caller: Caller,
  { enabled, written }: RequestedTools,
  agent: RunnableAgent | undefined,
): undefined | Promise<undefined> {
  const searches: NamedSources[] = [];
  for (const tool of enabled) {
    if (tool.type === 'mcp_server') requireConnectionScope(deps, caller, tool, written);
    if (tool.type === 'file_search') searches.push(...namedSources(caller, tool, written, agent));
  }
  return searches.length === 0 ? undefined : requireReadable(deps, caller, searches);
}

/** Sources whose rights are checked one by one. */
interface NamedSources {
  readonly param: string;
  readonly what: 'data source' | 'vector store';
  readonly ids: readonly string[];
}

/** A server of the operator is open to the organization. Any other name is that of a connection of the caller. */
function requireConnectionScope({ mcp }: Deps, caller: Caller, tool: EnabledTool, written: unknown): void {
  if (mcp.findOperators(serverNameIn(tool.options), caller) !== undefined) return;
  requireScopeFor(caller, 'CONNECTIONS:READ', `${placeOf(tool, written).at}.server`);
}

function namedSources(
  caller: Caller,
  tool: EnabledTool,
  written: unknown,
  agent: RunnableAgent | undefined,
): readonly NamedSources[] {
  const { at, name } = placeOf(tool, written);
  const stores = textsOf(tool, 'vector_store_ids');
  const sources = textsOf(tool, 'data_source_ids');
  const ofSources = `${at}.${name('data_source_ids')}`;
  const ofStores = `${at}.${name('vector_store_ids')}`;
  if (agent === undefined && stores.length === 0 && sources.length === 0) {
    const message = `${ofStores} is needed here: a model has no knowledge of its own to search`;
    throw new DomainError('MISSING_REQUIRED_PARAMETER', message, { param: ofStores });
  }
  const faults = new Faults();
  for (const id of sources) {
    if (agent !== undefined && !agent.dataSourceIds.includes(id))
      faults.add(ofSources, `${ofSources}: there is no data source ${shown(id)} of this agent`);
  }
  faults.throwIfAny();
  const named: NamedSources[] = [
    ...(stores.length === 0 ? [] : [{ param: ofStores, what: 'vector store' as const, ids: stores }]),
    ...(sources.length === 0 || agent !== undefined ? [] : [{ param: ofSources, what: 'data source' as const, ids: sources }]),
  ];
  for (const { param } of named) requireScopeFor(caller, 'DATA_SOURCES:READ', param);
  return named;
}

async function requireReadable(deps: Deps, caller: Caller, searches: readonly NamedSources[]): Promise<undefined> {
  const faults = new Faults();
  for (const { param, what, ids } of searches) {
    for (const id of new Set(ids)) {
      if (!(await mayRead(deps, caller, what, id))) faults.add(param, `${param}: there is no ${what} ${shown(id)}`);
    }
  }
  faults.throwIfAny();
}

/** A run searches data sources of the organization that is charged. */
async function mayRead({ storage }: Deps, caller: Caller, what: NamedSources['what'], id: string): Promise<boolean> {
  if (!isId('dataSource', id)) return false;
  if (what === 'vector store') return (await storage.vectorStores.find(id, visibleDataSources(caller))) !== undefined;
  return (await storage.dataSources.find(id, visibleDataSources(caller)))?.orgId === caller.orgId;
}

function requireScopeFor(caller: Caller, scope: Scope, param: string): void {
  if (caller.scopes.has(scope)) return;
  throw new DomainError('INSUFFICIENT_SCOPE', `${param} needs a key with the scope ${scope}`, { param });
}

/** Where a request names a tool, and how it spells the members: GraphQL has them in camelCase. The last of equal tools counts. */
function placeOf({ type, options }: EnabledTool, written: unknown) {
  const tools: readonly unknown[] = Array.isArray(written) ? written : [];
  const server = serverNameIn(options);
  const index = tools.findLastIndex((tool) => {
    if (!isObject(tool) || toolTypeOf(tool.type) !== type) return false;
    return type !== 'mcp_server' || serverNameIn(tool) === server;
  });
  const tool = tools[index];
  const isCamel = isObject(tool) && ('vectorStoreIds' in tool || 'dataSourceIds' in tool);
  const name = (member: string) =>
    isCamel ? member.replace(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase()) : member;
  return { at: index < 0 ? 'tools' : `tools[${index}]`, name };
}

function textsOf({ options }: EnabledTool, name: string): readonly string[] {
  const given = options[name];
  return Array.isArray(given) ? given.map(String) : [];
}

function shown(id: string): string {
  return JSON.stringify(id.slice(0, 64));
}
