import { isObject } from '../../../lib/json/json.ts';
import { storableText } from '../../../lib/text/text.ts';
import type { TokenAllowance } from '../../usage/token-allowance.ts';
import type { Subagents } from '../agents/subagents.ts';

const questionLengthMax = 1_000;

/**
 * Divides a question into parts that can be researched on their own: one model call, whose answer is strict JSON.
 *
 * @returns the question itself when the model wrote nothing of use.
 */
export async function planQuestions(
  question: string,
  questionsMax: number,
  subagents: Pick<Subagents, 'ask'>,
  tokens: TokenAllowance,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const planText = await subagents.ask(
    {
      messages: [
        { role: 'system', content: instructions(questionsMax) },
        { role: 'user', content: question },
      ],
      responseFormat: { type: 'json_schema', name: 'research_plan', schema: schema(questionsMax), strict: true },
    },
    tokens,
    signal,
  );
  const questions = planText === undefined ? [] : questionsIn(planText).slice(0, questionsMax);
  return questions.length === 0 ? [question] : questions;
}

function instructions(questionsMax: number): string {
  return [
    'You plan a research. Divide what is to be found out into questions that researchers answer apart from each other, without knowing the others.',
    `Write as few as it needs, at most ${questionsMax}; one is enough for a simple question. Each stands for itself: with every name and date.`,
    'Answer with JSON only: {"questions": ["…"]}',
  ].join('\n');
}

function schema(questionsMax: number): Readonly<Record<string, unknown>> {
  return {
    type: 'object',
    properties: { questions: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: questionsMax } },
    required: ['questions'],
    additionalProperties: false,
  };
}

function questionsIn(planText: string): readonly string[] {
  let parsedPlan: unknown;
  try {
    parsedPlan = JSON.parse(planText);
  } catch {
    return [];
  }
  const questionsValue = isObject(parsedPlan) ? parsedPlan.questions : undefined;
  if (
    !Array.isArray(questionsValue) ||
    !questionsValue.every((one) => typeof one === 'string' && one.length <= questionLengthMax)
  )
    return [];
  return [...new Set(questionsValue.map((one: string) => storableText(one).trim()))].filter((one) => one !== '');
}
