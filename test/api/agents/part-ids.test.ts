import { describe, expect, it } from 'vitest';
import { withService } from '../../support/service.ts';
import { countFewestStatements } from '../../support/storage/statements.ts';

/** A part of an agent is found by its id alone, at the cost of the two ids that REST has in its paths. Statements are counted, so no jobs run. */
const { service, make } = await withService('web');

const ann = await make.person({ name: 'Ann' });
const agentId = (await make.agent({ owner: ann })).id;

const parts = [
  ['agentTool', 'tools', { name: 'get', type: 'CLIENT_FUNCTION', data: {} }, 'name'],
  ['userInput', 'user-inputs', { variableName: 'city', type: 'SHORT_TEXT', label: 'City' }, 'label'],
  ['skill', 'skills', { name: 'Brevity', content: 'Be brief.' }, 'name'],
  ['flow', 'flows', { name: 'Main', versions: [{ version: 1, data: { steps: [{ type: 'prompt', text: 'x' }] } }] }, 'name'],
  ['agentSecret', 'secrets', { key: 'KEY', secretType: 'apiKey' }, 'key'],
] as const;

describe.each(parts)('%s by its id', (field, path, body, member) => {
  it('reads the agent once, and of the part what REST reads', async () => {
    const { body: part } = await ann.post(`/api/v1/ais/${agentId}/${path}`, body);
    const byPath = await countFewestStatements(service, () => ann.get(`/api/v1/ais/${agentId}/${path}/${part.id}`));
    const byId = await countFewestStatements(service, () => ann.graphql(`{ ${field}(id: "${part.id}") { id ${member} } }`));
    expect(byPath.result.body.id).toBe(part.id);
    expect(byId.result.data[field].id).toBe(part.id);
    const readsOf = (statements: readonly string[]) => statements.filter((sql) => sql.includes('."agents" AS')).length;
    expect(readsOf(byPath.statements), byPath.statements.join('\n')).toBe(1);
    expect(readsOf(byId.statements), byId.statements.join('\n')).toBe(1);
    expect(byId.statements.length, byId.statements.join('\n')).toBe(byPath.statements.length);
  });
});
