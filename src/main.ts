import { enableCompileCache } from 'node:module';

// Everything else is loaded after this, so that a second start finds its modules stripped and compiled.
enableCompileCache();
await import('./process.ts');
