import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestClient } from '../support/client.ts';
import { addFile, indexed, itemsOf } from '../support/knowledge/knowledge.ts';
import { type Cluster, type Instance, startCluster } from '../support/processes/cluster.ts';
import { eventually } from '../support/processes/eventually.ts';
import { newFolder, testServerUrl } from '../support/storage/databases.ts';
import { startStore, type TestStore } from '../support/storage/s3.ts';

if (testServerUrl === undefined) {
  console.info('Files of several instances are tested on a server only: set TEST_DATABASE_URL.');
  it('the embedded database belongs to one process', () => expect(testServerUrl).toBeUndefined());
} else describe('two processes on one database and one bucket', filesOfTwoInstances);

function filesOfTwoInstances(): void {
  const text = '# Warranty\n\nThe warranty on batteries lasts two years.\n';
  const question = 'How long is the warranty on batteries?';
  const folders = [newFolder(), newFolder()] as const;
  let store: TestStore;
  let cluster: Cluster;
  let one: TestClient;
  let two: TestClient;
  /** Calls the second process without a key. */
  let nobodyAtTwo: TestClient;
  let agentId: string;

  beforeAll(async () => {
    store = await startStore('shared');
    cluster = await startCluster();
    // A data folder each, as on two machines: what one reads of the other came through the bucket.
    const start = (folder: string): Promise<Instance> =>
      cluster.start({ ...store.env, DATA_DIR: folder, DEFAULT_MODEL: 'parley/offline' });
    const [first, second] = [await start(folders[0]), await start(folders[1])];
    [one, two] = [first.client(), second.client()];
    nobodyAtTwo = new TestClient(() => second.url, undefined);
    agentId = (await one.post('/api/v1/ais', { name: 'Ada', src: '', description: 'Knows', instructions: 'Answer.' })).body.id;
  });
  afterAll(async () => {
    await cluster.close();
    await store.close();
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });

  it('read each other’s files of chats byte for byte, until one of them deletes the chat for ever', async () => {
    const { id: chatId } = (await one.post(`/api/v1/ais/${agentId}/chats`)).body;
    const form = new FormData();
    form.set('file', new File([text], 'warranty.md', { type: 'text/markdown' }));
    const { body: file } = await one.post(`/api/v1/chats/${chatId}/files`, form);
    const content = `/api/v1/chats/${chatId}/files/${file.id}/content`;
    expect(await two.get(content)).toMatchObject({ status: 200, body: text });
    const prompt = [
      { type: 'text', text: question },
      { type: 'id', id: file.id },
    ];
    const answer = await two.post(`/api/v1/chats/${chatId}/messages`, { prompt });
    expect([answer.status, JSON.stringify(answer.body)]).toEqual([200, expect.stringContaining('two years')]);
    const keys = async () => (await store.keys()).filter((key) => key.startsWith('shared/') && key.includes('/chat-files/'));
    expect(await keys()).toHaveLength(1);
    expect((await two.delete(`/api/v1/chats/${chatId}`)).status).toBe(200);
    expect((await one.get(content)).status).toBe(404);
    expect(await keys()).toHaveLength(1);
    expect((await one.post('/api/v1/bin/chats/delete', { chatIds: [chatId] })).body).toEqual({
      results: [{ chatId, error: null }],
    });
    await eventually(async () => expect(await keys()).toEqual([]));
  });

  it('open each other’s signed links: of content without a key, and for an upload', async () => {
    const { body: token } = await one.post(`/api/v1/ais/${agentId}/data-sources/upload-token`, {
      ...{ filename: 'warranty.md', contentType: 'text/markdown', size: text.length },
    });
    const { pathname, search } = new URL(token.url);
    const upload = await nobodyAtTwo.put(pathname + search, text, { 'content-type': 'text/markdown' });
    expect(upload.status).toBe(200);
    await indexed(one, upload.body.id);
    const completion = { model: agentId, generateCitations: true, messages: [{ role: 'user', content: question }] };
    const { body: answer } = await one.post('/api/v1/chat/completions', completion);
    const cited = new URL(answer.choices[0].message.annotations[0].url_citation.url);
    const link = cited.pathname + cited.search;
    expect(await nobodyAtTwo.get(`${link}&download=1`)).toMatchObject({ status: 200, body: text });
    expect((await nobodyAtTwo.get(link)).body).toContain('<mark');
    expect((await nobodyAtTwo.get(cited.pathname)).status).toBe(401);
    expect(await nobodyAtTwo.get(link.slice(0, -4))).toMatchObject({ status: 403, body: { error: { param: 'link' } } });
  });

  it('serve the original of a source that either of them got, whichever indexed it', async () => {
    for (const [who, other] of [
      [one, two],
      [two, one],
    ] as const) {
      const { body: source } = await addFile(who, agentId, 'again.md', text, 'text/markdown');
      expect((await indexed(other, source.id)).indexStatus).toBe('INDEXED');
      const [item] = await itemsOf(other, source.id);
      expect((await other.get(new URL(item.originalContent.contentUrl).pathname)).body).toBe(text);
    }
  });
}
