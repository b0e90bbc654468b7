import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { firstEvents, startPlaced } from '../../../src/domain/conversations/runs/thread.ts';
import type { Deps } from '../../../src/domain/deps.ts';
import type { StoredRequest } from '../../../src/engine/runs/stored/request.ts';
import { newMessageDefaults, type ThreadMode } from '../../../src/entities/conversations/chats/chat.ts';
import { isLast, type RunEvent } from '../../../src/entities/conversations/runs/event.ts';
import { makeId } from '../../../src/entities/ground/ids.ts';
import type { Settings } from '../../../src/settings.ts';
import { testSettings } from '../../support/settings.ts';
import { modelId, type Script, SimulatedModels } from './models.ts';
import { SimulatedNetwork } from './network.ts';
import { type SimulatedParley, startParley } from './parley.ts';
import { PermissionWorld } from './permissions.ts';
import { Choices } from './random.ts';
import type { SimulatedServer } from './server.ts';
import { Host, type Timeline } from './timeline.ts';
import type { EffectSeen, ToolWorld } from './tools.ts';

/** What people do in a world: talk to models, or search documents whose permissions change. Each by itself, so that a world stays small. */
export const worldKinds = ['runs', 'permissions'] as const;
export type WorldKind = (typeof worldKinds)[number];

/** What happens in one world: chosen by its seed. */
export interface Plan {
  readonly processes: number;
  readonly chats: number;
  readonly messages: number;
  readonly crashes: number;
  readonly stops: number;
  /** Share of calls with effects in which the process dies. */
  readonly deadlyShare: number;
  readonly cutShare: number;
  readonly stallShare: number;
  readonly lossShare: number;
  readonly skewMs: number;
  /** Of the organization; undefined: none. */
  readonly tokenLimit: number | undefined;
  /** Of the person. */
  readonly budget: number | undefined;
}

export function planFor(choices: Choices): Plan {
  const isWild = choices.chance(0.7);
  return {
    processes: choices.between(1, 3),
    chats: choices.between(1, 4),
    messages: choices.between(3, 9),
    crashes: isWild ? choices.between(0, 3) : 0,
    deadlyShare: isWild && choices.chance(0.5) ? choices.fraction * 0.5 : 0,
    stops: isWild ? choices.between(0, 2) : 0,
    cutShare: isWild && choices.chance(0.6) ? choices.fraction * 0.06 : 0,
    stallShare: isWild && choices.chance(0.5) ? choices.fraction * 0.05 : 0,
    lossShare: isWild && choices.chance(0.5) ? choices.fraction * 0.3 : 0,
    skewMs: choices.chance(0.5) ? choices.between(0, 4_000) : 0,
    tokenLimit: choices.chance(0.5) ? choices.between(60, 400) : undefined,
    budget: choices.chance(0.3) ? choices.between(60, 400) : undefined,
  };
}

/** How long the world is troubled, and how long it may then take to come to rest. */
const troubledMs = 8_000;
const calmMs = 150_000;
const leaseMs = 2_000;
const usageLeaseMs = 3_000;

const settings: Settings = testSettings({
  DATA_DIR: '/nowhere',
  RUN_LEASE_MS: String(leaseMs),
  USAGE_LEASE_MS: String(usageLeaseMs),
  RUN_TIMEOUT_MS: '60000',
  INDEX_LEASE_MS: String(leaseMs),
  PARLEY_MASTER_KEY: 'a master key of a world that has no secrets',
});

/** A message that somebody sent. */
export interface Sent {
  readonly messageId: string;
  readonly chatId: string;
  /** That of the request; another one may answer it. */
  readonly runId: string;
  readonly script: Script;
  /** What the sender was told; undefined: nothing, the connection broke. */
  told: string | undefined;
}

/** What one reader of a run got. */
export interface Reading {
  readonly runId: string;
  readonly events: RunEvent[];
  isOver: boolean;
}

/** One world: some processes of Parley, the database between them, people who use them, and what goes wrong. */
export class World {
  readonly seed: number;
  readonly plan: Plan;
  readonly timeline: Timeline;
  readonly server: SimulatedServer;
  readonly models: SimulatedModels;
  readonly effects: EffectSeen[] = [];
  readonly sent: Sent[] = [];
  readonly readings: Reading[] = [];
  /** Runs of which a process said that it has cut them off, and when. */
  readonly cutOff: { readonly runId: string; readonly atMs: number }[] = [];
  /** What no oracle need find: it was noticed on the way. */
  readonly faults: string[] = [];
  readonly orgId: string;
  readonly tenantId: string;
  readonly userId: string;
  readonly keyId: string;
  readonly budgetId: string | undefined;
  /** Undefined in a world of runs. */
  readonly permissions: PermissionWorld | undefined;
  readonly #choices: Choices;
  readonly #network: SimulatedNetwork;
  readonly #folder = mkdtempSync(join(tmpdir(), 'parley-world-disk-'));
  readonly #chatIds: string[] = [];
  #living: SimulatedParley[] = [];
  #hosts = 0;
  #isTroubled = true;
  /** Statements until the next crash that comes between two statements. */
  #statementsToCrash = Number.POSITIVE_INFINITY;
  #tokenLimit: number | undefined;

