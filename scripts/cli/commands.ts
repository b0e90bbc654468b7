import {
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
} from 'graphql';
import { operationScopes } from '../../src/domain/ground/access/operation-scopes.ts';
import { enumTexts, listRestMembers } from '../../src/http/input/names.ts';
import { compileRoutes, type Route } from '../../src/rest/compile.ts';
import { allRoutes } from '../../src/rest/routes/index.ts';
import { operations } from './commands/operations.ts';

export interface Command {
  readonly noun: string;
  readonly verb: string;
  readonly route: Route;
  readonly members: readonly Member[];
}

/** A member that the command takes as `--name value`. */
export interface Member {
  readonly name: string;
  readonly place: 'path' | 'query' | 'body';
  readonly isRequired: boolean;
  readonly type: GraphQLInputType;
  readonly description: string;
}

const commands = new WeakMap<GraphQLSchema, readonly Command[]>();

/** Everything that can be typed. Members come from the rows and the schema, so a command cannot know less than the interface. */
export function commandsOf(schema: GraphQLSchema): readonly Command[] {
  const made = commands.get(schema) ?? makeCommands(schema);
  commands.set(schema, made);
  return made;
}

function makeCommands(schema: GraphQLSchema): readonly Command[] {
  const used = new Set(Object.values(operations).flatMap((verbs) => Object.values(verbs)));
  const rows = allRoutes.filter(({ operationId }) => used.has(operationId));
  // Wire schemas, documents and examples never change: tests check them.
  const routes = new Map(compileRoutes(schema, rows, operationScopes, null).map((route) => [route.row.operationId, route]));
  return Object.entries(operations).flatMap(([noun, verbs]) =>
    Object.entries(verbs).map(([verb, operationId]) => {
      const route = routes.get(operationId);
      if (route === undefined) throw new Error(`there is no operation ${operationId}`);
      return { noun, verb, route, members: membersOf(route) };
    }),
  );
}

/** A command that works as it is typed: the members that it needs, with values of their kind. */
export function exampleOf({ noun, verb, members }: Command): string {
  const needed = members.filter(({ isRequired }) => isRequired);
  const shown = needed.length > 0 || !['create', 'update', 'set'].includes(verb) ? needed : members.slice(0, 1);
  const changed = verb === 'update' || verb === 'set' ? members.filter(({ place }) => place === 'body').slice(0, 1) : [];
  const options = [...new Set([...shown, ...changed])].map((member) => ` --${member.name} ${sampleOf(member)}`);
  return `${noun} ${verb}${options.join('')}`;
}

const samples: Readonly<Record<string, string>> = {
  name: 'Workshop',
  email: 'ann@example.com',
  scopes: 'AGENTS:READ,CHATS:WRITE',
  aiId: 'ai_01jd0000000000000000000000',
  orgId: 'org_01jd0000000000000000000000',
  userId: 'user_01jd0000000000000000000000',
};

function sampleOf({ name, type }: Member): string {
  const known = samples[name];
  if (known !== undefined) return known;
  const named = getNamedType(type);
  if (isEnumType(named)) return enumTexts(named).keys().next().value ?? '';
  if (/Id$/.test(name)) return `${name.slice(0, -2).toLowerCase()}_01jd0000000000000000000000`;
  return { Boolean: 'true', Int: '10', Count: '1000000', Float: '1', DateTime: '2030-01-01T00:00:00Z' }[named.name] ?? 'text';
}

function membersOf({ row, main, pathNames }: Route): Member[] {
  const variable = (name: string, place: 'path' | 'query', description: string): Member => {
    const type = main.variables.get(name)?.type;
    if (type === undefined) throw new Error(`${row.operationId} has no $${name}`);
    return { name, place, isRequired: isNonNullType(type), type, description };
  };
  const body = row.body === undefined ? undefined : getNullableType(main.variables.get(row.body)?.type);
  return [
    ...pathNames.map((name) => variable(name, 'path', 'Its id.')),
    ...Object.entries(row.query ?? {}).map(([name, description]) => variable(name, 'query', description)),
    ...(isInputObjectType(body) ? listRestMembers(body) : []).map((field) => ({
      name: field.name,
      place: 'body' as const,
      isRequired: isNonNullType(field.type),
      type: field.type,
      description: field.description ?? '',
    })),
  ];
}

/** How help calls the type of a member. */
export function typeName(type: GraphQLInputType): string {
  const inner = getNullableType(type);
  if (isListType(inner)) return `${typeName(inner.ofType)},…`;
  if (isEnumType(inner)) return inner.extensions.isTextOnRest === true ? 'text' : [...enumTexts(inner).keys()].join('|');
  const names: Readonly<Record<string, string>> = {
    ID: 'id',
    String: 'text',
    Int: 'number',
    Count: 'number',
    Float: 'number',
    Boolean: 'true|false',
    DateTime: 'time',
  };
  return names[getNamedType(inner).name] ?? 'JSON';
}
