import { extractWWWAuthenticateParams, type FetchLike } from '@modelcontextprotocol/client';
import type { TokenSource } from '../authorization/token-sources.ts';
import type { HttpEndpoint } from '../endpoint.ts';
import { McpFailure } from './session.ts';

/**
 * `fetch` for one session, with the token of a connection. A token that the server refuses is renewed once in each request; what a person has to agree
 * to fails with the address to do so. Without a token, the refusal of a server that names an authorization server says that a connection is needed.
 */
export function authorizedFetch(fetch: FetchLike, { token, headers: ownHeaders }: HttpEndpoint): FetchLike {
  if (token === undefined) return unauthorizedFetch(fetch);
  return async (url, init = {}) => {
    // A session may end because its connection has: the last token says whose it was.
    if (init.method === 'DELETE') return fetch(url, { ...init, headers: withToken(init, lastAuthorization(token)) });
    const signal = init.signal ?? new AbortController().signal;
    for (let isAgain = false; ; isAgain = true) {
      const authorization = await token.authorization(signal);
      const reply = await fetch(url, { ...init, headers: withToken(init, authorization) });
      const scope = demandedScope(reply);
      if (reply.status !== 401 && scope === undefined) return reply;
      if (authorization === undefined && !namesResource(reply) && Object.keys(ownHeaders).length > 0) return reply;
      await reply.body?.cancel();
      if (authorization === undefined) return token.refuse(signal);
      if (scope !== undefined) {
        if (isAgain) throw new McpFailure('UPSTREAM_ERROR', `it demands the rights ${scope}, and refuses a token that has them`);
        await token.widen(authorization, { scope }, signal);
      } else if (isAgain) return token.refuse(signal);
      else await token.renew(authorization, signal);
    }
  };
}

function lastAuthorization({ sentTokens }: TokenSource): string | undefined {
  const token = sentTokens.at(-1);
  return token === undefined ? undefined : `Bearer ${token}`;
}

function withToken({ headers }: RequestInit, authorization: string | undefined): Headers {
  const all = new Headers(headers);
  if (authorization !== undefined) all.set('authorization', authorization);
  return all;
}

const scopeCharsMax = 1_000;

/** The scopes that a refusal demands; undefined for any other answer. */
function demandedScope(reply: Response): string | undefined {
  if (reply.status !== 403) return undefined;
  const { error, scope } = extractWWWAuthenticateParams(reply);
  // RFC 6749: visible ASCII without quotes, separated by spaces.
  const isScope = scope !== undefined && scope.length <= scopeCharsMax && /^[\x20\x21\x23-\x5b\x5d-\x7e]+$/.test(scope);
  return error === 'insufficient_scope' && isScope ? scope : undefined;
}

/** Whether a refusal says where tokens come from (RFC 9728). */
function namesResource(reply: Response): boolean {
  return extractWWWAuthenticateParams(reply).resourceMetadataUrl !== undefined;
}

function unauthorizedFetch(fetch: FetchLike): FetchLike {
  return async (url, init) => {
    const reply = await fetch(url, init);
    if (reply.status !== 401 || !namesResource(reply)) return reply;
    await reply.body?.cancel();
    const message =
      'it wants a sign-in (OAuth): store it as a connection, connect that in the browser, and name the connection as the server';
    throw new McpFailure('UPSTREAM_ERROR', message);
  };
}
