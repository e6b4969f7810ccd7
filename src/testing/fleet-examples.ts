/**
 * Small repositories in the layouts that Fleet's users have: one application (a counter with a front, a store and copies of the
 * store) as manifests, kustomization, chart, both, and several charts; for one cluster, and for dev, test and prod.
 */
import { writeYaml } from '../yaml/write/write-yaml.ts'

/** Texts by path. */
export type Tree = Record<string, string>

const at = (folder: string, tree: Tree): Tree =>
  Object.fromEntries(Object.entries(tree).map(([path, text]) => [`${folder}/${path}`, text]))

const deployment = (name: string, replicas: number | string, image: string): string => `apiVersion: apps/v1
kind: Deployment
metadata:
  name: ${name}
spec:
  replicas: ${replicas}
  selector:
    matchLabels: {app: counter, role: ${name}}
  template:
    metadata:
      labels: {app: counter, role: ${name}}
    spec:
      containers:
      - name: ${name}
        image: ${image}
        ports: [{containerPort: 8080}]
`

const service = (name: string, role: string, type = 'ClusterIP'): string => `apiVersion: v1
kind: Service
metadata:
  name: ${name}
spec:
  type: ${type}
  ports: [{port: 80, targetPort: 8080}]
  selector: {app: counter, role: ${role}}
`

const MANIFESTS: Tree = {
  'front-deployment.yaml': deployment('front', 1, 'example.com/front:1'),
  'front-service.yaml': service('front', 'front'),
  'store-deployment.yaml': deployment('store', 1, 'example.com/store:1'),
  'store-service.yaml': service('store', 'store'),
  'copy-deployment.yaml': deployment('copy', 2, 'example.com/store:1'),
  'copy-service.yaml': service('copy', 'copy'),
}

const KUSTOMIZE: Tree = {
  ...at('base', MANIFESTS),
  'base/kustomization.yaml': `resources:\n${Object.keys(MANIFESTS)
    .map((path) => `- ${path}\n`)
    .join('')}`,
}

/** The counter as a chart. */
export const CHART: Tree = {
  'Chart.yaml': 'apiVersion: v2\nname: counter\nversion: 1.0.0\n',
  'values.yaml': 'replicas: 1\ncopies: true\nserviceType: ClusterIP\n',
  'templates/front.yaml': `${deployment('front', '{{ .Values.replicas }}', 'example.com/front:1')}---\n${service('front', 'front', '{{ .Values.serviceType }}')}`,
  'templates/store.yaml': `${deployment('store', 1, 'example.com/store:1')}---\n${service('store', 'store')}`,
  'templates/copy.yaml': `{{- if .Values.copies }}\n${deployment('copy', 2, 'example.com/store:1')}---\n{{- end }}\n${service('copy', '{{ ternary "copy" "store" .Values.copies }}')}`,
}

/** What each environment is: dev has no copies of the store, test three fronts, prod three and a load balancer. */
const ENVIRONMENTS = ['dev', 'test', 'prod'] as const

/** A fleet.yaml with a customization for each environment. */
const perEnvironment = (
  options: (environment: string) => Record<string, unknown>,
  base: Record<string, unknown> = {},
): string =>
  writeYaml({
    defaultNamespace: 'counter',
    ...base,
    targetCustomizations: ENVIRONMENTS.map((environment) => ({
      name: environment,
      clusterSelector: { matchLabels: { env: environment } },
      ...options(environment),
    })),
  })

const THREE = 'spec:\n  replicas: 3\n'

const VALUES: Readonly<Record<string, unknown>> = {
  dev: { copies: false },
  test: { replicas: 3 },
  prod: { replicas: 3, serviceType: 'LoadBalancer' },
}

const overlay = (environment: string, patches: Tree): Tree => ({
  ...at(`overlays/${environment}`, patches),
  [`overlays/${environment}/kustomization.yaml`]: writeYaml({
    resources: ['../../base'],
    patches: Object.keys(patches).map((path) => ({ path })),
  }),
})

const named = (kind: string, name: string, body: string): string =>
  `apiVersion: ${kind === 'Deployment' ? 'apps/v1' : 'v1'}\nkind: ${kind}\nmetadata: {name: ${name}}\n${body}`

