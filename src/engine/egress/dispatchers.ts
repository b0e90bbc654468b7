import { Agent, buildConnector, DecoratorHandler, type Dispatcher, fetch, Pool, ProxyAgent, type RequestInit } from 'undici';
import type { Proxies, ProxyServer } from './proxies.ts';

/** HTTP/1.1 only: over HTTP/2, which undici 8 prefers, a stream that the other side cancels looks like the end of its body. */
const http1 = { allowH2: false } as const;

export interface AgentOptions extends Omit<Agent.Options, 'connect'> {
  readonly connect?: { readonly timeout: number };
}

/**
 * An agent for addresses that the operator set. A proxy looks up their names. A body that was cut is an error, also one without a length, which ends with
 * its connection.
 */
export function createAgent(proxies: Proxies, options: AgentOptions = {}): Dispatcher {
  const resets = new Resets();
  const connector = buildConnector({ ...options.connect, ...http1 });
  const direct: Pool.Options = {
    ...options,
    ...http1,
    connect: (target, callback) =>
      connector(target, (...result) => {
        // Before undici's own listener, which ends such a body as if it were whole.
        result[1]?.on('error', () => resets.note());
        callback(...result);
      }),
  };
  const agent = new Agent({
    ...options,
    ...http1,
    factory(origin) {
      const proxy = proxies.proxyOf(new URL(origin));
      return proxy === undefined ? new Pool(origin, direct) : createProxyAgent(proxy, options);
    },
  });
  return agent.compose((dispatch) => (call, handler) => dispatch(call, new WholeBody(handler, resets)));
}

/** Whether a connection is failing right now: undici ends the bodies of a connection while it handles the connection's error. */
class Resets {
  isFailing = false;

  note(): void {
    this.isFailing = true;
    queueMicrotask(() => {
      this.isFailing = false;
    });
  }
}

class WholeBody extends DecoratorHandler implements Dispatcher.DispatchHandler {
  readonly #handler: Dispatcher.DispatchHandler;
  readonly #resets: Resets;

  constructor(handler: Dispatcher.DispatchHandler, resets: Resets) {
    super(handler);
    this.#handler = handler;
    this.#resets = resets;
  }

  onResponseEnd(controller: Dispatcher.DispatchController, trailers: Record<string, string>): void {
    if (this.#resets.isFailing)
      this.#handler.onResponseError?.(controller, new Error('the connection was reset before the body ended'));
    else this.#handler.onResponseEnd?.(controller, trailers);
  }
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
  if (proxy === undefined) return { dispatcher: new Pool(url.origin, { ...options, ...http1 }), proxyName: undefined };
  const agent = createProxyAgent(proxy, options);
  const dispatcher = agent.compose((dispatch) => (call, handler) => dispatch({ ...call, origin: url.origin }, handler));
  return { dispatcher, proxyName: proxy.name };
}

/** `fetch` for calls to one origin of the operator by a library, through the proxy of the origin. */
export function createFetch(proxies: Proxies, url: URL): typeof globalThis.fetch {
  const proxy = proxies.proxyOf(url);
  const dispatcher = proxy === undefined ? new Agent(http1) : createProxyAgent(proxy, {});
  // The types of this package and those of Node's own copy of it do not know each other.
  return ((address: string | URL, init: RequestInit = {}) =>
    fetch(address, { ...init, dispatcher })) as unknown as typeof globalThis.fetch;
}

function createProxyAgent(proxy: ProxyServer, { connect, ...options }: Pool.Options): ProxyAgent {
  const timeout = typeof connect === 'object' ? connect.timeout : undefined;
  return new ProxyAgent({
    ...options,
    ...http1,
    uri: proxy.url.href,
    ...(typeof timeout === 'number' ? { connectTimeout: timeout } : {}),
    ...(proxy.authorization === undefined ? {} : { token: proxy.authorization }),
  });
}
