// Light or dark, as the reader chose in the console. Runs before the page is drawn.
(() => {
  const chosen = localStorage.getItem('parley.theme');
  if (chosen !== 'light' && chosen !== 'dark') return;
  document.documentElement.dataset.theme = chosen;
  // GraphiQL reads its own choice.
  if (location.pathname.startsWith('/graphql')) localStorage.setItem('graphiql:theme', chosen);
})();
