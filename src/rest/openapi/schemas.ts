import {
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLEnumType,
  type GraphQLInputField,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLScalarType,
  type GraphQLSchema,
  getNullableType,
  isAbstractType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
  isScalarType,
  Kind,
  type SelectionSetNode,
} from 'graphql';
import { camelNames, enumTexts, listRestMembers, type MemberNames } from '../../http/input/names.ts';
import { flatType, replyType, restName } from '../../lib/flat-inputs.ts';
import { type JsonSchema, orNull } from '../../wire/ground/json-schema.ts';
import { type MemberShape, untitled } from '../../wire/ground/shape.ts';
import { type Declarations, reference, referredNames } from './declarations.ts';

/** A document's fragments, and the members that its route leaves out. */
export interface SelectionContext {
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  /** Left out when null. */
  readonly omitNull: ReadonlySet<string>;
  /** Empty texts when null, and connections that become lists: with the description of each. */
  readonly blankNull: Readonly<Record<string, string>>;
  readonly lists: Readonly<Record<string, string>>;
  readonly shapes: Readonly<Record<string, MemberShape | 'unshown'>>;
  /** The components of this selection, by type, where they are not named after the type. */
  readonly names: Readonly<Record<string, string>>;
}

export interface SelectedObject {
  readonly type: GraphQLObjectType;
  readonly selection: SelectionSetNode;
}

/**
 * JSON Schemas of the routes' requests and replies. Equal ones share a component, named after the GraphQL type or as the route says. A second
 * form without a name of its own is numbered; a test refuses such names.
 */
export class SchemaPrinter {
  readonly components: Record<string, JsonSchema> = {};
  readonly #schema: GraphQLSchema;
  readonly #declarations: Declarations;
  readonly #inputs = new Map<string, string>();

  constructor(schema: GraphQLSchema, declarations: Declarations) {
    this.#schema = schema;
    this.#declarations = declarations;
  }

  /** Refers to a declared schema, which becomes a component with all that it refers to. */
  declared(name: string): JsonSchema {
    this.#use(reference(name));
    return reference(name);
  }

