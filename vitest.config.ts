import { enableCompileCache } from 'node:module';
import { resolve } from 'node:path';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/vitest/sequencer.ts';

process.env.NODE_COMPILE_CACHE ??= resolve('node_modules/.cache/compile');
// For this process, which loads Parley too (global-setup.ts): the variable is read by the processes that it starts.
enableCompileCache(process.env.NODE_COMPILE_CACHE);

/**
 * Node loads the tests as it loads the service. The files of a worker share the modules and the services of `withService`: loading Parley
 * and starting a service for each file took most of the time of a run. So a test file leaves nothing behind that another one could notice.
 */
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // They install packages: `npm run test:examples`.
    exclude: ['test/examples/**'],
    globalSetup: ['test/support/vitest/global-setup.ts'],
    setupFiles: ['test/support/vitest/set-up.ts'],
    pool: 'forks',
    isolate: false,
    // Garbage was collected sixty times in ten seconds of tests, a fifth of their processor time: heaps of this size collect it eight times.
    execArgv: ['--min-semi-space-size=16', '--max-semi-space-size=32', '--initial-old-space-size=512'],
    experimental: { viteModuleRunner: false, nodeLoader: false },
    sequence: { sequencer: LongestFirst },
    // Twice the cores of a small machine: while a file waits for processes, leases and stalls, another one works.
    maxWorkers: 4,
    // No test fails because the machine is busy: a test of a limit measures the time itself.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
  },
});
