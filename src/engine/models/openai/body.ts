import { membersOf } from '../../../lib/json.ts';
import type { ModelDelta } from '../port.ts';
import { ChunkReader } from './chunk-reader.ts';
import { malformed } from './errors.ts';

/** The deltas of an answer that came in one piece. @throws ModelError */
export function bodyDeltas(body: string, out: ModelDelta[]): void {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    throw malformed('it is not JSON');
  }
  const reader = new ChunkReader();
  reader.read(membersOf(parsed), out);
  reader.end(out);
}
