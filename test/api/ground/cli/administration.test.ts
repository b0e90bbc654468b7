import { beforeAll, describe, expect, it } from 'vitest';
import { readTyped } from '../../../../scripts/cli/arguments.ts';
import { commandsOf } from '../../../../scripts/cli/commands.ts';
import { readCommand } from '../../../../scripts/cli/read-command.ts';
import { buildSchema } from '../../../../src/graphql/schema.ts';
import type { Person } from '../../../support/make.ts';
import { parley, parleyProcess } from '../../../support/processes/command-line.ts';
import { withService } from '../../../support/service.ts';

const commands = commandsOf(buildSchema());

const { service, make } = await withService();

describe('the command line', () => {
  let admin: Person;
  beforeAll(async () => {
    admin = await make.person({ role: 'ADMIN' });
  });
  const asAdmin = (words: string) => parley(words, { PARLEY_URL: service.url, PARLEY_API_KEY: admin.key });
  const asRoot = (words: string) => parley(words, { PARLEY_URL: service.url, PARLEY_API_KEY: service.adminKey });

  it('explains itself', async () => {
    const [help, ofVerb] = await Promise.all([parleyProcess('help'), parley('keys create --help')]);
    expect([help.code, help.err]).toEqual([0, '']);
    for (const noun of ['tenants', 'organizations', 'limits', 'users', 'memberships', 'keys', 'usage', 'audit']) {
      expect(help.out).toMatch(new RegExp(`^  ${noun} `, 'm'));
    }
    expect(ofVerb.out).toContain('--scopes <text,…>');
    expect(ofVerb.out).toContain('Required.');
  });

  it.each<[string, string, RegExp]>([
    ['an unknown noun', 'things list', /^There is no command "things"\. Commands are .*keys/],
    ['a member without its value', 'keys create --name', /^--name needs a value/],
    ['no key', 'keys list', /^No key was given\. Give one with --key or PARLEY_API_KEY/],
  ])('says in a sentence what is wrong, and ends with 2: %s', async (_case, words, sentence) => {
    const { code, out, err } = await parley(words);
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(sentence);
    expect(err).not.toContain('    at ');
  });

  // Without a process each: what is wrong is found before anything is asked.
  it.each<[string, string, RegExp]>([
    ['an unknown verb', 'keys paint', /^keys cannot "paint"\. It can list, create, revoke\./],
    ['no verb', 'limits', /^limits needs a verb/],
    ['an unknown member', 'keys list --colour red', /^keys list does not take --colour/],
    ['a missing member', 'keys create --name x', /^keys create needs --scopes/],
    ['a word too many', 'keys list all', /^Options are written as --name value/],
    ['a number that is none', 'limits set --orgId x --apiUsageTokenLimit many', /must be a number/],
  ])('refuses what it cannot send: %s', (_case, words, sentence) => {
    const read = () => readCommand(commands, readTyped(words.split(' ')));
    expect(read).toThrow(sentence);
    expect(read).toThrow(expect.objectContaining({ name: 'Failure', exitCode: 2 }));
  });

  it('administers the running service, as far as its key may', async () => {
    const made = await asAdmin('users create --email zoe@example.com --name Zoe --role ADMIN --json');
    expect(made.code).toBe(0);
    expect(JSON.parse(made.out)).toMatchObject({ email: 'zoe@example.com', name: 'Zoe' });
    const listed = await asAdmin('users list --search zoe');
    expect(listed.out.split('\n')).toEqual([
      expect.stringMatching(/^name +email +id /),
      expect.stringMatching(/^Zoe +zoe@example\.com +user_\w+ /),
      '',
    ]);
    const limited = await asRoot(`limits set --org-id ${admin.orgId} --apiUsageTokenLimit 5000000000 --json`);
    expect(JSON.parse(limited.out)).toMatchObject({ apiUsageTokenLimit: 5_000_000_000, dataUsageTokenLimit: null });
    const lifted = await asRoot(`limits set --org-id ${admin.orgId} --apiUsageTokenLimit null --json`);
    expect(JSON.parse(lifted.out)).toMatchObject({ apiUsageTokenLimit: null });
    const key = await asAdmin('keys create --name Narrow --scopes AGENTS:READ,USAGE:READ --json');
    expect(JSON.parse(key.out)).toMatchObject({ scopes: ['AGENTS:READ', 'USAGE:READ'], key: expect.stringMatching(/^pk_/) });
    expect((await asAdmin('usage show')).out).toMatch(/apiTokensUsed +0/);
    expect((await asAdmin('audit list --limit 1')).out).toMatch(/createApiKey[\s\S]*More: --cursor /);
  });

  it('shows in the audit log when, who, and what was done to what', async () => {
    const cleo = await make.person({ role: 'ADMIN', email: `cleo.with.a.long.address.${Date.now()}@example.com` });
    const agent = await make.agent({ owner: cleo });
    await cleo.patch(`/api/v1/ais/${agent.id}`, { name: 'Renamed' });
    const { out } = await parley('audit list --limit 3', { PARLEY_URL: service.url, PARLEY_API_KEY: cleo.key });
    const [head = '', ...rows] = out.split('\n');
    expect(head).toMatch(/^createdAt +who +what +targetId/);
    expect(rows[0]).toMatch(new RegExp(`^\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d  cleo\\.with\\S*…  updateAgent +${agent.id}`));
    expect(out.split('\n').every((line) => line.length <= 100)).toBe(true);
  });

  it('says what the service refused, and what it could not reach', async () => {
    const refused = await asAdmin('tenants list');
    expect([refused.code, refused.out]).toEqual([1, '']);
    expect(refused.err).toContain('Tenants need a key of level INSTANCE (403).');
    const faulty = await asAdmin('users create --email nothing --name a');
    expect([faulty.code, faulty.err]).toEqual([1, 'email must be an e-mail address (400).\n']);
    const unreachable = await parleyProcess('keys list --url http://127.0.0.1:9', { PARLEY_KEY: 'x' });
    expect(unreachable.code).toBe(1);
    expect(unreachable.err).toMatch(/^Nothing answers at http:\/\/127\.0\.0\.1:9 .*Is the service running\?/);
  });
});
