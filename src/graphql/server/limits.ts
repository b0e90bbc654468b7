import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isInterfaceType,
  isListType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  visit,
} from 'graphql';
import type { DocumentErrorCode } from '../errors.ts';

/** What a document may ask for; each from the setting of its name. */
export interface DocumentLimits {
  readonly depthMax: number;
  readonly tokensMax: number;
  readonly aliasesMax: number;
  readonly directivesMax: number;
  readonly costMax: number;
  /** Items of a page when a variable gives its size and the size is not known. */
  readonly listMax: number;
}

/** Items that a list without `first` is taken to have: such lists are bounded by their one parent. */
const boundedListSize = 10;
/** The whole description of the schema, as tools ask for it. */
const introspectionCost = 500;
/** Rules of validation compare fragments with each other. */
const fragmentsMax = 100;

export function documentError(code: DocumentErrorCode, message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code } });
}

/** Aliases and directives as written: counted before validation, whose own cost grows with them. */
export function countFaults(document: DocumentNode, limits: DocumentLimits): GraphQLError[] {
  let aliases = 0;
  let directives = 0;
  visit(document, {
    Field: (node) => {
      if (node.alias !== undefined) aliases += 1;
    },
    Directive: () => {
      directives += 1;
    },
  });
  const faults: GraphQLError[] = [];
  const fragments = document.definitions.filter((node) => node.kind === Kind.FRAGMENT_DEFINITION).length;
  if (fragments > fragmentsMax) {
    const message = `The document has ${fragments} fragments; at most ${fragmentsMax} are allowed`;
    faults.push(documentError('GRAPHQL_TOO_MANY_FRAGMENTS', message));
  }
  if (aliases > limits.aliasesMax) {
    faults.push(
      documentError('GRAPHQL_TOO_MANY_ALIASES', `The document has ${aliases} aliases; at most ${limits.aliasesMax} are allowed`),
    );
  }
  if (directives > limits.directivesMax) {
    faults.push(
      documentError(
        'GRAPHQL_TOO_MANY_DIRECTIVES',
        `The document has ${directives} directives; at most ${limits.directivesMax} are allowed`,
      ),
    );
  }
  return faults;
}

export interface Weight {
  /** Levels of fields, introspection apart. */
  readonly depth: number;
  /** Objects the operation may make, roughly. */
  readonly cost: number;
  /** Whether `cost` hangs on the variables. */
  readonly isVariable: boolean;
}

/**
 * Weighs one operation of a document that is valid (so its fragments form no cycle). A fragment is weighed once for each type of list
 * size around it, never once for each spread: documents that double themselves cost nothing to refuse.
 */
export function weigh(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>>,
  limits: DocumentLimits,
): Weight {
  const root = schema.getRootType(operation.operation);
  const scale = new Scale(schema, document, variables, limits.listMax);
  return root === undefined || root === null ? lightest : scale.selectionSet(operation.selectionSet, root);
}

const lightest: Weight = { depth: 0, cost: 0, isVariable: false };

class Scale {
  readonly #schema: GraphQLSchema;
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly #variables: Readonly<Record<string, unknown>>;
  readonly #listMax: number;
  readonly #weighed = new Map<FragmentDefinitionNode, Weight>();

  constructor(schema: GraphQLSchema, document: DocumentNode, variables: Readonly<Record<string, unknown>>, listMax: number) {
    this.#schema = schema;
    this.#variables = variables;
    this.#listMax = listMax;
    this.#fragments = new Map(
      document.definitions.filter((node) => node.kind === Kind.FRAGMENT_DEFINITION).map((node) => [node.name.value, node]),
    );
  }

  selectionSet(set: SelectionSetNode, parent: GraphQLNamedType): Weight {
    let total = lightest;
    for (const node of set.selections) {
      if (node.kind === Kind.FIELD) total = side(total, this.#field(node, parent));
      else if (node.kind === Kind.FRAGMENT_SPREAD) total = side(total, this.#fragment(node.name.value));
      else total = side(total, this.selectionSet(node.selectionSet, this.#type(node.typeCondition?.name.value) ?? parent));
    }
    return total;
  }

  #fragment(name: string): Weight {
    const fragment = this.#fragments.get(name);
    if (fragment === undefined) return lightest;
    const known = this.#weighed.get(fragment);
    if (known !== undefined) return known;
    const type = this.#type(fragment.typeCondition.name.value);
    const weight = type === undefined ? lightest : this.selectionSet(fragment.selectionSet, type);
    this.#weighed.set(fragment, weight);
    return weight;
  }

  #field(node: FieldNode, parent: GraphQLNamedType): Weight {
    const name = node.name.value;
    if (name === '__schema' || name === '__type') return { depth: 1, cost: introspectionCost, isVariable: false };
    const field = isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[name] : undefined;
    if (field === undefined || node.selectionSet === undefined) return { depth: 1, cost: 0, isVariable: false };
    const inner = this.selectionSet(node.selectionSet, getNamedType(field.type));
    const size = this.#size(node, field, parent);
    return { depth: inner.depth + 1, cost: size.count * (1 + inner.cost), isVariable: inner.isVariable || size.isVariable };
  }

  /** How many objects a field makes. `first` of a connection counts once, at the connection itself. */
  #size(
    node: FieldNode,
    field: GraphQLField<unknown, unknown>,
    parent: GraphQLNamedType,
  ): { count: number; isVariable: boolean } {
    const first = field.args.find((arg) => arg.name === 'first');
    if (first === undefined) {
      const isPage = parent.name.endsWith('Connection');
      return { count: isList(field.type) && !isPage ? boundedListSize : 1, isVariable: false };
    }
    const value = node.arguments?.find((argument) => argument.name.value === 'first')?.value;
    if (value?.kind === Kind.INT) return { count: bounded(Number(value.value), this.#listMax), isVariable: false };
    if (value?.kind !== Kind.VARIABLE) return { count: bounded(first.defaultValue, this.#listMax), isVariable: false };
    return { count: bounded(this.#variables[value.name.value], this.#listMax), isVariable: true };
  }

  #type(name: string | undefined): GraphQLNamedType | undefined {
    return name === undefined ? undefined : this.#schema.getType(name);
  }
}

function side(left: Weight, right: Weight): Weight {
  return {
    depth: Math.max(left.depth, right.depth),
    cost: left.cost + right.cost,
    isVariable: left.isVariable || right.isVariable,
  };
}

/** A size outside the range is refused by the resolver; here it must only not make the document look cheap. */
function bounded(size: unknown, listMax: number): number {
  return typeof size === 'number' && size >= 1 && size <= listMax ? size : listMax;
}

function isList(type: GraphQLOutputType): boolean {
  return isListType(getNullableType(type));
}
