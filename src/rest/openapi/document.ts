import {
  GraphQLNonNull,
  type GraphQLSchema,
  getNullableType,
  isListType,
  isObjectType,
  Kind,
  type SelectionSetNode,
} from 'graphql';
import type { Route } from '../compile.ts';
import type { DocumentVariable } from '../document.ts';
import { camelNames, memberNames } from '../member-names.ts';
import { errorResponses, errorSchema, errorsOf, requestIdHeader } from './responses.ts';
import { type JsonSchema, SchemaPrinter, type SelectionContext } from './schemas.ts';

/**
 * Prints the OpenAPI 3.1 description of the REST face from its rows and the schema: requests follow the input types, replies what the
 * rows' documents select, so it cannot say anything else than what happens.
 */
export function printOpenApi(
  schema: GraphQLSchema,
  routes: readonly Route[],
  version: string,
): Readonly<Record<string, unknown>> {
  const printer = new SchemaPrinter(schema);
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    const place = paths[route.row.path] ?? {};
    place[route.row.method] = operation(printer, route);
    paths[route.row.path] = place;
  }
  const tags = [...new Set(routes.map(({ row }) => row.tag))].map((name) => ({ name }));
  return {
    openapi: '3.1.0',
    info: {
      title: 'Parley',
      version,
      description: 'Agents, chats, knowledge and completions. The same things, with subscriptions, are at /graphql.',
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
        apiKey: { type: 'http', scheme: 'bearer', description: 'An API key. The names at an operation are the scopes it needs.' },
      },
    },
  };
}

function operation(printer: SchemaPrinter, route: Route): JsonSchema {
  const { row } = route;
  const parameters = parametersOf(printer, route);
  const requestBody = requestBodyOf(printer, route);
  return {
    operationId: row.operationId,
    summary: row.summary,
    ...(row.description === undefined ? {} : { description: row.description }),
    tags: [row.tag],
    ...(row.isDeprecated === true ? { deprecated: true } : {}),
    security: [{ apiKey: route.scope === null ? [] : [route.scope] }, ...(row.ticket === undefined ? [] : [{}])],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(requestBody === undefined ? {} : { requestBody }),
    responses: { [String(row.status ?? 200)]: goodReply(printer, route), ...errorsOf(route) },
  };
}

function parametersOf(printer: SchemaPrinter, route: Route): JsonSchema[] {
  const { row, main } = route;
  const of = (name: string, place: 'path' | 'query', description: string | undefined): JsonSchema => {
    const variable = main.variables.get(name);
    const schema = variable === undefined ? {} : parameterSchema(printer, variable);
    const isList = variable !== undefined && isListType(getNullableType(variable.type));
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
    ...(row.stream?.resume === undefined && row.stream?.resumesFrames !== true
      ? []
      : [header('Last-Event-ID', 'The last event seen; the stream goes on after it.')]),
  ];
}

/** Of the type without its null, which cannot be written in a path, a query or a form. */
function parameterSchema(printer: SchemaPrinter, variable: DocumentVariable): JsonSchema {
  const { defaultValue } = variable;
  const schema = printer.input(new GraphQLNonNull(getNullableType(variable.type)), camelNames);
  return defaultValue === undefined ? schema : { ...schema, default: defaultValue };
}

function requestBodyOf(printer: SchemaPrinter, route: Route): JsonSchema | undefined {
  const { row, main } = route;
  if (row.upload?.isRaw === true) {
    const schema = { type: 'string', format: 'binary', description: 'The bytes of the file.' };
    return { required: true, content: { 'application/octet-stream': { schema } } };
  }
  if (row.upload !== undefined) {
    const properties: Record<string, JsonSchema> = { [row.upload.file]: { type: 'string', format: 'binary' } };
    for (const field of route.plain.form) {
      const variable = main.variables.get(field.name);
      if (!field.isMember && variable !== undefined) properties[field.wire] = parameterSchema(printer, variable);
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
  const schema = printer.input(new GraphQLNonNull(getNullableType(variable.type)), memberNames(row));
  const media = { schema, ...(row.example === undefined ? {} : { example: row.example }) };
  return { required: variable.isRequired, content: { 'application/json': media } };
}

function goodReply(printer: SchemaPrinter, route: Route): JsonSchema {
  const { row } = route;
  const headers = { 'x-request-id': requestIdHeader() };
  if (row.status === 204) return { description: 'Done.', headers };
  const events = {
    'text/event-stream': { schema: { type: 'string', description: 'Server-sent events; see the description of the operation.' } },
  };
  if (row.stream?.when === 'always') return { description: 'The events of the run.', headers, content: events };
  if (row.download !== undefined) {
    const bytes = { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } };
    return { description: 'The bytes, as an attachment.', headers, content: bytes };
  }
  const json = { 'application/json': { schema: replySchema(printer, route) } };
  return { description: 'Done.', headers, content: row.stream === undefined ? json : { ...json, ...events } };
}

function replySchema(printer: SchemaPrinter, route: Route): JsonSchema {
  const { row, main } = route;
  const context: SelectionContext = {
    omitNull: new Set(row.omitNull ?? []),
    fragments: new Map(
      main.document.definitions.flatMap((node) =>
        node.kind === Kind.FRAGMENT_DEFINITION ? [[node.name.value, node] as const] : [],
      ),
    ),
  };
  const { type } = main.rootField;
  if (row.wrap !== 'data') return printer.output(type, main.rootNode.selectionSet, context);
  const nullable = getNullableType(type);
  if (!isObjectType(nullable)) return envelope(printer.output(type, main.rootNode.selectionSet, context), row.page, false);
  const nodes = nullable.getFields().nodes;
  const selection = memberSelection(main.rootNode.selectionSet, 'nodes');
  const data = nodes === undefined ? {} : printer.output(nodes.type, selection, context);
  return envelope(data, row.page, memberSelection(main.rootNode.selectionSet, 'pageInfo') !== undefined);
}

function memberSelection(set: SelectionSetNode | undefined, key: string): SelectionSetNode | undefined {
  const found = set?.selections.find((node) => node.kind === Kind.FIELD && (node.alias?.value ?? node.name.value) === key);
  return found?.kind === Kind.FIELD ? found.selectionSet : undefined;
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
  return Object.fromEntries(Object.entries(components).sort(([a], [b]) => (a < b ? -1 : 1)));
}
