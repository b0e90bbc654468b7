import { describe, expect, it } from 'vitest';
import { addFile, indexed } from '../../support/knowledge/knowledge.ts';
import { eventually } from '../../support/processes/eventually.ts';
import { scriptedUpstream, withService } from '../../support/service.ts';

/** Secrets of the operator and of callers, each recognizable wherever it appears. */
const canaries = {
  provider: 'sk-canary-provider-0123456789abcdef',
  otherProvider: 'canary-anthropic-0123456789abcdef',
  master: 'canary-master-key-0123456789abcdef',
  chat: 'canary-chat-secret-0123456789abcdef',
  idempotency: 'pk_canarynokey0123456789abcdef01',
  document: 'canary-document-0123456789abcdef',
  question: 'canary-question-0123456789abcdef',
};

const { url } = await scriptedUpstream();
const lines: string[] = [];
const { service, make, upstream } = await withService('model', {
  env: {
    LOG_LEVEL: 'trace',
    OPENAI_API_KEY: canaries.provider,
    ANTHROPIC_API_KEY: canaries.otherProvider,
    ANTHROPIC_BASE_URL: url,
    PARLEY_MASTER_KEY: canaries.master,
  },
  onLog: (text) => lines.push(text),
});
/** What error replies showed to callers. */
const refusals: string[] = [];

const ann = await make.person();
const agentId = (await make.agent({ owner: ann })).id;

const chatPath = '/api/v1/chat/completions';
const completion = { model: 'openai/test-model', messages: [{ role: 'user', content: canaries.question }] };

async function refused(reply: Promise<{ readonly status: number; readonly body: unknown }>, statusMin = 400): Promise<void> {
  const { status, body } = await reply;
  expect(status).toBeGreaterThanOrEqual(statusMin);
  refusals.push(JSON.stringify(body));
}

describe('secrets', () => {
  it('stand in no log at any level, no refusal and no metric, whatever happens to the calls that carry them', async () => {
    // A provider that repeats the received key in its error, in each way it can fail.
    const echo = (status: number) => ({
      status,
      body: JSON.stringify({
        error: { message: `Incorrect API key provided: ${canaries.provider}. Bearer ${canaries.provider}` },
      }),
    });
    upstream.next(echo(401));
    await refused(ann.post(chatPath, completion));
    upstream.next(echo(500));
    await refused(ann.post(chatPath, completion));
    upstream.next({ raw: `data: ${JSON.stringify({ error: { message: `key ${canaries.provider}` } })}\n\n` });
    await refused(ann.post(chatPath, { ...completion, stream: true }));
    upstream.next({ text: ['Half', 'way'], cutAtByte: 200 });
    refusals.push(String((await ann.post(chatPath, { ...completion, stream: true })).body));

    // Callers' keys in every place where a key may be sent, valid and invalid ones.
    await refused(service.client(canaries.idempotency).get('/api/v1/groups'));
    await refused(ann.get(`/api/v1/ais/${ann.key}`));
    await refused(ann.get(`/api/v1/ais?cursor=${ann.key}`));
    await refused(ann.post('/api/v1/groups', `{"name": "${ann.key}`, { 'content-type': 'application/json' }));
    refusals.push(JSON.stringify(await ann.graphql(`{ node(id: "${ann.key}") { id } }`)));

    // Secrets of a chat turn, whose model call fails too.
    const chat = await ann.post(`/api/v1/ais/${agentId}/chats`);
    const turn = { prompt: canaries.question, secrets: { crm: canaries.chat } };
    expect((await ann.post(`/api/v1/chats/${chat.body.id}/messages`, turn)).status).toBe(200);
    upstream.next(echo(401));
    refusals.push(JSON.stringify((await ann.post(`/api/v1/chats/${chat.body.id}/messages`, turn)).body));
    await refused(ann.post(`/api/v1/chats/${chat.body.id}/messages`, { ...turn, secrets: canaries.chat }));

    // Documents, one that can be indexed and one that cannot.
    const source = await addFile(ann, agentId, 'notes.txt', `The word is ${canaries.document}.`);
    await indexed(ann, source.body.id);
    const broken = await addFile(ann, agentId, 'broken.pdf', `%PDF-1.7 ${canaries.document}`);
    await indexed(ann, broken.body.id);

    // A new key, whose secret is shown once.
    const made = await ann.post('/api/v1/api-keys', { name: 'Another', scopes: ['AGENTS_READ'] });
    const shownOnce = made.body.key ?? made.body.secret;

    await eventually(() => expect(lines.join('')).toContain('/api/v1/api-keys'));
    const log = lines.join('');
    const metrics = String((await service.nobody.get('/metrics')).body);
    const operators = [canaries.provider, canaries.otherProvider, canaries.master, service.adminKey];
    for (const secret of [...operators, ...Object.values(canaries), ann.key]) {
      expect(log, 'the log').not.toContain(secret);
      expect(metrics, 'the metrics').not.toContain(secret);
    }
    if (typeof shownOnce === 'string') expect(log).not.toContain(shownOnce);
    for (const refusal of refusals) {
      for (const secret of [...operators, canaries.chat, ann.key, canaries.idempotency]) expect(refusal).not.toContain(secret);
    }
  });

  it('of a chat turn stand in no row, event or job', async () => {
    const { pool } = service.deps.storage.db;
    const { rows: tables } = await pool.query<{ name: string }>(
      `select table_schema || '.' || quote_ident(table_name) as name from information_schema.tables
       where table_schema in ('public', 'pgboss') and table_type = 'BASE TABLE'`,
    );
    for (const { name } of tables) {
      const { rows } = await pool.query(
        `select 1 from ${name} t where strpos(t::text, $1) > 0 or strpos(t::text, $2) > 0 or strpos(t::text, $3) > 0 limit 1`,
        [canaries.chat, canaries.master, canaries.provider],
      );
      expect(rows, name).toEqual([]);
      const { rows: keys } = await pool.query(`select 1 from ${name} t where strpos(t::text, $1) > 0 limit 1`, [ann.key]);
      expect(keys, name).toEqual([]);
    }
  });
});
