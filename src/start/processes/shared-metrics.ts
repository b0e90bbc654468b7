import type { Metrics, MetricsText, MetricValues } from '../../http/log/metrics.ts';
import { toText } from '../../http/log/metrics.ts';
import type { Siblings } from './siblings.ts';

/** A process that has not answered by then is busy or has ended: the reply goes without its metrics. */
const answerMaxMs = 1_000;

interface Question {
  readonly id: number;
}
interface Answer extends Question {
  readonly values: MetricValues;
}
interface Waiting {
  readonly values: MetricValues[];
  readonly isDone: () => void;
  left: number;
}

/** The metrics of all processes of the service, whichever of them is asked. Each line says by the label `process` which one it is of. */
export function shareMetrics(metrics: Metrics, siblings: Siblings): () => Promise<MetricsText> {
  const waiting = new Map<number, Waiting>();
  let asked = 0;
  metrics.label({ process: String(siblings.number) });
  siblings.on('metrics-wanted', async (body, from) => {
    const { id } = body as Question;
    siblings.send(from, 'metrics', { id, values: await metrics.values() } satisfies Answer);
  });
  siblings.on('metrics', (body) => {
    const { id, values } = body as Answer;
    const question = waiting.get(id);
    if (question === undefined) return;
    question.values.push(values);
    question.left -= 1;
    if (question.left === 0) question.isDone();
  });
  return async () => {
    asked += 1;
    const id = asked;
    const { promise, resolve } = Promise.withResolvers<void>();
    const question: Waiting = { values: [], left: siblings.others.length, isDone: resolve };
    const timer = setTimeout(resolve, question.left === 0 ? 0 : answerMaxMs);
    waiting.set(id, question);
    siblings.send('others', 'metrics-wanted', { id } satisfies Question);
    const own = await metrics.values();
    await promise;
    clearTimeout(timer);
    waiting.delete(id);
    return toText([own, ...question.values]);
  };
}
