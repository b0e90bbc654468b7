import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

// Collects all garbage of a process that gets SIGUSR2, so that the memory in use can be told from garbage. Load it in Node with --import.
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');
process.on('SIGUSR2', () => collect());
