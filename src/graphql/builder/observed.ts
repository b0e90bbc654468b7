import {
  defaultFieldResolver,
  type GraphQLField,
  type GraphQLFieldResolver,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getNamedType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  type OperationDefinitionNode,
  type ResponsePath,
} from 'graphql';
import { type ContentNoun, insideFields } from '../../domain/access/reference-scopes.ts';
import { exportOperations, type OperationReads, seesAsAdministrator } from '../../domain/audit/reads.ts';
import { type IdKind, kindOfId } from '../../entities/ids.ts';
import { fieldsOf } from '../../lib/selections.ts';
import type { GraphContext } from './context.ts';
import { accessOf } from './type-access.ts';

type Resolver = GraphQLFieldResolver<unknown, GraphContext>;
type Field = GraphQLField<unknown, GraphContext>;
type Source = Readonly<Record<string, unknown>>;
/** Notes the things that a field showed to an administrator. */
type NoteShown = (reads: OperationReads, shown: Source, context: GraphContext) => void;

/** Arguments of root fields that name a thing, and what the thing is. */
const argumentNouns: Readonly<Record<string, ContentNoun>> = {
  agentId: 'agent',
  chatId: 'chat',
  dataSourceId: 'dataSource',
  runId: 'run',
};
/** What the argument `id` names, where the type of the field does not say so. Chats and runs by `id` are their user's alone, or have types that say so. */
const idNouns: Partial<Record<IdKind, ContentNoun>> = { agent: 'agent', dataSource: 'dataSource' };
const nodeNouns: Partial<Record<IdKind, ContentNoun>> = { agent: 'agent', chat: 'chat', dataSource: 'dataSource', run: 'run' };

/**
 * Notes for the audit log what administrators are shown. Wraps every field whose type shows people's content (`access` of the type), and every
 * root field of a query or subscription whose arguments name such content, also a future field. After the reply, domain/audit/reads.ts finds out
 * which of it belongs to other users. For other callers the cost is one comparison.
 */
export function observe(schema: GraphQLSchema): void {
  /** By call, then by root field. */
  const calls = new WeakMap<GraphContext, Map<string, OperationReads>>();
  const readsOf = (context: GraphContext, action: string): OperationReads => {
    const known = calls.get(context) ?? new Map<string, OperationReads>();
    calls.set(context, known);
    const reads = known.get(action) ?? context.deps.audit.reads(context.caller, action, context);
    known.set(action, reads);
    return reads;
  };
  const roots = new Set(['Query', 'Mutation', 'Subscription']);
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields())) {
      const isRoot = roots.has(type.name);
      // A mutation's result is covered by the audit entry of its change, and an event by the noted argument of its subscription.
      const note = isRoot && type.name !== 'Query' ? undefined : shownBy(field);
      if (note !== undefined) field.resolve = observed(field.resolve ?? defaultFieldResolver, note, readsOf);
      const idMember = insideFields[`${type.name}.${field.name}`];
      if (idMember !== undefined) field.resolve = inside(field.resolve ?? defaultFieldResolver, idMember, readsOf);
      if (type.name === 'Query') field.resolve = named(field, field.resolve ?? defaultFieldResolver, readsOf);
      if (type.name === 'Subscription' && field.subscribe !== undefined) field.subscribe = named(field, field.subscribe, readsOf);
    }
  }
}

type ReadsOf = (context: GraphContext, action: string) => OperationReads;

/** Notes the results of a field. */
function observed(inner: Resolver, note: NoteShown, readsOf: ReadsOf): Resolver {
  return (source, args, context, info) => {
    const result: unknown = inner(source, args, context, info);
    if (!seesAsAdministrator(context.caller)) return result;
    const shown = (value: unknown) => {
      noteAll(value, (item) => note(readsOf(context, rootFieldOf(info)), item, context));
      return value;
    };
    return result instanceof Promise ? result.then(shown) : shown(result);
  };
}

