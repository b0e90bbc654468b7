import { limitedText, readArguments, wrongArguments } from '../arguments.ts';

/** The arguments of a `deep_research` call. */
export interface Research {
  /** The purpose of all questions; a single question may replace it. */
  readonly task: string;
  /** At least one; each gets a subagent. */
  readonly questions: readonly string[];
  /** Only the question was given: a plan divides it. */
  readonly mustPlan: boolean;
}

const lengthMax = 4_000;

/** JSON Schema of the arguments. */
export function researchParameters(questionsMax: number): Readonly<Record<string, unknown>> {
  return {
    type: 'object',
    properties: {
      question: { type: 'string', description: 'What is to be found out, with everything one has to know to begin.' },
      questions: {
        type: 'array',
        items: { type: 'string' },
        maxItems: questionsMax,
        description: `Parts of the question, each researched on its own; at most ${questionsMax}. Leave it out: the research is planned then.`,
      },
    },
    required: ['question'],
    additionalProperties: false,
  };
}

/**
 * Reads the arguments that the model wrote; `task` is the former name of `question`, and is not divided by a plan. A repeated question is asked once.
 *
 * @throws DomainError that tells the model what is wrong.
 */
export function readResearch(args: string, questionsMax: number): Research {
  const argumentValues = readArguments(args);
  const question = optionalText(argumentValues.question, 'question');
  const task = optionalText(argumentValues.task, 'task');
  const whole = question === '' ? task : question;
  const questions = readQuestions(argumentValues.questions);
  if (whole === '' && questions.length === 0) throw wrongArguments('question must be a string that is not blank');
  if (questions.length > questionsMax) throw wrongArguments(`questions must hold at most ${questionsMax} questions`);
  const [first = whole] = questions;
  if (questions.length > 0) return { task: whole === '' ? first : whole, questions, mustPlan: false };
  return { task: whole, questions: [whole], mustPlan: question !== '' };
}

function readQuestions(questionsValue: unknown): readonly string[] {
  if (questionsValue === undefined || questionsValue === null) return [];
  if (!Array.isArray(questionsValue)) throw wrongArguments('questions must be an array of strings');
  const questions = questionsValue.map((question: unknown, index) => readText(question, `questions[${index}]`));
  return [...new Set(questions)].filter((question) => question !== '');
}

function optionalText(value: unknown, name: string): string {
  return value === undefined || value === null ? '' : readText(value, name);
}

function readText(value: unknown, name: string): string {
  return limitedText(value, name, lengthMax).trim();
}
