import { defineConfig } from 'vitest/config';
import ours from './vitest.config.ts';

/** `npm run test:examples`: each file installs a folder of examples/ anew, builds it, starts it and uses it. */
export default defineConfig({
  test: {
    ...ours.test,
    include: ['test/examples/**/*.test.ts'],
    exclude: [],
    maxWorkers: 2,
    // Installing and building need the network and all cores.
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