  #use(schema: JsonSchema): void {
    for (const name of referredNames(schema)) {
      const declaredSchema = this.#declarations.schemas[name];
      if (declaredSchema === undefined || Object.hasOwn(this.components, name)) continue;
      this.components[name] = titled(name, declaredSchema);
      this.#use(declaredSchema);
    }
  }

  /** The schema of a member: from GraphQL, with its declaration. */
  #member(coordinate: string, shownSchema: JsonSchema, isNullable: boolean, description: string | null | undefined): JsonSchema {
    const declaredSchema = this.#declarations.members[coordinate];
    if (declaredSchema !== undefined) this.#use(declaredSchema);
    const whole = { ...described(shownSchema, description), ...declaredSchema };
    return isNullable ? orNull(whole) : whole;
  }

  /** The schema of a selection: only selected members are sent. @param beside  whose members stand in the object too. */
  output(
    type: GraphQLOutputType,
    selection: SelectionSetNode | undefined,
    context: SelectionContext,
    beside?: SelectedObject,
  ): JsonSchema {
    if (!isNonNullType(type)) return orNull(this.#output(type, selection, context, beside));
    return this.#output(type.ofType, selection, context, beside);
  }

  input(type: GraphQLInputType, names: MemberNames): JsonSchema {
    if (!isNonNullType(type)) return orNull(this.#input(type, names));
    return this.#input(type.ofType, names);
  }

  #output(
    type: GraphQLOutputType,
    selection: SelectionSetNode | undefined,
    context: SelectionContext,
    beside?: SelectedObject,
  ): JsonSchema {
    if (isListType(type)) return { type: 'array', items: this.output(type.ofType, selection, context) };
    if (isEnumType(type)) return this.#enum(type);
    if (isScalarType(type)) return scalarSchema(type);
    if (isObjectType(type) && selection !== undefined) return this.#object(type, selection, context, beside);
    if (isAbstractType(type) && selection !== undefined) {
      return { anyOf: this.#schema.getPossibleTypes(type).map((possible) => this.#object(possible, selection, context)) };
    }
    return {};
  }

  #object(type: GraphQLObjectType, selection: SelectionSetNode, context: SelectionContext, beside?: SelectedObject): JsonSchema {
    const properties: Record<string, JsonSchema> = {};
    const requiredNames: string[] = [];
    const selectedObjects = [{ type, selection }, ...(beside === undefined ? [] : [beside])];
    const members = selectedObjects.flatMap(({ type: owner, selection: own }) =>
      [...this.#fields(owner, own, context)].map(([key, node]) => ({ owner, key, node })),
    );
    for (const { owner, key, node } of members) {
      const field = owner.getFields()[node.name.value];
      if (field === undefined) {
        properties[key] = { type: 'string', const: owner.name };
        continue;
      }
      const shape = memberOf(context.shapes, owner, key);
      if (shape === 'unshown') continue;
      if (shape !== undefined) {
        properties[key] = this.#shape(shape);
        if (!context.omitNull.has(key)) requiredNames.push(key);
        continue;
      }
      const isOmitted = context.omitNull.has(key) && !isNonNullType(field.type);
      const shownSchema = this.#shown(key, getNullableType(field.type), node.selectionSet, context);
      const blank = memberOf(context.blankNull, owner, key);
      const isNullable = !isNonNullType(field.type) && !isOmitted && blank === undefined;
      const description = blank ?? context.lists[key] ?? descriptionOnRest(field);
      properties[key] = this.#member(`${restName(owner)}.${field.name}`, shownSchema, isNullable, description);
      if (!isOmitted) requiredNames.push(key);
    }
    return this.#component(
      context.names[type.name] ?? restName(type),
      described({ type: 'object', properties, required: requiredNames }, descriptionOnRest(type)),
    );
  }

  #shape({ schema }: MemberShape): JsonSchema {
    const declared = this.#declarations.shapes?.[schema];
    if (declared === undefined) throw new Error(`no ${schema} is declared: wire/openapi.ts must import its file`);
    this.#use(declared);
    const { description, ...shown } = declared;
    return { ...shown, description };
  }

  /** A connection that the route shows as a list is that of its nodes. */
  #shown(key: string, type: GraphQLOutputType, selection: SelectionSetNode | undefined, context: SelectionContext): JsonSchema {
    const nodes = context.lists[key] !== undefined && isObjectType(type) ? type.getFields().nodes : undefined;
    if (nodes === undefined) return this.#output(type, selection, context);
    return this.output(nodes.type, memberSelection(selection, 'nodes'), context);
  }

  #fields(type: GraphQLObjectType, selection: SelectionSetNode, context: SelectionContext): Map<string, FieldNode> {
    const fields = new Map<string, FieldNode>();
    for (const node of selection.selections) {
      if (node.kind === Kind.FIELD) {
        fields.set(node.alias?.value ?? node.name.value, node);
        continue;
      }
      const fragment = node.kind === Kind.INLINE_FRAGMENT ? node : context.fragments.get(node.name.value);
      if (fragment === undefined || !this.#applies(fragment.typeCondition?.name.value, type)) continue;
      for (const [key, field] of this.#fields(type, fragment.selectionSet, context)) fields.set(key, field);
    }
    return fields;
  }

  #applies(condition: string | undefined, type: GraphQLObjectType): boolean {
    if (condition === undefined || condition === type.name) return true;
    const conditionType = this.#schema.getType(condition);
    return isAbstractType(conditionType) && this.#schema.isSubType(conditionType, type);
  }

  #input(type: GraphQLInputType, names: MemberNames): JsonSchema {
    if (isListType(type)) return { type: 'array', items: this.input(type.ofType, names) };
    if (isEnumType(type)) return this.#enum(type);
    if (isScalarType(type)) return scalarSchema(type);
    // A part of a wire format: its declaration says everything.
    if (!isInputObjectType(type)) return {};
    const flat = flatType(type);
    return flat.extensions.asJson === undefined ? this.#inputObject(flat, names) : {};
  }

  #inputObject(type: GraphQLInputObjectType, names: MemberNames): JsonSchema {
    const own = restName(type);
    const key = `${own} ${names.key}`;
    const knownName = this.#inputs.get(key);
    if (knownName !== undefined) return reference(knownName);
    const isTaken = this.components[own] !== undefined;
    // Routes that write the members otherwise.
    const name = this.#freeName(isTaken ? `${own}${names === camelNames ? 'Camel' : 'Snake'}` : own);
    this.#inputs.set(key, name);
    // Registered before its members are read: an input type may contain itself.
    this.components[name] = {};
    const properties: Record<string, JsonSchema> = {};
    const requiredNames: string[] = [];
    for (const field of listMembers(type)) {
      const member = names.wire(field.name);
      const shownSchema = this.#input(getNullableType(field.type), names);
      const shape = this.#member(`${own}.${field.name}`, shownSchema, !isNonNullType(field.type), descriptionOnRest(field));
      properties[member] = field.defaultValue === undefined ? shape : { ...shape, default: shownDefault(field.defaultValue) };
      if (isNonNullType(field.type) && field.defaultValue === undefined) requiredNames.push(member);
    }
    const choice = type.isOneOf ? { minProperties: 1, maxProperties: 1 } : {};
    this.components[name] = described(
      { type: 'object', properties, ...(requiredNames.length > 0 ? { required: requiredNames } : {}), ...choice },
      type.description,
    );
    // Routes with other spellings often write the members of a type alike.
    if (name === own || JSON.stringify(this.components[name]) !== JSON.stringify(this.components[own])) {
      return reference(name);
    }
    delete this.components[name];
    this.#inputs.set(key, own);
    return reference(own);
  }

  #enum(type: GraphQLEnumType): JsonSchema {
    // The contract calls it a text, and lists no values.
    if (type.extensions.isTextOnRest === true) return { type: 'string' };
    const shownTexts = [...enumTexts(type).keys()].sort();
    return this.#component(restName(type), described({ type: 'string', enum: shownTexts }, type.description));
  }

  #component(name: string, schema: JsonSchema): JsonSchema {
    if (Object.hasOwn(this.#declarations.schemas, name))
      throw new Error(`${name} is declared, so no route may select the GraphQL type`);
    const text = JSON.stringify(schema);
    for (let number = 1; ; number += 1) {
      const candidate = number === 1 ? name : `${name}${number}`;
      const knownSchema = this.components[candidate];
      if (knownSchema === undefined) this.components[candidate] = schema;
      if (knownSchema === undefined || JSON.stringify(knownSchema) === text) return reference(candidate);
    }
  }

  #freeName(name: string): string {
    for (let number = 1; ; number += 1) {
      const candidate = number === 1 ? name : `${name}${number}`;
      if (this.components[candidate] === undefined) return candidate;
    }
  }
}

