import type { ApiFunction } from './api-function.ts';
import { argumentNames, argumentNamesIn, type Values } from './template.ts';
import { decodedLeniently } from './text-body.ts';

/**
 * The arguments that go into the body or the query without a template: declared by the schema, named by no template, and without a
 * name that the author fixed in body, query or address. All others are not sent.
 */
export function freeArguments(tool: ApiFunction, args: Values['args']): Readonly<Record<string, unknown>> {
  const argumentNames = new Set(namedArguments(tool));
  const fixedSpellings = fixedNames(tool).map(spellings);
  return Object.fromEntries(
    Object.entries(args).filter(([name, value]) => {
      if (value === undefined || !tool.declared.has(name) || argumentNames.has(name)) return false;
      const own = spellings(name);
      return !fixedSpellings.some((other) => isSameMember(own, other));
    }),
  );
}

function namedArguments({ path, search, headers, query, body, auth }: ApiFunction): readonly string[] {
  const pairs = body.kind === 'form' ? [...search, ...body.pairs] : search;
  const templates = [path, ...pairs.map(({ value }) => value ?? []), ...[...headers, ...query].map(({ value }) => value)];
  const inBody = body.kind === 'json' ? argumentNamesIn(body.value) : body.kind === 'text' ? argumentNames(body.value) : [];
  return [...templates, auth?.credential ?? []].flatMap(argumentNames).concat(inBody);
}

function fixedNames({ search, query, body, auth }: ApiFunction): readonly string[] {
  const inBody = body.kind === 'json' && typeof body.value === 'object' && body.value !== null ? Object.keys(body.value) : [];
  const inQuery = auth?.in === 'query' ? [auth.name] : [];
  const inForm = body.kind === 'form' ? body.pairs : [];
  return [...search, ...query, ...inForm].map(({ name }) => name).concat(inBody, inQuery);
}

/** A name as lenient servers may read it: `whole`, and `base`, the part before the first `[` or `.`. */
interface Spellings {
  readonly whole: string;
  readonly base: string;
}

/**
 * Servers may decode names twice, ignore case, cut names at a zero byte, and read `tenant[]`, `tenant[0]` and `tenant.id` as
 * members of `tenant`; PHP writes `_` for a dot and a space.
 */
function spellings(name: string): Spellings {
  const [plain = ''] = decodedName(name).normalize('NFKC').toLowerCase().trim().split('\u0000');
  const member = withoutIndexes(plain);
  const [base = ''] = member.split(/[.[]/);
  return { whole: flat(member), base: flat(base) };
}

/** `items[0][]` is `items`. */
function withoutIndexes(name: string): string {
  let end = name.length;
  while (name[end - 1] === ']') {
    const start = name.lastIndexOf('[', end - 1);
    if (start === -1 || !/^\d*$/.test(name.slice(start + 1, end - 1))) break;
    end = start;
  }
  return name.slice(0, end);
}

function flat(text: string): string {
  return text.replace(/(?<![\]\s])[\]\s]+$/, '').replaceAll(/[.\s[\]]+/g, '_');
}

function decodedName(name: string): string {
  let text = name;
  for (let round = 0; round < 3; round += 1) text = decodedLeniently(text.replaceAll('+', ' '));
  return text;
}

function isSameMember(one: Spellings, other: Spellings): boolean {
  return one.whole === other.whole || one.whole === other.base || one.base === other.whole;
}
