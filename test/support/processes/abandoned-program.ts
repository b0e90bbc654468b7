import { boxes } from '../../../src/engine/tools/code/box/box.ts';
import { runAlone } from '../runs/programs.ts';

/** A service that the test kills while a program that never ends runs in a box. */
const [kind = '', bubblewrapPath] = process.argv.slice(2);
const box = boxes(bubblewrapPath)[kind as keyof ReturnType<typeof boxes>];
await runAlone(box, 'while True: pass', { timeoutMs: 600_000, memoryMaxBytes: 1024 * 1024 * 1024 });
