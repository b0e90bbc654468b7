import { isLast, isTerminal, type RunEvent } from '../../src/entities/conversations/runs/event.ts';
import { findPermissionFaults } from './permission-oracle.ts';
import type { World } from './world/world.ts';

/** What must hold once a world has come to rest, whatever happened in it. Asks the database as the world sees it, and what people and tools saw. */
export async function findFaults(world: World): Promise<readonly string[]> {
  return [
    ...(await findRunFaults(world)),
    ...(await findOwnerFaults(world)),
    ...(await findMessageFaults(world)),
    ...findEffectFaults(world, await readLogs(world)),
    ...findReadingFaults(world, await readLogs(world)),
    ...(await findLedgerFaults(world)),
    ...(await findStaleness(world)),
    ...(await findPermissionFaults(world)),
  ];
}

/** All that a world left behind, as text: the same for the same seed. */
export async function readState(world: World): Promise<string> {
  const { server, orgId, effects, readings, permissions } = world;
  const runs = await server.look('select to_jsonb(r) as run from runs r where "orgId" = $1 order by id', [orgId]);
  const ledger = await server.look('select to_jsonb(u) as entry from usage_entries u where "orgId" = $1 order by id', [orgId]);
  const seen = (permissions?.seen ?? []).map((one) => ({ ...one, documents: [...one.documents] }));
  return JSON.stringify({ runs, ledger, effects, readings, seen, logs: [...(await readLogs(world))] });
}

type Logs = ReadonlyMap<string, readonly RunEvent[]>;

async function readLogs({ server, orgId }: World): Promise<Logs> {
  const rows = await server.look<{ id: string; events: readonly RunEvent[] | null }>(
    `select r.id, b.events from runs r left join run_event_batches b on b."runId" = r.id where r."orgId" = $1 order by r.id, b."firstSequence"`,
    [orgId],
  );
  const logs = new Map<string, RunEvent[]>();
  for (const { id, events } of rows) logs.set(id, [...(logs.get(id) ?? []), ...(events ?? [])]);
  return logs;
}

interface RunRow {
  readonly id: string;
  readonly status: string;
  readonly lastSequence: number;
  readonly chatId: string;
  readonly leaseOwner: string | null;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
}

/** Each run ends exactly once, with a whole log. */
async function findRunFaults(world: World): Promise<readonly string[]> {
  const faults: string[] = [];
  const runs = await world.server.look<RunRow>(
    'select id, status, "lastSequence", "chatId", "leaseOwner", "inputTokens", "outputTokens" from runs where "orgId" = $1',
    [world.orgId],
  );
  const logs = await readLogs(world);
  for (const run of runs) {
    const log = logs.get(run.id) ?? [];
    const isWhole = log.every(({ sequence }, index) => sequence === index);
    if (!isWhole) faults.push(`${run.id}: its log has the numbers ${log.map(({ sequence }) => sequence).join(' ')}`);
    const ends = log.filter(isTerminal);
    if (run.status !== 'in_progress' && (ends.length !== 1 || log.at(-1) !== ends[0])) {
      faults.push(`${run.id} is ${run.status}, and its log has ${ends.length} ends`);
    }
    if (run.status === 'in_progress') faults.push(`${run.id} has not ended`);
    else if (run.leaseOwner !== null) faults.push(`${run.id} has ended, and ${run.leaseOwner} still holds it`);
    const end = ends.at(-1);
    if (end !== undefined && 'run' in end && end.run.status !== run.status) {
      faults.push(`${run.id} is ${run.status}, and its log says ${end.run.status}`);
    }
  }
  for (const { runId, atMs } of world.cutOff) {
    const [cut] = await world.server.look<{ status: string; isLater: boolean }>(
      'select status, "endedAt" > to_timestamp($2::float8 / 1000) as "isLater" from runs where id = $1',
      [runId, atMs],
    );
    // Another process may have cut it off at the same time, and writes its end a moment later.
    if (cut?.isLater === true && cut.status !== 'cancelled')
      faults.push(`${runId} was cut off, and went on until it was ${cut.status}`);
  }
  const held = await world.server.look<{ id: string; activeRunId: string }>(
    'select id, "activeRunId" from chats where "orgId" = $1 and "activeRunId" is not null',
    [world.orgId],
  );
  for (const { id, activeRunId } of held) faults.push(`${id} is still held by ${activeRunId}`);
  return faults;
}

