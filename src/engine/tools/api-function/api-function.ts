import { isObject, type JsonObject } from '../../../lib/json/json.ts';
import { forbiddenHeaders } from '../../egress/hops.ts';
import { compileArguments } from '../json-schema/arguments.ts';
import { SchemaError } from '../json-schema/read-schema.ts';
import { resolveReference } from '../json-schema/references.ts';
import { splitAddress } from './address.ts';
import { argumentNames, parseTemplate, type Template } from './template.ts';
import { type Pair, readPairs, readTextBody, type TextBody } from './text-body.ts';

export const apiMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
export type ApiMethod = (typeof apiMethods)[number];

/** The data of an API_FUNCTION tool, read: an HTTP call whose places are templates. */
export interface ApiFunction {
  readonly description: string;
  /** JSON Schema, as the model sees it. */
  readonly parameters: JsonObject;
  /** The arguments that the schema names. Others are not sent unless a template names them. */
  readonly declared: ReadonlySet<string>;
  readonly method: ApiMethod;
  /** Scheme and host are fixed: no argument reaches them. */
  readonly origin: string;
  readonly userinfo: Template | undefined;
  readonly path: Template;
  readonly search: readonly Pair[];
  readonly headers: readonly { readonly name: string; readonly value: Template }[];
  readonly query: readonly { readonly name: string; readonly value: Template }[];
  /** A JSON value whose texts are templates, or a text. */
  readonly body: { readonly kind: 'none' } | { readonly kind: 'json'; readonly value: unknown } | TextBody;
  readonly auth: ApiAuth | undefined;
}

/** Methods whose requests have the same effect however often they are made (RFC 9110, 9.2.2). */
const repeatableMethods: readonly unknown[] = ['GET', 'HEAD', 'PUT', 'DELETE'];

/** Whether a call may be made again when nobody knows what became of it: by its method, or because the tool says `idempotent: true`. */
export function isRepeatable({ method = 'GET', idempotent }: JsonObject): boolean {
  return idempotent === true || repeatableMethods.includes(upper(method));
}

/** Whether a call changes nothing, by its method. */
export function isReading({ method }: JsonObject): boolean {
  return method === undefined || ['GET', 'HEAD'].includes(String(method).toUpperCase());
}

export interface ApiAuth {
  readonly type: 'apiKey' | 'bearerToken' | 'basicAuth' | 'header';
  readonly in: 'header' | 'query';
  readonly name: string;
  readonly username: string | undefined;
  readonly credential: Template;
}

/** What is wrong with a tool's data; `path` is the place in it, as `.headers.Accept`. No value is ever repeated. */
export interface DataFault {
  readonly path: string;
  readonly message: string;
}

const urlLengthMax = 4_000;
const entriesMax = 50;
const valueLengthMax = 8_000;
const descriptionLengthMax = 10_000;
const headerName = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/;
/** Set by the client. */
const ownHeaders: ReadonlySet<string> = new Set([...forbiddenHeaders, 'accept-encoding']);
const authTypes = ['apiKey', 'bearerToken', 'basicAuth', 'header'] as const;
/** The members of `auth` that hold the credential itself, the first that is there. */
export const credentialMembers = ['value', 'token', 'apiKey', 'key', 'password', 'secret', 'credential'] as const;
/** Members of `auth` that say how; everything else in it is secret. */
export const authMembers = ['type', 'in', 'name', 'username', 'secretKey'] as const;

/**
 * Reads the data of an API_FUNCTION. Secrets in it are references by now.
 *
 * @param faults  gets everything that is wrong.
 * @returns the function, meaningless once there is a fault.
 */
export function readApiFunction(data: JsonObject, faults: DataFault[]): ApiFunction {
  const fault = (path: string, message: string) => void faults.push({ path, message });
  const description = optionalText(data.description, '.description', descriptionLengthMax, fault);
  const method = apiMethods.find((candidate) => candidate === (data.method === undefined ? 'GET' : upper(data.method)));
  if (method === undefined) fault('.method', `must be one of ${apiMethods.join(', ')}`);
  if (data.idempotent !== undefined && data.idempotent !== null && typeof data.idempotent !== 'boolean') {
    fault('.idempotent', 'must be true or false');
  }
  const headers = readEntries(data.headers, '.headers', fault);
  for (const { name, value } of headers) {
    if (!headerName.test(name) || ownHeaders.has(name.toLowerCase()))
      fault(`.headers.${name}`, 'is not a header that a tool may set');
    // The type says how the body is written: with another type, what the author fixed would mean something else.
    if (name.toLowerCase() === 'content-type' && argumentNames(value).length > 0)
      fault(`.headers.${name}`, 'must not take arguments');
  }
  return {
    description,
    ...readParameters(data.parameters, fault),
    method: method ?? 'GET',
    ...readUrl(data.url, fault),
    headers,
    query: readEntries(data.query, '.query', fault),
    body: readBody(data.body, headers, fault),
    auth: data.auth === undefined || data.auth === null ? undefined : readAuth(data.auth, fault),
  };
}

type Fault = (path: string, message: string) => void;

function readParameters(input: unknown, fault: Fault): Pick<ApiFunction, 'parameters' | 'declared'> {
  if (input === undefined || input === null) return { parameters: { type: 'object', properties: {} }, declared: new Set() };
  const parameters = isObject(input) ? input : {};
  if (!isObject(input)) fault('.parameters', 'must be a JSON Schema object');
  try {
    compileArguments(parameters);
    return { parameters, declared: declaredNames(parameters) };
  } catch (error) {
    if (error instanceof SchemaError) fault(`.parameters${error.path}`, error.message);
    else fault('.parameters', 'is not a JSON Schema that can be checked');
    return { parameters, declared: new Set() };
  }
}

