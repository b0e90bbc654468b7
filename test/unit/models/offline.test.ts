import { describe, expect, it } from 'vitest';
import { offlineModel } from '../../../src/engine/models/offline/offline.ts';
import type { ModelMessage, ModelRequest } from '../../../src/engine/models/port.ts';
import { writePassages } from '../../../src/engine/models/prompts/passages.ts';
import type { Passage } from '../../../src/entities/knowledge/citation.ts';
import { collect, ask as request } from '../../support/runs/models.ts';

const never = new AbortController().signal;

function run(messages: readonly ModelMessage[], more: Partial<ModelRequest> = {}) {
  return collect(offlineModel.stream(request('offline', '', { messages, ...more }), never));
}
const user = (content: string): ModelMessage => ({ role: 'user', content });

function passage(title: string, text: string): Passage {
  return {
    chunkId: title,
    knowledgeItemId: 'ki',
    dataSourceId: 'ds',
    title,
    headingPath: '',
    text,
    page: null,
    charStart: 0,
    charEnd: text.length,
    url: 'https://example.com',
    itemType: 'TEXT',
    tokenCount: 10,
    score: 1,
    scores: { lexical: 1, vector: null, rerank: null },
    mayCite: true,
  };
}
const numbered = (passages: readonly Passage[]) => passages.map((one, index) => ({ passage: one, number: index + 1 }));
const knowledge: ModelMessage = {
  role: 'system',
  content: writePassages(
    numbered([
      passage(
        'Handbook',
        '# Warranty\n\nThe X200 kettle comes with a warranty of two years. It covers manufacturing faults.\n\n## Shipping\nOrders over 50 € ship for free. Returns are accepted within 30 days.',
      ),
      passage('Prices', '| plan | price |\n| --- | --- |\n| Starter | 10 € |\n| Team | 40 € |\n\nA <b> & other marks.'),
    ]),
    true,
  ),
};
const weather = {
  name: 'get_weather',
  description: 'Get the current weather for a city',
  parameters: {
    type: 'object',
    properties: { city: { type: 'string' }, unit: { type: 'string', enum: ['celsius', 'fahrenheit'] } },
    required: ['city'],
  },
};
const add = {
  name: 'add',
  description: 'Adds two numbers',
  parameters: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
};
const tools = [weather, add];

