import { describe, expect, it } from 'vitest';
import type { Person } from '../../../support/make.ts';
import { withService } from '../../../support/service.ts';

const { make } = await withService();
const organization = await make.organization();
const ann = await make.person({ organization });
const bob = await make.person({ organization });
const admin = await make.person({ organization, role: 'ADMIN' });

const members = 'id name command text visibility canEdit userId variables { name default choices } groups { id }';
let last = 0;
const command = () => `prompt-${++last}`;
const create = (who: Person, input: object) =>
  who.graphql(`mutation ($input: CreatePromptInput!) { createPrompt(input: $input) { ${members} } }`, {
    input: { name: 'Summary', command: command(), text: 'Summarize {{text}}', ...input },
  });
const created = async (who: Person, input: object = {}) => (await create(who, input)).data.createPrompt;
const update = (who: Person, id: string, input: object) =>
  who.graphql(`mutation ($id: ID!, $input: UpdatePromptInput!) { updatePrompt(id: $id, input: $input) { ${members} } }`, {
    id,
    input,
  });
const remove = (who: Person, id: string) => who.graphql('mutation ($id: ID!) { deletePrompt(id: $id) { id } }', { id });
const list = async (who: Person, args = '') =>
  (await who.graphql(`{ prompts${args} { nodes { id } totalCount } }`)).data.prompts.nodes.map(({ id }: { id: string }) => id);
const fill = (who: Person, id: string, values: object) =>
  who.graphql('query ($id: ID!, $values: [PromptValueInput!]!) { filledPrompt(id: $id, values: $values) }', {
    id,
    values: Object.entries(values).map(([name, value]) => ({ name, value })),
  });
interface Reply {
  readonly errors?:
    | readonly { readonly extensions: { readonly code: string; readonly faults?: readonly { readonly path: string | null }[] } }[]
    | undefined;
}
const codeOf = ({ errors }: Reply) => errors?.[0]?.extensions.code;
const paramsOf = ({ errors }: Reply) => errors?.[0]?.extensions.faults?.map(({ path }) => path);

