import { describe, expect, it } from 'vitest';
import { sampled } from '../../support/property/sample.ts';
import { attackOn } from '../../support/source/pump.ts';
import { type Pattern, patternsOf } from '../../support/source/sources.ts';

const { literals, constructors } = patternsOf('src');

/**
 * Expressions that are made of text, each with one that is made so. Those of users run in RE2 (`tools/json-schema/linear-pattern.ts` only asks whether
 * JavaScript reads them).
 */
const made: readonly (readonly [file: string, examples: readonly RegExp[]])[] = [
  [
    'src/engine/knowledge/connectors/confluence/drive-files.ts',
    [/https?:\/\/(?:a\/[^/"'\s<>]{1,100}\/)?d\/([A-Za-z0-9_-]{10,100})/],
  ],
  [
    'src/engine/knowledge/connectors/confluence/drive-files.ts',
    [/(?:open|uc)\?(?:[^"'\s<>]{0,200}?(?:&amp;|&))?id=([A-Za-z0-9_-]{10,100})/],
  ],
  ['src/engine/models/clouds/aws-identity.ts', [/<AccessKeyId>\s*([^<]*?)\s*<\/AccessKeyId>/]],
  ['src/engine/tools/json-schema/linear-pattern.ts', []],
  // A set of characters, asked for one character.
  ['src/engine/tools/json-schema/pattern-program.ts', [/[a-z]/]],
  ['src/entities/people/api-key.ts', [/^pk_[0-9A-Za-z]{46}$/]],
  ['src/http/log/logging.ts', [/a secret\.txt/g]],
  ['src/pages/assets/search.js', [/(one|two words|three\.)/gi]],
  ['src/start/refusal.ts', [/\bPUBLIC_URL\b/]],
  ['src/storage/conversations/chats/copies.ts', [/file_01h00000000000000000000001|file_01h00000000000000000000002/g]],
];

describe('every regular expression of src', () => {
  it('is read from the code', () => {
    expect(literals.length).toBeGreaterThan(500);
  });

  const samples = Map.groupBy(sampled(literals), folderOf);
  it.each([...samples])('that stands in %s takes linear time for any text', (_folder, patterns) => {
    expect(found(patterns)).toEqual([]);
  });

  it('that is made of text is listed here, with its form', () => {
    expect(constructors).toEqual(made.map(([file]) => file));
    const examples = made.flatMap(([at, forms]) => forms.map(({ source, flags }) => ({ at, source, flags })));
    expect(found(examples)).toEqual([]);
  });
});

const nonlinear: readonly (readonly [string, RegExp])[] = [
  ['a comment before the first element', /^\s*(?:<!--[\s\S]*?-->\s*)*<html\b/i],
  ['marks behind a word', /[.,;:!?)\]}*_]+$/],
  ['closing marks before a space', /[.!?…]+["'”’»)\]]*(?=\s)/g],
  ['the text of a link', /!?\[([^\]]*)\]\([^)]*\)/g],
  ['spaces looked back on', /(?<=\b[Bb]earer +)[a-z0-9]{8,}/g],
  ['two members of a line', /^[^#\n]*:[^#\n]*\*[^#\n]*$/gm],
  ['a group in a group', /^(?:a+)+$/],
  ['two ways for one character', /^(?:a|[a-z])*$/],
  ['a comment without an end', /<!--[\s\S]*?-->/g],
];
it.each(sampled(nonlinear))('an expression that takes more is found: %s', (_name, { source, flags }) => {
  expect(attackOn({ at: 'here', source, flags })).toBeDefined();
});

it.each([/<[^<>]*>/g, /^(?:[a-z]+-)*[a-z]+$/, /\s+/g, /(?<!\/)\/+$/])(
  'an expression that does not is not: %s',
  ({ source, flags }) => {
    expect(attackOn({ at: 'here', source, flags })).toBeUndefined();
  },
);

/** `src/engine/knowledge` of `src/engine/knowledge/extract/extract.ts:12`. */
function folderOf({ at }: Pattern): string {
  return at.split('/').slice(0, -1).slice(0, 3).join('/');
}

function found(patterns: readonly Pattern[]): readonly string[] {
  return patterns.flatMap((pattern) => {
    const attack = attackOn(pattern);
    if (attack === undefined) return [];
    const { prefix, unit, suffix } = attack;
    return [
      `${pattern.at} /${pattern.source}/${pattern.flags} on ${JSON.stringify(prefix)} + n × ${JSON.stringify(unit)} + ${JSON.stringify(suffix)}`,
    ];
  });
}
