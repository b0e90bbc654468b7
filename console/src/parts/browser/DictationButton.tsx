import { Mic, MicOff } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { useText } from '../../text/text.ts';
import { IconButton } from '../../ui/form/button.tsx';
import { useToast } from '../../ui/overlay/toasts.tsx';
import { usePreference } from './preferences.ts';
import { hasDictation, useDictation } from './voice.ts';

/** Writes what is said behind a text; nothing where the person did not turn voice on, or the browser has none. */
export function DictationButton({ text, onText }: { readonly text: string; readonly onText: (text: string) => void }) {
  const [isOn] = usePreference('voice');
  return isOn && hasDictation() ? <Button text={text} onText={onText} /> : null;
}

function Button({ text, onText }: { readonly text: string; readonly onText: (text: string) => void }) {
  const { t, language } = useText();
  const say = useToast();
  const before = useRef('');
  const { isListening, fault, start, stop } = useDictation(language, (heard) => onText(before.current + heard.trimStart()));
  useEffect(() => {
    if (fault === 'refused') say(t('The browser does not give this page the microphone.'), 'bad');
    if (fault === 'failed') say(t('Dictation has failed. Try again, or write.'), 'bad');
  }, [fault, say, t]);
  const begin = () => {
    before.current = text === '' || /\s$/.test(text) ? text : `${text} `;
    start();
  };
  return isListening ? (
    <IconButton label={t('Stop dictating')} isActive onClick={stop}>
      <MicOff size={18} aria-hidden />
    </IconButton>
  ) : (
    <IconButton label={t('Dictate')} onClick={begin}>
      <Mic size={18} aria-hidden />
    </IconButton>
  );
}
