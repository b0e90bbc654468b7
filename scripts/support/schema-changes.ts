import { CriticalityLevel, diff } from '@graphql-inspector/core';
import { buildSchema, type GraphQLSchema, isEnumType, isInputObjectType, isInterfaceType, isObjectType } from 'graphql';

/** A change of the schema that documents of the last release may not survive. */
export interface BreakingChange {
  /** `Agent.seed`, `Query.agents.first`, or a type. */
  readonly coordinate: string;
  readonly message: string;
}

/** What @graphql-inspector calls breaking between two schemas. */
export async function breakingChanges(before: string, after: string): Promise<readonly BreakingChange[]> {
  const changes = await diff(buildSchema(before), buildSchema(after));
  return changes
    .filter(({ criticality }) => criticality.level === CriticalityLevel.Breaking)
    .map(({ path = '', message }) => ({ coordinate: path, message }));
}

/**
 * The changes that no page tells.
 *
 * @param pages  texts that name what changed in backticks: the coordinate, the type that it belongs to, or the name of an operation.
 */
export function untold(changes: readonly BreakingChange[], pages: readonly string[]): readonly BreakingChange[] {
  const names = new Set(pages.flatMap((page) => [...page.matchAll(/`([^`]+)`/g)].flatMap(([, code = '']) => wordsOf(code))));
  return changes.filter(({ coordinate }) => !namesOf(coordinate).some((name) => names.has(name)));
}

/**
 * What went without notice: members of the last release that are gone, and that it did not deprecate with a date which has passed by `today`.
 *
 * @param today  `2027-03-01`
 */
export function hastyRemovals(before: string, changes: readonly BreakingChange[], today: string): readonly BreakingChange[] {
  const schema = buildSchema(before);
  return changes.filter(({ coordinate, message }) => {
    if (!message.includes('was removed') || !coordinate.includes('.')) return false;
    const date = dateIn(deprecationReason(schema, coordinate));
    return date === undefined || date > today;
  });
}

/** The coordinates of members that are deprecated without saying from which date on they may go. */
export function undatedDeprecations(text: string): readonly string[] {
  const schema = buildSchema(text);
  return Object.values(schema.getTypeMap()).flatMap((type) => {
    const members = isEnumType(type) ? type.getValues() : 'getFields' in type ? Object.values(type.getFields()) : [];
    const coordinates = members.flatMap((member) => [
      `${type.name}.${member.name}`,
      ...('args' in member
        ? member.args.map((argument: { readonly name: string }) => `${type.name}.${member.name}.${argument.name}`)
        : []),
    ]);
    return coordinates.filter((coordinate) => {
      const reason = deprecationReason(schema, coordinate);
      return reason !== undefined && dateIn(reason) === undefined;
    });
  });
}

function dateIn(reason: string | undefined): string | undefined {
  return /\b\d{4}-\d{2}-\d{2}\b/.exec(reason ?? '')?.[0];
}

/** Of a field, an argument, a member of an input or a value of an enum. */
function deprecationReason(schema: GraphQLSchema, coordinate: string): string | undefined {
  const [typeName = '', memberName = '', argumentName] = coordinate.split('.');
  const type = schema.getType(typeName);
  if (isEnumType(type)) return type.getValue(memberName)?.deprecationReason ?? undefined;
  if (isInputObjectType(type)) return type.getFields()[memberName]?.deprecationReason ?? undefined;
  if (!isObjectType(type) && !isInterfaceType(type)) return undefined;
  const field = type.getFields()[memberName];
  const member = argumentName === undefined ? field : field?.args.find(({ name }) => name === argumentName);
  return member?.deprecationReason ?? undefined;
}

/** `Run.error { code }` names `Run.error`, `Run` and `error`; so does `Run.error(first)`. */
function wordsOf(code: string): readonly string[] {
  return code.match(/[A-Za-z_]\w*(?:\.\w+)*/g) ?? [];
}

function namesOf(coordinate: string): readonly string[] {
  const [type = '', ...members] = coordinate.split('.');
  const whole = members.map((_member, index) => [type, ...members.slice(0, index + 1)].join('.'));
  const isRoot = ['Query', 'Mutation', 'Subscription'].includes(type);
  return [...whole, ...(isRoot ? members.slice(0, 1) : [type])];
}
