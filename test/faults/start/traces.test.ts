import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { type Collector, startCollector } from '../../support/apis/collector.ts';
import { TestClient } from '../../support/client.ts';
import { killProcesses, startProcess } from '../../support/processes/process.ts';
import { copyOf, type Place } from '../../support/storage/databases.ts';

const key = 'chosen-by-the-operator-40-characters-long';
/** Nothing is sent by itself while a test lasts. */
const delayMs = String(24 * 3_600_000);

describe('traces of a process', () => {
  let place: Place;
  let collector: Collector;
  beforeEach(async () => {
    place = await copyOf(inject('template'));
    collector = await startCollector();
  });
  afterEach(async () => {
    await killProcesses();
    await collector.close();
    await place.remove();
  });

  it('reach the collector at SIGTERM, also those that ended a moment before', async () => {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: delayMs };
    const parley = startProcess({ ...place.env, ...env, PARLEY_ADMIN_KEY: key });
    const url = await parley.url();
    const messages = [{ role: 'user', content: 'What is Parley?' }];
    const reply = await new TestClient(() => url, key).post('/api/v1/chat/completions', { model: 'parley/offline', messages });
    expect(reply.status).toBe(200);
    expect(collector.requestCount).toBe(0);
    expect(await parley.kill('SIGTERM')).toBe(0);
    expect(collector.faults).toEqual([]);
    expect(collector.spans.map(({ name }) => name).toSorted()).toEqual(
      ['POST /api/v1/chat/completions', 'chat parley/offline', 'createChatCompletion', 'run'].toSorted(),
    );
    expect(new Set(collector.spans.map(({ traceId }) => traceId)).size).toBe(1);
  });

  it('do not keep a process from ending when the collector does not answer', async () => {
    collector.answer('hang');
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '1' };
    const parley = startProcess({ ...place.env, ...env, PARLEY_ADMIN_KEY: key });
    const url = await parley.url();
    expect((await new TestClient(() => url, key).get('/api/v1/groups')).status).toBe(200);
    expect(await parley.kill('SIGTERM')).toBe(0);
    expect(parley.output()).toContain('stopped');
  });

  it.each([
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318'],
    ['OTEL_TRACES_SAMPLER', 'sometimes'],
    ['OTEL_TRACES_SAMPLER_ARG', '1.5'],
    ['OTEL_SDK_DISABLED', 'yes'],
  ])('are refused by name with a bad setting: %s', async (name, value) => {
    const parley = startProcess({ ...place.env, [name]: value });
    expect(await parley.ended()).toBe(1);
    expect(parley.output()).toContain(`${name} must be `);
  });

  it.each([
    ['no pair', 'CANARY-secret', 'must be name=value'],
    ['a header of the exporter', 'host=CANARY-secret', 'the exporter sets the header host itself'],
    ['bad escapes', 'api-key=CANARY-secret%', 'write % as %25'],
    ['two lines', 'api-key=CANARY-secret%0d%0a', 'must be printable ASCII'],
  ])('are refused with headers that cannot be sent, without showing them: %s', async (_case, value, says) => {
    const parley = startProcess({ ...place.env, OTEL_EXPORTER_OTLP_HEADERS: value });
    expect(await parley.ended()).toBe(1);
    expect(parley.output()).toContain('OTEL_EXPORTER_OTLP_HEADERS, pair 1');
    expect(parley.output()).toContain(says);
    expect(parley.output()).not.toContain('CANARY');
  });
});
