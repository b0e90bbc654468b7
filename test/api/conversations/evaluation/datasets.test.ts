import { describe, expect, it } from 'vitest';
import type { Person } from '../../../support/make.ts';
import { withService } from '../../../support/service.ts';

const { make, service } = await withService();
const organization = await make.organization();
const ann = await make.person({ organization });
const bob = await make.person({ organization });
const editor = await make.person({ organization });
const editors = [{ id: editor.userId }];
const agentId = (
  await make.agent({ owner: ann, visibility: 'ORGANIZATION', editors, chatLogsVisible: true, modelId: 'parley/offline' })
).id;

const members = 'id name revision caseCount draftCount callsTools agentId';
const caseMembers = `id question messages { role content } userInputs { name value } files { filename text } expected mustContain mustNotContain mustCite
  mustCall { name arguments } mustNotCall mustRefuse rubric recordedCalls { name arguments output error } tags weight isDraft runId sinceRevision`;
const create = async (who: Person = ann) =>
  (
    await who.graphql(
      `mutation ($agentId: ID!) { createDataset(agentId: $agentId, input: { name: "Before a change" }) { ${members} } }`,
      { agentId },
    )
  ).data.createDataset;
const mutate = (who: Person, field: string, types: string, args: Readonly<Record<string, unknown>>) => {
  const names = Object.keys(args);
  const call = names.map((name) => `${name}: $${name}`).join(', ');
  return who.graphql(`mutation (${types}) { ${field}(${call}) { ${members} } }`, args);
};
const add = (who: Person, datasetId: string, cases: readonly object[]) =>
  mutate(who, 'addDatasetCases', '$datasetId: ID!, $cases: [DatasetCaseInput!]!', { datasetId, cases });
const load = (who: Person, datasetId: string, content: string, format = 'JSONL', replaces = false) =>
  mutate(who, 'importDatasetCases', '$datasetId: ID!, $input: ImportDatasetCasesInput!', {
    datasetId,
    input: { format, content, replaces },
  });
const cases = async (who: Person, datasetId: string, more = '') =>
  (
    await who.graphql(`query ($id: ID!) { datasetCases(datasetId: $id, first: 100${more}) { nodes { ${caseMembers} } } }`, {
      id: datasetId,
    })
  ).data.datasetCases.nodes;
const exported = async (datasetId: string, format: string) =>
  (
    await ann.graphql(`query ($id: ID!) { datasetExport(datasetId: $id, format: ${format}) { filename contentType content } }`, {
      id: datasetId,
    })
  ).data.datasetExport;
const messagesOf = ({
  errors,
}: {
  readonly errors?: readonly { readonly extensions: { readonly faults?: readonly { readonly message: string }[] } }[] | undefined;
}) => errors?.[0]?.extensions.faults?.map(({ message }) => message);

const whole = {
  question: 'How long, "exactly", is the warranty?',
  messages: [
    { role: 'USER', content: 'Hello' },
    { role: 'ASSISTANT', content: 'Good day,\nwhat is it?' },
  ],
  userInputs: [{ name: 'city', value: 'Bern' }],
  files: [{ filename: 'bill.txt', text: 'A lamp, 20 francs' }],
  expected: 'Two years.',
  mustContain: ['two years', 'from the day, of purchase'],
  mustNotContain: ['three'],
  mustCite: ['warranty.md'],
  mustCall: [{ name: 'find_bill', arguments: '{"number":7}' }],
  mustNotCall: ['pay'],
  mustRefuse: false,
  rubric: 'It is friendly.',
  recordedCalls: [{ name: 'find_bill', arguments: '{"number":7}', output: 'A lamp', error: null }],
  tags: ['must', 'lamps'],
  weight: 2.5,
  isDraft: true,
};

