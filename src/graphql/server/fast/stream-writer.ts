// Fast path: writes a stream of one operation. The plain path is graphql-sse (../streams/protocol.ts).
import type { SseStream } from '../../../http/reply/sse.ts';
import type { OperationResults } from '../streams/operation-results.ts';

/** Writes each batch of results in one piece, and waits while the reader is slow. Resolves at the end, or when the reader is gone. */
export async function writeResults(results: OperationResults, stream: SseStream): Promise<void> {
  for (let batch = await results.nextBatch(); batch !== undefined; batch = await results.nextBatch()) {
    let frames = '';
    for (const result of batch) frames += `event: next\ndata: ${JSON.stringify(result)}\n\n`;
    const slow = stream.write(frames);
    if (slow !== undefined) await slow;
    if (stream.isClosed) return;
  }
  stream.end('event: complete\ndata:\n\n');
}