  constructor(seed: number, timeline: Timeline, server: SimulatedServer, kind: WorldKind) {
    this.seed = seed;
    this.timeline = timeline;
    this.server = server;
    this.#choices = new Choices(seed);
    this.plan = planFor(new Choices(seed + 0x5eed));
    this.models = new SimulatedModels(new Choices(seed + 1), () => timeline.nowMs);
    this.#network = new SimulatedNetwork(timeline, new Choices(seed + 2), this.plan.lossShare);
    const id = (kind: Parameters<typeof makeId>[0]) => makeId(kind, Date.now());
    [this.orgId, this.tenantId, this.userId, this.keyId] = [id('organization'), id('tenant'), id('user'), id('apiKey')];
    this.budgetId = this.plan.budget === undefined ? undefined : id('budget');
    this.#tokenLimit = this.plan.tokenLimit;
    const { orgId, tenantId } = this;
    this.permissions =
      kind === 'runs'
        ? undefined
        : new PermissionWorld({ seed, timeline, server, settings, orgId, tenantId, living: () => this.#living });
  }

  /** The limit of the organization now. */
  get tokenLimit(): number | undefined {
    return this.#tokenLimit;
  }

  get living(): readonly SimulatedParley[] {
    return this.#living;
  }

  /** Lives through the troubled time, then waits for rest. @returns whether every run came to its end. */
  async live(): Promise<boolean> {
    const { timeline, server, plan } = this;
    await this.#makePeople();
    for (let count = 0; count < plan.processes; count += 1) this.#start();
    await timeline.pass(5_000, () => this.#living.length === plan.processes);
    this.#makeTrouble();
    if (this.permissions === undefined) this.#beBusy();
    else this.permissions.beBusy(troubledMs);
    await timeline.pass(troubledMs, () => false);
    this.#isTroubled = false;
    server.weather = this.#weather(true);
    // One that begins in calm times writes the usage that dead processes left.
    for (let count = this.#living.length; count < plan.processes + 1; count += 1) this.#start();
    this.permissions?.rest();
    let isAtRest = false;
    const look = async () => {
      const [row] = await server.look<{ open: number }>(
        `select count(*)::int as open from runs where "orgId" = $1 and status = 'in_progress'`,
        [this.orgId],
      );
      isAtRest = row?.open === 0 && this.readings.every(({ isOver }) => isOver);
      if (!isAtRest) timeline.after(500, () => void look());
    };
    timeline.after(500, () => void look());
    const wasAtRest = await timeline.pass(calmMs, () => isAtRest && this.permissions?.isRead !== false);
    // The ledger writes twice a second, and leases of reservations end.
    await timeline.pass(2 * usageLeaseMs + 3_000, () => false);
    this.permissions?.searchEverywhere();
    await timeline.pass(5_000, () => this.permissions?.isAnswered !== false);
    // The oracle reads between transactions, while time stands still.
    await timeline.pass(60_000, () => !server.isHeld);
    return wasAtRest;
  }

  async end(): Promise<void> {
    for (const { host } of this.#living) host.isDead = true;
    for (const { host } of this.#living) await this.server.kill(host);
    this.server.weather = undefined;
    this.timeline.clear();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #makePeople(): Promise<void> {
    const { server, orgId, tenantId, userId, keyId, plan } = this;
    server.weather = undefined;
    const put = (text: string, ...values: readonly unknown[]) => server.look(text, values);
    await put(`insert into tenants (id, name, "updatedAt") values ($1, 'world', now())`, tenantId);
    await put(
      `insert into organizations (id, "tenantId", name, "apiUsageTokenLimit", "updatedAt") values ($1, $2, 'world', $3, now())`,
      orgId,
      tenantId,
      plan.tokenLimit ?? null,
    );
    await put(
      `insert into users (id, "tenantId", email, name, "updatedAt") values ($1, $2, $3, 'one', now())`,
      userId,
      tenantId,
      `${userId}@world.invalid`,
    );
    await put(
      `insert into memberships (id, "orgId", "userId") values ($1, $2, $3)`,
      makeId('membership', Date.now()),
      orgId,
      userId,
    );
    await put(
      `insert into api_keys (id, "updatedAt", "orgId", "userId", name, scopes, prefix, hash) values ($1, now(), $2, $3, 'key', '{}', 'x', $1)`,
      keyId,
      orgId,
      userId,
    );
    if (this.budgetId !== undefined) {
      await put(
        `insert into budgets (id, "updatedAt", "orgId", subject, "subjectId", period, unit, amount) values ($1, now(), $2, 'USER', $3, 'DAY', 'TOKENS', $4)`,
        ...[this.budgetId, orgId, userId, plan.budget],
      );
    }
    for (let count = 0; count < plan.chats; count += 1) {
      const chatId = makeId('chat', Date.now());
      this.#chatIds.push(chatId);
      await put(
        `insert into chats (id, "orgId", "userId", "modelId", name, "updatedAt", "isVisibleToEditors") values ($1, $2, $3, $4, '', now(), false)`,
        ...[chatId, orgId, userId, modelId],
      );
    }
    await this.permissions?.begin(put);
    server.weather = this.#weather(false);
  }

  #weather(isCalm: boolean) {
    const { plan } = this;
    return {
      choices: new Choices(this.seed + (isCalm ? 4 : 3)),
      cutShare: isCalm ? 0 : plan.cutShare,
      stallShare: isCalm ? 0 : plan.stallShare,
      stallMs: 3 * leaseMs,
      afterStatement: (host: Host) => this.#crashBetweenStatements(host),
    };
  }

  /** Starts a process; it takes part once it is up. */
  #start(): void {
    this.#hosts += 1;
    const skewMs = Math.round((this.#choices.fraction - 0.5) * 2 * this.plan.skewMs);
    const host = new Host(`process ${this.#hosts}`, skewMs);
    const { timeline, server, models, plan } = this;
    timeline.add(host);
    const tools: ToolWorld = {
      noteEffect: (seen) => {
        this.effects.push(seen);
        if (!this.#isTroubled || !this.#choices.chance(plan.deadlyShare)) return;
        const parley = this.#living.find((other) => other.host === host);
        if (parley !== undefined) timeline.after(this.#choices.fraction * 20, () => this.#crash(parley));
      },
      nowMs: () => timeline.nowMs,
      duration: () => this.#choices.fraction * 400,
    };
    const parts = { timeline, server, network: this.#network, models, tools, settings, folder: this.#folder, blockTokens: 40 };
    const begin = (isTroubled: boolean) =>
      startParley(host, parts).then(
        (parley) => {
          if (!host.isDead) this.#living.push(parley);
        },
        // As a supervisor does with a process that could not start: one that began in troubled times may fail after them.
        async (error: unknown) => {
          if (host.isDead) return;
          if (!isTroubled) this.faults.push(`a process could not start: ${String(error)}`);
          await this.#bury(host);
          timeline.after(500, () => this.#start());
        },
      );
    timeline.after(0, () => timeline.in(host, () => void begin(this.#isTroubled)));
  }

  async #crash(parley: SimulatedParley): Promise<void> {
    if (parley.host.isDead) return;
    await this.#bury(parley.host);
    this.timeline.after(this.#choices.between(50, 4_000), () => this.#start());
  }

  /** What it was at ends in the middle. */
  async #bury(host: Host): Promise<void> {
    host.isDead = true;
    this.#living = this.#living.filter((other) => other.host !== host);
    await this.server.kill(host);
    this.#network.leave(host);
  }

  #crashBetweenStatements(host: Host): void {
    this.#statementsToCrash -= 1;
    if (this.#statementsToCrash > 0) return;
    this.#statementsToCrash = Number.POSITIVE_INFINITY;
    const parley = this.#living.find((other) => other.host === host);
    // At once: not even the answer of the statement arrives.
    if (parley !== undefined) this.timeline.after(0, () => this.#crash(parley));
  }

  #makeTrouble(): void {
    const { timeline, plan } = this;
    const choices = this.#choices;
    for (let count = 0; count < plan.crashes; count += 1) {
      timeline.after(choices.fraction * troubledMs, () => {
        if (this.#living.length === 0) return undefined;
        if (choices.chance(0.5)) return this.#crash(choices.one(this.#living));
        this.#statementsToCrash = choices.between(1, 12);
        return undefined;
      });
    }
    for (let count = 0; count < plan.stops; count += 1) {
      timeline.after(choices.fraction * troubledMs, () => {
        if (this.#living.length === 0) return;
        // The machine of a process stands still for longer than a lease.
        choices.one(this.#living).host.stoppedUntilMs = timeline.nowMs + choices.between(leaseMs / 2, 3 * leaseMs);
      });
    }
    if (plan.tokenLimit !== undefined && choices.chance(0.5)) {
      timeline.after(choices.fraction * troubledMs, () => {
        const limit = choices.between(plan.tokenLimit ?? 0, 600);
        this.#tokenLimit = limit;
        void this.server.look('update organizations set "apiUsageTokenLimit" = $2 where id = $1', [this.orgId, limit]);
      });
    }
  }

  #beBusy(): void {
    for (let count = 0; count < this.plan.messages; count += 1) {
      const atMs = this.#choices.fraction * troubledMs;
      this.timeline.after(atMs, () => this.#useOne((parley) => this.#send(parley)));
    }
  }

  /** Somebody asks a process. It may die meanwhile: nobody waits for it here. */
  #useOne(act: (parley: SimulatedParley) => Promise<void>): void {
    if (this.#living.length === 0) return;
    const parley = this.#choices.one(this.#living);
    this.timeline.after(0, () => this.timeline.in(parley.host, () => void act(parley)), parley.host);
  }

  async #send({ storage, runs }: SimulatedParley): Promise<void> {
    const choices = this.#choices;
    const chatId = choices.one(this.#chatIds);
    const calls = Array.from({ length: choices.between(0, 3) }, () => choices.one(['effect', 'effect', 'look'] as const));
    const script: Script = {
      ...{ calls, words: choices.between(1, 25), pauseMs: choices.between(5, 120) },
      ...(choices.chance(0.1) ? { failsInRound: choices.between(0, calls.length) } : {}),
    };
    const mode: ThreadMode = choices.one(['collect', 'steer', 'interrupt', 'force']);
    const createdAt = new Date();
    const request: StoredRequest = {
      ...{ instructions: '', tools: [], knowledge: null, generateCitations: false, hidesSteps: false, chatName: 'chat' },
      parameters: { maxTokens: 30 },
      serviceTools: [
        { type: 'sandbox', options: {} },
        { type: 'spreadsheet', options: {} },
      ],
      chatMode: 'auto',
    };
    const run = {
      ...{ id: makeId('run', Date.now()), createdAt, orgId: this.orgId, userId: this.userId, keyId: this.keyId },
      ...{ agentId: null, agentVersion: null, chatId, modelId, request },
    };
    const message = {
      ...newMessageDefaults,
      ...{ id: makeId('message', Date.now()), createdAt, runId: run.id, role: 'user' as const, content: JSON.stringify(script) },
      ...{ parts: null, toolCallId: null, toolStatus: null },
    };
    const sent: Sent = { messageId: message.id, chatId, runId: run.id, script, told: undefined };
    this.sent.push(sent);
    try {
      await runs.requireRoom({ tenantId: this.tenantId, orgId: this.orgId, userId: this.userId, keyId: this.keyId });
      const result = await storage.conversations.threads.begin({
        ...{ run, events: firstEvents(run.id, []), messages: [message], items: [], previousId: null, approvalIds: [] },
        ...{
          mustBeNewest: false,
          isBackground: true,
          mode,
          chatMode: 'auto',
          batchKey: 'one',
          waitingMax: 5,
          leaseMs,
          holder: null,
        },
      });
      sent.told = result.kind;
      if (result.kind === 'started' || result.kind === 'waiting' || result.kind === 'attached') {
        this.#readAlong(result.kind === 'attached' ? result.runId : run.id);
        await startPlaced({ runs, logger: pino({ level: 'silent' }) } as unknown as Deps, run.id, {}, result);
        if (result.kind === 'waiting' && result.stop?.how === 'force')
          this.cutOff.push({ runId: result.stop.runId, atMs: this.timeline.databaseMs });
      }
      if (choices.chance(0.15)) await runs.cancel(run.id);
    } catch {
      // The sender does not know what became of it.
    }
  }

  /** Follows a run to its end, at whatever process is there. */
  #readAlong(runId: string): void {
    const reading: Reading = { runId, events: [], isOver: false };
    this.readings.push(reading);
    const begin = () => {
      if (reading.isOver) return;
      if (this.#living.length === 0) {
        this.timeline.after(200, begin);
        return;
      }
      const parley = this.#choices.one(this.#living);
      const leaving = new AbortController();
      let isHere = true;
      // Readers leave and come back, and notice within a while that a process is gone.
      const leave = () => {
        if (!isHere) return;
        isHere = false;
        leaving.abort();
        if (!reading.isOver) this.timeline.after(10, begin);
      };
      this.timeline.after(this.#choices.between(500, 6_000), leave);
      const read = async () => {
        try {
          const after = reading.events.at(-1)?.sequence ?? -1;
          for await (const batch of parley.runs.follow(runId, after, leaving.signal).batches()) {
            if (!isHere) return;
            reading.events.push(...batch);
          }
          const last = reading.events.at(-1);
          if (isHere && last !== undefined && isLast(last)) reading.isOver = true;
        } catch {
          // The reader comes back.
        }
        leave();
      };
      this.timeline.after(0, () => this.timeline.in(parley.host, () => void read()), parley.host);
    };
    begin();
  }
}
