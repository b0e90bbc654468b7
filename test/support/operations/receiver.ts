import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { type ApiAnswer, type ApiRequest, startApiServer } from '../egress/api-server.ts';

/** An entry as it comes. */
export interface ReceivedEntry {
  readonly id: string;
  readonly createdAt: string;
  readonly orgId: string;
  readonly action: string;
  readonly actorUserId: string;
  readonly actorEmail: string;
  readonly outcome: string;
}
export interface ReceivedBatch {
  /** `webhook-id`. */
  readonly id: string;
  readonly body: string;
  readonly entries: readonly ReceivedEntry[];
  /** What it was answered. */
  readonly status: number;
}

/** A receiver of audit entries, which checks signatures by the library of Standard Webhooks and keeps what it took. */
export interface AuditReceiver {
  /** The settings that send to it. */
  readonly env: Readonly<Record<string, string>>;
  readonly secret: string;
  /** Every request with a good signature, refused ones too. */
  readonly batches: readonly ReceivedBatch[];
  /** The entries of the requests that it took, in the order in which they came. */
  readonly entries: readonly ReceivedEntry[];
  /** Requests with a bad signature. */
  readonly unsigned: readonly ApiRequest[];
  /** Answers so from now on; without an answer it takes everything. */
  answer(by?: (request: ApiRequest) => ApiAnswer | Promise<ApiAnswer>): void;
  close(): Promise<void>;
}

export async function startAuditReceiver(): Promise<AuditReceiver> {
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const webhook = new Webhook(secret);
  const batches: ReceivedBatch[] = [];
  const unsigned: ApiRequest[] = [];
  const server = await startApiServer();
  let answer: (request: ApiRequest) => ApiAnswer | Promise<ApiAnswer> = () => ({ status: 204, body: '' });
  const usual = answer;
  server.answer(async (request) => {
    let verified: unknown;
    try {
      verified = webhook.verify(request.body, request.headers as Record<string, string>);
    } catch {
      unsigned.push(request);
      return { status: 401 };
    }
    const { entries } = (verified as { readonly data: { readonly entries: readonly ReceivedEntry[] } }).data;
    const given = await answer(request);
    batches.push({ id: String(request.headers['webhook-id']), body: request.body, entries, status: given.status ?? 200 });
    return given;
  });
  return {
    env: { AUDIT_SINK_URL: `${server.url}/parley?token=of-the-address`, AUDIT_SINK_SECRET: secret },
    secret,
    batches,
    unsigned,
    get entries() {
      return batches.flatMap(({ status, entries }) => (status < 300 ? entries : []));
    },
    answer(by = usual) {
      answer = by;
    },
    close: () => server.close(),
  };
}
