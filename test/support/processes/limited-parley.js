import '../../../src/lib/compile-cache.js';

// `node src/main.js` with limits of a test, which come as its argument.
const { runProcess } = await import('../../../src/start/process.ts');
await runProcess(JSON.parse(process.argv[2] ?? '{}'));
