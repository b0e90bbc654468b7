import { useState } from 'react';
import { PublicPage } from '../../parts/public-page.tsx';
import { useText } from '../../text/text.ts';
import styles from './about.module.css';
import { Example } from './Example.tsx';
import { curlExample, javascriptExample, pythonExample } from './examples.ts';
import { Status } from './Status.tsx';

/** The page about the service: its version, whether it is ready, and first requests to try. */
export function About() {
  const { t } = useText();
  const [isCopied, setCopied] = useState(false);
  const version = document.querySelector<HTMLMetaElement>('meta[name="parley-version"]')?.content ?? '';
  const places = [
    { href: '/graphql', name: 'GraphiQL', text: t('Try GraphQL in the browser: examples, completion, documentation.') },
    { href: '/docs', name: t('REST reference'), text: t('Every REST operation, by subject. Try one with your key.') },
    { href: '/manual', name: t('Manual'), text: t('A tour of ten minutes, then agents, chats, knowledge, settings.') },
    { href: '/openapi.json', name: 'openapi.json', text: t('The description of the REST API for generators and tools.') },
  ];
  return (
    <PublicPage title={t('About Parley')}>
      <div className={styles.about}>
        <h1>
          Parley <small>{t('version {version}', { version })}</small>
        </h1>
        <p className={styles.lead}>
          {t(
            'Parley keeps AI agents, the chats that people have with them, and the knowledge they answer from. One service, two APIs: GraphQL with subscriptions, and REST that stock OpenAI clients use unchanged.',
          )}
        </p>
        <Status />
        <section aria-labelledby="places">
          <h2 id="places">{t('Where to go')}</h2>
          <ul className={styles.cards}>
            {places.map(({ href, name, text }) => (
              <li key={href}>
                <a href={href}>{name}</a>
                <p>{text}</p>
              </li>
            ))}
          </ul>
        </section>
        <section aria-labelledby="first">
          <h2 id="first">{t('Your first request')}</h2>
          <p>
            {t(
              'You need an API key. The first start of an instance prints one in its terminal; whoever runs this instance can make you another. The model {model} is built in and needs no provider.',
              { model: 'parley/offline' },
            )}
          </p>
          <Example
            id="curl"
            title="curl"
            copyLabel={t('Copy the curl request')}
            text={curlExample(location.origin)}
            onCopied={setCopied}
          />
          <Example
            id="python"
            title={t('Python, with the package {name}', { name: 'openai' })}
            copyLabel={t('Copy the Python program')}
            text={pythonExample(location.origin)}
            onCopied={setCopied}
          />
          <Example
            id="javascript"
            title={t('JavaScript, with the package {name}', { name: 'openai' })}
            copyLabel={t('Copy the JavaScript program')}
            text={javascriptExample(location.origin)}
            onCopied={setCopied}
          />
          <p className="visually-hidden" id="copied" role="status">
            {isCopied ? t('Copied.') : ''}
          </p>
        </section>
      </div>
    </PublicPage>
  );
}
