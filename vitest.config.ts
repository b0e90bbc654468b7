import { resolve } from 'node:path';
import { defineConfig } from 'vitest/config';

process.env.NODE_COMPILE_CACHE ??= resolve('node_modules/.cache/compile');

/**
 * Tests are loaded by Node as the service is, and the files of a worker share the modules: loading Parley anew for each file was a third
 * of the whole run. So a test file leaves nothing behind in a module: each starts a service of its own.
 */
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    setupFiles: ['test/support/property-seed.ts'],
    pool: 'forks',
    isolate: false,
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // One more than the cores of a small machine: files wait for processes, leases and stalls, and another can work meanwhile.
    maxWorkers: 3,
    // None is to fail because the machine is busy; a test that shows a limit measures it itself.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
