import type { IncomingMessage } from 'node:http';
import { type Request, type RequestHandler, type Response, Router } from 'express';
import type { FailedKeys } from '../http/authenticate/failed-keys.ts';
import { type Addressing, readSessionSecret, requireOwnPage, sessionCookies } from '../http/authenticate/session-cookie.ts';
import { findRequestId } from '../http/context.ts';
import { sendJson } from '../http/reply/reply.ts';
import { readPageBody, readText } from './page-body.ts';

/** What the pages ask the domain for. `sessionSecret`: of the session that the browser has already. */
export interface SignInSteps {
  /** @throws DomainError for the visitor */
  byLink(secret: string, req: IncomingMessage, sessionSecret: string | undefined): Promise<{ readonly secret: string }>;
  /** @throws DomainError for the visitor */
  byPassword(
    credentials: { readonly email: string; readonly password: string },
    req: IncomingMessage,
    sessionSecret: string | undefined,
  ): Promise<{ readonly secret: string }>;
  byInvitation(
    acceptance: { readonly secret: string; readonly name: string | undefined; readonly password: string | undefined },
    req: IncomingMessage,
    sessionSecret: string | undefined,
  ): Promise<{ readonly secret: string }>;
  /** What the page shows to who has an invitation. */
  invitation(secret: string, sessionSecret: string | undefined): Promise<object>;
  /** JSON for `PublicKeyCredential.parseRequestOptionsFromJSON`. */
  passkeyOptions(req: IncomingMessage): Promise<object>;
  /** @param credential  JSON of what the device gave. */
  byPasskey(credential: unknown, req: IncomingMessage, sessionSecret: string | undefined): Promise<{ readonly secret: string }>;
  /** The name that passkeys are bound to; undefined where there are none. */
  passkeyHost(): string | undefined;
  /** @returns where the person signs out too, when a provider began the session. */
  signOut(req: IncomingMessage, sessionSecret: string | undefined): Promise<{ readonly logoutUrl: string | undefined }>;
  isSignedIn(sessionSecret: string | undefined): Promise<boolean>;
  /** Providers of single sign-on, for the buttons. */
  readonly providers: readonly { readonly name: string; readonly label: string }[];
  /** Whether people may sign in by other ways than providers and links. */
  readonly hasOwnWays: boolean;
}

/**
 * What the page `/sign-in` of the console calls. Each call has a JSON body and comes from a page of this service; its reply sets the
 * cookie of the session, and shows no secret. An address with too many refusals waits, as with keys.
 */
export function createSignIn(steps: SignInSteps, addressing: Addressing, failedKeys: FailedKeys): Router {
  const secretIn = (req: Request) => readSessionSecret(req, addressing);
  /** Only from a page of this service; failures of an address are counted. */
  async function guarded<T>(req: Request, work: () => Promise<T>): Promise<T> {
    requireOwnPage(req, addressing);
    if (failedKeys.isExhausted(req)) throw failedKeys.refusal();
    return work().catch((error: unknown) => {
      failedKeys.note(req);
      throw error;
    });
  }
  const signingIn =
    (step: (body: Readonly<Record<string, unknown>>, req: Request) => Promise<{ readonly secret: string }>): RequestHandler =>
    async (req, res) => {
      const { secret } = await guarded(req, async () => step(await readPageBody(req), req));
      reply(req, res, { isSignedIn: true }, sessionCookies(req, addressing, secret));
    };
  return Router({ strict: true, caseSensitive: true })
    .get('/sign-in/session', async (req, res) =>
      reply(req, res, {
        isSignedIn: await steps.isSignedIn(secretIn(req)),
        passkeyHost: steps.passkeyHost() ?? null,
        providers: steps.providers,
        hasOwnWays: steps.hasOwnWays,
      }),
    )
    .post(
      '/sign-in/link',
      signingIn((body, req) => steps.byLink(readText(body, 'link'), req, secretIn(req))),
    )
    .post(
      '/sign-in/password',
      signingIn((body, req) =>
        steps.byPassword({ email: readText(body, 'email'), password: readText(body, 'password') }, req, secretIn(req)),
      ),
    )
    .post(
      '/sign-in/invitation',
      signingIn((body, req) => {
        const acceptance = {
          secret: readText(body, 'invitation'),
          name: readOptionalText(body, 'name'),
          password: readOptionalText(body, 'password'),
        };
        return steps.byInvitation(acceptance, req, secretIn(req));
      }),
    )
    .post('/sign-in/invitation/show', async (req, res) => {
      const invitationView = await guarded(req, async () =>
        steps.invitation(readText(await readPageBody(req), 'invitation'), secretIn(req)),
      );
      reply(req, res, invitationView);
    })
    .post('/sign-in/passkey/options', async (req, res) => {
      const options = await guarded(req, async () => {
        await readPageBody(req);
        return steps.passkeyOptions(req);
      });
      reply(req, res, options);
    })
    .post(
      '/sign-in/passkey',
      signingIn((body, req) => steps.byPasskey(body.credential, req, secretIn(req))),
    )
    .post('/sign-out', async (req, res) => {
      requireOwnPage(req, addressing);
      await readPageBody(req);
      const { logoutUrl } = await steps.signOut(req, secretIn(req));
      reply(req, res, { isSignedIn: false, logoutUrl }, sessionCookies(req, addressing, ''));
    });
}

function readOptionalText(body: Readonly<Record<string, unknown>>, name: string): string | undefined {
  return body[name] === undefined ? undefined : readText(body, name);
}

function reply(req: Request, res: Response, body: object, headers: readonly string[] = []): void {
  sendJson(res, 200, JSON.stringify(body), findRequestId(req), headers);
}
