import type { ModelRequest } from '../port.ts';
import type { Conversation } from './conversation.ts';
import { evidenceOf } from './evidence.ts';
import { fillSchema } from './fill.ts';
import { asksForSummary, outlineOf, type Section } from './outline.ts';
import { gistOf, type Quote, quotesFor } from './ranking.ts';
import { sentencesOf } from './sentences.ts';
import { summarize } from './summarize.ts';
import { termsOf } from './terms.ts';

const identity =
  'I am parley/offline, the model built into Parley. I have no weights: I answer by quoting the knowledge of the agent and this conversation.';
const advice = 'For answers in free words, configure a model provider, for example with OPENAI_API_KEY or OPENAI_BASE_URL.';
const identityPattern =
  /\b(who|what)\s+are\s+you\b|\b(what|which)\s+(ai\s+|language\s+)?model\s+(are\s+you|is\s+this|answers)\b|\bintroduce yourself\b|\byour name\b|\bare you (a|an)\b/i;
const greetingPattern = /^\s*(hi|hello|hey|good (morning|day|evening|afternoon)|greetings)\b[\s,!.\p{L}]{0,24}$/iu;
/** A message of at least this many sentences is text to answer from. */
const ownTextSentencesMin = 4;

/** The whole text of the answer, or why there is none in the form that was asked for. */
export interface Answer {
  readonly text: string;
  readonly isRefusal: boolean;
}

export function composeAnswer(request: ModelRequest, conversation: Conversation): Answer {
  const text = composeText(conversation);
  const format = request.responseFormat;
  if (format === undefined || format.type === 'text') return { text, isRefusal: false };
  if (format.type === 'json_object') return { text: JSON.stringify({ answer: text }), isRefusal: false };
  const evidence = evidenceOf(conversation.question, text);
  // Where there is knowledge, it says what is true: a number of the question is then part of what was asked.
  const numbers = conversation.passages.length > 0 ? [] : evidence.numbers;
  const { value, invented } = fillSchema(format.schema, { ...evidence, numbers });
  if (invented.length === 0) return { text: JSON.stringify(value), isRefusal: false };
  return { text: inventing([...new Set(invented)]), isRefusal: true };
}

function inventing(members: readonly string[]): string {
  const names = members.map((name) => `"${name}"`).join(', ');
  return `I cannot fill ${names}: nothing I was given states it, and I do not make up facts. ${identity} ${advice}`;
}

function composeText(conversation: Conversation): string {
  if (conversation.toSummarize !== undefined) return summarize(conversation.toSummarize);
  const { question, passages, earlier } = conversation;
  if (conversation.isToolTurn) return answerFromTools(conversation);
  if (greetingPattern.test(question)) return `Hello! ${identity} Ask me something.`;
  if (passages.length === 0 && identityPattern.test(question)) return `${identity} ${advice}`;
  if (asksForSummary(question)) {
    const outline = outlineOf(passages.length > 0 ? passages : conversation.files);
    if (outline.length > 0) return outline.map(sectionLine).join('\n');
  }
  const known = quotesFor(question, passages);
  if (known.length > 0) return citing(known);
  const filed = quotesFor(question, conversation.files);
  if (filed.length > 0) return reading(filed);
  if (identityPattern.test(question)) return `${identity} ${advice}`;
  const said = quotesFor(question, [...earlier].reverse());
  if (said.length > 0) return recalling(said);
  const [file] = conversation.files;
  const gist = file === undefined ? [] : gistOf(file, 3);
  if (gist.length > 0) return reading(gist);
  const own = sentencesOf(question);
  if (own.length >= ownTextSentencesMin) {
    const quotes = gistOf({ citation: null, title: 'you', text: question }, 2);
    return `The heart of what you sent: ${quotes.map((quote) => `“${quote.text}”`).join(' ')}`;
  }
  return ignorance(conversation);
}

/** `The warranty lasts two years [1].`: the marker is inside the sentence, so that it belongs to it. */
function citing(quotes: readonly Quote[]): string {
  return quotes
    .map(({ text, source }, index) => {
      const next = quotes[index + 1];
      if (next?.source.citation === source.citation) return closed(text);
      const end = /(?<![.!?:;…])[.!?:;…]+$/.exec(text)?.[0] ?? '.';
      return `${text.slice(0, text.length - (text.endsWith(end) ? end.length : 0))} [${source.citation}]${end}`;
    })
    .join(' ');
}

/** `- Warranty: The warranty lasts two years [1].` */
function sectionLine({ heading, text, source }: Section): string {
  const label = heading === '' || text.startsWith(heading) ? '' : `${heading}: `;
  return `- ${label}${source.citation === null ? closed(text) : citing([{ text, source }])}`;
}

/** `In notes.txt: “…”`, one for each file. */
function reading(quotes: readonly Quote[]): string {
  const byFile = Map.groupBy(quotes, ({ source }) => source.title);
  return [...byFile].map(([name, found]) => `In ${name}: ${found.map(({ text }) => `“${text}”`).join(' ')}`).join('\n');
}

function recalling(quotes: readonly Quote[]): string {
  const first = quotes[0];
  if (first === undefined) return identity;
  const same = quotes.filter((quote) => quote.source.title === first.source.title);
  if (first.source.title === 'summary')
    return `Earlier in this conversation: ${same.map((quote) => `“${quote.text}”`).join(' ')}`;
  return `Earlier ${first.source.title === 'you' ? 'you wrote' : 'I wrote'}: ${same.map((quote) => `“${quote.text}”`).join(' ')}`;
}

function ignorance({ question, passages, hasImages }: Conversation): string {
  const topic = [...new Set(termsOf(question))].length > 0 ? ' that answers this' : '';
  const where = passages.length > 0 ? 'In the knowledge I was given and in this conversation' : 'In this conversation';
  const images = hasImages ? ' I cannot see images.' : '';
  return `${where} I find nothing${topic}.${images} ${identity} ${advice}`;
}

function answerFromTools({ question, toolOutputs }: Conversation): string {
  const several = toolOutputs.length > 1;
  return toolOutputs
    .map(({ name, content }) => {
      const told = readOutput(content, question);
      return several ? `${name}: ${told}` : told === '' ? `${name} gave no output.` : `According to ${name}: ${told}`;
    })
    .join('\n');
}

/** JSON as words; of other text the sentences that fit the question best. */
function readOutput(content: string, question: string): string {
  const value = parse(content);
  if (value !== undefined && typeof value === 'object') return closed(spoken(value, 0));
  const text = value === undefined ? content.trim() : String(value);
  if (sentencesOf(text).length <= 3) return closed(text);
  const source = { citation: null, title: '', text };
  const quotes = quotesFor(question, [source]);
  return (quotes.length > 0 ? quotes : gistOf(source, 2)).map((quote) => closed(quote.text)).join(' ');
}

function spoken(value: unknown, depth: number): string {
  if (Array.isArray(value))
    return value
      .slice(0, 20)
      .map((item) => spoken(item, depth + 1))
      .join('; ');
  if (typeof value !== 'object' || value === null) return String(value);
  if (depth > 4) return JSON.stringify(value);
  return Object.entries(value)
    .map(([name, member]) => `${name.replace(/([a-z])([A-Z])/g, '$1 $2').replaceAll('_', ' ')} ${spoken(member, depth + 1)}`)
    .join(', ');
}

function closed(text: string): string {
  return text === '' || /[.!?:;…”"]$/.test(text) ? text : `${text}.`;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
