import { expect, it } from 'vitest';
import { createStateTool } from '../../../src/wire/ag-ui/state.ts';

it('a change that would make the state of an application too long is refused, and changes nothing', async () => {
  const tool = createStateTool({ kept: 'x'.repeat(150_000) });
  const change = async (changes: object) => tool.run(JSON.stringify({ changes }));
  await expect(change({ more: 'x'.repeat(60_000) })).rejects.toThrow('more than 200000 characters');
  // With the refused change this one would be too long as well.
  await expect(change({ other: 'x'.repeat(40_000) })).resolves.toBe('The state is changed.');
  await expect(change({ kept: null, more: 'x'.repeat(100_000) })).resolves.toBe('The state is changed.');
});
