import { writeFileSync } from 'node:fs';
import { configurationPage } from './support/configuration-page.ts';

/** Writes docs/configuration.md from the settings: `npm run configuration`. A test fails when the page is outdated. */
writeFileSync('docs/configuration.md', configurationPage());
