import { enableCompileCache } from 'node:module';

// As the service does: everything else is loaded after this, so that the next command finds its modules stripped and compiled.
enableCompileCache();
await import('./cli/main.ts');
