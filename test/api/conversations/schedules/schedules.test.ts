import { Webhook as Verifier } from 'standardwebhooks';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { checkTimes, nextTimes } from '../../../../src/domain/conversations/schedules/times.ts';
import { Faults } from '../../../../src/domain/ground/faults.ts';
import { startApiServer } from '../../../support/egress/api-server.ts';
import type { Organization, Person } from '../../../support/make.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { withService } from '../../../support/service.ts';
import { heldAnswer } from '../../../support/upstream.ts';

const lookEveryMs = 100;
const { service, make, upstream } = await withService('model', { env: { DUE_LOOK_EVERY_MS: String(lookEveryMs) } });
const { prisma } = service.deps.storage.db;
let organization: Organization;
let ann: Person;
let agentId: string;
beforeEach(async () => {
  organization = await make.organization();
  ann = await make.person({ organization });
  agentId = (await make.agent({ owner: ann })).id;
});

const members = 'id name cron timeZone chatMode chatId isEnabled pausedReason nextRunAt nextTimes prompt userId agentId';
const create = `mutation ($input: CreateScheduleInput!) { createSchedule(input: $input) { ${members} } }`;
const daily = { name: 'Morning news', prompt: 'What is new?', cron: '0 9 * * *', timeZone: 'Europe/Berlin' };
const made = async (who: Person, more: object = {}) =>
  (await who.ask(create, { input: { ...daily, agentId, ...more } })).createSchedule;
const change = (who: Person, id: string, input: object) =>
  who.graphql(`mutation ($id: ID!, $input: UpdateScheduleInput!) { updateSchedule(id: $id, input: $input) { ${members} } }`, {
    id,
    input,
  });
const runNow = (who: Person, id: string) =>
  who.graphql('mutation ($id: ID!) { runScheduleNow(id: $id) { id status trigger } }', { id });
const read = async (who: Person, id: string) =>
  (
    await who.ask(
      `query ($id: ID!) { schedule(id: $id) { ${members} runs(first: 20) { totalCount nodes {
         id dueAt trigger status error startedAt endedAt chatId chat { id name isUnread } run { id status userId } } } } }`,
      { id },
    )
  ).schedule;
/** Lets a schedule become due. */
const comes = (id: string, nextRunAt = new Date(Date.now() - 1_000)) =>
  prisma.schedule.update({ where: { id }, data: { nextRunAt } });
/** Waits until the newest run of a schedule has ended so. */
const ended = (who: Person, id: string, status: string, count = 1) =>
  eventually(async () => {
    const schedule = await read(who, id);
    expect(schedule.runs.nodes).toHaveLength(count);
    expect(schedule.runs.nodes[0].status).toBe(status);
    return schedule;
  });

