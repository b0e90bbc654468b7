import { expect, it } from 'vitest';
import { commandOf, productVersion } from '../../../src/lib/product.ts';

it.each([
  ['of a clone', '/home/ann/parley/src/lib/product.ts', false, 'npm run -s parley --'],
  ['installed for all', '/usr/lib/node_modules/parley/src/lib/product.js', true, 'parley'],
  ['installed in the folder', '/home/ann/try/node_modules/parley/src/lib/product.js', true, 'npx parley'],
  [
    'of npx, which would look for the bare name at the registry',
    '/home/ann/.npm/_npx/1f/node_modules/parley/src/lib/product.js',
    true,
    `npx ./parley-${productVersion}.tgz`,
  ],
])('the command %s is printed as a person types it there', (_which, path, isPackage, command) =>
  expect(commandOf(path, isPackage, '/home/ann/try')).toBe(command),
);
