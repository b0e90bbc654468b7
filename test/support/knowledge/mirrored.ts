import { expect } from 'vitest';
import { queuePermissions } from '../../../src/engine/knowledge/queue.ts';
import type { GoogleDrive } from '../../fixtures/upstreams/google-drive.ts';
import type { Person } from '../make.ts';
import { eventually } from '../processes/eventually.ts';
import type { TestService } from '../service.ts';
import { connectedSources } from './connected.ts';

/** The settings of a service that reads a stand-in of Google Drive. */
export function googleSettings({ url }: GoogleDrive) {
  return {
    ...{ GOOGLE_API_URL: url, GOOGLE_TOKEN_URL: `${url}/token`, GOOGLE_CLIENT_ID: 'id', GOOGLE_CLIENT_SECRET: 'secret' },
    EGRESS_ALLOW: '127.0.0.1',
  };
}

/** Sources of Google Drive whose permissions are mirrored. */
export function mirroredSources(service: TestService, google: GoogleDrive) {
  const { prisma } = service.deps.storage.db;
  const readingOf = (dataSourceId: string) => prisma.permissionReading.findUnique({ where: { dataSourceId } });
  /** Has the permissions read once more, and waits for the end. */
  async function read(id: string): Promise<void> {
    const before = await readingOf(id);
    const source = await prisma.dataSource.findUniqueOrThrow({ where: { id }, select: { orgId: true, organization: true } });
    const { orgId, organization } = source;
    await queuePermissions(service.deps.jobs, [{ id, orgId, tenantId: organization.tenantId }]);
    await eventually(async () => {
      const reading = await readingOf(id);
      expect(reading).toMatchObject({ leaseOwner: null, failedAt: null });
      expect(reading?.readAt?.getTime()).not.toBe(before?.readAt?.getTime());
    });
  }
  return {
    read,
    /** An account of the person at the stand-in. */
    async connect(who: Person, accountName: string): Promise<string> {
      const { access: accessToken, refresh: refreshToken } = google.tokens;
      const { body } = await who.post('/api/v1/connections', { provider: 'DRIVE_A', accountName, accessToken, refreshToken });
      return body.id;
    },
    /** Adds a folder to an agent, and waits until its documents and its permissions are read. */
    async add(who: Person, agentId: string, oauthTokenId: string, folder: { readonly id: string; readonly name: string }) {
      const body = { oauthTokenId, files: [folder], access: 'MIRRORED' };
      const id: string = (await who.post(`/api/v1/ais/${agentId}/data-sources/drive-a`, body)).body.data[0].id;
      await connectedSources(service).run(who, id, 1);
      await read(id);
      return id;
    },
    /** Their e-mails are proven, as by a sign-in. */
    async verify(...people: readonly Person[]): Promise<void> {
      const ids = people.map(({ userId }) => userId);
      await prisma.user.updateMany({ where: { id: { in: ids } }, data: { emailVerifiedAt: new Date() } });
    },
  };
}
