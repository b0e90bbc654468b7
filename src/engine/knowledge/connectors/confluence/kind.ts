import { atlassianAccount, siteMember } from '../atlassian/account.ts';
import { createDriveA } from '../google-drive/google-drive.ts';
import type { SourceKind } from '../kind.ts';
import { accountMember, flagMember, nameReader, textMember, textReader } from '../members.ts';
import { browseWiki } from './browse.ts';
import { fetchWiki } from './fetch.ts';
import { listWiki } from './list.ts';
import { confluencePermissions } from './permissions.ts';

/** Confluence: a page, a page with all below it, a space, or all spaces, with attachments. */
export const confluenceKind: SourceKind = {
  type: 'WIKI',
  noun: 'Wiki',
  description: 'A wiki.',
  content: 'A wiki, or a part of it.',
  members: {
    oauthTokenId: accountMember('WIKI'),
    pageName: textMember(
      {
        input: 'The name of the page or the space; the source is called so.',
        setting: 'The name of the page or the space.',
        isRequired: true,
      },
      nameReader,
    ),
    pageId: sameText("The wiki's own id of the page."),
    contentType: sameText("The wiki's own word for what that is: page, folder, space."),
    spaceId: sameText("The wiki's own id of the space."),
    selectedDriveAccount: {
      ...sameText('The account that files of a drive, linked from pages, are read with.'),
      graphName: 'driveAccount',
      accountAt: 'DRIVE_A',
    },
    cloudId: siteMember(textReader),
    indexChildPages: flag('Whether pages below it are taken.'),
    indexDriveFiles: flag('Whether linked files of a drive are taken.'),
    indexAttachments: flag('Whether attachments are taken.'),
    archive: flag('Whether archived pages are taken.'),
    allSpaces: flag('Whether every space that can be read is taken.'),
  },
  sourceName: ({ pageName }) => String(pageName),
  account: atlassianAccount('confluence', [
    'read:hierarchical-content:confluence',
    'read:page:confluence',
    'read:space:confluence',
    'read:attachment:confluence',
    'readonly:content.attachment:confluence',
  ]),
  browse: browseWiki,
  site: 'confluence',
  permissions: confluencePermissions,
  open(services) {
    // Pages link to files of Google Drive.
    const all = { ...services, drive: createDriveA(services) };
    return { list: (task) => listWiki(all, task), fetch: (task) => fetchWiki(all, task) };
  },
  route: {
    path: 'wiki',
    summary: 'Add wiki source',
    description:
      'A wiki: one page, a page with those below it, a space, or all spaces. `errorCode` and `errorMessage` say why one cannot be read.',
    isInContract: true,
    example: {
      oauthTokenId: 'oat_01jd0000000000000000000000',
      pageName: 'Handbook',
      pageId: '4711',
      contentType: 'page',
      spaceId: '17',
      dataRefreshPeriod: 'DAILY',
      indexChildPages: true,
      indexAttachments: false,
    },
  },
};

function sameText(words: string) {
  return textMember({ input: words, setting: words });
}

function flag(words: string) {
  return flagMember({ input: `${words} Default false.`, setting: words }, false);
}
