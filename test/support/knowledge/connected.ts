import { expect } from 'vitest';
import type { Person } from '../make.ts';
import { eventually } from '../processes/eventually.ts';
import type { TestService } from '../service.ts';

export interface ItemReply {
  readonly uniqueId: string;
  readonly parentUniqueId: string | null;
  readonly name: string;
  readonly indexStatus: string;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly originalContent: { readonly contentUrl: string | null };
}

/** A source of a connected kind, as its owner sees it over REST. */
export function connectedSources(service: TestService) {
  const read = async (who: Person, id: string) => (await who.get(`/api/v1/data-sources/${id}`)).body;
  return {
    read,
    async add(who: Person, aiId: string, kind: string, body: object): Promise<string> {
      const reply = await who.post(`/api/v1/ais/${aiId}/data-sources/${kind}`, body);
      expect(reply).toMatchObject({ status: 200, body: { warnings: [] } });
      return reply.body.id;
    },
    /** The newest of so many runs, once it has ended. */
    async run(who: Person, id: string, count: number) {
      return eventually(async () => {
        const { data } = (await who.get(`/api/v1/data-sources/${id}/runs`)).body;
        expect(data.length).toBe(count);
        expect(data[0].endedAt).toEqual(expect.any(String));
        return data[0];
      });
    },
    async refresh(who: Person, id: string, isForced = false): Promise<void> {
      const reply = await who.post(`/api/v1/data-sources/${id}/refresh?forceRefresh=${isForced}`);
      expect(reply.status).toBe(200);
    },
    async items(who: Person, id: string): Promise<readonly ItemReply[]> {
      const { data } = (await who.get(`/api/v1/data-sources/${id}/knowledge?first=100`)).body;
      return (data as ItemReply[]).toSorted((a, b) => (a.uniqueId < b.uniqueId ? -1 : 1));
    },
    /** The text that answers are made from, by the id of its item. */
    async texts(id: string): Promise<Readonly<Record<string, string>>> {
      const { rows } = await service.deps.storage.db.pool.query(
        `select i."uniqueId", string_agg(t.text, E'\n' order by c.id) as text
         from chunks c join chunk_texts t on t.chunk_id = c.id join knowledge_items i on i.id = c.item_id
         where i."dataSourceId" = $1 and c.generation = i."liveGeneration" group by i."uniqueId"`,
        [id],
      );
      return Object.fromEntries(rows.map(({ uniqueId, text }) => [uniqueId, text]));
    },
  };
}
