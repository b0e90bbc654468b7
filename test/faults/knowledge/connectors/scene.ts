import { expect } from 'vitest';
import { connectedSources, type ItemReply } from '../../../support/knowledge/connected.ts';
import type { UpstreamKind } from '../../../support/knowledge/upstreams/kind.ts';
import type { Person } from '../../../support/make.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import type { TestBench } from '../../../support/service.ts';

export type Bench = Pick<TestBench, 'make' | 'service'>;

/** A source of one kind that was read once, with its three documents. */
export class Scene {
  readonly kind: UpstreamKind;
  readonly ann: Person;
  readonly id: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly service: Bench['service'];
  readonly #sources: ReturnType<typeof connectedSources>;
  #runs = 1;

  private constructor({ service }: Bench, kind: UpstreamKind, ann: Person, input: object, id: string) {
    this.service = service;
    this.#sources = connectedSources(service);
    this.kind = kind;
    this.ann = ann;
    this.input = input as Readonly<Record<string, unknown>>;
    this.id = id;
  }

  static async set(bench: Bench, kind: UpstreamKind, more: object = {}): Promise<Scene> {
    const ann = await bench.make.person();
    const agentId = (await bench.make.agent({ owner: ann })).id;
    const input = { ...(await kind.prepare(ann)), ...more };
    const { status, body } = await ann.post(`/api/v1/ais/${agentId}/data-sources/${kind.path}`, input);
    expect([status, body.error]).toEqual([200, undefined]);
    const scene = new Scene(bench, kind, ann, input, body.id ?? body.data[0].id);
    expect(await scene.run()).toMatchObject({ status: 'COMPLETED', addedCount: 3, failedCount: 0, isComplete: true });
    return scene;
  }

  /** The newest run, once it has ended. */
  run() {
    return this.#sources.run(this.ann, this.id, this.#runs);
  }

  /** Reads the source once more. @param isForced  lists everything and reads all contents. @returns the run. */
  async refresh(isForced = false) {
    await this.#sources.refresh(this.ann, this.id, isForced);
    return this.next();
  }

  /** The run that began by itself. */
  next() {
    this.#runs += 1;
    return this.run();
  }

  source() {
    return this.#sources.read(this.ann, this.id);
  }

  items(): Promise<readonly ItemReply[]> {
    return this.#sources.items(this.ann, this.id);
  }

  /** All text that answers are made from. */
  async text(): Promise<string> {
    return Object.values(await this.#sources.texts(this.id)).join('\n');
  }

  /** The item whose id or name fits. */
  async item(fits: RegExp): Promise<ItemReply | undefined> {
    return (await this.items()).find(({ uniqueId, name }) => fits.test(uniqueId) || fits.test(name));
  }

  /** The refresh went well and took the new price; nothing was lost. */
  async expectNewPrice(run: object): Promise<void> {
    expect(run).toMatchObject({ status: 'COMPLETED', failedCount: 0, removedCount: 0 });
    expect(await this.source()).toMatchObject({ indexStatus: 'INDEXED', errorCode: null });
    expect(await this.text()).toContain('twenty euros');
    await this.expectAllKept();
  }

  async expectAllKept(): Promise<void> {
    // Documents that a listing named before it failed may still be read.
    await eventually(async () => {
      const states = (await this.items()).map(({ indexStatus }) => indexStatus);
      expect(states).toEqual(['INDEXED', 'INDEXED', 'INDEXED']);
    });
    expect(await this.text()).toContain('opens at nine');
    expect(await this.text()).toContain('lathe needs goggles');
  }

  /** The faults are over: the next refresh is as any other. */
  async expectRecovery(): Promise<void> {
    this.kind.faults.recover();
    const run = await this.refresh(true);
    expect(run).toMatchObject({ status: 'COMPLETED', failedCount: 0, removedCount: 0, isComplete: true });
    expect(await this.source()).toMatchObject({ indexStatus: 'INDEXED', errorCode: null, errorMessage: null });
    await this.expectAllKept();
  }
}
