import {
  defaultFieldResolver,
  GRAPHQL_MAX_INT,
  GRAPHQL_MIN_INT,
  type GraphQLField,
  type GraphQLFieldResolver,
  GraphQLInt,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  isScalarType,
  isSpecifiedScalarType,
  Kind,
} from 'graphql';
import { notedRefusal } from '../domain/access/operation.ts';
import { operationScopes, requireScope } from '../domain/access/policy.ts';
import { DomainError } from '../entities/errors.ts';
import { audited, idReader } from './audit/audited.ts';
import { builder, type GraphContext } from './builder/builder.ts';
import { accessFaults, guardNested, inputCheck } from './builder/nested-access.ts';
import { observe } from './builder/observed.ts';
import { restOnlyCheck } from './builder/rest-only.ts';
import './types/scalars.ts';
import './types/node.ts';
import './accounts/accounts.ts';

// The features; each import adds its types and fields.
import './completions/completions.ts';
import './models/models.ts';
import './tools/tools.ts';
import './agents/agents.ts';
import './agents/catalog.ts';
import './agents/tools.ts';
import './agents/user-inputs.ts';
import './agents/skills.ts';
import './agents/flows.ts';
import './agents/secrets.ts';
import './agents/grants.ts';
import './bundles/bundles.ts';
import './accounts/api-keys.ts';
import './knowledge/connections.ts';
import './accounts/groups.ts';
import './accounts/tenants.ts';
import './accounts/organizations.ts';
import './accounts/users.ts';
import './accounts/memberships.ts';
import './audit/log.ts';
import './usage/usage.ts';
import './chats/chats.ts';
import './chats/changes.ts';
import './chats/files.ts';
import './knowledge/source-changes.ts';
import './knowledge/sources.ts';
import './knowledge/source-kinds.ts';
import './knowledge/source-runs.ts';
import './knowledge/uploads.ts';
import './knowledge/items.ts';
import './knowledge/search.ts';
import './knowledge/vector-stores.ts';
import './knowledge/vector-store-batches.ts';
import './knowledge/vector-store-files.ts';
import './runs/runs.ts';
import './runs/subagent-events.ts';
import './responses/responses.ts';
import './conversations/conversations.ts';
import './memories/memories.ts';
import './files/files.ts';
import './files/uploads.ts';
import './embeddings/embeddings.ts';

const roots = {
  Query: () => builder.queryType({ description: 'All queries.' }),
  Mutation: () => builder.mutationType({ description: 'All mutations.' }),
  Subscription: () => builder.subscriptionType({ description: 'All subscriptions.' }),
};

/**
 * Builds the schema of all features and puts the scope check in front of every root field, so that no feature can forget it.
 *
 * @throws Error naming every root field that domain/access/policy.ts does not list, every operation there that the schema does not have, and
 * everything without a description.
 */
export function buildSchema(): GraphQLSchema {
  const named = new Set(Object.keys(operationScopes).map((operation) => operation.split('.')[0]));
  for (const [name, addRoot] of Object.entries(roots)) if (named.has(name)) addRoot();
  const schema = builder.toSchema();
  const faults = [...policyFaults(schema, Object.keys(operationScopes)), ...accessFaults(schema), ...undescribed(schema)];
  if (faults.length > 0) throw new Error(`the schema is not complete\n${faults.join('\n')}`);
  readLargeNumbers(schema);
  guardNested(schema);
  observe(schema);
  for (const root of rootTypes(schema)) guard(root);
  return schema;
}

/** Root fields without a scope, and scopes without a root field. */
export function policyFaults(schema: GraphQLSchema, operations: readonly string[]): string[] {
  const fields = rootTypes(schema).flatMap((root) => Object.keys(root.getFields()).map((field) => `${root.name}.${field}`));
  return [
    ...fields.filter((field) => !operations.includes(field)).map((field) => `${field} is not listed in domain/access/policy.ts`),
    ...operations
      .filter((name) => !fields.includes(name))
      .map((name) => `domain/access/policy.ts lists ${name}, which does not exist`),
  ];
}

/** Every own type, field, argument, input field and enum value that has no description. */
export function undescribed(schema: GraphQLSchema): string[] {
  const types = Object.values(schema.getTypeMap()).filter((type) => !isIntrospectionType(type) && !isSpecifiedScalarType(type));
  return types
    .flatMap((type) => [{ place: type.name, description: type.description }, ...partsOf(type)])
    .filter(({ description }) => description === undefined || description === null || description.trim() === '')
    .map(({ place }) => `${place} has no description`);
}

