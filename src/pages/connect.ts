import type { IncomingMessage } from 'node:http';
import { type Request, type Response, Router } from 'express';
import { DomainError } from '../entities/ground/errors.ts';
import { clientMetadataPath } from '../entities/knowledge/connection.ts';
import { findRequestId } from '../http/context.ts';
import { formHeaders, htmlType, renderPage, sendPage } from '../http/page/page.ts';
import { sendJson } from '../http/reply/reply.ts';
import { escapeHtml } from '../lib/text/html.ts';
import { type ConsolePage, consoleFormHeaders } from './console.ts';

/** What the pages ask the domain for. */
export interface ConnectSteps {
  /** What this installation is as a client of the authorization servers of MCP servers. */
  clientMetadata(): Readonly<Record<string, unknown>>;
  /** Takes the answer of the other service. @throws DomainError for the visitor */
  receive(
    answer: {
      readonly state: string;
      readonly code: string;
      readonly error: string;
      readonly iss: string | undefined;
      readonly installationId: number | undefined;
    },
    req: IncomingMessage,
    signal: AbortSignal,
  ): Promise<{
    readonly word: string;
    readonly account: string;
    readonly provider: string;
    readonly service: string;
    readonly person: { readonly name: string; readonly email: string };
    readonly organization: string;
    readonly tenant: string;
  }>;
  /** Stores the connection. @throws DomainError for the visitor */
  confirm(
    word: string,
    req: IncomingMessage,
  ): Promise<{ readonly returnTo: string | null; readonly connection: { readonly name: string } }>;
}

const formBytesMax = 4_096;
const timeoutMs = 60_000;

/** What a step came to. The console shows it (`console/src/screens/connect`), and without it a plain page. */
type Outcome =
  | ({ readonly kind: 'CONFIRM' } & Awaited<ReturnType<ConnectSteps['receive']>>)
  | { readonly kind: 'CONNECTED'; readonly name: string; readonly returnTo: string | null }
  | { readonly kind: 'REFUSED'; readonly message: string };

/**
 * The pages that a person sees who connects an account: the answer of the other service arrives here, and nothing is stored before the person has
 * confirmed it. Whoever made the link that brought them may be somebody else.
 */
export function createConnectPages(steps: ConnectSteps, page: ConsolePage): Router {
  const router = Router({ strict: true, caseSensitive: true });
  router.get(clientMetadataPath, (req, res) => sendJson(res, 200, JSON.stringify(steps.clientMetadata()), findRequestId(req)));
  router.get('/oauth/callback', (req, res) =>
    show(req, res, page, async () => {
      const { searchParams: query } = new URL(req.url, 'http://localhost');
      const installationId = /^\d{1,15}$/.exec(query.get('installation_id') ?? '')?.[0];
      const answer = {
        state: query.get('state') ?? '',
        code: query.get('code') ?? '',
        error: query.get('error') ?? '',
        iss: query.get('iss') ?? undefined,
        installationId: installationId === undefined ? undefined : Number(installationId),
      };
      const confirmation = await steps.receive(answer, req, AbortSignal.timeout(timeoutMs));
      return { kind: 'CONFIRM', ...confirmation };
    }),
  );
  router.post('/oauth/callback', (req, res) =>
    show(req, res, page, async () => {
      const form = new URLSearchParams(await readForm(req));
      const { returnTo, connection } = await steps.confirm(form.get('word') ?? '', req);
      return { kind: 'CONNECTED', name: connection.name, returnTo };
    }),
  );
  return router;
}

/** Shows what a step came to, or in words why it failed. */
async function show(req: Request, res: Response, page: ConsolePage, step: () => Promise<Outcome>): Promise<void> {
  const outcome = await step().catch((error: unknown): Outcome => {
    if (!(error instanceof DomainError)) throw error;
    return { kind: 'REFUSED', message: error.message };
  });
  const isOnward = outcome.kind === 'CONNECTED' && outcome.returnTo !== null;
  const refresh = isOnward ? ['refresh', `0; url=${outcome.returnTo}`] : [];
  const status = outcome.kind === 'REFUSED' ? 400 : 200;
  const html = (req.headers.accept ?? '').includes('text/html') ? await page.publicPage(outcome) : undefined;
  if (html !== undefined) sendPage(req, res, htmlType, html, { status, headers: [...consoleFormHeaders, ...refresh] });
  else sendPage(req, res, htmlType, plainPage(outcome), { status, headers: [...formHeaders, ...refresh] });
}

/** The page without the console: until it is built, and where the APIs alone are installed. */
function plainPage(outcome: Outcome): string {
  if (outcome.kind === 'REFUSED') {
    return renderPage({ title: 'Not connected', main: `<h1>Not connected</h1>\n<p>${escapeHtml(outcome.message)}</p>` });
  }
  if (outcome.kind === 'CONNECTED') {
    const { name, returnTo } = outcome;
    const onward =
      returnTo === null
        ? 'You can close this page.'
        : `<a href="${escapeHtml(returnTo)}">Go on to ${escapeHtml(new URL(returnTo).host)}</a>`;
    return renderPage({ title: 'Connected', main: `<h1>Connected</h1>\n<p>${escapeHtml(name)} is connected. ${onward}</p>` });
  }
  const { word, account, provider, service, person, organization, tenant } = outcome;
  const [name, place] = [`<strong>${escapeHtml(account)}</strong>`, escapeHtml(service)];
  const isServer = provider === 'MCP';
  const use = isServer
    ? `The tools of the MCP server ${name} at ${place} will be called for`
    : `The account ${name} of ${place} will be read for`;
  const effect = isServer
    ? 'The AIs that this connection is given to act with the rights of your sign-in there.'
    : 'What is read can be found by everyone who may use the agents it is given to.';
  return renderPage({
    title: 'Connect this account?',
    main: `<h1>Connect this account?</h1>
<p>${use} <strong>${escapeHtml(person.name)}</strong>
(<strong>${escapeHtml(person.email)}</strong>) in the organization <strong>${escapeHtml(organization)}</strong> of the tenant <strong>${escapeHtml(tenant)}</strong>. ${effect}</p>
<p>If you did not ask for this yourself, close this page: nothing is connected.</p>
<form method="post" action="/oauth/callback">
<input type="hidden" name="word" value="${escapeHtml(word)}">
<button type="submit">Connect ${escapeHtml(account)}</button>
</form>`,
  });
}

async function readForm(req: IncomingMessage): Promise<string> {
  const blocks: Buffer[] = [];
  let bytes = 0;
  for await (const block of req) {
    bytes += block.length;
    if (bytes > formBytesMax) throw new DomainError('INVALID_VALUE', 'The form is too long.');
    blocks.push(block);
  }
  return Buffer.concat(blocks).toString('utf8');
}
