import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseEnv } from 'node:util';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { copiesOf, instructionsOf } from '../../deploy/dockerfile.ts';
import { loadSettings, settingsProblems, settingsSchema } from '../../src/settings.ts';
import { type Manifest, renderChart } from '../support/processes/helm.ts';
import { withService } from '../support/service.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const names = new Set(Object.keys(settingsSchema.shape));
const defaults = loadSettings({});
/** Of Node and the C library, not of Parley. */
const ofNode = ['NODE_ENV', 'NODE_COMPILE_CACHE', 'MALLOC_ARENA_MAX', 'MALLOC_TRIM_THRESHOLD_'];
const unknown = (given: Iterable<string>) => [...given].filter((name) => !names.has(name) && !ofNode.includes(name));

const instructions = instructionsOf(read('Dockerfile'));
const imageEnv = Object.fromEntries(
  instructions
    .filter(({ name }) => name === 'ENV')
    .flatMap(({ rest }) => rest.split(' ').map((pair) => pair.split('=') as [string, string])),
);
const compose = parse(read('compose.yaml'), { merge: true });
const manifests = parseAllDocuments(read('deploy/kubernetes.yaml'));
const objects = new Map(manifests.map((document) => [document.toJS().kind as string, document.toJS()] as const));
const unit = read('deploy/parley.service');
/** What `npm start` runs beside the build of the console, which the image and an installed service have as it was built. */
const served: string = JSON.parse(read('package.json')).scripts.start.replace('(node console/build.ts --if-changed &); ', '');

const { service } = await withService();

/** `${NAME:-default}` and `${NAME:?words}` as docker compose replaces them, with a secret for what must be set. */
const filled = (text: string) =>
  text.replaceAll(/\$\{(\w+)(?::([-?])([^}]*))?\}/g, (_all, _name, kind, rest) => (kind === '-' ? rest : 'x'.repeat(40)));

describe('the Dockerfile', () => {
  it('copies what is there, and nothing that .dockerignore keeps out', () => {
    const ignored = read('.dockerignore').split('\n');
    const copies = instructions.filter(({ name }) => name === 'COPY').flatMap(({ rest }) => copiesOf(rest));
    const fromHere = copies.filter(({ stage }) => stage === undefined).map(({ from }) => from);
    expect(fromHere.filter((path) => !existsSync(join(root, path)))).toEqual([]);
    expect(
      fromHere.filter(
        (path) =>
          !ignored.some((line) => line.startsWith('!') && (path.startsWith(line.slice(1)) || line.slice(1).startsWith(path))),
      ),
    ).toEqual([]);
  });

  it('has three stages on the Node that is needed, ends as somebody other than root, and says how it is', () => {
    const stages = instructions.filter(({ name }) => name === 'FROM').map(({ rest }) => rest);
    expect(stages).toHaveLength(3);
    for (const stage of stages) expect(stage).toContain(`node:${read('.nvmrc').trim()}-`);
    expect(instructions.find(({ name }) => name === 'USER')?.rest).toMatch(/^[1-9]\d*:[1-9]\d*$/);
    const health = instructions.find(({ name }) => name === 'HEALTHCHECK')?.rest ?? '';
    expect(health).toContain('/healthz');
    // JSON as Docker reads it: the check is a program with its arguments.
    expect(JSON.parse(health.slice(health.indexOf('[')))).toHaveLength(3);
  });

  it('starts what npm start starts, with settings that can be used', () => {
    const command = JSON.parse(instructions.find(({ name }) => name === 'CMD')?.rest ?? '[]') as string[];
    const ofMalloc = Object.entries(imageEnv).filter(([name]) => name.startsWith('MALLOC_'));
    expect(`${ofMalloc.map(([name, value]) => `${name}=${value}`).join(' ')} exec ${command.join(' ')}`).toBe(served);
    expect(unknown(Object.keys(imageEnv))).toEqual([]);
    expect(settingsProblems(imageEnv)).toEqual([]);
    expect(instructions.find(({ name }) => name === 'EXPOSE')?.rest).toBe(imageEnv.PORT);
  });
});

