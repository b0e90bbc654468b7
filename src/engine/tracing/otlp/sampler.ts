import { type SpanContext, TraceFlags } from '@opentelemetry/api';
import type { Settings } from '../../../settings.ts';

export type SamplerName = Settings['OTEL_TRACES_SAMPLER'];

/** Whether a span is recorded. A span below one of this process always does as that one does. */
export type Sampler = (traceId: string, parent: SpanContext | undefined) => boolean;

/** @param ratio  part of the traces that the two `traceidratio` samplers record, 0 to 1. The same trace is recorded by every service with the same ratio. */
export function createSampler(name: SamplerName, ratio: number): Sampler {
  const isParentBased = name.startsWith('parentbased_');
  const root = rootSampler(name.replace('parentbased_', ''), ratio);
  return (traceId, parent) => {
    if (parent !== undefined && (isParentBased || parent.isRemote !== true))
      return (parent.traceFlags & TraceFlags.SAMPLED) !== 0;
    return root(traceId);
  };
}

function rootSampler(name: string, ratio: number): (traceId: string) => boolean {
  if (name === 'always_on') return () => true;
  if (name === 'always_off') return () => false;
  // As the samplers of OpenTelemetry do it: by the last seven bytes of the id, which are random.
  const limit = ratio * 2 ** 56;
  return (traceId) => Number.parseInt(traceId.slice(-14), 16) < limit;
}
