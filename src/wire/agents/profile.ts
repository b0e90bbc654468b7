import { z } from 'zod';
import type { AgentProfile } from '../../entities/agents/agent.ts';
import { body, optionalMembers, readAs } from '../ground/body.ts';
import type { WireReply } from '../ground/encoder.ts';
import { flag, list, type Sent, text } from '../ground/schema.ts';
import { shapedType } from '../ground/shape.ts';

/** How an agent is presented. */

const firstTexts = {
  headline: text('A headline of one line.'),
  description: text('A description of one paragraph.'),
  trainingDescription: text('A description of its knowledge.'),
};
const flags = {
  showCharacter: flag('Whether its character is shown.'),
  showTraining: flag('Whether its training is shown.'),
  showPersonality: flag('Whether its personality is shown.'),
  showSpeaker: flag('Whether its speaker is shown.'),
  showVideo: flag('Whether its video is shown.'),
};
const lastTexts = {
  socialImage: text('The preview image of links.'),
  idleVideo: text('A video shown while the agent waits.'),
  idleVideoError: text('Why that video could not be made.'),
  voice: text('The voice it speaks with.'),
  voiceEngine: text('The engine that makes the voice.'),
  videoModel: text('The model that makes its videos.'),
};

export const agentProfileBody = body(
  'AgentProfileInput',
  'How an agent is presented. The profile is replaced whole.',
  optionalMembers({
    ...firstTexts,
    features: list('What it is good at; at most 50.', readAs('AgentProfileFeatureInput', z.unknown())),
    ...flags,
    conversations: list('Sample conversations, at most 100: any objects.', readAs('JsonObject', z.unknown())),
    ...lastTexts,
  }),
);

export const shownProfile = shapedType('AgentProfile', 'How an agent is presented. Unset members are empty or false.', {
  ...firstTexts,
  features: list(
    'What it is good at.',
    shapedType('AgentProfileFeature', 'Something an agent is good at.', {
      title: text('The feature in a few words.'),
      description: text('The feature in a sentence.'),
    }),
  ),
  ...flags,
  conversations: list('Sample conversations, each an object.', z.unknown()),
  ...lastTexts,
});

export function showProfile(profile: AgentProfile): Sent<typeof shownProfile> {
  return {
    ...withUnset(profile, firstTexts, ''),
    features: (profile.features ?? []).map(({ title, description }) => ({ title, description })),
    ...withUnset(profile, flags, false),
    conversations: profile.conversations ?? [],
    ...withUnset(profile, lastTexts, ''),
  };
}

/** Members of a profile, with a value where one is unset. */
function withUnset<Name extends keyof AgentProfile, Unset>(
  profile: AgentProfile,
  shape: Readonly<Record<Name, z.ZodType>>,
  unset: Unset,
): { readonly [Own in Name]: NonNullable<AgentProfile[Own]> | Unset } {
  const members = Object.keys(shape).map((name) => [name, profile[name as Name] ?? unset]);
  return Object.fromEntries(members) as { readonly [Own in Name]: NonNullable<AgentProfile[Own]> | Unset };
}

export const profileReply: WireReply = { schema: 'AgentProfile', encode: showProfile };
