import {
  type DocumentNode,
  type FieldNode,
  type GraphQLInputType,
  GraphQLNonNull,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isInputObjectType,
  isListType,
  isNonNullType,
  Kind,
} from 'graphql';
import { operationScopes } from '../domain/ground/access/operation-scopes.ts';
import { Faults } from '../domain/ground/faults.ts';
import type { Scope } from '../entities/people/caller.ts';
import { listRestMembers } from '../http/input/names.ts';
import { compileReader, type Reader } from '../http/input/reader.ts';
import { replyType, withReadVariables } from '../lib/flat-inputs.ts';
import { integerBounds } from '../wire/ground/schema.ts';
import { wireDeclarations } from '../wire/openapi.ts';
import { checkReply, checkSchemas, checkShape, checkVariables } from './documents/checks.ts';
import { checkDocument, compileDocument, type OperationScopes, type RowDocument, readDocument } from './documents/document.ts';
import { compileEnumTexts, type ShowEnums } from './documents/enum-texts.ts';
import { selectResolvedMembers, selectRootValue } from './documents/resolved-members.ts';
import { compileMembers, type ShowMembers } from './documents/shown-members.ts';
import { compileSource, type OpenSource } from './documents/source.ts';
import { memberNames } from './input/member-names.ts';
import { compileParameter, type ParameterReader, termType } from './input/parameters.ts';
import { checkDeclarations, type Declarations } from './openapi/declarations.ts';
import { listPaths } from './paths.ts';
import type { DeclaredRoute } from './route.ts';

export interface Parameter {
  readonly name: string;
  readonly read: ParameterReader;
  readonly isRequired: boolean;
  /** Several texts are one value. */
  readonly isList?: boolean;
}
export interface FormField extends Parameter {
  /** As the form names it. */
  readonly wire: string;
  readonly type: GraphQLInputType;
  readonly isMember: boolean;
}

/** How the parts of a request become variables. */
export interface VariableReaders {
  readonly path: readonly Parameter[];
  readonly query: readonly Parameter[];
  readonly body: Reader | undefined;
  /** Of the members of the body that choose the form of the reply: variables of their own, which the document does not have. */
  readonly replyMembers: Reader | undefined;
  /** Text fields of a form: variables of their own, or members of the body's variable. */
  readonly form: readonly FormField[];
  /** Defaults of the document's variables. */
  readonly defaults: readonly (readonly [name: string, value: unknown])[];
}

/** A declared route that was checked, with everything that does not change between calls. */
export interface Route {
  readonly row: DeclaredRoute;
  readonly main: RowDocument;
  /** The document as `execute` of graphql-js runs it, with variables that the readers have read. */
  readonly executed: DocumentNode;
  /** That of `executed`. */
  readonly schema: GraphQLSchema;
  readonly scope: Scope | null;
  readonly readers: VariableReaders;
  readonly stream: OpenSource | undefined;
  /** Of a route whose reply the fold of events makes. */
  readonly source: OpenSource | undefined;
  /** Of a route whose reply the document selects. */
  readonly showEnums: ShowEnums | undefined;
  readonly showMembers: ShowMembers | undefined;
  /** The root field's argument → the variable that feeds it: what a caller knows as `limit` the domain calls `first`. */
  readonly argumentNames: ReadonlyMap<string, string>;
  /** Where the body stands within its argument: `wiki.` in `input: { wiki: $input }`, which the caller does not write; empty for the whole argument. */
  readonly bodyPlace: string;
  /** Names of `{…}` in the path, in order. */
  readonly pathNames: readonly string[];
  /** Sent with every reply: a flat list of names and values. */
  readonly headers: readonly string[];
}

/**
 * Checks every route against the schema, the policy table and the declared schemas, and makes what its handler needs.
 *
 * @param declarations  null leaves wire schemas, documents and examples unchecked: they never change, so tests check them.
 * @throws Error naming each invalid route and the reason: the server does not start with such a route.
 */
