import { isObject } from '../../../lib/json/json.ts';
import type { Settings } from '../../../settings.ts';
import type { ToolKind } from '../tool-kind.ts';
import { createResearchTool } from './research-tool.ts';

/** With fewer tokens, no researcher comes to an answer. */
const budgetTokensMin = 1_000;

/** `deep_research`: subagents look for the answers to several questions, and one report comes back. */
export function createDeepResearchKind(settings: Pick<Settings, 'SUBAGENTS_MAX' | 'SUBAGENT_TOKENS_MAX'>): ToolKind {
  const bounds = {
    subagents: { min: 1, max: settings.SUBAGENTS_MAX },
    tokens: { min: Math.min(budgetTokensMin, settings.SUBAGENT_TOKENS_MAX), max: settings.SUBAGENT_TOKENS_MAX },
  };
  return {
    type: 'deep_research',
    isReadOnly: true,
    description: 'Researches a question in parts, each answered by a subagent, and reports what they found.',
    functionNames: () => ['deep_research'],
    check({ budget }, at, faults) {
      if (!isObject(budget)) return;
      for (const [member, { min, max }] of Object.entries(bounds)) {
        const memberValue = budget[member];
        const place = `${at}.budget.${member}`;
        const isIn =
          memberValue === undefined ||
          memberValue === null ||
          (typeof memberValue === 'number' && memberValue >= min && memberValue <= max);
        if (!isIn) faults.add(place, `${place} must be an integer from ${min} to ${max}`, 'INVALID_VALUE');
      }
    },
    open: ({ options }, run) => ({
      functions: run.subagents.mayStart ? [createResearchTool(run, isObject(options.budget) ? options.budget : {})] : [],
    }),
  };
}
