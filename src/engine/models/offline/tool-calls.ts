import type { ModelRequest, ModelTool } from '../port.ts';
import { searchName } from '../prompts/passages.ts';
import { collectKnowledge, findQuestion } from './answer.ts';
import { fillSchema } from './fill.ts';
import { listTerms, type Quotable, quotesFor } from './quotes.ts';

/**
 * The tool that `tool_choice` asks for, or of which the question holds a word of the name or two of the description; else the search of documents, when
 * no passage that was given answers. Undefined for none.
 */
export function planCall({
  tools,
  toolChoice,
  messages,
  ending,
}: ModelRequest): { readonly name: string; readonly arguments: string } | undefined {
  const isForced = typeof toolChoice === 'object' || toolChoice === 'required';
  // Outputs are there to be answered from; calling on would never end.
  if (toolChoice === 'none' || (messages.at(-1)?.role === 'tool' && !isForced)) return undefined;
  const question = findQuestion(messages);
  const choices = typeof toolChoice === 'object' ? tools.filter(({ name }) => name === toolChoice.name) : tools;
  const [closest] = choices.toSorted((one, other) => measureFit(other, question) - measureFit(one, question));
  const fits = closest !== undefined && (isForced || measureFit(closest, question) >= 2);
  const best = fits ? closest : searchFor(question, choices, collectKnowledge(messages, ending));
  if (best === undefined) return undefined;
  // What stands in quotation marks, or a name in capitals, unless the tool asks for the whole question.
  const nameMatch = /"([^"]+)"|“([^“”]+)”|(?<=\s)(\p{Lu}[\p{L}\p{N}'’-]*(?:\s\p{Lu}[\p{L}\p{N}'’-]*){0,3})/u.exec(question) ?? [];
  const asksForAll = /query|question|prompt|input|message|task|text|command|code/i.test(
    JSON.stringify(best.parameters.required ?? []),
  );
  const words = asksForAll ? undefined : nameMatch.slice(1).find((part) => part !== undefined);
  const { value } = fillSchema({ type: 'object', ...best.parameters }, question, words);
  return { name: best.name, arguments: JSON.stringify(value) };
}

function searchFor(question: string, tools: readonly ModelTool[], passages: readonly Quotable[]): ModelTool | undefined {
  const search = tools.find(({ name }) => name === searchName);
  if (search === undefined || listTerms(question).length === 0) return undefined;
  return quotesFor(question, passages).length === 0 ? search : undefined;
}

function measureFit({ name, description }: ModelTool, question: string): number {
  const questionTerms = new Set(listTerms(question));
  const hits = (text: string) => new Set(listTerms(text).filter((term) => questionTerms.has(term))).size;
  return hits(name) * 2 + hits(description);
}
