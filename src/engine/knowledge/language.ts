/** PostgreSQL's text-search configurations that stem, and exist in every version from 15 on. */
export const textSearchConfigs = ['english', 'simple'] as const;
export type TextSearchConfig = (typeof textSearchConfigs)[number];

/** Which text-search configuration a text gets. */
export function textSearchConfig(_text: string): TextSearchConfig {
  return 'english';
}
