import { z } from 'zod';
import { body, readAs } from '../ground/body.ts';
import { flag, list, text } from '../ground/schema.ts';

/** How an agent is presented. */

export const agentProfileBody = body('AgentProfileInput', 'How an agent is presented. The profile is replaced whole.', {
  headline: text('A headline of one line.').nullish(),
  description: text('A description of one paragraph.').nullish(),
  trainingDescription: text('A description of its knowledge.').nullish(),
  features: list('What it is good at; at most 50.', readAs('AgentProfileFeatureInput', z.unknown())).nullish(),
  showCharacter: flag('Whether its character is shown.').nullish(),
  showTraining: flag('Whether its training is shown.').nullish(),
  showPersonality: flag('Whether its personality is shown.').nullish(),
  showSpeaker: flag('Whether its speaker is shown.').nullish(),
  showVideo: flag('Whether its video is shown.').nullish(),
  conversations: list('Sample conversations, at most 100: any objects.', readAs('JsonObject', z.unknown())).nullish(),
  socialImage: text('The preview image of links.').nullish(),
  idleVideo: text('A video shown while the agent waits.').nullish(),
  idleVideoError: text('Why that video could not be made.').nullish(),
  voice: text('The voice it speaks with.').nullish(),
  voiceEngine: text('The engine that makes the voice.').nullish(),
  videoModel: text('The model that makes its videos.').nullish(),
});
