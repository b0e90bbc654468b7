import { writeFileSync } from 'node:fs';
import { configurationPage } from './support/configuration-page.ts';

/** Writes docs/configuration.md from the settings: `npm run configuration`. A test fails when that was forgotten. */
writeFileSync('docs/configuration.md', configurationPage());
