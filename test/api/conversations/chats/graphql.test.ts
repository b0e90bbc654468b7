import { describe, expect, it } from 'vitest';
import { eventually } from '../../../support/processes/eventually.ts';
import { withService } from '../../../support/service.ts';

const { make, upstream } = await withService('model');

const ann = await make.person();
const agent = await make.agent({ owner: ann });

const create =
  'mutation ($agentId: ID!) { createChat(agentId: $agentId) { id name canWrite messages { nodes { id } } agent { id } } }';
const send = `mutation ($chatId: ID!, $input: SendMessageInput!) {
  sendMessage(chatId: $chatId, input: $input) { id status chatId message { id } }
}`;
const events = `subscription ($runId: ID!, $after: Int) {
  runEvents(runId: $runId, after: $after) {
    __typename sequence runId
    ... on TextDelta { delta itemId }
    ... on RunEnded { run { status output { __typename ... on MessageItem { text } } } }
  }
}`;
const runQuery =
  '($id: ID!) { run(id: $id) { status message { content role } messages { role } toolCalls { id } usage { totalTokens } endedAt } }';

async function newChat(): Promise<string> {
  return (await ann.graphql(create, { agentId: agent.id })).data.createChat.id;
}

// biome-ignore lint/suspicious/noExplicitAny: results of any shape; what the tests find is what they check.
async function all(results: AsyncIterable<any>): Promise<any[]> {
  const found = [];
  for await (const result of results) found.push(result.errors === undefined ? result.data : result);
  return found;
}

describe('chats on GraphQL', () => {
  it('are made, changed, found by node, listed, and deleted', async () => {
    const made = await ann.graphql(create, { agentId: agent.id });
    expect(made.data.createChat).toMatchObject({ name: null, canWrite: true, messages: { nodes: [] }, agent: { id: agent.id } });
    const { id } = made.data.createChat;
    const changed = await ann.graphql(
      'mutation ($id: ID!) { updateChat(id: $id, input: { name: "Trip", pinPosition: 1 }) { name pinPosition } }',
      { id },
    );
    expect(changed.data.updateChat).toEqual({ name: 'Trip', pinPosition: 1 });
    const node = await ann.graphql('($id: ID!) { node(id: $id) { __typename id ... on Chat { name } } }'.replace(/^/, 'query '), {
      id,
    });
    expect(node.data.node).toEqual({ __typename: 'Chat', id, name: 'Trip' });
    const listed = await ann.graphql('query ($agentId: ID) { chats(agentId: $agentId, first: 1) { nodes { id } totalCount } }', {
      agentId: agent.id,
    });
    expect(listed.data.chats).toMatchObject({ nodes: [{ id }], totalCount: expect.any(Number) });
    expect((await ann.graphql('mutation ($id: ID!) { deleteChat(id: $id) { id } }', { id })).data.deleteChat).toEqual({ id });
    expect((await ann.graphql('query ($id: ID!) { chat(id: $id) { id } }', { id })).data).toEqual({ chat: null });
  });
});

