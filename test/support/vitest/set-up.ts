import { configureGlobal } from 'fast-check';
import { afterEach } from 'vitest';
import { sampleSeed, triesAll } from '../property/sample.ts';

configureGlobal({ seed: sampleSeed });

/** Says how the cases of a failed test are tried again. */
afterEach(({ task }) => {
  if (task.result?.state !== 'fail') return;
  const all = triesAll ? 'PROPERTY_RUNS=all ' : '';
  console.error(`To try the same cases again: ${all}PROPERTY_SEED=${sampleSeed} npx vitest run ${task.file.name}`);
});
