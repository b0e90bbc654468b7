import { readFile } from 'node:fs/promises';
import type { Dispatcher } from 'undici';
import { membersOf } from '../../../lib/json/json.ts';
import { withUserAgent } from '../../../lib/product.ts';
import { createAgent } from '../../egress/dispatchers.ts';
import { noProxies, type Proxies } from '../../egress/proxies.ts';
import { ModelError } from '../port.ts';
import { RenewedCredentials, type TimedCredentials } from './renewed-credentials.ts';

/** Reads an environment variable: one with a key that a models file names, or one in which a cloud tells a workload who it is. */
export type ReadEnvironment = (name: string) => string | undefined;

/** What a workload signs in with at its cloud. No key of it is stored: the cloud gives short-lived credentials to what runs in it. */
export interface CloudIdentity<T> {
  /** The credentials of now; a promise only while they are fetched. @throws ModelError that tells the caller no details. */
  get(): T | Promise<T>;
  /** Why the credentials could not be fetched at the last attempt, for the operator; undefined when they could. */
  readonly problem: string | undefined;
  close(): Promise<void>;
}

/** Where credentials come from. @throws IdentityError */
export type FetchCredentials<T> = (calls: IdentityCalls) => Promise<TimedCredentials<T>>;

/** There are no credentials. The message is for the operator: it may name files and addresses, never a secret. */
export class IdentityError extends Error {
  override readonly name = 'IdentityError';
}

const callTimeoutMs = 5_000;
const replyBytesMax = 256 * 1024;

export interface IdentityCall {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly form?: Readonly<Record<string, string>>;
  readonly json?: object;
}

/** Calls to services that give credentials. Their addresses come from the environment or the models file: the operator's, as those of providers. */
export class IdentityCalls {
  readonly #agent: Dispatcher;
  /** Metadata services answer their own machine only: a proxy would ask for its own identity. */
  readonly #directAgent: Dispatcher;

  constructor(proxies: Proxies) {
    this.#agent = createAgent(proxies, { connect: { timeout: callTimeoutMs } });
    this.#directAgent = createAgent(noProxies, { connect: { timeout: callTimeoutMs } });
  }

  /** @returns the body of a reply with 200. @throws IdentityError that names the address and the status. */
  async text(call: IdentityCall): Promise<string> {
    return this.#send(this.#agent, call);
  }

  /** The same of a service of this machine. */
  async localText(call: IdentityCall): Promise<string> {
    return this.#send(this.#directAgent, call);
  }

  async json(call: IdentityCall): Promise<Readonly<Record<string, unknown>>> {
    return readObject(await this.text(call), call.url);
  }

  async localJson(call: IdentityCall): Promise<Readonly<Record<string, unknown>>> {
    return readObject(await this.localText(call), call.url);
  }

  async close(): Promise<void> {
    await Promise.all([this.#agent.destroy(), this.#directAgent.destroy()]);
  }

  async #send(agent: Dispatcher, { method, url, headers = {}, form, json }: IdentityCall): Promise<string> {
    const { origin, pathname, search } = new URL(url);
    const body = form === undefined ? json && JSON.stringify(json) : new URLSearchParams(form).toString();
    const type = form === undefined ? 'application/json' : 'application/x-www-form-urlencoded';
    let status: number;
    let text = '';
    try {
      const reply = await agent.request({
        ...{ origin, method, path: pathname + search, signal: AbortSignal.timeout(callTimeoutMs) },
        headers: withUserAgent(body === undefined ? headers : { 'content-type': type, ...headers }),
        ...(body === undefined ? {} : { body }),
      });
      status = reply.statusCode;
      for await (const chunk of reply.body) {
        text += chunk;
        if (text.length > replyBytesMax) throw new IdentityError(`${origin} answers too much`);
      }
    } catch (error) {
      throw error instanceof IdentityError ? error : new IdentityError(`${origin} cannot be reached (${reasonOf(error)})`);
    }
    if (status !== 200) throw new IdentityError(`${origin}${pathname} answers ${status}${errorCodeOf(text)}`);
    return text;
  }
}

/** An identity that fetches credentials when they are needed, and again before they end. */
export function createIdentity<T>(fetchCredentials: FetchCredentials<T>, proxies: Proxies, now: () => Date): CloudIdentity<T> {
  let problem: string | undefined;
  const calls = new IdentityCalls(proxies);
  const credentials = new RenewedCredentials<T>(async () => {
    try {
      const fetched = await fetchCredentials(calls);
      problem = undefined;
      return fetched;
    } catch (error) {
      problem = error instanceof Error ? error.message : String(error);
      throw new ModelError('UPSTREAM_ERROR', 'This service cannot sign in at the model provider', true);
    }
  }, now);
  return {
    get: () => credentials.get(),
    get problem() {
      return problem;
    },
    close: () => calls.close(),
  };
}

/** Read anew each time: the cloud replaces these files. */
export async function readToken(path: string, variable: string): Promise<string> {
  let token: string;
  try {
    token = (await readFile(path, 'utf8')).trim();
  } catch (error) {
    throw new IdentityError(`${variable} names ${path}, which cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
  if (token === '') throw new IdentityError(`${variable} names ${path}, which is empty`);
  return token;
}

function readObject(text: string, url: string): Readonly<Record<string, unknown>> {
  try {
    return membersOf(JSON.parse(text));
  } catch {
    throw new IdentityError(`${new URL(url).origin} answers no JSON`);
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}

/** The code of an error, as OAuth and AWS name it. Descriptions may repeat what was sent. */
function errorCodeOf(text: string): string {
  const code = /"error"\s*:\s*"([\w.-]{1,80})"/.exec(text)?.[1] ?? /<Code>([\w.-]{1,80})<\/Code>/.exec(text)?.[1];
  return code === undefined ? '' : ` (${code})`;
}