export function compileRoutes(
  schema: GraphQLSchema,
  rows: readonly DeclaredRoute[],
  scopes: OperationScopes = operationScopes,
  declarations: Declarations | null = wireDeclarations(),
): readonly Route[] {
  if (declarations !== null) checkDeclarations(schema, declarations);
  const schemas: RowSchemas = { schema, executed: withReadVariables(schema) };
  const problems: string[] = [];
  const seenRoutes = new Set<string>();
  const routes = rows.flatMap((row) => {
    try {
      const places = listPaths(row).map((path) => `${row.method} ${path.replace(/\{[^{}]*\}/g, '{}')}`);
      for (const key of [row.operationId, ...places]) {
        if (seenRoutes.has(key)) throw new Error(`${key} is taken by another route`);
        seenRoutes.add(key);
      }
      if (declarations !== null) {
        checkSchemas(row, declarations);
        checkDocuments(schema, row);
      }
      const route = compileRoute(schemas, row, scopes);
      if (declarations !== null) checkExample(route);
      return [route];
    } catch (error) {
      problems.push(`${row.operationId}: ${error instanceof Error ? error.message : String(error)}`);
      return [];
    }
  });
  if (problems.length > 0) throw new Error(`REST rows that do not hold\n  ${problems.join('\n  ')}`);
  return routes;
}

function checkDocuments(schema: GraphQLSchema, { document, stream }: DeclaredRoute): void {
  const sources = new Set([document, stream?.document]);
  for (const source of sources) if (source !== undefined) checkDocument(schema, source);
}

/** The schema that documents are written for, and the same one for variables that were read. */
interface RowSchemas {
  readonly schema: GraphQLSchema;
  readonly executed: GraphQLSchema;
}

function compileRoute(schemas: RowSchemas, row: DeclaredRoute, scopes: OperationScopes): Route {
  const { schema, executed: executedSchema } = schemas;
  const main = compileDocument(schema, row.document, scopes);
  const pathNames = [...row.path.matchAll(/\{([^{}]*)\}/g)].map((match) => match[1] ?? '');
  checkShape(row, pathNames);
  checkVariables(row, main, pathNames);
  checkReply(row, main);
  const stream = row.stream === undefined ? undefined : compileSubscription(schemas, row, main, row.stream.document, scopes);
  const isFolded = main.operation.operation === 'subscription';
  const route: Route = {
    row,
    main,
    executed: readDocument(row.reply === undefined ? selectResolvedMembers(schema, row, main.document) : selectRootValue(main)),
    schema: executedSchema,
    scope: main.scope,
    readers: variableReaders(row, main, pathNames),
    stream,
    source: isFolded ? compileSource(executedSchema, main) : undefined,
    showEnums: row.reply === undefined ? compileEnumTexts(executedSchema, main) : undefined,
    showMembers: compileMembers(executedSchema, row, main),
    argumentNames: argumentNames(main.rootNode),
    bodyPlace: bodyPlace(main.rootNode, row.body),
    pathNames,
    headers: Object.entries(row.headers ?? {}).flat(),
  };
  return route;
}

/** A stream's document: a subscription with the same variables and the same scope as the route's. */
function compileSubscription(
  { schema, executed }: RowSchemas,
  row: DeclaredRoute,
  main: RowDocument,
  source: string,
  scopes: OperationScopes,
): OpenSource {
  const document = compileDocument(schema, source, scopes);
  for (const variable of document.variables.values()) {
    const own = main.variables.get(variable.name);
    if (own === undefined) throw new Error(`the subscription's $${variable.name} is no variable of the document`);
    if (String(own.type) !== String(variable.type)) throw new Error(`$${variable.name} has two types in ${row.operationId}`);
  }
  if (document.scope !== main.scope) throw new Error('the subscription needs another scope than the document');
  return compileSource(executed, document);
}

