import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseOidcSetting } from '../../../src/lib/settings/oidc-settings.ts';

/** Whatever the pages name is there: files, settings and codes, REST operations, members of the GraphQL schema. */
const tracked = execFileSync('git', ['ls-files'], { encoding: 'utf8' }).split('\n');
/** Without the table of names that are gone. */
const content = (path: string) => readFileSync(path, 'utf8').split('\n## Old and new\n')[0] ?? '';
const pages = tracked.filter(
  (path) => path.endsWith('.md') && !/^(?:CHANGELOG|CODE_OF_CONDUCT|docs\/tour\/)|fixtures\//.test(path),
);
const spansOf = (text: string) => [...text.replace(/```[\s\S]*?```/g, '').matchAll(/`([^`\n]+)`/g)].map(([, span = '']) => span);

describe('files', () => {
  /** Names that only look like a file of this repository. */
  const others: ReadonlySet<string> = new Set([
    ...['OWNER/REPOSITORY', 'db.prisma', 'tx.prisma', 'sql.js', 'execution/execute.js', 'global/pg_control', 'res.json'],
    ...[
      '.env',
      './data',
      'dist/',
      '.cache/compiled',
      'DATA_DIR/blobs',
      'DATA_DIR/database',
      'DATA_DIR/database.before-upgrade',
      'DATA_DIR/usage-journal',
      'blobs/.parley-installation',
      'parley.lock',
    ],
    ...[
      'PUBLIC_URL/oauth/callback',
      'chat/completions',
      'responses/input_tokens',
      'notifications/tools/list_changed',
      'http/json',
      'about.json',
      'robots.txt',
    ],
    ...['provider/name', 'parley/offline'],
  ]);
  const folders = new Set(tracked.flatMap((path) => [...path.matchAll(/\//g)].map(({ index }) => path.slice(0, index))));
  const endings = new Set(tracked.flatMap((path) => /\.\w+$/.exec(path)?.[0] ?? []));
  const top = [...folders].filter((folder) => !folder.includes('/') && !folder.startsWith('.'));
  const fromTop = new RegExp(`(?<![\\w./:@$-])(?:${top.join('|')})/[\\w./-]*\\w`, 'g');
  const isThere = (name: string) => {
    const bare = name.replace(/^(?:\.\.?\/)+|\/$/g, '');
    return [...tracked, ...folders].some((path) => path === bare || path.endsWith(`/${bare}`));
  };
  const isPath = (span: string) =>
    /^[\w.-]+(?:\/[\w.-]+)*\/?$/.test(span) &&
    !/^(?:application|text|image|multipart)\//.test(span) &&
    (span.includes('/') || endings.has(/.\.\w+$/.exec(span)?.[0].slice(1) ?? ''));

  it.each(pages)('that %s names exist', (path) => {
    const text = content(path);
    const names = [...spansOf(text).filter(isPath), ...[...text.matchAll(fromTop)].map(([name]) => name)];
    expect(names.filter((name) => !others.has(name) && !isThere(name))).toEqual([]);
  });
});

describe('settings and codes', () => {
  /** Names of examples, and of other programs. */
  const others: ReadonlySet<string> = new Set([
    ...[
      'LAB_API_KEY',
      'SEED_LOG',
      'GET_WEATHER_HEADERS_X_API_KEY',
      'ENABLE_FORWARD_USER_INFO_HEADERS',
      'WEATHER_HEADERS_AUTHORIZATION',
      'PG_VERSION',
      'CODE_OF_CONDUCT',
    ],
    ...['ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_MODEL', 'ANTHROPIC_DEFAULT_HAIKU_MODEL'],
  ]);
  const code = tracked.filter(
    (path) =>
      /^(?:src|scripts|examples|deploy|bench|package\.json|schema\.graphql|test\/support)/.test(path) && !path.endsWith('.md'),
  );
  const capitals = /(?<![\w$])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?![\w…*])/g;
  const inCode = new Set(code.flatMap((path) => content(path).match(capitals) ?? []));

  /** The middle of these names is the operator's. */
  const isOfProvider = (name: string) => parseOidcSetting(name.replace(/_FILE$/, '')) !== undefined;

  it.each(pages)('that %s names exist', (path) => {
    const names = content(path).match(capitals) ?? [];
    expect([...new Set(names)].filter((name) => !others.has(name) && !inCode.has(name) && !isOfProvider(name))).toEqual([]);
  });
});

describe('REST operations', () => {
  const { paths }: { paths: Readonly<Record<string, object>> } = JSON.parse(content('openapi.json'));
  const shapeOf = (path: string) =>
    path
      .replace(/\?.*$/, '')
      .replace(/\/(?:\{\w*\}|\$\w+|\$\{\w+\}|:\w+)/g, '/{}')
      .replace(/[./]+$/, '');
  const methods = new Map(Object.entries(paths).map(([path, item]) => [shapeOf(path), Object.keys(item)]));
  /** Other addresses of operations that are there. */
  const others: ReadonlySet<string> = new Set(['/api/v1/responses']);

  it.each(pages)('that %s names exist', (path) => {
    const named = content(path).matchAll(/(?:\b(GET|POST|PUT|PATCH|DELETE) |)((?:\/api)\/v[12](?:\/[\w{}$:.-]+)+)/g);
    const missing = [...named].filter(([, method, at = '']) => {
      const found = methods.get(shapeOf(at));
      return !others.has(at) && (found === undefined || (method !== undefined && !found.includes(method.toLowerCase())));
    });
    expect(missing.map(([name]) => name)).toEqual([]);
  });
});

describe('members of the GraphQL schema', () => {
  const types = new Map(
    [...content('schema.graphql').matchAll(/^(?:type|interface|input) (\w+)[^{]*\{([\s\S]*?)^\}/gm)].map(
      ([, name = '', body = '']) => [name, new Set([...body.matchAll(/^ {2}(\w+)/gm)].map(([, member]) => member))],
    ),
  );
  /** Rights of other services. */
  const others: ReadonlySet<string> = new Set(['User.Read']);

  it.each(pages)('that %s names exist', (path) => {
    const missing = spansOf(content(path)).filter((span) => {
      const [, type = '', member = ''] = /^([A-Z]\w+)\.(\w+)$/.exec(span) ?? [];
      return types.has(type) && !types.get(type)?.has(member) && !others.has(span);
    });
    expect(missing).toEqual([]);
  });
});
