import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** The library of spreadsheets, loaded at the first call. Its form for `require` brings the code pages of old files along. */
export function spreadsheets(): typeof import('@e965/xlsx') {
  return require('@e965/xlsx');
}
