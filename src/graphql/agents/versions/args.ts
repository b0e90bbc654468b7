import { readVersionName } from '../../../domain/agents/versions/versions.ts';
import { agentPublishings } from '../../../entities/agents/version.ts';
import type { ArgBuilder } from '../../ground/pagination.ts';
import { createEnum } from '../../ground/types/enums.ts';

export const AgentPublishingType = createEnum('AgentPublishing', 'When a change of an agent takes effect.', agentPublishings, {
  AT_ONCE: 'With the change, which makes a version.',
  ON_REQUEST: 'When somebody publishes the draft. What is changed over REST takes effect at once all the same.',
});

/** The revision of the draft that the caller saw. */
export function expectedDraftArg(arg: ArgBuilder) {
  return arg.int({
    required: false,
    description:
      'The revision of the draft that the caller saw: CONFLICT, and no change, when somebody has changed it since. Default: any.',
  });
}

/** The version of the agent that answers a run. */
export function versionArg(arg: ArgBuilder) {
  return arg.string({
    required: false,
    description:
      'The version of the agent that answers: `draft`, or a number. For those who may edit the agent. Default: the one that people get.',
  });
}

/** A request with the version that its argument names. */
export function withVersion<Input extends object>(
  input: Input,
  version: string | null | undefined,
): Input & { readonly version?: number } {
  const number = readVersionName('version', version);
  return number === undefined ? input : { ...input, version: number };
}
