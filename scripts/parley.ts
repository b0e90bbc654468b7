import { enableCompileCache } from 'node:module';

// As in the service: import everything else after this, so that the next command finds compiled modules.
enableCompileCache();
await import('./cli/main.ts');