describe('the package', () => {
  it('starts what npm start starts', () => {
    const command = read('deploy/package/parley.js');
    const flags = served.split(' ').filter((word) => word.startsWith('--'));
    expect(flags.length).toBeGreaterThan(0);
    expect(command).toContain(`[${flags.map((flag) => `'${flag}'`).join(', ')}, main]`);
    const ofMalloc = served.split(' ').filter((word) => word.startsWith('MALLOC_'));
    expect(ofMalloc.length).toBeGreaterThan(0);
    expect(command).toContain(`{ ${ofMalloc.map((word) => word.replace(/=(.*)/, ": '$1'")).join(', ')}, ...process.env }`);
  });

  it('names every program that is started by its file, so that the compiled file is found', () => {
    // What deploy/pack.ts renames. Another way of naming one would be missing in the package.
    const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter(
      (path) => /\.[tj]s$/.test(path) && !path.includes('generated'),
    );
    const names = sources.flatMap((path) =>
      read(join('src', path))
        .split('\n')
        .filter((line) => /['"`]\.{1,2}\/[\w./-]*\.ts['"`]/.test(line)),
    );
    const others = names.filter(
      (line) =>
        !/(?:from |import |import\()'\.{1,2}\/[^']*\.ts'/.test(line) &&
        !/new URL\('\.\/[^']*\.ts', import\.meta\.url\)/.test(line),
    );
    expect(others).toEqual([]);
  });
});

describe('compose.yaml', () => {
  const parleys = Object.entries<Record<string, never>>(compose.services).filter(
    ([, one]) => (one.image as unknown) === 'parley',
  );

  it('runs two Parleys with settings that can be used, and a file store that they share', () => {
    expect(parleys).toHaveLength(2);
    for (const [, { environment }] of parleys) {
      const env = Object.fromEntries(Object.entries(environment ?? {}).map(([name, value]) => [name, filled(String(value))]));
      expect(unknown(Object.keys(env))).toEqual([]);
      expect(settingsProblems(env)).toEqual([]);
      expect(env.BLOB_URL).toMatch(/^s3:/);
    }
  });

  it('names services, volumes and ports that are there', () => {
    const services = new Set(Object.keys(compose.services));
    for (const [, one] of Object.entries<Record<string, unknown>>(compose.services)) {
      const needed = Array.isArray(one.depends_on) ? one.depends_on : Object.keys(one.depends_on ?? {});
      expect(needed.filter((name) => !services.has(name))).toEqual([]);
      for (const volume of (one.volumes ?? []) as string[]) {
        const source = volume.split(':')[0] ?? '';
        expect(source.startsWith('./') ? existsSync(join(root, source)) : source in compose.volumes).toBe(true);
      }
    }
    const upstreams = [...read('deploy/Caddyfile').matchAll(/(parley-\d):(\d+)/g)];
    expect(upstreams.map(([, name]) => name).sort()).toEqual(parleys.map(([name]) => name).sort());
    for (const [, , port] of upstreams) expect(port).toBe(imageEnv.PORT);
  });
});

describe('the Kubernetes manifests', () => {
  const pod = objects.get('Deployment').spec.template.spec;
  const [container] = pod.containers;

  it('are YAML without errors, and fit each other', () => {
    expect(manifests.flatMap(({ errors }) => errors)).toEqual([]);
    const labels = objects.get('Deployment').spec.template.metadata.labels;
    for (const kind of ['Service', 'Deployment', 'PodDisruptionBudget']) {
      const { selector } = objects.get(kind).spec;
      expect(labels).toMatchObject(selector.matchLabels ?? selector);
    }
    expect(objects.get('Service').spec.ports[0].targetPort).toBe(container.ports[0].name);
    expect(container.volumeMounts.map(({ name }: { name: string }) => name)).toEqual(
      pod.volumes.map(({ name }: { name: string }) => name),
    );
  });

  it('give the container settings that can be used, and its port', () => {
    const env = { ...imageEnv, ...objects.get('ConfigMap').data, ...objects.get('Secret').stringData };
    expect(unknown(Object.keys(env))).toEqual([]);
    expect(settingsProblems(env)).toEqual([]);
    expect(String(container.ports[0].containerPort)).toBe(env.PORT);
    const graceMs = loadSettings(env).SHUTDOWN_GRACE_MS + container.lifecycle.preStop.sleep.seconds * 1_000;
    expect(pod.terminationGracePeriodSeconds * 1_000).toBeGreaterThan(graceMs);
  });

  it.each(['startupProbe', 'livenessProbe', 'readinessProbe'])('ask for a page that answers: %s', async (probe) => {
    const { path, port } = container[probe].httpGet;
    expect(port).toBe(container.ports[0].name);
    expect((await fetch(service.url + path)).status).toBe(200);
  });
});

describe('the Helm chart', () => {
  const chart = join(root, 'deploy/helm/parley');
  const byKind = (all: readonly Manifest[]) => new Map(all.map((one) => [`${one.kind} ${one.metadata.name}`, one]));

  it('makes what the plain manifests say, unless it is told otherwise', () => {
    const made = byKind(renderChart(chart, 'parley'));
    const deployment = made.get('Deployment parley');
    // The plain manifests leave this to Kubernetes, which does the same.
    delete deployment.spec.template.spec.containers[0].imagePullPolicy;
    for (const { kind, ...plain } of objects.values()) expect(made.get(`${kind} parley`)).toEqual({ kind, ...plain });
    expect([...made.keys()].sort()).toEqual([...objects.keys()].map((kind) => `${kind} parley`).sort());
  });

  it('starts workers of their own, takes a Secret that is there, and makes an Ingress', () => {
    const values = { workers: 3, existingSecret: 'vault', ingress: { enabled: true, className: 'nginx' } };
    const made = byKind(renderChart(chart, 'ours', values));
    const podOf = (name: string) => made.get(`Deployment ${name}`).spec.template.spec.containers[0];
    for (const [name, role] of [
      ['ours', 'web'],
      ['ours-worker', 'worker'],
    ] as const) {
      expect(podOf(name).env).toEqual([{ name: 'ROLE', value: role }]);
      expect(podOf(name).envFrom).toEqual([{ configMapRef: { name: 'ours' } }, { secretRef: { name: 'vault' } }]);
      expect(settingsProblems({ ROLE: role })).toEqual([]);
    }
    expect(made.get('Deployment ours-worker').spec.replicas).toBe(3);
    // A worker gets no requests.
    expect(made.get('Service ours').spec.selector).toEqual({ app: 'ours' });
    expect(made.get('Deployment ours-worker').spec.template.metadata.labels).toEqual({ app: 'ours-worker' });
    expect(made.get('Ingress ours').spec.rules[0].http.paths[0].backend.service.name).toBe('ours');
    expect(made.has('Secret ours')).toBe(false);
  });

  it('is of this version', () => {
    const { version } = JSON.parse(read('package.json'));
    const about = parse(read('deploy/helm/parley/Chart.yaml'));
    expect([about.version, about.appVersion]).toEqual([version, version]);
  });
});

describe('other files of an installation', () => {
  it('.env.example names settings only, and can be used as it is', () => {
    const text = read('.env.example');
    const ofCompose = [...read('compose.yaml').matchAll(/\$\{(\w+)/g)].map(([, name = '']) => name);
    const all = parseEnv(text.replaceAll(/^# (?=[A-Z_]+=)/gm, ''));
    expect(unknown(Object.keys(all)).filter((name) => !ofCompose.includes(name))).toEqual([]);
    expect(ofCompose.filter((name) => !(name in all))).toEqual([]);
    expect(settingsProblems(parseEnv(text))).toEqual([]);
  });

  it('the unit of systemd starts what npm start starts, and waits for its end', () => {
    const line = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1] ?? '';
    const ofMalloc = line('Environment').match(/MALLOC_\w+=\S+/g) ?? [];
    expect(`${ofMalloc.join(' ')} exec ${line('ExecStart').replace('/opt/parley/node_modules/.bin/', '')}`).toBe(served);
    const env = Object.fromEntries(
      line('Environment')
        .split(' ')
        .map((pair) => pair.split('=') as [string, string]),
    );
    expect(unknown(Object.keys(env))).toEqual([]);
    expect(settingsProblems(env)).toEqual([]);
    expect(Number(line('TimeoutStopSec')) * 1_000).toBeGreaterThan(defaults.SHUTDOWN_GRACE_MS);
  });

  it('.nvmrc names the Node that src/lib/node-version.js needs', () => {
    expect(read('src/lib/node-version.js')).toContain(`neededMajor = ${read('.nvmrc').trim()};`);
  });
});
