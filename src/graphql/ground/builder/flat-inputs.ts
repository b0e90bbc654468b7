import type { BaseTypeRef, InputRef, PothosTypeConfig, SchemaTypes } from '@pothos/core';
import {
  type GraphQLField,
  GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLNamedType,
  GraphQLSchema,
  isInputObjectType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
  isUnionType,
} from 'graphql';
import type { z } from 'zod';
import { Faults } from '../../../domain/ground/faults.ts';
import { compileReader } from '../../../http/input/reader.ts';
import { type FlatTypes, flatType, restName } from '../../../lib/flat-inputs.ts';
import { hasMembers, isObject } from '../../../lib/json/json.ts';
import { BodyTypes } from './body-types.ts';
import type { GraphContext } from './context.ts';

/** A place in an input: `['enabledTools', 0, 'vectorStoreIds']`. */
export type Place = readonly (string | number)[];

/** How one value of GraphQL becomes flat. */
export interface Conversion {
  /** @param value  never null or undefined; what is inside it is flat already. */
  flatten(value: unknown): unknown;
  /** A place in the flat value → the same place in the value, which may be undefined: faults may name what is not there. */
  place(place: Place, value: unknown): Place;
}

interface Member extends Partial<Conversion> {
  /** Its name in the flat form; with a dot, that of a member in an object there: `filters.allowedDomains`. */
  readonly name?: string;
  /** Its flat members stand beside those of the input that has it. */
  readonly isSpread?: true;
  /** What null becomes; default: null. Of a spread member: an object. */
  readonly ofNull?: unknown;
  /** Of a member of an argument `input`: it is JSON to GraphQL, and is read as REST reads it. */
  readonly isJson?: true;
}

/** What a flat form is, for `flatInput`. */
export interface FlatForm {
  /** The body that REST reads and OpenAPI shows (`wire/ground/body.ts`): the domain's shape. Without one: the type itself with the names of `members`. */
  readonly body?: z.ZodType;
  /** REST has the input inside a member of the type JSON, so no type of REST says what its members become there. */
  readonly isInJson?: true;
  /** Of an input `@oneOf`: how the value of each member becomes flat. */
  readonly choices?: Readonly<Record<string, Conversion>>;
  /** Of another input: the members that are not the same in both forms. A text is the flat name. */
  readonly members?: Readonly<Record<string, string | Member>>;
}

/** What `builder.inputType` returns. */
type InputType = InputRef<unknown> & Pick<BaseTypeRef<SchemaTypes, PothosTypeConfig>, 'updateConfig'>;

/**
 * Gives an input type another form on REST and in the domain. Before a resolver of a root field runs, its arguments become flat, wherever the type
 * stands in them; REST reads the flat form itself. So a resolver and the domain know the flat form only, and the reference that is returned has
 * its shape. Faults name places of the flat form: `documentPath` says where those are in the document.
 *
 *     export const ShapeInput = flatInput<z.output<typeof shapeBody>>(
 *       builder.inputType('ShapeInput', { isOneOf: true, fields: (t) => ({ circle: …, square: … }) }),
 *       { body: shapeBody, choices: { circle: tagged('type', 'CIRCLE'), square: tagged('type', 'SQUARE') } },
 *     );
 *     export const CreateAgentInput = flatInput<AgentInput>(
 *       builder.inputType('CreateAgentInput', { fields: (t) => ({ pictureUrl: … }) }),
 *       { members: { pictureUrl: 'src' } },
 *     );
 */
export function flatInput<Shape>(type: InputRef<unknown>, flatForm: FlatForm): InputRef<Shape> {
  (type as InputType).updateConfig((config) => ({ ...config, extensions: { ...config.extensions, flatForm } }));
  return type as InputRef<Shape>;
}

function formSaid({ extensions }: GraphQLInputObjectType): FlatForm | undefined {
  return extensions.flatForm as FlatForm | undefined;
}

/** Of a choice: the value itself. */
export const itself: Conversion = { flatten: (value) => value, place: (place) => place };

/** Of a choice: the members of its value beside a member that names the choice. `{circle: {radius}}` → `{type: 'CIRCLE', radius}` */
export function tagged(name: string, tag: unknown): Conversion {
  return {
    flatten: (value) => ({ [name]: tag, ...(value as object) }),
    place: (place) => (place[0] === name ? [] : place),
  };
}