describe('a schedule', () => {
  it('runs its agent at its time as its owner, in a new chat each time that the owner sees', async () => {
    const schedule = await made(ann);
    expect(schedule).toMatchObject({
      ...daily,
      chatMode: 'NEW',
      isEnabled: true,
      pausedReason: null,
      agentId,
      userId: ann.userId,
    });
    expect(schedule.nextTimes).toHaveLength(5);
    expect(schedule.nextTimes[0]).toBe(schedule.nextRunAt);
    upstream.next({ text: 'First' }, { text: 'Second' });
    await comes(schedule.id);
    const first = await ended(ann, schedule.id, 'COMPLETED');
    expect(first.runs.nodes[0]).toMatchObject({
      ...{ trigger: 'TIME', error: null, run: { status: 'COMPLETED', userId: ann.userId } },
      chat: { name: expect.stringMatching(/^Morning news · \d{4}-\d\d-\d\d \d\d:\d\d$/), isUnread: true },
    });
    expect(new Date(first.nextRunAt).getTime()).toBeGreaterThan(Date.now());
    await comes(schedule.id);
    const second = await ended(ann, schedule.id, 'COMPLETED', 2);
    const chats = second.runs.nodes.map(({ chatId }: { chatId: string }) => chatId);
    expect(new Set(chats).size).toBe(2);
    const { body } = await ann.get('/api/v1/chats');
    expect(body.data.map(({ id }: { id: string }) => id).toSorted()).toEqual(chats.toSorted());
    const said = (await ann.get(`/api/v1/chats/${chats[0]}/messages`)).body.data;
    expect(said.map(({ content }: { content: string }) => content)).toEqual(expect.arrayContaining(['What is new?', 'Second']));
    // The second run has read nothing of the first.
    expect(JSON.stringify(upstream.requests.at(-1)?.body)).not.toContain('First');
  });

  it('goes on in one chat where that is asked, and begins another when its owner deleted it', async () => {
    const { id } = await made(ann, { chatMode: 'SAME' });
    upstream.next({ text: 'First' }, { text: 'Second' }, { text: 'Third' });
    await comes(id);
    const { chatId } = await ended(ann, id, 'COMPLETED');
    await comes(id);
    const again = await ended(ann, id, 'COMPLETED', 2);
    expect(again.runs.nodes.map((run: { chatId: string }) => run.chatId)).toEqual([chatId, chatId]);
    expect(JSON.stringify(upstream.requests.at(-1)?.body)).toContain('First');
    expect(await ann.delete(`/api/v1/chats/${chatId}`)).toMatchObject({ status: 200 });
    await comes(id);
    const other = await ended(ann, id, 'COMPLETED', 3);
    expect(other.chatId).not.toBe(chatId);
    expect(other.runs.nodes[0].chatId).toBe(other.chatId);
  });

  it('runs once for all the times that were missed', async () => {
    // Every hour, half an hour from now.
    const { id } = await made(ann, { cron: `${(new Date().getUTCMinutes() + 30) % 60} * * * *` });
    const missed = new Date(Date.now() - 3 * 3_600_000);
    await comes(id, missed);
    const { runs, nextRunAt } = await ended(ann, id, 'COMPLETED');
    expect(runs.nodes[0].dueAt).toBe(missed.toISOString());
    expect(new Date(nextRunAt).getTime()).toBeGreaterThan(Date.now());
    await new Promise((resolve) => setTimeout(resolve, 5 * lookEveryMs));
    expect((await read(ann, id)).runs.totalCount).toBe(1);
  });

  it('skips a time while the run before goes on, and cannot be run by hand then', async () => {
    const { id } = await made(ann);
    const { script, goOn } = heldAnswer({ text: ['a', 'b'] });
    upstream.next(script);
    await comes(id);
    await upstream.until(({ openStreams }) => openStreams === 1);
    await comes(id);
    const { runs } = await ended(ann, id, 'SKIPPED', 2);
    expect(runs.nodes[0]).toMatchObject({ error: 'The run before still went on', chatId: null });
    const refused = await runNow(ann, id);
    expect(refused.errors?.[0]).toMatchObject({ extensions: { code: 'CONFLICT' } });
    goOn();
    await eventually(async () => expect((await read(ann, id)).runs.nodes[1].status).toBe('COMPLETED'));
    expect(upstream.requests).toHaveLength(1);
  });

  it('runs by hand, also while it is paused', async () => {
    const { id, nextRunAt, nextTimes, pausedReason } = await made(ann, { isEnabled: false });
    expect({ nextRunAt, nextTimes, pausedReason }).toEqual({
      nextRunAt: null,
      nextTimes: [],
      pausedReason: 'Its owner paused it',
    });
    expect((await runNow(ann, id)).data.runScheduleNow).toMatchObject({ trigger: 'MANUAL', status: 'PENDING' });
    await ended(ann, id, 'COMPLETED');
    const { data } = await change(ann, id, { isEnabled: true });
    expect(data.updateSchedule).toMatchObject({ isEnabled: true, pausedReason: null, nextRunAt: expect.any(String) });
  });

  it('shows why a run failed, and pauses after ten failures in a row', async () => {
    const { id } = await made(ann);
    await prisma.schedule.update({ where: { id }, data: { failures: 9 } });
    upstream.next({ status: 400, body: '{"error":{"message":"no"}}' });
    await comes(id);
    const failed = await ended(ann, id, 'FAILED');
    expect(failed.runs.nodes[0].error).toMatch(/\w/);
    await eventually(async () =>
      expect(await read(ann, id)).toMatchObject({
        isEnabled: false,
        pausedReason: 'It failed 10 times in a row',
        nextRunAt: null,
      }),
    );
    await change(ann, id, { isEnabled: true });
    expect((await prisma.schedule.findUnique({ where: { id } }))?.failures).toBe(0);
  });

  it('keeps to the token limit of its organization as any run does', async () => {
    const { id } = await made(ann);
    await service.client().patch(`/api/v1/admin/organizations/${organization.id}`, { apiUsageTokenLimit: 0 });
    await comes(id);
    const { runs } = await ended(ann, id, 'FAILED');
    expect(runs.nodes[0].error).toBe('The organization may use 0 tokens for runs, and 0 are used');
    expect(upstream.requests).toHaveLength(0);
  });
});

