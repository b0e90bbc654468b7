import { type GraphQLInputType, getNullableType, isInputObjectType, isListType, isNonNullType, isScalarType } from 'graphql';
import { scopes } from '../../src/entities/people/caller.ts';
import type { Command, Member } from './commands.ts';
import { misused } from './failure.ts';
import { suggestion } from './nearest.ts';

/** The parts of a typed command: words, `--name value` pairs (a name may be repeated) and switches. */
export interface Typed {
  readonly words: readonly string[];
  readonly options: ReadonlyMap<string, readonly string[]>;
  readonly switches: ReadonlySet<string>;
}

const switchNames: ReadonlySet<string> = new Set(['json', 'local', 'help', 'dryRun', 'check', 'undo']);

/** @throws Failure for a member without its value. */
export function readTyped(args: readonly string[]): Typed {
  const words: string[] = [];
  const options = new Map<string, string[]>();
  const switches = new Set<string>();
  const rest = args.values();
  for (const arg of rest) {
    if (arg === '-h') switches.add('help');
    else if (!arg.startsWith('--')) words.push(arg);
    else {
      const [name = '', ...glued] = arg.slice(2).split('=');
      const member = camel(name);
      if (switchNames.has(member)) switches.add(member);
      else {
        const value = arg.includes('=') ? glued.join('=') : rest.next().value;
        if (value === undefined) throw misused(`--${name} needs a value.`);
        options.set(member, [...(options.get(member) ?? []), value]);
      }
    }
  }
  return { words, options, switches };
}

/** The request that a command makes. */
export interface Request {
  readonly method: string;
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>> | undefined;
}

/** @throws Failure naming members that are unknown, missing or of the wrong form. */
export function requestOf({ noun, verb, route, members }: Command, options: Typed['options']): Request {
  const known = new Set(members.map(({ name }) => name));
  const unknown = [...options.keys()].filter((name) => !known.has(name));
  const taken = members.length === 0 ? 'It takes none.' : `It takes ${members.map(({ name }) => `--${name}`).join(', ')}.`;
  if (unknown.length > 0) {
    const meant = suggestion(unknown[0] ?? '', [...known]);
    throw misused(`${noun} ${verb} does not take --${unknown.join(', --')}.${meant} ${taken}`);
  }
  const missing = members.filter(({ name, isRequired }) => isRequired && !options.has(name)).map(({ name }) => `--${name}`);
  if (missing.length > 0)
    throw misused(`${noun} ${verb} needs ${missing.join(' and ')}. Type ${noun} ${verb} --help to see an example.`);
  const given = members.flatMap((member) => {
    const texts = options.get(member.name);
    return texts === undefined ? [] : [{ member, texts }];
  });
  const inPath = new Map(
    given.filter(({ member }) => member.place === 'path').map(({ member, texts }) => [member.name, texts.at(-1) ?? '']),
  );
  const query = new URLSearchParams(
    given.filter(({ member }) => member.place === 'query').map(({ member, texts }) => [member.name, texts.join(',')]),
  ).toString();
  const path = route.row.path.replace(/\{([^}]*)\}/g, (_match, name: string) => encodeURIComponent(inPath.get(name) ?? ''));
  const inBody = given.filter(({ member }) => member.place === 'body');
  return {
    method: route.row.method.toUpperCase(),
    path: query === '' ? path : `${path}?${query}`,
    body:
      route.row.body === undefined
        ? undefined
        : Object.fromEntries(inBody.map(({ member, texts }) => [member.name, readValue(member, texts)])),
  };
}

function readValue({ name, type }: Member, texts: readonly string[]): unknown {
  const inner = getNullableType(type);
  if (!isNonNullType(type) && texts.length === 1 && texts[0] === 'null') return null;
  if (isListType(inner)) {
    const parts = texts.flatMap((text) => text.split(',')).map((text) => text.trim());
    if (name === 'scopes' && parts.join() === 'all') return scopes;
    return parts.filter((part) => part !== '').map((part) => single(name, inner.ofType, part));
  }
  if (texts.length > 1) throw misused(`--${name} is given ${texts.length} times.`);
  return single(name, inner, texts[0] ?? '');
}

function single(name: string, type: GraphQLInputType, text: string): unknown {
  const inner = getNullableType(type);
  if (isScalarType(inner) && ['Int', 'Float', 'Count'].includes(inner.name)) {
    if (text.trim() === '' || Number.isNaN(Number(text))) throw misused(`--${name} must be a number, not "${text}".`);
    return Number(text);
  }
  if (isScalarType(inner) && inner.name === 'Boolean') {
    if (text !== 'true' && text !== 'false') throw misused(`--${name} must be true or false, not "${text}".`);
    return text === 'true';
  }
  if (!isInputObjectType(inner) && !(isScalarType(inner) && inner.extensions.asJson !== undefined)) return text;
  try {
    return JSON.parse(text);
  } catch {
    throw misused(`--${name} must be JSON, not "${text.slice(0, 100)}".`);
  }
}

/** `--org-id` is `orgId`. */
function camel(name: string): string {
  return name.replace(/-([a-z])/g, (_match, letter: string) => letter.toUpperCase());
}
