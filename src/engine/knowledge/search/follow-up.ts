import type { Turn } from '../../../entities/knowledge/searched-question.ts';
import { type ContextText, questionMaxChars } from './question-terms.ts';

/** The user's messages before the question: the nearest says what "it" is, an earlier one what that was about. */
const userWeights = [0.6, 0.3, 0.15];
/** An answer has many words that nobody asked for. */
const answerWeight = 0.2;
/** Messages that count at least so much are part of what a question means. */
const meaningWeightMin = 0.3;
/** The beginning of a message says what it is about. */
const turnMaxChars = 400;
/** A longer question says by itself what it is about, unless a word points back. */
const shortWordsMax = 7;
/** A question with more words stands alone, whatever words it has. */
const pointingWordsMax = 20;

/** Words by which a question points to what was said before, in English, German, French and Spanish. */
const pointing = new Set(
  [
    'it its they them their theirs this that these those he she him her his hers one ones there then same such another other former latter both else instead',
    'er sie es ihn ihm ihr ihre ihnen sein seine dies diese dieser dieses das dort dafür davon damit dazu daran darauf darüber auch sonst stattdessen',
    'il elle ils elles lui leur leurs ce cela ça celui celle ceux celles y en là aussi',
    'él ella ello ellos ellas lo su sus esto eso este esta ese esa estos esas allí también',
  ].flatMap((words) => words.split(' ')),
);
/** Beginnings that carry a question on. */
const carriesOn =
  /^\s*(?:and|but|or|so|also|what about|how about|what if|und|aber|oder|was ist mit|et|mais|ou|qu'en est-il|y|pero|o)\b/iu;

/**
 * What the turns before add to a question that does not say by itself what it is about, such as "And how much does it cost?". No model is asked.
 *
 * @param earlier  oldest first, without the question.
 * @returns `[]` for a question that stands alone, and without a user's message before it.
 */
export function collectContext(question: string, earlier: readonly Turn[]): readonly ContextText[] {
  const userTurns = earlier.filter(({ role, text }) => role === 'user' && text.trim() !== '').toReversed();
  if (userTurns.length === 0 || !isFollowUp(question)) return [];
  const answer = earlier.findLast(({ role, text }) => role === 'assistant' && text.trim() !== '');
  const contextTexts = userWeights.flatMap((weight, index) => contextText(userTurns[index]?.text, weight));
  return [...contextTexts, ...contextText(answer?.text, answerWeight)];
}

/**
 * A question with the user's last messages before it, as a text for a model that compares meanings. Answers are left out: they are long, and would
 * outweigh the question.
 *
 * @returns the question itself when it stands alone; at most 8,000 characters of it.
 */
export function inContext(question: string, context: readonly ContextText[]): string {
  const questionText = question.slice(0, questionMaxChars).toWellFormed();
  const contextPassages = context.filter(({ weight }) => weight >= meaningWeightMin).map(({ text }) => text);
  return [...contextPassages.toReversed(), questionText].join('\n');
}

/** Whether a question is short or points to what was said before. */
export function isFollowUp(question: string): boolean {
  const words = question.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  if (words.length === 0 || words.length > pointingWordsMax) return false;
  return words.length <= shortWordsMax || carriesOn.test(question) || words.some((word) => pointing.has(word));
}

function contextText(text: string | undefined, weight: number): readonly ContextText[] {
  return text === undefined ? [] : [{ text: text.slice(0, turnMaxChars).toWellFormed(), weight }];
}
