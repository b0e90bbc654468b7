import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { RequestHandler } from 'express';
import { buildSchema, GraphQLObjectType, GraphQLScalarType, type GraphQLSchema } from 'graphql';
import { type Logger, pino } from 'pino';
import type { Deps } from '../../../src/domain/deps.ts';
import type { RunEvent, RunEventStream, RunSnapshot } from '../../../src/entities/conversations/runs/event.ts';
import { DomainError } from '../../../src/entities/ground/errors.ts';
import { makeId } from '../../../src/entities/ground/ids.ts';
import type { Caller, Scope } from '../../../src/entities/people/caller.ts';
import { createHttpApp } from '../../../src/http/app.ts';
import { Connections } from '../../../src/http/connections/connections.ts';
import { createAdmissions } from '../../../src/http/limits.ts';
import { createAccessLog } from '../../../src/http/log/access-log.ts';
import { Metrics } from '../../../src/http/log/metrics.ts';
import { SseStreams } from '../../../src/http/reply/sse.ts';
import { compileRoutes } from '../../../src/rest/compile.ts';
import type { DeclaredRoute } from '../../../src/rest/route.ts';
import { createRestHandlers } from '../../../src/rest/router.ts';
import type { Settings } from '../../../src/settings.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import type { StreamEncoderFactory, WireReply } from '../../../src/wire/ground/encoder.ts';
import { testSettings } from '../settings.ts';
import { noBudgets, testPools, testRates } from '../sharing/pools.ts';
import { forgetfulAudit } from '../storage/forgetful-audit.ts';
import { noDatabase } from '../storage/no-database.ts';

/** A small schema, so that the transport is tested without Parley's features. */
export const frameSdl = `
  scalar JSON
  scalar File
  enum Color { RED GREEN }
  type Thing { id: ID! name: String! color: Color note: String count: Int! tags: [String!]! parts: PartConnection! }
  """A piece of a thing."""
  type Part { id: ID! note: String }
  type PartConnection { nodes: [Part!]! }
  type PageInfo { hasNextPage: Boolean! endCursor: String }
  type ThingConnection { nodes: [Thing!]! pageInfo: PageInfo! totalCount: Int! }
  input PartInput { text: String! weight: Float }
  input ThingInput {
    name: String!
    color: Color
    note: String
    count: Int = 1
    isLoud: Boolean
    tags: [String!]
    parts: [PartInput!]
    extra: JSON
    child: ThingInput
  }
  input RunInput { prompt: String! maxTokens: Int stream: Boolean metaData: JSON }
  type Query {
    thing(id: ID!): Thing!
    things(first: Int = 2, after: String, color: Color, tags: [String!], isLoud: Boolean): ThingConnection!
  }
  type Mutation {
    createThing(input: ThingInput!): Thing!
    uploadThing(id: ID!, file: File!, name: String, color: Color): Thing!
    startRun(input: RunInput!, after: Int): Thing!
  }
  type Subscription { runEvents(input: RunInput!, after: Int): Thing! }
`;

export const frameScopes: Readonly<Record<string, Scope | null>> = {
  'Query.thing': 'AGENTS:READ',
  'Query.things': 'AGENTS:READ',
  'Mutation.createThing': 'AGENTS:WRITE',
  'Mutation.uploadThing': 'AGENTS:WRITE',
  'Mutation.startRun': 'CHATS:WRITE',
  'Subscription.runEvents': 'CHATS:WRITE',
};

export type Resolver = (
  args: Record<string, unknown>,
  context: { readonly signal: AbortSignal; readonly caller: Caller },
) => unknown;

export function frameSchema(resolvers: Readonly<Record<string, Resolver>>): GraphQLSchema {
  const schema = buildSchema(frameSdl);
  const file = schema.getType('File');
  if (file instanceof GraphQLScalarType) file.parseValue = (value) => value;
  for (const type of [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()]) {
    if (!(type instanceof GraphQLObjectType)) continue;
    for (const field of Object.values(type.getFields())) {
      const resolve = resolvers[field.name];
      if (resolve === undefined) continue;
      const call = (_root: unknown, args: Record<string, unknown>, context: unknown) => resolve(args, context as never);
      if (type.name === 'Subscription') field.subscribe = call;
      else field.resolve = call;
    }
  }
  return schema;
}

