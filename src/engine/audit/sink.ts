import { nobody } from '../../lib/flow/fair-share.ts';
import { isLoopback } from '../../lib/settings/loopback.ts';
import { signedPost } from '../../lib/standard-webhooks.ts';
import type { Settings } from '../../settings.ts';
import { readHost } from '../egress/allowance.ts';
import { createEgress, type EgressOptions } from '../egress/egress.ts';
import { EgressError } from '../egress/error.ts';

/** The receiver of AUDIT_SINK_URL, which the operator chose: it may be on a private address. */
export interface AuditSink {
  /** Totals of this process since it started. */
  readonly counts: AuditSinkCounts;
  /** Whether entries cross a network in clear. */
  readonly isPlain: boolean;
  /**
   * Sends a signed body.
   *
   * @param id  the same for every attempt to send the same entries.
   * @throws AuditSinkError, or the signal's reason.
   */
  post(id: string, body: string, at: Date, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}
export interface AuditSinkCounts {
  /** Entries that the receiver took. */
  sent: number;
  /** Attempts that failed. */
  failed: number;
}

/** The receiver did not take what was sent. Its message is a sentence for an administrator: no entry, no secret, no path of the address. */
export class AuditSinkError extends Error {
  override readonly name = 'AuditSinkError';
}

/** The body of a request. Its time is that of the newest entry, so that each attempt has the same body. */
export function auditSinkBody(timestamp: Date, entries: readonly object[]): string {
  return JSON.stringify({ type: 'audit.entries', timestamp: timestamp.toISOString(), data: { entries } });
}

const timeoutMs = 15_000;
/** The answer is not read; its end within this keeps the connection clean. */
const answerBytesMax = 1024 * 1024;

type SinkSettings = Pick<Settings, 'AUDIT_SINK_URL' | 'AUDIT_SINK_SECRET'>;

/** Undefined without AUDIT_SINK_URL. */
export function createAuditSink(
  { AUDIT_SINK_URL, AUDIT_SINK_SECRET }: SinkSettings,
  egressOptions: EgressOptions,
): AuditSink | undefined {
  if (AUDIT_SINK_URL === undefined || AUDIT_SINK_SECRET === undefined) return undefined;
  const url = new URL(AUDIT_SINK_URL);
  const host = readHost(url);
  const egress = createEgress({ ...egressOptions, allow: [egressOptions.allow, host].filter(Boolean).join(',') });
  const secrets = AUDIT_SINK_SECRET.split(',');
  return {
    counts: { sent: 0, failed: 0 },
    isPlain: url.protocol === 'http:' && !isLoopback(url.hostname),
    async post(id, body, at, signal) {
      const request = { ...signedPost(url.href, body, id, at, secrets), owner: nobody, bytesMax: answerBytesMax, timeoutMs };
      const status = await egress
        .receive(request, signal, async (head) => head.status)
        .catch((error: unknown) => {
          if (error instanceof EgressError) throw new AuditSinkError(`The receiver of AUDIT_SINK_URL fails: ${error.message}.`);
          throw error;
        });
      if (status < 200 || status > 299) throw new AuditSinkError(answered(status));
    },
    close: () => egress.close(),
  };
}

function answered(status: number): string {
  const advice = findAdvice(status);
  return `The receiver of AUDIT_SINK_URL answered ${status}${advice === undefined ? '' : `: ${advice}`}.`;
}

function findAdvice(status: number): string | undefined {
  if (status >= 300 && status < 400) return 'set AUDIT_SINK_URL to where it redirects, because redirects are not followed';
  if (status === 401 || status === 403) return 'see whether it has the secret of AUDIT_SINK_SECRET';
  if (status === 404 || status === 405) return 'see whether AUDIT_SINK_URL names the place that takes a POST';
  return status === 413 ? 'let it take bodies of 1 MB' : undefined;
}
