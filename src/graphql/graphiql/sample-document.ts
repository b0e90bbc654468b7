import {
  type GraphQLAbstractType,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isAbstractType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isLeafType,
  isListType,
  isObjectType,
  isRequiredArgument,
  isRequiredInputField,
  type OperationTypeNode,
} from 'graphql';

export interface SampleDocument {
  readonly query: string;
  /** JSON with an empty place for each required value; '' without variables. */
  readonly variables: string;
}

type Field = GraphQLField<unknown, unknown>;

const mainMembers: readonly string[] = ['id', 'name', 'title', 'email', 'text', 'delta', 'status', 'createdAt'];

/** Plain members that a type shows, and that a part of an abstract type adds. */
const leavesMax = 8;
const partLeavesMax = 3;

/** Deeper inputs get an empty object. */
const inputDepthMax = 4;

/**
 * A document that calls one root field: required arguments as variables, and the plain members of what comes back. It is valid as it stands; a
 * reader fills in the variables.
 */
export function sampleDocument(schema: GraphQLSchema, operation: OperationTypeNode, field: Field): SampleDocument {
  const requiredArguments = field.args.filter(isRequiredArgument);
  const declaredVariables = requiredArguments.map(({ name, type }) => `$${name}: ${String(type)}`).join(', ');
  const givenArguments = requiredArguments.map(({ name }) => `${name}: $${name}`).join(', ');
  const lines = listSelection(schema, getNamedType(field.type), 2);
  const call = `${field.name}${inBrackets(givenArguments)}${lines.length === 0 ? '' : ` {\n${indentLines(indentLines(lines)).join('\n')}\n  }`}`;
  const name = `${field.name.charAt(0).toUpperCase()}${field.name.slice(1)}`;
  const values = Object.fromEntries(
    requiredArguments.map((argument) => [argument.name, emptyValue(argument.type, inputDepthMax)]),
  );
  return {
    query: `${operation} ${name}${inBrackets(declaredVariables)} {\n  ${call}\n}`,
    variables: requiredArguments.length === 0 ? '' : JSON.stringify(values, null, 2),
  };
}

const inBrackets = (text: string) => (text === '' ? '' : `(${text})`);

const indentLines = (lines: readonly string[]) => lines.map((line) => `  ${line}`);

/** Lines of a selection; none for a leaf. */
function listSelection(schema: GraphQLSchema, type: GraphQLNamedType, depth: number): readonly string[] {
  if (isLeafType(type)) return [];
  const fields = isObjectType(type) || isInterfaceType(type) ? Object.values(type.getFields()).filter(isPlain) : [];
  const nodes = fields.filter(({ name }) => name === 'nodes');
  // Of a list its nodes are enough.
  if (nodes.length > 0 && depth > 0) return listNested(schema, nodes, depth);
  const leaves = listMainLeaves(fields, leavesMax);
  // A payload without plain members shows what it holds; nested things are left out elsewhere.
  const nestedLines = leaves.length === 0 && depth > 0 ? listNested(schema, fields, depth) : [];
  const parts = isAbstractType(type) && depth > 0 ? listParts(schema, type, leaves) : [];
  const lines = [...(isAbstractType(type) ? ['__typename'] : []), ...leaves, ...nestedLines, ...parts];
  return lines.length === 0 ? ['__typename'] : lines;
}

/** Names of plain members: those that tell things apart come first. */
function listMainLeaves(fields: readonly Field[], max: number): readonly string[] {
  const names = fields.filter((field) => isLeafType(getNamedType(field.type))).map(({ name }) => name);
  const main = mainMembers.filter((name) => names.includes(name));
  return [...main, ...names.filter((name) => !main.includes(name))].slice(0, max);
}

const listNested = (schema: GraphQLSchema, fields: readonly Field[], depth: number) =>
  fields.flatMap((field) => block(field.name, listSelection(schema, getNamedType(field.type), depth - 1)));

/** What the types behind an interface or a union have beside the members that they share. */
function listParts(schema: GraphQLSchema, type: GraphQLAbstractType, sharedFields: readonly string[]): readonly string[] {
  // Members of one name may have several types: a document may not select both without an alias.
  const takenTypes = new Map<string, string>();
  return schema.getPossibleTypes(type).flatMap((part) => {
    const own = Object.values(part.getFields()).filter((field) => {
      if (!isPlain(field) || sharedFields.includes(field.name) || !isLeafType(getNamedType(field.type))) return false;
      const knownType = takenTypes.get(field.name) ?? String(field.type);
      takenTypes.set(field.name, knownType);
      return knownType === String(field.type);
    });
    const names = listMainLeaves(own, partLeavesMax);
    return names.length === 0 ? [] : block(`... on ${part.name}`, names);
  });
}

const block = (head: string, lines: readonly string[]) => [`${head} {`, ...indentLines(lines), '}'];

/** Whether a field can be selected without a value of the reader. */
function isPlain({ args, deprecationReason }: Field): boolean {
  return deprecationReason == null && !args.some(isRequiredArgument);
}

/** A value of the right shape for a reader to fill in. */
function emptyValue(type: GraphQLInputType, depth: number): unknown {
  const nullable = getNullableType(type);
  if (isListType(nullable)) return [];
  if (isEnumType(nullable)) return nullable.getValues()[0]?.name;
  if (!isInputObjectType(nullable)) return emptyScalars[getNamedType(nullable).name] ?? '';
  if (depth === 0) return {};
  const members = Object.values(nullable.getFields());
  const wantedMembers = nullable.isOneOf ? members.slice(0, 1) : members.filter(isRequiredInputField);
  return Object.fromEntries(wantedMembers.map((member) => [member.name, emptyValue(member.type, depth - 1)]));
}

const emptyScalars: Readonly<Record<string, unknown>> = { Int: 1, Float: 1, Boolean: false, JSON: {} };
