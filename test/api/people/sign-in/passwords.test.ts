import { describe, expect, it } from 'vitest';
import type { Person } from '../../../support/make.ts';
import { TestBrowser } from '../../../support/people/browser.ts';
import { triesAll } from '../../../support/property/sample.ts';
import { withService } from '../../../support/service.ts';

const lines: string[] = [];
const { service, make } = await withService('plain', { env: { LOG_LEVEL: 'trace' }, onLog: (line) => lines.push(line) });
const password = 'correct horse battery staple';
const setting = 'mutation ($input: SetPasswordInput!) { setPassword(input: $input) { hasPassword } }';

const newBrowser = () => new TestBrowser(() => service.url);

async function byLink(who: Person): Promise<TestBrowser> {
  const browser = newBrowser();
  const { body } = await who.post('/api/v1/admin/sign-in-links', {});
  expect((await browser.signInBy(body.url)).status).toBe(200);
  return browser;
}
/** An administrator with a password. */
async function withPassword(text = password): Promise<Person> {
  const ann = await make.person({ role: 'ADMIN' });
  expect((await set(await byLink(ann), { new: text })).errors).toBeUndefined();
  return ann;
}
const set = (browser: TestBrowser, input: object) => browser.graphql(setting, { input });
const byPassword = (email: string, text: string, browser = newBrowser()) =>
  browser.post('/sign-in/password', { email, password: text });
/** Forgets what this address did before: the tests share it. */
const forgetAttempts = () => service.deps.storage.db.prisma.signInAttempt.deleteMany({});

describe('a password', () => {
  it('signs its person in by the e-mail in any case, as often as wanted', async () => {
    const ann = await withPassword();
    const browser = newBrowser();
    expect(await byPassword(ann.email.toUpperCase(), password, browser)).toMatchObject({
      status: 200,
      body: { isSignedIn: true },
    });
    const { data } = await browser.graphql('{ viewer { user { email } session { method } hasPassword } }');
    expect(data.viewer).toEqual({ user: { email: ann.email }, session: { method: 'PASSWORD' }, hasPassword: true });
    expect((await byPassword(ann.email, password)).status).toBe(200);
  });

  it('is stored as argon2id with a salt of its own, and stands in no log', async () => {
    const [ann, bob] = [await withPassword(), await withPassword()];
    const hashes = await Promise.all([ann, bob].map(({ userId }) => service.deps.storage.people.passwords.find(userId)));
    for (const hash of hashes) expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
    expect(new Set(hashes).size).toBe(2);
    await byPassword(ann.email, `${password}!`);
    expect(lines.some((line) => line.includes('/sign-in/password'))).toBe(true);
    expect(lines.filter((line) => line.includes(password))).toEqual([]);
  });

  it('opens the account that it may, whatever other tenants gave the same password to the address', async () => {
    const email = `shared-${Date.now()}@example.com`;
    const persons = [await make.person({ role: 'ADMIN', email }), await make.person({ role: 'ADMIN', email })] as const;
    for (const person of persons) await set(await byLink(person), { new: password });
    const { storage } = service.deps;
    await storage.db.prisma.password.update({ where: { userId: persons[0].userId }, data: { orgIds: [] } });
    const browser = newBrowser();
    expect((await byPassword(email, password, browser)).status).toBe(200);
    expect((await browser.graphql('{ viewer { user { id } } }')).data.viewer.user.id).toBe(persons[1].userId);
  });

  it('is the same however its characters are composed', async () => {
    const ann = await withPassword('caf\u00e9 caf\u00e9 caf\u00e9');
    expect((await byPassword(ann.email, 'cafe\u0301 cafe\u0301 cafe\u0301')).status).toBe(200);
  });

  it.each([
    ['too short', 'a'.repeat(11)],
    ['too long', 'a'.repeat(201)],
  ])('is refused when it is %s', async (_case, text) => {
    const { errors } = await set(await byLink(await make.person({ role: 'ADMIN' })), { new: text });
    expect(errors?.[0].extensions).toMatchObject({ code: 'INVALID_VALUE' });
  });

  it('is set in a session, never by a key', async () => {
    const ann = await make.person({ role: 'ADMIN' });
    const { errors } = await ann.graphql(setting, { input: { new: password } });
    expect(errors?.[0].extensions.code).toBe('FORBIDDEN');
  });

  it('is changed with the one until now, and that ends the other sessions', async () => {
    const ann = await withPassword();
    const [one, two] = [newBrowser(), newBrowser()];
    await byPassword(ann.email, password, one);
    await byPassword(ann.email, password, two);
    const next = `${password} 2`;
    expect((await set(one, { new: next })).errors?.[0].extensions.code).toBe('INVALID_VALUE');
    expect((await set(one, { new: next, current: 'wrong' })).errors?.[0].extensions.code).toBe('INVALID_VALUE');
    expect((await set(one, { new: next, current: password })).data.setPassword.hasPassword).toBe(true);
    expect([(await one.viewer()).status, (await two.viewer()).status]).toEqual([200, 401]);
    expect((await byPassword(ann.email, password)).status).toBe(400);
    expect((await byPassword(ann.email, next)).status).toBe(200);
  });

  it('is replaced without the one until now within an hour after a link only', async () => {
    const ann = await withPassword();
    const browser = await byLink(ann);
    const id = (await browser.viewer()).data.viewer.keyId;
    const hourAgo = new Date(Date.now() - 3_700_000);
    await service.deps.storage.db.prisma.session.update({ where: { id }, data: { createdAt: hourAgo } });
    expect((await set(browser, { new: `${password} 2` })).errors?.[0].extensions.code).toBe('INVALID_VALUE');
    expect((await set(await byLink(ann), { new: `${password} 3` })).errors).toBeUndefined();
    expect((await byPassword(ann.email, `${password} 3`)).status).toBe(200);
  });

  it('is of no use to who is a member of nothing', async () => {
    const ann = await withPassword();
    await service.deps.storage.db.prisma.membership.deleteMany({ where: { userId: ann.userId } });
    expect((await byPassword(ann.email, password)).status).toBe(400);
  });

  it('signs in to the organization of the last session, of those that it opens', async () => {
    const ann = await withPassword();
    const second = await make.organization({ tenant: { id: ann.tenantId } });
    await service.client().post('/api/v1/admin/memberships', { userId: ann.userId, orgId: second.id, role: 'ADMIN' });
    const {
      db,
      people: { ways },
    } = service.deps.storage;
    const place = async () => {
      const browser = newBrowser();
      await byPassword(ann.email, password, browser);
      return (await browser.graphql('{ viewer { organization { id } } }')).data.viewer.organization.id;
    };
    expect(await place()).toBe(ann.orgId);
    await db.prisma.session.updateMany({ where: { userId: ann.userId }, data: { orgId: second.id } });
    expect(await place()).toBe(ann.orgId);
    await ways.confirm({ passwordOf: ann.userId }, second.id);
    await db.prisma.session.updateMany({ where: { userId: ann.userId }, data: { orgId: second.id } });
    expect(await place()).toBe(second.id);
  });
});

