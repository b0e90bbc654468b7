import { Agent, type Dispatcher, fetch, Pool, ProxyAgent, type RequestInit } from 'undici';
import type { Proxies, ProxyServer } from './proxies.ts';

/** An agent for addresses that the operator set. A proxy looks up their names. */
export function createAgent(proxies: Proxies, options: Agent.Options = {}): Agent {
  return new Agent({
    ...options,
    factory(origin) {
      const proxy = proxies.proxyOf(new URL(origin));
      return proxy === undefined ? new Pool(origin, options) : createProxyAgent(proxy, options);
    },
  });
}

/** Calls to one origin of the operator. */
export interface Upstream {
  /** Its calls name no origin. */
  readonly dispatcher: Dispatcher;
  /** Host and port of the proxy that calls go through. */
  readonly proxyName: string | undefined;
}

export function createUpstream(proxies: Proxies, url: URL, options: Pool.Options): Upstream {
  const proxy = proxies.proxyOf(url);
  if (proxy === undefined) return { dispatcher: new Pool(url.origin, options), proxyName: undefined };
  const agent = createProxyAgent(proxy, options);
  const dispatcher = agent.compose((dispatch) => (call, handler) => dispatch({ ...call, origin: url.origin }, handler));
  return { dispatcher, proxyName: proxy.name };
}

/** `fetch` for calls to one origin of the operator by a library; undefined where no proxy is between, and its own will do. */
export function createProxyFetch(proxies: Proxies, url: URL): typeof globalThis.fetch | undefined {
  const proxy = proxies.proxyOf(url);
  if (proxy === undefined) return undefined;
  const dispatcher = createProxyAgent(proxy, {});
  // The types of this package and those of Node's own copy of it do not know each other.
  return ((address: string | URL, init: RequestInit = {}) =>
    fetch(address, { ...init, dispatcher })) as unknown as typeof globalThis.fetch;
}

function createProxyAgent(proxy: ProxyServer, { connect, ...options }: Pool.Options): ProxyAgent {
  const timeout = typeof connect === 'object' ? connect.timeout : undefined;
  return new ProxyAgent({
    ...options,
    uri: proxy.url.href,
    ...(typeof timeout === 'number' ? { connectTimeout: timeout } : {}),
    ...(proxy.authorization === undefined ? {} : { token: proxy.authorization }),
  });
}
