// Fast path: the fields of an operation, found once. The plain path finds them in each run (graphql-js).
import type { GraphQLFieldResolver, GraphQLObjectType } from 'graphql';
import type { AskedField, Path, Run } from './run.ts';

/** The fields that an operation selects of one object type at one place, in the order of the reply. */
export interface ObjectPlan {
  readonly type: GraphQLObjectType;
  readonly fields: readonly FieldPlan[];
  /** Minimum bytes of names and punctuation in the reply, without values. */
  readonly frameBytes: number;
  /** Whether a field is named `__proto__`, which would set the prototype of an ordinary object. */
  readonly hasPrototypeName: boolean;
}

export interface FieldPlan extends AskedField {
  /** Its name in the reply. */
  readonly key: string;
  /** The property of the source that is its value; undefined when a resolver is needed. */
  readonly property: string | undefined;
  /** Its constant value, for `__typename`. */
  readonly constant: string | undefined;
  readonly resolve: GraphQLFieldResolver<unknown, unknown>;
  readonly complete: Complete;
  readonly isNonNull: boolean;
  /** Whether it is a single scalar or enum value, without fields below. */
  readonly isLeaf: boolean;
}

/**
 * Converts a resolved value into its part of the reply. `path` is the place of the value; undefined for a leaf.
 *
 * @throws the error that makes the value null.
 */
export type Complete = (run: Run, value: unknown, field: FieldPlan, path: Path) => unknown;
