import { serverNameIn } from '../../../engine/tools/mcp/request-secrets.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import { isId } from '../../../entities/ground/ids.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import { isObject } from '../../../lib/json/json.ts';
import type { Deps } from '../../deps.ts';
import { type NamedFile, requireOwnFiles } from '../../ground/attachments/own-files.ts';
import { requireAskable } from './subagents.ts';

/**
 * Makes sure that the agents, the MCP servers and the images that the tools of a request name exist for the caller, before anything is stored.
 *
 * @throws DomainError NOT_FOUND for an agent, INVALID_VALUE for a server and an image, naming the member.
 *
 * Cost: no promise unless a tool names a connection, an image, or an agent that is not cached; then a statement for each.
 */
export function requireNamedParts(deps: Deps, caller: Caller, tools: unknown): undefined | Promise<undefined> {
  const unknown = namedServers(tools).filter(({ name }) => isConnection(deps, caller, name));
  const askable = requireAskable(deps, caller, tools);
  const images = requireOwnImages(deps, caller, tools);
  if (unknown.length === 0 && images === undefined) return askable;
  return Promise.all([askable, images, ...unknown.map((server) => requireConnection(deps, caller, server))]).then(
    () => undefined,
  );
}

/** A key that may not read connections is refused with the scope that it lacks, by requireReadableTools. */
function isConnection({ mcp }: Deps, caller: Caller, name: string): boolean {
  return caller.scopes.has('CONNECTIONS:READ') && mcp.findOperators(name, caller) === undefined;
}

interface NamedServer {
  readonly name: string;
  readonly param: string;
}

function namedServers(tools: unknown): readonly NamedServer[] {
  if (!Array.isArray(tools)) return [];
  return tools.flatMap((tool: unknown, index): readonly NamedServer[] => {
    if (!isObject(tool) || tool.type !== 'mcp_server') return [];
    const name = serverNameIn(tool);
    const member = ['server', 'server_id', 'id', 'name', 'server_label'].find((one) => tool[one] === name) ?? 'server';
    return name === '' ? [] : [{ name, param: `tools[${index}].${member}` }];
  });
}

/** Another user's connection is missing: its secrets are that user's. */
async function requireConnection({ storage, mcp }: Deps, caller: Caller, { name, param }: NamedServer): Promise<void> {
  const owner = { orgId: caller.orgId, ownerUserId: caller.userId };
  const found = isId('mcpServer', name)
    ? await storage.connections.find(name, owner)
    : await storage.connections.findMcpServer(name, owner);
  if (found?.kind === 'MCP_SERVER') return;
  const known = mcp.operatorNames(caller).slice(0, 20).join(', ');
  const others = known === '' ? '' : `; servers of this installation: ${known}`;
  const message = `${param}: there is no MCP server ${JSON.stringify(name.slice(0, 100))} for you: it must be the name of one of this installation, or the name or id of a connection of yours${others}`;
  throw new DomainError('INVALID_VALUE', message, { param });
}

/**
 * Checks the images that a request gives to `image_generation` to be changed: files of the caller.
 *
 * @param tools  of the request, as it was given; their forms are checked before.
 * @throws DomainError INVALID_VALUE, rejected, that names the member. Another user's file is answered like a missing one.
 *
 * Cost: no promise and no statement unless a tool names an image; then one statement.
 */
function requireOwnImages(deps: Deps, caller: Caller, tools: unknown): undefined | Promise<unknown> {
  const named = imagesIn(tools);
  // A run reads no files of data sources by their ids.
  return named.length === 0 ? undefined : requireOwnFiles(deps, { ...caller, scopes: new Set() }, named);
}

function imagesIn(tools: unknown): readonly NamedFile[] {
  if (!Array.isArray(tools)) return [];
  return tools.flatMap((tool: unknown, index): readonly NamedFile[] => {
    if (!isObject(tool) || tool.type !== 'image_generation') return [];
    const member = tool.inputImage === undefined || tool.inputImage === null ? 'input_image' : 'inputImage';
    const id = tool[member];
    return typeof id === 'string' ? [{ id, param: `tools[${index}].${member}` }] : [];
  });
}
