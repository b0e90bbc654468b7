import { membersOf } from '../../../../lib/json/json.ts';
import { findText, toClient } from '../../connections/oauth-service.ts';
import { fileIdMember, filenameMember } from '../drives/members.ts';
import type { SourceKind } from '../kind.ts';
import { accountMember, nameReader, textMember } from '../members.ts';
import { browseDriveB } from './browse.ts';
import { createDriveB } from './onedrive.ts';
import { oneDrivePermissions } from './permissions.ts';

export const oneDriveKind: SourceKind = {
  type: 'DRIVE_B',
  noun: 'DriveB',
  description: 'A cloud drive of the second kind.',
  content: 'A file or a folder of a drive of the second kind.',
  members: {
    oauthTokenId: accountMember('DRIVE_B'),
    fileId: fileIdMember("The drive's own id of the file, or of a folder: then all that is in it."),
    filename: filenameMember('Its name; the source is called so.'),
    driveId: textMember(
      {
        input: "The drive's own id, such as that of a shared library. Default: the drive of the account.",
        setting: "The drive's own id; null for the drive of the account.",
      },
      nameReader,
    ),
  },
  sourceName: ({ filename }) => String(filename),
  account: {
    oauth: (settings) => ({
      name: 'OneDrive',
      authorizeUrl: settings.MICROSOFT_AUTHORIZE_URL,
      tokenUrl: settings.MICROSOFT_TOKEN_URL,
      client: toClient(settings.MICROSOFT_CLIENT_ID, settings.MICROSOFT_CLIENT_SECRET),
      clientSettings: 'MICROSOFT_CLIENT_ID and MICROSOFT_CLIENT_SECRET',
      scopes: ['offline_access', 'User.Read', 'Files.Read.All'],
      usesPkce: true,
      format: 'form',
      authorizeMembers: {},
    }),
    async name({ MICROSOFT_API_URL }, ask) {
      const { userPrincipalName, mail, displayName } = membersOf(await ask(`${MICROSOFT_API_URL}/me`));
      return findText(userPrincipalName, mail, displayName);
    },
  },
  browse: browseDriveB,
  permissions: oneDrivePermissions,
  open: createDriveB,
  route: {
    path: 'drive-b',
    summary: 'Add drive-B source',
    description: 'A file, a folder with all that is in it, or a whole drive or library (its root).',
    isInContract: true,
    example: {
      oauthTokenId: 'oat_01jd0000000000000000000000',
      fileId: '01ABC',
      filename: 'Handbook.docx',
      dataRefreshPeriod: 'DAILY',
    },
  },
};
