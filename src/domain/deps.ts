import type { Logger } from 'pino';
import type { AuditSink } from '../engine/audit/sink.ts';
import type { Egress } from '../engine/egress/egress.ts';
import type { ExportReader } from '../engine/imports/export-reader.ts';
import type { Jobs } from '../engine/jobs/jobs.ts';
import type { Knowledge } from '../engine/knowledge/knowledge.ts';
import type { Mailer } from '../engine/mail/mailer.ts';
import type { ModelRouter } from '../engine/models/router.ts';
import type { PasswordHasher } from '../engine/passwords/hasher.ts';
import type { RunEngine } from '../engine/runs/run-engine.ts';
import type { Pools } from '../engine/sharing/pools.ts';
import type { RateLimits } from '../engine/sharing/rate-limits.ts';
import type { OidcProviders } from '../engine/sign-in/providers.ts';
import type { McpServers } from '../engine/tools/mcp/servers.ts';
import type { ToolRegistry } from '../engine/tools/registry.ts';
import type { Tracing } from '../engine/tracing/tracing.ts';
import type { UsageLimits } from '../engine/usage/limits.ts';
import type { IdKind } from '../entities/ground/ids.ts';
import type { Settings } from '../settings.ts';
import type { Storage } from '../storage/storage.ts';
import type { PublishGate } from './agents/versions/publish-gate.ts';
import type { AuditTrail } from './ground/audit/trail.ts';
import type { DataLife } from './operations/data-life/data-life.ts';
import type { LiveFeed } from './operations/live/feed.ts';
import type { TrustedUsers } from './people/sign-in/trusted-proxies.ts';

/** The services that domain functions work with. Made once in start/compose.ts; tests make their own. */
export interface Deps {
  readonly settings: Settings;
  readonly storage: Storage;
  readonly audit: AuditTrail;
  /** What changes, for lists that are live. */
  readonly live: LiveFeed;
  readonly models: ModelRouter;
  readonly runs: RunEngine;
  /** Decides which drafts of agents may be published. */
  readonly gate: PublishGate;
  /** The tools of the service. */
  readonly tools: ToolRegistry;
  /** Sessions with MCP servers. */
  readonly mcp: McpServers;
  readonly knowledge: Knowledge;
  /** Reads exports of chats of other products. */
  readonly exportReader: ExportReader;
  readonly jobs: Jobs;
  /** The pools of places that callers of this process share. */
  readonly pools: Pools;
  /** The limits on the number of requests. */
  readonly rates: RateLimits;
  /** The limits of tokens, and budgets. */
  readonly limits: UsageLimits;
  readonly egress: Egress;
  readonly passwords: PasswordHasher;
  /** What this process counts of the deletion of old data. */
  readonly dataLife: DataLife;
  /** Proxies that name people. */
  readonly trustedUsers: Pick<TrustedUsers, 'header' | 'valueFrom'>;
  /** Providers of sign-ins. */
  readonly oidc: OidcProviders;
  /** Undefined without AUDIT_SINK_URL. */
  readonly auditSink: AuditSink | undefined;
  /** Undefined without SMTP_URL. */
  readonly mailer: Mailer | undefined;
  readonly logger: Logger;
  /** When this process began to open its services. */
  readonly startedAt: Date;
  /** Undefined while tracing is off. */
  readonly tracing?: Tracing | undefined;
  /** Base of links that Parley gives out, without a slash at the end. */
  publicUrl(): string;
  now(): Date;
  newId(kind: IdKind): string;
}