/** The events of one lease are written by one process, and none of an older lease after one of a newer. */
async function findOwnerFaults({ server, orgId }: World): Promise<readonly string[]> {
  const rows = await server.look<{ runId: string; fence: number; host: string }>(
    `select w."runId", w.fence, w.host from world.writes w join runs r on r.id = w."runId" where r."orgId" = $1 and w.host <> '' order by w.place`,
    [orgId],
  );
  const faults: string[] = [];
  const holders = new Map<string, string>();
  const newest = new Map<string, number>();
  for (const { runId, fence, host } of rows) {
    const lease = `${runId} under lease ${fence}`;
    const holder = holders.get(lease) ?? host;
    if (holder !== host && fence > 0) faults.push(`${lease}: ${holder} and ${host} both wrote`);
    holders.set(lease, holder);
    if (fence < (newest.get(runId) ?? 0)) faults.push(`${lease}: ${host} wrote after a newer lease`);
    newest.set(runId, Math.max(newest.get(runId) ?? 0, fence));
  }
  return faults;
}

/** What somebody was told is there stands in the chat once; an answer stands there once. */
async function findMessageFaults({ server, sent, orgId }: World): Promise<readonly string[]> {
  const faults: string[] = [];
  const rows = await server.look<{ id: string; role: string; runId: string; said: string }>(
    // What calls tools alone says nothing: its calls tell it from others.
    `select m.id, m.role, m."runId", coalesce(nullif(m.content, ''), m.context::text, '') as said from messages m join chats c on c.id = m."chatId" where c."orgId" = $1`,
    [orgId],
  );
  const ids = new Set(rows.map(({ id }) => id));
  const cut = await server.look<{ id: string }>(`select id from runs where "orgId" = $1 and status = 'cancelled'`, [orgId]);
  const cancelled = new Set(cut.map(({ id }) => id));
  for (const { messageId, told, runId } of sent) {
    const isIn = told === 'started' || told === 'attached' || told === 'waiting';
    // What waits goes with a run that is cancelled before its turn.
    if (isIn && !ids.has(messageId) && !cancelled.has(runId) && told !== 'attached')
      faults.push(`${messageId} of ${runId} (${told}) is lost`);
  }
  const answers = Map.groupBy(
    rows.filter(({ role }) => role === 'assistant'),
    ({ runId, said }) => `${runId} ${said}`,
  );
  for (const [answer, same] of answers) if (same.length > 1) faults.push(`${same.length} times in its chat: ${answer}`);
  return faults;
}

/** A call with effects is made once; its log knows of it, and either has its outcome or says that it is unknown. */
function findEffectFaults({ effects }: World, logs: Logs): readonly string[] {
  const faults: string[] = [];
  for (const [key, seen] of Map.groupBy(effects, (effect) => effect.key)) {
    if (seen.length > 1) faults.push(`${key} was called ${seen.length} times: ${seen.map(({ host }) => host).join(', ')}`);
    const [first] = seen;
    if (first === undefined) continue;
    const log = logs.get(first.runId) ?? [];
    const callId = key.slice(key.indexOf(':') + 1);
    const text = JSON.stringify(log);
    if (!text.includes(callId)) faults.push(`${key} was called, and the log of its run does not know it`);
  }
  return faults;
}

/** Whoever follows a run gets every event once, in order, and nothing that is not stored. */
function findReadingFaults({ readings }: World, logs: Logs): readonly string[] {
  const faults: string[] = [];
  for (const { runId, events, isOver } of readings) {
    if (!isOver) faults.push(`a reader of ${runId} waits for its end behind event ${events.at(-1)?.sequence}`);
    const log = logs.get(runId) ?? [];
    for (const [index, event] of events.entries()) {
      if (event.sequence !== index) {
        faults.push(`a reader of ${runId} got event ${event.sequence} in the place of ${index}`);
        break;
      }
      const stored = log[index];
      if (JSON.stringify(stored) === JSON.stringify(event)) continue;
      faults.push(
        `a reader of ${runId} got another event ${index} than is stored: ${JSON.stringify(event)} ${JSON.stringify(stored)}`,
      );
      break;
    }
    const last = events.at(-1);
    if (isOver && last !== undefined && (!isLast(last) || events.length !== log.length)) {
      faults.push(`a reader of ${runId} got ${events.length} of ${log.length} events`);
    }
  }
  return faults;
}

