import { describe, expect, it } from 'vitest';
import { configurationPage } from '../../../scripts/support/configuration-page.ts';
import { loadSettings, settingsSchema } from '../../../src/settings.ts';

describe('settings', () => {
  it('docs/configuration.md is what they print (rewrite with: npm run configuration)', async () => {
    await expect(configurationPage()).toMatchFileSnapshot('../../../docs/configuration.md');
  });

  it('all have a default and say what they mean', () => {
    expect(() => loadSettings({})).not.toThrow();
    const silent = Object.entries(settingsSchema.shape).filter(([, { description }]) => (description ?? '') === '');
    expect(silent.map(([name]) => name)).toEqual([]);
  });

  it('that are numbers of something name its unit last', () => {
    const units =
      /_(MS|BYTES|MAX|PORT|CONCURRENCY|SECONDS|DAYS|MIN|CHARS|TOKENS|PERCENT|HOPS|PER_MINUTE_(KEY|ORGANIZATION|ADDRESS))$|^PORT$/;
    const numbers = Object.entries(loadSettings({})).filter(([, value]) => typeof value === 'number');
    expect(numbers.map(([name]) => name).filter((name) => !units.test(name))).toEqual([]);
  });

  it.each([
    ['EGRESS_ALLOW', '10.0.0.0/40', '"10.0.0.0/40" cannot be read: entries are host, host:port'],
    ['EGRESS_DNS_SERVERS', 'dns.test', '"dns.test" cannot be read: entries are address, address:port'],
  ])('refuse a bad entry of %s by its name, with what is allowed', (name, text, words) => {
    expect(() => loadSettings({ [name]: text })).toThrow(words);
  });

  it.each(['PORT', 'LOG_FORMAT', 'LIST_MAX'])('are refused all at once: %s is named beside the others', (name) => {
    expect(() => loadSettings({ PORT: '70000', LOG_FORMAT: 'xml', LIST_MAX: '0' })).toThrow(`→ at ${name}`);
  });
});
