import { expect } from 'vitest';
import type { WireEvent } from './response-walk.ts';

/** Levels below a run. */
const depthMax = 3;

/** Rules for subagents: they exist between the `in_progress` of their call and its end, on up to three levels; each started one is completed once. */
export class SubagentWalk {
  /** Tokens of completed subagents of the first level, which include those below: a part of the usage of the response. */
  tokens = 0;
  private isCallRunning = false;
  private readonly ids = new Set<string>();
  private readonly open = new Map<string, { readonly subagent: WireEvent; progress: number }>();

  /** Takes every event within an item, and the item's end. */
  take(event: WireEvent): void {
    if (event.type.startsWith('response.subagent.')) {
      expect(this.isCallRunning, `${event.type} outside of a call`).toBe(true);
      if (event.type === 'response.subagent.started') this.started(event.subagent);
      else if (event.type === 'response.subagent.progress') this.progress(event);
      else this.completed(event.subagent);
    } else if (!event.type.startsWith('response.server_tool_call_arguments.')) {
      expect([...this.open.keys()], `open subagents at ${event.type}`).toEqual([]);
      this.isCallRunning = event.type === 'response.server_tool_call.in_progress';
    }
  }

  private started(subagent: WireEvent): void {
    const above = subagent.parent_id === null ? undefined : this.open.get(subagent.parent_id);
    if (subagent.parent_id !== null && above === undefined) throw new Error('a subagent below one that is not open');
    const depth = (above?.subagent.depth ?? 0) + 1;
    expect(depth).toBeLessThanOrEqual(depthMax);
    expect(subagent).toEqual({
      ...{
        id: expect.stringMatching(/^sub_\w+$/),
        name: expect.stringMatching(/./),
        parent_id: above?.subagent.id ?? null,
        depth,
      },
      ...{ agent_id: subagent.agent_id && expect.any(String), task: expect.stringMatching(/./), status: 'in_progress' },
    });
    expect(this.ids.has(subagent.id)).toBe(false);
    this.ids.add(subagent.id);
    this.open.set(subagent.id, { subagent, progress: 0 });
  }

  private progress({ subagent_id: id, message, progress, usage, ...rest }: WireEvent): void {
    const open = this.open.get(id);
    if (open === undefined) throw new Error('progress of a subagent that is not open');
    expect(Object.keys(rest).sort()).toEqual(['item_id', 'output_index', 'sequence_number', 'type']);
    expect(message).toMatch(/./);
    expect(usage === null || usage.total_tokens >= 0).toBe(true);
    if (progress === null) return;
    expect(progress).toBeGreaterThanOrEqual(open.progress);
    expect(progress).toBeLessThanOrEqual(1);
    open.progress = progress;
  }

  private completed({ status, summary, usage, ...rest }: WireEvent): void {
    const open = this.open.get(rest.id);
    if (open === undefined) throw new Error('completed without a subagent that is open');
    const { status: _status, ...known } = open.subagent;
    expect(rest).toEqual(known);
    expect(['completed', 'failed', 'cancelled']).toContain(status);
    expect(summary).toMatch(/./);
    const below = [...this.open.values()].filter(({ subagent }) => subagent.parent_id === rest.id);
    expect(below, 'open below a completed subagent').toEqual([]);
    if (rest.depth === 1) this.tokens += usage?.total_tokens ?? 0;
    this.open.delete(rest.id);
  }
}
