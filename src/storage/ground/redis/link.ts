/** How long Redis may take to let a connection in, and to answer a command that does not wait. */
const connectTimeoutMs = 3_000;
export const commandTimeoutMs = 2_000;
/** More commands than this wait for replies: Redis is too slow, and further ones fail. */
const commandsMax = 50_000;

export type Reply = string | number | null | readonly Reply[];

/** One connection to Redis or Valkey, or to a cluster of them. Once a command timed out or the connection is lost, it is over for good. */
export interface RedisLink {
  /**
   * @param key  decides which node of a cluster gets the command.
   * @throws Error when Redis answers an error, or not in time, or the link is over.
   */
  command(key: string, args: readonly string[], timeoutMs?: number): Promise<Reply>;
  close(): void;
}

/** What both kinds of clients of `@redis/client` have in common. */
interface Client {
  connect(): Promise<unknown>;
  destroy(): void;
  send(key: string, args: string[]): Promise<Reply>;
  onError(listener: (error: Error) => void): void;
}

/**
 * Connects, and finds out whether the server is a node of a cluster.
 *
 * @param onLost  called once, when the connection is lost or Redis does not answer; not by `close`.
 * @throws Error when Redis cannot be reached or refuses.
 */
export async function connectRedis(url: string, onLost: (error: Error) => void): Promise<RedisLink> {
  const single = await open(await singleClient(url), onLost);
  try {
    const info = await single.command('', ['INFO', 'cluster']);
    if (!/^cluster_enabled:1/m.test(String(info))) return single;
  } catch (error) {
    single.close();
    throw error;
  }
  single.close();
  return open(await clusterClient(url), onLost);
}

async function open(client: Client, onLost: (error: Error) => void): Promise<RedisLink> {
  let isOver = false;
  const end = () => {
    if (isOver) return;
    isOver = true;
    try {
      client.destroy();
    } catch {
      // It was never open.
    }
  };
  const fail = (error: Error) => {
    if (isOver) return;
    end();
    onLost(error);
  };
  let isOpen = false;
  client.onError((error) => {
    // While connecting, the caller gets the error.
    if (isOpen) fail(error);
  });
  try {
    await within(client.connect(), connectTimeoutMs, 'Redis lets no connection in');
    isOpen = true;
  } catch (error) {
    end();
    throw error;
  }
  return {
    async command(key, args, timeoutMs = commandTimeoutMs) {
      if (isOver) throw new Error('the connection to Redis is over');
      try {
        return await within(client.send(key, [...args]), timeoutMs, 'Redis does not answer');
      } catch (error) {
        if (error instanceof LateError) fail(error);
        throw error;
      }
    },
    close: end,
  };
}

class LateError extends Error {
  override readonly name = 'LateError';
}

async function within<T>(work: Promise<T>, timeoutMs: number, message: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new LateError(`${message} within ${timeoutMs} ms`)), timeoutMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** What a lost connection means is decided here and not by the client, so it never connects again by itself. */
const common = {
  RESP: 2,
  disableOfflineQueue: true,
  commandsQueueMaxLength: commandsMax,
  disableClientInfo: true,
  maintNotifications: 'disabled',
} as const;
const socket = { connectTimeout: connectTimeoutMs, reconnectStrategy: false } as const;

async function singleClient(url: string): Promise<Client> {
  // Loaded only where it is switched on.
  const { createClient } = await import('@redis/client');
  const client = createClient({ ...common, url, socket });
  return {
    connect: () => client.connect(),
    destroy: () => client.destroy(),
    send: (_key, args) => client.sendCommand<Reply>(args),
    onError: (listener) => void client.on('error', listener),
  };
}

async function clusterClient(url: string): Promise<Client> {
  const { createCluster, RedisClient } = await import('@redis/client');
  const { username, password, socket: address } = RedisClient.parseURL(url);
  const { tls } = address;
  const cluster = createCluster({
    rootNodes: [{ url }],
    RESP: 2,
    // A connection to a node is opened with its first command.
    minimizeConnections: true,
    defaults: {
      ...common,
      ...(username === undefined ? {} : { username }),
      ...(password === undefined ? {} : { password }),
      socket: { ...socket, ...(tls ? { tls } : {}) },
    },
  });
  return {
    connect: () => cluster.connect(),
    destroy: () => cluster.destroy(),
    send: (key, args) => cluster.sendCommand<Reply>(key, false, args),
    onError: (listener) => void cluster.on('error', listener),
  };
}