describe('runs on GraphQL', () => {
  it('begin at once and are followed to their end', async () => {
    const chatId = await newChat();
    upstream.next({ text: ['Hel', 'lo'] });
    const sent = await ann.graphql(send, { chatId, input: { prompt: { text: 'Hi' } } });
    expect(sent.data.sendMessage).toMatchObject({ status: 'IN_PROGRESS', chatId, message: null });
    const runId = sent.data.sendMessage.id;
    const log = (await all(ann.subscribe(events, { runId }))).map((data) => data.runEvents);
    expect(log.map((event) => event.__typename)).toEqual([
      ...['RunStarted', 'ItemAdded', 'TextStarted', 'TextDelta', 'TextDelta', 'TextDone', 'ItemDone', 'RunCompleted'],
    ]);
    expect(new Set(log.map((event) => event.runId))).toEqual(new Set([runId]));
    expect(log.flatMap((event) => event.delta ?? []).join('')).toBe('Hello');
    expect(log.at(-1)).toMatchObject({
      __typename: 'RunCompleted',
      run: { status: 'COMPLETED', output: [{ __typename: 'MessageItem', text: 'Hello' }] },
    });
    // Behind any number, also one that belongs to an event that is not shown.
    for (let after = -1; after <= log.at(-1).sequence; after += 1) {
      expect((await all(ann.subscribe(events, { runId, after }))).map((data) => data.runEvents)).toEqual(
        log.filter(({ sequence }) => sequence > after),
      );
    }
    expect((await ann.graphql(`query ${runQuery}`, { id: runId })).data.run).toMatchObject({
      status: 'COMPLETED',
      message: { content: 'Hello', role: 'ASSISTANT' },
      messages: [{ role: 'USER' }, { role: 'ASSISTANT' }],
      toolCalls: [],
      usage: { totalTokens: 12 },
      endedAt: expect.any(String),
    });
  });

  it('are cancelled from elsewhere, and every follower sees the same end', async () => {
    const chatId = await newChat();
    upstream.next({ text: ['Half', 'never'], chunkDelayMs: 60_000 });
    const { id } = (await ann.graphql(send, { chatId, input: { prompt: { text: 'Hi' } } })).data.sendMessage;
    const followers = [1, 2, 3].map(() => all(ann.subscribe(events, { runId: id })));
    await upstream.until(({ openStreams }) => openStreams === 1);
    const cancelled = await ann.graphql('mutation ($id: ID!) { cancelRun(id: $id) { status } }', { id });
    expect(cancelled.data.cancelRun).toEqual({ status: 'CANCELLED' });
    const logs = await Promise.all(followers);
    for (const log of logs) {
      expect(log).toEqual(logs[0]);
      expect(log.at(-1).runEvents).toMatchObject({ __typename: 'RunCancelled', run: { status: 'CANCELLED' } });
    }
  });

  it('are stopped by administrators of the organization, who are not told what was said', async () => {
    const chatId = await newChat();
    const admin = await make.person({ organization: { id: ann.orgId, tenantId: ann.tenantId }, role: 'ADMIN' });
    const auditor = await make.person({ organization: { id: ann.orgId, tenantId: ann.tenantId }, role: 'AUDITOR' });
    const stranger = await make.person({ role: 'ADMIN' });
    upstream.next({ text: ['Half', 'never'], chunkDelayMs: 60_000 });
    const { id } = (await ann.graphql(send, { chatId, input: { prompt: { text: 'Hi' } } })).data.sendMessage;
    const following = all(ann.subscribe(events, { runId: id }));
    await upstream.until(({ openStreams }) => openStreams === 1);
    const cancel = 'mutation ($id: ID!) { cancelRun(id: $id) { status text messages { id } } }';
    expect((await stranger.graphql(cancel, { id })).errors).toMatchObject([{ extensions: { code: 'NOT_FOUND' } }]);
    expect((await auditor.graphql(cancel, { id })).errors).toMatchObject([{ extensions: { code: 'INSUFFICIENT_SCOPE' } }]);
    expect((await admin.graphql(cancel, { id })).data.cancelRun).toEqual({ status: 'CANCELLED', text: null, messages: [] });
    expect((await following).at(-1).runEvents).toMatchObject({ __typename: 'RunCancelled' });
  });

  it('answer tool calls and go on', async () => {
    const chatId = await newChat();
    upstream.next({ toolCalls: [{ id: 'call_1', name: 'look', arguments: '{}' }] }, { text: 'Seen.' });
    const tools = [{ function: { name: 'look', description: 'Looks' } }];
    const first = `subscription ($chatId: ID!, $input: SendMessageInput!) { messageEvents(chatId: $chatId, input: $input) { __typename } }`;
    expect((await all(ann.subscribe(first, { chatId, input: { prompt: { text: 'Look' }, tools } }))).at(-1)).toEqual({
      messageEvents: { __typename: 'RunCompleted' },
    });
    const asking = await ann.graphql('query ($id: ID!) { chat(id: $id) { messages { nodes { id toolCalls { id name } } } } }', {
      id: chatId,
    });
    const message = asking.data.chat.messages.nodes[1];
    expect(message.toolCalls).toEqual([{ id: 'call_1', name: 'look' }]);
    const submit = `mutation ($chatId: ID!, $input: SubmitToolOutputsInput!) { submitToolOutputs(chatId: $chatId, input: $input) { id } }`;
    const input = { systemMessageId: message.id, outputs: [{ toolCallId: 'call_1', status: 'SUCCESS', output: 'a tree' }] };
    const { id } = (await ann.graphql(submit, { chatId, input })).data.submitToolOutputs;
    const log = await all(ann.subscribe(events, { runId: id }));
    expect(log.at(-1).runEvents.run.output).toEqual([{ __typename: 'MessageItem', text: 'Seen.' }]);
  });

  it('end for a follower whose key was revoked', async () => {
    const chatId = await newChat();
    upstream.next({ text: ['Half', 'never'], chunkDelayMs: 60_000 });
    const { id } = (await ann.graphql(send, { chatId, input: { prompt: { text: 'Hi' } } })).data.sendMessage;
    const other = await make.withKey(ann, {});
    const followed = all(other.subscribe(events, { runId: id }));
    await upstream.until(({ openStreams }) => openStreams === 1);
    await ann.delete(`/api/v1/api-keys/${other.keyId}`);
    expect((await followed).at(-1)).toMatchObject({ errors: [{ extensions: { code: 'INVALID_API_KEY' } }] });
    await ann.graphql('mutation ($id: ID!) { cancelRun(id: $id) { status } }', { id });
  });
});

describe('chatUpdated', () => {
  it('shows the chat at once, its turns and its name, and ends when the chat is deleted', async () => {
    const chatId = await newChat();
    // biome-ignore lint/suspicious/noExplicitAny: as above.
    const seen: any[] = [];
    const watching = (async () => {
      const query =
        'subscription ($chatId: ID!) { chatUpdated(chatId: $chatId) { name activeRunId messages { nodes { content } } } }';
      for await (const { data } of ann.subscribe(query, { chatId })) seen.push(data.chatUpdated);
    })();
    await eventually(() => expect(seen).toHaveLength(1));
    upstream.next({ text: 'Hello' });
    await ann.graphql(send, { chatId, input: { prompt: { text: 'Hi there' } } });
    await eventually(() =>
      expect(seen.at(-1)).toEqual({
        name: 'Hi there',
        activeRunId: null,
        messages: { nodes: [{ content: 'Hi there' }, { content: 'Hello' }] },
      }),
    );
    await ann.graphql('mutation ($id: ID!) { deleteChat(id: $id) { id } }', { id: chatId });
    await watching;
  });
});