const thingSelection = '{ id name color note count tags }';
const runDocument = 'subscription ($input: RunInput!) { runEvents(input: $input) { id } }';

export const frameEncoder: StreamEncoderFactory = () => ({
  encode: (events) => events.map((event) => `data: ${event.sequence}\n\n`).join(''),
  end: () => 'data: [DONE]\n\n',
  fail: (error) => `data: {"error":"${error instanceof DomainError ? error.code : 'SERVER_ERROR'}"}\n\ndata: [DONE]\n\n`,
});

/** The schemas that a wire format would declare. */
export const frameDeclarations = { schemas: { RunCount: { type: 'object' } }, members: {} };

export const frameReply: WireReply = {
  schema: 'RunCount',
  fold: (variables) => {
    let count = 0;
    return {
      add: (events) => {
        count += events.length;
      },
      body: () => ({ count, variables }),
      headers: () => ({ 'x-model': 'tiny' }),
    };
  },
};

export const frameRows: readonly DeclaredRoute[] = [
  {
    operationId: 'getThing',
    method: 'get',
    path: '/api/v1/things/{thingId}',
    summary: 'Get a thing',
    tag: 'Things',
    document: `query ($thingId: ID!) { thing(id: $thingId) ${thingSelection} }`,
    omitNull: ['note'],
  },
  {
    operationId: 'getParts',
    method: 'get',
    path: '/api/v1/things/{thingId}/parts',
    summary: 'Get the parts of a thing',
    tag: 'Things',
    document: 'query ($thingId: ID!) { thing(id: $thingId) { id parts { nodes { id note } } } }',
    blankNull: { note: 'Empty without one.' },
    lists: { parts: 'All of them.' },
    schemas: { Thing: 'ThingWithParts' },
  },
  {
    operationId: 'listThings',
    method: 'get',
    path: '/api/v1/things',
    summary: 'List things',
    tag: 'Things',
    document: `query ($limit: Int, $cursor: String, $color: Color, $tags: [String!], $isLoud: Boolean) {
      things(first: $limit, after: $cursor, color: $color, tags: $tags, isLoud: $isLoud) {
        nodes ${thingSelection} pageInfo { hasNextPage endCursor } totalCount
      }
    }`,
    query: { limit: 'How many', cursor: 'Where to go on', color: 'Of this color', tags: 'With these', isLoud: 'Loud ones' },
    wrap: 'data',
    page: 'pagination',
  },
  {
    operationId: 'createThing',
    method: 'post',
    path: '/api/v1/things',
    summary: 'Create a thing',
    tag: 'Things',
    document: `mutation ($input: ThingInput!) { createThing(input: $input) ${thingSelection} }`,
    body: 'input',
    bodyCase: 'snake',
    status: 201,
    example: { name: 'Ada', color: 'RED', is_loud: true, tags: ['a'], parts: [{ text: 't', weight: 0.5 }], extra: { a: [1] } },
  },
  {
    operationId: 'uploadThing',
    method: 'post',
    path: '/api/v1/things/{thingId}/file',
    summary: 'Upload a file',
    tag: 'Things',
    document: `mutation ($thingId: ID!, $file: File!, $name: String, $color: Color) {
      uploadThing(id: $thingId, file: $file, name: $name, color: $color) ${thingSelection}
    }`,
    upload: { file: 'file', sizeBytesMaxSetting: 'CHAT_FILE_MAX_BYTES' },
  },
  {
    operationId: 'putThing',
    method: 'put',
    path: '/api/v1/things/{thingId}/content',
    summary: 'Send the bytes of a thing',
    tag: 'Things',
    document: `mutation ($thingId: ID!, $file: File!, $color: Color) {
      uploadThing(id: $thingId, file: $file, color: $color) ${thingSelection}
    }`,
    query: { color: 'Of this color' },
    upload: { file: 'file', sizeBytesMaxSetting: 'CHAT_FILE_MAX_BYTES', isRaw: true },
  },
  {
    operationId: 'run',
    method: 'post',
    path: '/api/v1/runs',
    summary: 'Run',
    tag: 'Runs',
    document: runDocument,
    body: 'input',
    bodyCase: 'snake',
    camelMembers: ['metaData'],
    reply: frameReply,
    stream: { when: 'stream', document: runDocument, encoder: frameEncoder },
    headers: { 'x-row': 'run' },
    example: { prompt: 'hello', max_tokens: 5 },
  },
];