describe('a schedule pauses itself, and nothing runs, when', () => {
  const colleague = () => make.person({ organization });
  const admin = () => make.person({ organization, role: 'ADMIN' });

  it.each([
    [
      'its owner is no member any more',
      /^Its owner is no member/,
      async (owner: Person) => {
        await prisma.membership.deleteMany({ where: { userId: owner.userId } });
      },
    ],
    [
      'its owner only reads now',
      /AUDITOR/,
      async (owner: Person) => {
        await prisma.membership.updateMany({ where: { userId: owner.userId }, data: { role: 'AUDITOR' } });
      },
    ],
    [
      'the agent is not shared with its owner any more',
      /^Its agent was deleted, or its owner may not use it any more/,
      async () => {
        await ann.patch(`/api/v1/ais/${agentId}`, { visibility: 'PRIVATE' });
      },
    ],
    [
      'a legal hold keeps the organization',
      /^A legal hold/,
      async (_owner: Person, chief: Person) => {
        await chief.ask('mutation ($input: SetLegalHoldInput!) { setLegalHold(input: $input) { id } }', {
          input: { reason: 'Case 7' },
        });
      },
    ],
  ])('%s', async (_when, reason, happens) => {
    await ann.patch(`/api/v1/ais/${agentId}`, { visibility: 'ORGANIZATION' });
    const [bob, chief] = await Promise.all([colleague(), admin()]);
    const { id } = await made(bob);
    await happens(bob, chief);
    await comes(id);
    const { pausedReason, nextRunAt, runs } = await eventually(async () => {
      const found = await chief.ask(
        `query ($id: ID!) { schedule(id: $id) { isEnabled pausedReason nextRunAt runs { nodes { status error } } } }`,
        {
          id,
        },
      );
      expect(found.schedule.isEnabled).toBe(false);
      return found.schedule;
    });
    expect(pausedReason).toMatch(reason);
    expect(nextRunAt).toBeNull();
    expect(runs.nodes).toEqual([{ status: 'FAILED', error: pausedReason }]);
    expect(upstream.requests).toHaveLength(0);
  });

  it('its agent is deleted, at once; one that was paused before keeps the reason', async () => {
    const [{ id }, { id: paused }] = [await made(ann), await made(ann, { isEnabled: false })];
    const { id: other } = await made(ann, { agentId: (await make.agent({ owner: ann })).id });
    await ann.delete(`/api/v1/ais/${agentId}`);
    const reason = expect.stringMatching(/^Its agent was deleted/);
    expect(await read(ann, id)).toMatchObject({ isEnabled: false, pausedReason: reason, nextRunAt: null, nextTimes: [] });
    expect(await read(ann, paused)).toMatchObject({ isEnabled: false, pausedReason: 'Its owner paused it' });
    expect(await read(ann, other)).toMatchObject({ isEnabled: true });
  });

  it('and its run ends at once when its owner leaves, or when it is deleted', async () => {
    const { id } = await made(ann);
    const held = heldAnswer({ text: ['a', 'b'] });
    upstream.next(held.script);
    await comes(id);
    await upstream.until(({ openStreams }) => openStreams === 1);
    const runId = (await read(ann, id)).runs.nodes[0].run.id;
    await ann.ask('mutation ($id: ID!) { deleteSchedule(id: $id) { id } }', { id });
    await upstream.until(({ aborted }) => aborted === 1);
    await eventually(async () =>
      expect(await prisma.run.findUnique({ where: { id: runId } })).toMatchObject({ status: 'failed' }),
    );
    held.goOn();

    const bob = await colleague();
    await ann.patch(`/api/v1/ais/${agentId}`, { visibility: 'ORGANIZATION' });
    const own = await made(bob);
    const other = heldAnswer({ text: ['a', 'b'] });
    upstream.next(other.script);
    await comes(own.id);
    await upstream.until(({ openStreams }) => openStreams === 1);
    const membership = await prisma.membership.findFirst({ where: { userId: bob.userId } });
    await service.client().delete(`/api/v1/admin/memberships/${membership?.id}`);
    await upstream.until(({ aborted }) => aborted === 2);
    other.goOn();
  });
});

