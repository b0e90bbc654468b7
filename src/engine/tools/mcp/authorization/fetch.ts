import type { FetchLike } from '@modelcontextprotocol/client';
import type { ShareOwner } from '../../../../lib/flow/fair-share.ts';
import type { Egress } from '../../../egress/egress.ts';
import { EgressError } from '../../../egress/error.ts';

/** Time for one request to an authorization server. A person waits for it, or a run. */
const timeoutMs = 15_000;
/** Metadata and tokens are small. */
const bytesMax = 256 * 1024;
const methods = ['GET', 'POST'] as const;
const withoutBody = [204, 205, 304];
const statusMax = 599;

export interface AuthorizationFetchOptions {
  /** Guards every address: the MCP server names them. */
  readonly egress: Egress;
  readonly owner: ShareOwner;
  readonly version: string;
  readonly signal: AbortSignal;
}

/** `fetch` over the egress guard, for the OAuth functions of the SDK. They follow redirects themselves, within one origin. */
export function createAuthorizationFetch({ egress, owner, version, signal }: AuthorizationFetchOptions): FetchLike {
  return async (address, init = {}) => {
    const url = new URL(address);
    const method = methods.find((one) => one === (init.method ?? 'GET'));
    if (method === undefined) throw new EgressError('BAD_URL', `the method ${init.method} is not sent`);
    const headers = new Headers(init.headers);
    headers.set('user-agent', `Parley/${version}`);
    const body = init.body === undefined || init.body === null ? {} : { body: String(init.body) };
    const request = { url: url.href, method, headers: Object.fromEntries(headers), ...body, owner, bytesMax, timeoutMs };
    const reply = await egress.send({ ...request, redirectsMax: 0 }, signal);
    if (reply.status < 200 || reply.status > statusMax)
      throw new EgressError('BAD_REPLY', `the answer has the status ${reply.status}`);
    const content = withoutBody.includes(reply.status) ? null : new Uint8Array(reply.body);
    return new Response(content, { status: reply.status, headers: reply.headers });
  };
}
