import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { expect } from 'vitest';
import packageJson from '../../../package.json' with { type: 'json' };
import { buildSchema } from '../../../src/graphql/schema.ts';
import { compileRoutes } from '../../../src/rest/compile.ts';
import { printOpenApi } from '../../../src/rest/openapi/document.ts';
import { allRoutes } from '../../../src/rest/routes/index.ts';
import type { Reply, RequestHeaders, SseFrame, TestClient } from '../client.ts';

// biome-ignore lint/suspicious/noExplicitAny: a JSON document, walked member by member.
export type Json = any;

const schema = buildSchema();
export const openapi: Json = printOpenApi(schema, compileRoutes(schema, allRoutes), packageJson.version);

/** Like the validator above, but objects must not have undescribed members, so that no member stays undescribed. */
const whole = validatorOf(closed(structuredClone(openapi.components)));
/** The same without anything that is marked as an addition to the common format. */
const plain = validatorOf(closed({ schemas: plainSchemas() }));

function validatorOf(components: Json): Ajv2020 {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  (formats as unknown as (to: Ajv2020) => void)(ajv);
  for (const name of ['int32', 'int64', 'binary']) ajv.addFormat(name, true);
  return ajv.addSchema({ $id: 'openapi', components });
}

/** A reply repeats the tools of its request, also to clients that turned extensions off. */
function plainSchemas(): Json {
  const { schemas } = structuredClone(openapi.components);
  const tools = new Set(schemas.ResponseTool.oneOf.map(({ $ref }: Json) => $ref.split('/').at(-1)));
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, tools.has(name) ? schema : withoutExtensions(schema)]),
  );
}

/** Marked members are removed; any other marked value is forbidden. */
function withoutExtensions(node: Json): Json {
  if (Array.isArray(node)) return node.map(withoutExtensions);
  if (typeof node !== 'object' || node === null) return node;
  if (node['x-parley-extension'] === true) return { not: {} };
  const own = Object.fromEntries(Object.entries(node).map(([name, value]) => [name, withoutExtensions(value)]));
  if (node.properties === undefined) return own;
  const kept = Object.keys(node.properties).filter((name) => node.properties[name]?.['x-parley-extension'] !== true);
  return { ...own, properties: Object.fromEntries(kept.map((name) => [name, own.properties[name]])) };
}

function closed(node: Json): Json {
  if (Array.isArray(node)) return node.map(closed);
  if (typeof node !== 'object' || node === null) return node;
  const own = Object.fromEntries(Object.entries(node).map(([name, value]) => [name, closed(value)]));
  if (typeof own.$ref === 'string') own.$ref = `openapi${own.$ref}`;
  const isOpen = own.additionalProperties !== undefined || own.allOf !== undefined;
  return own.type === 'object' && own.properties !== undefined && !isOpen ? { ...own, additionalProperties: false } : own;
}

const compiled = new Map<Ajv2020, Map<string, ValidateFunction>>([
  [whole, new Map()],
  [plain, new Map()],
]);

// Compile before any service runs: compiling takes a second, in which this process would not answer.
for (const [ajv, known] of compiled) {
  for (const name of ['Response', 'ResponseStreamEvent', 'ResponseInput', 'ChatStreamEvent', 'CompletionFrame', 'Error']) {
    const of = ref(name);
    known.set(JSON.stringify(of), ajv.compile(closed(of)));
  }
}

/** Fails unless the value follows the schema and has no further members; without `mayExtend` also none that are marked as an extension. */
export function expectDescribed(value: unknown, of: Json, what: string, mayExtend = true): void {
  const ajv = mayExtend ? whole : plain;
  const key = JSON.stringify(of);
  const known = compiled.get(ajv);
  const validate = known?.get(key) ?? ajv.compile(closed(of));
  known?.set(key, validate);
  if (validate(value)) return;
  expect.fail(`${what} is not as described\n${told(validate.errors)}\n${JSON.stringify(value).slice(0, 2_000)}`);
}

