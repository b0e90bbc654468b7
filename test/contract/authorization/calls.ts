import { setTimeout as wait } from 'node:timers/promises';
import {
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNullableType,
  Kind,
  type OperationTypeNode,
  type ValueNode,
} from 'graphql';
import { type ErrorCode, errorCodes } from '../../../src/entities/ground/errors.ts';
import { flattener } from '../../../src/graphql/ground/builder/flat-inputs.ts';
import type { Route } from '../../../src/rest/compile.ts';
import type { DeclaredRoute } from '../../../src/rest/route.ts';
import { createApis } from '../../../src/start/app.ts';
import type { Reply, TestClient } from '../../support/client.ts';

/** A stream that says nothing for so long has refused nothing. */
const silentMs = 400;

/** Arguments of a root field, by GraphQL's names; a Blob for a File. `inputOfRest` is the body of a row whose form GraphQL does not have. */
export type Arguments = Readonly<Record<string, unknown>>;

export interface Answer {
  /** The REST status, also for a call over GraphQL. */
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly param: string | null;
  /** The reply of a call that was not refused. */
  readonly body: unknown;
}
export interface Operation {
  /** As in domain/ground/access/operation-scopes.ts. */
  readonly name: string;
  readonly field: GraphQLField<unknown, unknown>;
  readonly kind: OperationTypeNode;
}

/** A root field over GraphQL, or a REST route. */
export interface Call {
  /** `Query.agent`, or `GET /api/v1/ais/{aiId}`. */
  readonly title: string;
  readonly operation: string;
  readonly field: GraphQLField<unknown, unknown>;
  /** A signed link allows the call without a key. */
  readonly takesTicket: boolean;
  /** It is the root field itself, and no row of REST that runs it. */
  readonly isRoot: boolean;
  /** The arguments of the root field that the call can set. */
  readonly argumentNames: readonly string[];
  /** Whether the call can set a place in an argument: `['input', 'wiki', 'pageName']`. */
  readonly canSet: (path: readonly string[]) => boolean;
  readonly call: (who: TestClient, given: Arguments) => Promise<Answer>;
}

/** Every operation on both APIs. @param schema  that of the services of this process. @param rows  empty: on GraphQL alone. */
export function callsOf(schema: GraphQLSchema, rows: readonly DeclaredRoute[]): readonly Call[] {
  const routes = createApis().routes.filter(({ row }) => rows.includes(row));
  return [
    ...operationsOf(schema).map((operation): Call => {
      const { name, field } = operation;
      const call: Call['call'] = (who, given) => callGraphql(who, operation, given);
      return {
        title: name,
        operation: name,
        field,
        takesTicket: false,
        isRoot: true,
        argumentNames: field.args.map((one) => one.name),
        canSet: ([name]) => field.args.some((one) => one.name === name),
        call,
      };
    }),
    ...routes.map((route): Call => {
      const { row, main } = route;
      return {
        title: `${row.method.toUpperCase()} ${row.path}`,
        operation: `${main.rootType.name}.${main.rootField.name}`,
        field: main.rootField,
        takesTicket: row.ticket !== undefined,
        isRoot: false,
        argumentNames: (main.rootNode.arguments ?? []).flatMap(({ name, value }) =>
          variablesIn(value, undefined).length > 0 ? [name.value] : [],
        ),
        canSet: ([first, ...rest]) =>
          (main.rootNode.arguments ?? []).some(({ name, value }) => name.value === first && holdsVariable(value, rest)),
        call: (who, given) => callRest(who, route, given),
      };
    }),
  ];
}

/** Every root field that GraphQL serves. */
export function operationsOf(schema: GraphQLSchema): readonly Operation[] {
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  return roots.flatMap((root) =>
    Object.values(root?.getFields() ?? {}).flatMap((field) => {
      const type = root?.name ?? '';
      return { name: `${type}.${field.name}`, field, kind: type.toLowerCase() as OperationTypeNode };
    }),
  );
}

