import { DomainError } from '../../../entities/errors.ts';
import type { EgressRequest } from '../../egress/egress.ts';
import type { ApiFunction } from './api-function.ts';
import {
  argumentNames,
  argumentOf,
  fillTemplate,
  parseTemplate,
  soleArgument,
  type Template,
  textOf,
  type Values,
} from './template.ts';

type Request = Required<Pick<EgressRequest, 'url' | 'method' | 'headers'>> & Pick<EgressRequest, 'body'>;

const asItIs = (text: string) => text;
const bodyMethods = ['POST', 'PUT', 'PATCH'];

/**
 * Makes the HTTP call of one set of arguments. Host and scheme are those of the tool; in path and query what is filled in is encoded, so it
 * stays one segment or one value; headers take no control characters. Arguments that no template names go into the JSON body, or into the
 * query of methods without one.
 *
 * @throws DomainError INVALID_VALUE in words for the model.
 */
export function buildRequest(tool: ApiFunction, values: Values): Request {
  const url = new URL(tool.origin);
  url.pathname = pathOf(tool.path, values);
  const search = fillTemplate(tool.search, values, encodeURIComponent);
  if (search === undefined) throw missing(tool.search, values);
  url.search = search;
  addQuery(url, tool.query, values);
  const headers = new Map<string, string>();
  for (const { name, value } of tool.headers) {
    const text = fillTemplate(value, values, asItIs);
    if (text !== undefined) setHeader(headers, name, text);
  }
  addCredential(tool, values, url, headers);
  const rest = unnamedArguments(tool, values.args);
  const body = bodyOf(tool, values, rest, headers);
  if (!bodyMethods.includes(tool.method)) for (const [name, value] of Object.entries(rest)) append(url, name, value);
  if (url.origin !== tool.origin) throw new DomainError('INVALID_VALUE', 'The arguments would change where the tool calls');
  return { url: url.href, method: tool.method, headers: Object.fromEntries(headers), ...(body === undefined ? {} : { body }) };
}

/** A segment that arguments made must not climb: `..` is no name. */
function pathOf(path: Template, values: Values): string {
  const filled = fillTemplate(path, values, (text) => {
    if (text === '') throw new DomainError('INVALID_VALUE', 'An argument in the path must not be empty');
    return encodeURIComponent(text);
  });
  if (filled === undefined) throw missing(path, values);
  const written = path
    .map((piece) => (piece.kind === 'text' ? piece.text : '\u0000'))
    .join('')
    .split('/');
  for (const [index, segment] of filled.split('/').entries()) {
    if (written[index]?.includes('\u0000') === true && /^\.{1,2}$/.test(segment.replaceAll(/%2e/gi, '.'))) {
      throw new DomainError('INVALID_VALUE', 'An argument in the path must not be . or ..');
    }
  }
  return filled;
}

function addQuery(url: URL, query: ApiFunction['query'], values: Values): void {
  for (const { name, value } of query) {
    const path = soleArgument(value);
    if (path !== undefined) append(url, name, argumentOf(path, values.args));
    else append(url, name, fillTemplate(value, values, asItIs));
  }
}

function append(url: URL, name: string, value: unknown): void {
  if (value === undefined || value === null) return;
  if (Array.isArray(value)) for (const one of value) append(url, name, one);
  else url.searchParams.append(name, textOf(value));
}

function addCredential({ auth, userinfo }: ApiFunction, values: Values, url: URL, headers: Map<string, string>): void {
  if (userinfo !== undefined) {
    setHeader(headers, 'authorization', `Basic ${base64(decoded(fillTemplate(userinfo, values, asItIs) ?? ''))}`);
  }
  if (auth === undefined) return;
  const credential = fillTemplate(auth.credential, values, asItIs) ?? '';
  if (auth.type === 'bearerToken') setHeader(headers, 'authorization', `Bearer ${credential.replace(/^Bearer +/i, '')}`);
  else if (auth.type === 'basicAuth') {
    const pair = auth.username === undefined ? credential : `${auth.username}:${credential}`;
    setHeader(headers, 'authorization', `Basic ${base64(pair)}`);
  } else if (auth.type === 'apiKey' && auth.in === 'query') url.searchParams.set(auth.name, credential);
  else setHeader(headers, auth.name, credential);
}

function setHeader(headers: Map<string, string>, name: string, text: string): void {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a header must not hold.
  if (/[\u0000-\u0008\u000a-\u001f\u007f]|[^\u0000-\u00ff]/.test(text)) {
    throw new DomainError('INVALID_VALUE', `The value of the header ${name} holds characters that a header does not take`);
  }
  headers.set(name.toLowerCase(), text);
}

function bodyOf(tool: ApiFunction, values: Values, rest: Values['args'], headers: Map<string, string>): string | undefined {
  const { body, method } = tool;
  if (body.kind === 'text') {
    const isForm = headers.get('content-type')?.includes('x-www-form-urlencoded') === true;
    const text = fillTemplate(body.value, values, isForm ? encodeURIComponent : asItIs);
    if (text === undefined) throw missing(body.value, values);
    return text;
  }
  const hasBody = bodyMethods.includes(method);
  if (body.kind === 'none' && (!hasBody || Object.keys(rest).length === 0)) return undefined;
  const filled = body.kind === 'none' ? {} : fillJson(body.value, values);
  if (!headers.has('content-type')) headers.set('content-type', 'application/json');
  return JSON.stringify(isObject(filled) && hasBody ? { ...filled, ...rest } : filled);
}

/** A text that is one argument takes its value, type and all, and falls away when it was not given. */
function fillJson(value: unknown, values: Values): unknown {
  if (typeof value === 'string') {
    const template = parseTemplate(value);
    const path = soleArgument(template);
    return path === undefined ? fillTemplate(template, values, asItIs) : argumentOf(path, values.args);
  }
  if (Array.isArray(value)) return value.map((one) => fillJson(one, values)).filter((one) => one !== undefined);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, one]) => {
      const filled = fillJson(one, values);
      return filled === undefined ? [] : [[name, filled]];
    }),
  );
}

function unnamedArguments(tool: ApiFunction, args: Values['args']): Record<string, unknown> {
  const templates = [tool.path, tool.search, ...[...tool.headers, ...tool.query].map(({ value }) => value)];
  const inBody = tool.body.kind === 'none' ? [] : argumentNames(parseTemplate(bodyText(tool.body)));
  const named = new Set([...templates.flatMap(argumentNames), ...inBody]);
  return Object.fromEntries(Object.entries(args).filter(([name, value]) => !named.has(name) && value !== undefined));
}

function bodyText(body: Exclude<ApiFunction['body'], { readonly kind: 'none' }>): string {
  if (body.kind === 'json') return JSON.stringify(body.value);
  return body.value.map((piece) => (piece.kind === 'argument' ? `{${piece.path.join('.')}}` : '')).join(' ');
}

function missing(template: Template, { args }: Values): DomainError {
  const name = template.flatMap((piece) =>
    piece.kind === 'argument' && (argumentOf(piece.path, args) ?? null) === null ? [piece.path.join('.')] : [],
  )[0];
  return new DomainError('INVALID_VALUE', `The argument ${name ?? ''} is needed for this call`);
}

function base64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