const snapshot: RunSnapshot = {
  runId: 'run_1',
  status: 'in_progress',
  incompleteReason: null,
  error: null,
  usage: null,
  selection: null,
  output: [],
};

export function eventOf(sequence: number): RunEvent {
  return { type: 'response.in_progress', sequence, run: snapshot };
}

/** A run's event stream of the batches that a generator yields. */
export function streamOf(batches: () => AsyncIterable<readonly RunEvent[]>): RunEventStream {
  return {
    batches,
    async *[Symbol.asyncIterator]() {
      for await (const batch of batches()) yield* batch;
    },
  };
}

export function callerWith(keyId: string, scopes: readonly Scope[], tenant = 1): Caller {
  return {
    keyId,
    userId: `user_${tenant}`,
    orgId: `org_${tenant}`,
    tenantId: `ten_${tenant}`,
    level: 'ORGANIZATION',
    role: 'MEMBER',
    scopes: new Set(scopes),
  };
}

export interface FrameOptions {
  readonly resolvers: Readonly<Record<string, Resolver>>;
  readonly rows?: readonly DeclaredRoute[];
  readonly settings?: Readonly<Record<string, string>>;
  readonly storage?: Storage;
  readonly logger?: Logger;
}

export interface Frame {
  readonly url: string;
  readonly server: Server;
  readonly settings: Settings;
  readonly metrics: Metrics;
  /** The pool of requests that hold a run. */
  readonly admission: { readonly activeCount: number };
  /** Ends the streams of a key, as a revocation does. */
  endKey(keyId: string): void;
  close(): Promise<void>;
}

/**
 * The REST API over the small schema, on its own port. Keys: `all` has every scope, and so has `other` in another tenant; `reader` may read, `none`
 * has no scope.
 */
export async function startFrame(options: FrameOptions): Promise<Frame> {
  const settings = testSettings({ ...options.settings });
  const callers = new Map([
    ['all', callerWith('key_all', ['AGENTS:READ', 'AGENTS:WRITE', 'CHATS:WRITE'])],
    ['other', callerWith('key_other', ['AGENTS:READ', 'AGENTS:WRITE', 'CHATS:WRITE'], 2)],
    ['reader', callerWith('key_reader', ['AGENTS:READ'])],
    ['none', callerWith('key_none', [])],
  ]);
  const watchers = new Map<string, Set<() => void>>();
  const metrics = new Metrics();
  const admissions = createAdmissions(testPools(), settings);
  const streams = new SseStreams({
    heartbeatMs: settings.SSE_HEARTBEAT_MS,
    bufferMaxBytes: settings.SSE_BUFFER_MAX_BYTES,
  });
  // The dependencies that the transport uses; features need more and are tested with a whole service.
  const deps = {
    settings,
    audit: forgetfulAudit(settings),
    storage: options.storage ?? noDatabase,
    logger: options.logger ?? pino({ level: 'silent' }),
    now: () => new Date(),
    newId: (kind) => makeId(kind, Date.now()),
    rates: testRates(),
    limits: noBudgets,
  } as Deps;
  const schema = frameSchema(options.resolvers);
  const rest = createRestHandlers({
    routes: compileRoutes(schema, options.rows ?? frameRows, frameScopes, frameDeclarations),
    deps,
    metrics,
    streams,
    admissions,
    keys: {
      authenticate: (secret) => callers.get(secret),
      watch: (caller, onEnd) => {
        const own = watchers.get(caller.keyId) ?? new Set();
        watchers.set(caller.keyId, own.add(onEnd));
        return () => own.delete(onEnd);
      },
    },
  });
  const others: RequestHandler = (_req, res) => void res.writeHead(418).end();
  const handlers = [...rest, others];
  const connections = new Connections(settings, createHttpApp({ deps, log: createAccessLog(undefined), handlers }));
  const server = createServer(connections.handle);
  connections.watch(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    server,
    settings,
    metrics,
    admission: {
      get activeCount() {
        return admissions.runs.share.count;
      },
    },
    endKey: (keyId) => {
      for (const onEnd of watchers.get(keyId) ?? []) onEnd();
    },
    close: async () => {
      streams.close();
      server.close();
      server.closeAllConnections();
    },
  };
}
