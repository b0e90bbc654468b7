import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import { createApp } from './app.ts';
import { closeDeps, createDeps } from './compose.ts';
import type { Deps } from './domain/deps.ts';
import { type FirstKey, prepareFirstStart } from './domain/first-start.ts';
import type { Settings } from './settings.ts';

export interface Service {
  /** `http://host:port`, without a slash at the end. */
  readonly url: string;
  /** At the first start on an empty database only. */
  readonly firstKey: FirstKey | undefined;
  readonly deps: Deps;
  /** Stops listening, lets what runs come to its end for at most `graceMs`, closes everything. */
  close(graceMs: number): Promise<void>;
}

/** How long the first listing of the providers' models may hold up the start. */
const modelsWarmMs = 750;

/**
 * Starts one Parley: storage, engine, app, listen. What fails on the way takes down what was started before it.
 *
 * @param environment  reads the variables that a models file names for keys.
 */
export async function startService(
  settings: Settings,
  logger: Logger,
  onFatal: (error: Error) => void,
  environment?: (name: string) => string | undefined,
): Promise<Service> {
  let publicUrl = settings.PUBLIC_URL?.replace(/\/+$/, '');
  const address = (port: number) => `http://${urlHost(settings.HOST)}:${port}`;
  const deps = await createDeps({
    settings,
    logger,
    publicUrl: () => publicUrl ?? address(settings.PORT),
    onFatal,
    ...(environment === undefined ? {} : { environment }),
  });
  try {
    const [firstKey] = await Promise.all([prepareFirstStart(deps), deps.models.warm(modelsWarmMs)]);
    const app = createApp(deps);
    const server = createServer(app.handle);
    server.on('upgrade', app.upgrade);
    // Uploads and long bodies are bounded by size and by their own idle limits, not by a total time.
    server.requestTimeout = 0;
    const { port } = await listen(server, settings);
    publicUrl ??= address(port);
    return {
      url: address(port),
      firstKey,
      deps,
      async close(graceMs) {
        const deadlineMs = performance.now() + graceMs;
        app.stop();
        await drain(server, graceMs);
        await closeDeps(deps, Math.max(0, deadlineMs - performance.now()));
      },
    };
  } catch (error) {
    await closeDeps(deps, 0);
    throw error;
  }
}

async function listen(server: Server, { HOST, PORT }: Settings): Promise<AddressInfo> {
  server.listen(PORT, HOST);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return address;
}

/** Takes no new connections and lets replies in flight end; what is left after `graceMs` is cut off. */
async function drain(server: Server, graceMs: number): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeIdleConnections();
  const isDrained = await Promise.race([closed.then(() => true), wait(graceMs, false, { ref: false })]);
  if (isDrained) return;
  server.closeAllConnections();
  await closed;
}

/** An address for people: the wildcard ones cannot be visited. */
function urlHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}
