import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startMcpUpstream } from '../../../../fixtures/upstreams/mcp/server.ts';
import type { Person } from '../../../../support/make.ts';
import { sampled } from '../../../../support/property/sample.ts';
import { withService } from '../../../../support/service.ts';
import { everyApi } from '../../../../support/tools/every-api.ts';

/** Files that a server of others gives: images may be shown, nothing else is, and no address holds a page. */
const server = await startMcpUpstream();
const bench = await withService('model');
const { make, upstream } = bench;
const model = 'openai/test-model';
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const page = Buffer.from('<script>alert(1)</script>').toString('base64');
const image = (mimeType: string, data: string) => ({ type: 'image', mimeType, data });
let ann: Person;

beforeAll(async () => {
  ann = await make.person();
});
afterAll(() => server.close());

/** The server answers its tool with these parts. */
function answerWith(...content: readonly object[]): void {
  server.intercept = (rpc, res, id) => {
    if (rpc !== 'tools/call') return false;
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.end(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result: { content } })}\n\n`);
    return true;
  };
}
const tool = { type: 'mcp', server_label: 'shop', server_url: server.url, allowed_tools: ['picture'], require_approval: 'never' };

describe.each(sampled(everyApi))('%s', (_api, ask) => {
  const filesOf = async (...content: readonly object[]) => {
    const agent = await make.agent({ owner: ann, modelId: model });
    answerWith(...content);
    upstream.next({ toolCalls: [{ id: 'call_1', name: 'shop__picture', arguments: '{}' }] }, { text: 'Here.' });
    const answer = await ask(ann, { tool, input: 'Go', model, agentId: agent.id }, bench);
    return Promise.all(
      answer.files.map(async (address) => {
        const reply = await fetch(address);
        return { address, type: reply.headers.get('content-type'), shown: reply.headers.get('content-disposition') ?? '', reply };
      }),
    );
  };

  it('gives an image with its own type', async () => {
    const [file] = await filesOf(image('image/png', png));
    expect(file?.type).toBe('image/png');
    if (file?.address.startsWith('data:') === true) return;
    expect(file?.shown).toMatch(/^inline;/);
    expect(file?.reply.headers.get('x-content-type-options')).toBe('nosniff');
    expect(file?.reply.headers.get('content-security-policy')).toContain('sandbox');
  });

  it.each([
    ['a page', 'text/html', page],
    ['a drawing with a script', 'image/svg+xml', Buffer.from('<svg onload="alert(1)"/>').toString('base64')],
    ['a page that says it is an image', 'image/png', page],
  ])('gives %s as bytes to save', async (_what, type, data) => {
    const [file] = await filesOf(image(type, data));
    expect(file?.address).toMatch(/^http/);
    expect([file?.type, file?.shown]).toEqual(['application/octet-stream', expect.stringMatching(/^attachment;/)]);
  });
});
