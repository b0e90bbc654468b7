import { DomainError } from '../../../../entities/ground/errors.ts';
import { cutText } from '../../../../lib/text/text.ts';
import { textArgument } from '../../arguments.ts';
import type { CitedFindings } from '../../foreign/cited-findings.ts';
import { foreignNote, markForeign } from '../../foreign/foreign-text.ts';
import { functionName } from '../../names.ts';
import type { ServerTool } from '../../server-tool.ts';
import type { Subagents } from '../subagents.ts';

/** An agent that a model may ask. */
export interface AskableAgent {
  readonly id: string;
  readonly name: string;
  readonly description: string;
}

/** An agent with tools needs more model calls than a researcher with one question. */
const roundsMax = 8;
const questionLengthMax = 20_000;
const descriptionLength = 500;
/** Around the answer: the note and the marks. */
const frameLength = 400;

/** The name of the function that asks an agent, as far as no other has it. */
export function askFunctionName(agentName: string): string {
  return functionName(`ask_${agentName}`);
}

/** Makes the function that asks one agent. The agent gets the question and nothing else of the conversation. */
export function createAskTool(agent: AskableAgent, subagents: Subagents, citedFindings: CitedFindings): ServerTool {
  const { limits } = subagents;
  const about = agent.description.trim();
  return {
    definition: {
      name: askFunctionName(agent.name),
      description: `Asks the agent ${JSON.stringify(cutText(agent.name, 100))}, which answers on its own and knows nothing of this conversation.${about === '' ? '' : ` What it says of itself: ${cutText(about, descriptionLength)}`}`,
      parameters: {
        type: 'object',
        properties: {
          question: { type: 'string', description: 'The whole question, with everything one has to know to answer it.' },
        },
        required: ['question'],
        additionalProperties: false,
      },
    },
    hint: `Asking ${cutText(agent.name, 100)}`,
    // It goes on behind its last outcome: its own calls are recorded like those of a run.
    ifLost: 'repeat',
    async run(args, _secrets, signal, tell, pass) {
      const question = textArgument(args, 'question', questionLengthMax);
      const stopsShort = subagents.stopsShort();
      if (stopsShort !== undefined) throw new DomainError('CONFLICT', `The agent was not asked: ${stopsShort}`);
      const task = {
        ...{ question, task: question, agent, secrets: {}, pass },
        ...{ roundsMax: Math.min(roundsMax, subagents.roundsLeft - 1), tokens: subagents.tokens.part() },
      };
      const finding = await subagents.run(task, tell, signal);
      signal.throwIfAborted();
      if (finding.isPaused) return '(Not answered: the answer was paused. Ask again if it is still needed.)';
      const { error } = finding;
      if (error !== null) throw new DomainError(error.code, `${cutText(agent.name, 100)} did not answer: ${error.message}`);
      const charsMax = Math.max(200, limits.resultCharsMax - frameLength);
      const findingText = citedFindings.textOf(finding, charsMax);
      return `${foreignNote}\n${markForeign('answer', { agent: cutText(agent.name, 100) }, findingText, charsMax)}`;
    },
  };
}
