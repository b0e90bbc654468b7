import { DomainError } from '../../../entities/ground/errors.ts';
import { cutText } from '../../../lib/text/text.ts';
import type { SubagentFinding } from '../agents/subagents.ts';
import { CitedFindings } from '../foreign/cited-findings.ts';
import type { ServerTool } from '../server-tool.ts';
import type { ToolRun } from '../tool-kind.ts';
import { readResearch, researchParameters } from './arguments.ts';
import { planQuestions } from './plan-questions.ts';
import { type ResearchWork, researchAll } from './research-all.ts';

/** Most calls of the tool in one run, so that a model cannot research for ever. */
const callsMax = 4;
/** Model calls that a plan is worth: itself, one subagent, and the answer. */
const roundsOfPlan = 3;

/** What a request says of its research; absent and null members: the settings alone. */
interface ResearchBudget {
  readonly subagents?: unknown;
  readonly tokens?: unknown;
}

interface Questions {
  readonly all: readonly string[];
  /** The first of them, as many as the budget allows. */
  readonly begun: readonly string[];
}

/**
 * Makes `deep_research` for one run: a plan divides the question, one subagent works on each part, two at a time. The tool fails only when every
 * subagent fails. What the findings cite may be cited by the answer.
 *
 * A pause stops the subagents at work at once. When a user adds a message to the run, the subagents at work are completed and no further one is
 * started. It ends within its budget with what it has: the output names the open questions, which is no error. A process that takes the run over
 * goes on with the same questions; what was used before counts.
 */
export function createResearchTool(run: Pick<ToolRun, 'subagents' | 'researches' | 'cite'>, budget: ResearchBudget): ServerTool {
  const { subagents, researches } = run;
  const { limits } = subagents;
  const most = typeof budget.subagents === 'number' ? budget.subagents : Number.POSITIVE_INFINITY;
  const { researchTokens } = subagents;
  const tokens = researchTokens.part(typeof budget.tokens === 'number' ? budget.tokens : undefined, researchTokens.used);
  const citedFindings = new CitedFindings(run);
  let calls = researches.length;
  let remainingCount = most;
  /** Questions of calls of dead processes, with those that got a subagent. */
  const begunBefore = new Map<string, Questions>();
  for (const { key, questions } of researches) {
    const begunQuestions = questions.slice(0, Math.min(limits.countMax, remainingCount));
    remainingCount -= begunQuestions.length;
    begunBefore.set(key, { all: questions, begun: begunQuestions });
  }
  const finish = async ({ all, begun }: Questions, work: ResearchWork, signal: AbortSignal): Promise<string> => {
    const { findings, reason } = await researchAll(begun, work, signal);
    const open = all.filter((question) => !findings.has(question));
    const orderedFindings = all.flatMap((question) => findings.get(question) ?? []);
    const why = reason ?? overBudget(all.length > begun.length);
    requireAny(orderedFindings, open, why);
    return report(orderedFindings, open, why, citedFindings, limits.resultCharsMax);
  };
  return {
    definition: {
      name: 'deep_research',
      description:
        'Researches a question in depth: it is divided, a researcher looks for the answer to each part, in the knowledge and with the search of this assistant, and reports what it found. Slow: use it when one answer needs several questions. Numbers in brackets, like [2], name the sources of the report: keep them where you use what they support.',
      parameters: researchParameters(limits.countMax),
    },
    hint: 'Researching',
    // Its subagents only read, and go on behind their last outcomes.
    ifLost: 'repeat',
    async run(args, secrets, signal, tell, pass) {
      const research = readResearch(args, limits.countMax);
      const { task } = research;
      const work = { task, secrets, tokens, subagents, tell, pass };
      const before = begunBefore.get(pass.key);
      if (before !== undefined) return finish(before, work, signal);
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
      if (remainingCount <= 0 || tokens.left <= 0)
        return report([], [task], overBudget(remainingCount <= 0), citedFindings, limits.resultCharsMax);
      let { questions } = research;
      const countMax = Math.min(limits.countMax, remainingCount);
      if (research.mustPlan && countMax > 1 && subagents.roundsLeft >= roundsOfPlan) {
        questions = await planQuestions(task, countMax, subagents, tokens.part(), signal);
        signal.throwIfAborted();
      }
      const begun = questions.slice(0, countMax);
      remainingCount -= begun.length;
      tell({ type: 'parley.research', key: pass.key, questions });
      return finish({ all: questions, begun }, work, signal);
    },
  };
}

function overBudget(isByCount: boolean): string {
  return isByCount ? 'the budget of the research allows no further subagent' : 'the tokens of the research are used up';
}

/** @throws DomainError when no subagent found anything and at least one failed. */
function requireAny(findings: readonly SubagentFinding[], open: readonly string[], reason: string): void {
  if (findings.length === 0 || findings.some(({ error }) => error === null)) return;
  const [first] = findings;
  const reasons = [...new Set(findings.map(({ subagent }) => subagent.summary))];
  if (open.length > 0) reasons.push(`${open.length} more not answered: ${reason}`);
  throw new DomainError(first?.error?.code ?? 'UPSTREAM_ERROR', `The research failed: ${reasons.join('; ')}`);
}

/** The text for the model: each question with its answer, failures, and open questions. */
function report(
  findings: readonly SubagentFinding[],
  open: readonly string[],
  reason: string,
  citedFindings: CitedFindings,
  charsMax: number,
): string {
  const lengthMax = Math.floor(charsMax / (findings.length + open.length));
  const [only] = findings;
  if (only !== undefined && findings.length + open.length === 1) return findingText(only, citedFindings, lengthMax);
  const parts = findings.map((finding) => {
    const head = cutText(`## ${finding.subagent.task}\n`, Math.ceil(lengthMax / 2));
    return head + findingText(finding, citedFindings, lengthMax - head.length);
  });
  const unansweredLines = open.map((question) =>
    cutText(`## ${question}\n(Not researched: ${reason}. Ask again if it is still needed.)`, lengthMax),
  );
  return [...parts, ...unansweredLines].join('\n\n');
}

function findingText(finding: SubagentFinding, citedFindings: CitedFindings, lengthMax: number): string {
  const { error } = finding;
  return error === null ? citedFindings.textOf(finding, lengthMax) : cutText(`(Not answered: ${error.message})`, lengthMax);
}