describe('the cases of a dataset', () => {
  it('are added, changed, agreed to and taken out, each in a revision that stays', async () => {
    const { id } = await create();
    expect((await add(ann, id, [whole, { question: 'Why?' }])).data.addDatasetCases).toMatchObject({
      ...{ revision: 1, caseCount: 2, draftCount: 1 },
    });
    const [first, second] = await cases(ann, id);
    expect(first).toMatchObject({ ...whole, runId: null, sinceRevision: 1 });
    const args = { datasetId: id, caseId: second.id, input: { question: 'Why not?', tags: ['must'] } };
    await mutate(ann, 'updateDatasetCase', '$datasetId: ID!, $caseId: ID!, $input: DatasetCaseInput!', args);
    const ids = { datasetId: id, caseIds: [first.id] };
    const agreed = await mutate(editor, 'agreeToDatasetCases', '$datasetId: ID!, $caseIds: [ID!]!', ids);
    expect(agreed.data.agreeToDatasetCases).toMatchObject({ revision: 3, draftCount: 0 });
    expect((await cases(ann, id, ', tag: "must"')).map(({ question }: { question: string }) => question)).toEqual([
      whole.question,
      'Why not?',
    ]);
    const removed = await mutate(ann, 'removeDatasetCases', '$datasetId: ID!, $caseIds: [ID!]!', ids);
    expect(removed.data.removeDatasetCases).toMatchObject({ revision: 4, caseCount: 1 });
    expect(await cases(ann, id)).toMatchObject([{ id: second.id, question: 'Why not?' }]);
    expect(await cases(ann, id, ', revision: 1')).toMatchObject([{ id: first.id, isDraft: true }, { question: 'Why?' }]);
    const unknown = await ann.graphql('query ($id: ID!) { datasetCases(datasetId: $id, revision: 5) { nodes { id } } }', { id });
    expect(unknown.errors?.[0]).toMatchObject({ message: 'revision must be from 0 to 4: there are no others' });
    const missing = await mutate(ann, 'removeDatasetCases', '$datasetId: ID!, $caseIds: [ID!]!', ids);
    expect(missing.errors?.[0]?.extensions.code).toBe('NOT_FOUND');
  });

  it.each(['JSONL', 'CSV'])('leave as %s and come back as they were', async (format) => {
    const { id } = await create();
    await add(ann, id, [whole, { question: 'Why?\nWhen?', mustContain: ['a\nb', '[c'], weight: 1 }, { question: 'true' }]);
    const before = await cases(ann, id);
    const file = await exported(id, format);
    expect(file.filename).toBe(`Before a change.${format.toLowerCase()}`);
    const other = await create();
    expect((await load(ann, other.id, file.content, format)).data.importDatasetCases).toMatchObject({
      revision: 1,
      caseCount: 3,
    });
    const withoutIds = (all: readonly Record<string, unknown>[]) => all.map(({ id: _id, ...rest }) => rest);
    expect(withoutIds(await cases(ann, other.id))).toEqual(withoutIds(before));
    expect((await exported(other.id, format)).content).toBe(file.content);
    const replaced = await load(ann, other.id, 'question,tags\nWhat?,must\n', 'CSV', true);
    expect(replaced.data.importDatasetCases).toMatchObject({ revision: 2, caseCount: 1 });
  });

  it('are taken from a spreadsheet as people write it', async () => {
    const { id } = await create();
    const csv = '\uFEFFquestion,mustContain,isDraft,weight\r\n"How long?","two years\nfrom purchase",TRUE,2\r\nWhy?,,,\r\n';
    await load(ann, id, csv, 'CSV');
    expect(await cases(ann, id)).toMatchObject([
      { question: 'How long?', mustContain: ['two years', 'from purchase'], isDraft: true, weight: 2 },
      { question: 'Why?', mustContain: [], isDraft: false, weight: 1 },
    ]);
  });

  it.each([
    [
      'JSONL',
      '{"question":"a"}\nnothing\n\n{"question":"","weight":0,"mustContain":"x"}\n{"answer":1}',
      [
        'line 2 is not JSON',
        'line 4.question must be a text of 1 to 20000 characters',
        'line 4.mustContain must be a list of at most 50 texts',
        'line 4.weight must be a number above 0 and up to 1000',
        'line 5.answer is no member of a case',
        'line 5.question is required',
      ],
    ],
    [
      'CSV',
      'question,weight,mustCall\na,much,{\nb,1,2,3\n',
      ['line 2.mustCall must be a list', 'line 2.weight must be a number', 'line 3 has 4 cells'],
    ],
    ['CSV', 'question,tags,question\na,,b\n', ['input.content names the column question twice']],
    [
      'JSONL',
      `{"question":"a","userInputs":{"a":{"b":1}}}\n{"question":"b","userInputs":{"a":${'['.repeat(9_000)}${']'.repeat(9_000)}}}
{"question":"c","mustCall":[{"name":"d","arguments":${'{"a":'.repeat(40)}1${'}'.repeat(40)}}]}`,
      [
        'line 1.userInputs.a must be a text, a number, true or false',
        'line 2.userInputs must be at most 32 levels deep',
        'line 3.mustCall[0].arguments must be at most 32 levels deep',
      ],
    ],
    ['CSV', 'question\n"a', undefined],
    ['JSONL', '', ['input.content has no case']],
  ])('are refused as a whole, by line and member: %s %#', async (format, content, faults) => {
    const { id } = await create();
    const reply = await load(ann, id, content, format);
    const messages = messagesOf(reply) ?? [];
    if (faults === undefined) expect(reply.errors?.[0]?.message).toMatch(/content is no CSV/);
    else
      expect(faults.map((start, index) => messages[index]?.startsWith(start) === true || messages[index])).toEqual(
        faults.map(() => true),
      );
    expect(await cases(ann, id)).toEqual([]);
  });

  it('hold texts that the database takes, and each user input once', async () => {
    const { id } = await create();
    const addOne = (one: object) => add(ann, id, [one]);
    const half = 'a\ud800';
    const written = { question: half, tags: [half], mustCall: [{ name: half, arguments: JSON.stringify({ [half]: half }) }] };
    expect((await addOne(written)).errors).toBeUndefined();
    expect((await cases(ann, id))[0]).toMatchObject({
      question: 'a\ufffd',
      tags: ['a\ufffd'],
      mustCall: [{ name: 'a\ufffd', arguments: '{"a\ufffd":"a\ufffd"}' }],
    });
    const inputs = (count: number) => Array.from({ length: count }, (_, index) => ({ name: `n${index % 100}`, value: index }));
    expect(messagesOf(await addOne({ question: 'b', userInputs: inputs(101) }))).toEqual([
      'cases.0.userInputs.100.name stands in the list twice',
    ]);
    const many = Array.from({ length: 101 }, (_, index) => ({ name: `n${index}`, value: index }));
    expect(messagesOf(await addOne({ question: 'b', userInputs: many }))).toEqual([
      'cases.0.userInputs must have at most 100 members',
    ]);
  });

  it('are at most 10,000, and one more is refused with nothing written', async () => {
    const { id } = await create();
    const lines = (count: number) => Array.from({ length: count }, (_, index) => `{"question":"Question ${index}"}`).join('\n');
    const refused = await load(ann, id, lines(10_001));
    expect(refused.errors?.[0]).toMatchObject({ extensions: { code: 'CONFLICT' } });
    expect(refused.errors?.[0]?.message).toBe('A dataset has at most 10000 cases, and would have more with these 10001');
    expect((await load(ann, id, lines(10_000))).data.importDatasetCases).toMatchObject({ caseCount: 10_000, revision: 1 });
    expect((await add(ann, id, [{ question: 'One more?' }])).errors?.[0]?.extensions.code).toBe('CONFLICT');
    const state = await ann.graphql(`query ($id: ID!) { dataset(id: $id) { ${members} } }`, { id });
    expect(state.data.dataset).toMatchObject({ revision: 1, caseCount: 10_000 });
  });
});

