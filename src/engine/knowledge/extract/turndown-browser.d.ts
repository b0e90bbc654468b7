/** Turndown without a parser of its own: it is given nodes, and needs no second DOM library. */
declare module 'turndown/lib/turndown.browser.es.js' {
  export { default } from 'turndown';
}
