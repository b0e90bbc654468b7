import { GraphQLNonNull, type GraphQLSchema, getNullableType, isListType, isObjectType, Kind } from 'graphql';
import { camelNames } from '../../http/input/names.ts';
import type { JsonSchema } from '../../wire/ground/json-schema.ts';
import { behaves, isExtension } from '../../wire/ground/schema.ts';
import { wireDeclarations } from '../../wire/openapi.ts';
import type { Route } from '../compile.ts';
import { type DocumentVariable, repliedPart } from '../documents/document.ts';
import { memberNames } from '../input/member-names.ts';
import { termType } from '../input/parameters.ts';
import { listPaths } from '../paths.ts';
import { runSavedDocument } from '../saved-documents/openapi.ts';
import type { Declarations } from './declarations.ts';
import { withOptionalMembers } from './optional-members.ts';
import { collectErrors, errorResponses, errorSchema, replyHeaders } from './responses.ts';
import { memberSelection, SchemaPrinter, type SelectionContext } from './schemas.ts';

/**
 * Prints the OpenAPI 3.1 description of the REST API from its routes and the schema: requests follow the input types, replies the selections of the
 * routes' documents, so the description is always true.
 */
export function printOpenApi(
  schema: GraphQLSchema,
  routes: readonly Route[],
  version: string,
  declarations: Declarations = wireDeclarations(),
): Readonly<Record<string, unknown>> {
  const printer = new SchemaPrinter(schema, declarations);
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    const place = paths[route.row.path] ?? {};
    place[route.row.method] = operation(printer, route);
    paths[route.row.path] = place;
  }
  const saved = paths[runSavedDocument.path];
  if (saved !== undefined) saved.post = runSavedDocument.operation;
  const tags = [...new Set(routes.map(({ row }) => row.tag))].map((name) => ({
    name,
    description: tagDescriptions[name] ?? name,
  }));
  return {
    openapi: '3.1.0',
    info: {
      title: 'Parley',
      version,
      description: 'Agents, chats, knowledge and completions. The same things, with subscriptions, are at /graphql.',
      contact: { name: 'Whoever runs this service' },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ apiKey: [] }],
    tags,
    paths,
    components: {
      schemas: { Error: errorSchema, ...sorted(printer.components) },
      responses: errorResponses,
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key. `x-parley-scope` at an operation is the scope that the key needs.',
        },
      },
    },
  };
}

/** What each group of operations is about; a test holds that every tag has one. */
export const tagDescriptions: Readonly<Record<string, string>> = {
  Evaluation: 'Datasets of cases, and experiments that ask versions of AIs their questions.',
  Agents: 'Agents: what they are told, which model answers, and who may use them. Called AIs in paths.',
  'Agent tools': 'What an agent may call: APIs, functions of the client, MCP servers.',
  'Agent user inputs': 'Values that an agent asks its users for, and what the caller gave.',
  'Agent skills': 'Instructions that an agent reads when it needs them.',
  'Agent flows': 'Fixed steps that answer in place of the plain loop, in versions.',
  Guards: 'What is masked before a model gets it, for the organization and for AIs.',
  'Agent secrets': 'Values for the tools of an agent: written, listed by name, never read back.',
  'Chat files': 'Files of one conversation, sent by people or made by tools.',
  Uploads: 'Large files in parts, in the common format.',
  'Data sources': 'Knowledge of agents: files, payloads, web sites, drives, wikis, trackers and repositories.',
  Groups: 'People that an agent is shared with.',
  'API keys': 'Keys of the caller and, for administrators, of the organization.',
  Usage: 'Tokens that were used, by agent and by day.',
  Runs: 'What was asked, by whom, and at what cost: every run of every API.',
  Administration: 'Tenants, organizations, users, memberships, and the log of who changed what.',
  'Saved documents': 'GraphQL documents that an organization has saved: tools of MCP clients, and routes of their own.',
  Connections: 'Accounts of the caller at other services, and MCP servers.',
  Grants: 'What agents may open of the caller: connections, memories and other agents.',
  Memories: 'What agents remember about the caller.',
  Conversations: 'Chats in the common format: items, and texts that the caller keeps with them.',
  Embeddings: 'Vectors in the common format.',
  Files: 'Files of the caller in the common format.',
  'Vector stores': 'Data sources that belong to no agent, in the common format.',
  Chats: 'Conversations that are kept, in a format of their own.',
  Projects: 'What gathers chats, with instructions, sources and agents of their own, and is shared with groups.',
  Prompts: 'Texts that people keep for the box of a chat, with variables, own and shared ones.',
  Completions: 'The common chat completions format: nothing is kept.',
  'AG-UI': 'Agents for front ends that speak the AG-UI protocol: nothing is kept.',
  Messages: 'The Messages format, as clients of Anthropic speak it: nothing is kept.',
  Responses:
    'The common responses format. What the service adds to it is marked: `x-parley-extension` on members, schemas, events and tools, `x-parley-extension-values` where there are further values, `x-parley-extension-behavior` names where it behaves otherwise.',
};