/** The ledger, its sums and its counters agree; what runs used is in it once; no limit is overspent. */
async function findLedgerFaults(world: World): Promise<readonly string[]> {
  const { server, orgId, budgetId, plan } = world;
  const faults: string[] = [];
  const [sums] = await server.look<Record<'ledger' | 'counter' | 'days' | 'users' | 'budget', number>>(
    `select coalesce((select sum("inputTokens" + "outputTokens") from usage_entries where "orgId" = $1), 0)::int as ledger,
       coalesce((select used from usage_counters where "orgId" = $1 and kind = 'api'), 0)::int as counter,
       coalesce((select sum("apiTokens") from usage_days where "orgId" = $1), 0)::int as days,
       coalesce((select sum("apiTokens") from usage_sums where "orgId" = $1 and dimension = 'user'), 0)::int as users,
       coalesce((select sum(used) from usage_counters where "orgId" = $1 and kind like $2 || ' %'), 0)::int as budget`,
    [orgId, budgetId ?? 'none'],
  );
  if (sums === undefined) return ['the ledger cannot be read'];
  const { ledger, counter, days, users, budget } = sums;
  if (counter !== ledger || days !== ledger || users !== ledger)
    faults.push(`the ledger has ${ledger}, its sums ${JSON.stringify(sums)}`);
  if (budgetId !== undefined && budget !== ledger) faults.push(`the ledger has ${ledger}, the budget counts ${budget}`);
  if (world.tokenLimit !== undefined && ledger > world.tokenLimit)
    faults.push(`${ledger} tokens of a limit of ${world.tokenLimit} are spent`);
  if (plan.budget !== undefined && ledger > plan.budget) faults.push(`${ledger} tokens of a budget of ${plan.budget} are spent`);
  const rows = await server.look<{ id: string; isPlain: boolean; run: number; ledger: number }>(
    `select r.id, r.status = 'completed' and r.attempt = 1 as "isPlain", coalesce(r."inputTokens" + r."outputTokens", 0)::int as run,
       coalesce((select sum(u."inputTokens" + u."outputTokens") from usage_entries u where u."runId" = r.id), 0)::int as ledger
     from runs r where r."orgId" = $1`,
    [orgId],
  );
  for (const { id, isPlain, run, ledger: charged } of rows) {
    // A process that lost its run pays for the answer that the run does not have.
    if (isPlain ? run !== charged : run > charged) faults.push(`${id} used ${run} tokens, and ${charged} are charged`);
  }
  const [entries] = await server.look<{ calls: number; reported: number }>(
    `select count(*)::int as calls, coalesce(sum("inputTokens" + "outputTokens") filter (where not "isEstimated"), 0)::int as reported
     from usage_entries where "orgId" = $1`,
    [orgId],
  );
  const held = await server.look<{ owner: string; tokens: number }>(
    `select owner, tokens::int as tokens from usage_reservations where "orgId" = $1 and tokens > 0 and "leaseUntil" > world.now()`,
    [orgId],
  );
  const grants = await server.look<Record<'used' | 'held' | 'most', number>>(
    'select used::int, held::int, most::int from world.grants where "orgId" = $1 and used + held > most',
    [orgId],
  );
  for (const grant of grants) faults.push(`more is granted than is left: ${JSON.stringify(grant)}`);
  for (const { owner, tokens } of held) faults.push(`nothing is asked, and ${owner} still holds ${tokens} tokens of a limit`);
  const { callsServed, tokensServed } = world.models;
  if (entries !== undefined && (entries.calls > callsServed || entries.reported > tokensServed)) {
    faults.push(`${callsServed} calls of models gave ${tokensServed} tokens, and ${JSON.stringify(entries)} are charged`);
  }
  return faults;
}

/** What processes keep in memory is what the database says. */
async function findStaleness({ server, orgId, living }: World): Promise<readonly string[]> {
  const [row] = await server.look<{ limit: number | null }>(
    'select "apiUsageTokenLimit"::int as limit from organizations where id = $1',
    [orgId],
  );
  return living.flatMap(({ host, storage }) => {
    const kept = storage.operations.usageLimits.peek(orgId);
    return kept === undefined || kept.api === row?.limit
      ? []
      : [`${host.name} believes in a limit of ${kept.api}, which is ${row?.limit} by now`];
  });
}
