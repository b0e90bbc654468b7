const dark = matchMedia('(prefers-color-scheme: dark)');
const { classList, dataset } = document.documentElement;
const followScheme = () => classList.toggle('dark-mode', dataset.theme === undefined ? dark.matches : dataset.theme === 'dark');
dark.addEventListener('change', followScheme);
followScheme();

/** Keeps the operations whose path, method, summary, name or tag holds every word. Swagger UI itself looks at tags only. */
function opsFilter(taggedOperations, phrase) {
  const words = phrase.toLowerCase().split(/\s+/).filter(Boolean);
  const found = (operation, tag) => {
    const own = ['summary', 'operationId'].map((name) => operation.getIn(['operation', name], ''));
    const text = [operation.get('method'), operation.get('path'), tag, ...own].join(' ').toLowerCase();
    return words.every((word) => text.includes(word));
  };
  return taggedOperations
    .map((group, tag) => group.update('operations', (operations) => operations.filter((operation) => found(operation, tag))))
    .filter((group) => group.get('operations').size > 0);
}

/**
 * Swagger UI reads any description as YAML, and resolves the references of all of it before it shows an operation, for a part that has none. For
 * ours both take seconds. An operation is still resolved when it is opened.
 */
const shortcuts = {
  parseToJson:
    (_parse, { specActions }) =>
    (text) =>
      specActions.updateJsonSpec(JSON.parse(text)),
  requestResolvedSubtree:
    (resolve, { specActions, specSelectors }) =>
    (path) =>
      path.join('/') === 'components/securitySchemes'
        ? specActions.updateResolvedSubtree(path, specSelectors.specJson().getIn(path).toJS())
        : resolve(path),
};

const reference = SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: -1,
  displayRequestDuration: true,
  showExtensions: true,
  validatorUrl: null,
  filter: true,
  plugins: [{ fn: { opsFilter }, statePlugins: { spec: { wrapActions: shortcuts } } }],
  onComplete() {
    const field = document.querySelector('.operation-filter-input');
    field?.setAttribute('placeholder', 'Filter: a path, a method, a word of the summary');
    field?.setAttribute('aria-label', 'Filter operations');
    window.onKey((key) => reference.preauthorizeApiKey('apiKey', key));
  },
});

// The search of the header leads to operations of the page that is open.
addEventListener('hashchange', () => reference.getSystem().layoutActions.parseDeepLinkHash(decodeURIComponent(location.hash)));
