import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { placeTexts } from '../../../console/src/parts/markdown/marks.ts';
import { type Blocks, noBlocks, splitBlocks } from '../../../console/src/parts/markdown/reading/blocks.ts';
import { type Dialect, readTokens } from '../../../console/src/parts/markdown/reading/dialect.ts';
import { decodeEntities } from '../../../console/src/parts/markdown/reading/entities.ts';
import { withoutUndecided } from '../../../console/src/parts/markdown/reading/growing.ts';
import { findClaim, findSupport, lastSentence } from '../../../console/src/parts/markdown/reading/sentences.ts';
import { propertyRuns, propertySeed } from '../../support/property/sample.ts';
import { answers } from './answers.ts';

const dialects: readonly Dialect[] = ['answer', 'document'];
const drawing = ({ blocks, definitions, footnotes }: Blocks) => ({ blocks, definitions, footnotes });

/** What is drawn after the last piece of a text that came in pieces. */
function drawInPieces(text: string, dialect: Dialect, sizes: readonly number[]): Blocks {
  let blocks = noBlocks;
  for (let [end, turn] = [0, 0]; end < text.length; turn += 1) {
    end = Math.min(text.length, end + (sizes[turn % sizes.length] ?? 1));
    blocks = splitBlocks(withoutUndecided(text.slice(0, end)), dialect, blocks);
  }
  return splitBlocks(text, dialect, blocks);
}

const signs = [
  ...[
    'a',
    'word ',
    'Tags:',
    '#one',
    '# ',
    '## H',
    '\n',
    '\n\n',
    '\n\n',
    '- ',
    '* ',
    '+ ',
    '1. ',
    '2. ',
    '10) ',
    '  ',
    '    ',
    '\t',
  ],
  ...[
    '> ',
    '---',
    '***',
    '===',
    '= ',
    '```',
    '```ts\n',
    '~~~',
    '| a | b |\n',
    '| --- | --- |\n',
    '| 1 | 2 |',
    '$$',
    '$',
    '\\[',
    '\\]',
  ],
  ...['\\(', 'x^2', '<details>\n', '</details>', '<summary>s</summary>', '<thinking>', '<!-- ', '-->', '<div>', '[a]', '[1]'],
  ...[
    '[a]: http://x.y',
    '[^1]',
    '[^1]: note',
    '[ ] ',
    '[x] ',
    '- [ ] t',
    '**b**',
    '*',
    '_',
    '`',
    '`c`',
    '\\',
    '&amp;',
    '5',
    'é',
    '—',
    ':',
  ],
];
const anyText = fc.array(fc.constantFrom(...signs), { maxLength: 25 }).map((pieces) => pieces.join(''));
const anySizes = fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 20 });
const runs = (count: number) => ({ numRuns: propertyRuns(count), seed: propertySeed });

describe.each(dialects)('Markdown that comes in pieces, as %s', (dialect) => {
  it('is drawn after the last one as the whole is: answers, cut anywhere', () => {
    fc.assert(
      fc.property(fc.constantFrom(...Object.values(answers)), anySizes, (answer, sizes) => {
        expect(drawing(drawInPieces(answer, dialect, sizes))).toEqual(drawing(splitBlocks(answer, dialect)));
      }),
      runs(400),
    );
  });

  it('is drawn after the last one as the whole is: signs in any order', () => {
    fc.assert(
      fc.property(anyText, anySizes, (text, sizes) => {
        expect(drawing(drawInPieces(text, dialect, sizes))).toEqual(drawing(splitBlocks(text, dialect)));
      }),
      runs(8_000),
    );
  });

  it('has the same elements block by block as in one piece', () => {
    const isDrawn = ({ type }: { readonly type: string }) => type !== 'space' && type !== 'footnote';
    const withoutRaw = (value: unknown) => JSON.parse(JSON.stringify(value, (name, each) => (name === 'raw' ? undefined : each)));
    fc.assert(
      fc.property(fc.oneof(anyText, fc.constantFrom(...Object.values(answers))), (text) => {
        const { blocks, definitions } = splitBlocks(text, dialect);
        const parts = blocks.flatMap(({ source }) => readTokens(source, dialect, definitions));
        const whole = readTokens(text, dialect, definitions);
        expect(withoutRaw(parts.filter(isDrawn))).toEqual(withoutRaw(whole.filter(isDrawn)));
      }),
      runs(4_000),
    );
  });
});

it.each(Object.entries(answers))('only reads what may change again: %s', (_name, answer) => {
  let blocks = noBlocks;
  for (let end = 1; end <= answer.length; end += 1) {
    const next = splitBlocks(answer.slice(0, end), 'answer', blocks);
    for (const [index, block] of next.settled.blocks.entries()) {
      if (index < blocks.settled.blocks.length) expect(block).toEqual(blocks.settled.blocks[index]);
    }
    blocks = next;
  }
  const { settled } = blocks;
  expect(settled.end).toBeGreaterThan(answer.length / 3);
});

