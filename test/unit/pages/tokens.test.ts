import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

it('the pages have the colors, the font and the radius of the console (copy console/src/ui/tokens.css to src/pages/assets/)', () => {
  expect(readFileSync('src/pages/assets/tokens.css', 'utf8')).toBe(readFileSync('console/src/ui/tokens.css', 'utf8'));
});
