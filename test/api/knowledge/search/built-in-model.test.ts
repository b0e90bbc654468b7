import { beforeAll, describe, expect, it } from 'vitest';
import { addFile, indexed } from '../../../support/knowledge/knowledge.ts';
import type { Person } from '../../../support/make.ts';
import { withService } from '../../../support/service.ts';

const { make } = await withService();

describe('an agent with the built-in model', () => {
  let ann: Person;
  let model: string;
  beforeAll(async () => {
    ann = await make.person();
    model = (await make.agent({ owner: ann })).id;
    const text = '# Collecting\n\nRepaired bicycles are kept for 14 days.\n\n# Café\n\nTea and cake are served all day.\n';
    await indexed(ann, (await addFile(ann, model, 'handbook.md', text, 'text/markdown')).body.id);
    const data = {
      services: [
        { name: 'Full service', priceEuro: 89 },
        { name: 'Puncture repair', priceEuro: 15 },
      ],
    };
    await indexed(ann, (await make.apiDataSource({ owner: ann, agentId: model, name: 'Prices', data })).id);
  });
  const ask = async (question: string) => {
    const messages = [{ role: 'user', content: question }];
    return (await ann.post('/api/v1/chat/completions', { model, messages })).body.choices[0].message;
  };

  it.each([
    ['How long are bicycles kept?', 'Repaired bicycles are kept for 14 days [1].'],
    ['What does a puncture repair cost?', 'name: Puncture repair; priceEuro: 15 [1].'],
    ['Who is the king of Spain?', 'find nothing'],
  ])('%s', async (question, answer) => {
    expect((await ask(question)).content).toContain(answer);
  });

  it('refuses a form that asks for a number nobody states', async () => {
    const schema = {
      type: 'object',
      properties: { weightKg: { type: 'number' } },
      required: ['weightKg'],
      additionalProperties: false,
    };
    const { body } = await ann.post('/api/v1/chat/completions', {
      model,
      messages: [{ role: 'user', content: 'What does a puncture repair of 2 wheels weigh?' }],
      response_format: { type: 'json_schema', json_schema: { name: 'weight', strict: true, schema } },
    });
    expect(body.choices[0].message).toMatchObject({ content: null, refusal: expect.stringMatching(/^I cannot fill "weightKg"/) });
  });
});
