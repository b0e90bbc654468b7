import type { IncomingMessage } from 'node:http';
import { type Request, type Response, Router } from 'express';
import { DomainError } from '../entities/ground/errors.ts';
import { formHeaders, htmlType, renderPage, sendPage } from '../http/page/page.ts';
import { escapeHtml } from '../lib/text/html.ts';

/** What the pages ask the domain for. */
export interface ConnectSteps {
  /** Takes the answer of the other service. @throws DomainError for the visitor */
  receive(
    answer: {
      readonly state: string;
      readonly code: string;
      readonly error: string;
      readonly installationId: number | undefined;
    },
    req: IncomingMessage,
    signal: AbortSignal,
  ): Promise<{
    readonly word: string;
    readonly account: string;
    readonly provider: string;
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
const names: Readonly<Record<string, string>> = {
  DRIVE_A: 'Google Drive',
  DRIVE_B: 'OneDrive',
  WIKI: 'Confluence',
  TRACKER: 'Jira',
  REPO_HOST: 'GitHub',
};

/**
 * The pages that a person sees who connects an account: the answer of the other service arrives here, and nothing is stored before the person has
 * confirmed it. Whoever made the link that brought them may be somebody else.
 */
export function createConnectPages(steps: ConnectSteps): Router {
  const router = Router({ strict: true, caseSensitive: true });
  router.get('/oauth/callback', (req, res) =>
    shown(req, res, async () => {
      const { searchParams: query } = new URL(req.url, 'http://localhost');
      const installationId = /^\d{1,15}$/.exec(query.get('installation_id') ?? '')?.[0];
      const answer = {
        state: query.get('state') ?? '',
        code: query.get('code') ?? '',
        error: query.get('error') ?? '',
        installationId: installationId === undefined ? undefined : Number(installationId),
      };
      const given = await steps.receive(answer, req, AbortSignal.timeout(timeoutMs));
      const { word, account, provider, person, organization, tenant } = given;
      return {
        title: 'Connect this account?',
        main: `<h1>Connect this account?</h1>
<p>The account <strong>${escapeHtml(account)}</strong> of ${names[provider] ?? escapeHtml(provider)} will be read for <strong>${escapeHtml(person.name)}</strong>
(<strong>${escapeHtml(person.email)}</strong>) in the organization <strong>${escapeHtml(organization)}</strong> of the tenant <strong>${escapeHtml(tenant)}</strong>. What is read can be found by everyone who may use the agents it is given to.</p>
<p>If you did not ask for this yourself, close this page: nothing is connected.</p>
<form method="post" action="/oauth/callback">
<input type="hidden" name="word" value="${escapeHtml(word)}">
<button type="submit">Connect ${escapeHtml(account)}</button>
</form>`,
      };
    }),
  );
  router.post('/oauth/callback', (req, res) =>
    shown(req, res, async () => {
      const form = new URLSearchParams(await formOf(req));
      const { returnTo, connection } = await steps.confirm(form.get('word') ?? '', req);
      const onward =
        returnTo === null
          ? 'You can close this page.'
          : `<a href="${escapeHtml(returnTo)}">Go on to ${escapeHtml(new URL(returnTo).host)}</a>`;
      return {
        title: 'Connected',
        main: `<h1>Connected</h1>\n<p>${escapeHtml(connection.name)} is connected. ${onward}</p>`,
        onward: returnTo,
      };
    }),
  );
  return router;
}

/** Shows what a step makes, or in words why it did not. */
async function shown(
  req: Request,
  res: Response,
  step: () => Promise<{ readonly title: string; readonly main: string; readonly onward?: string | null }>,
): Promise<void> {
  try {
    const { onward, ...page } = await step();
    const refresh = typeof onward === 'string' ? ['refresh', `0; url=${onward}`] : [];
    sendPage(req, res, htmlType, renderPage(page), { headers: [...formHeaders, ...refresh] });
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    const main = `<h1>Not connected</h1>\n<p>${escapeHtml(error.message)}</p>`;
    sendPage(req, res, htmlType, renderPage({ title: 'Not connected', main }), { status: 400, headers: formHeaders });
  }
}

async function formOf(req: IncomingMessage): Promise<string> {
  const blocks: Buffer[] = [];
  let bytes = 0;
  for await (const block of req) {
    bytes += block.length;
    if (bytes > formBytesMax) throw new DomainError('INVALID_VALUE', 'The form is too long.');
    blocks.push(block);
  }
  return Buffer.concat(blocks).toString('utf8');
}
