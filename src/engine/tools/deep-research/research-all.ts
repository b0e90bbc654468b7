import type { TokenAllowance } from '../../usage/token-allowance.ts';
import type { SubagentFinding, Subagents } from '../agents/subagents.ts';
import type { CallPass, Tell } from '../server-tool.ts';

/** Subagents of one call that work at one time. */
const atOnceMax = 2;
/** With fewer tokens a subagent is not begun while another one works. */
const tokensMin = 2_000;

export interface ResearchWork {
  readonly task: string;
  readonly secrets: Readonly<Record<string, string>>;
  readonly tokens: TokenAllowance;
  readonly subagents: Subagents;
  readonly tell: Tell;
  readonly pass: CallPass;
}

/** What a subagent at work may use at most. */
interface Share {
  readonly rounds: number;
  readonly tokens: number;
}

export interface ResearchResult {
  /** By question. */
  readonly findings: ReadonlyMap<string, SubagentFinding>;
  /** Why questions stayed open; undefined: their tokens. */
  readonly reason: string | undefined;
}

/**
 * Runs a subagent for each question, two at a time. Each gets a share of what is left, so that the first cannot use up what the others need. What
 * subagents found in a process that died during the call is not looked for again.
 */
export async function researchAll(all: readonly string[], work: ResearchWork, signal: AbortSignal): Promise<ResearchResult> {
  const { subagents, pass } = work;
  const findings = new Map<string, SubagentFinding>();
  for (const question of all) {
    const priorFinding = subagents.earlierFinding(question, pass);
    if (priorFinding !== undefined) findings.set(question, priorFinding);
  }
  const questions = all.filter((question) => !findings.has(question));
  const isAgain = (pass.before ?? []).length > 0;
  const atWork = new Set<Share>();
  let next = 0;
  let reason: string | undefined;

  const shareOfNext = (): Share => {
    const others = [...atWork];
    const remainingCount = questions.length - next;
    const rounds = subagents.roundsLeft - 1 - others.reduce((sum, share) => sum + share.rounds, 0);
    const tokens = work.tokens.left - others.reduce((sum, share) => sum + share.tokens, 0);
    const affordable = Math.max(1, Math.min(remainingCount, Math.floor(tokens / tokensMin)));
    return {
      rounds: Math.min(subagents.limits.roundsMax, Math.max(1, Math.floor(rounds / remainingCount))),
      tokens: Math.max(0, Math.floor(tokens / affordable)),
    };
  };

  const workOn = async (question: string, share: Share): Promise<boolean> => {
    atWork.add(share);
    const tokens = work.tokens.part(share.tokens);
    const subagentTask = { question, task: work.task, secrets: work.secrets, pass, roundsMax: share.rounds, tokens };
    const finding = await subagents.run(subagentTask, work.tell, signal);
    atWork.delete(share);
    signal.throwIfAborted();
    if (!finding.isPaused && !finding.isOverBudget) findings.set(question, finding);
    else if (finding.error === null) findings.set(question, finding);
    return !finding.isPaused;
  };

  const worker = async (): Promise<void> => {
    while (next < questions.length) {
      if (next > 0 || isAgain) {
        reason ??= subagents.stopsShort();
        if (reason !== undefined) return;
      }
      const question = questions[next];
      const share = shareOfNext();
      if (question === undefined || (atWork.size > 0 && share.tokens < tokensMin)) return;
      next += 1;
      if (!(await workOn(question, share))) {
        reason ??= subagents.stopsShort();
        return;
      }
    }
  };
  const works = await Promise.allSettled(Array.from({ length: atOnceMax }, worker));
  for (const one of works) if (one.status === 'rejected') throw one.reason;
  return { findings, reason };
}
