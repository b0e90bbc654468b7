/** A file of an agent, as far as the form of the import reads it. */
import { parseJson } from '../editor/parts/words.ts';
export interface AgentFile {
  readonly bundle: Readonly<Record<string, unknown>>;
  readonly name: string;
  /** Credentials that its tools need. */
  readonly secrets: readonly { readonly key: string; readonly description: string }[];
}

/** @returns undefined for a text that is no JSON object; the service says what else is wrong. */
export function readAgentFile(text: string): AgentFile | undefined {
  const bundle = parseJson(text);
  if (!isRecord(bundle)) return undefined;
  const agent = isRecord(bundle.agent) ? bundle.agent : {};
  const required = Array.isArray(bundle.requiredSecrets) ? bundle.requiredSecrets : [];
  return {
    bundle,
    name: typeof agent.name === 'string' ? agent.name : '',
    secrets: required.filter(isRecord).flatMap(({ key, description }) => {
      if (typeof key !== 'string') return [];
      return [{ key, description: typeof description === 'string' ? description : '' }];
    }),
  };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