describe('a schedule is refused with a sentence that names the member', () => {
  const five =
    'input.cron must have five fields: minute (0-59), hour (0-23), day of month (1-31), month (1-12 or JAN-DEC), weekday (0-7 or SUN-SAT), as in "0 9 * * MON-FRI"';
  it.each<[string, number, boolean]>([
    ['* * * * *', 1, true],
    ['* * * * *', 60_000, true],
    ['* * * * *', 61_000, false],
    ['*/2 * * * *', 61_000, true],
    ['0,59 * * * *', 120_000, false],
    ['0 9 * * *', 86_400_000, true],
    ['0 9,21 * * *', 86_400_000, false],
  ])('%s with at least %i ms between two runs: taken is %s', (cron, intervalMinMs, isTaken) => {
    const faults = new Faults();
    checkTimes(service.deps.jobs, { cron, timeZone: 'UTC' }, intervalMinMs, faults);
    expect(faults.found.length === 0).toBe(isTaken);
  });

  it.each([
    [{ cron: '61 * * * *' }, five],
    [{ cron: '* * * * * *' }, five],
    [{ cron: '@daily' }, five],
    [{ cron: '' }, five],
    [{ cron: 'H * * * *' }, five],
    [{ cron: '0 9 31 2 *' }, 'input.cron names a day of the month that never comes: 31 in month 2'],
    [{ cron: '0 9 31 4,JUN *' }, 'input.cron names a day of the month that never comes: 31 in month 4,JUN'],
    [{ cron: '0 9 32 2 *' }, five],
    [{ cron: '0 9 * * fri-mon' }, 'input.cron has a range that runs backwards, FRI-MON: write FRI-SAT,SUN-MON'],
    [{ cron: '0 9 * * FRI-SUN' }, 'input.cron has a range that runs backwards, FRI-SUN: write FRI-SAT,SUN'],
    [{ cron: '0 9 * * 1,5-1' }, 'input.cron has a range that runs backwards, 5-1: write 5-6,0-1'],
    [{ cron: '0 22-2 * * *' }, 'input.cron has a range that runs backwards, 22-2: write 22-23,0-2'],
    [{ cron: '0 9 1 NOV-FEB *' }, 'input.cron has a range that runs backwards, NOV-FEB: write NOV-DEC,JAN-FEB'],
    [
      { cron: '0 22-2/2 * * *' },
      'input.cron has a range that runs backwards, 22-2: write two ranges, one to the end and one from the beginning',
    ],
    [{ cron: '0 9 * * FRI-XYZ' }, five],
    [{ cron: 'FREQ=DAILY;BYHOUR=9' }, five],
    [{ cron: `0 9 * * ${'1,'.repeat(100)}1` }, five],
    [{ cron: '* * * * *' }, 'input.cron must leave at least 5 minutes between two runs'],
    [{ cron: '0,1 9 * * 1' }, 'input.cron must leave at least 5 minutes between two runs'],
    [{ timeZone: 'Mars/Olympus' }, 'input.timeZone must be an IANA name such as Europe/Berlin or UTC'],
    [{ timeZone: '+02:00' }, 'input.timeZone must be an IANA name such as Europe/Berlin or UTC'],
    [{ timeZone: 'local' }, 'input.timeZone must be an IANA name such as Europe/Berlin or UTC'],
    [{ timeZone: '' }, 'input.timeZone must be an IANA name such as Europe/Berlin or UTC'],
    [{ name: ' ' }, 'input.name must not be blank'],
    [{ prompt: 'x'.repeat(10_001) }, 'input.prompt must have at most 10000 characters'],
    [{ userInputs: [{ name: 'city', value: 'Rome' }] }, 'input.userInputs: city is not asked by this agent'],
  ])('%j', async (members, sentence) => {
    const { errors } = await ann.graphql(create, { input: { ...daily, agentId, ...members } });
    expect(errors?.[0]?.message).toBe(sentence);
    // Also of a schedule that is there, which stays as it was.
    const { id } = await made(ann);
    const before = await prisma.schedule.findUniqueOrThrow({ where: { id } });
    expect((await change(ann, id, members)).errors?.[0]?.message).toBe(sentence);
    expect(await prisma.schedule.findUniqueOrThrow({ where: { id } })).toEqual(before);
  });

  it('reads names of months and weekdays, lists, ranges and steps in any case', async () => {
    const { cron } = await made(ann, { cron: '  */15  8-18 1,15 jan-jun Mon-Fri ' });
    expect(cron).toBe('*/15 8-18 1,15 JAN-JUN MON-FRI');
  });

  it('and as the one too many', async () => {
    const { id } = await made(ann);
    const row = await prisma.schedule.findUniqueOrThrow({ where: { id } });
    const data = Array.from({ length: 49 }, (_, index) => ({ ...row, userInputs: {}, id: `${id}${index}` }));
    await prisma.schedule.createMany({ data });
    const { errors } = await ann.graphql(create, { input: { ...daily, agentId } });
    expect(errors?.[0]).toMatchObject({
      message: 'A person has at most 50 schedules: delete one first',
      extensions: { code: 'CONFLICT' },
    });
  });
});

