import { i18n } from '@lingui/core';
import { compileMessage } from '@lingui/message-utils/compileMessage';
import { I18nProvider, useLingui } from '@lingui/react';
import { useMemo } from 'react';

export { I18nProvider, i18n };

/** The languages of the console. English is the language of the sources: its messages are their own translations. */
export const languages = { en: 'English', de: 'Deutsch' } as const;
export type Language = keyof typeof languages;

const storedAs = 'parley.language';

/** What the reader chose, else what the browser asks for, else English. */
export function preferredLanguage(): Language {
  const preferences = [localStorage.getItem(storedAs), ...navigator.languages].map((name) => name?.slice(0, 2));
  return preferences.find(isLanguage) ?? 'en';
}

function isLanguage(name: string | undefined): name is Language {
  return name !== undefined && Object.hasOwn(languages, name);
}

/** Shows the console in a language. Loads its messages first, where it has any. */
export async function showLanguage(language: Language): Promise<void> {
  const messages = language === 'de' ? (await import('./german.ts')).german : {};
  i18n.setMessagesCompiler(compileOnce);
  i18n.loadAndActivate({ locale: language, messages });
  document.documentElement.lang = language;
}

const compiledMessages = new Map<string, ReturnType<typeof compileMessage>>();

/** The library asks for it each time that a message is said; compiling takes far longer than saying. */
function compileOnce(message: string): ReturnType<typeof compileMessage> {
  const existingMessage = compiledMessages.get(message);
  if (existingMessage !== undefined) return existingMessage;
  const compiledMessage = compileMessage(message);
  compiledMessages.set(message, compiledMessage);
  return compiledMessage;
}

/** Shows the console in a language from now on. */
export async function chooseLanguage(language: Language): Promise<void> {
  localStorage.setItem(storedAs, language);
  await showLanguage(language);
}

/** Values for the placeholders of a message. */
type Values = Readonly<Record<string, string | number | Date>>;

export interface Text {
  /** A message in the language of the reader. The English text is its name; placeholders and plurals are those of ICU: `{count, plural, one {# run} other {# runs}}`. */
  readonly t: (message: string, values?: Values) => string;
  readonly language: Language;
  /** A number as the reader writes it. */
  readonly number: (value: number, options?: Intl.NumberFormatOptions) => string;
  readonly date: (value: string | Date, options?: Intl.DateTimeFormatOptions) => string;
}

/** The messages, numbers and dates of a component. */
export function useText(): Text {
  const { i18n: current } = useLingui();
  const { locale } = current;
  // The same functions until the language changes: effects may depend on them.
  return useMemo(
    () => ({
      t: (message, values) => current._(message, values),
      language: isLanguage(locale) ? locale : 'en',
      number: (value, options) => getFormatter(Intl.NumberFormat, locale, options).format(value),
      date: (value, options = { dateStyle: 'medium', timeStyle: 'short' }) =>
        getFormatter(Intl.DateTimeFormat, locale, options).format(new Date(value)),
    }),
    [current, locale],
  );
}

const formatters = new Map<string, object>();

/** Making a formatter takes longer than formatting. */
function getFormatter<Formatter extends object, Options>(
  kind: new (locale: string, options?: Options) => Formatter,
  locale: string,
  options: Options | undefined,
): Formatter {
  const key = `${kind.name} ${locale} ${JSON.stringify(options)}`;
  const existingFormatter = formatters.get(key);
  if (existingFormatter !== undefined) return existingFormatter as Formatter;
  const formatter = new kind(locale, options);
  formatters.set(key, formatter);
  return formatter;
}
