import { parseJson } from '../parts/words.ts';
import type { AgentToolSettingsInput, ApiCredentialInput, HttpMethod, OwnToolFragment, SecretType } from './documents.ts';

export type ToolKind = 'api' | 'client' | 'mcp';
export const methods: readonly HttpMethod[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'];
export const authTypes: readonly SecretType[] = ['BEARER_TOKEN', 'API_KEY', 'BASIC_AUTH', 'HEADER'];

/** What the form of a tool holds: texts as they are typed. */
export interface ToolValues {
  readonly kind: ToolKind;
  readonly name: string;
  readonly description: string;
  readonly method: HttpMethod;
  readonly url: string;
  /** Lines of `name: value`. */
  readonly headers: string;
  readonly query: string;
  readonly body: string;
  readonly parameters: string;
  readonly isIdempotent: boolean;
  readonly requireApproval: boolean;
  readonly authType: SecretType | '';
  readonly authName: string;
  readonly authInQuery: boolean;
  readonly username: string;
  /** A reference `{{secret:KEY}}`, or empty for a new value. */
  readonly credentialReference: string;
  readonly credential: string;
  readonly server: string;
  /** Names of an MCP server's tools, one a line; empty: all. */
  readonly allowedTools: string;
}

const emptyValues: ToolValues = {
  ...{ kind: 'api', name: '', description: '', method: 'GET', url: '', headers: '', query: '', body: '', parameters: '' },
  ...{ isIdempotent: false, requireApproval: false, authType: '', authName: '', authInQuery: false, username: '' },
  ...{ credentialReference: '', credential: '', server: '', allowedTools: '' },
};

export function newValues(kind: ToolKind): ToolValues {
  return { ...emptyValues, kind };
}

export function readValues({ name, settings }: OwnToolFragment): ToolValues {
  if (settings === null) return { ...emptyValues, name };
  switch (settings.__typename) {
    case 'ApiFunctionSettings':
      return {
        ...emptyValues,
        ...authValues(settings.auth),
        name,
        description: settings.apiDescription ?? '',
        method: settings.method,
        url: settings.url,
        headers: linesOfPairs(settings.headers),
        query: linesOfPairs(settings.query),
        body: settings.body == null ? '' : getText(settings.body),
        parameters: settings.parameters === null ? '' : getText(settings.parameters),
        isIdempotent: settings.isIdempotent,
        requireApproval: settings.requireApproval,
      };
    case 'ClientFunctionSettings':
      return {
        ...emptyValues,
        kind: 'client',
        name,
        description: settings.clientDescription ?? '',
        parameters: settings.parameters === null ? '' : getText(settings.parameters),
      };
    case 'McpServerSettings':
      return {
        ...emptyValues,
        ...authValues(settings.auth),
        kind: 'mcp',
        name,
        description: settings.mcpDescription ?? '',
        url: settings.serverUrl ?? '',
        server: settings.server ?? '',
        headers: linesOfPairs(settings.headers),
        requireApproval: settings.requireApproval,
        allowedTools: settings.allowedTools?.names?.join('\n') ?? '',
      };
  }
}

interface Auth {
  readonly type: SecretType | null;
  readonly location: 'HEADER' | 'QUERY';
  readonly name: string | null;
  readonly username: string | null;
  readonly credential: string | null;
}

function authValues(auth: Auth | null): Partial<ToolValues> {
  if (auth === null) return {};
  return {
    authType: auth.type ?? '',
    authName: auth.name ?? '',
    authInQuery: auth.location === 'QUERY',
    username: auth.username ?? '',
    credentialReference: auth.credential ?? '',
  };
}

const getText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value, undefined, 2));

const linesOfPairs = (pairs: readonly { readonly name: string; readonly value: string }[]) =>
  pairs.map(({ name, value }) => `${name}: ${value}`).join('\n');

function parsePairs(lines: string): { name: string; value: string }[] {
  return lines.split('\n').flatMap((line) => {
    const at = line.indexOf(':');
    const name = (at === -1 ? line : line.slice(0, at)).trim();
    return name === '' ? [] : [{ name, value: at === -1 ? '' : line.slice(at + 1).trim() }];
  });
}

/** The JSON Schema of the arguments. `undefined`: the text is no JSON object. `null`: there is none. */
export function parseParameters({ parameters }: ToolValues): Record<string, unknown> | null | undefined {
  if (parameters.trim() === '') return null;
  const value = parseJson(parameters);
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
}

/** The settings as the service takes them; they replace the stored ones whole. `before` has what the form does not show. */
export function toSettingsInput(values: ToolValues, before: OwnToolFragment['settings'] | undefined): AgentToolSettingsInput {
  const description = values.description === '' ? null : values.description;
  const parameters = parseParameters(values) ?? null;
  if (values.kind === 'client') return { clientFunction: { description, parameters } };
  const base = {
    description,
    auth: toAuthInput(values),
    headers: parsePairs(values.headers),
    requireApproval: values.requireApproval,
  };
  if (values.kind === 'mcp') return { mcpServer: { ...base, ...toServerInput(values, before) } };
  const { method, url, body, isIdempotent } = values;
  return {
    apiFunction: {
      ...base,
      ...{ method, url, isIdempotent, parameters },
      query: parsePairs(values.query),
      body: body.trim() === '' ? null : (parseJson(body) ?? body),
    },
  };
}

function toServerInput({ server, url, allowedTools }: ToolValues, before: OwnToolFragment['settings'] | undefined) {
  const previous = before?.__typename === 'McpServerSettings' ? before : undefined;
  const names = allowedTools
    .split('\n')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const isReadOnly = previous?.allowedTools?.isReadOnly ?? null;
  const allowed = names.length === 0 && isReadOnly === null ? null : { isReadOnly, names: names.length === 0 ? null : names };
  const { command, directory, arguments: parts, environment } = previous?.program ?? { command: null };
  const program =
    command === null || command === undefined
      ? null
      : {
          command,
          directory,
          arguments: parts ?? [],
          environment: (environment ?? []).map(({ name, value }) => ({ name, value })),
        };
  const place = server.trim() !== '' ? { server } : url.trim() !== '' ? { serverUrl: url } : { program };
  return { ...place, allowedTools: allowed };
}

function toAuthInput(values: ToolValues): ApiCredentialInput | null {
  const { authType: type, authName, authInQuery, username, credential, credentialReference } = values;
  if (type === '') return null;
  const isNamed = type === 'HEADER' || type === 'API_KEY';
  return {
    type,
    credential: credentialReference === '' ? credential : credentialReference,
    location: type === 'API_KEY' && authInQuery ? 'QUERY' : null,
    name: isNamed && authName !== '' ? authName : null,
    username: type === 'BASIC_AUTH' && username !== '' ? username : null,
  };
}

/** The member of the settings that a kind has, as places of faults name it. */
export const settingsMember = (kind: ToolKind) =>
  `input.settings.${{ api: 'apiFunction', client: 'clientFunction', mcp: 'mcpServer' }[kind]}`;
