import { documents } from '@parley/client';
import { typed } from './client.ts';
import { compact, cost, count, duration } from './format.ts';
import { Panel } from './parts.tsx';
import { useLive } from './use-live.ts';

const query = typed(documents.RunStatisticsDocument);
const changes = typed(documents.RunsChangedDocument);
const dayMs = 86_400_000;
const days = 30;

/** The first of the days that are shown, in UTC. */
const since = new Date(Math.floor(Date.now() / dayMs) * dayMs - (days - 1) * dayMs);

/** What all runs of 30 days took and cost: figures, and a column a day. */
export function Figures() {
  const { data, error } = useLive(query, { filter: { since: since.toISOString() }, by: 'DAY' }, changes);
  const total = data?.runStatistics.total;
  const failedShare = total && total.runCount > 0 ? (100 * total.failedCount) / total.runCount : 0;
  return (
    <Panel id="figures" title="Last 30 days" error={error}>
      <dl className="tiles">
        <Tile name="Runs" value={total && count(total.runCount)} note={total && `${count(total.activeCount)} active`} />
        <Tile name="Failed" value={total && `${failedShare.toFixed(1)} %`} note={total && `${count(total.failedCount)} runs`} />
        <Tile name="Cost" value={total && cost(total.cost)} note={total && `${count(total.unpricedCount)} without a price`} />
        <Tile
          name="First token"
          value={total && duration(total.firstTokenMs?.p50)}
          note={total && `p95 ${duration(total.firstTokenMs?.p95)}`}
        />
        <Tile name="Rated good" value={total && count(total.ratedUpCount)} note={total && `${count(total.ratedDownCount)} bad`} />
        <Tile name="Nothing found" value={total && count(total.nothingFoundCount)} note="questions without an answer" />
      </dl>
      {data && <Columns groups={data.runStatistics.groups} />}
    </Panel>
  );
}

function Tile({ name, value = '…', note = '' }: { name: string; value?: string | undefined; note?: string | undefined }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
      <dd className="note">{note}</dd>
    </div>
  );
}

type Day = documents.RunStatisticsQuery['runStatistics']['groups'][number];

/** Tokens by day: input below, output on top. Days without a run have no group, and an empty place here. */
function Columns({ groups }: { groups: readonly Day[] }) {
  const byDay = new Map(groups.map((group) => [group.startsAt?.slice(0, 10), group.figures]));
  const shown = Array.from({ length: days }, (_, index) => new Date(since.getTime() + index * dayMs).toISOString().slice(0, 10));
  const most = Math.max(1, ...groups.map(({ figures }) => figures.inputTokens + figures.outputTokens));
  return (
    <figure>
      <svg
        viewBox={`0 0 ${days * 10} 100`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Tokens by day, at most ${count(most)}`}
      >
        {shown.map((day, index) => {
          const { inputTokens = 0, outputTokens = 0, runCount = 0 } = byDay.get(day) ?? {};
          const [input, output] = [(100 * inputTokens) / most, (100 * outputTokens) / most];
          return (
            <g key={day}>
              <title>{`${day}: ${count(inputTokens)} tokens in, ${count(outputTokens)} out, ${count(runCount)} runs`}</title>
              <rect className="place" x={index * 10 + 1} y={0} width={8} height={100} />
              <rect className="input" x={index * 10 + 1} y={100 - input} width={8} height={input} />
              <rect className="output" x={index * 10 + 1} y={100 - input - output} width={8} height={output} />
            </g>
          );
        })}
      </svg>
      <figcaption>
        <span>{shown[0]}</span>
        <span>
          <i className="input" /> input <i className="output" /> output tokens, at most {compact(most)} a day
        </span>
        <span>{shown.at(-1)}</span>
      </figcaption>
    </figure>
  );
}
