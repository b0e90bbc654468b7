import type { RunEvent, RunSnapshot } from '../../entities/conversations/runs/event.ts';
import type { Citation } from '../../entities/knowledge/citation.ts';
import type { StreamEncoder } from '../ground/encoder.ts';
import { toRpcError } from './errors.ts';
import { answerName, type TaskPlace, toCitationParts, toFileArtifacts, toStatus } from './task.ts';

/** What a stream of a task begins with. */
export interface StreamStart {
  readonly place: TaskPlace;
  /** Of the request, as JSON. */
  readonly requestId: string | number;
  /** The task as it is, which the stream shows first. */
  readonly task: object;
  /** What the task has said so far. */
  readonly run: RunSnapshot | undefined;
  readonly now: () => Date;
}

/** Frames of the A2A protocol from the events of a response. Text is inserted as the JSON literal in which it came. */
export class TaskEncoder implements StreamEncoder {
  readonly #start: StreamStart;
  readonly #head: string;
  /** The artifacts of texts that have begun. */
  readonly #begun: Set<string>;
  /** What stands in front of the next delta of the artifact that is open. */
  #open: { readonly id: string; readonly head: string } | undefined;
  readonly #citations = new Map<string, Citation[]>();
  #isOver = false;

  constructor(start: StreamStart) {
    this.#start = start;
    this.#head = `data: {"jsonrpc":"2.0","id":${JSON.stringify(start.requestId)},`;
    this.#begun = new Set(start.run?.output.flatMap((item) => (item.type === 'message' && item.text !== '' ? [item.id] : [])));
  }

  /** The task as it is. */
  first(): string {
    return this.#frame({ task: this.#start.task });
  }

  encode(events: readonly RunEvent[]): string {
    let written = '';
    for (const event of events) {
      if (event.type === 'response.output_text.delta' && this.#open?.id === event.itemId)
        written += `${this.#open.head}${event.json}}]}}}}\n\n`;
      else written += this.#other(event);
    }
    return written;
  }

  end(): string {
    return '';
  }

  fail(error: unknown): string {
    if (this.#isOver) return '';
    this.#isOver = true;
    return `${this.#head}"error":${JSON.stringify(toRpcError(error))}}\n\n`;
  }

  #other(event: RunEvent): string {
    switch (event.type) {
      case 'response.in_progress':
        return this.#status(event.run);
      case 'response.output_text.delta':
        return this.#begin(event.itemId, event.json);
      case 'response.output_text.annotation.added': {
        const citations = this.#citations.get(event.itemId);
        if (citations === undefined) this.#citations.set(event.itemId, [event.citation]);
        else citations.push(event.citation);
        return '';
      }
      case 'response.output_item.done':
        return event.item.type === 'message' && this.#begun.has(event.item.id) ? this.#close(event.item.id) : '';
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
        return this.#last(event.run);
      default:
        return '';
    }
  }

  #begin(id: string, json: string): string {
    const append = this.#begun.has(id);
    this.#begun.add(id);
    this.#open = { id, head: this.#deltaHead(id, true) };
    return `${this.#deltaHead(id, append)}${json}}]}}}}\n\n`;
  }

  #deltaHead(id: string, append: boolean): string {
    const { taskId, contextId } = this.#start.place;
    const name = append ? '' : `"name":"${answerName}",`;
    return `${this.#head}"result":{"artifactUpdate":{"taskId":${JSON.stringify(taskId)},"contextId":${JSON.stringify(contextId)},"append":${append},"artifact":{"artifactId":${JSON.stringify(id)},${name}"parts":[{"text":`;
  }

  /** The last piece of a text: what it cites. */
  #close(artifactId: string): string {
    const parts = toCitationParts(this.#citations.get(artifactId) ?? []);
    const artifact = { artifactId, parts: parts.length === 0 ? [{ text: '' }] : parts };
    return this.#frame({ artifactUpdate: { ...this.#start.place, append: true, lastChunk: true, artifact } });
  }

  #last(run: RunSnapshot): string {
    const files = toFileArtifacts(run.output).map((artifact) =>
      this.#frame({ artifactUpdate: { ...this.#start.place, append: false, lastChunk: true, artifact } }),
    );
    this.#isOver = run.incompleteReason !== 'paused';
    return files.join('') + this.#status(run);
  }

  #status(run: RunSnapshot): string {
    const { place, now } = this.#start;
    const { incompleteReason } = run;
    const metadata = incompleteReason === null ? {} : { metadata: { incompleteReason } };
    return this.#frame({ statusUpdate: { ...place, status: toStatus(place, run, now()), ...metadata } });
  }

  #frame(result: object): string {
    return `${this.#head}"result":${JSON.stringify(result)}}\n\n`;
  }
}
