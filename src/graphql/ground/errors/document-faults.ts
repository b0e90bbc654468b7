import {
  type ASTNode,
  type DocumentNode,
  type GraphQLError,
  type GraphQLInputType,
  type GraphQLSchema,
  Kind,
  TypeInfo,
  type ValueNode,
  valueFromASTUntyped,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { type GraphFault, inputFault, joined, missingFault } from './input-faults.ts';

/** Where a node of a document stands. */
interface Place {
  /** The argument that holds it, then members and list places; for a node in no argument the fields down to it. '' for neither. */
  readonly path: string;
  readonly isInArgument: boolean;
  readonly type: GraphQLInputType | undefined;
}

/** What graphql-js found wrong with a document, at the places of the document. Each node of the document is visited once. */
export function documentFaults(
  schema: GraphQLSchema,
  document: DocumentNode,
  errors: readonly GraphQLError[],
): readonly (readonly GraphFault[])[] {
  const nodes = new Set(errors.flatMap((error) => error.nodes ?? []));
  const places = findPlaces(schema, document, nodes);
  return errors.map((error) => {
    // The last node is where it happens; the first may be a definition.
    const node = error.nodes?.findLast((one) => places.has(one));
    const place = node === undefined ? undefined : places.get(node);
    if (node === undefined || place === undefined) return [];
    const fault = faultAt(node, place, error);
    return fault === undefined ? [] : [fault];
  });
}

function faultAt(node: ASTNode, { path, isInArgument, type }: Place, error: GraphQLError): GraphFault | undefined {
  const argument = / argument "(\w+)" of type .* is required/.exec(error.message)?.[1];
  if (argument !== undefined) return missingFault(argument);
  const unset = /^Argument "(\w+)" of (?:non-null|required) type/.exec(error.message)?.[1];
  if (unset !== undefined) return missingFault(unset);
  if (isInArgument) {
    if (node.kind === Kind.OBJECT_FIELD) {
      const owner = path.slice(0, path.lastIndexOf('.'));
      return inputFault({ path: owner, type: undefined, value: undefined, error });
    }
    if (isLiteral(node)) return inputFault({ path, type, value: valueFromASTUntyped(node), error });
  }
  if (path === '') return undefined;
  const code = node.kind === Kind.ARGUMENT ? 'UNSUPPORTED_VALUE' : 'GRAPHQL_VALIDATION_FAILED';
  return { path, code, message: error.message, allowed: null };
}

function isLiteral(node: ASTNode): node is ValueNode {
  const kinds: readonly Kind[] = [Kind.INT, Kind.FLOAT, Kind.STRING, Kind.BOOLEAN, Kind.NULL, Kind.ENUM, Kind.LIST, Kind.OBJECT];
  return kinds.includes(node.kind);
}

function findPlaces(schema: GraphQLSchema, document: DocumentNode, nodes: ReadonlySet<ASTNode>): ReadonlyMap<ASTNode, Place> {
  const places = new Map<ASTNode, Place>();
  const typeInfo = new TypeInfo(schema);
  const enter = (node: ASTNode, _key: unknown, parent: Ancestor | undefined, keys: Keys, above: readonly Ancestor[]) => {
    if (!nodes.has(node)) return;
    // For a list TypeInfo has the type of its items already.
    const type = node.kind === Kind.LIST ? typeInfo.getParentInputType() : typeInfo.getInputType();
    places.set(node, { ...findPlace(node, parent, above, keys), type: type ?? undefined });
  };
  visit(document, visitWithTypeInfo(typeInfo, { enter }));
  return places;
}

/** For each variable of an operation the first place where an argument takes it: `input.name` for `rename(input: { name: $name })`. */
export function variablePlaces(document: DocumentNode): ReadonlyMap<string, string> {
  const places = new Map<string, string>();
  visit(document, {
    Variable: (node, _key, parent, keys, above) => {
      const { path, isInArgument } = findPlace(node, parent, above, keys);
      if (isInArgument && !places.has(node.name.value)) places.set(node.name.value, path);
    },
  });
  return places;
}

type Ancestor = ASTNode | readonly ASTNode[];
type Keys = readonly (string | number)[];

/** @param keys  of the nodes from the document on: a number is a place in the list that is the ancestor there. */
function findPlace(node: ASTNode, parent: Ancestor | undefined, above: readonly Ancestor[], keys: Keys): Omit<Place, 'type'> {
  let path = '';
  let isInArgument = false;
  let before: Ancestor | undefined;
  for (const [at, one] of [...above, ...(parent === undefined ? [] : [parent]), node].entries()) {
    if (!('kind' in one)) {
      if (before !== undefined && 'kind' in before && before.kind === Kind.LIST) path = joined(path, String(keys[at]));
    } else if (one.kind === Kind.ARGUMENT) {
      path = one.name.value;
      isInArgument = true;
    } else if (one.kind === Kind.OBJECT_FIELD) path = joined(path, one.name.value);
    else if (one.kind === Kind.FIELD) path = joined(path, one.alias?.value ?? one.name.value);
    before = one;
  }
  return { path, isInArgument };
}
