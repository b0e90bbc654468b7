import { boxes } from '../../../src/engine/tools/python/box.ts';
import { runInBox } from '../../../src/engine/tools/python/run-in-box.ts';

/** A service that the test kills while a program that never ends runs in a box. */
const [kind = '', bubblewrapPath] = process.argv.slice(2);
const box = boxes(bubblewrapPath)[kind as keyof ReturnType<typeof boxes>];
const limits = { timeoutMs: 600_000, memoryMaxBytes: 1024 * 1024 * 1024 };
await runInBox(box, 'while True: pass', limits, new AbortController().signal);
