// Fast path: makes values of the reply from what resolvers return. The plain path is `completeValue` of graphql-js.
import {
  defaultTypeResolver,
  type GraphQLAbstractType,
  GraphQLBoolean,
  GraphQLError,
  GraphQLID,
  type GraphQLLeafType,
  type GraphQLObjectType,
  GraphQLString,
  isObjectType,
} from 'graphql';
import { executeFields, isThenable } from './execute.ts';
import type { Complete, FieldPlan, ObjectPlan } from './plan.ts';
import type { Path, Run } from './run.ts';

export function completeNonNull(complete: Complete): Complete {
  return (run, value, field, path) => {
    const completed = complete(run, value, field, path);
    if (completed !== null) return completed;
    throw new Error(`Cannot return null for non-nullable field ${field.parentType.name}.${field.definition.name}.`);
  };
}

export function completeLeaf(type: GraphQLLeafType): Complete {
  // Values of these types are already in serialized form.
  const plain = type === GraphQLString || type === GraphQLID ? 'string' : type === GraphQLBoolean ? 'boolean' : undefined;
  return (run, value) => {
    if (typeof value === plain) {
      if (typeof value === 'string') run.spend(value.length);
      return value;
    }
    if (value instanceof Error) throw value;
    if (value === undefined || value === null) return null;
    const shown = type.serialize(value);
    if (shown === undefined || shown === null) throw new Error(`${type.name} wrote nothing of a value`);
    if (typeof shown === 'string') run.spend(shown.length);
    else if (typeof shown === 'object') run.spendOn(shown);
    return shown;
  };
}

interface ItemPlan {
  readonly complete: Complete;
  readonly isNonNull: boolean;
  readonly isLeaf: boolean;
}

export function completeList(item: ItemPlan): Complete {
  return (run, value, field, path) => {
    if (value instanceof Error) throw value;
    if (value === undefined || value === null) return null;
    const values = itemsOf(value, field);
    run.spend(values.length);
    const completed = new Array<unknown>(values.length);
    let hasPromise = false;
    try {
      for (let index = 0; index < values.length; index += 1) {
        const shown = completeItem(run, item, field, values[index], index, path);
        if (shown instanceof Promise) hasPromise = true;
        completed[index] = shown;
      }
    } catch (error) {
      // The running ones may reject as well, which must not be unhandled.
      if (hasPromise) Promise.allSettled(completed).catch(() => undefined);
      throw error;
    }
    return hasPromise ? Promise.all(completed) : completed;
  };
}

function completeItem(run: Run, item: ItemPlan, field: FieldPlan, value: unknown, index: number, list: Path): unknown {
  let path: Path = item.isLeaf ? undefined : { prev: list, key: index, typename: undefined };
  try {
    const completed = isThenable(value)
      ? Promise.resolve(value).then((settled) => item.complete(run, settled, field, path))
      : item.complete(run, value, field, path);
    if (!(completed instanceof Promise)) return completed;
    return completed.then(undefined, (error: unknown) => {
      path ??= { prev: list, key: index, typename: undefined };
      return run.fault(error, field.nodes, path, item.isNonNull);
    });
  } catch (error) {
    path ??= { prev: list, key: index, typename: undefined };
    return run.fault(error, field.nodes, path, item.isNonNull);
  }
}

function itemsOf(value: object | unknown, { parentType, definition }: FieldPlan): readonly unknown[] {
  if (Array.isArray(value)) return value;
  if (typeof value === 'object' && value !== null && Symbol.iterator in value && typeof value[Symbol.iterator] === 'function') {
    return Array.from(value as Iterable<unknown>);
  }
  throw new GraphQLError(`Expected Iterable, but did not find one for field "${parentType.name}.${definition.name}".`);
}

export function completeObject(plan: ObjectPlan): Complete {
  return (run, value, field, path) => {
    if (value instanceof Error) throw value;
    if (value === undefined || value === null) return null;
    return objectOf(run, plan, value, field, path);
  };
}

export function completeAbstract(type: GraphQLAbstractType, planOf: (runtimeType: GraphQLObjectType) => ObjectPlan): Complete {
  // Made for the first value of a type: a document may name many types that never occur.
  const plans = new Map<string, ObjectPlan>();
  const resolveType = type.resolveType ?? defaultTypeResolver;
  const planNamed = (run: Run, name: unknown, field: FieldPlan): ObjectPlan => {
    const known = typeof name === 'string' ? plans.get(name) : undefined;
    if (known !== undefined) return known;
    const plan = planOf(runtimeTypeOf(run, type, name, field));
    plans.set(plan.type.name, plan);
    return plan;
  };
  return (run, value, field, path) => {
    if (value instanceof Error) throw value;
    if (value === undefined || value === null) return null;
    const name: unknown = resolveType(value, run.context, run.info(field, fieldPath(field, path)), type);
    if (!isThenable(name)) return objectOf(run, planNamed(run, name, field), value, field, path);
    return Promise.resolve(name).then((settled) => objectOf(run, planNamed(run, settled, field), value, field, path));
  };
}

function runtimeTypeOf(run: Run, type: GraphQLAbstractType, name: unknown, { nodes }: FieldPlan): GraphQLObjectType {
  const found = typeof name === 'string' ? run.schema.getType(name) : undefined;
  if (isObjectType(found) && run.schema.isSubType(type, found)) return found;
  throw new GraphQLError(`"${type.name}" was resolved to "${String(name)}", which is none of its object types`, { nodes });
}

function objectOf(run: Run, plan: ObjectPlan, value: unknown, field: FieldPlan, path: Path): unknown {
  const { type } = plan;
  if (type.isTypeOf === undefined || type.isTypeOf === null) return executeFields(run, plan, value, path);
  const judged = (isOfType: unknown) => {
    if (isOfType) return executeFields(run, plan, value, path);
    throw new GraphQLError(`Expected value of type "${type.name}"`, { nodes: field.nodes });
  };
  const isOfType = type.isTypeOf(value, run.context, run.info(field, fieldPath(field, path)));
  return isThenable(isOfType) ? Promise.resolve(isOfType).then(judged) : judged(isOfType);
}

/** The path of the field that a value belongs to: paths of list items end with their index. */
function fieldPath({ key, parentType }: FieldPlan, path: Path) {
  let place = path;
  while (place !== undefined && typeof place.key === 'number') place = place.prev;
  return place ?? { prev: undefined, key, typename: parentType.name };
}
