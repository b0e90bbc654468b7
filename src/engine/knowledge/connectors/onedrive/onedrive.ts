import { readString } from '../../../../lib/json/json.ts';
import type { Connector, ConnectorServices, SyncedSource } from '../connector.ts';
import { findRoot, listDrive, type SourceRoot } from '../drives/list.ts';
import { createGraphApi, type GraphApi } from './api.ts';
import { type ItemRef, itemRef } from './item-ref.ts';
import { driveBService } from './service.ts';

/** Reads OneDrive and SharePoint libraries: a file, a folder with its tree, or a whole drive. */
export function createDriveB(services: ConnectorServices): Connector {
  const openApi = async (source: SyncedSource, signal: AbortSignal) =>
    createGraphApi(services, await services.tokens.open(String(source.data.oauthTokenId), source), signal);
  return {
    async *list(task) {
      const { source, signal } = task;
      const root = await rootOf(await openApi(source, signal), source, services.settings.UPLOAD_MAX_BYTES);
      return yield* listDrive(root, task, () => services.now());
    },
    async fetch({ source, item, path, bytesMax, signal }) {
      const api = await openApi(source, signal);
      const drive = readString(item.metadata.driveId) ?? readHome(source).drive;
      await services.vendors.download({ ...api.content(drive, item.uniqueId), owner: source, path, bytesMax }, signal);
      return {};
    },
  };
}

function readHome({ data }: SyncedSource): ItemRef {
  return itemRef(String(data.fileId), readString(data.driveId));
}

async function rootOf(api: GraphApi, source: SyncedSource, bytesMax: number): Promise<SourceRoot | undefined> {
  const { drive, id } = readHome(source);
  const service = driveBService(api, drive, bytesMax);
  const root = await findRoot(service, { id, drive: undefined });
  return root === undefined ? undefined : { service, root };
}
