import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { Scope } from '../../../../src/entities/people/caller.ts';
import type { Organization, Person } from '../../../support/make.ts';
import { keepWithinDay } from '../../../support/processes/days.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { withService } from '../../../support/service.ts';
import { countFewestStatements } from '../../../support/storage/statements.ts';

const folder = mkdtempSync(join(tmpdir(), 'parley-budgets-'));
const file = join(folder, 'models.json');
const price = { inputPerMillionTokens: 1_000, outputPerMillionTokens: 2_000 };
writeFileSync(file, JSON.stringify({ prices: { 'openai/test-model': price } }));
afterAll(() => rmSync(folder, { recursive: true }));

const { service, make, upstream } = await withService('model', { env: { MODELS_FILE: file, USAGE_LEASE_MS: '3000' } });
const path = '/api/v1/admin/budgets';
const model = 'openai/test-model';
/** What a call of the script costs. */
const callCost = 10 * 0.001 + 5 * 0.002;
let organization: Organization;
let ann: Person;
let admin: Person;

beforeEach(keepWithinDay);
beforeEach(async () => {
  upstream.otherwise({ text: 'Hello', usage: { prompt_tokens: 10, completion_tokens: 5 } });
  organization = await make.organization();
  ann = await make.person({ organization });
  admin = await make.person({ organization, role: 'ADMIN' });
});

const ask = (who: Person, more: object = {}) =>
  who.post('/api/v1/chat/completions', { model, messages: [{ role: 'user', content: 'Hi' }], max_tokens: 16, ...more });
async function budget(limit: number, more: object = {}) {
  const { status, body } = await admin.put(path, { subject: 'ORGANIZATION', period: 'DAY', unit: 'TOKENS', limit, ...more });
  expect([status, body]).toMatchObject([200, { limit: expect.closeTo(limit, 9) }]);
  return body;
}
const used = (id: string, amount: number) =>
  eventually(async () => expect((await admin.get(`${path}/${id}`)).body.used).toBeCloseTo(amount, 6));
const refusal = { status: 429, body: { error: { code: 'insufficient_quota' } } };