/** What is said of a member, by its own name or as that of its type. */
function memberOf<Said>(said: Readonly<Record<string, Said>>, { name }: GraphQLObjectType, key: string): Said | undefined {
  return said[`${name}.${key}`] ?? said[key];
}

/** Readers and generators show the title where there is a choice. */
function titled(name: string, { [untitled]: isUntitled, ...declared }: JsonSchema): JsonSchema {
  if (isUntitled !== true) return { title: name, ...declared };
  const { description, ...shown } = declared;
  return { ...shown, description };
}

/** What a selection reads of one of its members. */
export function memberSelection(set: SelectionSetNode | undefined, key: string): SelectionSetNode | undefined {
  const foundSelection = set?.selections.find(
    (node) => node.kind === Kind.FIELD && (node.alias?.value ?? node.name.value) === key,
  );
  return foundSelection?.kind === Kind.FIELD ? foundSelection.selectionSet : undefined;
}

interface Described {
  readonly description?: string | null | undefined;
  readonly extensions: Readonly<Record<string, unknown>>;
}

/** A type or a field that GraphQL has for more than routes show may be described for them alone. */
function descriptionOnRest({ description, extensions: { restDescription } }: Described): string | null | undefined {
  return typeof restDescription === 'string' ? restDescription : description;
}

/** Those of the schema, which are sorted, with those that choose the form of the reply at their places. */
function listMembers(type: GraphQLInputObjectType): readonly GraphQLInputField[] {
  const own = listRestMembers(type);
  const more = Object.values(replyType(type)?.getFields() ?? {});
  return more.length === 0 ? own : [...own, ...more].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** A scalar may say more in `extensions.openapi` than its name does. */
function scalarSchema(type: GraphQLScalarType): JsonSchema {
  const own: unknown = type.extensions.openapi;
  if (typeof own === 'object' && own !== null) return described(own as JsonSchema, type.description);
  return scalarSchemas[type.name] ?? described({}, type.description);
}

const scalarSchemas: Readonly<Record<string, JsonSchema>> = {
  String: { type: 'string' },
  ID: { type: 'string' },
  Boolean: { type: 'boolean' },
  Int: { type: 'integer', format: 'int32' },
  Float: { type: 'number' },
  DateTime: { type: 'string', format: 'date-time' },
  File: { type: 'string', contentMediaType: 'application/octet-stream' },
  JSON: {},
};

function described(schema: JsonSchema, description: string | null | undefined): JsonSchema {
  return description === undefined || description === null || description === '' ? schema : { ...schema, description };
}

function shownDefault(value: unknown): unknown {
  return value instanceof Date ? value.toISOString() : value;
}
