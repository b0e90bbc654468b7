/** The formats of requests to models: that of OpenAI itself, that of servers compatible with it, and that of the AI SDK for other providers. */
export type ModelForm = 'openai' | 'compatible' | 'aiSdk';

/** A number that says how the model of an agent samples. */
interface AgentOption {
  /** The API contract has no limits: these are what providers accept. */
  readonly min: number;
  readonly max: number;
  readonly isWhole: boolean;
  readonly description: string;
  /** What is said of the list that REST takes. Default: the description. */
  readonly listDescription?: string;
  /** What is said of the member of a request that names it. Default: the description. */
  readonly requestDescription?: string;
  /** Its name in GraphQL. Default: the same. */
  readonly graphName?: string;
  /** The member of a request to a model. Null: that format has none, and a warning says so. Default: the name, in snake_case where the format is. */
  readonly formNames?: Readonly<Partial<Record<ModelForm, string | null>>>;
  /** It bounds what the model is sent; the model does not get it. */
  readonly isOfService?: true;
}

/**
 * Every option of agents, by the name that REST and the database have. Bodies, replies, the types of GraphQL, the checks of limits and what a model is
 * asked with follow this table.
 */
export const agentOptions = {
  temperature: { min: 0, max: 2, isWhole: false, description: '0 to 2.' },
  topP: { min: 0, max: 1, isWhole: false, description: '0 to 1.' },
  topK: {
    ...{ min: 1, max: 1_000, isWhole: true, description: '1 to 1,000.', listDescription: 'Whole numbers from 1 to 1,000.' },
    requestDescription: 'How many candidates are sampled from, where the model can.',
    formNames: { openai: null },
  },
  maxTokens: {
    ...{ min: 1, max: 10_000_000, isWhole: true, description: 'Most tokens of an answer.', graphName: 'maxOutputTokens' },
    requestDescription: 'Most tokens of the answer.',
    formNames: { openai: 'max_completion_tokens', aiSdk: 'maxOutputTokens' },
  },
  maxInputTokens: { min: 1, max: 100_000_000, isWhole: true, description: 'Most tokens given to the model.', isOfService: true },
  frequencyPenalty: { min: -2, max: 2, isWhole: false, description: '-2 to 2.' },
  presencePenalty: { min: -2, max: 2, isWhole: false, description: '-2 to 2.' },
} as const satisfies Readonly<Record<string, AgentOption>>;

export type AgentOptionName = keyof typeof agentOptions;

/** Each option is an array of numbers, as in the API contract. The first value is used. */
export type AgentOptions = { readonly [Name in AgentOptionName]?: readonly number[] };

export type SamplingOptionName = Exclude<AgentOptionName, 'maxInputTokens'>;
/** The options that a model gets. */
export type SamplingOptions = { readonly [Name in SamplingOptionName]?: number };

export const agentOptionList: readonly (AgentOption & { readonly name: AgentOptionName })[] = Object.entries(agentOptions).map(
  ([name, option]) => ({ ...option, name: name as AgentOptionName }),
);

export const samplingOptionList = agentOptionList.filter(
  (option): option is (typeof agentOptionList)[number] & { readonly name: SamplingOptionName } => option.isOfService !== true,
);
