import { describe, expect, it } from 'vitest';
import { breakingChanges, untold } from '../../../scripts/support/schema-changes.ts';

const before = `
  type Query { agents(first: Int, seed: Int): [Agent!]! ai: Agent }
  type Agent { id: ID! src: String code: String! }
  enum Color { RED GREEN }
  input NewAgent { name: String }
`;
const after = `
  type Query { agents(first: Int): [Agent!]! agent: Agent }
  type Agent { id: ID! code: Color! picture: String }
  enum Color { RED }
  input NewAgent { name: String owner: ID! }
`;

describe('changes since a release', () => {
  it('are breaking where documents may fail', async () => {
    const coordinates = (await breakingChanges(before, after)).map(({ coordinate }) => coordinate);
    expect(coordinates.sort()).toEqual(
      ['Agent.code', 'Agent.src', 'Color.GREEN', 'NewAgent.owner', 'Query.agents.seed', 'Query.ai'].sort(),
    );
    expect(await breakingChanges(before, before)).toEqual([]);
  });

  it('must be told by their coordinate, their type or their operation', async () => {
    const changes = await breakingChanges(before, after);
    const untoldBy = (...pages: string[]) => untold(changes, pages).map(({ coordinate }) => coordinate);
    expect(untoldBy('Agent and Color changed')).toHaveLength(6);
    expect(untoldBy('| `Agent.src` | `Agent.picture` |', '`Color`')).not.toContain('Agent.src');
    expect(untoldBy('`Agent.src { url }`', '`Query`').sort()).toEqual(
      ['Agent.code', 'Color.GREEN', 'NewAgent.owner', 'Query.agents.seed', 'Query.ai'].sort(),
    );
    expect(untoldBy('`Agent` `Color`, `NewAgent`', '`agents(seed)` is gone, `ai` → `agent`')).toEqual([]);
  });
});
