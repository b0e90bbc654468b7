import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Request, type RequestHandler, type Response, Router } from 'express';
import type Provider from 'oidc-provider';
import type { Deps } from '../domain/deps.ts';
import { countRegistration } from '../domain/people/sign-in/passwords.ts';
import { DomainError } from '../entities/ground/errors.ts';
import { appScopes } from '../entities/people/app.ts';
import { findAddress, toNetwork } from '../http/address.ts';
import { resourceMetadataPath } from '../http/authenticate/challenge.ts';
import { findRequestId } from '../http/context.ts';
import type { Admissions } from '../http/limits.ts';
import type { Metrics } from '../http/log/metrics.ts';
import { pageHeaders } from '../http/page/page.ts';
import { headersWithCaching, jsonType, sendBody } from '../http/reply/reply.ts';
import { type ConsentPage, createConsent } from './consent.ts';
import { oauthPaths, resourceMetadata, serverMetadata } from './metadata.ts';
import { createVisitors, sendToSignIn, type Visitors } from './visitors.ts';

export interface OauthParts {
  readonly deps: Deps;
  readonly metrics: Metrics;
  readonly admissions: Admissions;
  readonly page: ConsentPage;
}

/** Everybody may read them, and they change with the settings only. */
const metadataHeaders = [
  'content-type',
  jsonType,
  'access-control-allow-origin',
  '*',
  ...headersWithCaching('public, max-age=300'),
];
const addressLengthMax = 8_000;

/**
 * OAuth for `/mcp`: where clients find it, where they register, ask, get tokens and give them back, and where people agree. The library is loaded with the
 * first request.
 */
export function createOauth({ deps, metrics, admissions, page }: OauthParts): Router {
  const providers = new Map<string, Promise<Provider>>();
  const loadProvider = () => {
    const issuer = deps.publicUrl();
    const loaded = providers.get(issuer) ?? import('./provider.ts').then((module) => module.createProvider(deps, issuer));
    providers.set(issuer, loaded);
    return loaded;
  };
  const visitors = createVisitors(deps, admissions);
  const pass = (before: (req: Request, res: Response) => Promise<boolean>): RequestHandler => {
    return async (req, res) => {
      res.locals.meter = metrics.meter('oauth', '/oauth');
      if (!(await before(req, res))) return;
      mark(req, res);
      // The library makes addresses of what a request says of its own. Only the settings know that.
      const { host, protocol } = new URL(deps.publicUrl());
      Object.assign(req.headers, { 'x-forwarded-host': host, 'x-forwarded-proto': protocol.slice(0, -1) });
      await (await loadProvider()).callback()(req, res);
    };
  };
  const ofProgram = pass(async (req, res) => {
    if (admissions.failedKeys.isExhausted(req)) throw admissions.failedKeys.refusal();
    // Guesses of codes and tokens count as those of keys.
    res.once('finish', () => {
      if (res.statusCode === 400 || res.statusCode === 401) admissions.failedKeys.note(req);
    });
    return true;
  });
  return Router({ strict: true, caseSensitive: true })
    .get(
      [resourceMetadataPath, `${resourceMetadataPath}/mcp`],
      sendMetadata(() => resourceMetadata(deps.publicUrl(), '/mcp')),
    )
    .get(
      `${resourceMetadataPath}/mcp/agents/:id`,
      sendMetadata(({ params }) => resourceMetadata(deps.publicUrl(), `/mcp/agents/${encodeURIComponent(String(params.id))}`)),
    )
    .get(
      '/.well-known/oauth-authorization-server',
      sendMetadata(() => serverMetadata(deps.publicUrl(), deps.settings)),
    )
    .get(oauthPaths.authorize, pass(createGate(visitors)))
    .get(
      `${oauthPaths.authorize}/:uid`,
      pass(async () => true),
    )
    .post([oauthPaths.token, oauthPaths.revoke], ofProgram)
    .post(
      oauthPaths.register,
      pass(async (req) => {
        if (deps.settings.OAUTH_CLIENTS !== 'all')
          throw new DomainError('FORBIDDEN', 'Clients do not register here (OAUTH_CLIENTS)');
        await countRegistration(deps, toNetwork(findAddress(req, deps.settings.TRUSTED_PROXY_HOPS)));
        return true;
      }),
    )
    .use(createConsent({ deps, page, visitors, loadProvider }));
}

/** Before a request of a client is kept, its person signs in: a flood of requests of nobody writes nothing. */
function createGate(visitors: Visitors): (req: Request, res: Response) => Promise<boolean> {
  return async (req, res) => {
    const { originalUrl } = req;
    if (originalUrl.length > addressLengthMax)
      throw new DomainError('INVALID_VALUE', `An address of this service has at most ${addressLengthMax} characters`);
    const { searchParams: query } = new URL(originalUrl, 'http://localhost');
    // A form that sends itself would leave the page by a script.
    if (!['query', null].includes(query.get('response_mode')))
      throw new DomainError('INVALID_VALUE', 'response_mode must be query', { param: 'response_mode' });
    if (query.getAll('resource').length > 1)
      throw new DomainError('INVALID_VALUE', 'resource names one address: a token opens one', { param: 'resource' });
    if ((await visitors.find(req)) === undefined) {
      sendToSignIn(req, res, originalUrl);
      return false;
    }
    // A client that names no scope asks for all that there are (RFC 6749, 3.3).
    if ((query.get('scope') ?? '') === '') {
      query.set('scope', appScopes.join(' '));
      req.url = `${oauthPaths.authorize}?${query}`;
    }
    return true;
  };
}

function sendMetadata(make: (req: Request) => object): RequestHandler {
  return (req, res) => sendBody(res, 200, [...metadataHeaders, 'x-request-id', findRequestId(req)], JSON.stringify(make(req)));
}

function mark(req: IncomingMessage, res: ServerResponse): void {
  const headers = [...pageHeaders, 'cache-control', 'no-store', 'x-request-id', findRequestId(req)];
  for (let at = 0; at < headers.length; at += 2) res.setHeader(headers[at] ?? '', headers[at + 1] ?? '');
}
