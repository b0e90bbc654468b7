import type { Faults } from '../ground/faults.ts';

const nameLengthMax = 200;
const secretLengthMax = 20_000;
const scopesMax = 100;
const scopeLengthMax = 500;
const urlLengthMax = 2_000;
const headersMax = 20;
const headerValueLengthMax = 8_000;
/** Headers that the transport sets itself. */
const headersForbidden = new Set(['host', 'content-length', 'transfer-encoding', 'connection', 'upgrade', 'te', 'trailer']);

export function readName(param: string, text: string, faults: Faults): string {
  faults.requireName(param, text, nameLengthMax);
  return text.trim();
}

/** A token: visible ASCII, because it is sent in a header. */
export function readSecret(param: string, text: string | undefined, faults: Faults): string | undefined {
  if (text === undefined) return undefined;
  if (text === '') faults.add(param, `${param} must not be empty`);
  else if (text.length > secretLengthMax) faults.requireLength(param, text, secretLengthMax);
  else if (!/^[\x21-\x7e]+$/.test(text)) faults.add(param, `${param} must hold visible ASCII characters only`);
  return text;
}

export function readScopes(scopes: readonly string[], faults: Faults): readonly string[] {
  faults.requireCount('scopes', scopes, scopesMax);
  for (const [index, scope] of scopes.slice(0, scopesMax).entries()) {
    faults.requireName(`scopes[${index}]`, scope, scopeLengthMax);
  }
  return scopes;
}

/** An http(s) address without credentials. Whether it may be reached is checked at every call. */
export function readServiceUrl(param: string, text: string | undefined, faults: Faults): string | null {
  if (text === undefined) return null;
  const url = text.length <= urlLengthMax && URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) {
    faults.add(param, `${param} must be an http or https address of at most ${urlLengthMax} characters`);
    return null;
  }
  if (url.username !== '' || url.password !== '') faults.add(param, `${param} must not hold a user name or a password`);
  return url.href;
}

/** An object of header names and their values. */
export function readHeaders(param: string, input: unknown, faults: Faults): Readonly<Record<string, string>> | undefined {
  if (input === undefined) return undefined;
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    faults.add(param, `${param} must be an object of header names and their values`, 'INVALID_TYPE');
    return undefined;
  }
  const entries = Object.entries(input);
  faults.requireCount(param, entries, headersMax);
  const headers: Record<string, string> = {};
  for (const [name, value] of entries.slice(0, headersMax)) {
    const place = `${param}.${name.slice(0, 100)}`;
    const isName = /^[a-z0-9!#$%&'*+.^_`|~-]{1,100}$/i.test(name) && !headersForbidden.has(name.toLowerCase());
    if (!isName) faults.add(place, `${place} is not a header that may be sent`);
    else if (typeof value !== 'string' || value.length > headerValueLengthMax || !/^[\x20-\x7e]*$/.test(value)) {
      faults.add(place, `${place} must be at most ${headerValueLengthMax} printable ASCII characters`);
    } else headers[name.toLowerCase()] = value;
  }
  return headers;
}
