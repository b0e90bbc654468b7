import type { AgentEditorQuery } from './documents.ts';
import type { AgentForm } from './draft/use-draft.ts';

export type EditorAgent = NonNullable<AgentEditorQuery['agent']>;

/** What every section of the editor gets. */
export interface SectionProps {
  readonly agent: EditorAgent;
  readonly form: AgentForm;
  readonly models: AgentEditorQuery['models'];
  /** What the address names within the section. */
  readonly part: string | undefined;
  /** Asks again for everything that the editor shows. */
  readonly reload: () => void;
}

const names = [
  'basics',
  'instructions',
  'knowledge',
  'tools',
  'skills',
  'flows',
  'inputs',
  'secrets',
  'guard',
  'sharing',
  'versions',
  'evaluation',
  'profile',
] as const;
export type SectionName = (typeof names)[number];

/** The section that an address names; the first one where it names none. */
export function findSection(address: string | undefined): SectionName {
  return names.find((name) => name === address) ?? 'basics';
}
