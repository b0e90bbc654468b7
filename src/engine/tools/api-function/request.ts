import { DomainError } from '../../../entities/ground/errors.ts';
import { isObject } from '../../../lib/json/json.ts';
import { decodePercents } from '../../../lib/text/text.ts';
import type { EgressRequest } from '../../egress/request.ts';
import type { ApiFunction } from './api-function.ts';
import { freeArguments } from './free-arguments.ts';
import { fillJson, fillTemplate, findArgument, soleArgument, type Template, toText, type Values } from './template.ts';
import { decodedLeniently, type Pair } from './text-body.ts';

type Request = Required<Pick<EgressRequest, 'url' | 'method' | 'headers'>> & Pick<EgressRequest, 'body'>;

const asItIs = (text: string) => text;
const bodyMethods = ['POST', 'PUT', 'PATCH'];

/**
 * Builds the HTTP request of one call. The author's fixed parts stay unchanged, as do host and scheme. Values in path and query are
 * encoded, so each stays one segment or one value; headers take no control characters. Declared arguments without a template go
 * into the JSON body, or into the query of methods without a body, unless the author fixed a member of that name.
 *
 * @throws DomainError INVALID_VALUE with a message for the model.
 */
export function buildRequest(tool: ApiFunction, values: Values): Request {
  const url = new URL(tool.origin);
  url.pathname = fillPath(tool.path, values);
  url.search = fillPairs(tool.search, values);
  addQuery(url, tool.query, values);
  const headers = new Map<string, string>();
  for (const { name, value } of tool.headers) {
    const text = fillTemplate(value, values, name.toLowerCase() === 'cookie' ? cookieText : asItIs);
    if (text !== undefined) setHeader(headers, name, text);
  }
  addCredential(tool, values, url, headers);
  const free = freeArguments(tool, values.args);
  const body = buildBody(tool, values, free, headers);
  if (!bodyMethods.includes(tool.method)) for (const [name, value] of Object.entries(free)) append(url, name, value);
  if (url.origin !== tool.origin) throw new DomainError('INVALID_VALUE', 'The arguments would change where the tool calls');
  return { url: url.href, method: tool.method, headers: Object.fromEntries(headers), ...(body === undefined ? {} : { body }) };
}

/** A segment made from arguments must not leave its path: `..` is refused. */
function fillPath(path: Template, values: Values): string {
  const filledPath = fillTemplate(path, values, segmentText);
  if (filledPath === undefined) throw missing(path, values);
  const pathSegments = path
    .map((piece) => (piece.kind === 'text' ? piece.text : '\u0000'))
    .join('')
    .split('/');
  for (const [index, segment] of filledPath.split('/').entries()) {
    if (pathSegments[index]?.includes('\u0000') === true && isDots(segment.replaceAll(/%2e/gi, '.'))) throw climbs();
  }
  return filledPath;
}

/** An encoded slash stays inside its segment by the standard. Servers that decode it first must not find `.` or `..` segments either. */
function segmentText(text: string): string {
  if (text === '') throw new DomainError('INVALID_VALUE', 'An argument in the path must not be empty');
  for (const form of decodings(text)) {
    if (form.split(/[/\\;]/).some(isDots)) throw climbs();
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a path must not hold.
    if (/[\u0000-\u001f\u007f]/.test(form)) {
      throw new DomainError('INVALID_VALUE', 'An argument in the path must not hold control characters');
    }
  }
  return encodeURIComponent(text.toWellFormed());
}

function isDots(segment: string): boolean {
  return segment === '.' || segment === '..';
}

/** The text, and the text after one and two more decodings. */
function decodings(text: string): readonly string[] {
  const once = decodedLeniently(text);
  return [text, once, decodedLeniently(once)];
}

function climbs(): DomainError {
  return new DomainError('INVALID_VALUE', 'An argument in the path must not be or hold the segments . and ..');
}

function fillPairs(pairs: readonly Pair[], values: Values): string {
  return pairs
    .map(({ name, value }) => {
      if (value === undefined) return name;
      const text = fillTemplate(value, values, encodedText);
      if (text === undefined) throw missing(value, values);
      return `${name}=${text}`;
    })
    .join('&');
}

function addQuery(url: URL, query: ApiFunction['query'], values: Values): void {
  for (const { name, value } of query) {
    const path = soleArgument(value);
    if (path !== undefined) append(url, name, findArgument(path, values.args));
    else append(url, name, fillTemplate(value, values, asItIs));
  }
}

function append(url: URL, name: string, value: unknown): void {
  if (value === undefined || value === null) return;
  if (Array.isArray(value)) for (const one of value) append(url, name, one);
  else url.searchParams.append(name, toText(value));
}

function addCredential({ auth, userinfo }: ApiFunction, values: Values, url: URL, headers: Map<string, string>): void {
  if (userinfo !== undefined) {
    setHeader(headers, 'authorization', `Basic ${base64(decodePercents(fillTemplate(userinfo, values, asItIs) ?? ''))}`);
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

/** An argument is the value of one cookie: it must not begin another cookie. A secret may be the whole header. */
function cookieText(text: string, kind: 'argument' | 'secret'): string {
  if (kind === 'argument' && /[;,]/.test(text))
    throw new DomainError('INVALID_VALUE', 'An argument in the header Cookie must not hold ; or ,');
  return text;
}

function buildBody(tool: ApiFunction, values: Values, free: Values['args'], headers: Map<string, string>): string | undefined {
  const { body, method } = tool;
  if (body.kind === 'form') return fillPairs(body.pairs, values);
  if (body.kind === 'text') {
    const text = fillTemplate(body.value, values, body.encode);
    if (text === undefined) throw missing(body.value, values);
    return text;
  }
  const hasBody = bodyMethods.includes(method);
  if (body.kind === 'none' && (!hasBody || Object.keys(free).length === 0)) return undefined;
  const bodyValue = body.kind === 'none' ? {} : fillJson(body.value, values);
  if (!headers.has('content-type')) headers.set('content-type', 'application/json');
  return JSON.stringify(isObject(bodyValue) && hasBody ? { ...free, ...bodyValue } : bodyValue);
}

function missing(template: Template, { args }: Values): DomainError {
  const name = template.flatMap((piece) =>
    piece.kind === 'argument' && (findArgument(piece.path, args) ?? null) === null ? [piece.path.join('.')] : [],
  )[0];
  return new DomainError('INVALID_VALUE', `The argument ${name ?? ''} is needed for this call`);
}

/** Half a surrogate pair, which a model may write, cannot be encoded. */
function encodedText(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

function base64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}
