import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { TestClient } from '../../test/support/client.ts';
import { type ParleyProcess, startProcess } from '../../test/support/processes/process.ts';
import { startUpstream } from '../../test/support/upstream.ts';
import { actsOf, prepareWorld } from './acts.ts';
import { type Ask, printTable, type Sample, toRows } from './table.ts';

/** See README.md. */
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '480' },
    'kill-minutes': { type: 'string', default: '10' },
    clients: { type: 'string', default: '4' },
    folder: { type: 'string', default: 'build/long-run' },
  },
});
const [minutes, killMinutes, clients] = [Number(values.minutes), Number(values['kill-minutes']), Number(values.clients)];
if (![minutes, killMinutes, clients].every((value) => value > 0))
  throw new Error('--minutes, --kill-minutes and --clients are above 0');
const sampleMs = 10_000;
const minuteMs = 60_000;
const adminKey = 'pk-long-run-administrator-key-of-40-chars';
const folder = resolve(values.folder);
const dataDir = join(folder, 'data');
const samplesPath = join(folder, 'samples.jsonl');
mkdirSync(dataDir, { recursive: true });

const samples: Sample[] = existsSync(samplesPath)
  ? readFileSync(samplesPath, 'utf8')
      .trim()
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
  : [];
/** Time that was run before, and until now. */
let ranMs = samples.at(-1)?.ranMs ?? 0;
const stop = new AbortController();
process.once('SIGINT', () => stop.abort());

if (ranMs < minutes * minuteMs) await run();
const { text, hasGrown, hasFailed } = printTable(toRows(samples));
writeFileSync(join(folder, 'table.md'), text);
console.log(text);
process.exit(hasGrown || hasFailed ? 1 : 0);

async function run(): Promise<void> {
  const upstream = await startUpstream();
  const answer = { text: ['One ', 'two ', 'three.'], chunkDelayMs: 20 };
  upstream.otherwise(answer);
  let service = launch(upstream.url);
  let url = await service.url();
  const ann = new TestClient(() => url, adminKey);
  const agentId = await prepareWorld(ann).catch(async (error: unknown) => {
    await service.kill('SIGKILL');
    throw error;
  });
  /** Since the last sample. */
  let asks: Ask[] = [];
  let downUntilMs = 0;
  let startMs: number | undefined;
  const load = async (index: number) => {
    const acts = actsOf(ann, agentId);
    for (let turn = index; !stop.signal.aborted; turn += 1) {
      const [name, act] = acts[turn % acts.length] ?? acts[0] ?? ['', async () => false];
      const beganMs = performance.now();
      const isWell = await act().catch(() => false);
      const isBesideKill = !isWell && (beganMs < downUntilMs || performance.now() < downUntilMs);
      asks.push({
        name,
        ms: performance.now() - beganMs,
        outcome: isWell ? 'answered' : isBesideKill ? 'cut by a kill' : 'failed',
      });
      // While the service is down, nobody asks without a pause.
      await wait(isBesideKill ? 1_000 : 50);
    }
  };
  const loads = Array.from({ length: clients }, (_client, index) => load(index));
  let killedAtMs = performance.now();
  try {
    while (!stop.signal.aborted && ranMs < minutes * minuteMs) {
      const beganMs = performance.now();
      await wait(sampleMs, undefined, { signal: stop.signal }).catch(() => undefined);
      ranMs += performance.now() - beganMs;
      if (performance.now() - killedAtMs > killMinutes * minuteMs) {
        downUntilMs = Number.POSITIVE_INFINITY;
        await service.kill('SIGKILL');
        const fromMs = performance.now();
        service = launch(upstream.url);
        url = await service.url();
        startMs = performance.now() - fromMs;
        killedAtMs = performance.now();
        // What was begun before is told apart for a while.
        downUntilMs = killedAtMs + 5_000;
        ranMs += killedAtMs - fromMs;
      }
      const sample: Sample = { ranMs, ...measure(service), waitingJobs: await countWaitingJobs(ann), asks, startMs };
      samples.push(sample);
      appendFileSync(samplesPath, `${JSON.stringify(sample)}\n`);
      [asks, startMs] = [[], undefined];
      // What the stand-in keeps is no part of what is measured.
      upstream.reset();
      upstream.otherwise(answer);
    }
  } finally {
    stop.abort();
    await Promise.all(loads);
    await service.kill('SIGTERM');
    upstream.abandon();
    await upstream.close();
  }
}

function launch(upstreamUrl: string): ParleyProcess {
  const { DATABASE_URL } = process.env;
  return startProcess({
    ...{ DATA_DIR: dataDir, PARLEY_ADMIN_KEY: adminKey, OPENAI_BASE_URL: upstreamUrl, DEFAULT_MODEL: 'openai/test-model' },
    ...{ EGRESS_ALLOW: '127.0.0.1', LOG_LEVEL: 'warn', RATE_LIMIT_REQUESTS_PER_MINUTE_KEY: '1000000' },
    ...{ RATE_LIMIT_REQUESTS_PER_MINUTE_ORGANIZATION: '1000000' },
    ...(DATABASE_URL === undefined ? {} : { DATABASE_URL, PARLEY_MASTER_KEY: 'a master key of the long run only' }),
  });
}

function measure({ pid }: ParleyProcess): Pick<Sample, 'residentMb' | 'descriptors' | 'sockets' | 'logMb'> {
  const residentMb = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1_024;
  const log = join(dataDir, 'database/pg_wal');
  const sizes = existsSync(log)
    ? readdirSync(log).map((name) => statSync(join(log, name), { throwIfNoEntry: false })?.size ?? 0)
    : [];
  const logMb = sizes.reduce((sum, size) => sum + size, 0) / 2 ** 20;
  const descriptors = readdirSync(`/proc/${pid}/fd`);
  return {
    residentMb,
    descriptors: descriptors.length,
    sockets: descriptors.filter((name) => isSocket(pid, name)).length,
    logMb,
  };
}

function isSocket(pid: number, descriptor: string): boolean {
  try {
    return readlinkSync(`/proc/${pid}/fd/${descriptor}`).startsWith('socket:');
  } catch {
    // Closed meanwhile.
    return false;
  }
}

/** As the metrics of the service tell them. */
async function countWaitingJobs(ann: TestClient): Promise<number> {
  const reply = await ann.get('/metrics').catch(() => undefined);
  const lines = typeof reply?.body === 'string' ? reply.body.split('\n') : [];
  return lines.reduce(
    (total, line) => (line.startsWith('parley_jobs_waiting') ? total + Number(line.split(' ').at(-1)) : total),
    0,
  );
}
