import type { RunnableSkill } from './part.ts';

/** The function by which a model reads a skill. */
export const skillFunction = 'use_skill';

const givenCountMax = 3;
const givenTokensMax = 400;

/** Whether the model gets the skills whole with its instructions: up to three that have less than 400 tokens together. */
export function areInlined(skills: readonly RunnableSkill[], tokensOf: (text: string) => number): boolean {
  if (skills.length > givenCountMax) return false;
  let tokens = 0;
  for (const { content } of skills) {
    if (content === null) return false;
    tokens += tokensOf(content);
  }
  return tokens < givenTokensMax;
}