describe('cases from what was said', () => {
  const say = async (who: Person, prompt: string, chatId?: string) => {
    const chat = chatId ?? (await make.chat({ owner: who, agentId })).id;
    await who.post(`/api/v1/chats/${chat}/messages`, { prompt });
    const { data } = await who.graphql('query ($id: ID!) { chat(id: $id) { messages(last: 2) { nodes { id role runId } } } }', {
      id: chat,
    });
    const [, answer] = data.chat.messages.nodes;
    return { chat, answer: answer.id as string, run: answer.runId as string };
  };
  const rate = (who: Person, id: string, input: object) =>
    who.graphql('mutation ($id: ID!, $input: RateMessageInput!) { rateMessage(id: $id, input: $input) { id } }', { id, input });
  const addRuns = (who: Person, datasetId: string, runIds: readonly string[]) =>
    mutate(who, 'addRunsToDataset', '$datasetId: ID!, $runIds: [ID!]!', { datasetId, runIds });

  it('take the question with the messages before it, and what people thought of the answer', async () => {
    const { id } = await create();
    const first = await say(bob, 'The lamp costs 20 francs.');
    const second = await say(bob, 'What does the lamp cost?', first.chat);
    await rate(bob, second.answer, { rating: 'DOWN', tags: ['wrong'], comment: 'It costs 30 francs.' });
    const third = await say(bob, 'The lamp is red. What colour is the lamp?');
    await rate(bob, third.answer, { rating: 'UP' });
    // They keep the order in which they are named, whatever order the database finds them in.
    expect((await addRuns(editor, id, [third.run, first.run, second.run])).data.addRunsToDataset).toMatchObject({
      caseCount: 3,
      draftCount: 1,
    });
    const [three, one, two] = await cases(editor, id);
    expect(one).toMatchObject({ question: 'The lamp costs 20 francs.', messages: [], isDraft: true, runId: first.run });
    expect(two).toMatchObject({
      ...{ question: 'What does the lamp cost?', tags: ['rated-down', 'wrong'], isDraft: false },
      rubric: 'A person rated an earlier answer down and wrote: It costs 30 francs.',
      messages: [{ role: 'USER', content: 'The lamp costs 20 francs.' }, { role: 'ASSISTANT' }],
    });
    expect(three.expected).not.toBeNull();
  });

  it('are refused for chats that the caller may not read, for other agents, and for keys without CHATS:READ', async () => {
    const { id } = await create();
    const other = await make.agent({ owner: ann, modelId: 'parley/offline' });
    const hidden = (await make.chat({ owner: bob, agentId: (await make.agent({ owner: bob, modelId: 'parley/offline' })).id }))
      .id;
    await bob.post(`/api/v1/chats/${hidden}/messages`, { prompt: 'Hello' });
    const unseen = await bob.graphql('query ($id: ID!) { chat(id: $id) { messages(last: 1) { nodes { runId } } } }', {
      id: hidden,
    });
    const ofOther = (await make.chat({ owner: ann, agentId: other.id })).id;
    await ann.post(`/api/v1/chats/${ofOther}/messages`, { prompt: 'Hello' });
    const others = await ann.graphql('query ($id: ID!) { chat(id: $id) { messages(last: 1) { nodes { runId } } } }', {
      id: ofOther,
    });
    const ids = [unseen, others].map(({ data }) => data.chat.messages.nodes[0].runId);
    expect(messagesOf(await addRuns(ann, id, ids))).toEqual([
      'runIds.0 is no run of a chat that you may read',
      'runIds.1 was answered by another agent than that of the dataset',
    ]);
    const key = await make.withKey(ann, { scopes: ['AGENTS:READ', 'AGENTS:WRITE'] });
    expect((await addRuns(key, id, ids)).errors?.[0]?.extensions.code).toBe('INSUFFICIENT_SCOPE');
    expect(await cases(ann, id)).toEqual([]);
  });

  it('leave an entry of the audit log, and go with the person whose words they hold', async () => {
    const { id } = await create();
    const leaver = await make.person({ organization });
    const admin = await make.person({ organization, role: 'ADMIN' });
    await addRuns(editor, id, [(await say(leaver, 'My name is Lea.')).run]);
    const log = await admin.graphql('{ auditLog(first: 20) { nodes { action targetId actorUserId } } }');
    expect(log.data.auditLog.nodes).toContainEqual({ action: 'addRunsToDataset', targetId: id, actorUserId: editor.userId });
    expect(await cases(editor, id)).toHaveLength(1);
    const { prisma } = service.deps.storage.db;
    expect(await prisma.datasetCase.count({ where: { sourceUserId: leaver.userId } })).toBe(1);
  });

  it('are drafted by the built-in model from documents, and wait for a person', async () => {
    const { id } = await create();
    const source = await make.apiDataSource({
      owner: ann,
      agentId,
      data: { text: 'The warranty of the lamp lasts twenty-four months.' },
    });
    await expect
      .poll(
        async () =>
          (
            await ann.graphql('query ($id: ID!) { dataSource(id: $id) { indexStatus items { nodes { id } } } }', {
              id: source.id,
            })
          ).data.dataSource.indexStatus,
        { timeout: 20_000 },
      )
      .toBe('INDEXED');
    const { data } = await ann.graphql('query ($id: ID!) { dataSource(id: $id) { items { nodes { id } } } }', { id: source.id });
    const itemIds = data.dataSource.items.nodes.map((node: { id: string }) => node.id);
    const drafted = await mutate(ann, 'draftDatasetCases', '$datasetId: ID!, $itemIds: [ID!]!, $count: Int!', {
      datasetId: id,
      itemIds,
      count: 2,
    });
    expect(drafted.data.draftDatasetCases).toMatchObject({ caseCount: 1, draftCount: 1 });
    const [draft] = await cases(ann, id);
    expect(draft).toMatchObject({ isDraft: true, tags: ['drafted'], mustCite: itemIds });
    expect(draft.expected).toContain('twenty-four months');
    const unknown = await mutate(ann, 'draftDatasetCases', '$datasetId: ID!, $itemIds: [ID!]!', {
      datasetId: id,
      itemIds: ['ki_x'],
    });
    expect(messagesOf(unknown)).toEqual(['itemIds.0 is no document with text that you may open']);
  });
});

