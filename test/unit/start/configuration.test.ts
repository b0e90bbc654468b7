import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { configurationPage } from '../../../scripts/support/configuration-page.ts';
import { describeAllowed } from '../../../src/lib/settings/setting-kinds.ts';
import { defaultLimits } from '../../../src/limits.ts';
import { loadSettings, settingsSchema } from '../../../src/settings.ts';

const sources = fileURLToPath(new URL('../../../src', import.meta.url));

describe('settings', () => {
  it('docs/configuration.md is what they print (rewrite with: npm run configuration)', async () => {
    await expect(configurationPage()).toMatchFileSnapshot('../../../docs/configuration.md');
  });

  it('all have a default and say what they mean', () => {
    expect(() => loadSettings({})).not.toThrow();
    const silent = Object.entries(settingsSchema.shape).filter(([, { description }]) => (description ?? '') === '');
    expect(silent.map(([name]) => name)).toEqual([]);
    expect(Object.values<z.ZodType>(settingsSchema.shape).map(describeAllowed)).not.toContain('');
  });

  it('all have an effect: something other than their list reads each of them', () => {
    const read = readdirSync(sources, { recursive: true, encoding: 'utf8' })
      .filter(
        (path) =>
          path.endsWith('.ts') &&
          path !== 'settings.ts' &&
          path !== 'limits.ts' &&
          !/^(start\/checks|storage\/generated)/.test(path),
      )
      .map((path) => readFileSync(join(sources, path), 'utf8').replaceAll(/^\s*(?:\*|\/\/|\/\*\*).*$/gm, ''))
      .join('\n');
    const isRead = (name: string) => new RegExp(`\\.${name}\\b|[{,]\\s*${name}\\s*[,:}]`).test(read);
    const names = [...Object.keys(settingsSchema.shape), ...Object.keys(defaultLimits)];
    expect(names.filter((name) => !isRead(name))).toEqual([]);
  });

  it('that are numbers of something name its unit last', () => {
    const units =
      /_(MS|BYTES|MAX|PORT|CONCURRENCY|SECONDS|MINUTES|HOURS|DAYS|MIN|CHARS|TOKENS|PERCENT|HOPS|PER_MINUTE_(KEY|ORGANIZATION|ADDRESS))$|^PORT$/;
    // The names of OTEL_ settings are given by OpenTelemetry. A weight is a part of 1: it has no unit. Shards are counted.
    const unitless = ['RETRIEVAL_VECTOR_WEIGHT', 'SEARCH_INDEX_SHARDS'];
    const ours = Object.entries(loadSettings({})).filter(([name]) => !name.startsWith('OTEL_') && !unitless.includes(name));
    const numbers = ours.filter(([, value]) => typeof value === 'number');
    expect(numbers.map(([name]) => name).filter((name) => !units.test(name))).toEqual([]);
  });

  it.each([
    ['EGRESS_ALLOW', '10.0.0.0/40', '"10.0.0.0/40" cannot be read: entries are host, host:port'],
    ['EGRESS_DNS_SERVERS', 'dns.test', '"dns.test" cannot be read: entries are address, address:port'],
    ['CORS_ORIGINS', 'https://app.test/path', '"https://app.test/path" is no origin: write scheme, host and port only'],
    ['CORS_ORIGINS', 'app.test', '"app.test" is no origin: write scheme, host and port only'],
    ['CORS_ORIGINS', '*,https://app.test', '"*" allows every origin and stands alone'],
  ])('refuse a bad entry of %s by its name, with what is allowed', (name, text, words) => {
    expect(() => loadSettings({ [name]: text })).toThrow(words);
  });

  const secret = `whsec_${'a'.repeat(43)}=`;
  it.each([
    [{ SEARCH_INDEX_URL: 'search.test' }, 'SEARCH_INDEX_URL must be an address such as https://'],
    [{ SEARCH_INDEX_URL: 'https://a:hidden@search.test/Parley' }, 'SEARCH_INDEX_URL must end with a prefix'],
    [{ SEARCH_INDEX_URL: 'https://a:hidden%@search.test' }, 'percent-encoded'],
    [{ AUDIT_SINK_URL: 'https://siem.test' }, 'AUDIT_SINK_SECRET must be set with AUDIT_SINK_URL'],
    [{ AUDIT_SINK_SECRET: secret }, 'AUDIT_SINK_URL must be set with AUDIT_SINK_SECRET'],
    [{ AUDIT_SINK_URL: 'siem.test', AUDIT_SINK_SECRET: secret }, 'AUDIT_SINK_URL must be an address such as https://'],
    [{ AUDIT_SINK_URL: 'file:///etc/passwd', AUDIT_SINK_SECRET: secret }, 'AUDIT_SINK_URL must be an address such as https://'],
    [{ AUDIT_SINK_URL: 'https://ann:hidden@siem.test', AUDIT_SINK_SECRET: secret }, 'must have no user and no password'],
    [{ AUDIT_SINK_URL: 'https://siem.test', AUDIT_SINK_SECRET: 'whsec_hidden' }, 'must be whsec_ and 24 or more random bytes'],
    [
      { AUDIT_SINK_URL: 'https://siem.test', AUDIT_SINK_SECRET: `${secret},hidden` },
      'must be whsec_ and 24 or more random bytes',
    ],
  ])('refuse a receiver of audit entries that cannot work: %j', (env, words) => {
    expect(() => loadSettings(env)).toThrow(words);
    expect(() => loadSettings(env)).not.toThrow('hidden');
  });

  it.each(['PORT', 'LOG_FORMAT', 'INDEX_CONCURRENCY'])('are refused all at once: %s is named beside the others', (name) => {
    expect(() => loadSettings({ PORT: '70000', LOG_FORMAT: 'xml', INDEX_CONCURRENCY: '0' })).toThrow(`${name} must be `);
  });
});
