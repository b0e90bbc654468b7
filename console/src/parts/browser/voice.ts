import { useEffect, useRef, useState } from 'react';

/** The part of the browser's recognition that is used here; its types come with no library yet. */
interface Recognition {
  lang: string;
  continuous: boolean;
  interimResults: boolean;
  onresult: ((event: { readonly results: ArrayLike<Heard> }) => void) | null;
  onerror: ((event: { readonly error: string }) => void) | null;
  onend: (() => void) | null;
  start(): void;
  stop(): void;
  abort(): void;
}
type Heard = ArrayLike<{ readonly transcript: string }> & { readonly isFinal: boolean };
type RecognitionClass = new () => Recognition;

/** Browsers have it under two names. */
function findRecognition(): RecognitionClass | undefined {
  return Reflect.get(window, 'SpeechRecognition') ?? Reflect.get(window, 'webkitSpeechRecognition');
}

export const hasDictation = () => findRecognition() !== undefined;
export const hasSpeech = () => 'speechSynthesis' in window && 'SpeechSynthesisUtterance' in window;
export const hasVoice = () => hasDictation() || hasSpeech();

/** Why dictation ended early: the microphone is not allowed, or it cannot be understood. */
export type DictationFault = 'refused' | 'failed';

/**
 * Dictation by the browser.
 *
 * @param onText  all that was heard since it began, each time more is heard.
 */
export function useDictation(language: string, onText: (text: string) => void) {
  const [isListening, setListening] = useState(false);
  const [fault, setFault] = useState<DictationFault>();
  const listening = useRef<Recognition>(undefined);
  const tell = useRef(onText);
  tell.current = onText;
  useEffect(() => () => listening.current?.abort(), []);
  const start = () => {
    const Recognizer = findRecognition();
    if (Recognizer === undefined || listening.current !== undefined) return;
    const recognition = new Recognizer();
    Object.assign(recognition, { lang: language, continuous: true, interimResults: true });
    recognition.onresult = ({ results }) => tell.current(Array.from(results, (heard) => heard[0]?.transcript ?? '').join(''));
    recognition.onerror = ({ error }) => {
      if (error === 'aborted' || error === 'no-speech') return;
      setFault(error === 'not-allowed' || error === 'service-not-allowed' ? 'refused' : 'failed');
    };
    recognition.onend = () => {
      listening.current = undefined;
      setListening(false);
    };
    listening.current = recognition;
    setFault(undefined);
    setListening(true);
    recognition.start();
  };
  const stop = () => listening.current?.stop();
  return { isListening, fault, start, stop };
}

/** Whatever is read aloud ends when another text begins. */
export function useSpeech() {
  const [isSpeaking, setSpeaking] = useState(false);
  const spoken = useRef<SpeechSynthesisUtterance>(undefined);
  const stop = () => {
    if (spoken.current === undefined) return;
    spoken.current = undefined;
    setSpeaking(false);
    speechSynthesis.cancel();
  };
  const atEnd = useRef(stop);
  atEnd.current = stop;
  useEffect(() => () => atEnd.current(), []);
  const start = (text: string) => {
    speechSynthesis.cancel();
    const utterance = new SpeechSynthesisUtterance(text);
    const end = () => {
      if (spoken.current !== utterance) return;
      spoken.current = undefined;
      setSpeaking(false);
    };
    utterance.onend = end;
    utterance.onerror = end;
    spoken.current = utterance;
    setSpeaking(true);
    speechSynthesis.speak(utterance);
  };
  return { isSpeaking, start, stop };
}
