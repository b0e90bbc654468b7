import {
  defaultFieldResolver,
  type GraphQLField,
  type GraphQLFieldResolver,
  type GraphQLInputObjectType,
  type GraphQLInterfaceType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isCompositeType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { operationScopes } from '../../../domain/ground/access/operation-scopes.ts';
import { inputReferenceScopes, referenceScopes, sharedFields } from '../../../domain/ground/access/reference-scopes.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import { emptyPage } from '../../../entities/ground/page.ts';
import type { Caller, Scope } from '../../../entities/people/caller.ts';
import { flatType } from '../../../lib/flat-inputs.ts';
import type { GraphContext } from './context.ts';
import { findScope } from './scopes.ts';
import { findAccess } from './type-access.ts';

type Resolver = GraphQLFieldResolver<unknown, GraphContext>;
type Fielded = GraphQLObjectType | GraphQLInterfaceType;
type Field = GraphQLField<unknown, GraphContext>;

/**
 * Guards every field that leads to another noun with the scope of that noun, also a future field (`access` of its type). A key without the
 * scope gets null or an empty list or page, and INSUFFICIENT_SCOPE where none of these is possible.
 */
export function guardNested(schema: GraphQLSchema): void {
  const roots = collectRoots(schema);
  for (const type of fieldedTypes(schema)) {
    if (!isObjectType(type) || roots.has(type.name)) continue;
    for (const field of Object.values(type.getFields())) {
      const scope = neededScope(type, field);
      if (scope !== null)
        field.resolve = guarded(`${type.name}.${field.name}`, scope, field, field.resolve ?? defaultFieldResolver);
    }
  }
}

function guarded(place: string, scope: Scope, { type }: Field, inner: Resolver): Resolver {
  const isList = isListType(isNonNullType(type) ? type.ofType : type);
  const isNullable = !isNonNullType(type);
  // Relay reserves this ending for pages.
  const isPage = getNamedType(type).name.endsWith('Connection');
  return (source, args, context, info) => {
    if (context.caller.scopes.has(scope)) return inner(source, args, context, info);
    if (isList) return [];
    if (isNullable) return null;
    if (isPage) return emptyPage({ limit: 0, after: undefined });
    const error = new DomainError('INSUFFICIENT_SCOPE', `${place} needs a key with the scope ${scope}`);
    context.deps.audit.refusals.note(context.caller, place, error, [], context);
    throw error;
  };
}

/** The scope that a field below a root field needs in addition to that of its parent; null: none. */
export function neededScope(parent: Fielded, field: Field): Scope | null {
  if (sharedFields[`${parent.name}.${field.name}`] !== undefined) return null;
  const fieldType = getNamedType(field.type);
  const scope =
    isObjectType(fieldType) || isInterfaceType(fieldType) ? findAccess(fieldType)?.scope : referenceScopes[field.name];
  return scope === undefined || scope === null || scope === findAccess(parent)?.scope ? null : scope;
}

/** Types that do not say who may see them, ids and e-mails that domain/ground/access/reference-scopes.ts does not list, and shared fields that are not there. */
export function accessFaults(schema: GraphQLSchema): string[] {
  const roots = collectRoots(schema);
  const types = fieldedTypes(schema);
  const table = 'domain/ground/access/reference-scopes.ts';
  const coordinates = new Set(types.flatMap((type) => Object.keys(type.getFields()).map((name) => `${type.name}.${name}`)));
  return [
    ...types
      .filter((type) => !roots.has(type.name) && findAccess(type) === undefined)
      .map(({ name }) => `${name} does not say who may see it (access)`),
    ...Object.keys(sharedFields)
      .filter((place) => !coordinates.has(place))
      .map((place) => `${table} shares ${place}, which does not exist`),
    ...types.filter((type) => !roots.has(type.name)).flatMap((type) => unknownReferences(type)),
    ...types.filter((type) => roots.has(type.name)).flatMap((type) => rootFaults(type)),
    ...inputTypes(schema).flatMap((type) => unknownInputReferences(type)),
  ];
}

function unknownReferences(type: Fielded): string[] {
  const fields = Object.values(type.getFields()).filter(
    (field) => field.name !== 'id' && !isCompositeType(getNamedType(field.type)),
  );
  return fields
    .filter(
      (field) => (getNamedType(field.type).name === 'ID' || /e-?mail$/i.test(field.name)) && !(field.name in referenceScopes),
    )
    .map((field) => `${type.name}.${field.name} refers to something that domain/ground/access/reference-scopes.ts does not list`);
}

/** A root field must return the noun that its own scope is about. */
function rootFaults(root: Fielded): string[] {
  return Object.values(root.getFields()).flatMap((field) => {
    const place = `${root.name}.${field.name}`;
    const fieldType = getNamedType(field.type);
    const answeredScope = isObjectType(fieldType) || isInterfaceType(fieldType) ? (findAccess(fieldType)?.scope ?? null) : null;
    const askedScope = findScope(field) ?? null;
    const isSame = answeredScope === null || toNoun(answeredScope) === (askedScope === null ? '' : toNoun(askedScope));
    return isSame || sharedFields[place] !== undefined
      ? []
      : [`${place} answers with ${fieldType.name}, which needs ${answeredScope}`];
  });
}

function unknownInputReferences(type: GraphQLInputObjectType): string[] {
  return Object.values(type.getFields())
    .filter((field) => getNamedType(field.type).name === 'ID' && !(field.name in inputReferenceScopes))
    .map((field) => `${type.name}.${field.name} refers to something that domain/ground/access/reference-scopes.ts does not list`);
}

/** A member of an operation's input that refers to another noun. */
interface HandedOn {
  readonly path: readonly string[];
  readonly scope: Scope;
}

/** Of an operation's input: throws INSUFFICIENT_SCOPE for things that the caller may not read. Undefined when the input refers to none. */
export type InputCheck = ((caller: Caller, givenInput: Readonly<Record<string, unknown>>) => void) | undefined;

/**
 * Builds the check of an operation's input: things of another noun that `input` refers to need the scope that reads them.
 *
 * @returns undefined when no member of the input refers to another noun.
 */
export function inputCheck(operation: string, { args }: Field): InputCheck {
  const own = operationScopes[operation];
  const places = args.flatMap(({ name, type }) => {
    const inner = getNamedType(type);
    return isInputObjectType(inner) ? handedOn(inner, [name], new Set()) : [];
  });
  const foreign = places.filter(({ scope }) => own === null || own === undefined || toNoun(own) !== toNoun(scope));
  if (foreign.length === 0) return undefined;
  return (caller, givenInput) => {
    for (const { path, scope } of foreign) {
      if (caller.scopes.has(scope) || !isNamed(givenInput, path)) continue;
      const param = path.slice(path[0] === 'input' ? 1 : 0).join('.');
      throw new DomainError('INSUFFICIENT_SCOPE', `${param} needs a key with the scope ${scope}`, { param });
    }
  };
}

function handedOn(type: GraphQLInputObjectType, path: readonly string[], seenTypes: ReadonlySet<string>): HandedOn[] {
  if (seenTypes.has(type.name)) return [];
  const within = new Set([...seenTypes, type.name]);
  return Object.values(flatType(type).getFields()).flatMap((field) => {
    const inner = getNamedType(field.type);
    const place = [...path, field.name];
    if (isInputObjectType(inner)) return handedOn(inner, place, within);
    const scope = inputReferenceScopes[field.name];
    return scope === undefined || scope === null ? [] : [{ path: place, scope }];
  });
}

/** Whether the input has a value at this path; an empty list, null and an absent member count as none. */
function isNamed(value: unknown, path: readonly string[]): boolean {
  if (Array.isArray(value)) return value.some((item) => isNamed(item, path));
  const [name, ...rest] = path;
  if (name === undefined) return value !== undefined && value !== null;
  return typeof value === 'object' && value !== null && isNamed((value as Readonly<Record<string, unknown>>)[name], rest);
}

function toNoun(scope: Scope): string {
  return scope.slice(0, scope.indexOf(':'));
}

function collectRoots(schema: GraphQLSchema): ReadonlySet<string> {
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  return new Set(roots.flatMap((root) => (root === undefined || root === null ? [] : [root.name])));
}

function fieldedTypes(schema: GraphQLSchema): Fielded[] {
  return Object.values(schema.getTypeMap()).filter(
    (type): type is Fielded => (isObjectType(type) || isInterfaceType(type)) && !isIntrospectionType(type),
  );
}

function inputTypes(schema: GraphQLSchema): GraphQLInputObjectType[] {
  return Object.values(schema.getTypeMap()).filter(isInputObjectType);
}