describe('the times of a schedule', () => {
  const { jobs } = service.deps;
  const times = (cron: string, from: string, count = 3, timeZone = 'Europe/Berlin') =>
    nextTimes(jobs, { cron, timeZone }, new Date(from), count).map((at) => at.toISOString());
  const lordHowe = 'Australia/Lord_Howe';

  it('come an hour later where the clock jumps over them', () =>
    expect(times('30 2 * * *', '2026-03-28T00:00:00Z')).toEqual([
      '2026-03-28T01:30:00.000Z',
      '2026-03-29T01:30:00.000Z',
      '2026-03-30T00:30:00.000Z',
    ]));
  it('come once where a time that is jumped over meets one that is not', () =>
    expect(times('0,30 2,3 * * *', '2026-03-29T00:30:00Z')).toEqual([
      '2026-03-29T01:00:00.000Z',
      '2026-03-29T01:30:00.000Z',
      '2026-03-30T00:00:00.000Z',
    ]));
  it('come once where the clock shows them twice', () =>
    expect(times('30 2 * * *', '2026-10-24T00:00:00Z')).toEqual([
      '2026-10-24T00:30:00.000Z',
      '2026-10-25T00:30:00.000Z',
      '2026-10-26T01:30:00.000Z',
    ]));
  it('come once where the clock shows them twice, also when the first is noticed late', () => {
    for (const late of ['2026-10-25T00:30:03Z', '2026-10-25T00:59:59Z', '2026-10-25T01:05:00Z', '2026-10-25T01:29:59Z'])
      expect(times('30 2 * * *', late, 1)).toEqual(['2026-10-26T01:30:00.000Z']);
  });
  it('of every hour come each hour that passes', () =>
    expect(times('30 * * * *', '2026-10-24T23:45:00Z')).toEqual([
      '2026-10-25T00:30:00.000Z',
      '2026-10-25T01:30:00.000Z',
      '2026-10-25T02:30:00.000Z',
    ]));
  it('of every other hour come once where the clock shows that hour twice', () =>
    expect(times('0 */2 * * *', '2026-10-24T21:00:00Z')).toEqual([
      '2026-10-24T22:00:00.000Z',
      '2026-10-25T00:00:00.000Z',
      '2026-10-25T03:00:00.000Z',
    ]));
  it('come half an hour later where the clock jumps by half an hour', () => {
    expect(times('15 2 * * *', '2026-10-02T12:00:00Z', 3, lordHowe)).toEqual([
      '2026-10-02T15:45:00.000Z',
      '2026-10-03T15:45:00.000Z',
      '2026-10-04T15:15:00.000Z',
    ]);
    expect(times('*/15 * * * *', '2026-10-03T15:05:00Z', 4, lordHowe)).toEqual([
      '2026-10-03T15:15:00.000Z',
      '2026-10-03T15:30:00.000Z',
      '2026-10-03T15:45:00.000Z',
      '2026-10-03T16:00:00.000Z',
    ]);
  });
  it('come once where the clock shows half an hour twice', () => {
    for (const from of ['2026-04-04T14:45:00Z', '2026-04-04T14:50:00Z', '2026-04-04T15:05:00Z'])
      expect(times('45 1 * * *', from, 1, lordHowe)).toEqual(['2026-04-05T15:15:00.000Z']);
  });
  it.each([
    'Europe/Berlin',
    lordHowe,
    'America/Santiago',
    'Africa/Cairo',
    'Antarctica/Troll',
    'America/St_Johns',
    'Africa/Casablanca',
    'Asia/Kathmandu',
  ])('of each day come once a day for a year, in %s', (timeZone) => {
    const dayOf = new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' });
    for (const cron of ['15 2 * * *', '0 0 * * *', '45 1 * * *']) {
      const days = nextTimes(jobs, { cron, timeZone }, new Date('2026-01-01T12:00:00Z'), 365).map((at) => dayOf.format(at));
      expect([cron, new Set(days).size]).toEqual([cron, 365]);
    }
  });
});

