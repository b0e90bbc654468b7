import { registerChatFileSweep } from '../domain/conversations/chats/files.ts';
import { registerExperiments } from '../domain/conversations/evaluation/run-experiment.ts';
import { registerFileExpiry } from '../domain/conversations/files/files.ts';
import { registerUploadExpiry } from '../domain/conversations/files/uploads.ts';
import { registerChatImports } from '../domain/conversations/imports/bring-chats.ts';
import { registerApprovalSweep } from '../domain/conversations/runs/runs.ts';
import { registerSchedules } from '../domain/conversations/schedules/run-schedules.ts';
import type { Deps } from '../domain/deps.ts';
import { registerOrphanSweep } from '../domain/ground/blobs.ts';
import { registerIdempotencySweep } from '../domain/ground/idempotency.ts';
import { registerVectorStoreExpiry } from '../domain/knowledge/vector-stores/detach.ts';
import { registerAuditSink } from '../domain/operations/audit/sink.ts';
import { registerErasures } from '../domain/operations/data-life/erasures.ts';
import { registerExports } from '../domain/operations/data-life/exports.ts';
import { registerRetention } from '../domain/operations/data-life/sweep.ts';
import { registerWebhookDelivery } from '../domain/operations/webhooks/delivery.ts';
import { registerPurges } from '../domain/people/administration.ts';
import { registerAppSweep } from '../domain/people/apps.ts';
import { registerInvitationMail } from '../domain/people/sign-in/invitation-mail.ts';
import { registerSignInSweep } from '../domain/people/sign-in/sign-in.ts';

/** Message counts are added with each batch of the ledger; this adds those of turns without charges, and of processes that died. */
const messageCountsMs = 2_000;
const rateSweepMs = 600_000;

/** Registers what this process does in the background, before its jobs start. */
export function registerBackgroundWork(deps: Deps): void {
  const { jobs, storage } = deps;
  if (storage.operations.rateBuckets !== undefined) jobs.lead('rates.sweep', rateSweepMs, storage.operations.rateBuckets.sweep);
  jobs.every('agents.message-counts', messageCountsMs, () => storage.agents.addMessageCounts());
  deps.knowledge.registerJobs();
  registerIdempotencySweep(deps);
  registerSignInSweep(deps);
  registerAppSweep(deps);
  registerRetention(deps);
  registerInvitationMail(deps);
  registerAuditSink(deps);
  registerExports(deps);
  registerErasures(deps);
  registerWebhookDelivery(deps);
  registerOrphanSweep(deps);
  registerApprovalSweep(deps);
  registerChatFileSweep(deps);
  registerChatImports(deps);
  registerExperiments(deps);
  registerFileExpiry(deps);
  registerUploadExpiry(deps);
  registerVectorStoreExpiry(deps);
  registerSchedules(deps);
  registerPurges(deps);
}
