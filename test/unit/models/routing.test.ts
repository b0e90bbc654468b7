import { describe, expect, it } from 'vitest';
import { routedChain } from '../../../src/engine/models/routing.ts';

describe('options.provider', () => {
  const chain = ['openai/gpt', 'backup/gpt-small'];
  const offers = (id: string) => ['openai/gpt', 'other/gpt'].includes(id);

  it.each([
    [[], true, ['openai/gpt', 'backup/gpt-small']],
    [[], false, ['openai/gpt']],
    [['backup'], true, ['backup/gpt-small', 'openai/gpt']],
    [['backup'], false, ['backup/gpt-small']],
    [['other', 'openai'], true, ['other/gpt', 'openai/gpt', 'backup/gpt-small']],
    [['other'], false, ['other/gpt']],
    [['nobody'], true, ['openai/gpt', 'backup/gpt-small']],
    [['nobody'], false, []],
  ])('order %j, fallbacks %s: asks %j', (order, allowsFallbacks, expected) => {
    expect(routedChain(chain, { order, allowsFallbacks }, offers)).toEqual(expected);
  });
});
