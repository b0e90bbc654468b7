/** The parts of a question that can fill a schema. Each number is used once, in order. */
export interface Evidence {
  readonly question: string;
  readonly quoted: readonly string[];
  /** Names of things: runs of capitalized words other than the first word of a sentence. */
  readonly names: readonly string[];
  readonly numbers: number[];
  /** Free text, for members that ask for an answer. */
  readonly answer: string;
}

const quotedPattern = /"([^"]+)"|“([^“”]+)”|(?<=^|\s)'([^']+)'(?=[\s.,?!]|$)/g;
const namePattern = /\p{Lu}[\p{L}\p{N}'’.-]*(?:\s+(?:(?:de|of|the|del|la|am|an der|upon)\s+)?\p{Lu}[\p{L}\p{N}'’.-]*)*/gu;
const openers =
  /^(?:what|which|who|when|where|why|how|is|are|do|does|did|can|could|will|would|should|please|tell|show|give|get|find|look|search|add|compute|calculate|convert|book|send|create|set|use|call|i|i'm|the|a|an|my|and|in|check|list)$/i;

export function evidenceOf(question: string, answer: string): Evidence {
  return {
    question,
    answer,
    quoted: [...question.matchAll(quotedPattern)].map(([, double, curly, single]) => double ?? curly ?? single ?? ''),
    names: namesOf(question),
    numbers: [...question.matchAll(/(?<![\p{L}\p{N}.-])-?\d+(?:\.\d+)?(?![\p{L}\p{N}-])/gu)].map(([text]) => Number(text)),
  };
}

function namesOf(question: string): readonly string[] {
  return [...question.matchAll(namePattern)].flatMap(([match]) => {
    const words = match
      .replace(/['’]s$/, '')
      .replace(/(?<![.'’-])[.'’-]+$/, '')
      .split(/\s+/);
    while (words[0] !== undefined && openers.test(words[0])) words.shift();
    return words.length === 0 ? [] : [words.join(' ')];
  });
}

/** The text for a member of this name; undefined when nothing in the question fits. */
export function textFor(name: string, format: string | undefined, evidence: Evidence): string | undefined {
  const { question, quoted, names } = evidence;
  const words = wordsOf(name);
  const first = (pattern: RegExp) => pattern.exec(question)?.[1]?.trim();
  if (format === 'email' || /\be ?mail\b/.test(words)) return first(/((?<![\w.+-])[\w.+-]+@[\w-]+\.[\w.-]*\w)/);
  if (format === 'uri' || /\b(url|uri|link|website)\b/.test(words)) return first(/(https?:\/\/[^\s"'<>]+[^\s"'<>.,?!])/);
  if (format === 'date' || format === 'date-time' || /\b(date|day|when)\b/.test(words)) {
    const date = first(/(\d{4}-\d{2}-\d{2}(?:T[\d:.]+Z?)?)/) ?? first(/\b(today|tomorrow|yesterday)\b/i);
    if (date !== undefined) return date;
  }
  const stated = statedText(name, evidence);
  if (stated !== undefined) return stated;
  if (/\b(from|origin|source|departure|start)\b/.test(words)) {
    const origin = first(/\bfrom\s+(\p{Lu}[\p{L}'’-]*(?:\s+\p{Lu}[\p{L}'’-]*)*)/u);
    if (origin !== undefined) return origin;
  }
  if (/\b(to|destination|target|arrival|recipient)\b/.test(words)) {
    const target = first(/\bto\s+(\p{Lu}[\p{L}'’-]*(?:\s+\p{Lu}[\p{L}'’-]*)*)/u);
    if (target !== undefined) return target;
  }
  if (/\b(id|code|number|sku|key|reference|order|ticket)\b/.test(words)) {
    const code = first(/([a-z#][a-z_#-]{0,60}\d[\w#-]*|\b\d{2,}\b)/i);
    if (code !== undefined) return code.replace(/^#/, '');
  }
  if (/\b(expression|formula|equation)\b/.test(words)) {
    const expression = first(/(-?\({0,20}\d[\d\s.+*/()^%x×÷-]*\d\){0,20})/);
    if (expression !== undefined) return expression;
  }
  if (quoted[0] !== undefined) return quoted[0];
  if (/\b(query|question|prompt|input|q|search|request|message|task|instruction)\b/.test(words)) return question.trim();
  if (/\b(answer|reply|response|text|content|summary|explanation|description|result|reason|reasoning)\b/.test(words))
    return evidence.answer;
  return names[0];
}

/** The value that the question gives for a member by name: `color: red`, `the color is red`. */
export function statedText(name: string, { question }: Evidence): string | undefined {
  const escaped = wordsOf(name)
    .replace(/[^\p{L}\p{N} ]/gu, '')
    .trim()
    .replace(/ +/g, '[ _-]?');
  if (escaped === '') return undefined;
  return new RegExp(`\\b${escaped}\\s*(?:is|=|:|named|called)\\s*["“']?([^"”',.?!;]+)`, 'iu').exec(question)?.[1]?.trim();
}

function wordsOf(name: string): string {
  return name
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replace(/[_-]+/g, ' ')
    .toLowerCase();
}
