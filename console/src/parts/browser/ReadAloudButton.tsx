import { Volume2, VolumeX } from 'lucide-react';
import { useText } from '../../text/text.ts';
import { IconButton } from '../../ui/form/button.tsx';
import { readPlain } from '../markdown/reading/plain.ts';
import { usePreference } from './preferences.ts';
import { hasSpeech, useSpeech } from './voice.ts';

/** Has a Markdown text read aloud; nothing where the person did not turn voice on, or the browser has none. */
export function ReadAloudButton({ text }: { readonly text: string }) {
  const [isOn] = usePreference('voice');
  return isOn && hasSpeech() ? <Button text={text} /> : null;
}

function Button({ text }: { readonly text: string }) {
  const { t } = useText();
  const { isSpeaking, start, stop } = useSpeech();
  return isSpeaking ? (
    <IconButton label={t('Stop reading')} isActive onClick={stop}>
      <VolumeX size={16} aria-hidden />
    </IconButton>
  ) : (
    <IconButton label={t('Read aloud')} onClick={() => start(readPlain(text))}>
      <Volume2 size={16} aria-hidden />
    </IconButton>
  );
}