function partsOf(type: GraphQLNamedType): { place: string; description: string | null | undefined }[] {
  if (isEnumType(type)) {
    return type.getValues().map(({ name, description }) => ({ place: `${type.name}.${name}`, description }));
  }
  if (isInputObjectType(type)) {
    return Object.values(type.getFields()).map(({ name, description }) => ({ place: `${type.name}.${name}`, description }));
  }
  if (!isObjectType(type) && !isInterfaceType(type)) return [];
  return Object.values(type.getFields()).flatMap((field) => [
    { place: `${type.name}.${field.name}`, description: field.description },
    ...field.args.map(({ name, description }) => ({ place: `${type.name}.${field.name}(${name})`, description })),
  ]);
}

function rootTypes(schema: GraphQLSchema): GraphQLObjectType[] {
  return [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()].filter(
    (type) => type !== undefined && type !== null,
  );
}

function guard(root: GraphQLObjectType): void {
  for (const field of Object.values(root.getFields())) {
    const operation = `${root.name}.${field.name}`;
    if (root.name === 'Subscription') field.subscribe = guarded(operation, field, field.subscribe ?? missingSource(operation));
    else {
      const resolve = field.resolve ?? defaultFieldResolver;
      field.resolve = guarded(operation, field, root.name === 'Mutation' ? audited(field, resolve) : resolve);
    }
  }
}

type Resolver = GraphQLFieldResolver<unknown, GraphContext>;
type Arguments = Readonly<Record<string, unknown>>;

/** Checks the scopes of a call, and writes refusals into the audit log. */
function guarded(operation: string, field: GraphQLField<unknown, GraphContext>, inner: Resolver): Resolver {
  const checkInput = inputCheck(operation, field);
  const checkRestOnly = restOnlyCheck(field);
  const idsOf = idReader(field);
  const refused = (error: unknown, args: Arguments, context: GraphContext): never => {
    throw notedRefusal(context, operation, error, error instanceof DomainError ? idsOf(args) : []);
  };
  return (root, args: Arguments, context, info) => {
    try {
      requireScope(context.caller, operation);
      requireStorable(args);
      checkInput?.(context.caller, args);
      if (context.isRest !== true) checkRestOnly?.(args);
      const result: unknown = inner(root, args, context, info);
      return result instanceof Promise ? result.catch((error: unknown) => refused(error, args, context)) : result;
    } catch (error) {
      return refused(error, args, context);
    }
  };
}

function missingSource(operation: string): Resolver {
  throw new Error(`${operation} has no subscribe function`);
}

/**
 * PostgreSQL's text does not allow the NUL character: checked here for every argument of both APIs. Error messages name members of `input` without
 * `input`.
 */
function requireStorable(args: Readonly<Record<string, unknown>>): void {
  const place = placeOfNul(args);
  if (place === undefined) return;
  const param = place.replace(/^\.(input\.)?/, '');
  throw new DomainError('INVALID_VALUE', `${param} must not contain the NUL character`, { param });
}

/** The path of a text with NUL, such as `.messages[2].content`. Built only when there is one, because every call passes here. */
function placeOfNul(value: unknown): string | undefined {
  if (typeof value === 'string') return value.includes('\u0000') ? '' : undefined;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) {
      const inner = placeOfNul(value[index]);
      if (inner !== undefined) return `[${index}]${inner}`;
    }
  } else if (isPlainObject(value)) {
    for (const key in value) {
      const inner = placeOfNul(value[key]);
      if (inner !== undefined) return `.${key}${inner}`;
    }
  }
  return undefined;
}

/**
 * Whether a value is an argument map or an input object, not a date, a file or another instance. graphql-js makes them without a prototype, JSON with
 * one.
 */
function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

const { parseValue, parseLiteral } = GraphQLInt;

/**
 * A given number beyond 32 bits becomes the nearest within, as on REST: every member has bounds of its own there, which the refusal then tells
 * instead of those of 32 bits. The builder takes no other type of this name, so its readers are replaced.
 */
function readLargeNumbers(schema: GraphQLSchema): void {
  const int = schema.getType('Int');
  if (!isScalarType(int)) return;
  int.parseValue = (value) => parseValue(Number.isInteger(value) ? nearest(Number(value)) : value);
  int.parseLiteral = (node, variables) =>
    parseLiteral(node.kind === Kind.INT ? { ...node, value: String(nearest(Number(node.value))) } : node, variables);
}

function nearest(value: number): number {
  return Math.min(Math.max(value, GRAPHQL_MIN_INT), GRAPHQL_MAX_INT);
}
