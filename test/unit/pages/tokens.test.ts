import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const tokensIn = (path: string) =>
  [...readFileSync(path, 'utf8').matchAll(/^ {2}(--[\w-]+): (.+);$/gm)].map(([, name, value]) => `${name}: ${value}`);

it('the colors, the font and the radius of the pages are those of the console (copy console/src/ui/tokens.css to src/pages/assets/)', () => {
  const [pages, console] = ['src/pages/assets/tokens.css', 'console/src/ui/tokens.css'].map(tokensIn);
  expect(pages?.length).toBeGreaterThan(20);
  // The console may have more, which no page uses.
  expect(pages?.filter((token) => console?.includes(token) !== true)).toEqual([]);
});
