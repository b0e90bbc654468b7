import { configureGlobal } from 'fast-check';
import { afterEach } from 'vitest';
import { propertySeed, sampleSeed, triesAll } from '../property/sample.ts';

configureGlobal({ seed: propertySeed });

/** Says how the cases of a failed test are tried again. */
afterEach(({ task }) => {
  if (task.result?.state !== 'fail') return;
  const sample = triesAll ? 'PROPERTY_RUNS=all' : `SAMPLE_SEED=${sampleSeed}`;
  console.error(`To try the same cases again: ${sample} PROPERTY_SEED=${propertySeed} npx vitest run ${task.file.name}`);
});