describe('a prompt', () => {
  it('is made, read, changed, listed and deleted over REST', async () => {
    const path = '/api/v1/prompts';
    const text = 'Translate: {{text=nothing}}';
    const made = (await ann.post(path, { name: 'Over REST', command: command(), text })).body;
    expect(made).toMatchObject({ text, variables: [{ name: 'text', default: 'nothing', choices: [] }], visibility: 'PRIVATE' });
    expect((await bob.get(`${path}/${made.id}`)).status).toBe(404);
    const changed = await ann.patch(`${path}/${made.id}`, { visibility: 'ORGANIZATION' });
    expect(changed.body).toMatchObject({ text, visibility: 'ORGANIZATION' });
    expect((await bob.get(`${path}?search=over`)).body.data).toMatchObject([{ id: made.id, canEdit: false }]);
    expect((await bob.get(`${path}?onlyOwn=true`)).body.data).toEqual([]);
    expect((await ann.post(path, { name: '', command: 'No!' })).status).toBe(400);
    const unused = await ann.patch(`${path}/${made.id}`, { groupIds: ['grp_01m8m883eaejjar7nrn3y7few9'] });
    expect(unused.body.error).toMatchObject({ param: 'groupIds', message: expect.stringContaining('GROUP') });
    expect((await ann.delete(`${path}/${made.id}`)).body.id).toBe(made.id);
    expect((await ann.get(`${path}/${made.id}`)).status).toBe(404);
  });

  it('is kept with its variables, changed and deleted', async () => {
    const prompt = await created(ann, {
      text: 'Translate into {{language: German | French = German}}: {{text}} ({{tone=plain}})',
    });
    expect(prompt).toMatchObject({ visibility: 'PRIVATE', canEdit: true, userId: ann.userId, groups: [] });
    expect(prompt.variables).toEqual([
      { name: 'language', default: 'German', choices: ['German', 'French'] },
      { name: 'text', default: null, choices: [] },
      { name: 'tone', default: 'plain', choices: [] },
    ]);
    const changed = await update(ann, prompt.id, { name: 'Translation' });
    expect(changed.data.updatePrompt).toMatchObject({ name: 'Translation', text: prompt.text, command: prompt.command });
    expect((await remove(ann, prompt.id)).data.deletePrompt.id).toBe(prompt.id);
    expect(await list(ann)).not.toContain(prompt.id);
  });

  it('takes braces around anything else as text', async () => {
    const { variables } = await created(ann, { text: '{{#if x}} {{ }} {{}} { {{a}} }} {{b' });
    expect(variables.map(({ name }: { name: string }) => name)).toEqual(['a']);
  });

  it.each([
    ['a blank name', { name: ' ' }, ['input.name']],
    ['a command with a capital and a space', { command: 'My prompt' }, ['input.command']],
    ['a text that is too long', { text: 'x'.repeat(20_001) }, ['input.text']],
    ['21 variables', { text: Array.from({ length: 21 }, (_, index) => `{{v${index}}}`).join('') }, ['input.text']],
    ['no group', { visibility: 'GROUP' }, ['input.groupIds']],
    ['a group that nobody sees', { visibility: 'GROUP', groupIds: ['grp_x'] }, ['input.groupIds.0']],
    ['several faults at once', { name: '', command: '-' }, ['input.name', 'input.command']],
  ])('is refused with %s', async (_what, input, params) => {
    const reply = await create(ann, input);
    expect(paramsOf(reply)).toEqual(params);
  });

  it('has a command that no other prompt of its owner has', async () => {
    const { command: taken, id } = await created(ann);
    expect(codeOf(await create(ann, { command: taken }))).toBe('CONFLICT');
    const other = await created(ann);
    expect(codeOf(await update(ann, other.id, { command: taken }))).toBe('CONFLICT');
    expect((await update(ann, id, { command: taken })).errors).toBeUndefined();
    expect((await create(bob, { command: taken })).errors).toBeUndefined();
  });
});

describe('a prompt is used', () => {
  it('by its owner alone', async () => {
    const { id } = await created(ann);
    expect(await list(bob)).not.toContain(id);
    expect(codeOf(await fill(bob, id, { text: 'x' }))).toBe('NOT_FOUND');
    expect(codeOf(await update(bob, id, { name: 'Mine' }))).toBe('NOT_FOUND');
    expect(codeOf(await remove(admin, id))).toBe('NOT_FOUND');
  });

  it('by everybody in the organization, who may not change it; administrators may delete it', async () => {
    const { id } = await created(ann, { visibility: 'ORGANIZATION' });
    const stranger = await make.person();
    expect(await list(bob)).toContain(id);
    expect(await list(bob, '(onlyOwn: true)')).not.toContain(id);
    expect(await list(stranger)).not.toContain(id);
    expect((await fill(bob, id, { text: 'this' })).data.filledPrompt).toBe('Summarize this');
    expect(codeOf(await update(bob, id, { name: 'Mine' }))).toBe('FORBIDDEN');
    expect(codeOf(await remove(bob, id))).toBe('FORBIDDEN');
    expect((await remove(admin, id)).errors).toBeUndefined();
  });

  it('by the members of its groups, until it is private again', async () => {
    const group = (await ann.post('/api/v1/groups', { name: 'Sales', availability: 'RESTRICTED', memberEmails: bob.email })).body;
    const { id, groups } = await created(ann, { visibility: 'GROUP', groupIds: [group.id] });
    expect(groups).toEqual([{ id: group.id }]);
    const carl = await make.person({ organization });
    expect(await list(bob)).toContain(id);
    expect(await list(carl)).not.toContain(id);
    await update(ann, id, { name: 'Still for them' });
    expect(await list(bob)).toContain(id);
    await update(ann, id, { visibility: 'PRIVATE' });
    expect(await list(bob)).not.toContain(id);
  });

  it('keeps its readers with null in their place, and is renamed when its groups are gone', async () => {
    const newGroup = async (name: string) =>
      (await ann.post('/api/v1/groups', { name, availability: 'RESTRICTED', memberEmails: '' })).body;
    const [one, two] = [await newGroup('One'), await newGroup('Two')];
    const { id } = await created(ann, { visibility: 'GROUP', groupIds: [one.id] });
    const changed = await update(ann, id, { visibility: null, groupIds: [two.id] });
    expect(changed.data.updatePrompt).toMatchObject({ visibility: 'GROUP', groups: [{ id: two.id }] });
    expect((await update(ann, id, { visibility: 'GROUP', groupIds: null })).data.updatePrompt.groups).toEqual([{ id: two.id }]);
    await ann.delete(`/api/v1/groups/${two.id}`);
    expect((await update(ann, id, { name: 'For nobody' })).data.updatePrompt).toMatchObject({ name: 'For nobody', groups: [] });
  });
});