describe('parley/offline', () => {
  it.each([
    ['How long is the warranty of the X200?', 'The X200 kettle comes with a warranty of two years [1].'],
    ['Is shipping free?', 'Orders over 50 € ship for free [1].'],
    ['What is the price of the Team plan?', /Team\s+40 € \[2\]\./],
  ])('quotes the sentence that holds the words of the question, with its citation: %s', async (question, answer) => {
    const { text } = await run([knowledge, user(question)]);
    if (typeof answer === 'string') expect(text).toBe(answer);
    else expect(text).toMatch(answer);
  });

  it('says so when the knowledge does not answer, and what it is', async () => {
    const { text } = await run([knowledge, user('Who is the king of Spain?')]);
    expect(text).toMatch(/parley\/offline.*find nothing/);
    expect(text).not.toMatch(/\[\d\]/);
    expect((await run([user('Who are you?')])).text).toContain('I am parley/offline');
  });

  it('remembers what was said, and never quotes its instructions', async () => {
    expect((await run([user('My name is Ann.'), { role: 'assistant', content: 'Hello.' }, user('What is my name?')])).text).toBe(
      'Earlier you wrote: “My name is Ann.”',
    );
    expect(
      (await run([{ role: 'system', content: 'The launch code is 4711.' }, user('What is the launch code?')])).text,
    ).not.toContain('4711');
  });

  it('streams words and gives the same answer to the same request', async () => {
    const one = await run([knowledge, user('Is shipping free?')]);
    expect(one.all.filter((delta) => delta.type === 'text').length).toBeGreaterThan(4);
    expect(await run([knowledge, user('Is shipping free?')])).toEqual(one);
    expect(one.usage?.outputTokens).toBe(one.all.filter((delta) => delta.type === 'text').length);
  });

  it('honours max_tokens and stop', async () => {
    expect(await run([user('Who are you?')], { parameters: { maxTokens: 3 } })).toMatchObject({
      text: 'I am parley/offline,',
      finishes: ['length'],
    });
    expect(await run([user('Who are you?')], { parameters: { stop: [' built'] } })).toMatchObject({
      text: 'I am parley/offline, the model',
      finishes: ['stop'],
    });
  });

  it.each<[string, string, readonly { name: string; arguments: string }[]]>([
    ['a city', "What's the weather in Paris in celsius?", [{ name: 'get_weather', arguments: '{"city":"Paris"}' }]],
    ['numbers', 'Add 2 and 3.5', [{ name: 'add', arguments: '{"a":2,"b":3.5}' }]],
    ['nothing that fits', 'Tell me a joke', []],
  ])('calls a function that plainly fits, with arguments from the question: %s', async (_case, question, calls) => {
    const got = await run([user(question)], { tools });
    expect(got.calls.map(({ name, arguments: args }) => ({ name, arguments: args }))).toEqual(calls);
    expect(got.finishes).toEqual([calls.length === 0 ? 'stop' : 'tool_calls']);
    expect(new Set(got.calls.map((call) => call.id)).size).toBe(calls.length);
  });

  it('obeys tool_choice', async () => {
    const named = await run([user('Tell me a joke')], { tools, toolChoice: { name: 'add' } });
    expect(named.calls.map((call) => call.name)).toEqual(['add']);
    expect((await run([user('Tell me a joke')], { tools, toolChoice: 'required' })).calls).toHaveLength(1);
    expect((await run([user('Weather in Paris?')], { tools, toolChoice: 'none' })).calls).toHaveLength(0);
  });

  it('answers from tool outputs', async () => {
    const messages: ModelMessage[] = [
      user("What's the weather in Paris?"),
      { role: 'assistant', content: null, toolCalls: [{ id: 'c', name: 'get_weather', arguments: '{}' }] },
      { role: 'tool', toolCallId: 'c', content: '{"temperature":21,"sky":"clear"}' },
    ];
    expect(await run(messages, { tools })).toMatchObject({
      text: 'According to get_weather: {"temperature":21,"sky":"clear"}',
      calls: [],
    });
  });

  it('searches documents when nothing it was given answers, once, and quotes what was found', async () => {
    const search = {
      name: 'search_knowledge',
      description: 'Searches the documents of this assistant and answers the passages that fit best.',
      parameters: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
    };
    const question = user('When does the workshop open?');
    const asked = await run([question], { tools: [weather, search] });
    expect(asked.calls.map(({ name, arguments: args }) => [name, JSON.parse(args)])).toEqual([
      ['search_knowledge', { query: 'When does the workshop open?' }],
    ]);
    const answerTo = (output: string) =>
      run(
        [
          question,
          { role: 'assistant', content: null, toolCalls: [{ id: 'c', name: 'search_knowledge', arguments: '{}' }] },
          { role: 'tool', toolCallId: 'c', content: output },
        ],
        { tools: [weather, search] },
      );
    const found = writePassages(numbered([passage('Hours', '# Hours\n\nThe workshop opens at seven.')]), true);
    expect(await answerTo(found)).toMatchObject({ text: 'The workshop opens at seven [1].', calls: [] });
    expect(await answerTo('The search found nothing.')).toMatchObject({
      text: expect.stringContaining('find nothing'),
      calls: [],
    });
    // What was given answers already.
    expect((await run([knowledge, user('Is shipping free?')], { tools: [search] })).calls).toEqual([]);
    expect((await run([question], { tools: [search], toolChoice: 'none' })).calls).toEqual([]);
  });

  it('says a sentence once that stands in several places', async () => {
    const text = 'The workshop opens at seven. The workshop opens at seven. It is behind the harbour.';
    const given: ModelMessage = {
      role: 'system',
      content: writePassages(numbered([passage('A', text), passage('B', text)]), true),
    };
    expect((await run([given, user('When does the workshop open?')])).text).toBe('The workshop opens at seven [1].');
  });

  it('answers in the JSON it is asked for', async () => {
    const schema = {
      type: 'object',
      properties: {
        answer: { type: 'string' },
        euros: { type: 'integer', minimum: 1 },
        kind: { enum: ['a', 'b'] },
        more: { type: 'array', items: { type: 'string' }, minItems: 1 },
      },
      required: ['answer', 'euros', 'kind', 'more'],
    };
    const { text } = await run([knowledge, user('Is shipping free?')], {
      responseFormat: { type: 'json_schema', name: 'x', schema },
    });
    expect(JSON.parse(text)).toEqual({
      answer: expect.stringContaining('for free [1]'),
      euros: 50,
      kind: 'a',
      more: [expect.any(String)],
    });
    const free = await run([user('Who are you?')], { responseFormat: { type: 'json_object' } });
    expect(JSON.parse(free.text)).toEqual({ answer: expect.stringContaining('parley/offline') });
  });

  it('quotes objects of data as they are indexed', async () => {
    const rows =
      'services[0]\nname: Full service\npriceEuro: 89\nbookable: true\nservices[1]\nname: Puncture repair\npriceEuro: 15\nbookable: false';
    const given: ModelMessage = { role: 'system', content: writePassages(numbered([passage('Prices', rows)]), true) };
    expect((await run([given, user('What is the price of a puncture repair?')])).text).toBe(
      'name: Puncture repair; priceEuro: 15; bookable: false [1].',
    );
  });

  it('quotes no code, and reads sentences over the ends of lines', async () => {
    const text = 'Agents are shared with\na group of people. Members are named.\n\n```sh\nshare agent group now\n```\n';
    const given: ModelMessage = { role: 'system', content: writePassages(numbered([passage('Recipes', text)]), true) };
    const { text: said } = await run([given, user('How do I share an agent with a group?')]);
    expect(said).toBe('Agents are shared with a group of people [1].');
  });

  it.each<[string, object, object | RegExp]>([
    ['a number that is stated', { euros: { type: 'integer' } }, { euros: 50 }],
    [
      'a number that nothing states',
      { euros: { type: 'number' }, weightKg: { type: 'number', minimum: 1 } },
      /^I cannot fill "weightKg": my answer does not state it, and I do not make up facts/,
    ],
    ['a date that nothing states', { boughtOn: { type: 'string', format: 'date' } }, /^I cannot fill "boughtOn"/],
    ['a member that the schema only refers to', { more: { $ref: '#/$defs/more' } }, /^I cannot fill "more"/],
    ['a date that may be null', { on: { type: ['string', 'null'], format: 'date' } }, { on: null }],
    ['a date with a default', { on: { type: 'string', format: 'date', default: '2026-01-01' } }, { on: '2026-01-01' }],
  ])('fills a form, or refuses: %s', async (_case, properties, expected) => {
    const schema = { type: 'object', properties, required: Object.keys(properties) };
    const responseFormat = { type: 'json_schema', name: 'x', schema } as const;
    const got = await run([knowledge, user('Is shipping free?')], { responseFormat });
    const said = got.all.flatMap((delta) => (delta.type === 'refusal' ? [JSON.parse(delta.json)] : [])).join('');
    if (expected instanceof RegExp) {
      expect(said).toMatch(expected);
      expect(got.text).toBe('');
    } else expect(JSON.parse(got.text)).toEqual(expected);
  });

  it('stops when it is told to', async () => {
    const controller = new AbortController();
    const reading = (async () => {
      for await (const _batch of offlineModel.stream(request('offline', 'Who are you?'), controller.signal))
        controller.abort(new Error('gone'));
    })();
    await expect(reading).rejects.toThrow('gone');
  });
});
