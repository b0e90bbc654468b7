import { mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '../../src/http/log/logging.ts';
import { loadSettings } from '../../src/settings.ts';
import { startService } from '../../src/start/service.ts';

/** Parley with its defaults, in a process of its own, on a new embedded database. */
const adminKey = 'pk-bench-administrator-key-of-40-characters';
const dataDir = mkdtempSync(join(tmpdir(), 'parley-bench-'));
process.on('exit', () => rmSync(dataDir, { recursive: true, force: true }));

const settings = loadSettings({
  PORT: '0',
  DATA_DIR: dataDir,
  OPENAI_BASE_URL: `${process.argv[2] ?? ''}/v1`,
  PARLEY_ADMIN_KEY: adminKey,
  DEMO: 'off',
  LOG_FORMAT: 'json',
  ...(process.argv[3] === undefined ? {} : { RUNS_ACTIVE_MAX: process.argv[3] }),
});
// The default log, discarded.
const log = openSync('/dev/null', 'w');
const logger = createLogger(settings, (lines) => void writeSync(log, lines));
const service = await startService(settings, logger, (error) => {
  throw error;
});
const headers = { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' };
await service.deps.models.list();
const agents: Record<string, string> = {};
for (const model of ['burst-2000']) {
  const body = { name: 'Bench', description: '', instructions: 'Be brief.', src: '', modelId: `openai/${model}` };
  const reply = await fetch(`${service.url}/api/v1/ais`, { method: 'POST', headers, body: JSON.stringify(body) });
  agents[model] = ((await reply.json()) as { id: string }).id;
}
process.send?.({ url: service.url, adminKey, agents });
process.on('message', (message) => {
  if (message === 'cpu') {
    const { user, system } = process.cpuUsage();
    process.send?.({ cpuMicros: user + system, rssBytes: process.memoryUsage.rss() });
  }
  if (message === 'stop') void service.close(1_000).then(() => process.exit(0));
});
process.on('disconnect', () => process.exit());