describe('who may', () => {
  it('administrators see, pause and delete schedules of others, without what they ask', async () => {
    const chief = await make.person({ organization, role: 'ADMIN' });
    const { id } = await made(ann);
    expect(await read(chief, id)).toMatchObject({ name: 'Morning news', prompt: null, userId: ann.userId });
    const list = await chief.ask('{ own: schedules { nodes { id } } all: schedules(ofOrganization: true) { nodes { id } } }');
    expect(list).toEqual({ own: { nodes: [] }, all: { nodes: [{ id }] } });
    expect((await change(chief, id, { prompt: 'Send me all' })).errors?.[0]).toMatchObject({ extensions: { code: 'FORBIDDEN' } });
    expect((await change(chief, id, { isEnabled: true })).errors?.[0]).toMatchObject({ extensions: { code: 'FORBIDDEN' } });
    expect((await runNow(chief, id)).errors?.[0]).toMatchObject({ extensions: { code: 'FORBIDDEN' } });
    expect((await change(chief, id, { isEnabled: false })).data.updateSchedule).toMatchObject({
      pausedReason: 'An administrator paused it',
    });
    await chief.ask('mutation ($id: ID!) { deleteSchedule(id: $id) { id } }', { id });
    expect(await prisma.schedule.findUnique({ where: { id } })).toBeNull();
  });

  it('nobody else sees one, and an agent shows its caller’s own only', async () => {
    await ann.patch(`/api/v1/ais/${agentId}`, { visibility: 'ORGANIZATION' });
    const bob = await make.person({ organization });
    const { id } = await made(ann);
    expect(await read(bob, id)).toBeNull();
    expect((await bob.graphql('{ schedules(ofOrganization: true) { nodes { id } } }')).errors?.[0]).toMatchObject({
      extensions: { code: 'FORBIDDEN' },
    });
    const query = 'query ($id: ID!) { agent(id: $id) { schedules { totalCount nodes { id } } } }';
    expect((await bob.ask(query, { id: agentId })).agent.schedules.nodes).toEqual([]);
    expect((await ann.ask(query, { id: agentId })).agent.schedules).toEqual({ totalCount: 1, nodes: [{ id }] });
  });
});