it('a dataset is seen by who may edit its agent, and nobody else', async () => {
  const { id } = await create();
  expect((await bob.graphql('query ($id: ID!) { dataset(id: $id) { id } }', { id })).errors?.[0]?.extensions.code).toBe(
    'FORBIDDEN',
  );
  expect((await editor.graphql('query ($id: ID!) { dataset(id: $id) { agent { id } } }', { id })).data.dataset.agent.id).toBe(
    agentId,
  );
  const listed = await ann.graphql('query ($id: ID!) { datasets(agentId: $id, first: 1) { nodes { id } totalCount } }', {
    id: agentId,
  });
  expect(listed.data.datasets.nodes).toEqual([{ id }]);
  const removed = await mutate(ann, 'deleteDataset', '$id: ID!', { id });
  expect(removed.data.deleteDataset.id).toBe(id);
  expect((await ann.graphql('query ($id: ID!) { dataset(id: $id) { id } }', { id })).data.dataset).toBeNull();
});

it('takes cases from at most 100 runs at once', async () => {
  const { id: datasetId } = await create();
  const runIds = Array.from({ length: 101 }, (_, place) => `run_${place}`);
  const { errors } = await mutate(ann, 'addRunsToDataset', '$datasetId: ID!, $runIds: [ID!]!', { datasetId, runIds });
  expect(errors).toMatchObject([{ extensions: { faults: [{ path: 'runIds', message: expect.stringContaining('100') }] } }]);
});
