import type { FirstKey } from '../domain/accounts/first-start.ts';
import type { Settings } from '../settings.ts';

/** What a person sees once the service is up: where it is, the first key, what to try next. */
export function welcome(url: string, firstKey: FirstKey | undefined, settings: Settings): string {
  const place = settings.DATABASE_URL === undefined ? `embedded database in ${settings.DATA_DIR}` : 'PostgreSQL server';
  return ['', `Parley listens on ${url} (${place}).`, ...keyLines(firstKey), '', ...nextSteps(url), ''].join('\n');
}

function keyLines(firstKey: FirstKey | undefined): string[] {
  if (firstKey === undefined) return [];
  if (!firstKey.isMade) return ['The first key is the one in PARLEY_ADMIN_KEY.'];
  return ['', 'Your first key. It may do everything, and it is shown this once only:', '', `  ${firstKey.secret}`];
}

function nextSteps(url: string): string[] {
  return [
    'Try next:',
    `  curl ${url}/api/v1/chat/completions -H "Authorization: Bearer <key>" -H "Content-Type: application/json" \\`,
    `    -d '{"model":"parley/offline","messages":[{"role":"user","content":"What can you do?"}]}'`,
    `  GraphiQL at ${url}/graphql, the REST reference at ${url}/docs, and the quick tour in README.md.`,
  ];
}
