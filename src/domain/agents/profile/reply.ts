import type { AgentProfile } from '../../../entities/agents/agent.ts';
import { isObject, type JsonObject, membersOf } from '../../../lib/json/json.ts';
import { type ProfileFacts, profileLengths } from './draft.ts';

const featuresMax = 6;
const conversationsMax = 4;
/** This many words in a row count as a quotation. */
const quotedWordsMin = 5;

type Feature = NonNullable<AgentProfile['features']>[number];

/** The JSON Schema for the model; its defaults are the draft. */
export function profileSchema(draft: AgentProfile): Readonly<Record<string, unknown>> {
  const text = (maxLength: number, fallback?: unknown) => ({
    type: 'string',
    maxLength,
    ...(fallback === undefined ? {} : { default: fallback }),
  });
  const object = (properties: Readonly<Record<string, unknown>>) => ({
    type: 'object',
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
  });
  const { headline, description, trainingDescription, title, sentence } = profileLengths;
  return object({
    headline: text(headline, draft.headline),
    description: text(description, draft.description),
    trainingDescription: text(trainingDescription, draft.trainingDescription),
    features: {
      type: 'array',
      minItems: 1,
      maxItems: featuresMax,
      items: object({ title: text(title), description: text(sentence) }),
      default: draft.features,
    },
    conversations: {
      type: 'array',
      minItems: 1,
      maxItems: conversationsMax,
      items: object({ question: text(sentence), answer: text(sentence) }),
      default: draft.conversations,
    },
  });
}

/**
 * The usable texts of a model's answer: of the right type, not too long, and not revealing the instructions.
 *
 * @returns undefined for an answer that is not a JSON object.
 */
export function readProfileReply(reply: string, facts: ProfileFacts): AgentProfile | undefined {
  const replyObject = parseObject(reply);
  if (replyObject === undefined) return undefined;
  const isSecret = secretFinder(facts);
  const text = (value: unknown, lengthMax: number): string | undefined => {
    const plain = typeof value === 'string' ? value.trim() : '';
    return plain === '' || plain.length > lengthMax || isSecret(plain) ? undefined : plain;
  };
  const pairs = (value: unknown, first: string, firstMax: number, second: string, most: number) =>
    (Array.isArray(value) ? value.slice(0, most) : []).flatMap((item: unknown) => {
      const members = membersOf(item);
      const [one, two] = [text(members[first], firstMax), text(members[second], profileLengths.sentence)];
      return one === undefined || two === undefined ? [] : [{ [first]: one, [second]: two }];
    });
  const headline = text(replyObject.headline, profileLengths.headline)?.replaceAll(/\s+/g, ' ');
  const description = text(replyObject.description, profileLengths.description);
  const trainingDescription = text(replyObject.trainingDescription, profileLengths.trainingDescription);
  const features = pairs(replyObject.features, 'title', profileLengths.title, 'description', featuresMax) as unknown as Feature[];
  const conversations = pairs(replyObject.conversations, 'question', profileLengths.sentence, 'answer', conversationsMax);
  return {
    ...(headline === undefined ? {} : { headline }),
    ...(description === undefined ? {} : { description }),
    ...(trainingDescription === undefined ? {} : { trainingDescription }),
    ...(features.length === 0 ? {} : { features }),
    ...(conversations.length === 0 ? {} : { conversations }),
  };
}

/** Models often put JSON into a code fence. */
function parseObject(reply: string): JsonObject | undefined {
  const text = reply.slice(reply.indexOf('{'), reply.lastIndexOf('}') + 1);
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Makes a function that finds texts which repeat the instructions: completely, by several words in a row, or by one word that looks
 * like a key or a code, unless the agent's public texts contain it too.
 */
function secretFinder({ instructions, name, description, introduction, knowledge }: ProfileFacts): (text: string) => boolean {
  const open = ` ${splitWords([name, description, introduction ?? '', ...knowledge].join('\n')).join(' ')} `;
  const instructionText = ` ${splitWords(instructions).join(' ')} `;
  const isHidden = (words: string) => instructionText.includes(` ${words} `) && !open.includes(` ${words} `);
  return (text) => {
    const words = splitWords(text);
    if (isHidden(words.join(' '))) return true;
    return words.some((word, index) => {
      const run = words.slice(index, index + quotedWordsMin);
      if (run.length === quotedWordsMin && isHidden(run.join(' '))) return true;
      return word.length >= 6 && /[\d_-]/.test(word) && isHidden(word);
    });
  };
}

function splitWords(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}][\p{L}\p{N}_-]*/gu) ?? [];
}
