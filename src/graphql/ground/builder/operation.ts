import SchemaBuilder, { BasePlugin, type PothosOutputFieldConfig, type SchemaTypes } from '@pothos/core';
import { RequestCache } from '@pothos/plugin-scope-auth';
import { type GraphQLField, type GraphQLFieldResolver, type GraphQLResolveInfo, isNonNullType } from 'graphql';
import { requireChange } from '../../../domain/ground/access/policy.ts';
import { notedRefusal } from '../../../domain/ground/audit/operation.ts';
import { DomainError, errorCodes } from '../../../entities/ground/errors.ts';
import { takesFlatInputs } from '../../../lib/flat-inputs.ts';
import { audited, idReader } from './audited.ts';
import { statementsOfField } from './complexity.ts';
import type { GraphContext } from './context.ts';
import { inFieldTurn } from './field-turns.ts';
import { flattener } from './flat-inputs.ts';
import { inputCheck } from './nested-access.ts';
import { forgetNodes } from './nodes.ts';

declare global {
  export namespace PothosSchemaTypes {
    export interface Plugins<Types extends SchemaTypes> {
      flatInputs: FlatInputsPlugin<Types>;
      refusals: RefusalsPlugin<Types>;
      scopeCaches: ScopeCachesPlugin<Types>;
      operations: OperationsPlugin<Types>;
    }
  }
}

type Field = GraphQLField<unknown, GraphContext>;
type Resolver = GraphQLFieldResolver<unknown, GraphContext>;
type Arguments = Readonly<Record<string, unknown>>;
type PothosResolver<Types extends SchemaTypes> = GraphQLFieldResolver<unknown, Types['Context'], object>;
type Config<Types extends SchemaTypes> = Pick<PothosOutputFieldConfig<Types>, 'parentType' | 'name'>;

/** Wraps what begins an operation: `resolve` of queries and mutations, `subscribe` of subscriptions. */
abstract class RootFieldPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override wrapResolve(inner: PothosResolver<Types>, config: PothosOutputFieldConfig<Types>): PothosResolver<Types> {
    if (config.parentType !== 'Query' && config.parentType !== 'Mutation') return inner;
    return this.wrap(inner as Resolver, config) as PothosResolver<Types>;
  }

  override wrapSubscribe(inner: PothosResolver<Types>, config: PothosOutputFieldConfig<Types>): PothosResolver<Types> {
    if (config.parentType !== 'Subscription') return inner;
    return this.wrap(inner as Resolver, config) as PothosResolver<Types>;
  }

  abstract wrap(inner: Resolver, config: Config<Types>): Resolver;
}

/** Gives the resolver the flat form of its inputs. REST's readers have made it already. */
class FlatInputsPlugin<Types extends SchemaTypes> extends RootFieldPlugin<Types> {
  override wrap(inner: Resolver): Resolver {
    const flattenerOf = once((field) => ({ flatten: flattener(field) }));
    return (root, args: Arguments, context, info) => {
      const { flatten } = flattenerOf(info);
      return inner(root, flatten === undefined || takesFlatInputs(info.schema) ? args : flatten(args), context, info);
    };
  }
}

/** Writes refusals of operations into the audit log: stands in front of the check of scopes. */
class RefusalsPlugin<Types extends SchemaTypes> extends RootFieldPlugin<Types> {
  override wrap(inner: Resolver, { parentType, name }: Config<Types>): Resolver {
    const idsOf = once(idReader);
    const refuse = (error: unknown, args: Arguments, context: GraphContext, info: GraphQLResolveInfo): never => {
      const ids = error instanceof DomainError ? idsOf(info)(args, context) : [];
      throw notedRefusal(context, `${parentType}.${name}`, error, ids);
    };
    return (root, args: Arguments, context, info) => {
      try {
        const result: unknown = inner(root, args, context, info);
        return result instanceof Promise ? result.catch((error: unknown) => refuse(error, args, context, info)) : result;
      } catch (error) {
        return refuse(error, args, context, info);
      }
    };
  }
}

