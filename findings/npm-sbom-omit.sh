#!/usr/bin/env bash
# npm 11.19.1: `npm sbom --omit dev` leaves out a package of `dependencies` when a package of `devDependencies` needs it too. `npm ls --omit dev` lists it, and
# `npm ci --omit dev` installs it. So a bill of materials made this way lacks what runs in production. Whoever needs a whole one takes the development
# packages out of a copy of package.json first, and asks without `--omit`.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund npm@11.19.1 >/dev/null
npm=("$PWD/node_modules/.bin/npm")
mkdir product
cd product
cat >package.json <<'JSON'
{ "name": "product", "version": "1.0.0", "dependencies": { "ms": "2.1.3", "kleur": "4.1.5" }, "devDependencies": { "debug": "4.4.3" } }
JSON
"${npm[@]}" install --silent --ignore-scripts --no-audit --no-fund >/dev/null
names='let text = ""; process.stdin.on("data", (part) => (text += part)).on("end", () => console.log(JSON.parse(text).components.map((part) => part.name).sort().join(" ")))'
all=$("${npm[@]}" sbom --sbom-format cyclonedx | node -e "$names")
production=$("${npm[@]}" sbom --sbom-format cyclonedx --omit dev | node -e "$names")
listed=$("${npm[@]}" ls --omit dev --parseable | sed -n 's#.*/node_modules/##p' | sort | tr '\n' ' ')
echo "npm $("${npm[@]}" --version)"
echo "sbom:            $all"
echo "sbom --omit dev: $production"
echo "ls --omit dev:   $listed"
if [ "$production" != kleur ] || [ "$listed" != "kleur ms " ]; then
  echo "It behaves otherwise now." >&2
  exit 1
fi
# Seen:
#   npm 11.19.1
#   sbom:            debug kleur ms
#   sbom --omit dev: kleur
#   ls --omit dev:   kleur ms
