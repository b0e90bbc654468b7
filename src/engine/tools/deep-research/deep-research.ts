import { isObject } from '../../../lib/json.ts';
import type { ToolKind } from '../tool-kind.ts';
import { createResearchTool } from './research-tool.ts';

/** `deep_research`: subagents look for the answers to several questions, and one report comes back. */
export function createDeepResearchKind(): ToolKind {
  return {
    type: 'deep_research',
    isReadOnly: true,
    description: 'Researches a question in parts, each answered by a subagent, and reports what they found.',
    functionNames: () => ['deep_research'],
    open: ({ options }, run) => ({
      functions: run.subagents.mayStart ? [createResearchTool(run, isObject(options.budget) ? options.budget : {})] : [],
    }),
  };
}