/** Calls a root field over GraphQL. */
async function callGraphql(who: TestClient, { field, kind }: Operation, given: Arguments): Promise<Answer> {
  const used = field.args.filter((one) => given[one.name] !== undefined);
  const declared = used.map(({ name, type }) => `$${name}: ${type}`).join(', ');
  const passed = used.map(({ name }) => `${name}: $${name}`).join(', ');
  const selected = isCompositeType(getNamedType(field.type)) ? '{ __typename }' : '';
  const query = `${kind}${declared === '' ? '' : ` (${declared})`} { ${field.name}${passed === '' ? '' : `(${passed})`} ${selected} }`;
  const variables = Object.fromEntries(used.map(({ name }) => [name, given[name]]));
  if (kind === 'subscription') return answerOfResult(await firstResult(who, { query, variables }), field);
  return answerOfResult((await post(who, query, variables)).body, field);
}

/** Calls a REST route with the arguments of its root field, which are flat there. */
async function callRest(who: TestClient, route: Route, given: Arguments): Promise<Answer> {
  const { row } = route;
  const { rootField } = route.main;
  const values = Object.fromEntries(rootField.args.map(({ name, type }) => [name, inFormat(type, given[name])]));
  // REST has the flat form of inputs.
  const variables = variablesOf(route, { ...given, ...(flattener(rootField)?.(values) ?? values) }, given.inputOfRest);
  const path = row.path.replace(/\{([^}]*)\}/g, (_all, name: string) => encodeURIComponent(String(variables.get(name))));
  const search = new URLSearchParams();
  for (const name of Object.keys(row.query ?? {})) {
    if (variables.get(name) !== undefined) search.set(name, String(variables.get(name)));
  }
  const url = search.size === 0 ? path : `${path}?${search}`;
  const { body, headers } = await restBody(route, variables);
  return answerOfReply(await who.call(row.method, url, body, headers));
}

/** A value with the enums as REST writes them: those of a format by their texts. */
function inFormat(type: GraphQLInputType, value: unknown): unknown {
  if (value === undefined || value === null) return value;
  const inner = getNullableType(type);
  if (isListType(inner)) return Array.isArray(value) ? value.map((item) => inFormat(inner.ofType, item)) : value;
  if (isEnumType(inner)) return inner.extensions.isOfFormat === true ? inner.getValue(String(value))?.value : value;
  if (!isInputObjectType(inner)) return value;
  const members = inner.getFields();
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      members[name] === undefined ? member : inFormat(members[name].type, member),
    ]),
  );
}

/** A route's variables: the flat arguments of its root field, by the names that the route's document gives them. */
function variablesOf({ main, row }: Route, given: Arguments, inputOfRest: unknown): ReadonlyMap<string, unknown> {
  const variables = new Map((main.rootNode.arguments ?? []).flatMap(({ name, value }) => variablesIn(value, given[name.value])));
  // A term is no argument: the path names the chat that a message must be in.
  for (const name of Object.keys(row.terms ?? {})) variables.set(name, given[name]);
  if (inputOfRest !== undefined) variables.set('input', inputOfRest);
  return variables;
}

/** The variables of an argument, which may be members of an object: `input: { wiki: $input }`. */
function variablesIn(node: ValueNode, value: unknown): readonly (readonly [name: string, value: unknown])[] {
  if (node.kind === Kind.VARIABLE) return [[node.name.value, value]];
  if (node.kind !== Kind.OBJECT) return [];
  return node.fields.flatMap((field) => variablesIn(field.value, (value as Arguments | undefined)?.[field.name.value]));
}

/** Whether a place in an argument is that of a variable, or within it. */
function holdsVariable(node: ValueNode, path: readonly string[]): boolean {
  if (node.kind === Kind.VARIABLE) return true;
  if (node.kind !== Kind.OBJECT) return false;
  const [first, ...rest] = path;
  return node.fields.some(({ name, value }) => name.value === first && holdsVariable(value, rest));
}

