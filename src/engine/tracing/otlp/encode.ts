import type { AttributeValue } from '@opentelemetry/api';
import type { EndedSpan } from './span.ts';

/** Who sends the spans. */
export interface Sender {
  readonly serviceName: string;
  readonly version: string;
  /** Random; one for each start of a process. */
  readonly instanceId: string;
}

/**
 * The body of a request to `/v1/traces` in OTLP's JSON form: ids as hexadecimal text, 64-bit numbers as decimal text.
 *
 * Source: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
 */
export function encodeSpans(spans: readonly EndedSpan[], { serviceName, version, instanceId }: Sender): string {
  const resource = {
    'service.name': serviceName,
    'service.version': version,
    'service.instance.id': instanceId,
    'telemetry.sdk.name': 'parley',
    'telemetry.sdk.language': 'nodejs',
    'telemetry.sdk.version': version,
  };
  return JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: attributesOf(Object.entries(resource)) },
        scopeSpans: [{ scope: { name: 'parley', version }, spans: spans.map(spanOf) }],
      },
    ],
  });
}

function spanOf({ name, kind, context, parentSpanId, startMs, endMs, attributes, status }: EndedSpan): object {
  return {
    traceId: context.traceId,
    spanId: context.spanId,
    parentSpanId,
    flags: context.traceFlags,
    name,
    // OTLP counts from 1, for 0 means that the kind is not given.
    kind: kind + 1,
    startTimeUnixNano: nanoseconds(startMs),
    endTimeUnixNano: nanoseconds(endMs),
    attributes: attributesOf(attributes),
    status: { code: status.code },
  };
}

/** A double cannot hold the nanoseconds since the epoch. */
function nanoseconds(ms: number): string {
  const whole = Math.trunc(ms);
  return `${whole}${String(Math.trunc((ms - whole) * 1e6)).padStart(6, '0')}`;
}

function attributesOf(attributes: Iterable<readonly [string, AttributeValue]>): readonly object[] {
  return Array.from(attributes, ([key, value]) => ({ key, value: anyValueOf(value) }));
}

function anyValueOf(value: unknown): object {
  if (Array.isArray(value)) return { arrayValue: { values: value.map(anyValueOf) } };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value !== 'number') return { stringValue: String(value) };
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}
