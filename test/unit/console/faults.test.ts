import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSchema, isEnumType } from 'graphql';
import { describe, expect, it } from 'vitest';
import { describeCode } from '../../../console/src/ui/form/faults/codes.ts';
import { serviceSentences } from '../../../console/src/ui/form/faults/sentences.ts';
import { errorCodes } from '../../../src/entities/ground/errors.ts';

const root = join(import.meta.dirname, '../../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const schema = buildSchema(read('schema.graphql'));
const filesIn = (folder: string, ending: string) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => read(join(folder, name)));
const german: Readonly<Record<string, string>> = Object.assign(
  {},
  ...filesIn('console/src', 'de.json').map((text) => JSON.parse(text)),
);

function codesOf(enumName: string): readonly string[] {
  const type = schema.getType(enumName);
  if (!isEnumType(type)) throw new Error(`${enumName} is no enum`);
  return type.getValues().map(({ name }) => name);
}

describe('the words of the console for failures of the service', () => {
  const codes = [...new Set([...codesOf('ErrorCode'), ...Object.keys(errorCodes)])];

  it('are there for every code, in English', () => {
    expect(codes.length).toBeGreaterThan(60);
    expect(codes.filter((code) => describeCode((message) => message, code) === undefined)).toEqual([]);
  });

  it('are there for every code, in German', () => {
    const isWordless = (code: string) => german[describeCode((message) => message, code) ?? ''] === undefined;
    expect(codes.filter(isWordless)).toEqual([]);
  });

  it.each(['KnowledgeErrorCode', 'VectorErrorCode'])('are there for every value of %s, why knowledge is not read', (enumName) => {
    const words = new Map(
      [...read('console/src/parts/reading-failures.ts').matchAll(/^ {4}([A-Z_]+): t\('([^']+)'\)/gm)].map(
        ([, code = '', message = '']) => [code, message],
      ),
    );
    expect(codesOf(enumName).filter((code) => german[words.get(code) ?? ''] === undefined)).toEqual([]);
  });

  it('say messages that the service has: none is left from before', () => {
    const sources = filesIn('src', '.ts').join('\n');
    const unknown = Object.keys(serviceSentences).filter((template) => {
      const parts = template.split(/\{\w+\}/).map((part) => RegExp.escape(part));
      return !new RegExp(parts.join('(?:\\$\\{[^}]*\\}|[^\\n]{0,40})')).test(sources);
    });
    expect(unknown).toEqual([]);
  });
});
