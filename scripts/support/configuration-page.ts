import { settingsSchema } from '../../src/settings.ts';

/** The members of a setting's schema that the page needs. */
interface SettingSchema {
  readonly description?: string | undefined;
  safeParse(value: unknown): { readonly success: boolean; readonly data?: unknown };
}

/** docs/configuration.md, from the one list of settings. */
export function configurationPage(): string {
  const rows = Object.entries<SettingSchema>(settingsSchema.shape).map(([name, schema]) => {
    const meaning = (schema.description ?? '').replaceAll('|', '\\|');
    return `| \`${name}\` | ${defaultOf(schema)} | ${meaning} |`;
  });
  return [
    '# Configuration',
    '',
    'Parley reads its settings from the environment, and from a file `.env` in the folder it is started in; the environment wins. Every setting',
    'has a default. A start with bad settings names all of them at once. The unit of a number is the end of its name.',
    '',
    '| setting | default | meaning |',
    '| --- | --- | --- |',
    ...rows,
    '',
    'This page is printed from `src/settings.ts` by `npm run configuration`.',
    '',
  ].join('\n');
}

function defaultOf(schema: SettingSchema): string {
  const { data } = schema.safeParse(undefined);
  return data === undefined ? 'none' : `\`${String(data)}\``;
}
