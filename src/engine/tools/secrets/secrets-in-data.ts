import { type JsonObject, type SecretType, secretKeyPattern } from '../../../entities/agents/part.ts';
import { authMembers } from '../api-function/api-function.ts';
import { isHarmlessHeader, isSecretEntry, isSecretName, looksRandom, secretForms } from './secret-signs.ts';

export interface SecretMatch {
  readonly key: string;
  readonly value: string;
  readonly secretType: SecretType;
  /** The place of the secret, like `headers.Authorization`. */
  readonly path: string;
}
export interface ExtractedData {
  /** The same data with references `{{secret:KEY}}` in place of the secrets. */
  readonly data: JsonObject;
  readonly secrets: readonly SecretMatch[];
  /** Members whose name is a secret itself: a name cannot be a reference. */
  readonly badNames: readonly string[];
}

/**
 * Moves the secrets out of a tool's data, at any depth: values under telling names, headers with other than harmless names, whole `auth` objects, credentials in addresses and queries, and
 * texts in formats of issuers. Keys follow from the tool's name and the place, so the same data gives the same keys.
 *
 * @param isTaken  whether a key belongs to something else.
 */
export function extractSecrets(toolName: string, data: JsonObject, isTaken: (key: string) => boolean): ExtractedData {
  const extraction = new Extraction(toolName, isTaken);
  const clean = extraction.object(data, [], 'plain');
  return { data: clean, secrets: extraction.secrets, badNames: extraction.badNames };
}

/**
 * What surrounds a value. `secret`: all of it is secret. `schema`: JSON Schema, where the name of a property does not make its
 * description secret. `entries`: query, environment. `headers`: all of it is secret, but for headers with harmless names.
 */
type Surrounding = 'plain' | 'secret' | 'schema' | 'secret-schema' | 'entries' | 'headers' | 'auth';

const reference = /\{\{secret:[A-Za-z][A-Za-z0-9_.-]{0,99}\}\}/g;
const placeholder = /\{[A-Za-z_][A-Za-z0-9_.]*\}/g;
const scheme = /^(Bearer|Basic|Token|ApiKey) +/i;
const headerMembers = ['headers', 'defaultHeaders'];
const entryMembers = ['query', 'queryParams', 'queryParameters', 'params', 'cookies', 'env', 'environment'];
const valuesInSchema = ['default', 'const', 'enum', 'example', 'examples'];
const keyLengthMax = 80;

class Extraction {
  readonly secrets: SecretMatch[] = [];
  readonly badNames: string[] = [];
  readonly #toolName: string;
  readonly #isTaken: (key: string) => boolean;
  #authType: SecretType | undefined;

  constructor(toolName: string, isTaken: (key: string) => boolean) {
    this.#toolName = toolName;
    this.#isTaken = isTaken;
  }

  object(jsonObject: JsonObject, path: readonly string[], around: Surrounding): JsonObject {
    const entry = namedEntry(jsonObject);
    const clean = Object.entries(jsonObject).map(([name, value]) => {
      const here = [...path, name];
      if (secretForms.some((form) => name.search(form) >= 0)) this.badNames.push(path.join('.'));
      const isSecret = around === 'headers' ? isSecretHeader : isSecretEntry;
      if (entry !== undefined && name === 'value' && isSecret(entry))
        return [name, this.#value(value, [...path, entry], 'secret')];
      return [name, this.#value(value, here, this.#inside(name, path, around))];
    });
    const result: Record<string, unknown> = Object.fromEntries(clean);
    return around === 'auth' ? withKey(result) : result;
  }

  #inside(name: string, path: readonly string[], around: Surrounding): Surrounding {
    if (around === 'secret') return 'secret';
    if (around === 'auth') return (authMembers as readonly string[]).includes(name) ? 'plain' : 'secret';
    if (around === 'schema' || around === 'secret-schema') {
      if (valuesInSchema.includes(name)) return around === 'schema' ? 'plain' : 'secret';
      return around === 'secret-schema' || (path.at(-1) === 'properties' && isSecretName(name)) ? 'secret-schema' : 'schema';
    }
    if (path.length === 0 && name === 'auth') return 'auth';
    if (path.length === 0 && ['parameters', 'inputSchema', 'outputSchema', 'schema'].includes(name)) return 'schema';
    if (around === 'entries') return isSecretEntry(name) ? 'secret' : 'entries';
    if (around === 'headers' && headerMembers.includes(path.at(-1) ?? '')) return isSecretHeader(name) ? 'secret' : 'entries';
    if (isSecretName(name)) return 'secret';
    if (headerMembers.includes(name)) return 'headers';
    return entryMembers.includes(name) ? 'entries' : 'plain';
  }

