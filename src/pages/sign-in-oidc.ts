import type { IncomingMessage } from 'node:http';
import { type Request, type RequestHandler, type Response, Router } from 'express';
import { DomainError, errorCodes } from '../entities/ground/errors.ts';
import type { FailedKeys } from '../http/authenticate/failed-keys.ts';
import {
  type Addressing,
  attemptCookie,
  readAttemptSecret,
  readSessionSecret,
  sessionCookiesAt,
} from '../http/authenticate/session-cookie.ts';
import { readBytes } from '../http/body/json.ts';
import { findRequestId } from '../http/context.ts';
import { htmlType, pageHeaders, renderPage, sendPage } from '../http/page/page.ts';
import { sendBody, sendJson } from '../http/reply/reply.ts';
import { escapeHtml } from '../lib/text/html.ts';

/** What the addresses of providers ask the domain for. */
export interface OidcSteps {
  readonly attemptMs: number;
  /** @throws DomainError for the visitor */
  begin(
    provider: string,
    next: string | undefined,
    secret: string | undefined,
  ): Promise<{ readonly url: string; readonly secret: string }>;
  /** @throws DomainError for the visitor */
  complete(
    provider: string,
    query: URLSearchParams,
    secret: string | undefined,
    req: IncomingMessage,
    sessionSecret: string | undefined,
  ): Promise<{ readonly secret: string; readonly next: string }>;
  /** @throws DomainError for the provider */
  endSessions(provider: string, token: string, req: IncomingMessage): Promise<void>;
}

const formBytesMax = 16_384;
const formIdleMs = 10_000;

/** Signing in by OpenID Connect: `/sign-in/oidc/<name>` leads to the provider, `…/callback` takes its answer, `…/backchannel-logout` its word that somebody signed out. */
export function createOidcPages(steps: OidcSteps, addressing: Addressing, failedKeys: FailedKeys): Router {
  const readName = (req: Request) => String(req.params.provider);
  return Router({ strict: true, caseSensitive: true })
    .get(
      '/sign-in/oidc/:provider',
      shown(failedKeys, async (req, res) => {
        const next = readQuery(req).get('next') ?? undefined;
        const { url, secret } = await steps.begin(readName(req), next, readAttemptSecret(req, addressing));
        redirect(req, res, url, attemptCookie(addressing, secret, steps.attemptMs));
      }),
    )
    .get(
      '/sign-in/oidc/:provider/callback',
      shown(failedKeys, async (req, res) => {
        const attempt = readAttemptSecret(req, addressing);
        const session = readSessionSecret(req, addressing);
        const { secret, next } = await steps.complete(readName(req), readQuery(req), attempt, req, session);
        redirect(req, res, next, sessionCookiesAt(addressing, secret));
      }),
    )
    .post('/sign-in/oidc/:provider/backchannel-logout', async (req, res) => {
      if (failedKeys.isExhausted(req)) throw failedKeys.refusal();
      try {
        const token = new URLSearchParams(await readForm(req)).get('logout_token') ?? '';
        await steps.endSessions(readName(req), token, req);
        sendBody(res, 200, ['cache-control', 'no-store', 'x-request-id', findRequestId(req)], '');
      } catch (error) {
        if (!(error instanceof DomainError)) throw error;
        failedKeys.note(req);
        // The form of the specification, not that of the common error object.
        const isAway = error.code === 'UPSTREAM_ERROR';
        const body = { error: isAway ? 'temporarily_unavailable' : 'invalid_request', error_description: error.message };
        sendJson(res, isAway ? 503 : 400, JSON.stringify(body), findRequestId(req));
      }
    });
}

/** Shows in words why a step failed. An address with too many failures waits, as with keys. */
function shown(failedKeys: FailedKeys, step: (req: Request, res: Response) => Promise<void>): RequestHandler {
  return async (req, res) => {
    try {
      if (failedKeys.isExhausted(req)) throw failedKeys.refusal();
      await step(req, res);
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      // A provider that is down is nobody's guess.
      if (error.code !== 'RATE_LIMIT_EXCEEDED' && error.code !== 'UPSTREAM_ERROR') failedKeys.note(req);
      const main = `<div class="card">
<h1>Not signed in</h1>
<p class="problem" id="problem" role="alert">${escapeHtml(error.message)}</p>
<p><a class="primary" href="/sign-in">Back to signing in</a></p>
</div>`;
      const { status } = errorCodes[error.code];
      const headers = [...pageHeaders, 'cache-control', 'no-store'];
      sendPage(req, res, htmlType, renderPage({ title: 'Not signed in', main }), { status, headers });
    }
  };
}

function redirect(req: Request, res: Response, url: string, cookies: readonly string[]): void {
  const headers = [
    'location',
    url,
    'cache-control',
    'no-store',
    'referrer-policy',
    'no-referrer',
    'x-request-id',
    findRequestId(req),
  ];
  sendBody(res, 303, [...headers, ...cookies], '');
}

function readQuery({ originalUrl }: Request): URLSearchParams {
  return new URL(originalUrl, 'http://localhost').searchParams;
}

async function readForm(req: IncomingMessage): Promise<string> {
  const isForm = /^application\/x-www-form-urlencoded\b/i.test(req.headers['content-type'] ?? '');
  if (!isForm) throw new DomainError('INVALID_TYPE', 'The body must be a form with logout_token');
  return (await readBytes(req, formBytesMax, formIdleMs)).toString('utf8');
}