async function restBody({ row }: Route, variables: ReadonlyMap<string, unknown>) {
  if (row.upload === undefined || (row.upload.orJson === true && variables.get(row.upload.file) === undefined)) {
    return { body: row.body === undefined ? undefined : (variables.get(row.body) ?? {}), headers: {} };
  }
  const file = variables.get(row.upload.file);
  if (!(file instanceof Blob)) throw new Error(`${row.operationId} needs a file`);
  if (row.upload.isRaw === true) {
    return { body: new Uint8Array(await file.arrayBuffer()), headers: { 'content-type': file.type } };
  }
  const form = new FormData();
  form.append(row.upload.file, file, 'note.txt');
  const members = row.body === undefined ? {} : ((variables.get(row.body) ?? {}) as Arguments);
  for (const [name, value] of Object.entries(members)) form.append(name, String(value));
  for (const [name, value] of variables) {
    const isField =
      name !== row.upload.file && name !== row.body && !(name in (row.query ?? {})) && !row.path.includes(`{${name}}`);
    if (isField && value !== undefined) form.append(row.upload.formNames?.[name] ?? name, String(value));
  }
  return { body: form, headers: {} };
}

function post(who: TestClient, query: string, variables: Arguments): Promise<Reply> {
  const files = Object.entries(variables).filter(([, value]) => value instanceof Blob);
  if (files.length === 0) return who.post('/graphql', { query, variables });
  const form = new FormData();
  const empty = Object.fromEntries(files.map(([name]) => [name, null]));
  form.append('operations', JSON.stringify({ query, variables: { ...variables, ...empty } }));
  form.append('map', JSON.stringify(Object.fromEntries(files.map(([name], index) => [index, [`variables.${name}`]]))));
  for (const [index, [, file]] of files.entries()) form.append(String(index), file as Blob, 'note.txt');
  return who.post('/graphql', form, { 'graphql-require-preflight': '1' });
}

/** The first result of a subscription, or its refusal. Most begin with the current state; one that tells changes is silent until there is one. */
async function firstResult(who: TestClient, body: unknown): Promise<unknown> {
  const response = await who.fetch('POST', '/graphql', body, { accept: 'text/event-stream' });
  if (response.headers.get('content-type')?.startsWith('text/event-stream') !== true) return response.json();
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  try {
    let text = '';
    const decoder = new TextDecoder();
    for (;;) {
      // The stream is open and silent: nothing was refused.
      const read = await Promise.race([reader.read(), wait(silentMs, 'silent' as const)]);
      if (read === 'silent') return { data: {} };
      if (read.done) throw new Error(`the stream ended without a result: ${text}`);
      text += decoder.decode(read.value, { stream: true });
      const found = /^data: (\{.*)\n\n/m.exec(text)?.[1];
      if (found !== undefined) return JSON.parse(found);
    }
  } finally {
    await reader.cancel();
  }
}

function answerOfReply({ status, body }: Reply): Answer {
  if (status < 400) return { status, code: '', message: '', param: null, body };
  const { code, message, param } = body.error;
  return { status, code, message, param, body };
}

interface Result {
  readonly data?: Readonly<Record<string, unknown>> | null;
  readonly errors?: readonly {
    readonly message: string;
    readonly extensions?: { code?: string; faults?: readonly { path: string | null }[] };
  }[];
}

/** For a nullable field, and in a list of nullable things, GraphQL answers null for a missing thing. */
function answerOfResult(result: unknown, field: GraphQLField<unknown, unknown>): Answer {
  const { data, errors } = result as Result;
  const error = errors?.[0];
  if (error !== undefined) {
    const code = error.extensions?.code ?? '';
    const status = errorCodes[code as ErrorCode]?.status ?? 400;
    return {
      status,
      code: code.toLowerCase(),
      message: error.message,
      param: error.extensions?.faults?.[0]?.path ?? null,
      body: result,
    };
  }
  const value = data?.[field.name];
  const isMissing = isNullableType(field.type) ? value === null : isListOfNulls(value);
  return { status: isMissing ? 404 : 200, code: '', message: '', param: null, body: data };
}

function isListOfNulls(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every((item) => item === null);
}
