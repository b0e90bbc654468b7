import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readSecret } from '../../../src/lib/files/secret-files.ts';
import { loadSettings, secretSettings, settingsProblems, settingsSchema } from '../../../src/settings.ts';
import { mistypedSettings } from '../../../src/start/checks/mistyped.ts';

const folder = mkdtempSync(join(tmpdir(), 'parley-secrets-'));
afterAll(() => rmSync(folder, { recursive: true }));

function fileOf(text: string): string {
  const path = join(folder, `secret-${crypto.randomUUID()}`);
  writeFileSync(path, text);
  return path;
}

describe('a secret that stands in a file', () => {
  const good: Readonly<Record<string, string>> = {
    DATABASE_URL: 'postgres://localhost/parley',
    DATABASE_DIRECT_URL: 'postgres://localhost/parley',
    REDIS_URL: 'redis://:secret@redis.example.com:6379',
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20x',
    SMTP_URL: 'smtp://ann:secret@mail.example.com:587',
    AUDIT_SINK_URL: 'https://siem.example.com/parley',
    SEARCH_INDEX_URL: 'https://parley:secret@search.example.com:9200/parley',
    AUDIT_SINK_SECRET: `whsec_${'a'.repeat(43)}=`,
  };
  /** What a setting cannot be without. */
  const needed: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    DATABASE_URL: { PARLEY_MASTER_KEY: 'a secret of some length' },
    DATABASE_DIRECT_URL: { DATABASE_URL: 'postgres://localhost/parley', PARLEY_MASTER_KEY: 'a secret of some length' },
    REDIS_URL: { DATABASE_URL: 'postgres://localhost/parley', PARLEY_MASTER_KEY: 'a secret of some length' },
    SMTP_URL: { SMTP_FROM: 'parley@example.com' },
    AUDIT_SINK_URL: { AUDIT_SINK_SECRET: `whsec_${'a'.repeat(43)}=` },
    AUDIT_SINK_SECRET: { AUDIT_SINK_URL: 'https://siem.example.com/parley' },
  };

  it.each(secretSettings)('%s is read from it, without the line break at its end', (name) => {
    const value = good[name] ?? 'a-secret-of-more-than-32-characters-in-a-file';
    const others = needed[name] ?? {};
    const env = { ...others, [`${name}_FILE`]: fileOf(`${value}\n`) };
    expect(settingsProblems(env)).toEqual([]);
    expect(loadSettings(env)).toEqual(loadSettings({ ...others, [name]: value }));
    expect(mistypedSettings(env)).toEqual([]);
  });

  it('is offered for every setting whose name says that it is secret', () => {
    const named = Object.keys(settingsSchema.shape).filter((name) => /KEY|SECRET|TOKEN|PASSWORD|HEADERS/.test(name));
    const open = named.filter((name) => !secretSettings.includes(name));
    expect(open.filter((name) => !/^RATE_LIMIT_|_TOKENS$|_TOKENS_MAX$|_KEY_ID$|_TOKEN_URL$|_TIMEOUT_MS$/.test(name))).toEqual([]);
  });

  it('serves the variables of a models file too', () => {
    expect(readSecret({ LOCAL_KEY_FILE: fileOf('of a file\n') }, 'LOCAL_KEY')).toBe('of a file');
    expect(readSecret({ LOCAL_KEY: ' plain ' }, 'LOCAL_KEY')).toBe('plain');
    expect(readSecret({}, 'LOCAL_KEY')).toBeUndefined();
  });

  it.each([
    [
      'is not there',
      { OPENAI_API_KEY_FILE: join(folder, 'none') },
      /^OPENAI_API_KEY_FILE names \S+none, which cannot be read: ENOENT\.$/,
    ],
    ['is a folder', { OPENAI_API_KEY_FILE: folder }, /^OPENAI_API_KEY_FILE names \S+, which cannot be read: EISDIR\.$/],
    ['is empty', { OPENAI_API_KEY_FILE: fileOf(' \n') }, /^OPENAI_API_KEY_FILE names \S+, which cannot be read: it is empty\.$/],
    ['is too large', { OPENAI_API_KEY_FILE: fileOf('x'.repeat(70_000)) }, /it has 70000 bytes, at most 65536 are allowed\.$/],
    [
      'stands beside its value',
      { OPENAI_API_KEY: 'x', OPENAI_API_KEY_FILE: fileOf('y') },
      /^OPENAI_API_KEY and OPENAI_API_KEY_FILE are both set; keep one of them\.$/,
    ],
  ])('is refused when it %s', (_title, env, words) => {
    expect(settingsProblems(env)).toEqual([expect.stringMatching(words)]);
    expect(() => loadSettings(env)).toThrow('bad settings:');
  });

  it('is not shown when its value is no good', () => {
    const problems = settingsProblems({ PARLEY_ADMIN_KEY_FILE: fileOf('too short') });
    expect(problems).toEqual([expect.stringContaining('PARLEY_ADMIN_KEY must be 32 to 200 printable characters')]);
    expect(problems[0]).not.toContain('too short');
  });
});
