import './lib/node-version.js';

// Not as `import` statements: an older Node would read these files before the check above.
// The cache first, so that a second start finds all other modules stripped and compiled.
await import('./lib/compile-cache.js');
const { runProcess } = await import('./start/process.ts');
await runProcess();
