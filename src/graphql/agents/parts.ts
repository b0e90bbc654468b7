import type { AgentProfile } from '../../entities/agents/agent.ts';
import { type AgentOptions, agentOptionList } from '../../entities/agents/options.ts';
import { readString } from '../../lib/json/json.ts';
import { type BuilderTypes, builder } from '../ground/builder/builder.ts';

export const AgentOptionsType = builder.objectRef<AgentOptions>('AgentOptions').implement({
  access: { scope: 'AGENTS:READ' },
  description: 'How the model samples. A member that is null leaves it to the model.',
  fields: (t) =>
    Object.fromEntries(
      agentOptionList.map(({ name, graphName = name, description, isWhole }) => {
        const options = { nullable: true, description, resolve: (values: AgentOptions) => values[name]?.[0] } as const;
        return [graphName, isWhole ? t.int(options) : t.float(options)];
      }),
    ),
});

type Feature = NonNullable<AgentProfile['features']>[number];

const FeatureType = builder.objectRef<Feature>('AgentProfileFeature').implement({
  access: { scope: 'AGENTS:READ' },
  description: 'Something an agent is good at.',
  fields: (t) => ({
    title: t.exposeString('title', { description: 'The feature in a few words.' }),
    description: t.exposeString('description', { description: 'The feature in a sentence.' }),
  }),
});

type SampleConversation = NonNullable<AgentProfile['conversations']>[number];

const SampleConversationType = builder.objectRef<SampleConversation>('SampleConversation').implement({
  access: { scope: 'AGENTS:READ' },
  description: 'What a user may ask, and what the agent answers then. Both are null of one that REST wrote with other members.',
  fields: (t) => ({
    question: t.string({ nullable: true, description: 'The question.', resolve: ({ question }) => readString(question) ?? null }),
    answer: t.string({ nullable: true, description: 'The answer.', resolve: ({ answer }) => readString(answer) ?? null }),
  }),
});

type ProfileFieldBuilder = PothosSchemaTypes.ObjectFieldBuilder<BuilderTypes, AgentProfile>;

export const AgentProfileType = builder.objectRef<AgentProfile>('AgentProfile').implement({
  access: { scope: 'AGENTS:READ' },
  description: 'How an agent is presented. Texts that are unset are null.',
  fields: (t) => ({
    headline: text(t, 'headline', 'A headline of one line.'),
    description: text(t, 'description', 'A description of one paragraph.'),
    trainingDescription: text(t, 'trainingDescription', 'A description of its knowledge.'),
    features: t.field({
      type: [FeatureType],
      description: 'What it is good at.',
      resolve: (profile) => profile.features ?? [],
    }),
    showCharacter: t.boolean({
      description: 'Whether its character is shown.',
      resolve: (profile) => profile.showCharacter ?? false,
    }),
    showTraining: t.boolean({
      description: 'Whether its training is shown.',
      resolve: (profile) => profile.showTraining ?? false,
    }),
    showPersonality: t.boolean({
      description: 'Whether its personality is shown.',
      resolve: (profile) => profile.showPersonality ?? false,
    }),
    showSpeaker: t.boolean({ description: 'Whether its speaker is shown.', resolve: (profile) => profile.showSpeaker ?? false }),
    showVideo: t.boolean({ description: 'Whether its video is shown.', resolve: (profile) => profile.showVideo ?? false }),
    conversations: t.field({
      type: [SampleConversationType],
      description: 'Sample conversations, at most 100.',
      resolve: (profile) => profile.conversations ?? [],
    }),
    socialImage: text(t, 'socialImage', 'The preview image of links.'),
    idleVideo: text(t, 'idleVideo', 'A video shown while the agent waits.'),
    idleVideoError: text(t, 'idleVideoError', 'Why that video could not be made.'),
    voice: text(t, 'voice', 'The voice it speaks with.'),
    voiceEngine: text(t, 'voiceEngine', 'The engine that makes the voice.'),
    videoModel: text(t, 'videoModel', 'The model that makes its videos.'),
  }),
});

type ProfileText =
  | 'headline'
  | 'description'
  | 'trainingDescription'
  | 'socialImage'
  | 'idleVideo'
  | 'idleVideoError'
  | 'voice'
  | 'voiceEngine'
  | 'videoModel';

function text(t: ProfileFieldBuilder, name: ProfileText, description: string) {
  return t.string({ nullable: true, description, resolve: (profile) => toText(profile[name]) });
}

/** An empty text is none. */
export function toText(text: string | null | undefined): string | null {
  return text === undefined || text === '' ? null : text;
}
