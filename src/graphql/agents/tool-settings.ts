import type { ObjectFieldsShape } from '@pothos/core';
import { apiMethods, credentialMembers } from '../../engine/tools/api-function/api-function.ts';
import type { AllowedTools } from '../../engine/tools/mcp/tool-filter.ts';
import type { AgentTool, AgentToolType, JsonObject } from '../../entities/agents/part.ts';
import { isObject, membersOf, readString } from '../../lib/json/json.ts';
import { type BuilderTypes, builder, type InputBuilder } from '../ground/builder/builder.ts';
import { byName, flatInput, held } from '../ground/builder/flat-inputs.ts';
import { createEnum, ofFormat } from '../ground/types/enums.ts';
import { NamedTextInput, NamedTextType, namedTexts } from '../ground/types/named-texts.ts';
import { SecretTypeType } from './secrets.ts';
import { ToolFilterType, toToolFilter } from './tools/enabled-tools.ts';
import { ToolFilterInput } from './tools/inputs.ts';

/** How a tool of an agent works: one type for each type of tool, and one input. REST has it as the JSON member `data`. */
const access = { scope: 'AGENTS:READ' } as const;

type Settings = Pick<AgentTool, 'type' | 'data'>;
type SettingsFields = PothosSchemaTypes.ObjectFieldBuilder<BuilderTypes, Settings>;

const typeNames: Readonly<Record<AgentToolType, string>> = {
  API_FUNCTION: 'ApiFunctionSettings',
  CLIENT_FUNCTION: 'ClientFunctionSettings',
  MCP_SERVER: 'McpServerSettings',
};

const HttpMethodType = createEnum('HttpMethod', 'The method of an HTTP request.', apiMethods, {
  GET: 'Reads.',
  HEAD: 'Reads the header only.',
  POST: 'Sends something new.',
  PUT: 'Replaces.',
  PATCH: 'Changes.',
  DELETE: 'Deletes.',
});

const CredentialLocationType = createEnum(
  'CredentialLocation',
  'Where a request has its key.',
  ['header', 'query'],
  { header: 'In a header.', query: 'In the address, behind `?`.' },
  ofFormat,
);

export const AgentToolSettingsType = builder.interfaceRef<Settings>('AgentToolSettings').implement({
  access,
  description: 'How a tool of an agent works: one type for each type of tool.',
  fields: (t) => ({
    description: t.string({
      nullable: true,
      description: 'What the tool does; null when it does not say.',
      resolve: ({ data }) => readString(data.description) ?? null,
    }),
  }),
  resolveType: ({ type }) => typeNames[type],
});

function settingsType(type: AgentToolType, description: string, fields: ObjectFieldsShape<BuilderTypes, Settings>): void {
  builder.objectRef<Settings>(typeNames[type]).implement({
    access,
    description,
    interfaces: [AgentToolSettingsType],
    fields,
  });
}

const ApiCredentialType = builder.objectRef<JsonObject>('ApiCredential').implement({
  access,
  description: 'The credential that requests carry.',
  fields: (t) => ({
    type: t.field({
      type: SecretTypeType,
      nullable: true,
      description: 'How it is sent.',
      resolve: ({ type }) => SecretTypeType.find(type),
    }),
    location: t.field({
      type: CredentialLocationType,
      description: 'API_KEY: where it is sent.',
      resolve: (auth) => (auth.in === 'query' ? 'query' : 'header'),
    }),
    name: t.string({
      nullable: true,
      description: 'The name of the header or of the member of the query; null: the usual one.',
      resolve: ({ name }) => readString(name) ?? null,
    }),
    username: t.string({
      nullable: true,
      description: 'BASIC_AUTH: the name of the user.',
      resolve: ({ username }) => readString(username) ?? null,
    }),
    credential: t.string({
      nullable: true,
      description: 'The credential, as a reference to a secret of the agent: `{{secret:KEY}}`.',
      resolve: (auth) => credentialMembers.map((member) => readString(auth[member])).find((value) => value !== undefined) ?? null,
    }),
  }),
});

function parameters(t: SettingsFields) {
  return t.field({
    type: 'JsonSchema',
    nullable: true,
    description: 'JSON Schema of the arguments; null for none.',
    resolve: ({ data }) => data.parameters ?? null,
  });
}
function headers(t: SettingsFields) {
  return t.field({
    type: [NamedTextType],
    description: 'Headers of every request, at most 50.',
    resolve: ({ data }) => namedTexts(membersOf(data.headers)),
  });
}
function auth(t: SettingsFields) {
  return t.field({
    type: ApiCredentialType,
    nullable: true,
    description: 'The credential that requests carry; null for none.',
    resolve: ({ data }) => (isObject(data.auth) ? data.auth : null),
  });
}
function requireApproval(t: SettingsFields) {
  return t.boolean({
    description: 'Whether every call waits for approval by a person.',
    resolve: ({ data }) => data.requireApproval === true,
  });
}