function operation(printer: SchemaPrinter, route: Route): JsonSchema {
  const { row } = route;
  const parameters = listParameters(printer, route);
  const requestBody = makeRequestBody(printer, route);
  return {
    operationId: row.operationId,
    summary: row.summary,
    ...describedAs(row),
    tags: [row.tag],
    ...(row.isDeprecated === true ? { deprecated: true } : {}),
    security: [{ apiKey: [] }, ...(row.ticket === undefined ? [] : [{}])],
    ...(route.scope === null ? {} : { 'x-parley-scope': route.scope }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(requestBody === undefined ? {} : { requestBody }),
    responses: {
      ...(row.socket === undefined ? {} : { 101: socketReply(printer, row.socket) }),
      [String(row.status ?? 200)]: goodReply(printer, route),
      ...collectErrors(route),
    },
    ...(row.extension === undefined ? {} : { ...isExtension, ...behaves(row.extension) }),
    ...(row.socket === undefined ? {} : { 'x-parley-socket': describeSocket(printer, row.socket) }),
  };
}

/**
 * The other paths of an operation are words: as paths of their own they would be printed twice by pages, and generators would make a function
 * of each.
 */
function describedAs(row: Route['row']): { readonly description?: string } {
  const others = listPaths(row).filter((path) => path !== row.path);
  const places = others.length === 0 ? [] : [`Also at ${others.map((path) => `\`${path}\``).join(' and ')}.`];
  const sentences = [...(row.description === undefined ? [] : [row.description]), ...places];
  return sentences.length === 0 ? {} : { description: sentences.join('\n\n') };
}

function listParameters(printer: SchemaPrinter, route: Route): JsonSchema[] {
  const { row, main } = route;
  const of = (name: string, place: 'path' | 'query', description: string | undefined): JsonSchema => {
    const variable = main.variables.get(name);
    const type = variable?.type ?? termType(row, name);
    const schema = type === undefined ? {} : parameterSchema(printer, { type, defaultValue: variable?.defaultValue });
    const isList = type !== undefined && isListType(getNullableType(type));
    return {
      name,
      in: place,
      required: place === 'path' || variable?.isRequired === true,
      ...(description === undefined ? {} : { description }),
      ...(isList ? { style: 'form', explode: false } : {}),
      schema,
    };
  };
  const header = (name: string, description: string): JsonSchema => ({
    name,
    in: 'header',
    required: false,
    description,
    schema: { type: 'string' },
  });
  return [
    ...route.pathNames.map((name) => of(name, 'path', undefined)),
    ...Object.entries(row.query ?? {}).map(([name, description]) => of(name, 'query', description)),
    ...(row.method === 'post'
      ? [
          header(
            'Idempotency-Key',
            'Makes the request safe to repeat: its reply is replayed for 24 hours. Streams are not replayed.',
          ),
        ]
      : []),
    ...(row.stream?.resumesFrames === true ? [header('Last-Event-ID', 'The last event seen; the stream goes on after it.')] : []),
    ...(row.reply?.hasExtensions === true ? [extensionSwitch] : []),
  ];
}

const extensionSwitch: JsonSchema = {
  name: 'x-parley-extensions',
  in: 'header',
  required: false,
  description:
    '`off` leaves out events, items and members that the common format does not know, and numbers what is left without gaps.',
  schema: { type: 'string', enum: ['on', 'off'], default: 'on' },
  'x-parley-extension': true,
  'x-parley-extension-behavior': 'extension-switch',
};

/** Of the type without its null, which cannot be written in a path, a query or a form. */
function parameterSchema(printer: SchemaPrinter, variable: Pick<DocumentVariable, 'type' | 'defaultValue'>): JsonSchema {
  const { defaultValue } = variable;
  const schema = printer.input(new GraphQLNonNull(getNullableType(variable.type)), camelNames);
  return defaultValue === undefined ? schema : { ...schema, default: defaultValue };
}

function makeRequestBody(printer: SchemaPrinter, route: Route): JsonSchema | undefined {
  const { row, main } = route;
  if (row.upload?.isRaw === true) {
    const schema = { type: 'string', format: 'binary', description: 'The bytes of the file.' };
    return { required: true, content: { 'application/octet-stream': { schema } } };
  }
  if (row.upload !== undefined) {
    const properties: Record<string, JsonSchema> = { [row.upload.file]: { type: 'string', format: 'binary' } };
    for (const field of route.readers.form) {
      if (field.isMember) continue;
      const defaultValue = main.variables.get(field.name)?.defaultValue;
      properties[field.wire] = parameterSchema(printer, { type: field.type, defaultValue });
    }
    const members = row.body === undefined || row.upload.orJson === true ? undefined : main.variables.get(row.body);
    const form = { type: 'object', properties, required: [row.upload.file] };
    const schema = members === undefined ? form : { allOf: [form, parameterSchema(printer, members)] };
    const json = row.upload.orJson === true ? jsonBody(printer, route) : undefined;
    return { required: true, content: { ...json?.content, 'multipart/form-data': { schema } } };
  }
  return jsonBody(printer, route);
}

function jsonBody(printer: SchemaPrinter, { row, main }: Route): { required: boolean; content: JsonSchema } | undefined {
  const variable = row.body === undefined ? undefined : main.variables.get(row.body);
  if (variable === undefined) return undefined;
  const schema =
    row.form === undefined
      ? printer.input(new GraphQLNonNull(getNullableType(variable.type)), memberNames(row))
      : printer.declared(row.form.schema);
  const media = { schema, ...requestExamples(row) };
  return { required: variable.isRequired, content: { 'application/json': media } };
}

function requestExamples({ example, shown: shownExample }: Route['row']): JsonSchema {
  if (example === undefined) return {};
  if (shownExample?.body === undefined) return { example };
  const examples = {
    short: { summary: 'In short', value: shownExample.body },
    whole: { summary: 'With every member', value: example },
  };
  return { examples };
}

function goodReply(printer: SchemaPrinter, route: Route): JsonSchema {
  const { row } = route;
  const own = Object.entries(row.replyHeaders ?? {});
  const headers = {
    ...replyHeaders(),
    ...Object.fromEntries(own.map(([name, description]) => [name, { description, schema: { type: 'string' } }])),
  };
  if (row.status === 204) return { description: 'Done.', headers };
  const events = { 'text/event-stream': { ...eventMedia(printer, row.stream?.event), ...toExample(row.shown?.event) } };
  if (row.stream?.when === 'always') return { description: 'The events of the run.', headers, content: events };
  if (row.download !== undefined) {
    const bytes = { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } };
    return { description: 'The bytes, as an attachment.', headers, content: bytes };
  }
  const json = { 'application/json': { schema: replySchema(printer, route), ...toExample(row.shown?.reply) } };
  if (row.stream === undefined) return { description: 'Done.', headers, content: json };
  const description = 'The reply in one piece, or as an event stream; the schema there is that of the `data` of one event.';
  return { description, headers, content: { ...json, ...events } };
}

function toExample(example: unknown): JsonSchema {
  return example === undefined ? {} : { example };
}

/** OpenAPI 3.1 has no `itemSchema`: the schema of an event stream is that of the `data` of one event, as other services do it. */
function eventMedia(printer: SchemaPrinter, name: string | undefined): JsonSchema {
  if (name === undefined) return { schema: { type: 'string', description: 'Server-sent events.' } };
  return { schema: printer.declared(name) };
}

/** OpenAPI cannot describe WebSockets. */
function describeSocket(printer: SchemaPrinter, { request, event }: NonNullable<Route['row']['socket']>): JsonSchema {
  return {
    description: 'The same path as a WebSocket: every message is one JSON text.',
    receives: printer.declared(request),
    sends: printer.declared(event),
  };
}

/** What a WebSocket carries, where readers of the description look for schemas. */
function socketReply(printer: SchemaPrinter, { request, event }: NonNullable<Route['row']['socket']>): JsonSchema {
  return {
    description:
      'The connection is a WebSocket now. A message of the client is of the first schema, one of the service of the second.',
    content: { 'application/json': { schema: { anyOf: [printer.declared(request), printer.declared(event)] } } },
  };
}

function replySchema(printer: SchemaPrinter, route: Route): JsonSchema {
  const { row, main } = route;
  if (row.reply !== undefined) return printer.declared(row.reply.schema);
  const context: SelectionContext = {
    omitNull: new Set(row.omitNull ?? []),
    blankNull: row.blankNull ?? {},
    lists: row.lists ?? {},
    shapes: row.shapes ?? {},
    names: row.schemas ?? {},
    fragments: new Map(
      main.document.definitions.flatMap((node) =>
        node.kind === Kind.FRAGMENT_DEFINITION ? [[node.name.value, node] as const] : [],
      ),
    ),
  };
  const part = repliedPart(row, main);
  const { selectionSet, beside } = part;
  // A look-up that finds nothing is null on GraphQL, and 404 on REST.
  const type = main.operation.operation === 'query' ? new GraphQLNonNull(getNullableType(part.type)) : part.type;
  if (row.wrap !== 'data') return printer.output(type, selectionSet, context, beside);
  const nullable = getNullableType(type);
  if (!isObjectType(nullable)) return envelope(printer.output(type, selectionSet, context), row.page, false);
  const nodes = nullable.getFields().nodes;
  const selection = memberSelection(selectionSet, 'nodes');
  const data = nodes === undefined ? {} : printer.output(nodes.type, selection, context);
  return envelope(data, row.page, memberSelection(selectionSet, 'pageInfo') !== undefined);
}

/** As reply.ts makes it. */
function envelope(data: JsonSchema, page: Route['row']['page'], hasPageInfo: boolean): JsonSchema {
  const nextCursor = { type: ['string', 'null'], description: 'Hand it to `cursor` to read on; null at the end.' };
  const total = { type: 'integer', description: 'How many there are in all.' };
  const extra: Record<string, JsonSchema> = {};
  if (page === 'pagination') extra.pagination = { type: 'object', properties: { nextCursor }, required: ['nextCursor'] };
  if (page === 'total') extra.total = total;
  if (page === 'cursor' || (page === 'total' && hasPageInfo)) extra.nextCursor = nextCursor;
  return { type: 'object', properties: { data, ...extra }, required: ['data', ...Object.keys(extra)] };
}

function sorted(components: Readonly<Record<string, JsonSchema>>): Record<string, JsonSchema> {
  return Object.fromEntries(
    Object.entries(components)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, schema]) => [name, withOptionalMembers(schema)]),
  );
}
