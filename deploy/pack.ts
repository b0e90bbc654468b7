import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, extname, join, relative } from 'node:path';

/**
 * Makes `build/parley-<version>.tgz`: `npm run pack`. What it holds runs on a machine that has Node and nothing else, offline too:
 *
 * - JavaScript, because Node strips no types below `node_modules`;
 * - all packages of a running Parley in the versions of the lock file, without what nobody reads: npm follows no lock file of a package;
 * - the console, the migrations, the manual, and which licences the packages have (`THIRD-PARTY.md`).
 *
 * Beside it lies the list of its parts, `parley-<version>.cdx.json` (CycloneDX). Two runs on one commit give the same bytes. Needs the package
 * registry, or what npm has kept of it.
 */
const root = join(import.meta.dirname, '..');
const out = join(root, 'build');
const stage = join(out, 'package');
const { version, ...manifest } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const run = (command: string, words: readonly string[], cwd = root) =>
  execFileSync(command, words, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], maxBuffer: 100_000_000 });

rmSync(out, { recursive: true, force: true });
mkdirSync(join(stage, 'console'), { recursive: true });
run(process.execPath, ['console/build.ts', '--if-changed']);
run(join(root, 'node_modules/.bin/tsc'), ['-p', 'deploy/package', '--outDir', stage]);
for (const folder of ['src', 'scripts/cli']) nameEmittedFiles(join(stage, folder));
copyWhatIsNotCompiled();
installPackages();
writeFileSync(join(stage, 'THIRD-PARTY.md'), listLicences());
writeManifest();
writeFileSync(join(out, `parley-${version}.cdx.json`), listParts());
prepareDatabase();
// All that stand in the folder, in the versions that were tested.
writeManifest({ bundleDependencies: Object.keys(manifest.dependencies) });
const [name] = run('npm', ['pack', '--silent', '--pack-destination', out], stage).trim().split('\n');
console.log(`build/${name}`);

/** Files that are started by name, not imported: the compiler leaves those names alone. */
function nameEmittedFiles(folder: string): void {
  for (const path of listFiles(folder)) {
    if (!path.endsWith('.js')) continue;
    const text = readFileSync(path, 'utf8');
    const named = text.replaceAll(/(new URL\('\.[^']*)\.ts'/g, "$1.js'");
    if (named !== text) writeFileSync(path, named);
  }
}

function copyWhatIsNotCompiled(): void {
  for (const path of listFiles(join(root, 'src'))) {
    const kind = extname(path);
    if (kind === '.ts' || kind === '.md') continue;
    const target = join(stage, relative(root, path));
    mkdirSync(dirname(target), { recursive: true });
    if (kind === '.js') writeFileSync(target, readFileSync(path, 'utf8').replaceAll(/(import\('\.[^']*)\.ts'/g, "$1.js'"));
    else cpSync(path, target);
  }
  for (const path of [
    'console/dist',
    'prisma/migrations',
    'docs',
    'README.md',
    'CHANGELOG.md',
    'LICENSE',
    'deploy/trim-packages.sh',
  ])
    cpSync(join(root, path), join(stage, path), { recursive: true });
  cpSync(join(root, 'deploy/package/parley.js'), join(stage, 'parley.js'));
}

/** As the image has them. */
function installPackages(): void {
  for (const path of ['package.json', 'package-lock.json', '.npmrc', 'console/package.json'])
    cpSync(join(root, path), join(stage, path));
  run('npm', ['ci', '--omit=dev', '--omit=optional', '--no-audit', '--no-fund', '--prefer-offline'], stage);
  run('sh', ['deploy/trim-packages.sh'], stage);
  for (const path of [
    'package-lock.json',
    '.npmrc',
    'console/package.json',
    'deploy',
    'node_modules/@parley',
    'node_modules/.bin',
  ])
    rmSync(join(stage, path), { recursive: true, force: true });
}

function writeManifest(more: object = {}): void {
  const { name, description, license, type, dependencies } = manifest;
  const overrides = Object.entries(manifest.overrides).filter(([of]) => existsSync(join(stage, 'node_modules', of)));
  const packed = {
    ...{ name, version, description, license, type, bin: { parley: 'parley.js' }, engines: { node: '>=26' }, dependencies },
    ...{ overrides: Object.fromEntries(overrides), ...more },
  };
  writeFileSync(join(stage, 'package.json'), `${JSON.stringify(packed, undefined, 2)}\n`);
}

/** The database that a first start copies, by the clock of the commit: PostgreSQL writes times into its files. */
function prepareDatabase(): void {
  const seconds = run('git', ['log', '-1', '--format=%ct']).trim();
  const clock = join(root, 'deploy/package/fixed-clock.js');
  execFileSync(process.execPath, ['--import', clock, 'src/start/prepare-database.js'], {
    cwd: stage,
    env: { PATH: process.env.PATH ?? '', TZ: 'UTC', FIXED_CLOCK_SECONDS: seconds },
    stdio: 'inherit',
  });
  for (const path of ['compiled', 'database/parley.lock', 'database/parley.pid'])
    rmSync(join(stage, '.cache', path), { recursive: true, force: true });
}

/** Of the packages with the sums of the lock file, without the console, whose files are built. Not by `--omit dev`, which leaves out packages that development needs too; of a manifest that has no other packages. */
function listParts(): string {
  const lock = join(stage, 'node_modules/.package-lock.json');
  const { packages, ...rest } = JSON.parse(readFileSync(lock, 'utf8'));
  const kept = Object.entries(packages).filter(
    ([path]) => path.startsWith('node_modules/') && !path.startsWith('node_modules/@parley/'),
  );
  writeFileSync(lock, JSON.stringify({ ...rest, packages: Object.fromEntries(kept) }));
  const parts = JSON.parse(run('npm', ['sbom', '--sbom-format', 'cyclonedx'], stage));
  rmSync(lock);
  // When it was made and a random number are no part of what it lists.
  delete parts.serialNumber;
  delete parts.metadata.timestamp;
  return `${JSON.stringify(parts, undefined, 2)}\n`;
}

interface PackageFile {
  readonly name?: string;
  readonly version?: string;
  readonly license?: string | { readonly type?: string };
}

function listLicences(): string {
  const lines = listPackages(join(stage, 'node_modules')).map((folder) => {
    const { name, version: of, license }: PackageFile = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    return `| ${name} | ${of} | ${typeof license === 'string' ? license : (license?.type ?? 'see its folder')} |`;
  });
  return `# Packages in Parley\n\nTheir licences stand in their folders below \`node_modules\`.\n\n| package | version | licence |\n| --- | --- | --- |\n${[...new Set(lines)].sort().join('\n')}\n`;
}

/** The folders of packages below `node_modules`, and below those of packages. */
function listPackages(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    if (name.startsWith('.')) return [];
    if (name.startsWith('@')) return listPackages(path);
    return existsSync(join(path, 'package.json')) ? [path, ...listPackages(join(path, 'node_modules'))] : [];
  });
}

function listFiles(folder: string): readonly string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.flatMap((entry) => (entry.isFile() ? [join(entry.parentPath, entry.name)] : []));
}
