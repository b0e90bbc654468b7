import { createClient, NetworkError } from 'graphql-sse';

const pauseMaxMs = 30_000;
/** Asking again does not help: the document or the key was refused. */
const refusals = [400, 401, 403];
let refusal: Error | undefined;
const listeners = new Set<() => void>();
let hasConnection = false;
const watchers = new Set<() => void>();

/**
 * Carries all subscriptions of the page on one connection, because a browser opens at most six to a server that speaks HTTP/1.1. When it
 * breaks it is opened anew, after pauses that grow; with `lazy: false` once for all of them.
 */
export const stream = createClient({
  url: '/graphql/stream',
  singleConnection: true,
  lazy: false,
  retryAttempts: Infinity,
  async retry(retries) {
    if (refusal !== undefined) throw refusal;
    const pauseMs = Math.min(1_000 * 2 ** retries, pauseMaxMs);
    // Not all pages at the same moment.
    await new Promise((resolve) => setTimeout(resolve, pauseMs * (0.5 + Math.random() / 2)));
  },
  async fetchFn(url: string, request: RequestInit) {
    const reply = await fetch(url, request);
    refusal = refusals.includes(reply.status) ? new Error(await reasonOf(reply.clone())) : undefined;
    return reply;
  },
  on: {
    connecting: () => tell(false),
    connected() {
      tell(true);
      for (const listener of listeners) listener();
    },
    message({ data }) {
      // A Parley that stops says so and ends the subscriptions. As an error of the network, the client connects to the next one.
      if (data && 'payload' in data && data.payload.errors?.[0]?.extensions?.code === 'OVERLOADED')
        throw new NetworkError('Parley is stopping');
    },
  },
});

/** Calls the listener whenever a connection was opened. @returns a function that ends it. */
export function onConnected(listener: () => void): () => void {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
}

/** Whether the connection stands, and a watcher of that, as React's `useSyncExternalStore` takes them. */
export const isConnected = () => hasConnection;
export function onConnectionChanged(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => {
    watchers.delete(watcher);
  };
}

function tell(stands: boolean): void {
  hasConnection = stands;
  for (const watcher of watchers) watcher();
}

async function reasonOf(reply: Response): Promise<string> {
  const { errors } = await reply.json();
  return errors[0].message;
}
