import { describe, expect, it } from 'vitest';
import { applyChange, listDifferences } from '../../../src/domain/agents/versions/content.ts';
import { diffContents, diffTexts } from '../../../src/domain/agents/versions/diff.ts';
import type { AgentContent } from '../../../src/entities/agents/version.ts';

const empty: AgentContent = {
  ...{ name: 'Ada', description: '', instructions: '', introduction: null, seed: null, modelId: null, options: {} },
  ...{ enabledTools: [], generateCitations: true, tools: [], userInputs: [], skills: [], flows: [], sources: [], secrets: [] },
};
const createdAt = '2026-01-01T00:00:00.000Z';
const tool = (id: string, name: string, data: object = {}) =>
  ({ id, createdAt, name, type: 'CLIENT_FUNCTION', data: { ...data } }) as const;
const skill = (id: string, content: string) => ({ id, createdAt, name: id, description: '', content, enabled: true });
const flow = (id: string, enabled: boolean) => ({ id, createdAt, name: id, enabled, versions: [] });
const source = (id: string, cite = true) => ({ id, name: id, type: 'API', cite, access: 'LENT' });

describe('the difference of two texts', () => {
  const numbered = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}`);

  it('shows three lines around each change', () => {
    const before = numbered(20);
    const after = before.with(9, 'changed');
    expect(diffTexts(before.join('\n'), after.join('\n'))).toEqual([
      {
        ...{ fromLine: 7, toLine: 7 },
        lines: [
          ...['line 7', 'line 8', 'line 9'].map((text) => ({ kind: 'SAME', text })),
          { kind: 'REMOVED', text: 'line 10' },
          { kind: 'ADDED', text: 'changed' },
          ...['line 11', 'line 12', 'line 13'].map((text) => ({ kind: 'SAME', text })),
        ],
      },
    ]);
  });

  it.each([
    ['', ''],
    ['a', 'a'],
    ['', 'a\nb'],
    ['a\nb', ''],
    ['a\nb\nc', 'c\nb\na'],
    ['same', 'same\nand more'],
    ['a\n\n\nb', 'a\nb'],
    ['windows\r\nlines', 'windows\nlines'],
  ])('of %j and %j holds the lines of both', (before, after) => {
    const lines = diffTexts(before, after).flatMap((hunk) => hunk.lines);
    const textOf = (kind: 'ADDED' | 'REMOVED') => lines.filter((line) => line.kind !== kind).map(({ text }) => text);
    if (before === after) return expect(lines).toEqual([]);
    expect(textOf('ADDED')).toEqual(before === '' ? [] : before.split('\n'));
    expect(textOf('REMOVED')).toEqual(after === '' ? [] : after.split('\n'));
  });

  it('of texts that have nothing in common is found at once', () => {
    const before = Array.from({ length: 20_000 }, (_, index) => `a ${index}`).join('\n');
    const after = Array.from({ length: 20_000 }, (_, index) => `b ${index}`).join('\n');
    expect(diffTexts(before, after).flatMap(({ lines }) => lines)).toHaveLength(40_000);
  });
});

describe('the difference of two contents', () => {
  it('names members, and the members of parts', () => {
    const from = {
      ...empty,
      instructions: 'One',
      tools: [tool('1', 'ping', { a: 1 }), tool('2', 'gone')],
      sources: [source('s')],
    };
    const to = {
      ...empty,
      instructions: 'Two',
      introduction: 'Hi',
      tools: [tool('1', 'ping', { a: 2 })],
      sources: [source('s', false)],
    };
    expect(diffContents(from, to).map(({ member, kind }) => `${kind} ${member}`)).toEqual([
      'CHANGED instructions',
      'ADDED introduction',
      'CHANGED tools.ping.data',
      'REMOVED tools.gone.name',
      'REMOVED tools.gone.type',
      'REMOVED tools.gone.data',
      'CHANGED sources.s.cite',
    ]);
    // The settings of a source are its own: they are shown, and are no change of the agent.
    expect(listDifferences(from, to).map(({ member }) => member)).toEqual([
      'instructions',
      'introduction',
      'tools.ping',
      'tools.gone',
    ]);
  });

  it('minds the order of the members of a schema, which reaches the model', () => {
    const [from, to] = [
      { a: 1, b: 2 },
      { b: 2, a: 1 },
    ].map((data) => ({ ...empty, tools: [tool('1', 'ping', data)] }));
    expect(listDifferences(from ?? empty, to ?? empty)).toHaveLength(1);
  });
});

describe('a change that is published at once', () => {
  it('takes nothing else of the draft along', () => {
    const published = { ...empty, instructions: 'Published', tools: [tool('1', 'old')], skills: [skill('s', 'one')] };
    const before = { ...empty, instructions: 'Draft', tools: [tool('2', 'new')], skills: [skill('s', 'draft')] };
    const after = { ...before, introduction: 'Hi', tools: [tool('2', 'new'), tool('3', 'third')] };
    expect(applyChange(published, before, after)).toEqual({
      ...published,
      ...{ introduction: 'Hi', tools: [tool('1', 'old'), tool('3', 'third')] },
    });
  });

  it('removes what the request removed, and keeps one name and one enabled flow', () => {
    const published = { ...empty, tools: [tool('1', 'a'), tool('2', 'b')], flows: [flow('f', true)] };
    // The draft renamed `a` and disabled its flow; the request makes another `a`, deletes `b` and enables another flow.
    const before = { ...empty, tools: [tool('1', 'z'), tool('2', 'b')], flows: [flow('f', false), flow('g', false)] };
    const after = { ...empty, tools: [tool('3', 'a'), tool('1', 'z')], flows: [flow('f', false), flow('g', true)] };
    const merged = applyChange(published, before, after);
    expect(merged.tools.map(({ id, name }) => `${id} ${name}`)).toEqual(['3 a', '1 z']);
    expect(merged.flows.filter(({ enabled }) => enabled).map(({ id }) => id)).toEqual(['g']);
  });
});
