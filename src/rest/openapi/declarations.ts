import {
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isInputObjectType,
  isInterfaceType,
  isListType,
  isObjectType,
} from 'graphql';
import { flatType, flatTypeNamed, replyType } from '../../lib/flat-inputs.ts';
import { annotationPattern, type JsonSchema } from '../../wire/ground/json-schema.ts';

/** What the description of the REST API says beyond the GraphQL schema; checked against it by tests. */
export interface Declarations {
  /** Component schemas, by name. */
  readonly schemas: Readonly<Record<string, JsonSchema>>;
  /**
   * More about the members of GraphQL types, by schema coordinate (`ResponseInput.input`): the whole of what REST reads as JSON; limits,
   * values, defaults and `x-` keys of anything else.
   */
  readonly members: Readonly<Record<string, JsonSchema>>;
  /** The members of replies that REST shows in a form of its own (`wire/ground/shape.ts`). */
  readonly shapes?: Readonly<Record<string, JsonSchema>>;
}

const referencePrefix = '#/components/schemas/';
/** The keywords that may be added to a type of GraphQL. */
const refinements: Readonly<Record<string, readonly string[]>> = {
  String: ['enum', 'minLength', 'maxLength', 'pattern'],
  ID: ['pattern'],
  Int: ['minimum', 'maximum'],
  Float: ['minimum', 'maximum'],
};

/** The keywords that a declared member may repeat. */
const jsonTypes: Readonly<Record<string, string>> = {
  String: 'string',
  ID: 'string',
  Boolean: 'boolean',
  Int: 'integer',
  Float: 'number',
};

/** @throws Error naming every declaration that does not hold, for a start that must fail. */
export function checkDeclarations(schema: GraphQLSchema, { schemas, members }: Declarations): void {
  const problems: string[] = [];
  const check = (place: string, declaredSchema: JsonSchema) => {
    for (const name of referredNames(declaredSchema)) {
      const type = flatTypeNamed(schema, name) ?? schema.getType(name);
      const isKnown = Object.hasOwn(schemas, name) || type !== undefined || name === 'Error';
      if (!isKnown) problems.push(`${place} refers to ${name}, which is no schema`);
    }
  };
  for (const [name, declared] of Object.entries(schemas)) {
    check(name, declared);
  }
  for (const [coordinate, declared] of Object.entries(members)) {
    check(coordinate, declared);
    const field = fieldAt(schema, coordinate);
    if (field === undefined) problems.push(`${coordinate} is no member of the schema`);
    else problems.push(...surplus(field, declared).map((key) => `${coordinate} is ${String(field.type)}: ${key} contradicts it`));
  }
  if (problems.length > 0) throw new Error(`OpenAPI declarations that do not hold\n  ${problems.join('\n  ')}`);
}

/** Keywords that a declared member must not have: GraphQL's type decides them. */
function surplus(field: Field, declaredSchema: JsonSchema): readonly string[] {
  const fieldType = getNamedType(field.type);
  const { name, extensions } = isInputObjectType(fieldType) ? flatType(fieldType) : fieldType;
  if (extensions.asJson !== undefined) return [];
  const isList = isListType(getNullableType(field.type));
  const allowedKeywords = isList ? ['items', 'maxItems', 'minItems'] : (refinements[name] ?? []);
  const type = isList ? 'array' : jsonTypes[name];
  return Object.keys(declaredSchema).filter(
    (key) => !annotationPattern.test(key) && !allowedKeywords.includes(key) && !(key === 'type' && declaredSchema.type === type),
  );
}

type Field = GraphQLField<unknown, unknown> | GraphQLInputField;

function fieldAt(schema: GraphQLSchema, coordinate: string): Field | undefined {
  const [typeName = '', fieldName = ''] = coordinate.split('.');
  const type = flatTypeNamed(schema, typeName) ?? schema.getType(typeName);
  const isKnown = isObjectType(type) || isInterfaceType(type) || isInputObjectType(type);
  const own = isKnown ? type.getFields()[fieldName] : undefined;
  return own ?? (isInputObjectType(type) ? replyType(type)?.getFields()[fieldName] : undefined);
}

/** Names of the component schemas that a schema refers to, itself or deeper. */
export function referredNames(schema: unknown): ReadonlySet<string> {
  const names = new Set<string>();
  const visit = (value: unknown) => {
    if (Array.isArray(value)) for (const item of value) visit(item);
    else if (typeof value === 'object' && value !== null) {
      for (const [key, member] of Object.entries(value)) {
        if (key === '$ref' && typeof member === 'string') names.add(member.slice(referencePrefix.length));
        else visit(member);
      }
    }
  };
  visit(schema);
  return names;
}

export function reference(name: string): JsonSchema {
  return { $ref: `${referencePrefix}${name}` };
}