describe('budgets', () => {
  it('are set, listed, changed and deleted by administrators, over both APIs, with entries of the audit log', async () => {
    const first = await budget(1_000, { subject: 'USER', subjectId: ann.userId });
    expect(first).toMatchObject({ subjectId: ann.userId, used: 0, left: 1_000, allowsUnpricedModels: false });
    expect(Date.parse(first.resetsAt) - Date.parse(first.startsAt)).toBe(86_400_000);
    const second = await budget(12.5, { period: 'MONTH', unit: 'MONEY' });
    expect(second).toMatchObject({ subject: 'ORGANIZATION', subjectId: organization.id, limit: 12.5, left: 12.5 });
    expect((await budget(2_000, { subject: 'USER', subjectId: ann.userId })).id).toBe(first.id);
    const { data } = (await admin.get(`${path}?limit=1`)).body;
    expect(data.map(({ id }: { id: string }) => id)).toEqual([second.id]);
    expect((await admin.get(`${path}?subjectId=${ann.userId}`)).body.data).toMatchObject([{ id: first.id, limit: 2_000 }]);
    const document =
      '{ budgets(subject: USER) { totalCount nodes { limit user { id } } } ownBudgets { id } viewer { limits { budgets { id unit } } } }';
    expect((await admin.graphql(document)).data).toEqual({
      budgets: { totalCount: 1, nodes: [{ limit: 2_000, user: { id: ann.userId } }] },
      ownBudgets: [{ id: second.id }],
      viewer: { limits: { budgets: [{ id: second.id, unit: 'MONEY' }] } },
    });
    expect((await ann.get('/api/v1/usage/budgets')).body.data).toHaveLength(2);
    expect(await ann.get(path)).toMatchObject({ status: 403 });
    expect(await ann.put(path, { subject: 'ORGANIZATION', period: 'DAY', unit: 'TOKENS', limit: 1 })).toMatchObject({
      status: 403,
    });
    expect(await admin.delete(`${path}/${first.id}`)).toMatchObject({ status: 200, body: { id: first.id } });
    expect(await admin.get(`${path}/${first.id}`)).toMatchObject({ status: 404 });
    const { data: entries } = (await admin.get(`/api/v1/admin/audit-log?actorUserId=${admin.userId}`)).body;
    expect(entries.map(({ action }: { action: string }) => action).slice(0, 4)).toEqual([
      ...['deleteBudget', 'setBudget', 'setBudget', 'setBudget'],
    ]);
  });

  it('are found by their ids as far as the key reads budgets', async () => {
    const [whole, other] = [await budget(1_000), await budget(1_000, { subject: 'USER', subjectId: ann.userId })];
    const query = '($ids: [ID!]!) { nodes(ids: $ids) { id } }';
    const read = async (scope: Scope) => {
      const reader = await make.withKey(admin, { scopes: [scope] });
      return reader.graphql(`query ${query}`, { ids: [whole.id, other.id] });
    };
    expect((await read('ADMIN:READ')).data.nodes).toEqual([{ id: whole.id }, { id: other.id }]);
    // `budgets` and `budget` are closed to this key; `ownBudgets` has the first one.
    expect((await read('USAGE:READ')).data.nodes).toEqual([{ id: whole.id }, null]);
    expect((await read('AGENTS:READ')).errors).toMatchObject([{ extensions: { code: 'INSUFFICIENT_SCOPE' } }]);
    const deleter = await make.withKey(admin, { scopes: ['ADMIN:WRITE'] });
    expect(await deleter.delete(`${path}/${other.id}`)).toMatchObject({ status: 200 });
  });

  it('say what is wrong with them', async () => {
    const group = await make.organization();
    const stranger = await make.person({ organization: group });
    for (const [members, param] of [
      [{ limit: -1 }, 'limit'],
      [{ limit: 1.5 }, 'limit'],
      [{ unit: 'MONEY', limit: 2e9 }, 'limit'],
      [{ unit: 'MONEY', limit: 1e-12 }, 'limit'],
      [{ unit: 'MONEY', limit: 0.12345678949 }, 'limit'],
      [{ subject: 'USER' }, 'subjectId'],
      [{ subject: 'USER', subjectId: stranger.userId }, 'subjectId'],
      [{ subject: 'ORGANIZATION', subjectId: group.id }, 'subjectId'],
      [{ subject: 'TEAM' }, 'subject'],
      [{ period: 'WEEK' }, 'period'],
    ] as const) {
      const reply = await admin.put(path, { subject: 'ORGANIZATION', period: 'DAY', unit: 'TOKENS', limit: 1, ...members });
      expect(reply).toMatchObject({ status: 400, body: { error: { param } } });
    }
    expect(await admin.put('/api/v1/admin/time-zone', { timeZone: '+01:00' })).toMatchObject({
      ...{ status: 400, body: { error: { param: 'timeZone' } } },
    });
  });

  it('say what a call takes where something is left that does not do', async () => {
    const person = await make.person({ organization });
    const { id, resetsAt } = await budget(1, { subject: 'USER', subjectId: person.userId });
    const { message } = (await ask(person)).body.error;
    const start = `The budget ${id} of the person ${person.userId} for a day allows 1 tokens, and 0 tokens are used; it begins again at ${resetsAt}. This call takes at least `;
    expect(message.slice(0, start.length)).toBe(start);
    expect(Number(/^(\d+) tokens$/.exec(message.slice(start.length))?.[1])).toBeGreaterThan(1);
  });

  it('refuse a call on every door, and say which budget it is and when it begins again', async () => {
    const agent = await make.agent({ owner: ann });
    const chat = await make.chat({ owner: ann, agentId: agent.id });
    const { id, resetsAt } = await budget(0, { subject: 'USER', subjectId: ann.userId });
    const refused = await ask(ann);
    expect(refused).toMatchObject(refusal);
    expect(refused.body.error.message).toBe(
      `The budget ${id} of the person ${ann.userId} for a day allows 0 tokens, and 0 tokens are used; it begins again at ${resetsAt}`,
    );
    const seconds = (Date.parse(resetsAt) - Date.now()) / 1_000;
    expect(Math.abs(Number(refused.headers.get('retry-after')) - seconds)).toBeLessThan(5);
    expect(refused.headers.get('x-should-retry')).toBe('false');
    expect(await ask(ann, { stream: true })).toMatchObject(refusal);
    expect(await ask(ann, { model: agent.id })).toMatchObject(refusal);
    expect(await ann.post(`/api/v1/chats/${chat.id}/messages`, { prompt: 'Hi' })).toMatchObject(refusal);
    expect((await ann.get(`/api/v1/chats/${chat.id}`)).body.messages).toEqual([]);
    expect(await ann.post('/api/v2/responses', { model, input: 'Hi' })).toMatchObject(refusal);
    expect(await ann.post('/api/v2/responses', { model, input: 'Hi', store: false })).toMatchObject(refusal);
    const messages = [{ role: 'user', content: 'Hi' }];
    expect(await ann.post('/api/v1/messages', { model: agent.id, max_tokens: 9, messages })).toMatchObject({
      ...{ status: 429, body: { type: 'error', error: { type: 'rate_limit_error' } } },
    });
    expect(await ann.post(`/api/v1/ag-ui/${agent.id}`, { threadId: 't', runId: 'r', messages })).toMatchObject(refusal);
    expect(upstream.requests).toEqual([]);
    expect((await ask(admin)).status).toBe(200);
  });

  it.each([
    ['tokens', 'TOKENS', 15, 15],
    ['money', 'MONEY', callCost, callCost],
  ] as const)('for three calls in %s admit three of 64 at one time', async (_name, unit, _least, cost) => {
    const { id } = await budget(0, { unit });
    // What one call needs: with one unit less it is refused.
    const step = unit === 'TOKENS' ? 1 : 0.001;
    let [refused, admitted, calls] = [0, 1_000, 0];
    while (admitted - refused > 1) {
      const units = Math.floor((refused + admitted) / 2);
      await budget(calls * cost + units * step, { unit });
      const { status } = await ask(ann);
      if (status === 200) [admitted, calls] = [units, calls + 1];
      else refused = units;
      await used(id, calls * cost);
    }
    const asked = upstream.requests.length;
    const gate = Promise.withResolvers<void>();
    const inputs = unit === 'TOKENS' ? admitted - 16 : admitted - 2 * 16;
    upstream.otherwise({ text: 'Hello', usage: { prompt_tokens: inputs, completion_tokens: 16 }, gate: gate.promise });
    await budget(calls * cost + 3 * admitted * step, { unit });
    const statuses: number[] = [];
    const all = Array.from({ length: 64 }, async () => statuses.push((await ask(ann)).status));
    await eventually(() => expect(statuses).toHaveLength(61));
    gate.resolve();
    await Promise.all(all);
    expect(statuses.filter((status) => status === 200)).toHaveLength(3);
    expect(upstream.requests.length - asked).toBe(3);
    await used(id, calls * cost + 3 * admitted * step);
    expect((await ask(ann)).status).toBe(429);
  });

  it('must all admit a call: of the organization, a group, a person, a key and an agent', async () => {
    const agent = await make.agent({ owner: ann, visibility: 'ORGANIZATION' });
    const group = await admin.post('/api/v1/groups', { name: 'Team', availability: 'EVERYONE', memberEmails: ann.email });
    const key = await make.withKey(ann, {});
    const wide = 1_000_000;
    const ids = [
      (await budget(wide)).id,
      (await budget(wide, { subject: 'GROUP', subjectId: group.body.id })).id,
      (await budget(wide, { subject: 'USER', subjectId: ann.userId, period: 'MONTH' })).id,
      (await budget(wide, { subject: 'KEY', subjectId: key.keyId })).id,
      (await budget(wide, { subject: 'AGENT', subjectId: agent.id })).id,
    ];
    const useOf = async () => {
      const { data } = (await admin.get(path)).body;
      return ids.map((id) => data.find((row: { id: string }) => row.id === id).used / 15);
    };
    for (const [who, answering] of [
      [key, agent.id],
      [ann, agent.id],
      [ann, model],
      [admin, agent.id],
    ] as const)
      expect((await ask(who, { model: answering })).status).toBe(200);
    // Of the organization, the group, the person, the key and the agent.
    await eventually(async () => expect(await useOf()).toEqual([4, 3, 3, 1, 3]));
    for (const [index, members, refusedCalls, admittedCall] of [
      [1, { subject: 'GROUP', subjectId: group.body.id }, [[ann, model]], [admin, model]],
      [3, { subject: 'KEY', subjectId: key.keyId }, [[key, model]], [ann, model]],
      [4, { subject: 'AGENT', subjectId: agent.id }, [[admin, agent.id]], [admin, model]],
      [0, {}, [[admin, model]], undefined],
    ] as const) {
      await budget(15, members);
      for (const [who, answering] of refusedCalls) {
        const reply = await ask(who, { model: answering });
        expect(reply).toMatchObject(refusal);
        expect(reply.body.error.message).toContain(ids[index]);
      }
      if (admittedCall !== undefined) expect((await ask(admittedCall[0], { model: admittedCall[1] })).status).toBe(200);
      await budget(wide, members);
    }
    expect((await ask(key, { model: agent.id })).status).toBe(200);
    // Who leaves a group leaves its budget, at once.
    await budget(15, { subject: 'GROUP', subjectId: group.body.id });
    expect((await ask(ann)).status).toBe(429);
    await admin.patch(`/api/v1/groups/${group.body.id}`, { memberEmailsToRemove: [ann.email] });
    expect((await ask(ann)).status).toBe(200);
    // A budget ends with what it is of.
    await admin.delete(`/api/v1/groups/${group.body.id}`);
    expect(await admin.get(`${path}/${ids[1]}`)).toMatchObject({ status: 404 });
  });

  it('in money refuse a model without a price by name, unless they allow it', async () => {
    const { id } = await budget(5, { unit: 'MONEY' });
    const unpriced = { model: 'parley/offline' };
    const refused = await ask(ann, unpriced);
    expect(refused).toMatchObject({ status: 403, body: { error: { code: 'forbidden' } } });
    expect(refused.body.error.message).toContain('The model parley/offline has no price');
    expect(refused.body.error.message).toContain(id);
    expect((await ask(ann)).status).toBe(200);
    await used(id, callCost);
    await budget(5, { unit: 'MONEY', allowsUnpricedModels: true });
    expect((await ask(ann, unpriced)).status).toBe(200);
    await used(id, callCost);
  });

  it('cut an answer to what the rest of the money buys, and give back what a failed call held', async () => {
    await budget(0.2, { unit: 'MONEY' });
    expect((await ask(ann, { max_tokens: 500 })).status).toBe(200);
    const most = Number(upstream.requests[0]?.body?.max_tokens ?? upstream.requests[0]?.body?.max_completion_tokens);
    expect(most).toBeGreaterThan(16);
    expect(most).toBeLessThanOrEqual(100);
    upstream.next({ status: 500, body: '{}' });
    expect((await ask(ann)).status).toBeGreaterThanOrEqual(500);
    await eventually(async () => expect((await ask(ann)).status).toBe(200));
  });

  it('are in headers of replies, by the names of the other limits', async () => {
    expect([...(await ask(ann)).headers.keys()].filter((name) => /ratelimit.*(tokens|cost)/.test(name))).toEqual([]);
    await budget(100_000);
    await budget(2, { unit: 'MONEY', period: 'MONTH' });
    for (const reply of [await ask(ann), await ask(ann)]) {
      const header = (name: string) => reply.headers.get(`x-ratelimit-${name}`);
      expect([header('limit-tokens'), header('limit-cost')]).toEqual(['100000', '2']);
      expect(header('reset-tokens')).toMatch(/^\d+s$/);
    }
    const later = await ask(ann, { stream: true });
    expect(Number(later.headers.get('x-ratelimit-remaining-tokens'))).toBeLessThanOrEqual(100_000 - 15);
    expect(Number(later.headers.get('x-ratelimit-remaining-cost'))).toBeLessThanOrEqual(2 - callCost);
  });

  it('tell webhooks at 80 and at 100 percent, once each', async () => {
    const mutation = 'mutation ($input: CreateWebhookInput!) { createWebhook(input: $input) { webhook { id } } }';
    const input = { url: 'https://hooks.invalid/', events: ['BUDGET_REACHED'] };
    const hook = (await admin.graphql(mutation, { input })).data.createWebhook.webhook.id;
    const { id } = await budget(1, { unit: 'MONEY' });
    const told = async () => {
      const { data } = (await admin.get(`/api/v1/admin/webhooks/${hook}/deliveries`)).body;
      return data.map(({ body }: { body: string }) => JSON.parse(body).data).toReversed();
    };
    const spend = async (tokens: number, total: number) => {
      upstream.next({ text: 'x', usage: { prompt_tokens: tokens, completion_tokens: 0 } });
      expect((await ask(ann)).status).toBe(200);
      await used(id, total);
    };
    await spend(790, 0.79);
    expect(await told()).toEqual([]);
    await spend(20, 0.81);
    const first = { budgetId: id, subject: 'organization', subjectId: organization.id, period: 'day', unit: 'money', limit: 1 };
    const from = new Date().toISOString().slice(0, 10);
    expect(await told()).toEqual([{ ...first, from, percent: 80, used: 0.81 }]);
    await spend(20, 0.83);
    await spend(160, 0.99);
    // What is left is too little for any call.
    expect((await ask(ann)).status).toBe(429);
    expect((await ask(ann)).status).toBe(429);
    expect(await told()).toEqual([
      { ...first, from, percent: 80, used: 0.81 },
      { ...first, from, percent: 100, used: 0.99 },
    ]);
  });

  it('begin by the clock of the organization, as usage by day does', async () => {
    const zone = 'Pacific/Kiritimati';
    expect(await admin.put('/api/v1/admin/time-zone', { timeZone: zone })).toMatchObject({
      status: 200,
      body: { timeZone: zone },
    });
    const day = await budget(100_000);
    const month = await budget(100_000, { period: 'MONTH' });
    expect(new Date(day.startsAt).getUTCHours()).toBe(10);
    expect([new Date(month.startsAt).getUTCHours(), new Date(month.resetsAt).getUTCHours()]).toEqual([10, 10]);
    expect((await ask(ann)).status).toBe(200);
    await used(day.id, 15);
    await used(month.id, 15);
    const today = new Intl.DateTimeFormat('en-CA', { timeZone: zone }).format(new Date());
    const { data } = (await admin.get('/api/v1/usage/daily')).body;
    expect(data).toHaveLength(30);
    expect(data.at(-1)).toEqual({ day: today, dataTokensUsed: 0, apiTokensUsed: 15 });
    const { orgUsage } = (await admin.get(`/api/v1/usage?from=${day.startsAt}&to=${day.resetsAt}`)).body;
    expect(orgUsage.apiTokensUsed).toBe(15);
    expect((await admin.get(`/api/v1/usage?to=${day.startsAt}`)).body.orgUsage.apiTokensUsed).toBe(0);
  });

  it('cost a completion with everything cached no statement', async () => {
    const statementsOf = async () => {
      await ask(ann);
      const { statements } = await countFewestStatements(service, () => ask(ann));
      return statements.filter((text) => !/usage_entries|lastUsedAt|pgboss|select 1/i.test(text));
    };
    await eventually(async () => expect(await statementsOf()).toEqual([]));
    await budget(100_000_000);
    await budget(1_000_000, { unit: 'MONEY', subject: 'USER', subjectId: ann.userId });
    await eventually(async () => expect(await statementsOf()).toEqual([]));
  });
});
