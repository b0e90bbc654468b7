import type { Agent, AgentProfile } from '../../../entities/agents/agent.ts';
import { cutText } from '../../../lib/text/text.ts';

/** The public facts that a profile is written from. */
export type ProfileFacts = Pick<
  Agent,
  'name' | 'description' | 'introduction' | 'instructions' | 'src' | 'generateCitations' | 'profile'
> & {
  /** Names of the agent's data sources. */
  readonly knowledge: readonly string[];
};

/** Most characters of each text of a profile. */
export const profileLengths = {
  headline: 120,
  description: 2_000,
  trainingDescription: 1_000,
  title: 80,
  sentence: 400,
} as const;
const namesShownMax = 5;
const titlesMax = 3;

/**
 * A plain profile from the public facts alone: the default for texts that a model did not write, and the model's starting point. It
 * contains nothing of the instructions.
 */
export function draftProfile(facts: ProfileFacts): AgentProfile {
  const { name, description, introduction, src, knowledge, profile, generateCitations } = facts;
  const about = description.trim() === '' ? name : description.trim();
  const greeting = introduction?.trim() ?? '';
  const hasKnowledge = knowledge.length > 0;
  const socialImage = /^https?:\/\//i.test(src) ? { socialImage: src } : {};
  return {
    headline: cutText(firstSentence(about).replace(/[.]$/, ''), profileLengths.headline - 1),
    description: cutText([about, greeting].filter((text) => text !== '').join('\n\n'), profileLengths.description - 1),
    trainingDescription: hasKnowledge
      ? cutText(`Draws its knowledge from ${listed(knowledge)}.`, profileLengths.trainingDescription - 1)
      : 'Answers from what its author told it; no documents are attached.',
    features: [
      { title: cutText(name, profileLengths.title - 1), description: cutText(firstSentence(about), profileLengths.sentence - 1) },
      ...knowledge.slice(0, titlesMax).map((title) => ({
        title: cutText(title, profileLengths.title - 1),
        description: cutText(`Answers questions from “${title}”.`, profileLengths.sentence - 1),
      })),
      ...(hasKnowledge && generateCitations
        ? [{ title: 'Names its sources', description: 'Answers point to the passages they rest on.' }]
        : []),
    ],
    conversations: [
      {
        question: 'What can you help me with?',
        answer: cutText(greeting === '' ? about : greeting, profileLengths.sentence - 1),
      },
    ],
    showCharacter: true,
    showTraining: hasKnowledge,
    showPersonality: greeting !== '',
    showSpeaker: (profile?.voice ?? '') !== '',
    showVideo: (profile?.idleVideo ?? '') !== '',
    ...socialImage,
  };
}

function firstSentence(text: string): string {
  const [line = ''] = text.split(/\n/, 1);
  return /^.+?[.!?…](?=\s|$)/u.exec(line)?.[0] ?? line;
}

function listed(names: readonly string[]): string {
  const visibleNames = names.slice(0, namesShownMax);
  const rest = names.length - visibleNames.length;
  if (rest > 0) return `${visibleNames.join(', ')} and ${rest} more`;
  return visibleNames.length === 1
    ? (visibleNames[0] ?? '')
    : `${visibleNames.slice(0, -1).join(', ')} and ${visibleNames.at(-1)}`;
}