  #value(value: unknown, path: readonly string[], around: Surrounding): unknown {
    if (typeof value === 'string') return this.#text(value, path, around);
    if (typeof value === 'number' && around === 'secret') return this.#taken(String(value), path);
    if (Array.isArray(value)) return this.#list(value, path, around);
    if (typeof value !== 'object' || value === null) return value;
    if (around === 'auth') {
      const { type } = value as JsonObject;
      this.#authType = isSecretType(type) ? type : undefined;
      const clean = this.object(value as JsonObject, path, around);
      this.#authType = undefined;
      return clean;
    }
    return this.object(value as JsonObject, path, around);
  }

  /** In a command's arguments, the one after `--api-key` is the key. */
  #list(values: readonly unknown[], path: readonly string[], around: Surrounding): readonly unknown[] {
    return values.map((value, index) => {
      const before: unknown = values[index - 1];
      const isBehindFlag = typeof before === 'string' && /^--?[A-Za-z][\w-]*$/.test(before) && isSecretEntry(before);
      return this.#value(value, [...path, String(index)], isBehindFlag ? 'secret' : around);
    });
  }

  #text(text: string, path: readonly string[], around: Surrounding): string {
    if (path.length === 2 && path[0] === 'auth' && path[1] === 'secretKey') return this.#secretKey(text, path);
    const bare = text.replaceAll(reference, '').replaceAll(placeholder, '');
    const hasBlanks = bare.length < text.length;
    if ((around === 'secret' || around === 'auth') && !hasBlanks) return text.trim() === '' ? text : this.#whole(text, path);
    if (around === 'entries' && !hasBlanks && looksRandom(text)) return this.#taken(text, path);
    return this.#inJson(text, path) ?? this.#spans(text, path, around === 'secret');
  }

  /** `secretKey` names a key; any other text there is treated as a secret. */
  #secretKey(text: string, path: readonly string[]): string {
    const isKey = secretKeyPattern.test(text) && !looksRandom(text) && secretForms.every((form) => text.search(form) < 0);
    return isKey ? text : this.#key(text, path);
  }

  #whole(text: string, path: readonly string[]): string {
    const prefix = scheme.exec(text)?.[0] ?? '';
    return prefix + this.#taken(text.slice(prefix.length), path, typeOfScheme(prefix));
  }

  /** A body that is JSON text is searched like a JSON body. */
  #inJson(text: string, path: readonly string[]): string | undefined {
    if (!/^\s*[[{]/.test(text)) return undefined;
    try {
      const value: unknown = JSON.parse(text);
      const before = this.secrets.length;
      const clean = this.#value(value, path, 'plain');
      return this.secrets.length === before ? undefined : JSON.stringify(clean);
    } catch {
      return undefined;
    }
  }

  /** Replaces secrets inside a text. Skips references: the caller's, and those made here. */
  #spans(sourceText: string, path: readonly string[], isSecret: boolean): string {
    let text = sourceText;
    const replace = (form: RegExp, by: (...groups: string[]) => string) => {
      text = outsideReferences(text, (part) => part.replaceAll(form, (...match: unknown[]) => by(...(match as string[]))));
    };
    replace(/(:\/\/)([^\s/?#@"'<>]+)@/g, (all = '', slashes = '', userinfo = '') =>
      this.#isBlank(userinfo) ? all : `${slashes}${this.#taken(userinfo, path, 'basicAuth')}@`,
    );
    replace(/(^|[?&\s;,"'-])([A-Za-z][\w.-]{0,60})=([^&\s"'<>;,]+)/g, (all = '', lead = '', name = '', value = '') =>
      isSecretEntry(name) && !this.#isBlank(value) ? `${lead}${name}=${this.#taken(value, [...path, name])}` : all,
    );
    replace(/([A-Za-z][\w-]{0,60})(["']?\s*:\s*["']?)([^\s"'{},;]{8,})/g, (all = '', name = '', between = '', value = '') => {
      const isTold = isSecretName(name) && /\d/.test(value) && !value.startsWith('//');
      return isTold ? `${name}${between}${this.#taken(value, [...path, name])}` : all;
    });
    for (const form of secretForms) replace(form, (formText = '') => this.#taken(formText, path, typeOfForm(formText)));
    // Other text beside a reference is kept unless it looks random.
    if (isSecret) replace(/\S+/g, (word = '') => (looksRandom(word) ? this.#taken(word, path) : word));
    return text;
  }

  #isBlank(text: string): boolean {
    return text.replaceAll(reference, '').replaceAll(placeholder, '').replaceAll(/[:\s]/g, '') === '';
  }

  #taken(value: string, path: readonly string[], secretType?: SecretType): string {
    return `{{secret:${this.#key(value, path, secretType)}}}`;
  }

  /** Equal values are one secret. */
  #key(value: string, path: readonly string[], secretType?: SecretType): string {
    const existingSecret = this.secrets.find((secret) => secret.value === value);
    if (existingSecret !== undefined) return existingSecret.key;
    const base = toSecretKey(this.#toolName, path);
    let key = base;
    for (let number = 2; this.#isTaken(key) || this.secrets.some((secret) => secret.key === key); number += 1)
      key = `${base}_${number}`;
    const type = secretType ?? this.#authType ?? (path.some((name) => name.toLowerCase() === 'headers') ? 'header' : 'apiKey');
    this.secrets.push({ key, value, secretType: type, path: path.join('.') });
    return key;
  }
}

function outsideReferences(text: string, work: (part: string) => string): string {
  return text
    .split(/(\{\{secret:[A-Za-z][A-Za-z0-9_.-]{0,99}\}\})/)
    .map((part, index) => (index % 2 === 0 ? work(part) : part))
    .join('');
}

/** `auth` names its secret by key; a reference is added, so that all references are found in one way. */
function withKey(auth: JsonObject): JsonObject {
  const authEntry = Object.entries(auth).find(
    ([name, value]) =>
      !(authMembers as readonly string[]).includes(name) && typeof value === 'string' && value.includes('{{secret:'),
  );
  if (typeof auth.secretKey === 'string' && authEntry === undefined) return { ...auth, value: `{{secret:${auth.secretKey}}}` };
  return auth;
}

function isSecretHeader(name: string): boolean {
  return isSecretEntry(name) || !isHarmlessHeader(name);
}

/** `{name: "Authorization", value: …}`, an entry of a list of headers. */
function namedEntry(jsonObject: JsonObject): string | undefined {
  const { name, key, header } = jsonObject;
  return [name, key, header].find((one) => typeof one === 'string');
}

function toSecretKey(toolName: string, path: readonly string[]): string {
  const key = [toolName, ...path]
    .join('_')
    .replaceAll(/[^A-Za-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
    .toUpperCase();
  return (/^[A-Z]/.test(key) ? key : `SECRET_${key}`).slice(0, keyLengthMax);
}

function typeOfScheme(prefix: string): SecretType | undefined {
  if (/^bearer/i.test(prefix)) return 'bearerToken';
  return /^basic/i.test(prefix) ? 'basicAuth' : undefined;
}

function typeOfForm(formText: string): SecretType | undefined {
  return formText.startsWith('eyJ') ? 'bearerToken' : undefined;
}

function isSecretType(type: unknown): type is SecretType {
  return type === 'apiKey' || type === 'bearerToken' || type === 'basicAuth' || type === 'header';
}
