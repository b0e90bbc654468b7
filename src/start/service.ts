import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo, ListenOptions } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { Deps } from '../domain/deps.ts';
import { type FirstKey, prepareFirstStart } from '../domain/people/first-start.ts';
import { warnOfTrustedHeader } from '../domain/people/sign-in/trusted-user.ts';
import { endingMs } from '../engine/runs/engine.ts';
import { closing } from '../http/connections/closing.ts';
import type { ServiceLogger } from '../http/log/logging.ts';
import type { Settings } from '../settings.ts';
import type { EmbeddedServer } from '../storage/ground/embedded/embedded.ts';
import { createApis, createApp } from './app.ts';
import { closeDeps, createDeps } from './compose.ts';
import { createDemo } from './demo.ts';
import { shared } from './processes/port.ts';
import type { Siblings } from './processes/siblings.ts';

export interface Service {
  /** `http://host:port`, without a slash at the end. */
  readonly url: string;
  /** At the first start on an empty database only. */
  readonly firstKey: FirstKey | undefined;
  /** At such a start only: resolves when the demo agent is there, to its id, or to undefined where it could not be made. Never rejects. */
  readonly demo: Promise<string | undefined> | undefined;
  readonly deps: Deps;
  /**
   * Stops listening, lets what runs come to its end, ends it itself a little before `graceMs` is over so that every stream has its proper
   * last frame, cuts off who does not read that, and closes everything.
   */
  close(graceMs: number): Promise<void>;
}

/** Longer than balancers and clients keep a connection (60 s at most, as a rule): one that is closed just as a request comes loses it. */
const keepAliveMs = 72_000;

/** How long the first listing of the providers' models may hold up the start. */
const modelsWarmMs = 750;

export interface StartOptions {
  /** Reads the variables that a models file names for keys, and those of workload identities. */
  readonly environment?: (name: string) => string | undefined;
  /** The embedded database of the settings, when it has been started already. */
  readonly embedded?: Promise<EmbeddedServer> | undefined;
  /** Where the service has several processes. */
  readonly siblings?: Siblings | undefined;
}

/** Starts one Parley: storage, engine, app, listen. What fails on the way takes down what was started before it. */
export async function startService(
  settings: Settings,
  logger: ServiceLogger,
  onFatal: (error: Error) => void,
  options: StartOptions = {},
): Promise<Service> {
  let publicUrl = settings.PUBLIC_URL?.replace(/(?<!\/)\/+$/, '');
  const address = (port: number) => `http://${urlHost(settings.HOST)}:${port}`;
  const opening = createDeps({
    settings,
    logger,
    publicUrl: () => publicUrl ?? address(settings.PORT),
    onFatal,
    environment: options.environment,
    embedded: options.embedded,
  });
  // In this thread while the database opens in its own. A failure here is told once the database can be closed.
  const making = Promise.try(createApis);
  making.catch(() => undefined);
  const deps = await opening;
  try {
    const [firstKey] = await Promise.all([prepareFirstStart(deps), warmModels(deps), warnOfTrustedHeader(deps)]);
    const { siblings } = options;
    const writeLines = logger.isLevelEnabled('info') ? logger.writeLines : undefined;
    const app = createApp(deps, await making, { writeLines, siblings });
    // A request without a host is refused by the app: Node would do it without a word.
    const server = createServer({ shouldUpgradeCallback: app.takesUpgrade, requireHostHeader: false }, app.handle);
    server.on('upgrade', app.upgrade);
    server.on('clientError', app.refuse);
    // An expectation that is not known here asks for nothing.
    server.on('checkExpectation', app.handle);
    // Uploads and long bodies are bounded by size and by their own idle limits, not by a total time.
    server.requestTimeout = 0;
    server.keepAliveTimeout = keepAliveMs;
    app.watch(server);
    const metrics = settings.METRICS_PORT === undefined ? undefined : createServer(app.handleMetrics);
    const at = (port: number): ListenOptions =>
      siblings === undefined ? { port, host: settings.HOST } : shared({ port, host: settings.HOST });
    if (metrics !== undefined && settings.METRICS_PORT !== undefined) await listen(metrics, at(settings.METRICS_PORT));
    const { port } = await listen(server, at(siblings?.port ?? settings.PORT)).catch((error: unknown) => {
      metrics?.close();
      throw error;
    });
    publicUrl ??= address(port);
    const stopping = new AbortController();
    const wantsDemo = firstKey !== undefined && settings.DEMO === 'on';
    const demo = wantsDemo ? createDemo(deps, stopping.signal) : undefined;
    return {
      url: address(port),
      firstKey,
      demo,
      deps,
      async close(graceMs) {
        const deadlineMs = performance.now() + graceMs;
        stopping.abort();
        await demo;
        const leftMs = () => Math.max(0, deadlineMs - performance.now());
        app.stop();
        const serverClose = closing(server);
        if (!(await isWithin(serverClose, graceMs - endingMs(graceMs)))) {
          deps.runs.endAll();
          // What came in meanwhile on connections that were open.
          app.stop();
        }
        if (!(await isWithin(serverClose, leftMs()))) {
          app.cutOff();
          server.closeAllConnections();
          await serverClose;
        }
        // Until the end, so that the last figures can be read.
        metrics?.close();
        metrics?.closeAllConnections();
        await closeDeps(deps, leftMs());
      },
    };
  } catch (error) {
    await closeDeps(deps, 0);
    throw error;
  }
}

/** @throws StartRefusal when DEFAULT_MODEL is none of the models that are there. */
async function warmModels({ models, settings }: Deps): Promise<void> {
  await models.warm(modelsWarmMs);
  const { DEFAULT_MODEL } = settings;
  if (DEFAULT_MODEL === undefined) return;
  const modelInfo = models.find(DEFAULT_MODEL);
  if (modelInfo !== undefined && !(modelInfo instanceof Promise)) return;
  const { refuseUnknownModel } = await import('./checks/models.ts');
  await refuseUnknownModel(DEFAULT_MODEL, models, modelsWarmMs);
}

async function listen(server: Server, options: ListenOptions): Promise<AddressInfo> {
  server.listen(options);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return address;
}

function isWithin(event: Promise<unknown>, timeMs: number): Promise<boolean> {
  return Promise.race([event.then(() => true), wait(timeMs, false, { ref: false })]);
}

/** An address for people: the wildcard ones cannot be visited. */
function urlHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}
