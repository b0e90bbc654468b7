import { configureGlobal } from 'fast-check';

/** The same cases in every run, so that a change does not fail because of an older fault. To try other cases, set PROPERTY_SEED to any whole number. */
configureGlobal({ seed: Number(process.env.PROPERTY_SEED ?? 20_261_122) });
