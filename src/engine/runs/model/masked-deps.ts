import type { Charge } from '../../plan/plan.ts';
import { guardModels } from '../../tools/secrets/guards/guarded-models.ts';
import { GuardSession, type RunGuard } from '../../tools/secrets/guards/session.ts';
import { createRunMask, joinMasks } from '../../tools/secrets/masking.ts';
import type { LoopDeps, LoopStart } from '../control/loop-deps.ts';
import { findPersonal } from './guard-model.ts';

/** The parts of a run whose request has secrets: what documents say of them reaches neither its model nor its readers. */
export function withMask(deps: LoopDeps, secrets: LoopStart['secrets']): LoopDeps {
  const ownMask = createRunMask(secrets);
  if (ownMask === undefined) return deps;
  const mask = deps.guard === undefined ? ownMask : (joinMasks(ownMask, deps.mask) ?? ownMask);
  return { ...deps, mask, retrieve: async (plan, signal) => mask.value(await deps.retrieve(plan, signal)) };
}

/**
 * The parts of a run with a guard: no value reaches its models, and where values are not put back, none leaves it. A run that another one starts masks
 * together with it.
 */
export function withGuard(deps: LoopDeps, guard: RunGuard, charge: Charge): LoopDeps {
  const { modelId } = guard;
  if (deps.guard !== undefined) deps.guard.extend(guard);
  const session = deps.guard ?? new GuardSession(guard, (kind) => deps.guards?.note(charge, kind));
  const models = deps.guard === undefined ? guardModels(deps.models, session) : deps.models;
  const maskPersonal: LoopDeps['maskPersonal'] = async (messages, payer, signal) =>
    session.addValues(modelId === null ? [] : await findPersonal(modelId, messages, deps, payer, signal));
  const asks = modelId !== null && deps.maskPersonal === undefined;
  const guardedDeps = { ...deps, guard: session, models, ...(asks ? { maskPersonal } : {}) };
  // Where the run that started this one has no values put back, its mask is there already.
  const isMasked = deps.guard?.guard.putsBack === false;
  const mask = guard.putsBack || isMasked ? deps.mask : joinMasks(deps.mask, session.outMask());
  return mask === undefined ? guardedDeps : { ...guardedDeps, mask };
}
