import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, expect, it } from 'vitest';
import { checkAll } from '../../../../src/start/checks/checks.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { freePort } from '../../../support/processes/free-port.ts';
import { withService } from '../../../support/service.ts';

/** The receiver of docs/audit.md, as it stands there. */
const [, program = ''] = /```js\n([\s\S]+?)```/.exec(readFileSync('docs/audit.md', 'utf8')) ?? [];
const secret = `whsec_${randomBytes(32).toString('base64')}`;
const port = await freePort();
const url = `http://127.0.0.1:${port}/`;
const env = { AUDIT_SINK_URL: url, AUDIT_SINK_SECRET: `whsec_${randomBytes(32).toString('base64')},${secret}` };
let written = '';

const receiver = spawn(process.execPath, ['--input-type=module', '-e', program], {
  env: { PORT: String(port), AUDIT_SINK_SECRET: secret },
  stdio: ['ignore', 'pipe', 'inherit'],
});
receiver.stdout?.on('data', (text) => {
  written += text;
});
await eventually(() => fetch(url));

afterAll(() => {
  receiver.kill();
});

const { service, make } = await withService('plain', { env });
const findingOf = async (more: Readonly<Record<string, string>>) =>
  (await checkAll({ DATA_DIR: '/nowhere', PORT: '0', ...more })).filter(({ check }) => check === 'audit-sink');

it('the receiver of docs/audit.md takes entries that two secrets sign, of which it has one', async () => {
  const ann = await make.person({ role: 'ADMIN' });
  const agent = await make.agent({ owner: ann, name: 'Ada' });
  await eventually(() => expect(written).toMatch(new RegExp(`^\\S+ \\S+@\\S+ createAgent ${agent.id}$`, 'm')));
  expect((await service.deps.storage.operations.auditSink.progress()).lastError).toBeNull();
});

it('parley doctor says whether the receiver takes a request, and shows neither address nor secret', async () => {
  expect(await findingOf({})).toEqual([]);
  const before = written;
  expect(await findingOf(env)).toEqual([
    { check: 'audit-sink', level: 'good', message: 'The receiver of AUDIT_SINK_URL takes signed requests.' },
  ]);
  expect(written).toBe(before);
  const advice = 'Entries of the audit log wait until it takes them.';
  expect(await findingOf({ ...env, AUDIT_SINK_SECRET: `whsec_${'a'.repeat(43)}=` })).toEqual([
    {
      ...{ check: 'audit-sink', level: 'wrong', advice },
      message: 'The receiver of AUDIT_SINK_URL answered 401: see whether it has the secret of AUDIT_SINK_SECRET.',
    },
  ]);
  const nobody = await findingOf({ ...env, AUDIT_SINK_URL: `http://127.0.0.1:${await freePort()}/a?token=hidden` });
  expect(nobody).toEqual([
    {
      ...{ check: 'audit-sink', level: 'wrong', advice },
      message: 'The receiver of AUDIT_SINK_URL fails: 127.0.0.1 could not be reached (ECONNREFUSED).',
    },
  ]);
});
