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
import { compileRoutes, type Route } from '../../src/rest/compile.ts';
import { allRoutes } from '../../src/rest/routes/index.ts';
import { misused } from './failure.ts';

/** `parley <noun> <verb>` → the REST operation that it calls. */
const operations: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  tenants: {
    list: 'listTenants',
    get: 'getTenant',
    create: 'createTenant',
    update: 'updateTenant',
    delete: 'deleteTenant',
  },
  organizations: {
    list: 'listOrganizations',
    get: 'getOrganization',
    create: 'createOrganization',
    update: 'updateOrganization',
    delete: 'deleteOrganization',
  },
  limits: { get: 'getOrganization', set: 'updateOrganization' },
  users: { list: 'listUsers', get: 'getUser', create: 'createUser', update: 'updateUser', delete: 'deleteUser' },
  memberships: {
    list: 'listMemberships',
    get: 'getMembership',
    create: 'createMembership',
    update: 'updateMembership',
    delete: 'deleteMembership',
  },
  keys: { list: 'listApiKeys', create: 'createApiKey', revoke: 'revokeApiKey' },
  groups: { list: 'listMyGroups', get: 'getGroup', create: 'createGroup', update: 'updateGroup', delete: 'deleteGroup' },
  agents: { list: 'listAis', get: 'getAi', delete: 'deleteAi' },
  usage: { show: 'getUsage', days: 'listUsageDays' },
  audit: { list: 'listAuditLog' },
  models: { list: 'listModels' },
};

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

/** All commands. Their members come from the routes and the schema, so a command has every member of its operation. */
export function commandsOf(schema: GraphQLSchema): readonly Command[] {
  const routes = new Map(compileRoutes(schema, allRoutes).map((route) => [route.row.operationId, route]));
  return Object.entries(operations).flatMap(([noun, verbs]) =>
    Object.entries(verbs).map(([verb, operationId]) => {
      const route = routes.get(operationId);
      if (route === undefined) throw new Error(`there is no operation ${operationId}`);
      return { noun, verb, route, members: membersOf(route) };
    }),
  );
}

/** @throws Failure that lists the commands. */
export function commandNamed(commands: readonly Command[], noun: string, verb: string | undefined): Command {
  const ofNoun = commands.filter((command) => command.noun === noun);
  if (ofNoun.length === 0) {
    const nouns = [...new Set(commands.map((command) => command.noun))];
    throw misused(`There is no "${noun}". Nouns are ${nouns.join(', ')}. Try: npm run parley -- help`);
  }
  const found = ofNoun.find((command) => command.verb === verb);
  if (found !== undefined) return found;
  const verbs = ofNoun.map((command) => command.verb).join(', ');
  throw misused(verb === undefined ? `${noun} needs a verb: ${verbs}.` : `${noun} cannot "${verb}". It can ${verbs}.`);
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
    ...(isInputObjectType(body) ? Object.values(body.getFields()) : []).map((field) => ({
      name: field.name,
      place: 'body' as const,
      isRequired: isNonNullType(field.type),
      type: field.type,
      description: field.description ?? '',
    })),
  ];
}

/** The name of a member's type in the help text. */
export function typeName(type: GraphQLInputType): string {
  const inner = getNullableType(type);
  if (isListType(inner)) return `${typeName(inner.ofType)},…`;
  if (isEnumType(inner)) {
    return inner
      .getValues()
      .map((value) => value.name)
      .join('|');
  }
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
