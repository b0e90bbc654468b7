import type { WireObject } from '../../../entities/conversations/runs/response.ts';
import { readString, readStringMembers } from '../../../lib/json/json.ts';

type Secrets = Readonly<Record<string, string>>;

/**
 * The secrets that a request gives with its MCP tools, as secrets of the run: they live where `user_secrets` live, in memory, and are masked
 * like them. Their keys name the server, so that no other tool gets them by accident.
 *
 * @param tool  a tool of type `mcp` or `mcp_server` as the request wrote it, checked.
 */
export function readRequestSecrets(tool: WireObject): Secrets {
  if (tool.type === 'mcp') {
    const label = String(tool.server_label);
    const authorization = readString(tool.authorization);
    return {
      ...prefixed(headerPrefix(label), tool.headers),
      ...(authorization === undefined ? {} : { [authorizationKey(label)]: authorization }),
    };
  }
  return tool.type === 'mcp_server' ? prefixed(secretPrefix(serverNameIn(tool)), tool.secrets) : {};
}

/** The headers that a request gave for a server of type `mcp`, from the secrets of its run. */
export function toRequestHeaders(label: string, secrets: Secrets): Secrets {
  const headers = unprefixed(headerPrefix(label), secrets);
  const token = secrets[authorizationKey(label)];
  return token === undefined ? headers : { ...headers, authorization: /^\S+ /.test(token) ? token : `Bearer ${token}` };
}

/** What fills `{{secret:KEY}}` for one server: its own secrets, then those of the user. */
export function secretsFor(server: string, secrets: Secrets): Secrets {
  return { ...secrets, ...unprefixed(secretPrefix(server), secrets) };
}

/** The server that an `mcp_server` tool names, by its name or by the id of a connection. */
export function serverNameIn({ server, server_id, id, name, server_label }: WireObject): string {
  return (
    ([server, server_id, id, name, server_label].find((one) => typeof one === 'string' && one !== '') as string | undefined) ?? ''
  );
}

const headerPrefix = (label: string) => `mcp ${label} header `;
const authorizationKey = (label: string) => `mcp ${label} authorization`;
const secretPrefix = (server: string) => `mcp_server ${server} secret `;

function prefixed(prefix: string, input: unknown): Secrets {
  return Object.fromEntries(Object.entries(readStringMembers(input)).map(([name, value]) => [prefix + name, value]));
}

function unprefixed(prefix: string, secrets: Secrets): Secrets {
  const own = Object.entries(secrets).filter(([key]) => key.startsWith(prefix));
  return Object.fromEntries(own.map(([key, value]) => [key.slice(prefix.length), value]));
}