/** Scheme, host and port are read from the template's own text: an argument in them is refused, whatever it would be filled with. */
function readUrl(input: unknown, fault: Fault): Pick<ApiFunction, 'origin' | 'userinfo' | 'path' | 'search'> {
  const none = { origin: 'http://invalid.invalid', userinfo: undefined, path: [], search: [] };
  if (typeof input !== 'string' || input.length > urlLengthMax) {
    fault('.url', `must be an http(s) address of at most ${urlLengthMax} characters`);
    return none;
  }
  const parts = splitAddress(input);
  if (parts === undefined) {
    fault('.url', 'must be an http(s) address; arguments may stand behind the host only');
    return none;
  }
  const { origin, userinfo, path, search } = parts;
  if (userinfo !== undefined && parseTemplate(userinfo).some(({ kind }) => kind === 'argument')) {
    fault('.url', 'must not take arguments before the host');
  }
  const pathText = path === '' ? '/' : path;
  if (/[\s\\]/.test(pathText + search)) fault('.url', 'must not hold spaces or backslashes');
  return {
    origin,
    userinfo: userinfo === undefined ? undefined : parseTemplate(userinfo),
    path: parseTemplate(pathText),
    search: readPairs(search, (message) => fault('.url', message)),
  };
}

function readEntries(input: unknown, path: string, fault: Fault): ApiFunction['headers'] {
  if (input === undefined || input === null) return [];
  if (!isObject(input)) {
    fault(path, 'must be an object of texts');
    return [];
  }
  const entries = Object.entries(input);
  if (entries.length > entriesMax) fault(path, `must have at most ${entriesMax} members`);
  return entries.slice(0, entriesMax).flatMap(([name, value]) => {
    const isFit = ['string', 'number', 'boolean'].includes(typeof value) && String(value).length <= valueLengthMax;
    if (!isFit) fault(`${path}.${name}`, `must be a text of at most ${valueLengthMax} characters`);
    return isFit ? [{ name, value: parseTemplate(String(value)) }] : [];
  });
}

function readBody(input: unknown, headers: ApiFunction['headers'], fault: Fault): ApiFunction['body'] {
  if (input === undefined || input === null) return { kind: 'none' };
  if (typeof input !== 'string') return { kind: 'json', value: input };
  const contentType = headers.find(({ name }) => name.toLowerCase() === 'content-type')?.value[0];
  const isOther = contentType?.kind === 'text' && !contentType.text.includes('json');
  if (isOther) return readTextBody(input, contentType.text, (message) => fault('.body', message));
  try {
    return { kind: 'json', value: JSON.parse(input) };
  } catch {
    fault(
      '.body',
      'must be JSON whose texts are templates, like {"city": "{city}"}; for other text, set the header Content-Type',
    );
    return { kind: 'none' };
  }
}

function readAuth(input: unknown, fault: Fault): ApiAuth | undefined {
  const auth = isObject(input) ? input : {};
  const type = authTypes.find((candidate) => candidate === auth.type);
  if (type === undefined) {
    fault('.auth.type', `must be one of ${authTypes.join(', ')}`);
    return undefined;
  }
  const place = auth.in ?? 'header';
  if (place !== 'header' && place !== 'query') fault('.auth.in', 'must be header or query');
  const name = optionalText(auth.name, '.auth.name', 100, fault) || (type === 'apiKey' ? 'X-Api-Key' : '');
  if (type === 'header' && name === '') fault('.auth.name', 'is required for the type header');
  const isHeader = type === 'header' || (type === 'apiKey' && place === 'header');
  if (isHeader && name !== '' && (!headerName.test(name) || ownHeaders.has(name.toLowerCase())))
    fault('.auth.name', 'is not a header that a tool may set');
  const credential = credentialMembers.map((member) => auth[member]).find((value) => typeof value === 'string');
  if (credential === undefined) fault('.auth.secretKey', 'is required: the key of a secret');
  const username = optionalText(auth.username, '.auth.username', 500, fault);
  return {
    type,
    in: place === 'query' ? 'query' : 'header',
    name,
    username: username === '' ? undefined : username,
    credential: parseTemplate(typeof credential === 'string' ? credential : ''),
  };
}

function optionalText(input: unknown, path: string, lengthMax: number, fault: Fault): string {
  if (input === undefined || input === null) return '';
  if (typeof input === 'string' && input.length <= lengthMax) return input;
  fault(path, `must be a text of at most ${lengthMax} characters`);
  return '';
}

function upper(value: unknown): unknown {
  return typeof value === 'string' ? value.toUpperCase() : value;
}

type Schema = Readonly<Record<string, unknown>>;

/**
 * The members that a schema of an object names under `properties`, also in the schemas that it joins: by reference, `allOf`, `anyOf`,
 * `oneOf`, `then` and `else`.
 *
 * @param schema  one that `readSchema` takes for a tool.
 */
function declaredNames(schema: Schema): ReadonlySet<string> {
  const names = new Set<string>();
  const usedNames = new Set<unknown>();
  const add = (one: unknown) => {
    if (typeof one !== 'object' || one === null || usedNames.has(one)) return;
    usedNames.add(one);
    const { $ref, properties, allOf, anyOf, oneOf, then: whenTrue, else: whenFalse } = one as Schema;
    for (const name of Object.keys(properties ?? {})) names.add(name);
    for (const inner of [allOf, anyOf, oneOf, whenTrue, whenFalse].flat()) add(inner);
    if (typeof $ref === 'string') add(resolveReference(schema, $ref));
  };
  add(schema);
  return names;
}
