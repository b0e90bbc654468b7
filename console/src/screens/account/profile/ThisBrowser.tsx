import { useState } from 'react';
import { askForNotifications, hasNotifications } from '../../../parts/browser/notifications.ts';
import { usePreference } from '../../../parts/browser/preferences.ts';
import { hasVoice } from '../../../parts/browser/voice.ts';
import { useText } from '../../../text/text.ts';
import { Note } from '../../../ui/feedback.tsx';
import { Switch } from '../../../ui/form/field.tsx';
import { Section } from '../../../ui/page.tsx';

/** What this browser does by itself; nothing of it is on until a person turns it on. */
export function ThisBrowser() {
  const { t } = useText();
  const [notifies, chooseNotifications] = usePreference('notifications');
  const [showsAnswers, chooseAnswers] = usePreference('answersInNotifications');
  const [hasVoiceOn, chooseVoice] = usePreference('voice');
  const [isRefused, setRefused] = useState(false);
  const chooseNotified = async (isOn: boolean) => {
    const isAllowed = !isOn || (await askForNotifications());
    setRefused(!isAllowed);
    chooseNotifications(isOn && isAllowed);
  };
  if (!hasNotifications() && !hasVoice()) return null;
  return (
    <Section title={t('This browser')}>
      {hasNotifications() ? (
        <>
          <Switch
            label={t('Notifications')}
            hint={t('When a long answer is there, or a call waits for your approval, and you see no tab of Parley.')}
            isOn={notifies}
            onChange={(isOn) => void chooseNotified(isOn)}
          />
          {isRefused ? (
            <Note tone="warn">{t('The browser does not let this page notify you. Allow it in the settings of the page.')}</Note>
          ) : null}
          {notifies ? (
            <Switch
              label={t('Show the beginning of the answer')}
              hint={t('Otherwise a notification has the title of the chat only.')}
              isOn={showsAnswers}
              onChange={chooseAnswers}
            />
          ) : null}
        </>
      ) : null}
      {hasVoice() ? (
        <Switch
          label={t('Voice')}
          hint={t('Dictate messages, and have answers read aloud. Your browser does it, and may send what you say to its maker.')}
          isOn={hasVoiceOn}
          onChange={chooseVoice}
        />
      ) : null}
    </Section>
  );
}
