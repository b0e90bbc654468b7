import type { ShareOwner } from '../../../lib/flow/fair-share.ts';
import { isSecretEntry, looksRandom } from '../secrets/secret-signs.ts';
import type { TokenSource } from './authorization/token-sources.ts';

/** Where an MCP server is, and with what a session begins. */
export type McpEndpoint = HttpEndpoint | ProgramEndpoint;

interface AnyEndpoint {
  /** What people and the model call it. */
  readonly name: string;
  /** From the operator's file: what it says of its own tools is believed. */
  readonly isTrusted: boolean;
}

export interface HttpEndpoint extends AnyEndpoint {
  readonly kind: 'http';
  readonly url: string;
  /** With their secrets, so never stored, logged or shown. */
  readonly headers: Readonly<Record<string, string>>;
  /** Of a connection whose headers hold no `authorization`. */
  readonly token?: TokenSource;
}

/** A program of this machine that speaks MCP on its standard input and output. */
export interface ProgramEndpoint extends AnyEndpoint {
  readonly kind: 'program';
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

/** Who a session belongs to: sessions keep state, so users do not share one. */
export interface SessionOwner extends ShareOwner {
  readonly userId: string;
}

/** What of an endpoint must not be shown to anybody. A program's plain variables, such as a language, are no secrets. */
export function listEndpointSecrets(endpoint: McpEndpoint): readonly string[] {
  const isHttp = endpoint.kind === 'http';
  const plain = isHttp ? [...new URL(endpoint.url).searchParams] : Object.entries(endpoint.env);
  const secret = plain.filter(([name, value]) => isSecretEntry(name) || looksRandom(value));
  const sent = isHttp ? [...Object.values(endpoint.headers), ...(endpoint.token?.sentTokens ?? [])] : [];
  return [...secret.map(([, value]) => value), ...sent];
}
