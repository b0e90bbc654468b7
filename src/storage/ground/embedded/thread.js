// The entry of the thread, which shares nothing with the modules of the process, nor their cache.
import '../../../lib/compile-cache.js';

await import('./worker.ts');
