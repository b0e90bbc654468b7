import { readFileSync } from 'node:fs';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, it } from 'vitest';
import { estimateTokens } from '../../../src/engine/models/tokens.ts';

describe('the estimate of tokens, against o200k_base', () => {
  const english = readFileSync('README.md', 'utf8');
  it.each<[string, string, number, number]>([
    ['English Markdown with code', english, 0.9, 1.3],
    ['TypeScript', readFileSync('src/engine/knowledge/index/chunk.ts', 'utf8'), 0.9, 1.4],
    ['JSON', readFileSync('package.json', 'utf8'), 0.9, 1.3],
    [
      'German',
      'Die Werkstatt ist von Dienstag bis Samstag geöffnet. Reparaturen werden online oder telefonisch gebucht; die erste Durchsicht ist kostenlos und dauert zwanzig Minuten. Für Elektrofahrräder gilt eine Gewährleistung von zwei Jahren.',
      0.8,
      1.3,
    ],
    [
      'French',
      "L'atelier est ouvert du mardi au samedi. Les réparations se réservent en ligne ou par téléphone; la première inspection est gratuite et dure vingt minutes.",
      0.9,
      1.4,
    ],
    ['Russian', 'Мастерская открыта со вторника по субботу. Ремонт можно заказать по телефону или через интернет.', 0.9, 2],
    ['Chinese', '车间周二至周六营业。可以在线或通过电话预约维修，首次检查免费，大约需要二十分钟。', 0.9, 1.6],
    ['Japanese', '工房は火曜日から土曜日まで営業しています。修理はオンラインまたは電話で予約できます。', 0.9, 1.8],
    ['encoded data', Buffer.from(english).toString('base64').slice(0, 4_000), 0.7, 1.5],
  ])('is near for %s', (_name, text, low, high) => {
    const ratio = estimateTokens(text) / countTokens(text);
    expect(ratio).toBeGreaterThan(low);
    expect(ratio).toBeLessThan(high);
  });
  it('of a part is that of the part alone', () => {
    expect(estimateTokens(english, 100, 900)).toBe(estimateTokens(english.slice(100, 900)));
  });
});
