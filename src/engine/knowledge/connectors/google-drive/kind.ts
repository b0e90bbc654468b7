import { membersOf } from '../../../../lib/json/json.ts';
import { findText, toClient } from '../../connections/oauth-service.ts';
import { fileIdMember, filenameMember } from '../drives/members.ts';
import type { SourceKind } from '../kind.ts';
import { accountMember } from '../members.ts';
import { browseDriveA } from './browse.ts';
import { createDriveA } from './google-drive.ts';
import { googleDrivePermissions } from './permissions.ts';

export const googleDriveKind: SourceKind = {
  type: 'DRIVE_A',
  noun: 'DriveA',
  description: 'A cloud drive of the first kind.',
  content: 'A file or a folder of a drive of the first kind.',
  inputDescription: 'Files of a drive of the first kind: a source is made for each.',
  choiceDescription: 'Files of a drive of the first kind: a source for each, all or none.',
  members: { oauthTokenId: accountMember('DRIVE_A', {}), fileId: fileIdMember(), filename: filenameMember() },
  each: {
    name: 'files',
    noun: 'file',
    description: '1 to 100 files.',
    countMax: 100,
    type: 'DriveFileInput',
    typeDescription: 'A file or folder of a drive.',
    items: {
      id: { member: 'fileId', description: "The drive's own id of it." },
      name: { member: 'filename', description: 'Its name; the source is called so.' },
    },
  },
  sourceName: ({ filename }) => String(filename),
  account: {
    oauth: (settings) => ({
      name: 'Google Drive',
      authorizeUrl: settings.GOOGLE_AUTHORIZE_URL,
      tokenUrl: settings.GOOGLE_TOKEN_URL,
      client: toClient(settings.GOOGLE_CLIENT_ID, settings.GOOGLE_CLIENT_SECRET),
      clientSettings: 'GOOGLE_CLIENT_ID and GOOGLE_CLIENT_SECRET',
      scopes: ['https://www.googleapis.com/auth/drive.readonly'],
      usesPkce: true,
      format: 'form',
      // Without these, Google gives a refresh token at the first consent only.
      authorizeMembers: { access_type: 'offline', prompt: 'consent' },
    }),
    async name({ GOOGLE_API_URL }, ask) {
      const { user } = membersOf(await ask(`${GOOGLE_API_URL}/drive/v3/about?fields=user(displayName,emailAddress)`));
      const { emailAddress, displayName } = membersOf(user);
      return findText(emailAddress, displayName);
    },
  },
  browse: browseDriveA,
  permissions: googleDrivePermissions,
  open: createDriveA,
  route: {
    path: 'drive-a',
    summary: 'Add drive-A sources',
    description: 'One source for each file or folder, all or none. A folder brings all that is in it.',
    isInContract: true,
    example: {
      oauthTokenId: 'oat_01jd0000000000000000000000',
      files: [{ id: '1AbC', name: 'Handbook' }],
      dataRefreshPeriod: 'DAILY',
    },
  },
};
