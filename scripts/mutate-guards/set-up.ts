import { relative } from 'node:path';

/** A setup file of the recording run, loaded for each test file: vitest keeps the path of the file that runs in its worker's state. */
const state: unknown = Reflect.get(globalThis, '__vitest_worker__');
if (typeof state === 'object' && state !== null && 'filepath' in state)
  process.env.GUARD_TEST_FILE = relative(process.cwd(), String(state.filepath));
