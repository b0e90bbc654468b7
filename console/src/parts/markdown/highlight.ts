import { createCssVariablesTheme, createHighlighterCore, type HighlighterCore } from 'shiki/core';
import { createJavaScriptRegexEngine } from 'shiki/engine/javascript';

/** A piece of a line of code in one color. `kind`: what it is, such as `keyword`; the style sheet has its color. */
export interface CodePiece {
  readonly text: string;
  readonly kind: string | undefined;
}
export type CodeLine = readonly CodePiece[];

/** The languages that are colored, each in a file of its own. */
const languages = {
  bash: () => import('shiki/langs/bash.mjs'),
  c: () => import('shiki/langs/c.mjs'),
  cpp: () => import('shiki/langs/cpp.mjs'),
  csharp: () => import('shiki/langs/csharp.mjs'),
  css: () => import('shiki/langs/css.mjs'),
  diff: () => import('shiki/langs/diff.mjs'),
  dockerfile: () => import('shiki/langs/dockerfile.mjs'),
  go: () => import('shiki/langs/go.mjs'),
  graphql: () => import('shiki/langs/graphql.mjs'),
  html: () => import('shiki/langs/html.mjs'),
  ini: () => import('shiki/langs/ini.mjs'),
  java: () => import('shiki/langs/java.mjs'),
  javascript: () => import('shiki/langs/javascript.mjs'),
  json: () => import('shiki/langs/json.mjs'),
  jsx: () => import('shiki/langs/jsx.mjs'),
  kotlin: () => import('shiki/langs/kotlin.mjs'),
  markdown: () => import('shiki/langs/markdown.mjs'),
  php: () => import('shiki/langs/php.mjs'),
  python: () => import('shiki/langs/python.mjs'),
  ruby: () => import('shiki/langs/ruby.mjs'),
  rust: () => import('shiki/langs/rust.mjs'),
  sql: () => import('shiki/langs/sql.mjs'),
  swift: () => import('shiki/langs/swift.mjs'),
  toml: () => import('shiki/langs/toml.mjs'),
  tsx: () => import('shiki/langs/tsx.mjs'),
  typescript: () => import('shiki/langs/typescript.mjs'),
  xml: () => import('shiki/langs/xml.mjs'),
  yaml: () => import('shiki/langs/yaml.mjs'),
} as const;
type LanguageName = keyof typeof languages;

const otherNames: Readonly<Record<string, LanguageName>> = {
  ...{ sh: 'bash', shell: 'bash', zsh: 'bash', console: 'bash', 'c++': 'cpp', cs: 'csharp', docker: 'dockerfile', golang: 'go' },
  ...{ js: 'javascript', mjs: 'javascript', cjs: 'javascript', ts: 'typescript', mts: 'typescript', md: 'markdown' },
  ...{
    py: 'python',
    rb: 'ruby',
    rs: 'rust',
    yml: 'yaml',
    gql: 'graphql',
    kt: 'kotlin',
    jsonc: 'json',
    json5: 'json',
    svg: 'xml',
  },
};

let making: Promise<HighlighterCore> | undefined;
const variablePrefix = '--code-';

/** The lines of a code in colors; undefined for a language that is not known. */
export async function highlight(code: string, language: string): Promise<readonly CodeLine[] | undefined> {
  const name = languageNamed(language.toLowerCase());
  if (name === undefined) return undefined;
  making ??= createHighlighterCore({
    themes: [createCssVariablesTheme({ name: 'console', variablePrefix, variableDefaults: {}, fontStyle: false })],
    // The engine of WebAssembly would need another policy of the page.
    engine: createJavaScriptRegexEngine({ forgiving: true }),
  });
  const highlighter = await making;
  await highlighter.loadLanguage(languages[name]());
  const { tokens } = highlighter.codeToTokens(code, { lang: name, theme: 'console' });
  return tokens.map((line) => line.map(({ content, color }) => ({ text: content, kind: getKind(color) })));
}

function languageNamed(name: string): LanguageName | undefined {
  const fullName = otherNames[name] ?? name;
  return isLanguage(fullName) ? fullName : undefined;
}

function isLanguage(name: string): name is LanguageName {
  return Object.hasOwn(languages, name);
}

/** `var(--code-token-keyword)` is a keyword. */
function getKind(color: string | undefined): string | undefined {
  return color === undefined ? undefined : /token-([a-z-]+)/.exec(color)?.[1];
}
