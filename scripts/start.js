// Makes ready and starts in one process. In JavaScript for the reason that compile-cache.js gives.
import '../src/lib/compile-cache.js';

await import('./prepare.ts');
await import('../src/start/process.ts');
