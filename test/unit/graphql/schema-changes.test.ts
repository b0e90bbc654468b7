import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { breakingChanges, hastyRemovals, undatedDeprecations, untold } from '../../../scripts/support/schema-changes.ts';

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

describe('what is deprecated', () => {
  it('says from which date on it may go', () => {
    const undated = `
      type Query { a: Int @deprecated(reason: "Use b.") b(c: Int @deprecated(reason: "Gone from 2027-03-01 on.")): Color d: Int }
      enum Color { RED @deprecated GREEN }
      input NewAgent { name: String @deprecated(reason: "It has no effect.") }
    `;
    expect(undatedDeprecations(undated).toSorted()).toEqual(['Color.RED', 'NewAgent.name', 'Query.a']);
    expect(undatedDeprecations(readFileSync('schema.graphql', 'utf8'))).toEqual([]);
  });

  it('goes when its date has passed, and nothing else goes', async () => {
    const reason = '@deprecated(reason: "Use picture. It may go from 2027-03-01 on.")';
    const dated = before.replace('src: String', `src: String ${reason}`);
    const hasty = async (text: string, today: string) =>
      hastyRemovals(text, await breakingChanges(text, after), today).map(({ coordinate }) => coordinate);
    const others = ['Color.GREEN', 'Query.agents.seed', 'Query.ai'];
    expect((await hasty(before, '2027-03-01')).sort()).toEqual(['Agent.src', ...others]);
    expect((await hasty(dated, '2027-02-28')).sort()).toEqual(['Agent.src', ...others]);
    expect((await hasty(dated, '2027-03-01')).sort()).toEqual(others);
  });
});
