import type { ProviderRouting } from '../../../engine/models/routing.ts';
import type { RunnableAgent } from '../../../entities/agents/agent.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import { readWire } from '../../../wire/ground/read.ts';
import { chatOptions } from '../../../wire/responses/request.ts';
import type { Deps } from '../../deps.ts';
import { canEditAgent } from '../../ground/access/access.ts';
import type { Faults } from '../../ground/faults.ts';

/** Which flow a request names. */
export interface FlowOverride {
  readonly force: boolean;
  readonly id: string | undefined;
  readonly version: number | undefined;
}

/** The options of a message, a completion or a response. */
export interface RunOptions {
  readonly override: FlowOverride | undefined;
  readonly routing: ProviderRouting | undefined;
  /** The request asks for the steps of the run. */
  readonly isTraced: boolean;
}

/** The options of a request that has none. */
export const noOptions: RunOptions = { override: undefined, routing: undefined, isTraced: false };

/** Reads the options, noting every fault. */
export function readOptions(input: unknown, faults: Faults): RunOptions {
  if (input === undefined || input === null) return noOptions;
  const options = readWire(chatOptions, input, 'options', faults);
  const { override, tracing } = options?.flow ?? {};
  const id = override?.id ?? undefined;
  const version = override?.version ?? undefined;
  const force = override?.force === true;
  return {
    override: force || id !== undefined || version !== undefined ? { force, id, version } : undefined,
    routing: toRouting(options?.provider?.order, options?.provider?.allow_fallbacks),
    isTraced: options?.tracing?.enabled === true || tracing?.enabled === true,
  };
}

function toRouting(order: readonly string[] | null | undefined, allows: boolean | null | undefined): ProviderRouting | undefined {
  const isPlain = (order ?? []).length === 0 && allows !== false;
  return isPlain ? undefined : { order: order ?? [], allowsFallbacks: allows !== false };
}

/** The part of a run's plan that says which providers may answer. @throws DomainError INVALID_VALUE, UNSUPPORTED_VALUE. */
export function routingFor(
  { models }: Pick<Deps, 'models'>,
  modelId: string,
  { routing }: RunOptions,
): { readonly routing?: ProviderRouting } {
  if (routing === undefined) return {};
  const at = 'options.provider.order';
  const unknown = routing.order.findIndex((provider) => !models.hasProvider(provider));
  if (unknown >= 0) {
    const param = `${at}[${unknown}]`;
    const name = JSON.stringify((routing.order[unknown] ?? '').slice(0, 100));
    throw new DomainError('INVALID_VALUE', `${param} names no provider that is configured here: ${name}`, { param });
  }
  if (models.isRoutable(modelId, routing)) return { routing };
  throw new DomainError('UNSUPPORTED_VALUE', `${at}: none of these providers has ${modelId}, and allow_fallbacks is false`, {
    param: at,
  });
}

/** Whether the reader of a run sees its steps: where the agent shows them, and where an editor asks for them. */
export function showsSteps(caller: Caller, agent: RunnableAgent | undefined, { isTraced }: RunOptions): boolean {
  if (agent === undefined) return true;
  return agent.intermediateStepsVisible || (isTraced && canEditAgent(caller, agent));
}

/** Whether the reader of a run sees what its tools return: where the agent shows its steps, and whoever may edit the agent. */
export function showsOutputs(caller: Caller, agent: RunnableAgent | undefined): boolean {
  return agent === undefined || agent.intermediateStepsVisible || canEditAgent(caller, agent);
}
