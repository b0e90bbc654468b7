import { DomainError } from '../../../entities/errors.ts';
import { cutText } from '../../../lib/text.ts';
import type { ServerTool } from '../server-tool.ts';
import type { SubagentFinding, SubagentLimits, Subagents } from '../subagents.ts';
import { readResearch, researchParameters } from './arguments.ts';

/** Most calls of the tool in one run, so that a model cannot research for ever. */
const callsMax = 4;

/**
 * Makes `deep_research` for one run: one subagent for each question, one after the other. The tool fails only when every subagent fails.
 *
 * A pause stops the subagent at work at once. When a user adds a message to the run, the first question of a call is completed and no further one
 * is started. The output names the open questions, so that the model can ask again.
 */
export function createResearchTool(subagents: Subagents): ServerTool {
  const { limits } = subagents;
  let calls = 0;
  return {
    definition: {
      name: 'deep_research',
      description:
        'Researches a task in depth: a researcher looks for the answer to each question, in the knowledge of this assistant, and reports what it found. Slow: use it when one answer needs several questions.',
      parameters: researchParameters(limits.countMax),
    },
    hint: 'Researching',
    ifLost: 'end',
    async run(args, secrets, signal, tell) {
      const { task, questions } = readResearch(args, limits.countMax);
      calls += 1;
      if (calls > callsMax) {
        throw new DomainError(
          'CONFLICT',
          `deep_research can be called ${callsMax} times in one answer: go on with what it found`,
        );
      }
      if (subagents.roundsLeft <= 1) {
        throw new DomainError('CONFLICT', 'This answer may ask the model no further questions: go on with what is known');
      }
      const findings: SubagentFinding[] = [];
      let reason: string | undefined;
      for (const [index, question] of questions.entries()) {
        reason = findings.length === 0 ? undefined : subagents.stopsShort();
        if (reason !== undefined) break;
        // Each subagent gets an equal share of the rounds that the run does not need for its own answer.
        const share = Math.floor((subagents.roundsLeft - 1) / (questions.length - index));
        const roundsMax = Math.min(limits.roundsMax, Math.max(1, share));
        const finding = await subagents.run({ question, task, secrets, roundsMax }, tell, signal);
        signal.throwIfAborted();
        if (finding.isPaused) {
          reason = subagents.stopsShort();
          break;
        }
        findings.push(finding);
      }
      const open = questions.slice(findings.length);
      requireAny(findings, open, reason);
      return report(findings, open, reason, limits);
    },
  };
}

/** @throws DomainError when no subagent found anything and at least one failed. */
function requireAny(findings: readonly SubagentFinding[], open: readonly string[], reason: string | undefined): void {
  if (findings.length === 0 || findings.some(({ error }) => error === null)) return;
  const [first] = findings;
  const reasons = [...new Set(findings.map(({ subagent }) => subagent.summary))];
  if (open.length > 0) reasons.push(`${open.length} more not begun: ${reason}`);
  throw new DomainError(first?.error?.code ?? 'UPSTREAM_ERROR', `The research failed: ${reasons.join('; ')}`);
}

/** The text for the model: each question with its answer, failures, and open questions. */
function report(
  findings: readonly SubagentFinding[],
  open: readonly string[],
  reason: string | undefined,
  { resultCharsMax }: SubagentLimits,
): string {
  const lengthMax = Math.floor(resultCharsMax / (findings.length + open.length));
  const [only] = findings;
  if (only !== undefined && findings.length + open.length === 1) return cutText(findingText(only), lengthMax);
  const parts = findings.map((finding) => `## ${finding.subagent.task}\n${findingText(finding)}`);
  const left = open.map((question) => `## ${question}\n(Not researched: ${reason}. Ask again if it is still needed.)`);
  return [...parts, ...left].map((part) => cutText(part, lengthMax)).join('\n\n');
}

function findingText({ subagent, sources, error }: SubagentFinding): string {
  if (error !== null) return `(Not answered: ${error.message})`;
  return sources.length === 0 ? subagent.summary : `${subagent.summary}\nSources: ${sources.join('; ')}`;
}
