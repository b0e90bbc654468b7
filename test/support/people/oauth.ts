import { createHash, randomBytes } from 'node:crypto';
import type {
  OAuthClientMetadata,
  OAuthClientProvider,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import type { Reply } from '../client.ts';
import type { Person } from '../make.ts';
import type { TestService } from '../service.ts';
import { WalkingBrowser } from './walk.ts';

/** Where the answers of these clients go: a program on the machine of the person. */
export const callback = 'http://127.0.0.1:33418/callback';

/** A browser in which the person is signed in. */
export async function browserOf(service: TestService, person: Person): Promise<WalkingBrowser> {
  const browser = new WalkingBrowser(() => service.url);
  const { body } = await service.client().post('/api/v1/admin/sign-in-links', { email: person.email, orgId: person.orgId });
  await browser.signInBy(body.url);
  return browser;
}

export interface Consent {
  readonly client: {
    readonly name: string;
    readonly host: string | null;
    readonly sendsTo: string;
    readonly registeredAt: string | null;
    readonly network: string | null;
  };
  readonly scopes: readonly string[];
  readonly agentId: string | null;
  readonly person: { readonly email: string };
}

/** Opens the address of a request in the browser. @returns the page that asks, with its address, or the page that says why not. */
export async function openRequest(
  browser: WalkingBrowser,
  address: string,
): Promise<{ url: string; status: number; text: string }> {
  const { pathname, search } = new URL(address, browser.url);
  return browser.walk(pathname + search);
}

/** Presses a button of the page that asks, as its script does. @returns where the browser is sent: the address of the client. */
export async function decide(browser: WalkingBrowser, pageUrl: string, isApproved: boolean): Promise<URL> {
  const reply = await browser.post(new URL(pageUrl).pathname, { isApproved });
  if (reply.status !== 200) throw new Error(JSON.stringify(reply.body));
  const { pathname, search } = new URL(reply.body.location);
  return new URL((await browser.walk(pathname + search, callback)).url);
}

/** What the page that asks shows: the console reads it in a meta element. */
export function readConsent(text: string): Consent {
  const content = /<meta name="parley-outcome" content="([^"]+)">/.exec(text)?.[1] ?? '{}';
  return JSON.parse(content.replace(/&#(\d+);/g, (_entity, code) => String.fromCharCode(Number(code))));
}

/** The stock client's own flow, with a person at the browser who agrees. */
export class AgreeingPerson implements OAuthClientProvider {
  readonly redirectUrl = callback;
  readonly browser: WalkingBrowser;
  readonly clientMetadata: OAuthClientMetadata;
  readonly clientMetadataUrl?: string;
  client: StoredOAuthClientInformation | undefined;
  stored: StoredOAuthTokens | undefined;
  answer: URL | undefined;
  consent: Consent | undefined;
  #verifier = '';

  constructor(browser: WalkingBrowser, metadata: Partial<OAuthClientMetadata> = {}, clientMetadataUrl?: string) {
    this.browser = browser;
    this.clientMetadata = { client_name: 'Stock client', redirect_uris: [callback], ...metadata };
    if (clientMetadataUrl !== undefined) this.clientMetadataUrl = clientMetadataUrl;
  }

  clientInformation() {
    return this.client;
  }
  saveClientInformation(client: StoredOAuthClientInformation) {
    this.client = client;
  }
  tokens() {
    return this.stored;
  }
  saveTokens(tokens: StoredOAuthTokens) {
    this.stored = tokens;
  }
  saveCodeVerifier(verifier: string) {
    this.#verifier = verifier;
  }
  codeVerifier() {
    return this.#verifier;
  }
  async redirectToAuthorization(url: URL) {
    const page = await openRequest(this.browser, url.href);
    if (page.status !== 200) throw new Error(page.text);
    this.consent = readConsent(page.text);
    this.answer = await decide(this.browser, page.url, true);
  }
}

/** PKCE, as a client does it. */
export function makeChallenge(): { readonly verifier: string; readonly challenge: string } {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
}

/** Posts a form. */
export async function postForm(url: string, form: Readonly<Record<string, string>>): Promise<Pick<Reply, 'body' | 'status'>> {
  const reply = await fetch(url, { method: 'POST', body: new URLSearchParams(form) });
  const text = await reply.text();
  return { status: reply.status, body: text === '' ? {} : JSON.parse(text) };
}
