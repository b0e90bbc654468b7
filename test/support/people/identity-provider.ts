import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider, { type Configuration } from 'oidc-provider';

/** A person at the provider. */
export interface Account {
  readonly sub: string;
  readonly email?: string;
  readonly email_verified?: boolean;
  readonly name?: string;
  readonly groups?: readonly string[];
  /** As Keycloak gives roles. */
  readonly realm_access?: unknown;
  /** What only id tokens say; undefined members are left out there. */
  readonly idToken?: Readonly<Record<string, unknown>>;
}
export interface ProviderOptions {
  /** Claims stand in id tokens too, not at the userinfo endpoint alone. */
  readonly hasFullIdTokens?: boolean;
  /** How the client is registered. */
  readonly clientAuth?: 'client_secret_basic' | 'client_secret_post';
}

/** An identity provider on this machine: oidc-provider, which signs in whom the test names, without a form. */
export interface IdentityProvider {
  readonly issuer: string;
  /** What the userinfo endpoint answers in place of claims. */
  userInfoStatus: number | undefined;
  /** Settings of Parley for it. */
  settings(name: string): Readonly<Record<string, string>>;
  /** Registers Parley, and where it gets words of logouts. */
  register(parley: string, name: string): void;
  /** Who signs in next. */
  signsIn(account: Account): void;
  /** Signs the browser with the cookies out there, which tells Parley. */
  endSession(cookies: string): Promise<void>;
  close(): Promise<void>;
}

export const clientId = 'parley';
export const clientSecret = 'a secret of the client, long enough';

export async function startIdentityProvider(options: ProviderOptions = {}): Promise<IdentityProvider> {
  const accounts = new Map<string, Account>();
  let next: Account | undefined;
  let provider: Provider | undefined;
  const server = createServer((req, res) => {
    if (provider === undefined) {
      res.writeHead(503).end();
      return;
    }
    if (self.userInfoStatus !== undefined && req.url === '/me') res.writeHead(self.userInfoStatus).end();
    else if (req.url?.startsWith('/interaction/') === true) void interact(provider, req, res);
    else void provider.callback()(req, res);
  });
  const issuer = await listen(server);

  async function interact(op: Provider, ...[req, res]: Parameters<ReturnType<Provider['callback']>>): Promise<void> {
    const { prompt, session, params } = await op.interactionDetails(req, res);
    if (prompt.name === 'login') {
      await op.interactionFinished(req, res, { login: { accountId: next?.sub ?? '' } });
      return;
    }
    const grant = new op.Grant({ accountId: session?.accountId ?? '', clientId: String(params.client_id) });
    grant.addOIDCScope(String(params.scope));
    await op.interactionFinished(req, res, { consent: { grantId: await grant.save() } });
  }

  const self: IdentityProvider = {
    issuer,
    userInfoStatus: undefined,
    settings: (name) => ({
      [`OIDC_${name.toUpperCase()}_ISSUER`]: issuer,
      [`OIDC_${name.toUpperCase()}_CLIENT_ID`]: clientId,
      [`OIDC_${name.toUpperCase()}_CLIENT_SECRET`]: clientSecret,
      [`OIDC_${name.toUpperCase()}_SCOPES`]: 'openid email profile groups',
    }),
    register(parley, name) {
      provider = new Provider(issuer, configurationFor(parley, name, accounts, options));
      provider.on('server_error', (_ctx, error) => console.error(error));
      provider.on('backchannel.error', (_ctx, error) => console.error(error));
    },
    signsIn(account) {
      accounts.set(account.sub, account);
      next = account;
    },
    async endSession(cookies) {
      const form = await fetch(`${issuer}/session/end`, { headers: { cookie: cookies } });
      const xsrf = /name="xsrf" value="([^"]+)"/.exec(await form.text())?.[1] ?? '';
      const body = new URLSearchParams({ xsrf, logout: 'yes' });
      const all = [cookies, ...form.headers.getSetCookie().map((cookie) => cookie.split(';')[0])].join('; ');
      await fetch(`${issuer}/session/end/confirm`, { method: 'POST', body, headers: { cookie: all }, redirect: 'manual' });
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return self;
}

function configurationFor(
  parley: string,
  name: string,
  accounts: ReadonlyMap<string, Account>,
  { hasFullIdTokens = false, clientAuth = 'client_secret_basic' }: ProviderOptions,
): Configuration {
  return {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        token_endpoint_auth_method: clientAuth,
        redirect_uris: [`${parley}/sign-in/oidc/${name}/callback`],
        post_logout_redirect_uris: [`${parley}/sign-in`],
        backchannel_logout_uri: `${parley}/sign-in/oidc/${name}/backchannel-logout`,
        backchannel_logout_session_required: true,
      },
    ],
    scopes: ['openid', 'email', 'profile', 'groups'],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'], groups: ['groups', 'realm_access'] },
    conformIdTokenClaims: !hasFullIdTokens,
    findAccount: (_ctx, sub) => ({
      accountId: sub,
      claims: (use) => {
        const { idToken = {}, ...account } = accounts.get(sub) ?? { sub };
        return { ...account, ...(use === 'id_token' ? idToken : {}), sub } as never;
      },
    }),
    features: { devInteractions: { enabled: false }, backchannelLogout: { enabled: true } },
    interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
    cookies: { keys: ['of the tests'] },
    // Its own dispatcher sends nothing to this machine.
    fetch: (url: URL | RequestInfo, options: RequestInit & { dispatcher?: unknown }) =>
      fetch(url, { ...options, dispatcher: undefined } as RequestInit),
    pkce: { required: () => true },
  } as Configuration;
}

async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
