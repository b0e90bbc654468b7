import {
  type DefinitionNode,
  type DocumentNode,
  type FieldNode,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  isInputType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  parse,
  type SelectionSetNode,
  type TypeNode,
  typeFromAST,
  type VariableDefinitionNode,
  validate,
  valueFromAST,
} from 'graphql';
import type { Scope } from '../../entities/people/caller.ts';
import { readVariable } from '../../lib/flat-inputs.ts';
import type { DeclaredRoute } from '../route.ts';

/** The policy table, as in domain/ground/access/operation-scopes.ts. */
export type OperationScopes = Readonly<Record<string, Scope | null>>;

/** A variable of a route's document. */
export interface DocumentVariable {
  readonly name: string;
  readonly type: GraphQLInputType;
  readonly isRequired: boolean;
  /** Undefined: none. */
  readonly defaultValue: unknown;
}

/** A route's document, parsed and checked. */
export interface RowDocument {
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  readonly rootType: GraphQLObjectType;
  readonly rootNode: FieldNode;
  readonly rootField: GraphQLField<unknown, unknown>;
  /** The member of the result that holds the root field. */
  readonly responseKey: string;
  readonly scope: Scope | null;
  readonly variables: ReadonlyMap<string, DocumentVariable>;
}

/**
 * Parses a document and checks what every route promises: one operation, one root field, and that field in the policy table. Whether it is
 * valid against the schema is asked apart, by `checkDocument`.
 *
 * @throws Error saying what is wrong, for a start that must fail.
 */
export function compileDocument(schema: GraphQLSchema, source: string, scopes: OperationScopes): RowDocument {
  const document = parse(source, { noLocation: false });
  const operations = document.definitions.filter((node) => node.kind === Kind.OPERATION_DEFINITION);
  const [operation] = operations;
  if (operation === undefined || operations.length !== 1) throw new Error('the document must hold exactly one operation');
  const [rootNode] = operation.selectionSet.selections;
  if (rootNode === undefined || operation.selectionSet.selections.length !== 1 || rootNode.kind !== Kind.FIELD) {
    throw new Error('the operation must select exactly one root field');
  }
  const rootType = findRootType(schema, operation.operation);
  const rootField = rootType.getFields()[rootNode.name.value];
  if (rootField === undefined) throw new Error(`${rootType.name} has no field ${rootNode.name.value}`);
  const policyKey = `${rootType.name}.${rootField.name}`;
  const scope = scopes[policyKey];
  if (scope === undefined) throw new Error(`${policyKey} is not in domain/ground/access/operation-scopes.ts`);
  return {
    document,
    operation,
    rootType,
    rootNode,
    rootField,
    responseKey: rootNode.alias?.value ?? rootNode.name.value,
    scope,
    variables: new Map((operation.variableDefinitions ?? []).map((node) => variable(schema, node))),
  };
}

/** @throws Error saying what of a document is not valid against the schema. Takes about a millisecond. */
export function checkDocument(schema: GraphQLSchema, source: string): void {
  const errors = validate(schema, parse(source));
  if (errors.length > 0) throw new Error(errors.map((error) => error.message).join('; '));
}

interface RepliedPart {
  readonly type: GraphQLOutputType;
  readonly selectionSet: SelectionSetNode | undefined;
  /** Of a member: what the document selects beside it. */
  readonly beside?: { readonly type: GraphQLObjectType; readonly selection: SelectionSetNode };
}

/** What a route replies with: the value of its root field, or a member of it. @throws Error when the document does not select the member. */
export function repliedPart(
  { member }: Pick<DeclaredRoute, 'member'>,
  { rootField, rootNode: { selectionSet } }: Pick<RowDocument, 'rootField' | 'rootNode'>,
): RepliedPart {
  if (member === undefined) return { type: rootField.type, selectionSet };
  const node = selectionSet?.selections.find(
    (selectionNode): selectionNode is FieldNode =>
      selectionNode.kind === Kind.FIELD && (selectionNode.alias ?? selectionNode.name).value === member,
  );
  const payload = getNamedType(rootField.type);
  const field = node === undefined || !isObjectType(payload) ? undefined : payload.getFields()[node.name.value];
  if (field === undefined || !isObjectType(payload)) throw new Error(`the reply is the member ${member}, which is not selected`);
  const others = (selectionSet?.selections ?? []).filter((selectionNode) => selectionNode !== node);
  const beside = { type: payload, selection: { kind: Kind.SELECTION_SET, selections: others } as const };
  return { type: field.type, selectionSet: node?.selectionSet, ...(others.length === 0 ? {} : { beside }) };
}

/**
 * The document as `execute` runs it: it takes the variables as the readers of the route read them, with their defaults. graphql-js would coerce them a
 * second time, and knows only one form of an input.
 */
export function readDocument(document: DocumentNode): DocumentNode {
  const type: TypeNode = { kind: Kind.NAMED_TYPE, name: { kind: Kind.NAME, value: readVariable } };
  const definitions = document.definitions.map((node): DefinitionNode => {
    if (node.kind !== Kind.OPERATION_DEFINITION) return node;
    const variables = (node.variableDefinitions ?? []).map(({ kind, variable }) => ({ kind, variable, type }));
    return { ...node, variableDefinitions: variables };
  });
  return { ...document, definitions };
}

/** Whether a type is the one of the File scalar. */
export function isFileType(type: GraphQLInputType): boolean {
  return getNamedType(type).name === 'File';
}

function findRootType(schema: GraphQLSchema, operation: OperationTypeNode): GraphQLObjectType {
  const type = {
    [OperationTypeNode.QUERY]: schema.getQueryType(),
    [OperationTypeNode.MUTATION]: schema.getMutationType(),
    [OperationTypeNode.SUBSCRIPTION]: schema.getSubscriptionType(),
  }[operation];
  if (type === undefined || type === null) throw new Error(`the schema has no ${operation}`);
  return type;
}

function variable(schema: GraphQLSchema, node: VariableDefinitionNode): [string, DocumentVariable] {
  const name = node.variable.name.value;
  const type = typeFromAST(schema, node.type);
  if (type === undefined || !isInputType(type)) throw new Error(`$${name} has no input type`);
  const defaultValue: unknown = node.defaultValue === undefined ? undefined : valueFromAST(node.defaultValue, type);
  const isRequired = node.type.kind === Kind.NON_NULL_TYPE && defaultValue === undefined;
  return [name, { name, type, isRequired, defaultValue }];
}