/**
 * Lets go of what the check of scopes keeps of a request, once the check is done. The plugin keeps it as a value of one WeakMap for the whole
 * process. V8's quick collections of garbage spare such values until the next full one, and with them all that they lead to: the context, the
 * request and the reply, some 10 KB.
 */
class ScopeCachesPlugin<Types extends SchemaTypes> extends RootFieldPlugin<Types> {
  override wrap(inner: Resolver): Resolver {
    return (root, args: Arguments, context, info) => {
      try {
        return inner(root, args, context, info);
      } finally {
        RequestCache.clearForContext(context);
      }
    };
  }
}

/**
 * Checks that the caller may change things and the arguments of an operation that its key may perform, and writes a mutation into the audit log. A query whose field may be null gives null
 * for what does not exist.
 */
class OperationsPlugin<Types extends SchemaTypes> extends RootFieldPlugin<Types> {
  /** For the cost of an operation. */
  override onOutputFieldConfig(config: PothosOutputFieldConfig<Types>): PothosOutputFieldConfig<Types> {
    const statements = statementsOfField(config.parentType, config.name);
    return statements === 0 ? config : { ...config, extensions: { ...config.extensions, statements } };
  }

  override wrap(inner: Resolver, { parentType, name }: Config<Types>): Resolver {
    const parts = once((field) => ({
      checkInput: inputCheck(`${parentType}.${name}`, field),
      perform:
        parentType === 'Mutation'
          ? mutating(audited(field, inner))
          : inTurn(parentType, isNonNullType(field.type) ? inner : lookUp(inner)),
    }));
    return (root, args: Arguments, context, info) => {
      const { checkInput, perform } = parts(info);
      requireChange(context.caller, `${parentType}.${name}`);
      requireStorable(args);
      checkInput?.(context.caller, args);
      return perform(root, args, context, info);
    };
  }
}

/** The fields of a mutation run one after the other anyway, and a subscription has one. */
function inTurn(parentType: string, inner: Resolver): Resolver {
  if (parentType !== 'Query') return inner;
  return (root, args: Arguments, context, info) => inFieldTurn(context, () => inner(root, args, context, info));
}

/** A document may change a thing twice: each mutation shows it as it left it. */
function mutating(inner: Resolver): Resolver {
  return async (root, args: Arguments, context, info) => {
    const payload: unknown = await inner(root, args, context, info);
    forgetNodes(context);
    return payload;
  };
}

function lookUp(inner: Resolver): Resolver {
  return async (root, args: Arguments, context, info) => {
    try {
      return await inner(root, args, context, info);
    } catch (error) {
      if (context.missIsError === true || !isMiss(error)) throw error;
      return null;
    }
  };
}

function isMiss(error: unknown): boolean {
  return error instanceof DomainError && errorCodes[error.code].status === 404;
}

/** Makes something of a root field at its first call: its GraphQL type is not there yet when a plugin wraps it. Each schema has its own. */
function once<T>(make: (field: Field) => T): (info: Pick<GraphQLResolveInfo, 'parentType' | 'fieldName'>) => T {
  const valuesByField = new WeakMap<Field, { readonly value: T }>();
  return ({ parentType, fieldName }) => {
    const field = parentType.getFields()[fieldName];
    if (field === undefined) throw new Error(`${parentType.name} has no field ${fieldName}`);
    const madeValue = valuesByField.get(field) ?? { value: make(field) };
    valuesByField.set(field, madeValue);
    return madeValue.value;
  };
}

/**
 * PostgreSQL's text does not allow the NUL character: checked here for every argument of both APIs. Error messages name members of `input` without
 * `input`.
 */
function requireStorable(args: Arguments): void {
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
      // Names that the caller chose, such as those of metadata, are stored too.
      if (key.includes('\u0000')) return '';
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

SchemaBuilder.registerPlugin('flatInputs', FlatInputsPlugin);
SchemaBuilder.registerPlugin('refusals', RefusalsPlugin);
SchemaBuilder.registerPlugin('scopeCaches', ScopeCachesPlugin);
SchemaBuilder.registerPlugin('operations', OperationsPlugin);
