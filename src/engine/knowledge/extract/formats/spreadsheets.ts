import { createRequire } from 'node:module';

/** The library of spreadsheets in its form for `require`, which brings the code pages of old files along. */
export const spreadsheets = createRequire(import.meta.url)('@e965/xlsx') as typeof import('@e965/xlsx');
