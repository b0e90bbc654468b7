import { Check, Copy } from 'lucide-react';
import { useState } from 'react';
import { useText } from '../text/text.ts';
import { Button, IconButton } from './form/button.tsx';
import styles from './small.module.css';

/** The picture of a person or an agent: its own, else the first letters of its name. Pictures of other sites are not fetched. */
export function Avatar({
  name,
  pictureUrl,
  size = 28,
}: {
  readonly name: string;
  readonly pictureUrl?: string | null | undefined;
  readonly size?: 20 | 28 | 40 | 56;
}) {
  const isOwn = pictureUrl?.startsWith('data:image/') === true || pictureUrl?.startsWith('/') === true;
  const letters = name
    .split(/\s+/)
    .map((word) => [...word][0] ?? '')
    .join('')
    .slice(0, 2)
    .toUpperCase();
  return (
    // The letters are drawn by the style sheet: as text they would be a part of what a button says.
    <span className={styles.avatar} data-size={size} data-tint={pickTint(name)} data-letters={isOwn ? '' : letters} aria-hidden>
      {isOwn ? <img src={pictureUrl ?? ''} alt="" /> : null}
    </span>
  );
}

/** One of six colors, always the same for a name. */
function pickTint(name: string): number {
  let sum = 0;
  for (const letter of name) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 997;
  return sum % 6;
}

const units = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

/** A moment as the reader would say it, such as "5 minutes ago"; the exact one when the pointer rests on it. */
export function Time({ at }: { readonly at: string }) {
  const { date, language, t } = useText();
  const seconds = (Date.parse(at) - Date.now()) / 1000;
  const [unit, length] = units.find(([, lengthSeconds]) => Math.abs(seconds) >= lengthSeconds) ?? ['second', 1];
  const words =
    unit === 'second'
      ? t('just now')
      : new Intl.RelativeTimeFormat(language, { numeric: 'auto' }).format(Math.round(seconds / length), unit);
  return (
    <time dateTime={at} title={date(at)}>
      {words}
    </time>
  );
}

/** Puts a text on the clipboard, and says so. */
export function CopyButton({
  text,
  label,
  isWordy = false,
}: {
  readonly text: string;
  readonly label?: string;
  readonly isWordy?: boolean;
}) {
  const { t } = useText();
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await copyText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 2_000);
  };
  const name = isCopied ? t('Copied') : (label ?? t('Copy'));
  const icon = isCopied ? <Check size={16} aria-hidden /> : <Copy size={16} aria-hidden />;
  return isWordy ? (
    <Button size="small" icon={icon} onClick={() => void copy()}>
      {name}
    </Button>
  ) : (
    <IconButton label={name} onClick={() => void copy()}>
      {icon}
    </IconButton>
  );
}

/** Pages of an origin that is not secure have no clipboard of their own: there a field is selected and copied. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text);
  const field = document.createElement('textarea');
  field.value = text;
  (document.querySelector('dialog[open]') ?? document.body).append(field);
  field.select();
  document.execCommand('copy');
  field.remove();
}

/** A text to copy, such as a key or a command. */
export function CodeBox({ text, label }: { readonly text: string; readonly label: string }) {
  return (
    <div className={styles.code}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <section tabIndex={0} aria-label={label}>
        <pre>{text}</pre>
      </section>
      <CopyButton text={text} />
    </div>
  );
}

/** Sizes as people read them. */
export function formatBytes(bytes: number, number: (value: number, options?: Intl.NumberFormatOptions) => string): string {
  const names = ['B', 'kB', 'MB', 'GB', 'TB'];
  const step = bytes < 1_000 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), names.length - 1);
  return `${number(bytes / 1_000 ** step, { maximumFractionDigits: step === 0 ? 0 : 1 })} ${names[step]}`;
}

/** Durations as people read them. */
export function formatMs(ms: number, number: (value: number, options?: Intl.NumberFormatOptions) => string): string {
  if (ms < 1_000) return `${number(ms, { maximumFractionDigits: 0 })} ms`;
  if (ms < 60_000) return `${number(ms / 1_000, { maximumFractionDigits: 1 })} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes} min ${Math.round((ms % 60_000) / 1_000)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
