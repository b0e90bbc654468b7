import { eventStream } from '../../../engine/runs/events/stream.ts';
import type { RunEvent, RunEventStream, RunItem } from '../../../entities/conversations/runs/event.ts';
import { type Citation, closeCitation } from '../../../entities/knowledge/citation.ts';
import type { Reader } from '../../../storage/knowledge/permissions/open-rules.ts';
import type { Deps } from '../../deps.ts';
import { findOpenItems, type NamedItem } from './open-items.ts';

/**
 * The events of a run as a reader may see them: of citations of documents that the reader may not open, only the number and the place; of searches, the
 * titles of the others.
 *
 * Cost: none where no source is MIRRORED; else a statement for a batch of events that names documents.
 */
export function closeEvents(deps: Pick<Deps, 'storage'>, reader: Reader, events: RunEventStream): RunEventStream {
  return eventStream(closeBatches(deps, reader, events));
}

async function* closeBatches(
  deps: Pick<Deps, 'storage'>,
  reader: Reader,
  events: RunEventStream,
): AsyncGenerator<readonly RunEvent[]> {
  for await (const batch of events.batches()) {
    const documents = batch.flatMap(listDocuments);
    const isOpen = documents.length === 0 ? [] : await findOpenItems(deps, reader, documents);
    const closedIds = new Set(
      documents.flatMap(({ knowledgeItemId }, index) => (isOpen[index] === true ? [] : [knowledgeItemId])),
    );
    yield closedIds.size === 0 ? batch : batch.map((event) => closeEvent(event, closedIds));
  }
}

/** Of a search in an old log, which has the titles alone. */
const unknownDocument: NamedItem = { knowledgeItemId: null, dataSourceId: null };

function listDocuments(event: RunEvent): readonly NamedItem[] {
  switch (event.type) {
    case 'response.output_text.annotation.added':
      return [event.citation];
    case 'response.content_part.done':
      return event.citations;
    case 'response.output_item.added':
    case 'response.output_item.done':
      return listCitations(event.item);
    case 'parley.step':
      return event.detail.documents ?? ((event.detail.titles ?? []).length > 0 ? [unknownDocument] : []);
    default:
      return 'run' in event ? event.run.output.flatMap(listCitations) : [];
  }
}

function listCitations(item: RunItem): readonly Citation[] {
  return item.type === 'message' ? item.citations : [];
}

function closeEvent(event: RunEvent, closedIds: ReadonlySet<string | null>): RunEvent {
  const close = (citation: Citation) => (closedIds.has(citation.knowledgeItemId) ? closeCitation(citation) : citation);
  const closeItem = (item: RunItem): RunItem =>
    item.type === 'message' ? { ...item, citations: item.citations.map(close) } : item;
  switch (event.type) {
    case 'response.output_text.annotation.added':
      return { ...event, citation: close(event.citation) };
    case 'response.content_part.done':
      return { ...event, citations: event.citations.map(close) };
    case 'response.output_item.added':
    case 'response.output_item.done':
      return { ...event, item: closeItem(event.item) };
    case 'parley.step': {
      if (event.detail.documents === undefined && !closedIds.has(null)) return event;
      const visibleDocuments = (event.detail.documents ?? []).filter(({ knowledgeItemId }) => !closedIds.has(knowledgeItemId));
      const titles = [...new Set(visibleDocuments.map(({ title }) => title))];
      return { ...event, detail: { ...event.detail, titles, documents: visibleDocuments } };
    }
    default:
      return 'run' in event ? { ...event, run: { ...event.run, output: event.run.output.map(closeItem) } } : event;
  }
}