describe('filling in', () => {
  it('takes values, and defaults for the others', async () => {
    const { id } = await created(ann, { text: '{{a}} {{b=two}} {{c: x | y = y}} {{a}}' });
    expect((await fill(ann, id, { a: 'one' })).data.filledPrompt).toBe('one two y one');
    expect((await fill(ann, id, { a: 'x'.repeat(20_000) })).errors).toBeUndefined();
    expect(paramsOf(await fill(ann, id, { a: 'x'.repeat(20_001) }))).toEqual(['values.0.value']);
    expect((await fill(ann, id, { a: '{{b}}', b: ' ', c: 'x' })).data.filledPrompt).toBe('{{b}} two x {{b}}');
  });

  it('names every variable without a value, with a wrong one, and that is not there', async () => {
    const { id } = await created(ann, { text: '{{a}} {{c: x | y}}' });
    expect(paramsOf(await fill(ann, id, { c: 'z', other: '1' }))).toEqual(['values.1.name', 'values', 'values.0.value']);
  });
});

it('is found by its name and its command, and listed page by page, each once', async () => {
  const person = await make.person({ organization });
  const ids: string[] = [];
  for (let index = 0; index < 5; index += 1)
    ids.push((await created(person, { name: `Find me ${index}`, visibility: 'ORGANIZATION' })).id);
  const found: string[] = [];
  for (let after: string | null = null; ; ) {
    const { data }: Awaited<ReturnType<Person['graphql']>> = await bob.graphql(
      'query ($after: String) { prompts(search: "find ME", first: 2, after: $after) { nodes { id } totalCount pageInfo { hasNextPage endCursor } } }',
      { after },
    );
    expect(data.prompts.totalCount).toBe(5);
    found.push(...data.prompts.nodes.map(({ id }: { id: string }) => id));
    if (!data.prompts.pageInfo.hasNextPage) break;
    after = data.prompts.pageInfo.endCursor;
  }
  expect(found).toEqual(ids.toReversed());
  const oldest = await bob.graphql('{ prompts(search: "find ME", last: 2) { nodes { id } pageInfo { startCursor } } }');
  const idsOf = ({ data }: typeof oldest) => data.prompts.nodes.map(({ id }: { id: string }) => id);
  expect(idsOf(oldest)).toEqual([ids[1], ids[0]]);
  const before = await bob.graphql(
    'query ($before: String) { prompts(search: "find ME", last: 2, before: $before) { nodes { id } } }',
    { before: oldest.data.prompts.pageInfo.startCursor },
  );
  expect(idsOf(before)).toEqual([ids[3], ids[2]]);
  const named = await created(person, { command: 'zebra-crossing' });
  expect(await list(person, '(search: "zebra")')).toEqual([named.id]);
});

it('a search has at most 200 characters', async () => {
  const person = await make.person();
  expect((await person.get(`/api/v1/prompts?search=${'a'.repeat(200)}`)).status).toBe(200);
  expect(await person.get(`/api/v1/prompts?search=${'a'.repeat(201)}`)).toMatchObject({
    status: 400,
    body: { error: { param: 'search', message: expect.stringContaining('200') } },
  });
});
