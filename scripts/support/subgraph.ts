import {
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  isInterfaceType,
  isObjectType,
  isSpecifiedDirective,
  isSpecifiedScalarType,
  lexicographicSortSchema,
  printType,
} from 'graphql';
import { findScope, rootFields } from '../../src/graphql/ground/builder/scopes.ts';

const head = `extend schema
  @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key", "@shareable"])

"""The scope that the key of the caller needs; without one, any key will do. Rights to things are checked beside it."""
directive @access(scope: String) on FIELD_DEFINITION
`;

/**
 * The schema as a subgraph of Federation 2, with the rule of each root field as a directive. Other subgraphs may add fields to whatever has an id; `_entities`
 * is not served, so a key cannot be resolved here.
 */
export function printedSubgraph(schema: GraphQLSchema): string {
  const custom = schema.getDirectives().filter((directive) => !isSpecifiedDirective(directive));
  if (custom.length > 0)
    throw new Error(`the print of the subgraph has no directive ${custom.map(({ name }) => name).join(', ')}`);
  const scopes = new Map(rootFields(schema).map(([operation, field]) => [operation, findScope(field) ?? null]));
  const types = Object.values(lexicographicSortSchema(schema).getTypeMap()).filter(
    (type) => !isSpecifiedScalarType(type) && !type.name.startsWith('__'),
  );
  return [head, ...types.map((type) => `${printedType(type, scopes)}\n`)].join('\n');
}

function printedType(type: GraphQLNamedType, scopes: ReadonlyMap<string, string | null>): string {
  const text = printType(type);
  if (type.name === 'PageInfo') return withDirective(text, type.name, '@shareable');
  if (isNode(type)) return withDirective(text, type.name, '@key(fields: "id", resolvable: false)');
  if (!isObjectType(type) || !['Query', 'Mutation', 'Subscription'].includes(type.name)) return text;
  return withScopes(text, type, scopes);
}

/** A thing with an id of its own: `Node`, whose ids are global. */
function isNode(type: GraphQLNamedType): boolean {
  return (
    isObjectType(type) && type.getInterfaces().some((implemented) => isInterfaceType(implemented) && implemented.name === 'Node')
  );
}

/** Behind the head of the type: its interfaces come first. */
function withDirective(text: string, name: string, directive: string): string {
  const printed = text.replace(new RegExp(`^(type ${name}(?: implements [\\w &]+)?) \\{$`, 'm'), `$1 ${directive} {`);
  if (printed === text) throw new Error(`the print of ${name} has no place for ${directive}`);
  return printed;
}

/** Behind each field: a line of two blanks, a name, and at its end the type. */
function withScopes(text: string, type: GraphQLObjectType, scopes: ReadonlyMap<string, string | null>): string {
  let current = '';
  const lines = text.split('\n').map((line) => {
    current = /^ {2}(\w+)(?:\(|:)/.exec(line)?.[1] ?? current;
    if (!/^ {2}(?:\w+(?:\(.*\))?|\)): [\w[\]!]+$/.test(line)) return line;
    const scope = scopes.get(`${type.name}.${current}`);
    if (scope === undefined) throw new Error(`${type.name}.${current} has no rule`);
    return scope === null ? `${line} @access` : `${line} @access(scope: "${scope}")`;
  });
  const written = lines.filter((line) => / @access(?:\(|$)/.test(line)).length;
  const count = Object.keys(type.getFields()).length;
  if (written !== count) throw new Error(`${type.name} has ${count} fields, and ${written} rules in its print`);
  return lines.join('\n');
}