describe('a schedule with a webhook', () => {
  const receiver = startApiServer();
  afterAll(async () => (await receiver).close());
  let chief: Person;
  const webhook = async (events: readonly string[], path = `/${crypto.randomUUID()}`) => {
    const { url } = await receiver;
    const document = 'mutation ($input: CreateWebhookInput!) { createWebhook(input: $input) { secret webhook { id } } }';
    const { createWebhook } = await chief.ask(document, { input: { url: `${url}${path}`, events } });
    return { id: createWebhook.webhook.id as string, secret: createWebhook.secret as string, path };
  };
  const received = async (path: string) => (await receiver).requests.filter((request) => request.path === path);
  beforeEach(async () => {
    (await receiver).reset();
    chief = await make.person({ organization, role: 'ADMIN' });
  });

  it('sends it the answer, signed, and again until it is taken; the chat is there besides', async () => {
    const { id: webhookId, secret, path } = await webhook(['SCHEDULE_ENDED']);
    const { id } = await made(ann, { webhookId });
    let calls = 0;
    (await receiver).answer(() => {
      calls += 1;
      return { status: calls === 1 ? 500 : 204 };
    });
    upstream.next({ text: 'The news' });
    await comes(id);
    const { runs } = await ended(ann, id, 'COMPLETED');
    const requests = await eventually(async () => {
      const sent = await received(path);
      expect(sent).toHaveLength(2);
      return sent;
    });
    for (const { body, headers } of requests) {
      expect(new Verifier(secret).verify(body, headers as Record<string, string>)).toMatchObject({
        type: 'schedule.ended',
        data: {
          ...{ scheduleId: id, scheduleRunId: runs.nodes[0].id, name: 'Morning news', status: 'completed', userId: ann.userId },
          ...{ answer: 'The news', isAnswerCut: false, error: null, chatId: runs.nodes[0].chatId, runId: runs.nodes[0].run.id },
        },
      });
    }
    expect(new Set(requests.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    const row = await prisma.scheduleRun.findUniqueOrThrow({ where: { id: runs.nodes[0].id } });
    expect(row.deliveryId).toBe(requests[0]?.headers['webhook-id']);
  });

  it('leaves no chat where none is asked, and tells of failures too', async () => {
    const { id: webhookId, path } = await webhook(['SCHEDULE_ENDED']);
    const { id } = await made(ann, { webhookId, chatMode: 'NONE' });
    upstream.next({ text: 'The news' }, { status: 400, body: '{"error":{"message":"no"}}' });
    await comes(id);
    await ended(ann, id, 'COMPLETED');
    await eventually(async () => expect((await ann.get('/api/v1/chats')).body.data).toEqual([]));
    await comes(id);
    await ended(ann, id, 'FAILED', 2);
    const bodies = await eventually(async () => {
      const sent = await received(path);
      expect(sent).toHaveLength(2);
      return sent.map(({ body }) => JSON.parse(body).data);
    });
    expect(bodies).toMatchObject([
      { status: 'completed', answer: 'The news', chatId: null },
      { status: 'failed', answer: null, error: expect.stringMatching(/\w/), chatId: null },
    ]);
  });

  it('may name only one of its organization that takes answers', async () => {
    const rule =
      'input.webhookId must name a webhook of the organization that takes the event SCHEDULE_ENDED: administrators know which';
    const own = await webhook(['RUN_ENDED']);
    const elsewhere = await make.organization();
    chief = await make.person({ organization: elsewhere, role: 'ADMIN' });
    const foreign = await webhook(['SCHEDULE_ENDED']);
    for (const webhookId of [own.id, foreign.id, 'wh_none', ann.userId]) {
      const { errors } = await ann.graphql(create, { input: { ...daily, agentId, webhookId } });
      expect(errors?.[0]?.message).toBe(rule);
    }
    const { errors } = await ann.graphql(create, { input: { ...daily, agentId, chatMode: 'NONE' } });
    expect(errors?.[0]?.message).toBe('input.chatMode NONE needs a webhookId: nobody would get the answer');
  });

  it('pauses at once when its webhook is deleted, and goes on without it', async () => {
    const { id: webhookId } = await webhook(['SCHEDULE_ENDED']);
    const { id } = await made(ann, { webhookId });
    const { id: other } = await made(ann);
    await chief.ask('mutation ($id: ID!) { deleteWebhook(id: $id) { id } }', { id: webhookId });
    const reason = expect.stringMatching(/^Its webhook was deleted/);
    expect(await read(ann, id)).toMatchObject({ isEnabled: false, pausedReason: reason, nextRunAt: null, nextTimes: [] });
    expect(await read(ann, other)).toMatchObject({ isEnabled: true });
    const { data } = await change(ann, id, { webhookId: null, isEnabled: true });
    expect(data.updateSchedule).toMatchObject({ isEnabled: true, pausedReason: null });
  });
});

it('is handed over paused, and its run ends: nobody has a stranger’s rights act on their words', async () => {
  const chief = await make.person({ organization, role: 'ADMIN' });
  const bob = await make.person({ organization });
  await ann.patch(`/api/v1/ais/${agentId}`, { visibility: 'ORGANIZATION' });
  const { id } = await made(bob);
  const { script, goOn } = heldAnswer({ text: ['a', 'b'] });
  upstream.next(script);
  await comes(id);
  await upstream.until(({ openStreams }) => openStreams === 1);
  const give = (who: Person, input: object) =>
    who.graphql(
      'mutation ($input: TransferOwnershipInput!, $to: ID!) { transferOwnership(input: $input, toUserId: $to) { schedules } }',
      { input, to: ann.userId },
    );
  expect((await give(ann, { scheduleId: id })).errors?.[0]).toMatchObject({ extensions: { code: 'NOT_FOUND' } });
  expect((await give(chief, { allOf: { userId: bob.userId } })).data.transferOwnership).toEqual({ schedules: 1 });
  await upstream.until(({ aborted }) => aborted === 1);
  goOn();
  expect(await read(bob, id)).toBeNull();
  const moved = await ended(ann, id, 'CANCELLED');
  expect(moved).toMatchObject({
    ...{ userId: ann.userId, isEnabled: false, nextRunAt: null },
    pausedReason: 'It was handed over: its new owner switches it on',
  });
  expect((await change(ann, id, { isEnabled: true })).data.updateSchedule).toMatchObject({ isEnabled: true });
});

it('that a legal hold on its person keeps is deleted by nobody, and the person is told nothing of it by a pause', async () => {
  const chief = await make.person({ organization, role: 'ADMIN' });
  const { id } = await made(ann);
  const input = { reason: 'Case 8', userId: ann.userId };
  await chief.ask('mutation ($input: SetLegalHoldInput!) { setLegalHold(input: $input) { id } }', { input });
  for (const who of [chief, ann]) {
    const { errors } = await who.graphql('mutation ($id: ID!) { deleteSchedule(id: $id) { id } }', { id });
    expect(errors?.[0]).toMatchObject({ message: expect.stringMatching(/legal hold/), extensions: { code: 'CONFLICT' } });
  }
  await comes(id);
  expect(await ended(ann, id, 'COMPLETED')).toMatchObject({ isEnabled: true, pausedReason: null });
});

it('that is paused after its time has come and before its run began does not run', async () => {
  const { id } = await made(ann);
  await prisma.schedule.update({ where: { id }, data: { isEnabled: false, nextRunAt: null } });
  const at = new Date();
  const place = { orgId: ann.orgId, userId: ann.userId, scheduleId: id };
  const scheduleRunId = service.deps.newId('scheduleRun');
  await prisma.scheduleRun.create({ data: { id: scheduleRunId, ...place, createdAt: at, dueAt: at, trigger: 'TIME' } });
  const owner = { tenantId: organization.tenantId, orgId: organization.id };
  await service.deps.jobs.enqueue('schedules.run', { scheduleRunId }, { owner });
  const { runs } = await ended(ann, id, 'CANCELLED');
  expect(runs.nodes[0].error).toBe('The schedule was paused before its run began');
  expect(upstream.requests).toHaveLength(0);
});

it('nothing of a person’s schedules is left after an erasure', async () => {
  const chief = await make.person({ organization, role: 'ADMIN' });
  const { id } = await made(ann, { name: 'CANARY-name', prompt: 'CANARY-prompt' });
  await comes(id);
  await ended(ann, id, 'COMPLETED');
  await chief.ask('mutation ($input: ErasePersonInput!) { erasePerson(input: $input) { id } }', {
    input: { userId: ann.userId, transferToUserId: chief.userId },
  });
  await eventually(async () => {
    expect(await prisma.schedule.count({ where: { userId: ann.userId } })).toBe(0);
    expect(await prisma.scheduleRun.count({ where: { userId: ann.userId } })).toBe(0);
    expect(await prisma.usageSum.count({ where: { value: id } })).toBe(0);
  });
});
