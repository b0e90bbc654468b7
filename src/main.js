import './lib/node-version.js';

// Said before any of them is loaded: without it Express and graphql-js take themselves to be in development, and check more with each request.
process.env.NODE_ENV ||= 'production';

// Not as `import` statements: an older Node would read these files before the check above.
// The cache first, so that a second start finds all other modules stripped and compiled.
await import('./lib/compile-cache.js');
const { runProcess } = await import('./start/process.ts');
await runProcess();
