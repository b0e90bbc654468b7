#!/usr/bin/env bash
# nodemailer: verify() of a transport with a login succeeds where the server offers no login: it is never used, whatever the password.
# A service that calls verify() to say "the mail settings work" says so of a wrong password too. With forceAuth the login is tried.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --silent nodemailer@10.6.1 smtp-server@3.21.6
cat >check.mjs <<'EOF'
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import nodemailer from 'nodemailer';
import { SMTPServer } from 'smtp-server';

const version = (name) => JSON.parse(readFileSync(`node_modules/${name}/package.json`, 'utf8')).version;
const server = new SMTPServer({ disabledCommands: ['STARTTLS', 'AUTH'], onAuth: (_auth, _session, done) => done(new Error('nobody')) });
const listening = server.listen(0, '127.0.0.1');
await once(listening, 'listening');
const options = { host: '127.0.0.1', port: listening.address().port, auth: { user: 'ann', pass: 'wrong' } };
const verify = async (more) => {
  const transport = nodemailer.createTransport({ ...options, ...more });
  const said = await transport.verify().then(
    (value) => `resolves ${value}`,
    (error) => `rejects with ${error.code}`,
  );
  transport.close();
  return said;
};
const plain = await verify({});
const forced = await verify({ forceAuth: true });
server.close();
console.log(`nodemailer ${version('nodemailer')}, a server without AUTH, a wrong password: verify() ${plain}; with forceAuth it ${forced}`);
if (plain !== 'resolves true' || forced !== 'rejects with EAUTH') process.exit(1);
EOF
node check.mjs
