import type { Text } from '../../text/text.ts';

type Visibility = 'PRIVATE' | 'GROUP' | 'ORGANIZATION' | 'ANYONE_WITH_LINK';

/** Who may use an agent, in two words. */
export function visibilityName(t: Text['t'], visibility: Visibility): string {
  return {
    PRIVATE: t('Only editors'),
    GROUP: t('Groups'),
    ORGANIZATION: t('Everyone here'),
    ANYONE_WITH_LINK: t('Anyone with the link'),
  }[visibility];
}
