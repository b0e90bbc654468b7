import type { IncomingMessage } from 'node:http';
import { type Request, type Response, Router } from 'express';
import type Provider from 'oidc-provider';
import type { Deps } from '../domain/deps.ts';
import { approveApp, findClientOrigin, scopesToGive } from '../domain/people/apps.ts';
import { DomainError } from '../entities/ground/errors.ts';
import { isAddress } from '../entities/people/app.ts';
import type { Caller } from '../entities/people/caller.ts';
import { readJsonBody } from '../http/body/json.ts';
import { findRequestId, toOrigin } from '../http/context.ts';
import { htmlType, pageHeaders, renderPage, sendPage } from '../http/page/page.ts';
import { sendJson } from '../http/reply/reply.ts';
import { isObject } from '../lib/json/json.ts';
import { escapeHtml } from '../lib/text/html.ts';
import { oauthPaths } from './metadata.ts';
import { sendToSignIn, type Visitors } from './visitors.ts';

/** The page of the console that shows what a client asks for. */
export interface ConsentPage {
  /** HTML with the outcome in it; undefined until the console is built. */
  publicPage(outcome: object): Promise<string | undefined>;
  readonly headers: readonly string[];
}

export interface ConsentParts {
  readonly deps: Deps;
  readonly page: ConsentPage;
  readonly visitors: Visitors;
  loadProvider(): Promise<Provider>;
}

/** A request of a client, as its person decides it. */
interface OpenRequest {
  readonly clientId: string;
  readonly clientName: string;
  readonly redirectUri: string;
  readonly resource: string;
  readonly scopes: readonly string[];
}

const bodyBytesMax = 4_096;
const bodyIdleMs = 10_000;
const path = `${oauthPaths.consent}/:uid`;

/**
 * Where a person agrees to what a client asks for, or does not. The request is bound to the browser that began it by a cookie of its own, and decided by a
 * call that only a page of this service can make. The page cannot be framed.
 */
export function createConsent(parts: ConsentParts): Router {
  return Router({ strict: true, caseSensitive: true })
    .get(path, (req, res) => show(parts, req, res))
    .post(path, async (req, res) => {
      const location = await decide(parts, req, res);
      sendJson(res, 200, JSON.stringify({ location }), findRequestId(req));
    });
}

async function show({ deps, page, visitors, loadProvider }: ConsentParts, req: Request, res: Response): Promise<void> {
  const caller = await visitors.find(req);
  if (caller === undefined) return sendToSignIn(req, res, req.originalUrl);
  try {
    const request = await readRequest(await loadProvider(), req, res);
    const outcome = await describe(deps, caller, request);
    const html = await page.publicPage(outcome);
    const noPage = renderPage({
      title: 'Not connected',
      main: '<h1>Not connected</h1>\n<p>The console is not built. Run npm run build.</p>',
    });
    sendPage(req, res, htmlType, html ?? noPage, { status: html === undefined ? 503 : 200, headers: page.headers });
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    const main = `<h1>Not connected</h1>\n<p>${escapeHtml(error.message)}</p>`;
    const headers = [...pageHeaders, 'cache-control', 'no-store'];
    sendPage(req, res, htmlType, renderPage({ title: 'Not connected', main }), { status: 400, headers });
  }
}

/** What the person is shown. */
async function describe(deps: Deps, caller: Caller, request: OpenRequest): Promise<object> {
  const { clientId, clientName, redirectUri, resource, scopes } = request;
  const { accounts } = deps.storage.people;
  const [origin, [organization], [user]] = await Promise.all([
    findClientOrigin(deps, clientId),
    accounts.findOrganizations([caller.orgId]),
    accounts.findUsers([caller.userId]),
  ]);
  return {
    kind: 'CONSENT',
    client: {
      name: clientName,
      /** Its own, which it has shown; null: nobody knows it. */
      host: isAddress(clientId) ? new URL(clientId).host : null,
      sendsTo: hostOf(redirectUri),
      registeredAt: origin.registeredAt,
      network: origin.network,
    },
    scopes: scopesToGive(caller, scopes),
    agentId: /\/mcp\/agents\/(.+)$/.exec(resource)?.[1] ?? null,
    person: { name: user?.name ?? '', email: user?.email ?? '' },
    organization: organization?.name ?? '',
  };
}

/** Where the answer goes: a host, or the program of a scheme. */
function hostOf(redirectUri: string): string {
  const url = new URL(redirectUri);
  return url.host === '' ? `${url.protocol}//` : url.host;
}

/** @returns where the browser goes on. */
async function decide({ deps, visitors, loadProvider }: ConsentParts, req: Request, res: Response): Promise<string> {
  // A request with a body and a session is taken from pages of this service only.
  const caller = await visitors.find(req);
  if (caller === undefined) throw new DomainError('INVALID_API_KEY', 'The session has ended; sign in again at /sign-in');
  const { value } = await readJsonBody(req, bodyBytesMax, bodyIdleMs);
  const isApproved = isObject(value) ? value.isApproved : undefined;
  if (typeof isApproved !== 'boolean')
    throw new DomainError('INVALID_TYPE', 'isApproved must be true or false', { param: 'isApproved' });
  const provider = await loadProvider();
  const request = await readRequest(provider, req, res);
  if (!isApproved) {
    const refusal = { error: 'access_denied', error_description: 'The person has not agreed' };
    return provider.interactionResult(req, res, refusal, { mergeWithLastSubmission: false });
  }
  const keyId = await approveApp(deps, caller, request, toOrigin(deps, req));
  // The grant has the id of the key.
  const grant = Object.assign(new provider.Grant({ accountId: keyId, clientId: request.clientId }), { jti: keyId });
  grant.addResourceScope(request.resource, scopesToGive(caller, request.scopes).join(' '));
  await grant.save();
  return provider.interactionResult(req, res, { login: { accountId: keyId, remember: false }, consent: { grantId: keyId } });
}

/** The request that the browser has begun. @throws DomainError for the visitor. */
async function readRequest(provider: Provider, req: IncomingMessage & Request, res: Response): Promise<OpenRequest> {
  const closed = () =>
    new DomainError('INVALID_VALUE', 'This request is no longer open. Begin again in the program that sent you here.');
  const interaction = await provider.interactionDetails(req, res).catch(() => undefined);
  if (interaction === undefined || interaction.uid !== req.params.uid || interaction.result !== undefined) throw closed();
  const { params } = interaction;
  const client = await provider.Client.find(String(params.client_id)).catch(() => undefined);
  if (client === undefined) throw closed();
  return {
    clientId: client.clientId,
    clientName: client.clientName ?? '',
    redirectUri: String(params.redirect_uri),
    resource: String(Array.isArray(params.resource) ? params.resource[0] : params.resource),
    scopes: String(params.scope ?? '').split(' '),
  };
}
