import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { startApiServer } from '../../../support/egress/api-server.ts';
import type { Person } from '../../../support/make.ts';
import { makeWebhook } from '../../../support/operations/webhooks.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { freePort } from '../../../support/processes/free-port.ts';
import { withService } from '../../../support/service.ts';

const receiver = await startApiServer();
const { make } = await withService('plain', { env: { EGRESS_ALLOW: '127.0.0.1', DUE_LOOK_EVERY_MS: '100' } });
afterAll(() => receiver.close());
let ann: Person;
beforeEach(async () => {
  receiver.reset();
  ann = await make.person({ role: 'ADMIN' });
});

/** A server that does as `respond` says with each request. */
async function serverOf(respond: (response: ServerResponse) => void) {
  const server = createServer((request, response) => {
    request.resume().on('end', () => respond(response));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe('a receiver', () => {
  it('that is slow gets few deliveries at one time and delays nobody else, neither of its organization nor of others', async () => {
    const held: (() => void)[] = [];
    let isOpen = false;
    receiver.answer(async ({ path }) => {
      if (path === '/slow' && !isOpen) await new Promise<void>((resolve) => held.push(resolve));
      return {};
    });
    const bob = await make.person({ role: 'ADMIN' });
    const slow = await makeWebhook(ann, `${receiver.url}/slow`);
    await slow.test(30);
    await eventually(() => expect(held.length).toBeGreaterThan(0));
    for (const who of [ann, bob]) {
      const fast = await makeWebhook(who, `${receiver.url}/fast`);
      await fast.test(2);
      await eventually(async () =>
        expect((await fast.deliveries()).map(({ status }) => status)).toEqual(['DELIVERED', 'DELIVERED']),
      );
    }
    expect(held.length).toBeLessThanOrEqual(12);
    isOpen = true;
    for (const release of held) release();
    await eventually(async () => expect((await slow.deliveries()).every(({ status }) => status === 'DELIVERED')).toBe(true));
    expect(receiver.requests.filter(({ path }) => path === '/slow')).toHaveLength(30);
  });

  it('that never answers fails after ten seconds', async () => {
    await using silent = await serverOf(() => {});
    const webhook = await makeWebhook(ann, silent.url);
    await webhook.test();
    await eventually(async () =>
      expect(await webhook.deliveries()).toMatchObject([
        {
          ...{ status: 'PENDING', attempts: 1 },
          lastAnswer: { status: null, error: expect.stringContaining('did not answer within 10000 ms') },
        },
      ]),
    );
  });

  it('that takes a delivery and leaves its answer unfinished has taken it', async () => {
    await using unfinished = await serverOf((response) =>
      response.writeHead(200, { 'content-length': '1000000' }).write('half an answ'),
    );
    const webhook = await makeWebhook(ann, unfinished.url);
    await webhook.test();
    await eventually(async () =>
      expect(await webhook.deliveries()).toMatchObject([
        { status: 'DELIVERED', attempts: 1, lastAnswer: { status: 200, bodyStart: 'half an answ' } },
      ]),
    );
  });

  it('that answers without end is hung up on, and its NUL and half characters are stored as others', async () => {
    let written = 0;
    let isClosed = false;
    await using endless = await serverOf((response) => {
      response.writeHead(200).on('close', () => (isClosed = true));
      const block = Buffer.from(`\u0000${'é'.repeat(5_000)}`);
      const pump = () => {
        while (!isClosed && response.write(block)) written += block.length;
        response.once('drain', pump);
      };
      pump();
    });
    const webhook = await makeWebhook(ann, endless.url);
    await webhook.test();
    await eventually(() => expect(isClosed).toBe(true));
    // What the sockets buffer, and not what was left to send.
    expect(written).toBeLessThan(50_000_000);
    await eventually(async () =>
      expect(await webhook.deliveries()).toMatchObject([
        { status: 'DELIVERED', lastAnswer: { bodyStart: `\ufffd${'é'.repeat(499)}` } },
      ]),
    );
  });

  it('that answers in something else than HTTP fails, and the next delivery is sent', async () => {
    await using broken = await serverOf((response) => void response.socket?.end('EHLO\r\n'));
    const webhook = await makeWebhook(ann, broken.url);
    await webhook.test();
    await eventually(async () =>
      expect(await webhook.deliveries()).toMatchObject([
        { status: 'PENDING', lastAnswer: { error: expect.stringMatching(/does not answer in HTTP/) } },
      ]),
    );
  });

  it('as docs/webhooks.md has it takes what is signed and nothing else', { timeout: 120_000 }, async () => {
    const [, program = ''] = /```js\n([\s\S]*?)```/.exec(readFileSync('docs/webhooks.md', 'utf8')) ?? [];
    const port = await freePort();
    const url = `http://127.0.0.1:${port}/`;
    const webhook = await makeWebhook(ann, url);
    const code = program.replace('listen(8080)', `listen(${port}, '127.0.0.1')`);
    expect(code).toContain(`listen(${port}`);
    const env = { PATH: process.env.PATH ?? '', SECRET: webhook.secret };
    const child = spawn(process.execPath, ['--input-type=module', '--eval', code], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.on('data', (chunk) => (output += String(chunk)));
    try {
      await eventually(async () => expect((await fetch(url, { method: 'POST', body: '{}' })).status).toBe(401), 60_000);
      const [deliveryId] = await webhook.test();
      await eventually(async () =>
        expect(await webhook.deliveries()).toMatchObject([
          { id: deliveryId, status: 'DELIVERED', attempts: 1, lastAnswer: { status: 204 } },
        ]),
      );
      expect(output).toContain(`webhook.test { webhookId: '${webhook.id}' }`);
    } finally {
      child.kill('SIGKILL');
      await once(child, 'close');
    }
  });
});