const body = 'The body. JSON: it is what the API takes, a value whose texts are templates, or one text.';
settingsType(
  'API_FUNCTION',
  'An HTTP call. In the address, headers, query and body, `{name}` is an argument and `{{secret:KEY}}` a secret.',
  (t) => ({
    parameters: parameters(t),
    method: t.field({
      type: HttpMethodType,
      description: 'The method.',
      resolve: ({ data }) => apiMethods.find((method) => method === readString(data.method)?.toUpperCase()) ?? 'GET',
    }),
    url: t.string({ description: 'The address.', resolve: ({ data }) => readString(data.url) ?? '' }),
    headers: headers(t),
    query: t.field({
      type: [NamedTextType],
      description: 'What the address has behind `?`, besides its own; at most 50.',
      resolve: ({ data }) => namedTexts(membersOf(data.query)),
    }),
    body: t.field({ type: 'JSON', nullable: true, description: body, resolve: ({ data }) => data.body ?? null }),
    auth: auth(t),
    isIdempotent: t.boolean({
      description: 'Whether a repeated call is known to have no further effect.',
      resolve: ({ data }) => data.idempotent === true,
    }),
    requireApproval: requireApproval(t),
  }),
);

settingsType('CLIENT_FUNCTION', 'A function that the caller of a run carries out.', (t) => ({ parameters: parameters(t) }));

const McpProgramType = builder.objectRef<JsonObject>('McpProgram').implement({
  access,
  description: 'A program that is an MCP server. An agent may hold one for another installation; it is not started here.',
  fields: (t) => ({
    command: t.string({ nullable: true, description: 'The program.', resolve: ({ command }) => readString(command) ?? null }),
    arguments: t.stringList({
      description: 'Its arguments.',
      resolve: ({ args }) => (Array.isArray(args) ? args.map(String) : []),
    }),
    environment: t.field({
      type: [NamedTextType],
      description: 'Its environment.',
      resolve: ({ env }) => namedTexts(membersOf(env)),
    }),
    directory: t.string({ nullable: true, description: 'The folder it runs in.', resolve: ({ cwd }) => readString(cwd) ?? null }),
  }),
});

settingsType('MCP_SERVER', 'A server of the Model Context Protocol, whose tools the agent has.', (t) => ({
  server: t.string({
    nullable: true,
    description: "A server of this installation, or a connection of the agent's owner, by its name or id.",
    resolve: ({ data }) => readString(data.server) ?? null,
  }),
  serverUrl: t.string({
    nullable: true,
    description: 'The address of a server that is named by no other.',
    resolve: ({ data }) => readString(data.url) ?? null,
  }),
  headers: headers(t),
  auth: auth(t),
  allowedTools: t.field({
    type: ToolFilterType,
    nullable: true,
    description: 'Which of its tools may be called; null: all.',
    resolve: ({ data }): AllowedTools | null => toToolFilter(data.allowedTools ?? data.allowed_tools),
  }),
  program: t.field({
    type: McpProgramType,
    nullable: true,
    description: 'The program that it is, where it has no address.',
    resolve: ({ data }) => (data.command === undefined || data.command === null ? null : data),
  }),
  requireApproval: requireApproval(t),
}));

function describedMember(t: InputBuilder) {
  return { description: t.string({ required: false, description: 'What the tool does; at most 10,000 characters.' }) };
}
function parametersMember(t: InputBuilder) {
  return t.field({ type: 'JsonSchema', required: false, description: 'JSON Schema of the arguments. Default: none.' });
}
function headersMember(t: InputBuilder) {
  return t.field({
    type: [NamedTextInput],
    required: false,
    description: 'Headers of every request, at most 50. Secrets in them are moved into the vault.',
  });
}
function authMember(t: InputBuilder) {
  return t.field({ type: ApiCredentialInput, required: false, description: 'The credential that requests carry.' });
}
function approvalMember(t: InputBuilder) {
  return t.boolean({ required: false, description: 'Whether every call waits for approval by a person. Default false.' });
}

