import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';

const pages = [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'CODE_OF_CONDUCT.md',
  'SECURITY.md',
  ...globSync(['docs/**/*.md', 'src/**/README.md', 'examples/*/README.md']),
];

describe('pages', () => {
  it('link only to files and headings that exist', () => {
    expect(pages.length).toBeGreaterThan(20);
    expect(pages.flatMap(brokenLinks)).toEqual([]);
  });

  it('name only paths that exist', () => {
    expect(pages.flatMap(missingPaths)).toEqual([]);
  });
});

/** Links like `[text](path#heading)` whose file or heading does not exist. */
function brokenLinks(page: string): readonly string[] {
  return [...proseOf(page).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target) && !exists(page, target))
    .map((target) => `${page}: ${target}`);
}

function exists(page: string, target: string): boolean {
  const [path = '', heading] = target.split('#');
  const file = path === '' ? page : join(dirname(page), path);
  if (!existsSync(file)) return false;
  return heading === undefined || (statSync(file).isFile() && headingsOf(file).has(heading));
}

/** The anchors of a page's headings, as GitHub makes them. */
function headingsOf(file: string): ReadonlySet<string> {
  const headings = [...readFileSync(file, 'utf8').matchAll(/^#+ (.*)$/gm)].map(([, text = '']) => text);
  return new Set(
    headings.map((text) =>
      text
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

/** Paths in backticks, such as `src/main.ts` or `../yoga.ts`, that exist neither here nor beside the page. Paths with placeholders are passed over. */
function missingPaths(page: string): readonly string[] {
  return [...proseOf(page).matchAll(/`((?:src|test|docs|scripts|bench|prisma|\.\.)\/[\w./-]+)`/g)]
    .map(([, path = '']) => path)
    .filter((path) => !existsSync(join(dirname(page), path)) && (path.startsWith('.') || !existsSync(path)))
    .map((path) => `${page}: ${path}`);
}

/** The text of a page without its code blocks. */
function proseOf(page: string): string {
  return readFileSync(page, 'utf8').replace(/```[\s\S]*?```/g, '');
}
