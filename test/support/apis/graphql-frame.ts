import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { buildSchema, GraphQLObjectType, GraphQLScalarType, type GraphQLSchema, isObjectType } from 'graphql';
import { pino } from 'pino';
import type { Deps } from '../../../src/domain/deps.ts';
import type { UploadedFile } from '../../../src/entities/conversations/chats/uploaded-file.ts';
import { DomainError } from '../../../src/entities/ground/errors.ts';
import { createGraphiqlPage } from '../../../src/graphql/graphiql/page.ts';
import { fieldComplexity } from '../../../src/graphql/ground/builder/complexity.ts';
import { notePlaces } from '../../../src/graphql/ground/errors/places.ts';
import type { CallPlugin } from '../../../src/graphql/server/call.ts';
import { createGraphqlHandler } from '../../../src/graphql/server/server.ts';
import { createHttpApp } from '../../../src/http/app.ts';
import { Connections } from '../../../src/http/connections/connections.ts';
import { createAdmissions } from '../../../src/http/limits.ts';
import { createAccessLog } from '../../../src/http/log/access-log.ts';
import { Metrics } from '../../../src/http/log/metrics.ts';
import { SseStreams } from '../../../src/http/reply/sse.ts';
import { TestClient } from '../client.ts';
import { testSettings } from '../settings.ts';
import { noBudgets, testPools, testRates } from '../sharing/pools.ts';
import { forgetfulAudit } from '../storage/forgetful-audit.ts';
import { noDatabase } from '../storage/no-database.ts';
import { callerWith } from './rest-frame.ts';

/** A small schema, so that the transport is tested without Parley's features. */
const sdl = `
  scalar File
  type Node { id: ID! child: Node! children(first: Int = 20): NodeConnection! parts: [Node!]! }
  type NodeConnection { nodes: [Node!]! }
  type Query { hello: String! node: Node! fail: String refuse(input: RefusedInput): String long(size: Int!): String! }
  type Mutation { bump: Int! upload(file: File!, name: String): String! }
  type Tick { value: Int! text(size: Int = 0): String! }
  input RefusedInput { name: String }
  input TicksInput { count: Int! everyMs: Int = 0 batch: Int = 1 }
  type Subscription { ticks(input: TicksInput!): Tick! silent: Tick! refused: Tick! broken: Tick! }
`;

interface TicksInput {
  readonly count: number;
  readonly everyMs: number;
  readonly batch: number;
}

export interface GraphqlFrame {
  readonly url: string;
  /** `all` and `other` are keys. */
  client(key: string): TestClient;
  /** The number of subscriptions whose source is still open. */
  readonly openSources: () => number;
  readonly logs: string[];
  endKey(): void;
  /** The first step of a process that stops. */
  stop(): void;
  close(): Promise<void>;
}

/** The GraphQL API over the small schema, on its own port, with more plugins of Yoga in front. */
export async function startGraphqlFrame(
  env: Readonly<Record<string, string>> = {},
  plugins: readonly CallPlugin[] = [],
): Promise<GraphqlFrame> {
  const settings = testSettings(env);
  const sources = { open: 0 };
  const logs: string[] = [];
  const watchers = new Set<() => void>();
  const logger = pino({ level: 'error' }, { write: (line: string) => void logs.push(line) });
  const deps = {
    ...{ settings, logger, storage: noDatabase, audit: forgetfulAudit(settings) },
    ...{ now: () => new Date(), rates: testRates(), limits: noBudgets },
  } as Deps;
  const streams = new SseStreams({
    heartbeatMs: settings.SSE_HEARTBEAT_MS,
    bufferMaxBytes: settings.SSE_BUFFER_MAX_BYTES,
  });
  const schema = testSchema(sources);
  const watch = (_caller: unknown, onEnd: () => void) => {
    watchers.add(onEnd);
    return () => watchers.delete(onEnd);
  };
  const graphql = createGraphqlHandler({
    admissions: createAdmissions(testPools(), settings),
    schema,
    deps,
    metrics: new Metrics(),
    streams,
    plugins,
    keys: {
      authenticate: (secret) => (secret === 'all' || secret === 'other' ? callerWith(`key_${secret}`, []) : undefined),
      watch,
    },
  });
  const log = createAccessLog(undefined);
  const connections = new Connections(settings, createHttpApp({ deps, log, handlers: [createGraphiqlPage(), graphql.handle] }));
  const server = createServer(connections.handle);
  connections.watch(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    logs,
    client: (key) => new TestClient(() => url, key),
    openSources: () => sources.open,
    endKey: () => {
      for (const onEnd of [...watchers]) onEnd();
    },
    stop: () => graphql.stop(),
    close: async () => {
      streams.close();
      server.close();
      server.closeAllConnections();
    },
  };
}

