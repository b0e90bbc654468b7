#!/usr/bin/env bash
# google-auth-library 11.3.4: a client of workload identity federation makes its exchange of tokens with a transport of its own, not with the `transporter` or
# the `transporterOptions` that it was given: `StsCredentials` gets only the address. So a `fetchImplementation`, a proxy agent, a private certificate or a
# time limit holds for the address of the subject token and for the impersonation, but not for the call between the two.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund google-auth-library@11.3.4 >/dev/null
cat >probe.mjs <<'JS'
import { createServer } from 'node:http';
import { IdentityPoolClient } from 'google-auth-library';

const replies = {
  '/subject': 'a token of another provider',
  '/sts': { access_token: 'federated', expires_in: 3600, token_type: 'Bearer' },
  '/impersonate': { accessToken: 'account', expireTime: new Date(Date.now() + 3_600_000).toISOString() },
};
const server = createServer((request, response) => {
  const reply = replies[request.url];
  response.setHeader('content-type', typeof reply === 'string' ? 'text/plain' : 'application/json');
  response.end(typeof reply === 'string' ? reply : JSON.stringify(reply));
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${server.address().port}`;
const byOurs = [];
const client = new IdentityPoolClient({
  type: 'external_account',
  audience: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/pool/providers/one',
  subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
  token_url: `${url}/sts`,
  service_account_impersonation_url: `${url}/impersonate`,
  credential_source: { url: `${url}/subject`, format: { type: 'text' } },
  transporterOptions: {
    fetchImplementation(address, options) {
      byOurs.push(new URL(address).pathname);
      return fetch(address, options);
    },
  },
});
const { token } = await client.getAccessToken();
server.close();
console.log('token:', token, '- calls by the given transport:', byOurs.join(' '));
if (byOurs.join(' ') !== '/subject /impersonate') {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
JS
echo "google-auth-library $(node -p "require('./node_modules/google-auth-library/package.json').version")"
node probe.mjs
# Seen:
#   google-auth-library 11.3.4
#   token: account - calls by the given transport: /subject /impersonate