/** Of a choice: its value in a member, beside others. `held('data', {type: 'CIRCLE'})`: `{circle: {radius}}` → `{type: 'CIRCLE', data: {radius}}` */
export function held(name: string, others: Readonly<Record<string, unknown>> = {}): Conversion {
  return {
    flatten: (value) => ({ ...others, [name]: value }),
    place: ([first, ...rest]) => (first === name ? rest : []),
  };
}

/** Of a member: a list of one value, where REST writes lists. */
export const listOfOne: Conversion = { flatten: (value) => [value], place: ([_index, ...rest]) => rest };

/** Of a member: an object by name, of a list of `{name, value}`. */
export const byName: Conversion = {
  flatten: (value) => Object.fromEntries((value as readonly NamedValue[]).map(({ name, value: own }) => [name, own])),
  place: ([first, ...rest], value) => {
    const index = Array.isArray(value) ? (value as readonly NamedValue[]).findIndex(({ name }) => name === first) : -1;
    return index < 0 ? [] : [index, 'value', ...rest];
  },
};

interface NamedValue {
  readonly name: string;
  readonly value: unknown;
}

/**
 * Ties each flat form to its type, and takes what only flat forms need out of a schema. Called once, before anything reads the schema.
 *
 * @throws Error naming every form that does not fit its types.
 */
export function withFlatForms(built: GraphQLSchema): GraphQLSchema {
  const flatTypes = new Map<string, GraphQLInputObjectType>();
  const bodyTypes = new BodyTypes(built);
  const faults: string[] = [];
  for (const type of Object.values(built.getTypeMap()).filter(isInputObjectType)) {
    const form = formSaid(type);
    if (form === undefined) continue;
    const { name } = type;
    const body = form.body && bodyTypes.type(form.body);
    const formMembers = type.isOneOf ? form.choices : form.members;
    const members = type.getFields();
    faults.push(
      ...Object.keys(formMembers ?? {}).flatMap((member) => (member in members ? [] : [`${name} has no member ${member}`])),
    );
    if (body === undefined && form.isInJson !== true) faults.push(...unnamed(name, form.members ?? {}));
    if (type.isOneOf) faults.push(...Object.keys(members).flatMap((member) => unsaid(name, member, form.choices)));
    const flat = body ?? withNames(type, form.members ?? {});
    if (body === undefined) flatTypes.set(name, flat);
    type.extensions = { ...type.extensions, flatType: flat };
  }
  if (faults.length > 0) throw new Error(`flat forms of inputs do not hold\n  ${faults.join('\n  ')}`);
  for (const type of bodyTypes.types()) flatTypes.set(type.name, type);
  const schema = withoutUnused(built);
  const inputs = Object.values(built.getTypeMap()).filter(isInputObjectType);
  for (const type of inputs) if (restName(type) !== type.name) flatTypes.set(restName(type), type);
  const extensions: FlatTypes = { flatTypes };
  schema.extensions = { ...schema.extensions, ...extensions };
  return schema;
}

function unsaid(name: string, member: string, choices: FlatForm['choices']): string[] {
  return choices !== undefined && member in choices ? [] : [`${name} does not say what ${member} is in its flat form`];
}

/** Without a body, members have other names at most. */
function unnamed(name: string, members: NonNullable<FlatForm['members']>): string[] {
  const others = Object.entries(members).filter(([, memberForm]) => typeof memberForm !== 'string' || memberForm.includes('.'));
  return others.map(([member]) => `${name}.${member} has another form on REST, which needs a body`);
}

/** The same type with other names. */
function withNames(type: GraphQLInputObjectType, members: NonNullable<FlatForm['members']>): GraphQLInputObjectType {
  const config = type.toConfig();
  const fields = Object.entries(config.fields).map(([name, field]) => [toMember(members[name]).name ?? name, field] as const);
  return new GraphQLInputObjectType({ ...config, fields: Object.fromEntries(fields.sort(([a], [b]) => (a < b ? -1 : 1))) });
}

function toMember(memberForm: string | Member | undefined): Member {
  return typeof memberForm === 'string' ? { name: memberForm } : (memberForm ?? {});
}

/** Without inputs, enums and scalars that nothing of the schema uses. */
function withoutUnused(schema: GraphQLSchema): GraphQLSchema {
  const { types, ...config } = schema.toConfig();
  const isRoot = (type: GraphQLNamedType) => isObjectType(type) || isInterfaceType(type) || isUnionType(type);
  const usedSchema = new GraphQLSchema({ ...config, types: types.filter(isRoot) });
  return new GraphQLSchema({ ...config, types: types.filter(({ name }) => usedSchema.getType(name) !== undefined) });
}

