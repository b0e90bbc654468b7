import { appendFileSync } from 'node:fs';

/**
 * Loaded by `--import` into every process and worker of a recording run: notes which test file met which guard. A process that a test starts inherits the
 * name of the file by its environment.
 */
const written = new Set<string>();

Object.assign(globalThis, {
  guardHit(key: string): void {
    const { GUARD_HITS: path, GUARD_TEST_FILE: file } = process.env;
    if (path === undefined || file === undefined) return;
    const line = `${key} ${file}\n`;
    if (written.has(line)) return;
    written.add(line);
    appendFileSync(path, line);
  },
});