type Context = { readonly signal: AbortSignal };

function testSchema(sources: { open: number }): GraphQLSchema {
  const schema = buildSchema(sdl);
  const file = schema.getType('File');
  if (file instanceof GraphQLScalarType) file.parseValue = (value) => value;
  const node = () => ({ id: '1' });
  resolve(schema, 'Query', {
    hello: () => 'world',
    node,
    fail: () => {
      throw new Error('the password of the database is swordfish');
    },
    refuse: () => {
      const faults = [{ code: 'INVALID_VALUE', message: 'name is bad', param: 'name', allowed: { maxLength: 9 } }] as const;
      throw new DomainError('INVALID_VALUE', 'name is bad', { param: 'name', faults });
    },
    long: (_root: unknown, { size }: { size: number }) => 'x'.repeat(size),
  });
  resolve(schema, 'Node', { child: node, children: () => ({ nodes: [node()] }), parts: () => [node()] });
  resolve(schema, 'Tick', { text: (_root: unknown, { size }: { size: number }) => 'x'.repeat(size) });
  resolve(schema, 'Mutation', {
    bump: () => 1,
    upload: async (_root: unknown, { file: sent, name }: { file: UploadedFile; name?: string }) =>
      `${name ?? ''} ${sent.filename} ${sent.mimeType} ${sent.sizeBytes} ${(await text(sent.stream())).slice(0, 20)}`,
  });
  const subscription = schema.getSubscriptionType();
  const sourcesOf: Record<string, (args: { input: TicksInput }, context: Context) => unknown> = {
    ticks: ({ input }, { signal }) => counted(sources, ticks(input, signal)),
    silent: (_args, { signal }) => counted(sources, silence(signal)),
    refused: () => {
      throw new DomainError('NOT_FOUND', 'There is no such thing');
    },
    broken: () => counted(sources, breaking()),
  };
  for (const field of Object.values(subscription?.getFields() ?? {})) {
    field.subscribe = (_root, args, context) => sourcesOf[field.name]?.(args as never, context as never);
    field.resolve = (event) => event;
  }
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields())) field.extensions = { complexity: fieldComplexity };
  }
  notePlaces(schema);
  return schema;
}

function resolve(schema: GraphQLSchema, typeName: string, resolvers: Record<string, unknown>): void {
  const type = schema.getType(typeName);
  if (!(type instanceof GraphQLObjectType)) throw new Error(`no type ${typeName}`);
  for (const [name, resolver] of Object.entries(resolvers)) {
    const field = type.getFields()[name];
    if (field !== undefined) field.resolve = resolver as never;
  }
}

interface Tick {
  readonly value: number;
}

/** A source like the run engine's: single events, and the batches in which they came. */
function ticks({ count, everyMs, batch }: TicksInput, signal: AbortSignal) {
  async function* batches(): AsyncGenerator<readonly Tick[]> {
    for (let value = 1; value <= count && !signal.aborted; value += batch) {
      if (everyMs > 0) await new Promise((wake) => setTimeout(wake, everyMs));
      yield Array.from({ length: Math.min(batch, count - value + 1) }, (_, index) => ({ value: value + index }));
    }
  }
  return batches();
}

async function* silence(signal: AbortSignal): AsyncGenerator<readonly Tick[]> {
  await new Promise((wake) => signal.addEventListener('abort', wake, { once: true }));
  yield* [];
}

async function* breaking(): AsyncGenerator<readonly Tick[]> {
  yield [{ value: 1 }];
  throw new Error('the password of the database is swordfish');
}

function counted(sources: { open: number }, batches: AsyncGenerator<readonly Tick[]>) {
  async function* watched() {
    sources.open += 1;
    try {
      yield* batches;
    } finally {
      sources.open -= 1;
    }
  }
  return {
    batches: watched,
    async *[Symbol.asyncIterator]() {
      for await (const batch of watched()) yield* batch;
    },
  };
}
