import type { ModelRequest, ModelTool } from '../port.ts';
import type { Conversation } from './conversation.ts';
import { evidenceOf } from './evidence.ts';
import { fillSchema } from './fill.ts';
import { termsOf, wordsOfName } from './terms.ts';

export interface PlannedCall {
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
}

/** The smallest score at which a tool is called: the question names it, or matches its description and arguments. */
const fitMin = 2;

/** The calls that answer the question, by `tool_choice`; `[]` to answer in text. */
export function planCalls(request: ModelRequest, conversation: Conversation): readonly PlannedCall[] {
  const { tools, toolChoice } = request;
  if (tools.length === 0 || toolChoice === 'none') return [];
  if (typeof toolChoice === 'object') {
    const named = tools.find((tool) => tool.name === toolChoice.name);
    return named === undefined ? [] : callsOf(named, request, conversation);
  }
  // Outputs are there to be answered from; calling on would never end.
  if (conversation.isToolTurn && toolChoice !== 'required') return [];
  let best: { tool: ModelTool; fit: number } | undefined;
  for (const tool of tools) {
    const fit = fitOf(tool, conversation.question);
    if (best === undefined || fit > best.fit) best = { tool, fit };
  }
  if (best === undefined || (best.fit < fitMin && toolChoice !== 'required')) return [];
  return callsOf(best.tool, request, conversation);
}

function fitOf(tool: ModelTool, question: string): number {
  const asked = new Set(termsOf(question));
  const hits = (text: string) => new Set(termsOf(text).filter((term) => asked.has(term))).size;
  const nameHits = hits(wordsOfName(tool.name));
  const descriptionHits = hits(tool.description);
  const members = Object.keys((tool.parameters.properties as Readonly<Record<string, unknown>> | undefined) ?? {});
  const memberHits = hits(members.map(wordsOfName).join(' '));
  if (nameHits + descriptionHits + memberHits === 0) return 0;
  const isFilled = members.length > 0 && fillSchema(tool.parameters, evidenceOf(question, question)).isPlain;
  return nameHits * 2 + descriptionHits + memberHits * 0.5 + (isFilled ? 1 : 0);
}

/** One call, or one for each name when the question lists several and the tool takes one (`the weather in Paris and Rome`). */
function callsOf(tool: ModelTool, request: ModelRequest, { question }: Conversation): readonly PlannedCall[] {
  const evidence = evidenceOf(question, question);
  const call = (names: readonly string[]): PlannedCall => ({
    name: tool.name,
    arguments: JSON.stringify(fillSchema({ type: 'object', ...tool.parameters }, { ...evidence, names }).value),
  });
  const isList = evidence.names.length > 1 && /,|\band\b|&/.test(question) && request.parallelToolCalls !== false;
  const calls = isList ? evidence.names.map((name) => call([name])) : [call(evidence.names)];
  return calls.filter((one, index) => calls.findIndex((other) => other.arguments === one.arguments) === index);
}