/** The deepest errors first: they are those of the alternative that fits best. */
function told(errors: readonly ErrorObject[] | null | undefined): string {
  const byDepth = [...(errors ?? [])].sort((a, b) => b.instancePath.length - a.instancePath.length);
  return byDepth
    .slice(0, 12)
    .map(
      ({ instancePath, message, params, schemaPath }) => `  ${instancePath} ${message} ${JSON.stringify(params)} (${schemaPath})`,
    )
    .join('\n');
}

function ref(name: string): Json {
  return { $ref: `#/components/schemas/${name}` };
}

export function expectComponent(value: unknown, name: string): void {
  expectDescribed(value, ref(name), name);
}

interface Operation {
  readonly name: string;
  readonly described: Json;
}

function operationOf(method: string, path: string): Operation {
  const [bare = ''] = path.split('?');
  const found = Object.keys(openapi.paths)
    .filter((template) => new RegExp(`^${template.replace(/\{[^}]*\}/g, '[^/]+')}$`).test(bare))
    // `/compact` before `/{responseId}`.
    .sort((a, b) => a.split('{').length - b.split('{').length)[0];
  const described = found === undefined ? undefined : openapi.paths[found][method.toLowerCase()];
  if (described === undefined) throw new Error(`${method} ${bare} is not described`);
  return { name: `${method} ${found}`, described };
}

function replyOf({ described, name }: Operation, status: number): Json {
  const reply = described.responses[String(status)] ?? described.responses[`${Math.floor(status / 100)}XX`];
  if (reply === undefined) throw new Error(`${name} is not described to answer ${status}`);
  return reply.$ref === undefined ? reply : openapi.components.responses[reply.$ref.split('/').at(-1)];
}

/** A client that checks every reply and every frame against openapi.json. */
export class DescribedClient {
  readonly #client: TestClient;
  /** Types of the events received. */
  readonly seen = new Set<string>();

  constructor(client: TestClient) {
    this.#client = client;
  }

  get(path: string, headers?: RequestHeaders): Promise<Reply> {
    return this.call('GET', path, undefined, headers);
  }
  post(path: string, body?: unknown, headers?: RequestHeaders): Promise<Reply> {
    return this.call('POST', path, body, headers);
  }
  delete(path: string): Promise<Reply> {
    return this.call('DELETE', path);
  }

  async call(method: string, path: string, body?: unknown, headers?: RequestHeaders): Promise<Reply> {
    const operation = operationOf(method, path);
    const reply = await this.#client.call(method, path, body, headers);
    const described = replyOf(operation, reply.status);
    if (reply.status < 300) this.#checkRequest(operation, body);
    const { schema: of } = described.content['application/json'];
    expectDescribed(reply.body, of, `${operation.name} ${reply.status}`, takesExtensions(body, headers));
    return reply;
  }

  async stream(method: string, path: string, body?: unknown, headers?: RequestHeaders): Promise<SseFrame[]> {
    const operation = operationOf(method, path);
    const frames = await Array.fromAsync(this.#client.sse(method, path, body, headers));
    this.#checkRequest(operation, body);
    const { schema: event } = replyOf(operation, 200).content['text/event-stream'];
    for (const { data, event: name } of frames) {
      if (data === '[DONE]') continue;
      const value = JSON.parse(data);
      this.seen.add(String(name ?? value.object ?? 'error'));
      expectDescribed(value, event, `${operation.name}: ${name ?? 'a frame'}`, takesExtensions(body, headers));
    }
    return frames;
  }

  /** Every accepted request must follow its description. */
  #checkRequest({ described, name }: Operation, body: unknown): void {
    const media = described.requestBody?.content['application/json'];
    if (media !== undefined && body !== undefined) expectDescribed(body, media.schema, `the body of ${name}`);
  }
}

function takesExtensions(body: Json, headers: RequestHeaders = {}): boolean {
  return headers['x-parley-extensions'] !== 'off' && body?.stream_options?.include_extensions !== false;
}