/** Directories by the name of their case; below `single/` for one cluster, below `multi/` for three environments. */
export const FLEET_EXAMPLES: Readonly<Record<string, Tree>> = {
  'single/manifests': { ...MANIFESTS, 'fleet.yaml': 'defaultNamespace: counter\n' },
  'single/simple': MANIFESTS,
  'single/folders': {
    ...Object.fromEntries(
      Object.entries(MANIFESTS).map(([path, text]) => [
        `${path.includes('service') ? 'services' : 'deployments'}/${path}`,
        text,
      ]),
    ),
    'fleet.yaml': 'namespace: counter\n',
    'README.md': '# The counter\n',
  },
  'single/kustomize-root': {
    ...KUSTOMIZE,
    ...overlay('plain', {}),
    'kustomization.yaml': 'bases:\n- overlays/plain\n',
    'fleet.yaml': 'defaultNamespace: counter\nkustomize:\n  dir: ""\n',
  },
  'single/kustomize': { ...KUSTOMIZE, 'fleet.yaml': 'defaultNamespace: counter\nkustomize:\n  dir: base\n' },
  'single/helm': { ...CHART, 'fleet.yaml': 'defaultNamespace: counter\nhelm:\n  releaseName: counter\n' },
  'single/helm-kustomize': {
    ...at('chart', CHART),
    'fleet.yaml': 'defaultNamespace: counter\nhelm:\n  chart: chart\nkustomize:\n  dir: .\n',
    'kustomization.yaml':
      'commonAnnotations: {team: tills}\npatches:\n- patch: |-\n    - {op: replace, path: /spec/replicas, value: 4}\n  target: {kind: Deployment, name: front}\n',
  },
  'single/helm-multi-chart': {
    ...at('front/chart', {
      'Chart.yaml': 'apiVersion: v2\nname: front\nversion: 1.0.0\n',
      'templates/f.yaml': deployment('front', 1, 'example.com/front:1'),
    }),
    'front/fleet.yaml': 'defaultNamespace: counter\nhelm:\n  chart: chart\ndependsOn:\n- name: counter-store\n',
    ...at('store/chart', {
      'Chart.yaml': 'apiVersion: v2\nname: store\nversion: 1.0.0\n',
      'templates/s.yaml': deployment('store', 1, 'example.com/store:1'),
    }),
    'store/fleet.yaml': 'name: counter-store\ndefaultNamespace: counter\nhelm:\n  chart: chart\n',
  },
  'multi/manifests': {
    ...MANIFESTS,
    'overlays/dev/copy-deployment.yaml': '# one store is enough here\n',
    'overlays/dev/copy-service_patch.yaml': 'spec:\n  selector: {role: store}\n',
    'overlays/test/front-deployment_patch.yaml': THREE,
    'overlays/prod/front-deployment_patch.yaml': THREE,
    'overlays/prod/front-service_patch.yaml': 'spec:\n  type: LoadBalancer\n',
    'fleet.yaml': perEnvironment((environment) => ({ yaml: { overlays: [environment] } })),
  },
  /** Overlays for one thing each, and environments that put them together. */
  'multi/shared-overlays': {
    ...MANIFESTS,
    'overlays/one-store/copy-deployment.yaml': '# one store is enough here\n',
    'overlays/one-store/copy-service_patch.yaml': 'spec:\n  selector: {role: store}\n',
    'overlays/three/front-deployment_patch.yaml': THREE,
    'overlays/public/front-service_patch.yaml': 'spec:\n  type: LoadBalancer\n',
    'fleet.yaml': perEnvironment((environment) => ({
      yaml: { overlays: { dev: ['one-store'], test: ['three'], prod: ['public', 'three'] }[environment] },
    })),
  },
  'multi/kustomize': {
    ...KUSTOMIZE,
    ...overlay('dev', {
      'copy.yaml': named('Deployment', 'copy', '$patch: delete\n'),
      'copy-service.yaml': named('Service', 'copy', 'spec:\n  selector: {role: store}\n'),
    }),
    ...overlay('test', { 'front.yaml': named('Deployment', 'front', THREE) }),
    ...overlay('prod', {
      'front.yaml': named('Deployment', 'front', THREE),
      'front-service.yaml': named('Service', 'front', 'spec:\n  type: LoadBalancer\n'),
    }),
    'fleet.yaml': perEnvironment((environment) => ({ kustomize: { dir: `overlays/${environment}` } })),
  },
  'multi/helm': {
    ...CHART,
    'fleet.yaml': perEnvironment((environment) => ({ helm: { values: VALUES[environment] } })),
  },
  'multi/helm-kustomize': {
    ...at('chart', CHART),
    ...Object.fromEntries(
      ENVIRONMENTS.map((environment) => [
        `overlays/${environment}/kustomization.yaml`,
        `commonAnnotations: {environment: ${environment}}\n`,
      ]),
    ),
    'fleet.yaml': perEnvironment(
      (environment) => ({ helm: { values: VALUES[environment] }, kustomize: { dir: `overlays/${environment}` } }),
      { helm: { chart: 'chart' } },
    ),
  },
  'multi/helm-multi-chart': {
    ...at('counter', {
      ...CHART,
      'fleet.yaml': perEnvironment((environment) => ({ helm: { values: VALUES[environment] } })),
    }),
    ...at('notes/chart', {
      'Chart.yaml': 'apiVersion: v2\nname: notes\nversion: 1.0.0\n',
      'templates/n.yaml':
        'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: notes}\ndata: {env: "{{ .Values.env }}"}\n',
    }),
    'notes/fleet.yaml':
      'defaultNamespace: counter\nhelm:\n  chart: chart\n  values: {env: global.fleet.clusterLabels.env}\n',
  },
  /** A tree by environment, with settings of regions and of sites behind a thin line. */
  'multi/regions': {
    'apps/till/Chart.yaml': 'apiVersion: v2\nname: till\nversion: 1.0.0\n',
    'apps/till/values.yaml': 'registry: docker.io\nlanguage: en\ntills: 1\nsync: 30s\n',
    'apps/till/templates/d.yaml': `${deployment('till', '{{ .Values.tills }}', '{{ .Values.registry }}/till:2')}---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: till}\ndata: {language: "{{ .Values.language }}", sync: "{{ .Values.sync }}", site: "{{ .Values.site }}"}\n`,
    'apps/till/fleet.yaml': writeYaml({
      defaultNamespace: 'till',
      targetCustomizationMode: 'AllMatches',
      helm: { chart: '.', values: { site: '${ .ClusterName }' } },
      targetCustomizations: [
        {
          name: 'prod',
          clusterSelector: { matchLabels: { env: 'prod' } },
          helm: { valuesFiles: ['../../settings/prod.yaml'] },
        },
        {
          name: 'eu',
          clusterSelector: { matchLabels: { region: 'eu' } },
          helm: { valuesFiles: ['../../settings/eu.yaml'] },
        },
        {
          name: 'thin-line',
          clusterSelector: {
            matchExpressions: [{ key: 'network', operator: 'In', values: ['constrained', 'satellite'] }],
          },
          helm: { valuesFiles: ['../../settings/thin-line.yaml'] },
        },
        { name: 'closed', clusterSelector: { matchLabels: { state: 'closed' } }, doNotDeploy: true },
      ],
    }),
    'settings/prod.yaml': 'tills: 4\n',
    'settings/eu.yaml': 'language: de\nregistry: eu.mirror.example.com\n',
    'settings/thin-line.yaml': 'registry: localhost:5000\nsync: 15m\n',
  },
  /** What a platform team and the teams on it keep in one repository, for three environments. */
  'teams/platform': {
    'README.md': '# Everything we run\n',
    ...at('platform/gateway', {
      'Chart.yaml': 'apiVersion: v2\nname: gateway\nversion: 0.3.0\n',
      'values.yaml': 'class: internal\n',
      'values/dev.yaml': 'class: internal\n',
      'values/test.yaml': 'class: internal\n',
      'values/prod.yaml': 'class: public\n',
      'templates/gateway.yaml':
        'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "{{ .Release.Name }}"}\ndata: {class: "{{ .Values.class }}", host: "{{ .Values.host }}"}\n',
      'fleet.yaml': writeYaml({
        name: 'gateway',
        defaultNamespace: 'gateway',
        helm: { releaseName: 'gateway', chart: '.', values: { host: '${ .ClusterName }.example.com' } },
        targetCustomizations: ENVIRONMENTS.map((environment) => ({
          name: environment,
          clusterGroup: environment,
          helm: { valuesFiles: [`values/${environment}.yaml`] },
        })),
      }),
    }),
    ...at('platform/metrics', {
      'base/metrics.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: metrics}\ndata: {every: 60s}\n',
      'base/kustomization.yaml': 'resources: [metrics.yaml]\n',
      ...Object.assign(
        {},
        ...ENVIRONMENTS.map((environment) =>
          overlay(environment, {
            'metrics.yaml': `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: metrics}\ndata: {environment: ${environment}}\n`,
          }),
        ),
      ),
      'fleet.yaml': writeYaml({
        defaultNamespace: 'metrics',
        dependsOn: [{ name: 'gateway' }],
        targetCustomizations: ENVIRONMENTS.map((environment) => ({
          name: environment,
          clusterGroup: environment,
          kustomize: { dir: `overlays/${environment}` },
        })),
      }),
    }),
    ...at('apps/shop', {
      'shop.yaml': deployment('shop', 1, 'example.com/shop:1'),
      'overlays/prod/shop_patch.yaml': THREE,
      '.fleetignore': '# for people\ndocs\n*.sample.yaml\n',
      'docs/example.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: example}\n',
      'shop.sample.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: sample}\n',
      'fleet.yaml': writeYaml({
        defaultNamespace: 'shop',
        namespaceLabels: { team: 'shop' },
        targetCustomizations: [
          { name: 'prod', clusterGroup: 'prod', yaml: { overlays: ['prod'] } },
          { name: 'test', clusterGroup: 'test', doNotDeploy: true },
        ],
      }),
      'jobs/jobs.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: jobs}\ndata: {nightly: "true"}\n',
      'jobs/fleet.yaml': 'defaultNamespace: shop\n',
    }),
  },
}