function variableReaders(row: DeclaredRoute, main: RowDocument, pathNames: readonly string[]): VariableReaders {
  const parameter = (name: string): Parameter => {
    const variable = main.variables.get(name);
    const type = variable?.type ?? termType(row, name);
    if (type === undefined) throw new Error(`no variable ${name}`);
    const isList = isListType(getNullableType(type));
    return { name, read: compileParameter(name, type), isRequired: variable?.isRequired === true, isList };
  };
  const bodyType = row.body === undefined ? undefined : main.variables.get(row.body)?.type;
  const input = getNamedType(bodyType);
  const extra = isInputObjectType(input) ? replyType(input) : undefined;
  const defaults = [...main.variables.values()].filter((variable) => variable.defaultValue !== undefined);
  return {
    path: pathNames.map(parameter),
    query: Object.keys(row.query ?? {}).map(parameter),
    // A body may be left out where its variable may; null is no body.
    body:
      bodyType === undefined
        ? undefined
        : compileReader(new GraphQLNonNull(getNullableType(bodyType)), memberNames(row), integerBounds),
    replyMembers: extra === undefined ? undefined : compileReader(extra, memberNames(row), integerBounds),
    form: row.upload === undefined ? [] : formFields(row, main, pathNames).toArray(),
    defaults: defaults.map((variable) => [variable.name, variable.defaultValue] as const),
  };
}

function* formFields(row: DeclaredRoute, main: RowDocument, pathNames: readonly string[]): Generator<FormField> {
  const bodyType = getNamedType(row.body === undefined ? undefined : main.variables.get(row.body)?.type);
  if (isInputObjectType(bodyType) && row.upload?.orJson !== true) {
    for (const field of listRestMembers(bodyType)) {
      const wire = memberNames(row).wire(field.name);
      const isRequired = isNonNullType(field.type) && field.defaultValue === undefined;
      yield { name: field.name, wire, type: field.type, read: compileParameter(wire, field.type), isRequired, isMember: true };
    }
  }
  const isElsewhere = (name: string) =>
    pathNames.includes(name) || name in (row.query ?? {}) || name === row.body || name === row.upload?.file;
  const terms = Object.keys(row.terms ?? {}).map((name) => ({ name, type: termType(row, name) }));
  for (const { name, type } of [...terms, ...main.variables.values()]) {
    if (type === undefined || isElsewhere(name)) continue;
    const wire = row.upload?.formNames?.[name] ?? name;
    const isRequired = main.variables.get(name)?.isRequired ?? isNonNullType(type);
    yield { name, wire, type, read: compileParameter(wire, type), isRequired, isMember: false };
  }
}

function argumentNames(node: FieldNode): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const argument of node.arguments ?? []) {
    if (argument.value.kind === Kind.VARIABLE && argument.name.value !== argument.value.name.value) {
      names.set(argument.name.value, argument.value.name.value);
    }
  }
  return names;
}

function bodyPlace(node: FieldNode, body: string | undefined): string {
  for (const { value } of node.arguments ?? []) {
    const members = value.kind === Kind.OBJECT ? value.fields : [];
    const holder = members.find((member) => member.value.kind === Kind.VARIABLE && member.value.name.value === body);
    if (holder !== undefined) return `${holder.name.value}.`;
  }
  return '';
}

/** OpenAPI shows the example of a route and the tests send it, so it must be accepted. */
function checkExample(route: Route): void {
  if (
    route.row.example === undefined ||
    route.readers.body === undefined ||
    (route.row.upload !== undefined && route.row.upload.orJson !== true)
  )
    return;
  const faults = new Faults();
  const { form } = route.row;
  const read = form === undefined ? route.readers.body : (body: unknown) => form.read(body, faults, {});
  for (const body of [route.row.example, ...(route.row.shown?.body === undefined ? [] : [route.row.shown.body])]) {
    read(body, faults);
  }
  const [first] = faults.found;
  if (first !== undefined) throw new Error(`its example is refused: ${first.message}`);
}
