import type { IncomingMessage, RequestListener, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import express, { type RequestHandler, Router } from 'express';
import type { GraphQLSchema } from 'graphql';
import packageJson from '../../package.json' with { type: 'json' };
import { createA2aEndpoint } from '../a2a/endpoint.ts';
import type { Deps } from '../domain/deps.ts';
import { operationScopes } from '../domain/ground/access/operation-scopes.ts';
import { confirmConnection, receiveCallback, redirectUri } from '../domain/knowledge/connecting.ts';
import { checkHealth } from '../domain/operations/installation/health.ts';
import { acceptInvitation, showInvitation } from '../domain/people/sign-in/accept-invitation.ts';
import {
  attemptMs,
  backchannelLogout,
  beginOidc,
  completeOidc,
  listProviders,
  providerLogoutUrl,
} from '../domain/people/sign-in/oidc.ts';
import { beginPasskeySignIn, signInByPasskey, toRelyingParty } from '../domain/people/sign-in/passkeys.ts';
import { type Browser, isSignedIn, signInByLink, signInByPassword, signOut } from '../domain/people/sign-in/sign-in.ts';
import { createGraphiqlPage } from '../graphql/graphiql/page.ts';
import { graphqlSearchEntries } from '../graphql/graphiql/search-entries.ts';
import { buildSchema } from '../graphql/schema.ts';
import { createGraphqlHandler } from '../graphql/server/server.ts';
import { toNetwork } from '../http/address.ts';
import { createHttpApp } from '../http/app.ts';
import { toAddressing } from '../http/authenticate/key-check.ts';
import { Connection } from '../http/connections/connection.ts';
import { Connections } from '../http/connections/connections.ts';
import { refuseUnreadable } from '../http/connections/unreadable.ts';
import { toOrigin } from '../http/context.ts';
import { healthHandler, readyHandler } from '../http/health.ts';
import { createAdmissions } from '../http/limits.ts';
import { createAccessLog } from '../http/log/access-log.ts';
import type { ServiceLogger } from '../http/log/logging.ts';
import { Metrics, type MetricsText, metricsHandler } from '../http/log/metrics.ts';
import { SseStreams } from '../http/reply/sse.ts';
import { createMcpEndpoint } from '../mcp/endpoint.ts';
import { createOauth } from '../oauth/endpoint.ts';
import { type ConnectSteps, createConnectPages } from '../pages/connect.ts';
import { ConsolePage, consolePageHeaders, createConsole, createMissingPage } from '../pages/console.ts';
import { createPages } from '../pages/pages.ts';
import { createSharedPage } from '../pages/shared.ts';
import { createSignIn, type SignInSteps } from '../pages/sign-in.ts';
import { createOidcPages, type OidcSteps } from '../pages/sign-in-oidc.ts';
import { compileRoutes, type Route } from '../rest/compile.ts';
import { createContentLinks } from '../rest/content-links.ts';
import { createReference } from '../rest/reference/reference.ts';
import { restSearchEntries } from '../rest/reference/search-entries.ts';
import { createRestHandlers } from '../rest/router.ts';
import { allRoutes } from '../rest/routes/index.ts';
import { createSavedDocumentCalls } from '../rest/saved-documents/calls.ts';
import { createResponseSocket } from '../rest/socket.ts';
import { createScimEndpoint } from '../scim/endpoint.ts';
import { measure } from './measure.ts';
import { shareMetrics } from './processes/shared-metrics.ts';
import type { Siblings } from './processes/siblings.ts';
import { sharedSteps } from './shared-steps.ts';

export interface App {
  readonly handle: RequestListener;
  /** Serves /metrics and nothing else, on the server of METRICS_PORT. */
  readonly handleMetrics: RequestListener;
  /** Watches the connections of the server whose requests `handle` gets, before it listens. */
  watch(server: Server): void;
  /** Whether a request that offers another protocol gets it; any other is answered like one that offers none (`Upgrade: h2c` is a common offer). */
  takesUpgrade(req: IncomingMessage): boolean;
  upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Answers what could not be read as a request. */
  refuse(error: Error, socket: Duplex): void;
  /** Tells balancers to send no more and ends the streams that follow something without an end of its own. May be told again. */
  stop(): void;
  /** Breaks off every connection, also those that the server does not count among its own. */
  cutOff(): void;
}

/** What both APIs stand on: the one schema, and the routes, checked against it. Needs nothing that a start has to wait for. */
export interface Apis {
  readonly schema: GraphQLSchema;
  readonly routes: readonly Route[];
}

let apis: Apis | undefined;

/**
 * The same for every service of the process: what is served with a request comes with it.
 *
 * @throws Error naming everything of the schema that is not complete, and every route that does not hold.
 */
export function createApis(): Apis {
  apis ??= makeApis();
  return apis;
}

function makeApis(): Apis {
  const schema = buildSchema();
  // Wire schemas, documents and examples never change: tests check them.
  return { schema, routes: compileRoutes(schema, allRoutes, operationScopes, null) };
}

export interface AppOptions {
  /** Takes the log lines of replies; undefined: none is written. */
  readonly writeLines?: ServiceLogger['writeLines'] | undefined;
  /** The other processes of the service, whose metrics are shown too. */
  readonly siblings?: Siblings | undefined;
}

/** Joins both APIs over one schema. The only file that sees every layer. */
export function createApp(deps: Deps, { schema, routes }: Apis, { writeLines, siblings }: AppOptions): App {
  let isStopping = false;
  const { settings } = deps;
  const metrics = new Metrics();
  const readMetrics = siblings === undefined ? () => metrics.text() : shareMetrics(metrics, siblings);
  const streams = new SseStreams({
    heartbeatMs: settings.SSE_HEARTBEAT_MS,
    bufferMaxBytes: settings.SSE_BUFFER_MAX_BYTES,
  });
  const admissions = createAdmissions(deps.pools, settings);
  const graphql = createGraphqlHandler({ schema, deps, metrics, streams, admissions });
  const rest = createRestHandlers({ routes, deps, metrics, streams, admissions });
  const sockets = createResponseSocket(deps, routeWithSocket(routes), admissions);
  const log = createAccessLog(writeLines, deps.tracing);
  const mcp = createMcpEndpoint({ deps, metrics, admissions, version: packageJson.version, documents: graphql.documents });
  const consolePage = new ConsolePage({ version: packageJson.version, heartbeatMs: settings.SSE_HEARTBEAT_MS });
  const handlers = [
    beforeRoutes(
      routeGraphql(graphql.handle),
      createContentLinks(deps, metrics),
      createSavedDocumentCalls({ deps, metrics, admissions, run: (call) => graphql.documents.run(call) }),
    ),
    ...rest,
    mcp.handle,
    createA2aEndpoint({ deps, metrics, admissions, streams }),
    createOauth({
      ...{ deps, metrics, admissions },
      page: { publicPage: (outcome) => consolePage.publicPage(outcome), headers: consolePageHeaders },
    }),
    createScimEndpoint({ deps, metrics, admissions }),
    createReference(schema, routes, packageJson.version),
    createProbes(deps, readMetrics, () => isStopping),
    createPages(packageJson.version, () => [...restSearchEntries(routes), ...graphqlSearchEntries(schema)]),
    createConsole(consolePage),
    createConnectPages(connectSteps(deps), consolePage),
    createSignIn(signInSteps(deps), toAddressing(deps), admissions.failedKeys),
    createSharedPage(sharedSteps(deps), toAddressing(deps)),
    createOidcPages(oidcSteps(deps), toAddressing(deps), admissions.failedKeys),
    createMissingPage(consolePage),
  ];
  const connections = new Connections(settings, createHttpApp({ deps, log, handlers }));
  measure(metrics, deps, streams, admissions);
  metrics.gauge('replies_unsent_bytes', 'Bytes of finished replies that wait for their readers.', () => connections.unsentBytes);
  return {
    handle: connections.handle,
    handleMetrics: express().disable('x-powered-by').disable('etag').get('/metrics', metricsHandler(readMetrics)),
    watch: (server) => connections.watch(server),
    // Behind a request that is still being answered, the two replies would run into each other.
    takesUpgrade: (req) => sockets.takes(req) && Connection.of(req)?.isAnswering !== true,
    upgrade: (req, socket, head) => sockets.upgrade(req, socket, head),
    refuse: (error, socket) => refuseUnreadable(error, socket, deps.logger),
    stop() {
      isStopping = true;
      log.stop();
      graphql.stop();
      mcp.stop();
      sockets.stop();
    },
    cutOff() {
      connections.breakOff();
      sockets.cutOff();
    },
  };
}

/** The page of browsers and the endpoint. */
function routeGraphql(handle: RequestHandler): RequestHandler {
  return Router({ strict: true, caseSensitive: true })
    .get(['/graphql', '/graphql/'], createGraphiqlPage())
    .all(['/graphql', '/graphql/', '/graphql/stream'], handle);
}

/**
 * GraphQL, and what answers at paths of routes, by its methods: links are read, and documents are run. One handler, because every request of REST
 * passes it.
 */
function beforeRoutes(graphql: RequestHandler, reads: RequestHandler, posts: RequestHandler): RequestHandler {
  return (req, res, next) => {
    if (req.url.startsWith('/graphql')) graphql(req, res, next);
    else if (req.method === 'POST') posts(req, res, next);
    else reads(req, res, next);
  };
}

function connectSteps(deps: Deps): ConnectSteps {
  return {
    clientMetadata: () => deps.mcp.authorization.clientMetadata(redirectUri(deps)),
    receive: (callback, req, signal) => receiveCallback(deps, callback, toOrigin(deps, req), signal),
    confirm: (word, req) => confirmConnection(deps, word, toOrigin(deps, req)),
  };
}

function signInSteps(deps: Deps): SignInSteps {
  const browserOf = createBrowserReader(deps);
  return {
    providers: listProviders(deps),
    hasOwnWays: deps.settings.SIGN_IN !== 'oidc',
    byLink: (secret, req, sessionSecret) => signInByLink(deps, secret, browserOf(req, sessionSecret)),
    byPassword: (credentials, req, sessionSecret) => signInByPassword(deps, credentials, browserOf(req, sessionSecret)),
    byInvitation: (acceptance, req, sessionSecret) => acceptInvitation(deps, acceptance, browserOf(req, sessionSecret)),
    invitation: (secret, sessionSecret) => showInvitation(deps, secret, { sessionSecret }),
    passkeyOptions: (req) => beginPasskeySignIn(deps, toNetwork(toOrigin(deps, req).address)),
    byPasskey: (credential, req, sessionSecret) => signInByPasskey(deps, credential, browserOf(req, sessionSecret)),
    passkeyHost: () => toRelyingParty(deps)?.id,
    async signOut(req, sessionSecret) {
      const logoutUrl = await providerLogoutUrl(deps, sessionSecret);
      await signOut(deps, browserOf(req, sessionSecret));
      return { logoutUrl };
    },
    isSignedIn: (sessionSecret) => isSignedIn(deps, sessionSecret),
  };
}

function oidcSteps(deps: Deps): OidcSteps {
  const browserOf = createBrowserReader(deps);
  return {
    attemptMs,
    begin: (provider, next, secret) => beginOidc(deps, provider, next, secret),
    complete: (provider, query, secret, req, sessionSecret) =>
      completeOidc(deps, provider, query, secret, browserOf(req, sessionSecret)),
    endSessions: (provider, token, req) => backchannelLogout(deps, provider, token, toOrigin(deps, req)),
  };
}

function createBrowserReader(deps: Deps): (req: IncomingMessage, sessionSecret: string | undefined) => Browser {
  return (req, sessionSecret) => {
    const origin = toOrigin(deps, req);
    return { ...origin, network: toNetwork(origin.address), userAgent: req.headers['user-agent'], sessionSecret };
  };
}

/** Health, and metrics where they have no port of their own. */
function createProbes(deps: Deps, readMetrics: () => Promise<MetricsText>, isStopping: () => boolean): Router {
  const probes = Router({ strict: true, caseSensitive: true })
    .get('/healthz', healthHandler())
    .get(
      '/readyz',
      readyHandler(() => checkHealth(deps), isStopping),
    );
  return deps.settings.METRICS_PORT === undefined ? probes.get('/metrics', metricsHandler(readMetrics)) : probes;
}

/** The route that a WebSocket serves too. */
function routeWithSocket(routes: readonly Route[]): Route {
  const [route, other] = routes.filter(({ row }) => row.socket !== undefined);
  if (route === undefined || other !== undefined) throw new Error('one route has a socket');
  return route;
}
