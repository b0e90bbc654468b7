// Fast path: runs the fields of an object. The plain path is `executeFields` of graphql-js.
import { hasMembers } from '../json.ts';
import type { FieldPlan, ObjectPlan } from './plan.ts';
import type { Path, Run } from './run.ts';

type Data = Record<string, unknown>;

/** Resolves the fields of one object. @returns a promise only when a field made one. @throws the error of a non-null field. */
export function executeFields(run: Run, plan: ObjectPlan, source: unknown, path: Path): Data | Promise<Data> {
  run.spend(plan.frameBytes);
  const { fields } = plan;
  const data = emptyData(plan);
  let waiting: Promise<unknown>[] | undefined;
  let waitingKeys: string[] | undefined;
  try {
    for (const field of fields) {
      const value = executeField(run, field, source, path);
      if (value instanceof Promise) {
        // Reserves the field's place in the order of the reply.
        data[field.key] = undefined;
        waiting ??= [];
        waitingKeys ??= [];
        waiting.push(value);
        waitingKeys.push(field.key);
      } else data[field.key] = value;
    }
  } catch (error) {
    if (waiting === undefined) throw error;
    // The running ones may reject as well, which must not be unhandled.
    return Promise.all(waiting).finally(() => {
      throw error;
    }) as Promise<never>;
  }
  return waiting === undefined || waitingKeys === undefined ? data : filled(data, waitingKeys, waiting);
}

/** The root fields of a mutation, one after the other. */
export function executeSerially(run: Run, plan: ObjectPlan, source: unknown): Data | Promise<Data> {
  run.spend(plan.frameBytes);
  const { fields } = plan;
  const data = emptyData(plan);
  const from = (start: number): Data | Promise<Data> => {
    for (let index = start; index < fields.length; index += 1) {
      const field = fields[index];
      if (field === undefined) break;
      const value = executeField(run, field, source, undefined);
      if (value instanceof Promise) {
        return value.then((settled) => {
          data[field.key] = settled;
          return from(index + 1);
        });
      }
      data[field.key] = value;
    }
    return data;
  };
  return from(0);
}

function emptyData({ hasPrototypeName }: ObjectPlan): Data {
  return hasPrototypeName ? Object.create(null) : {};
}

function executeField(run: Run, field: FieldPlan, source: unknown, parent: Path): unknown {
  if (field.constant !== undefined) return field.constant;
  // The path of a leaf is made only when the leaf fails.
  let path: Path = field.isLeaf ? undefined : { prev: parent, key: field.key, typename: field.parentType.name };
  try {
    const value = field.property === undefined ? called(run, field, source, parent, path) : member(run, field, source, parent);
    const completed = isThenable(value)
      ? Promise.resolve(value).then((settled) => field.complete(run, settled, field, path))
      : field.complete(run, value, field, path);
    if (!(completed instanceof Promise)) return completed;
    return completed.then(undefined, (error: unknown) => {
      path ??= { prev: parent, key: field.key, typename: field.parentType.name };
      return run.fault(error, field.nodes, path, field.isNonNull);
    });
  } catch (error) {
    path ??= { prev: parent, key: field.key, typename: field.parentType.name };
    return run.fault(error, field.nodes, path, field.isNonNull);
  }
}

function member(run: Run, field: FieldPlan, source: unknown, parent: Path): unknown {
  const value = hasMembers(source) && field.property !== undefined ? source[field.property] : undefined;
  // graphql-js knows whether and how to call a method, and how to treat a source without members.
  return typeof value === 'function' || value === undefined ? called(run, field, source, parent, undefined) : value;
}

function called(run: Run, field: FieldPlan, source: unknown, parent: Path, known: Path): unknown {
  run.requireBudget();
  const path = known ?? { prev: parent, key: field.key, typename: field.parentType.name };
  return field.resolve(source, run.argumentsOf(field), run.context, run.info(field, path));
}

async function filled(data: Data, keys: readonly string[], waiting: readonly Promise<unknown>[]): Promise<Data> {
  const values = await Promise.all(waiting);
  for (const [index, key] of keys.entries()) data[key] = values[index];
  return data;
}

export function isThenable(value: unknown): value is PromiseLike<unknown> {
  if (typeof value !== 'object' || value === null) return false;
  return value instanceof Promise || ('then' in value && typeof value.then === 'function');
}
