import type { GraphQLFieldResolver, GraphQLObjectType } from 'graphql';
import type { AskedField, Path, Run } from './run.ts';

/** The fields asked of one object type at one place of a document, in the order of the reply. */
export interface ObjectPlan {
  readonly type: GraphQLObjectType;
  readonly fields: readonly FieldPlan[];
  /** Bytes of the reply that names and marks take at least, values apart. */
  readonly frameBytes: number;
  /** Whether a field has the name that sets the prototype of an ordinary object. */
  readonly hasPrototypeName: boolean;
}

export interface FieldPlan extends AskedField {
  /** Its name in the reply. */
  readonly key: string;
  /** The member of the source that is its value; undefined when a resolver has to be asked. */
  readonly property: string | undefined;
  /** Its value wherever it stands: that of `__typename`. */
  readonly constant: string | undefined;
  readonly resolve: GraphQLFieldResolver<unknown, unknown>;
  readonly complete: Complete;
  readonly isNonNull: boolean;
  /** Whether it is one scalar or enum value, so that nothing stands below it. */
  readonly isLeaf: boolean;
}

/**
 * Makes the part of the reply that shows a resolved value. `path` is the place of the value; undefined for a leaf.
 *
 * @throws what makes the value null, for who knows whether it may be.
 */
export type Complete = (run: Run, value: unknown, field: FieldPlan, path: Path) => unknown;
