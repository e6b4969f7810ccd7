/**
 * Repositories as platform teams lay them out: one application for dev, test and prod, in every style, with the same
 * outcome.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { utf8 } from '../../core/bytes.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { describeProblems } from '../render-result.ts'
import type { BundleRecipe } from './recipe.ts'
import { renderVariant } from './render-variant.ts'

const ENTROPY = { randomBytes: (n: number) => new Uint8Array(n), now: () => 0, generateKey: () => '' }

const deployment = (name: string, replicas = 1) =>
  `apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: ${name}\nspec:\n  replicas: ${replicas}\n  selector: {matchLabels: {app: ${name}}}\n  template:\n    metadata: {labels: {app: ${name}}}\n    spec:\n      containers: [{name: ${name}, image: guestbook/${name}:v4}]\n`
const service = (name: string, role = name, type = 'ClusterIP') =>
  `apiVersion: v1\nkind: Service\nmetadata:\n  name: ${name}\nspec:\n  type: ${type}\n  selector: {role: ${role}}\n  ports: [{port: 80}]\n`

const BASE = {
  'frontend.yaml': deployment('frontend'),
  'frontend-service.yaml': service('frontend'),
  'redis-slave.yaml': deployment('redis-slave'),
  'redis-slave-service.yaml': service('redis-slave', 'slave'),
}

const below = (folder: string, files: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(files).map(([path, text]) => [`${folder}/${path}`, text]))

const env = (name: string) => ({ name, clusterSelector: { matchLabels: { env: name } } })

/** What each environment should have, in words that do not depend on the style. */
function summary(
  recipe: Partial<BundleRecipe>,
  files: Readonly<Record<string, string>>,
  environment: string,
): string[] {
  const cluster = { name: 'c', labels: { env: environment }, annotations: {}, claims: {}, values: {} }
  const bytes = new Map(Object.entries(files).map(([path, text]) => [path, utf8(text)]))
  const { result } = renderVariant({ bundle: 'ns/guestbook', ...recipe }, cluster, {
    files: bytes,
    entropy: ENTROPY,
    frozen: {},
  })
  assert.ok(result.ok === true, result.ok === false ? describeProblems(result.problems) : 'skipped')
  return result.objects.map(line).sort()
}

function line({ kind, metadata, ...object }: UnknownObject): string {
  const spec = object['spec'] as { replicas?: number; type?: string; selector?: { role?: string } }
  const detail = kind === 'Deployment' ? spec.replicas : `${spec.type} role=${spec.selector?.role}`
  return `${kind} ${metadata.namespace}/${metadata.name} ${detail}`
}

const EXPECTED: Readonly<Record<string, string[]>> = {
  dev: [
    'Deployment guestbook/frontend 1',
    'Service guestbook/frontend ClusterIP role=frontend',
    'Service guestbook/redis-slave ClusterIP role=master',
  ],
  test: [
    'Deployment guestbook/frontend 3',
    'Deployment guestbook/redis-slave 1',
    'Service guestbook/frontend ClusterIP role=frontend',
    'Service guestbook/redis-slave ClusterIP role=slave',
  ],
  prod: [
    'Deployment guestbook/frontend 3',
    'Deployment guestbook/redis-slave 1',
    'Service guestbook/frontend LoadBalancer role=frontend',
    'Service guestbook/redis-slave ClusterIP role=slave',
  ],
}

const replicas = { kind: 'Deployment', name: 'frontend', patch: { spec: { replicas: 3 } } }