describe('an answer that grows', () => {
  it.each([
    ['a rule', 'Text\n\n--', 'Text\n\n'],
    ['a heading below a line', 'Text\n-', 'Text\n'],
    ['an item', '- one\n2', '- one\n'],
    ['the head of a table', 'Prices:\n\n| what | price |\n| --', 'Prices:'],
    ['a fence', 'Code:\n``', 'Code:\n'],
  ])('does not show yet what may become %s', (_what, text, visible) => {
    expect(withoutUndecided(text)).toBe(visible);
  });
  it.each(['Text', '- one\n- two', 'A < b', '| a |\n| - |\n| 1', 'It is 5'])('shows at once: %s', (text) => {
    expect(withoutUndecided(text)).toBe(text);
  });
});

const leaves = (text: string): string => {
  const { blocks, definitions } = splitBlocks(text, 'answer');
  const read = (token: {
    readonly type: string;
    readonly raw: string;
    readonly text?: string;
    readonly tokens?: unknown;
  }): string => {
    if (Array.isArray(token.tokens) && token.tokens.length > 0) return token.tokens.map(read).join('');
    return ['text', 'escape', 'codespan', 'code'].includes(token.type) ? decodeEntities(token.text ?? token.raw) : token.raw;
  };
  return blocks.map(({ source }) => readTokens(source, 'answer', definitions).map(read).join('')).join('\n');
};

it.each([
  'The <thinking> tag, <b>bold</b>, <br>, <a href="x">y</a> and <!-- a comment --> are text.',
  '<thinking>\nFirst this.\n</thinking>\nThen that.',
  'a < b and b > c, x <- y, 3<4',
  'It costs $5 and $6, or $5-$10; $HOME and $PATH; US$5, and I have $5 and you have 10$.',
  'About ~5 or ~10, also ~5-~10.',
  '5*3*2 and a*b*c and 2**3**4',
  'snake_case_name and C:\\temp\\new',
  '[1] and [x] and [^none]',
])('loses no sign: %s', (text) => {
  expect(leaves(text).replaceAll(/\s+/g, ' ')).toBe(text.replaceAll(/\s+/g, ' '));
});

it.each([
  ['$x^2$', 'x^2', false],
  ['$$\na + b\n+ c\n$$', 'a + b\n+ c', true],
  ['\\(a_1\\)', 'a_1', false],
  ['\\[\n\\frac{1}{2}\n\\]', '\\frac{1}{2}', true],
])('reads mathematics: %s', (text, tex, isDisplay) => {
  const flat = JSON.stringify(readTokens(text, 'answer', {}));
  expect(flat).toContain(JSON.stringify({ tex, isDisplay }).slice(1, -1));
});

it('knows where each text stands in its source', () => {
  const source =
    '# A title\n\n> Said **very** loud, *see* [the list](https://the.list/loud).\n\n- one `code`\n  goes on\n- two\n';
  for (const { source: block } of splitBlocks(source, 'document').blocks) {
    const places = placeTexts(readTokens(block, 'document', {}), block);
    expect(places.size).toBeGreaterThan(0);
    for (const [token, place] of places) {
      const text = 'text' in token ? String(token.text) : token.raw;
      expect(block.slice(place, place + text.length)).toBe(text);
    }
  }
});

describe('the sentence of a passage that supports an answer', () => {
  const passage =
    '# Fees\n\nA berth for one night costs forty crowns. Guests pay\nat the office.\n\n- Water: 5 crowns\n- Power: 12 crowns a day\n';
  it.each([
    ['A night costs **forty crowns**', 'A berth for one night costs forty crowns.'],
    ['You pay at the office, as a guest', 'Guests pay\nat the office.'],
    ['Power is 12 crowns', '- Power: 12 crowns a day'],
  ])('%s', (claim, sentence) => {
    const range = findSupport(passage, claim);
    expect(passage.slice(range?.start, range?.end)).toBe(sentence);
  });
  it('is unknown where they share no word', () => {
    expect(findSupport(passage, 'Etwas ganz anderes')).toBeUndefined();
    expect(findSupport('', 'A night')).toBeUndefined();
  });
  it('is looked for with the sentence before the citation', () => {
    expect(findClaim('First. A night costs forty crowns [2][1]. More [1].', 1)).toBe('A night costs forty crowns');
    expect(lastSentence('One. Two costs 3.50 €. ')).toBe('Two costs 3.50 €.');
  });
});
