import type { Connector, ConnectorServices } from '../connector.ts';
import { findRoot, listDrive } from '../drives/list.ts';
import { createDriveApi } from './api.ts';
import { fetchDriveA } from './fetch.ts';
import { driveAService } from './service.ts';

/** Reads Google Drive: a file, or a folder with its tree, in the person's own drive, shared with them, or in a shared drive. */
export function createDriveA(services: ConnectorServices): Connector {
  return {
    async *list(task) {
      const { source, signal } = task;
      const token = await services.tokens.open(String(source.data.oauthTokenId), source);
      const service = driveAService(createDriveApi(services, token, signal), services.settings.UPLOAD_MAX_BYTES);
      const root = await findRoot(service, { id: String(source.data.fileId), drive: undefined });
      return yield* listDrive(root === undefined ? undefined : { service, root }, task, () => services.now());
    },
    fetch: (task) => fetchDriveA(services, task),
  };
}
