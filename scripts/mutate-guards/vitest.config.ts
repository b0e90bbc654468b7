import { resolve } from 'node:path';
import { defineConfig } from 'vitest/config';
import ours from '../../vitest.config.ts';

/** The tests in a copy of the repository, each with its name known to scripts/mutate-guards/record.ts. */
export default defineConfig({
  test: {
    ...ours.test,
    root: resolve('.'),
    setupFiles: [...[ours.test?.setupFiles ?? []].flat(), 'scripts/mutate-guards/set-up.ts'],
  },
});
