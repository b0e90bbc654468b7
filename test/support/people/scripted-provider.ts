import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as jose from 'jose';

/** A provider that says what the test tells it to, right or wrong. */
export interface ScriptedProvider {
  readonly issuer: string;
  /** Replaces members of the next id tokens; a function gets what an honest provider would say. */
  claims: (honest: jose.JWTPayload) => jose.JWTPayload;
  /** Replaces members of the discovery document. */
  metadata: Readonly<Record<string, unknown>>;
  /** What the token endpoint answers in place of tokens. */
  tokenError: string | undefined;
  /** The one way in which it takes a client; absent: any. In the header it compares without undoing escapes. */
  clientAuth: 'client_secret_basic' | 'client_secret_post' | undefined;
  /** Signs id tokens with a key that it does not publish. */
  usesOtherKey: boolean;
  /** Where an honest answer to the request at this address leads. */
  answerTo(authorizeUrl: string): string;
  /** Signs any token with the key that it publishes. */
  sign(claims: jose.JWTPayload, type?: string): Promise<string>;
  close(): Promise<void>;
}

export async function startScriptedProvider(clientId: string): Promise<ScriptedProvider> {
  const keys = await jose.generateKeyPair('RS256', { extractable: true });
  const others = await jose.generateKeyPair('RS256');
  const published = { ...(await jose.exportJWK(keys.publicKey)), kid: 'one', alg: 'RS256', use: 'sig' };
  const nonces = new Map<string, string>();
  const server = createServer(async (req, res) => {
    const json = (status: number, body: unknown) =>
      void res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (req.url === '/.well-known/openid-configuration') json(200, { ...discovery(issuer), ...provider.metadata });
    else if (req.url === '/keys') json(200, { keys: [published] });
    else if (req.url === '/token' && provider.tokenError !== undefined) json(400, { error: provider.tokenError });
    else if (req.url === '/token') {
      const form = new URLSearchParams(Buffer.concat(await Array.fromAsync(req as AsyncIterable<Buffer>)).toString());
      const shown = form.has('client_secret') ? 'client_secret_post' : 'client_secret_basic';
      if (provider.clientAuth !== undefined && provider.clientAuth !== shown) {
        res.setHeader('www-authenticate', 'Basic realm="test"');
        return json(401, { error: 'invalid_client' });
      }
      const nonce = nonces.get(form.get('code') ?? '');
      const claims = provider.claims({ ...honest(issuer, clientId), ...(nonce === undefined ? {} : { nonce }) });
      json(200, { access_token: 'a', token_type: 'Bearer', id_token: await provider.sign(claims) });
    } else res.writeHead(404).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  let codes = 0;
  const provider: ScriptedProvider = {
    issuer,
    claims: (claims) => claims,
    metadata: {},
    tokenError: undefined,
    clientAuth: undefined,
    usesOtherKey: false,
    answerTo(authorizeUrl) {
      const asked = new URL(authorizeUrl).searchParams;
      const code = `code-${++codes}`;
      nonces.set(code, asked.get('nonce') ?? '');
      return `${asked.get('redirect_uri')}?${new URLSearchParams({ code, state: asked.get('state') ?? '' })}`;
    },
    sign: (claims, type = 'JWT') =>
      new jose.SignJWT(claims)
        .setProtectedHeader({ alg: 'RS256', kid: 'one', typ: type })
        .sign(provider.usesOtherKey ? others.privateKey : keys.privateKey),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return provider;
}

function honest(issuer: string, clientId: string): jose.JWTPayload {
  const now = Math.floor(Date.now() / 1_000);
  return { iss: issuer, aud: clientId, iat: now, exp: now + 300 };
}

function discovery(issuer: string): Readonly<Record<string, unknown>> {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/keys`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
  };
}