type Field = Pick<GraphQLField<unknown, GraphContext>, 'args'>;
type Arguments = Readonly<Record<string, unknown>>;

/** Of the arguments of a root field; undefined when none has a flat form. */
export function flattener({ args }: Field): ((givenArguments: Arguments) => Arguments) | undefined {
  const forms = args.flatMap(({ name, type }) => {
    const form = findForm(type);
    return form === undefined ? [] : [[name, form] as const];
  });
  if (forms.length === 0) return undefined;
  return (given) => {
    const flat: Record<string, unknown> = { ...given };
    for (const [name, form] of forms) if (hasValue(given[name])) flat[name] = form.flatten(given[name]);
    return flat;
  };
}

/**
 * A place as the domain names it, in the words of the document: `enabledTools[0].vectorStoreIds` →
 * `['input', 'enabledTools', 0, 'fileSearch', 'vectorStoreIds']`.
 *
 * @param given  the arguments of the root field as the document has them.
 * @param flatPath  begins with the name of an argument, or with a member of the argument `input`, else of another one such as `filter`.
 */
export function documentPath({ args }: Field, givenArguments: Arguments, flatPath: string): Place {
  const place = parsePlace(flatPath);
  const [first, ...rest] = place;
  const input = args.find(({ name }) => name === 'input');
  const argument = args.find(({ name }) => name === first);
  // The input of a response has a member `input`, which is what a fault of the domain names.
  const isMember = argument === input && input !== undefined && hasMember(input.type, 'input');
  if (argument !== undefined && !isMember) return [argument.name, ...placeIn(argument.type, givenArguments[argument.name], rest)];
  const holder = input ?? args.find(({ type }) => typeof first === 'string' && hasMember(type, first));
  return holder === undefined ? place : [holder.name, ...placeIn(holder.type, givenArguments[holder.name], place)];
}

function hasMember(type: GraphQLInputType, name: string): boolean {
  const innerType = namedType(type);
  return isInputObjectType(innerType) && name in innerType.getFields();
}

/** `tools[2].url` → `['tools', 2, 'url']` */
function parsePlace(path: string): Place {
  return [...path.matchAll(/\[(\d+)\]|[^.[\]]+/g)].map(([text, index]) => (index === undefined ? text : Number(index)));
}

interface ValueForm {
  flatten(value: unknown): unknown;
  /** @param value  as the document has it; undefined where there is none. */
  place(value: unknown, place: Place): Place;
}

function placeIn(type: GraphQLInputType, value: unknown, place: Place): Place {
  return findForm(type)?.place(value, place) ?? place;
}

/** Undefined: the type has one form only, and so has everything in it. */
function findForm(type: GraphQLInputType): ValueForm | undefined {
  if (isNonNullType(type)) return findForm(type.ofType);
  if (isListType(type)) {
    const item = findForm(type.ofType);
    return item === undefined ? undefined : listForm(item);
  }
  if (!isInputObjectType(type) || !hasFlatForm(type, new Set())) return undefined;
  return type.isOneOf && formSaid(type) !== undefined ? choiceForm(type) : objectForm(type);
}

function hasFlatForm(type: GraphQLInputObjectType, seenTypes: Set<string>): boolean {
  if (seenTypes.has(type.name)) return false;
  seenTypes.add(type.name);
  if (flatType(type) !== type) return true;
  return Object.values(type.getFields()).some((field) => {
    const inner = namedType(field.type);
    return isInputObjectType(inner) && hasFlatForm(inner, seenTypes);
  });
}

function namedType(type: GraphQLInputType): GraphQLInputType {
  return isNonNullType(type) || isListType(type) ? namedType(type.ofType) : type;
}

function listForm(item: ValueForm): ValueForm {
  return {
    flatten: (value) => (Array.isArray(value) ? value.map((one) => (hasValue(one) ? item.flatten(one) : one)) : value),
    place: (value, [index, ...rest]) => {
      if (typeof index !== 'number') return index === undefined ? [] : [index, ...rest];
      return [index, ...item.place(Array.isArray(value) ? value[index] : undefined, rest)];
    },
  };
}

interface ObjectMember {
  readonly name: string;
  readonly flatPath: readonly string[];
  readonly isSpread: boolean;
  readonly ofNull: unknown;
  readonly own: Partial<Conversion>;
  readonly form: ValueForm | undefined;
}

