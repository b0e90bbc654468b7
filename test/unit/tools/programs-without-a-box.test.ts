import { expect, it } from 'vitest';
import { programsOf } from '../../support/runs/programs.ts';

it.each(['python', 'shell'] as const)('a program of %s does not run on a machine without a box', async (language) => {
  await expect(programsOf(undefined)[language]('1 + 1')).rejects.toMatchObject({
    code: 'OVERLOADED',
    message: expect.stringContaining('is not available here'),
  });
});