const LAYOUTS: Readonly<Record<string, { recipe: Partial<BundleRecipe>; files: Readonly<Record<string, string>> }>> = {
  manifests: {
    recipe: {
      path: 'app',
      variants: [
        {
          ...env('dev'),
          patches: [
            { kind: 'Deployment', name: 'redis-slave', patch: { $patch: 'delete' } },
            { kind: 'Service', name: 'redis-slave', patch: { spec: { selector: { role: 'master' } } } },
          ],
        },
        { ...env('test'), patches: [replicas] },
        {
          ...env('prod'),
          patches: [replicas, { kind: 'Service', name: 'frontend', patch: { spec: { type: 'LoadBalancer' } } }],
        },
      ],
    },
    files: below('app', BASE),
  },
  kustomize: {
    recipe: {
      path: 'app',
      variants: ['dev', 'test', 'prod'].map((name) => ({ ...env(name), kustomize: { dir: `overlays/${name}` } })),
    },
    files: {
      ...below('app/base', { ...BASE, 'kustomization.yaml': `resources: [${Object.keys(BASE).join(', ')}]\n` }),
      'app/overlays/dev/kustomization.yaml':
        'resources: [../../base]\npatches:\n- patch: |\n    $patch: delete\n    apiVersion: apps/v1\n    kind: Deployment\n    metadata: {name: redis-slave}\n- patch: |\n    apiVersion: v1\n    kind: Service\n    metadata: {name: redis-slave}\n    spec: {selector: {role: master}}\n',
      'app/overlays/test/kustomization.yaml': 'resources: [../../base]\nreplicas: [{name: frontend, count: 3}]\n',
      'app/overlays/prod/kustomization.yaml':
        'resources: [../../base]\nreplicas: [{name: frontend, count: 3}]\npatches:\n- patch: |\n    apiVersion: v1\n    kind: Service\n    metadata: {name: frontend}\n    spec: {type: LoadBalancer}\n',
    },
  },
  helm: {
    recipe: {
      path: 'app',
      variants: [
        { ...env('dev'), helm: { values: { replication: false } } },
        { ...env('test'), helm: { values: { replicas: 3 } } },
        { ...env('prod'), helm: { valuesFiles: ['../environments/prod.yaml'] } },
      ],
    },
    files: {
      'app/Chart.yaml': 'apiVersion: v2\nname: guestbook\nversion: 0.0.0\n',
      'app/values.yaml': 'replication: true\nreplicas: 1\nserviceType: ClusterIP\n',
      'app/templates/frontend.yaml': deployment('frontend').replace('replicas: 1', 'replicas: {{ .Values.replicas }}'),
      'app/templates/frontend-service.yaml': service('frontend', 'frontend', '{{ .Values.serviceType }}'),
      'app/templates/slave.yaml': `{{ if .Values.replication }}\n${deployment('redis-slave')}{{ end }}\n`,
      'app/templates/slave-service.yaml': service(
        'redis-slave',
        '{{ if .Values.replication }}slave{{ else }}master{{ end }}',
      ),
      'environments/prod.yaml': 'replicas: 3\nserviceType: LoadBalancer\n',
    },
  },
  'helm and kustomize': {
    recipe: {
      path: 'app',
      helm: { chart: 'chart' },
      variants: ['dev', 'test', 'prod'].map((name) => ({ ...env(name), kustomize: { dir: `overlays/${name}` } })),
    },
    files: {
      'app/chart/Chart.yaml': 'apiVersion: v2\nname: guestbook\nversion: 0.0.0\n',
      ...below('app/chart/templates', BASE),
      'app/overlays/dev/kustomization.yaml':
        'patches:\n- patch: |\n    $patch: delete\n    apiVersion: apps/v1\n    kind: Deployment\n    metadata: {name: redis-slave}\n- patch: |\n    apiVersion: v1\n    kind: Service\n    metadata: {name: redis-slave}\n    spec: {selector: {role: master}}\n',
      'app/overlays/test/kustomization.yaml': 'replicas: [{name: frontend, count: 3}]\n',
      'app/overlays/prod/kustomization.yaml':
        'replicas: [{name: frontend, count: 3}]\npatches:\n- patch: |\n    apiVersion: v1\n    kind: Service\n    metadata: {name: frontend}\n    spec: {type: LoadBalancer}\n',
    },
  },
}

for (const [name, { recipe, files }] of Object.entries(LAYOUTS)) {
  test(`dev, test and prod of a guestbook: ${name}`, () => {
    for (const environment of ['dev', 'test', 'prod']) {
      assert.deepEqual(
        summary({ defaultNamespace: 'guestbook', ...recipe }, files, environment),
        EXPECTED[environment],
        environment,
      )
    }
  })
}

test('a region overlay over an environment, and images of a constrained network', () => {
  const recipe: BundleRecipe = {
    bundle: 'ns/app',
    path: 'app',
    templating: true,
    variants: [
      { name: 'eu', clusterSelector: { matchLabels: { region: 'eu' } }, helm: { valuesFiles: ['../regions/eu.yaml'] } },
      {
        name: 'no-internet',
        clusterSelector: { matchExpressions: [{ key: 'network', operator: 'In', values: ['constrained'] }] },
        images: [{ from: 'docker.io', to: 'mirror.${ .Cluster.Labels.site }.local/hub' }],
      },
    ],
  }
  const files = new Map(
    Object.entries({
      'app/Chart.yaml': 'apiVersion: v2\nname: app\nversion: 0.0.0\n',
      'app/values.yaml': 'currency: USD\n',
      'app/templates/d.yaml': `${deployment('app')}---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: app}\ndata: {currency: "{{ .Values.currency }}"}\n`,
      'regions/eu.yaml': 'currency: EUR\n',
    }).map(([path, text]) => [path, utf8(text)]),
  )
  const of = (labels: Record<string, string>) => {
    const cluster = { name: 'c', labels, annotations: {}, claims: {}, values: {} }
    const { result } = renderVariant(recipe, cluster, { files, entropy: ENTROPY, frozen: {} })
    assert.ok(result.ok === true)
    const text = JSON.stringify(result.objects)
    return [/"currency":"(\w+)"/.exec(text)?.[1], /"image":"([^"]+)"/.exec(text)?.[1]]
  }
  assert.deepEqual(of({ region: 'us', site: 's1' }), ['USD', 'guestbook/app:v4'])
  assert.deepEqual(of({ region: 'eu', network: 'constrained', site: 'plant-7' }), [
    'EUR',
    'mirror.plant-7.local/hub/guestbook/app:v4',
  ])
})