/** An input without a form of its own may hold some that have one, and may hold itself: what its members are is looked up at their first use. */
function objectForm(type: GraphQLInputObjectType): ValueForm {
  const declaredMembers = formSaid(type)?.members ?? {};
  const members = lazily(() =>
    Object.values(type.getFields()).map(({ name, type: inner }): ObjectMember => {
      const { name: flatName = name, isSpread, ofNull, isJson, ...own } = toMember(declaredMembers[name]);
      const form = isJson === true ? jsonForm(flatType(type), flatName) : findForm(inner);
      return { name, flatPath: flatName.split('.'), isSpread: isSpread === true, ofNull, own, form };
    }),
  );
  return {
    flatten: (value) => {
      if (!hasMembers(value)) return value;
      const flat: Record<string, unknown> = {};
      for (const { name, flatPath, isSpread, ofNull, own, form } of members()) {
        const memberValue = value[name];
        if (memberValue === undefined) continue;
        const inner = memberValue === null ? null : (form?.flatten(memberValue) ?? memberValue);
        const convertedValue = inner === null ? (ofNull ?? null) : (own.flatten?.(inner) ?? inner);
        if (isSpread) Object.assign(flat, convertedValue);
        else put(flat, flatPath, convertedValue);
      }
      return flat;
    },
    place: (value, place) => {
      if (place.length === 0) return [];
      const givenMembers = hasMembers(value) ? value : {};
      const foundMember = memberAt(members(), givenMembers, place);
      if (foundMember === undefined) return place;
      const { name, flatPath, isSpread, own, form } = foundMember;
      const rest = isSpread ? place : place.slice(flatPath.length);
      const inside = own.place?.(rest, givenMembers[name]) ?? rest;
      return [name, ...(form?.place(givenMembers[name], inside) ?? inside)];
    },
  };
}

/** @throws DomainError of the first fault, with all of them. */
function jsonForm(flat: GraphQLInputObjectType, member: string): ValueForm {
  const type = flat.getFields()[member]?.type;
  if (type === undefined) throw new Error(`${flat.name} has no member ${member}`);
  const read = compileReader(type);
  return {
    flatten: (value) => {
      const faults = new Faults();
      faults.path.push(member);
      const flatValue = read(value, faults);
      faults.throwIfAny();
      return flatValue;
    },
    place: (_value, place) => place,
  };
}

/** The member that a flat place is in: by its flat name, else the spread one that was given. */
function memberAt(members: readonly ObjectMember[], givenMembers: object, place: Place): ObjectMember | undefined {
  const isAt = (flatPath: readonly string[]) => flatPath.every((name, index) => index >= place.length || name === place[index]);
  const spread = members.filter(({ isSpread }) => isSpread);
  return (
    members.find(({ flatPath, isSpread }) => !isSpread && isAt(flatPath)) ??
    spread.find(({ name }) => hasValue((givenMembers as Readonly<Record<string, unknown>>)[name])) ??
    spread[0]
  );
}

function put(flat: Record<string, unknown>, [first = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) {
    flat[first] = value;
    return;
  }
  const inner = isObject(flat[first]) ? { ...flat[first] } : {};
  put(inner, rest, value);
  flat[first] = inner;
}

function choiceForm(type: GraphQLInputObjectType): ValueForm {
  const { choices = {} } = formSaid(type) ?? {};
  const inner = lazily(() => new Map(Object.values(type.getFields()).map((field) => [field.name, findForm(field.type)])));
  const readChoice = (value: unknown) => {
    const name = hasMembers(value) ? Object.keys(value).find((member) => hasValue(value[member])) : undefined;
    const conversion = name === undefined ? undefined : choices[name];
    if (name === undefined || conversion === undefined || !hasMembers(value)) return undefined;
    return { name, conversion, given: value[name], form: inner().get(name) };
  };
  return {
    flatten: (value) => {
      const choice = readChoice(value);
      if (choice === undefined) return value;
      const { conversion, given: choiceValue, form } = choice;
      return conversion.flatten(form?.flatten(choiceValue) ?? choiceValue);
    },
    place: (value, place) => {
      const choice = readChoice(value);
      if (choice === undefined) return [];
      const { name, conversion, given, form } = choice;
      const inside = conversion.place(place, given);
      return [name, ...(form?.place(given, inside) ?? inside)];
    },
  };
}

function lazily<T>(make: () => T): () => T {
  let madeValue: { readonly value: T } | undefined;
  return () => {
    madeValue ??= { value: make() };
    return madeValue.value;
  };
}

function hasValue(value: unknown): boolean {
  return value !== undefined && value !== null;
}
