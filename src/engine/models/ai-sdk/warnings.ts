import type { SharedV4Warning } from '@ai-sdk/provider';
import { agentOptions } from '../../../entities/agents/options.ts';
import type { Warning } from '../../../entities/ground/warning.ts';
import { toSnakeCase } from '../../../lib/text/text.ts';
import type { ModelRequest } from '../port.ts';
import { unservedOption, unservedSampling } from '../sampling.ts';

/** Options of the SDK and the members of the chat completions format that they came from. */
const members: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.keys(agentOptions).map((name) => [name, toSnakeCase(name)])),
  stopSequences: 'stop',
  seed: 'seed',
  responseFormat: 'response_format',
  toolChoice: 'tool_choice',
  reasoning: 'reasoning_effort',
  maxOutputTokens: 'max_completion_tokens',
};

/** What the adapter of a provider says of a request. */
export function toWarning(warning: SharedV4Warning): Warning {
  switch (warning.type) {
    case 'unsupported':
    case 'compatibility': {
      const param = members[warning.feature] ?? null;
      const details =
        warning.details === undefined ? 'has no effect: the model provider does not take it' : inWords(warning.details);
      const code = warning.type === 'unsupported' ? 'option_not_supported' : 'option_changed';
      const subject = param ?? warning.feature;
      const message = warning.details === undefined ? `${subject} ${details}` : `${subject} is not used as asked: ${details}`;
      return { code, message, param };
    }
    case 'deprecated':
      return { code: 'model_warning', message: inWords(warning.message), param: members[warning.setting] ?? null };
    case 'other':
      return { code: 'model_warning', message: inWords(warning.message), param: null };
  }
}

/** What of a request has no place on the wires of this adapter. */
export function unservedOptions({ parameters, messages }: ModelRequest): readonly Warning[] {
  const optionValues = [
    ['logprobs', parameters.logprobs],
    ['logit_bias', parameters.logitBias],
    ['service_tier', parameters.serviceTier],
    ['verbosity', parameters.verbosity],
  ] as const;
  const unserved = optionValues.flatMap(([param, value]) => (value === undefined ? [] : [unservedOption(param)]));
  const hasNames = messages.some((message) => message.role !== 'tool' && message.name !== undefined);
  const names = hasNames ? [unservedOption('messages.name')] : [];
  return [...unservedSampling(parameters, 'aiSdk'), ...unserved, ...names];
}

/** The names of the SDK's options as the caller knows them. */
function inWords(details: string): string {
  return details.replace(/[A-Za-z]+/g, (word) => (Object.hasOwn(members, word) ? members[word] : undefined) ?? word);
}
