// First, so that a second start finds all other modules stripped and compiled.
import './lib/compile-cache.js';

await import('./start/process.ts');