/** Notes the agent of which a field showed the internals. */
function inside(inner: Resolver, idMember: string, readsOf: ReadsOf): Resolver {
  return (source, args, context, info) => {
    const result: unknown = inner(source, args, context, info);
    if (result === null || !seesAsAdministrator(context.caller) || !isSource(source)) return result;
    // A mutation's result is covered by the audit entry of its change.
    if (info.operation.operation === 'mutation' && info.path.prev?.prev === undefined) return result;
    const id = source[idMember];
    const isOwn = source.userId === context.caller.userId && source.orgId === context.caller.orgId;
    if (typeof id === 'string' && !isOwn) readsOf(context, rootFieldOf(info)).note('instructions', id);
    return result;
  };
}

/** Notes the things that the arguments of a root field name, once the caller is allowed to run the field. */
function named(field: Field, inner: Resolver, readsOf: ReadsOf): Resolver {
  const isNoted = shownBy(field) !== undefined;
  const names = field.args.map(({ name }) => name).filter((name) => name in argumentNouns || (name === 'id' && !isNoted));
  const inputNames = membersOfInput(field).filter((name) => name in argumentNouns);
  if (names.length + inputNames.length === 0) return inner;
  const isExport = exportOperations.has(field.name);
  return (source, args: Source, context, info) => {
    const result: unknown = inner(source, args, context, info);
    if (!isExport && !seesAsAdministrator(context.caller)) return result;
    const admitted = (value: unknown) => {
      const input = isSource(args.input) ? args.input : {};
      const given = [
        ...names.map((name) => ({ name, id: args[name] })),
        ...inputNames.map((name) => ({ name, id: input[name] })),
      ];
      for (const { name, id } of given) {
        if (typeof id !== 'string') continue;
        const noun = argumentNouns[name] ?? idNounOf(id);
        if (noun !== undefined) readsOf(context, field.name).note(noun, id);
      }
      return value;
    };
    return result instanceof Promise ? result.then(admitted) : admitted(result);
  };
}

function membersOfInput({ args }: Field): readonly string[] {
  const type = args.find(({ name }) => name === 'input')?.type;
  const input = type === undefined ? undefined : getNamedType(type);
  return isInputObjectType(input) ? Object.keys(input.getFields()) : [];
}

function idNounOf(id: string): ContentNoun | undefined {
  const kind = kindOfId(id);
  return kind === undefined ? undefined : idNouns[kind];
}

/** What a field shows; undefined when its type holds no content of users. */
function shownBy(field: Field): NoteShown | undefined {
  const type = getNamedType(field.type);
  if (isInterfaceType(type) && type.name === 'Node') {
    return (reads, { id }) => {
      const kind = typeof id === 'string' ? kindOfId(id) : undefined;
      const noun = kind === undefined ? undefined : nodeNouns[kind];
      if (noun !== undefined && typeof id === 'string') reads.note(noun, id);
    };
  }
  const shows = isObjectType(type) || isInterfaceType(type) ? accessOf(type)?.shows : undefined;
  if (shows === undefined) return undefined;
  return (reads, item, { caller }) => {
    const id = item[shows.id];
    const isOwn = shows.owner !== undefined && item[shows.owner] === caller.userId && item.orgId === caller.orgId;
    if (typeof id === 'string' && !isOwn) reads.note(shows.noun, id);
  };
}

function noteAll(value: unknown, note: (item: Source) => void): void {
  if (Array.isArray(value)) for (const item of value) noteAll(item, note);
  else if (isSource(value)) note(value);
}

function isSource(value: unknown): value is Source {
  return typeof value === 'object' && value !== null && !(value instanceof Error);
}

/** The name of the root field above a position in the reply, whatever its alias, also in a fragment. */
function rootFieldOf({ path, operation, schema, fragments }: GraphQLResolveInfo): string {
  let place: ResponsePath = path;
  while (place.prev !== undefined) place = place.prev;
  let names = rootNames.get(operation);
  if (names === undefined) {
    names = new Map();
    const type = schema.getRootType(operation.operation);
    const places = type === undefined || type === null ? [] : [{ selectionSet: operation.selectionSet, type }];
    for (const { node } of fieldsOf(schema, fragments, places)) names.set((node.alias ?? node.name).value, node.name.value);
    rootNames.set(operation, names);
  }
  return names.get(String(place.key)) ?? String(place.key);
}

/** By operation, then by the name in the reply. Cached because every noted value needs it. */
const rootNames = new WeakMap<OperationDefinitionNode, Map<string, string>>();
