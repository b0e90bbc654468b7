import type { z } from 'zod';
import { oidcSettings } from '../../src/lib/settings/oidc-settings.ts';
import { describeAllowed } from '../../src/lib/settings/setting-kinds.ts';
import { secretSettings, settingsSchema } from '../../src/settings.ts';

/** docs/configuration.md, from the one list of settings. */
export function configurationPage(): string {
  const rows = Object.entries<z.ZodType>(settingsSchema.shape).map(([name, schema]) => {
    const meaning = (schema.description ?? '').replaceAll('|', '\\|');
    return `| \`${name}\` | ${valuesOf(schema).replaceAll('|', '\\|')} | ${meaning} |`;
  });
  return [
    '# Configuration',
    '',
    'Parley reads its settings from the environment, and from a file `.env` in the folder it is started in; the environment wins. Every setting',
    'has a default, which an empty one gets too. A start with bad settings names all of them at once, and `npm run parley -- doctor` checks more than',
    'a start does. The unit of a number is the end of its name.',
    '',
    'A secret may stand in a file: `NAME_FILE` is the path of the file with the value of `NAME`, as Docker and Kubernetes give secrets. It works for',
    `${secretSettings.map((name) => `\`${name}\``).join(', ')}, and for the variables that MODELS_FILE names.`,
    '',
    '| setting | default; allowed | meaning |',
    '| --- | --- | --- |',
    ...rows,
    '',
    '## Providers of sign-ins',
    '',
    'Each provider of single sign-on (OpenID Connect) has settings of its own, with a name that you choose in their middle: letters and digits, such as `OIDC_OKTA_ISSUER`.',
    'Any number of providers may be set ([sign-in.md](sign-in.md)). The secret may stand in the file of `OIDC_<NAME>_CLIENT_SECRET_FILE`.',
    '',
    '| setting | allowed | meaning |',
    '| --- | --- | --- |',
    ...Object.entries(oidcSettings).map(
      ([name, { allowed, meaning }]) => `| \`OIDC_<NAME>_${name}\` | ${allowed.replaceAll('|', '\\|')} | ${meaning} |`,
    ),
    '',
    'This page is printed from `src/settings.ts` by `npm run configuration`.',
    '',
  ].join('\n');
}

/** The default, if there is one, and what is allowed. Most settings are whole numbers, and the end of a name says so. */
function valuesOf(schema: z.ZodType): string {
  const { data } = schema.safeParse(undefined);
  const allowed = describeAllowed(schema)
    .replace(/^a whole number from (\d+)$/, 'at least $1')
    .replace(/^a whole number from /, '');
  return data === undefined ? allowed : `\`${String(data)}\`; ${allowed}`;
}