const ApiCredentialInput = flatInput<object>(
  builder.inputType('ApiCredentialInput', {
    description: 'The credential that requests carry.',
    fields: (t) => ({
      type: t.field({ type: SecretTypeType, description: 'How it is sent.' }),
      location: t.field({
        type: CredentialLocationType,
        required: false,
        description: 'API_KEY: where it is sent. Default HEADER.',
      }),
      name: t.string({
        required: false,
        description:
          'The name of the header or of the member of the query; required for HEADER. Default for API_KEY: `X-Api-Key`.',
      }),
      username: t.string({ required: false, description: 'BASIC_AUTH: the name of the user.' }),
      credential: t.string({
        description: 'The credential, which is moved into the vault, or a reference to a secret of the agent: `{{secret:KEY}}`.',
      }),
    }),
  }),
  { members: { location: 'in', credential: 'value' } },
);

const ApiFunctionSettingsInput = flatInput<object>(
  builder.inputType('ApiFunctionSettingsInput', {
    description:
      'An HTTP call. In the address, headers, query and body, `{name}` is an argument and `{{secret:KEY}}` a secret. At most 64,000 bytes.',
    fields: (t) => ({
      ...describedMember(t),
      parameters: parametersMember(t),
      method: t.field({ type: HttpMethodType, required: false, description: 'The method. Default GET.' }),
      url: t.string({ description: 'The address; arguments may stand behind the host only.' }),
      headers: headersMember(t),
      query: t.field({
        type: [NamedTextInput],
        required: false,
        description: 'What the address has behind `?`, besides its own; at most 50.',
      }),
      body: t.field({ type: 'JSON', required: false, description: body }),
      auth: authMember(t),
      isIdempotent: t.boolean({
        required: false,
        description: 'Whether a repeated call is known to have no further effect. Default false.',
      }),
      requireApproval: approvalMember(t),
    }),
  }),
  { isInJson: true, members: { headers: byName, query: byName, isIdempotent: 'idempotent' } },
);

const ClientFunctionSettingsInput = builder.inputType('ClientFunctionSettingsInput', {
  description: 'A function that the caller of a run carries out.',
  fields: (t) => ({ ...describedMember(t), parameters: parametersMember(t) }),
});

const McpProgramInput = flatInput<object>(
  builder.inputType('McpProgramInput', {
    description: 'A program that is an MCP server. An agent may hold one for another installation; it is not started here.',
    fields: (t) => ({
      command: t.string({ description: 'The program.' }),
      arguments: t.stringList({ required: false, description: 'Its arguments.' }),
      environment: t.field({ type: [NamedTextInput], required: false, description: 'Its environment.' }),
      directory: t.string({ required: false, description: 'The folder it runs in.' }),
    }),
  }),
  { isInJson: true, members: { arguments: 'args', environment: { name: 'env', ...byName }, directory: 'cwd' } },
);

const McpServerSettingsInput = flatInput<object>(
  builder.inputType('McpServerSettingsInput', {
    description: 'A server of the Model Context Protocol: one of `server`, `serverUrl` and `program`. At most 64,000 bytes.',
    fields: (t) => ({
      ...describedMember(t),
      server: t.string({
        required: false,
        description: "A server of this installation, or a connection of the agent's owner, by its name or id.",
      }),
      serverUrl: t.string({ required: false, description: 'The address of a server that is named by no other.' }),
      headers: headersMember(t),
      auth: authMember(t),
      allowedTools: t.field({
        type: ToolFilterInput,
        required: false,
        description: 'Which of its tools may be called. Default: all.',
      }),
      program: t.field({ type: McpProgramInput, required: false, description: 'The program that it is.' }),
      requireApproval: approvalMember(t),
    }),
  }),
  { isInJson: true, members: { serverUrl: 'url', headers: byName, program: { isSpread: true } } },
);

/** Its flat form is the members `type` and `data`. */
export const AgentToolSettingsInput = flatInput<object>(
  builder.inputType('AgentToolSettingsInput', {
    description: 'What a tool of an agent is, and how it works.',
    isOneOf: true,
    fields: (t) => ({
      apiFunction: t.field({ type: ApiFunctionSettingsInput, required: false, description: 'An HTTP call.' }),
      clientFunction: t.field({
        type: ClientFunctionSettingsInput,
        required: false,
        description: 'A function that the caller of a run carries out.',
      }),
      mcpServer: t.field({
        type: McpServerSettingsInput,
        required: false,
        description: 'A server of the Model Context Protocol.',
      }),
    }),
  }),
  {
    choices: {
      apiFunction: held('data', { type: 'API_FUNCTION' }),
      clientFunction: held('data', { type: 'CLIENT_FUNCTION' }),
      mcpServer: held('data', { type: 'MCP_SERVER' }),
    },
  },
);