describe('guessing', () => {
  it('learns nothing from the answer or from the work: an unknown address and a wrong password are the same', async () => {
    await forgetAttempts();
    const ann = await withPassword();
    const bob = await make.person();
    const replies = [];
    for (const email of [ann.email, bob.email, 'nobody@example.com', 'no address']) {
      const before = service.deps.passwords.count;
      const { status, body } = await byPassword(email, 'wrong password');
      replies.push({ status, body, hashes: service.deps.passwords.count - before });
    }
    expect(new Set(replies.map((reply) => JSON.stringify(reply))).size).toBe(1);
    expect(replies[0]).toMatchObject({ status: 400, hashes: 1 });
  });

  it.each([
    ['a person', async () => (await withPassword()).email],
    ['an address that nobody has', async () => 'unknown@example.com'],
  ])(
    'is bounded for %s, also when all attempts are made at one moment, and the right password waits too',
    async (_case, emailOf) => {
      await forgetAttempts();
      const email = await emailOf();
      const before = service.deps.passwords.count;
      const replies = await Promise.all(Array.from({ length: 30 }, () => byPassword(email, 'wrong password')));
      const statuses = Map.groupBy(replies, ({ status }) => status);
      expect([statuses.get(400)?.length, statuses.get(429)?.length]).toEqual([10, 20]);
      expect(service.deps.passwords.count - before).toBe(10);
      const { status, headers } = await byPassword(email, password);
      expect(status).toBe(429);
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(800);
    },
  );

  it('does not lock a person out of a link', async () => {
    await forgetAttempts();
    const ann = await withPassword();
    for (let count = 0; count < 11; count += 1) await byPassword(ann.email, 'wrong password');
    expect((await byPassword(ann.email, password)).status).toBe(429);
    await byLink(ann);
  });

  it.runIf(triesAll)('is bounded for a network, whatever the addresses, and an own account does not clear that', async () => {
    await forgetAttempts();
    const ann = await withPassword();
    const wrong = (count: number) =>
      Promise.all(Array.from({ length: count }, (_, index) => byPassword(`n${index}@example.com`, 'x')));
    await wrong(99);
    expect((await byPassword(ann.email, password)).status).toBe(200);
    expect((await byPassword('last@example.com', 'x')).status).toBe(400);
    expect((await byPassword(ann.email, password)).status).toBe(429);
    await forgetAttempts();
  });

  it('begins anew for a person who remembers', async () => {
    await forgetAttempts();
    const ann = await withPassword();
    for (let round = 0; round < 2; round += 1) {
      for (let count = 0; count < 9; count += 1) await byPassword(ann.email, 'wrong password');
      expect((await byPassword(ann.email, password)).status).toBe(200);
    }
  });

  it('is refused from another site before anything is counted', async () => {
    const before = service.deps.passwords.count;
    const body = { email: 'ann@example.com', password };
    expect((await newBrowser().post('/sign-in/password', body, { origin: 'https://evil.example' })).status).toBe(403);
    expect((await newBrowser().post('/sign-in/password', body, { 'graphql-require-preflight': '' })).status).toBe(403);
    expect((await newBrowser().post('/sign-in/password', { ...body, more: 'x'.repeat(5_000) })).status).toBe(413);
    expect(service.deps.passwords.count).toBe(before);
  });
});

it('no key begins or adds a passkey: a person does, in a session', async () => {
  const ann = await make.person();
  const refused = [{ extensions: { code: 'FORBIDDEN' }, message: 'A passkey is added in a session: sign in with a browser' }];
  expect((await ann.graphql('mutation { beginPasskey { __typename } }')).errors).toMatchObject(refused);
  const add = 'mutation ($input: AddPasskeyInput!) { addPasskey(input: $input) { id } }';
  expect((await ann.graphql(add, { input: { name: 'Mine', response: '{}' } })).errors).toMatchObject(refused);
});
