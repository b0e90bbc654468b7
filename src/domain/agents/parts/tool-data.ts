import {
  authMembers,
  credentialMembers,
  type DataFault,
  readApiFunction,
} from '../../../engine/tools/api-function/api-function.ts';
import { compileArguments } from '../../../engine/tools/json-schema/arguments.ts';
import { SchemaError } from '../../../engine/tools/json-schema/read-schema.ts';
import { extractSecrets, type SecretMatch } from '../../../engine/tools/secrets/secrets-in-data.ts';
import type { AgentToolType, JsonObject } from '../../../entities/agents/part.ts';
import { isObject } from '../../../lib/json/json.ts';
import type { Faults } from '../../ground/faults.ts';
import { checkMembers, readJsonObject } from './json.ts';

export interface ReadToolData {
  /** Without any secret. */
  readonly data: JsonObject;
  readonly secrets: readonly SecretMatch[];
}

/** The data of a tool as it was sent. */
export interface ToolDataInput {
  readonly name: string;
  readonly type: AgentToolType;
  readonly data?: unknown;
  /** What the tool has now: data that is kept as it is. */
  readonly stored?: unknown;
}

export const toolNamePattern = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;
export const secretBytesMax = 4_096;
const descriptionLengthMax = 10_000;

/**
 * Validates the data of a tool. Secrets are moved out first, so that no later code, faults included, sees one.
 *
 * @param isTaken  whether a secret's key belongs to something else.
 */
export function readToolData(
  param: string,
  { name, type, data, stored: storedData }: ToolDataInput,
  isTaken: (key: string) => boolean,
  faults: Faults,
): ReadToolData {
  const jsonData = readJsonObject(param, data, faults);
  // An earlier version stored members of any name: renaming such a tool goes on working.
  if (data !== storedData) checkToolMembers(param, type, jsonData, faults);
  const extraction = extractSecrets(name, jsonData, isTaken);
  for (const path of extraction.badNames) {
    const place = path === '' ? param : `${param}.${path}`;
    faults.add(place, `${place}: a member's name must not be a secret`);
  }
  for (const { path, value } of extraction.secrets) {
    if (Buffer.byteLength(value) > secretBytesMax)
      faults.add(`${param}.${path}`, `${param}.${path} must have at most ${secretBytesMax} bytes`);
  }
  const { requireApproval } = extraction.data;
  if (requireApproval !== undefined && requireApproval !== null && typeof requireApproval !== 'boolean') {
    faults.add(`${param}.requireApproval`, `${param}.requireApproval must be true or false`, 'INVALID_TYPE');
  } else if (requireApproval === true && type === 'CLIENT_FUNCTION') {
    faults.add(`${param}.requireApproval`, `${param}.requireApproval: the caller runs a CLIENT_FUNCTION, and decides itself`);
  }
  if (type === 'API_FUNCTION') addFaults(param, apiFaults(extraction.data), faults);
  else readDescription(param, extraction.data, faults);
  if (type === 'MCP_SERVER') addFaults(param, serverFaults(extraction.data), faults);
  if (type === 'CLIENT_FUNCTION') addFaults(param, schemaFaults(extraction.data.parameters), faults);
  return extraction;
}

function checkToolMembers(param: string, type: AgentToolType, data: JsonObject, faults: Faults): void {
  checkMembers(param, `the data of ${type}`, data, toolDataMembers[type], faults);
  if (isObject(data.auth)) checkMembers(`${param}.auth`, 'auth', data.auth, authDataMembers, faults);
}

function apiFaults(data: JsonObject): readonly DataFault[] {
  const faults: DataFault[] = [];
  const tool = readApiFunction(data, faults);
  for (const { name, value } of tool?.headers ?? []) {
    const isConstant = value.every(({ kind }) => kind === 'text' || kind === 'secret');
    if (isIdempotencyKey(name) && isConstant) faults.push({ path: `.headers.${name}`, message: constantKey });
  }
  return faults;
}

const constantKey =
  'must hold an argument of the call, such as {order}: with the same key for every call, the API makes the first one only. Without the header, each call has a key of its own';

function isIdempotencyKey(name: string): boolean {
  return name.toLowerCase() === 'idempotency-key';
}

function serverFaults({ headers, url, command }: JsonObject): readonly DataFault[] {
  const names = typeof headers === 'object' && headers !== null ? Object.keys(headers) : [];
  const keys = names.filter(isIdempotencyKey).map((name) => ({ path: `.headers.${name}`, message: ownKey }));
  const isBoth = typeof url === 'string' && command !== undefined && command !== null;
  return [
    ...keys,
    ...(isBoth ? [{ path: '.command', message: 'and url exclude each other: a server is a program or an address' }] : []),
  ];
}

const ownKey = 'must not be given: each call has a key of its own';

function schemaFaults(parameters: unknown): readonly DataFault[] {
  if (parameters === undefined || parameters === null) return [];
  if (typeof parameters !== 'object' || Array.isArray(parameters))
    return [{ path: '.parameters', message: 'must be a JSON Schema object' }];
  try {
    compileArguments(parameters as JsonObject);
    return [];
  } catch (error) {
    if (error instanceof SchemaError) return [{ path: `.parameters${error.path}`, message: error.message }];
    return [{ path: '.parameters', message: 'is not a JSON Schema that can be checked' }];
  }
}

function readDescription(param: string, { description }: JsonObject, faults: Faults): void {
  if (description === undefined || description === null) return;
  if (typeof description !== 'string') faults.add(`${param}.description`, `${param}.description must be a text`, 'INVALID_TYPE');
  else faults.requireLength(`${param}.description`, description, descriptionLengthMax);
}

function addFaults(param: string, dataFaults: readonly DataFault[], faults: Faults): void {
  for (const { path, message } of dataFaults) faults.add(`${param}${path}`, `${param}${path} ${message}`);
}

const ofEveryTool = ['description', 'requireApproval'] as const;

/** The members that the data of a tool may have. Any other is refused: one that was stored without effect, such as a mistyped `requireApproval`, would pass for a rule. */
const toolDataMembers: Readonly<Record<AgentToolType, readonly string[]>> = {
  API_FUNCTION: [...ofEveryTool, 'parameters', 'method', 'url', 'headers', 'query', 'body', 'auth', 'idempotent'],
  CLIENT_FUNCTION: [...ofEveryTool, 'parameters'],
  MCP_SERVER: [
    ...ofEveryTool,
    ...['server', 'url', 'headers', 'auth', 'allowedTools', 'allowed_tools'],
    // Of programs, which an agent may hold for another installation; here they have a warning.
    ...['command', 'args', 'env', 'cwd', 'transport', 'type'],
  ],
};

/** The members of `auth`: how the credential is sent, and the credential. */
const authDataMembers: readonly string[] = [...authMembers, ...credentialMembers];
