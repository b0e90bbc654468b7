import type { ModelMessage, ModelRequest } from '../port.ts';
import { parseCaseDraft } from '../prompts/case-draft.ts';
import { parsePromptFiles } from '../prompts/files.ts';
import { parsePassages, searchName } from '../prompts/passages.ts';
import { earlierTurns, parseSummaryRequest } from '../prompts/summary.ts';
import { fillSchema } from './fill.ts';
import { cutOpening, type Quotable, quotesFor } from './quotes.ts';

const identity =
  'I am parley/offline, the model built into Parley. I have no weights: I answer by quoting the knowledge of the agent and this conversation.';
const advice = 'For answers in free words, configure a model provider, for example with OPENAI_API_KEY or OPENAI_BASE_URL.';

/** @returns the whole text of the answer, or why there is none in the form that was asked for. */
export function composeAnswer({ messages, ending, responseFormat: format }: ModelRequest): {
  readonly text: string;
  readonly isRefusal: boolean;
} {
  const passage = parseCaseDraft(messages);
  if (passage !== undefined) return { text: JSON.stringify(draftCase(passage)), isRefusal: false };
  const text = composeText(messages, ending);
  if (format === undefined || format.type === 'text') return { text, isRefusal: false };
  if (format.type === 'json_object') return { text: JSON.stringify({ answer: text }), isRefusal: false };
  const { value, invented: inventedNames } = fillSchema(format.schema, text);
  const json = JSON.stringify(value);
  if (json.includes(identity)) return { text, isRefusal: true };
  if (inventedNames.length === 0) return { text: json, isRefusal: false };
  const names = [...new Set(inventedNames)].map((name) => `"${name}"`).join(', ');
  return {
    text: `I cannot fill ${names}: my answer does not state it, and I do not make up facts. ${identity} ${advice}`,
    isRefusal: true,
  };
}

/** A question about the first sentence of a document: with its rarest words, so that a search for it finds the sentence. */
function draftCase({ title, text }: { readonly title: string; readonly text: string }) {
  const sentence = cutOpening(text, 1);
  const words = [...new Set(sentence.match(/[\p{L}\p{N}][\p{L}\p{N}'’-]*/gu) ?? [])];
  const telling = words.toSorted((one, other) => other.length - one.length).slice(0, 4);
  const named = words.filter((word) => telling.includes(word)).join(' ');
  return {
    question: `What does ${title} say about ${named}?`,
    expected: sentence,
    mustContain: [sentence.replace(/(?<![.!?…])[.!?…]+$/u, '')],
  };
}

/** The question at the end of a conversation, without the files that came with it. */
export function findQuestion(messages: readonly ModelMessage[]): string {
  const userMessage = messages.findLast(({ role }) => role === 'user');
  return userMessage === undefined ? '' : parsePromptFiles(readText(userMessage)).rest;
}

export function readText({ content }: ModelMessage): string {
  if (typeof content === 'string') return content;
  return (content ?? []).map((part) => (part.type === 'text' ? part.text : '')).join('\n');
}

function composeText(messages: readonly ModelMessage[], ending: string | undefined): string {
  const toSummarize = parseSummaryRequest(messages)?.map(({ who, text }) =>
    who === 'earlier' ? text : `${who}: ${cutOpening(text, 1)}`,
  );
  if (toSummarize !== undefined) return toSummarize.join('\n').slice(0, 2_000).toWellFormed() || 'Nothing was said yet.';
  const outputs = messages.at(-1)?.role === 'tool' ? collectOutputs(messages) : [];
  if (outputs.some(({ name }) => name !== searchName))
    return outputs.map(({ name, text }) => `According to ${name}: ${text}`).join('\n');
  const question = findQuestion(messages);
  const passages = collectKnowledge(messages, ending);
  const knowledgeQuotes = quotesFor(question, passages);
  // The marker stands inside the sentence, so that it belongs to it: `The warranty lasts two years [1].`
  if (knowledgeQuotes.length > 0)
    return knowledgeQuotes
      .map(({ text, source }) => text.replace(/(?<![.!?:;…])[.!?:;…]?$/, (end) => ` [${source.citation}]${end || '.'}`))
      .join(' ');
  const quotables = messages.toReversed().flatMap((message): readonly Quotable[] => {
    if (message.role === 'system' && message.content.startsWith(earlierTurns))
      return [{ citation: null, title: 'Earlier', text: message.content.slice(earlierTurns.length) }];
    if (message.role !== 'user' && message.role !== 'assistant') return [];
    const { files, rest } = parsePromptFiles(readText(message));
    const title = message.role === 'user' ? 'Earlier you wrote' : 'Earlier I wrote';
    return [
      ...files.map(({ name, text }) => ({ citation: null, title: `In ${name}`, text })),
      { citation: null, title, text: rest },
    ];
  });
  const earlier = quotables.filter(({ text }) => text !== question);
  const [quote] = quotesFor(question, earlier);
  if (quote !== undefined) return `${quote.source.title}: “${quote.text}”`;
  const file = earlier.find(({ title }) => title.startsWith('In '));
  if (file !== undefined) return `${file.title}: “${cutOpening(file.text, 2)}”`;
  return `${identity} I find nothing in ${passages.length > 0 ? 'the knowledge I was given or ' : ''}this conversation that answers. ${advice}`;
}

/** The passages that the model was given, and those that it searched for since the question. */
export function collectKnowledge(messages: readonly ModelMessage[], ending = ''): readonly Quotable[] {
  const systemTexts = messages.flatMap((message) => (message.role === 'system' ? message.content : []));
  const searchOutputs = collectOutputs(messages).flatMap(({ name, text }) => (name === searchName ? text : []));
  return [ending, ...systemTexts, ...searchOutputs]
    .flatMap(parsePassages)
    .map(({ n, ...passage }) => ({ ...passage, citation: n }));
}

/** What tools answered since the question. */
function collectOutputs(messages: readonly ModelMessage[]): readonly { readonly name: string; readonly text: string }[] {
  const calls = messages.flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : []));
  const findName = (callId: string) => calls.find(({ id }) => id === callId)?.name ?? 'the tool';
  return messages
    .slice(messages.findLastIndex(({ role }) => role === 'user') + 1)
    .flatMap((output) => (output.role === 'tool' ? { name: findName(output.toolCallId), text: readText(output).trim() } : []));
}
