import { describe, expect, it } from 'vitest';
import { makeKeySecret } from '../../../src/entities/people/api-key.ts';
import { createLogger } from '../../../src/http/log/logging.ts';
import { loadSettings } from '../../../src/settings.ts';

const providerKey = 'sk-canary-provider-key-(1)';
const masterKey = 'canary-master-key-0123456789';
const secret = makeKeySecret();

describe('the log prints no secret', () => {
  it.each([
    ['a bearer header', { req: { headers: { authorization: `Bearer ${secret}` } } }, secret],
    ['a key of ours in a sentence', { detail: `the key ${secret} was used` }, secret],
    ['a bearer header in a sentence', { detail: 'sent Authorization: Bearer abc.def-ghi' }, 'abc.def-ghi'],
    ['a secret setting in the message of an error', { err: new Error(`401 for ${providerKey}`) }, providerKey],
    ['the master key, anywhere', { a: { b: { c: { d: { e: masterKey } } } } }, masterKey],
    ['the password of an address', { detail: 'postgres://parley:hunter22@db.internal/parley' }, 'hunter22'],
    [
      'members named for a secret',
      { body: { apiKey: 'canary-1', secrets: { crm: 'canary-1' }, password: 'canary-1' } },
      'canary-1',
    ],
  ])('%s', (_name, logged, hidden) => {
    const lines: string[] = [];
    const settings = loadSettings({ LOG_LEVEL: 'info', OPENAI_API_KEY: providerKey, PARLEY_MASTER_KEY: masterKey });
    createLogger(settings, (line) => lines.push(line)).info(logged, 'something happened');
    expect(lines.length).toBe(1);
    expect(lines[0]).toContain('something happened');
    expect(lines[0]).toContain('[secret]');
    expect(lines[0]).not.toContain(hidden);
    expect(() => JSON.parse(lines[0] ?? '')).not.toThrow();
  });
});

describe('the log of a failure', () => {
  it('names its causes, and leaves out what a library hangs on it', () => {
    const lines: string[] = [];
    const cause = Object.assign(new Error('connection lost'), { code: '57P01', client: { password: 'canary-in-a-client' } });
    const logger = createLogger(loadSettings({}), (line) => lines.push(line));
    logger.error({ err: new Error('not stored', { cause }), requestId: 'req_1' }, 'unexpected failure');
    const logged = JSON.parse(lines[0] ?? '');
    expect(logged).toMatchObject({
      requestId: 'req_1',
      err: { message: 'not stored', cause: { message: 'connection lost', code: '57P01' } },
    });
    expect(lines[0]).not.toContain('canary-in-a-client');
  });
});
