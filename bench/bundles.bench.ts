// 500 bundles for 1,000 clusters in 5 regions: what is rendered, what is delivered, and what a one-line change costs.
// Run with `node bench/bundles.bench.ts`. Figures to compare are the ratios; times are this machine's.
import { utf8 } from '../src/core/bytes.ts'
import type { ClusterInputs } from '../src/core/cluster-inputs.ts'
import type { Digest } from '../src/core/crypto/digest.ts'
import type { BundleRecipe } from '../src/render/bundle/recipe.ts'
import { renderVariants } from '../src/render/bundle/render-variants.ts'
import { toBlobs } from '../src/render/render-result.ts'

const BUNDLES = 500
const REGIONS = ['eu-north', 'eu-south', 'us', 'asia', 'africa']

const clusters = Array.from({ length: 1000 }, (_, n): ClusterInputs => ({
  name: `store-${n}`,
  labels: { region: REGIONS[n % REGIONS.length]!, env: n % 10 === 0 ? 'prod' : 'dev', store: String(n) },
  annotations: {},
  claims: {},
  values: {},
}))

const template = (kind: string, apiVersion: string) =>
  `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata:\n  name: {{ .Release.Name }}\n  labels: {region: "{{ .Values.region }}"}\n`

function filesFor(bundle: number, line: string): Map<string, Uint8Array> {
  return new Map(
    Object.entries({
      'Chart.yaml': `apiVersion: v2\nname: app-${bundle}\nversion: 1.0.0\n`,
      'values.yaml': 'region: none\nreplicas: 1\n',
      'templates/deployment.yaml': `${template('Deployment', 'apps/v1')}spec:\n  replicas: {{ .Values.replicas }}\n`,
      'templates/service.yaml': `${template('Service', 'v1')}spec: {type: ClusterIP}\n`,
      'templates/config.yaml': `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}}\ndata: {v: "${line}"}\n`,
    }).map(([path, text]) => [path, utf8(text)]),
  )
}

const recipeFor = (bundle: number): BundleRecipe => ({
  bundle: `shop/app-${bundle}`,
  path: '',
  templating: true,
  helm: { values: { region: '${ .Cluster.Labels.region }' } },
  variants: [{ name: 'prod', clusterSelector: { matchLabels: { env: 'prod' } }, helm: { values: { replicas: 3 } } }],
})

const entropy = { randomBytes: (n: number) => new Uint8Array(n), now: () => 0, generateKey: () => '' }

/** Renders bundles and gives each cluster's objects by digest. */
function renderAll(bundles: readonly number[], line: (bundle: number) => string) {
  let ms = 0
  const distinct = new Set<Digest>()
  const perCluster = new Map<string, Set<Digest>>()
  let renders = 0
  let delivered = 0
  for (const bundle of bundles) {
    const request = { recipe: recipeFor(bundle), clusters, frozen: {} }
    const files = filesFor(bundle, line(bundle))
    const began = performance.now()
    const { variants } = renderVariants(request, { files, entropy })
    ms += performance.now() - began
    for (const { result, clusters: who } of variants) {
      renders += 1
      if (result.ok !== true) throw new Error('a bundle cannot be rendered')
      const digests = toBlobs(result.objects).map(({ digest }) => digest)
      for (const digest of digests) distinct.add(digest)
      delivered += digests.length * who.length
      for (const name of who) {
        const has = perCluster.get(name) ?? new Set()
        for (const digest of digests) has.add(digest)
        perCluster.set(name, has)
      }
    }
  }
  return { ms, renders, distinct, delivered, perCluster }
}

const everything = Array.from({ length: BUNDLES }, (_, n) => n)
const first = renderAll(everything, () => 'one')
const say = (name: string, value: string | number): boolean => process.stdout.write(`${name.padEnd(44)} ${value}\n`)
say('bundles × clusters', `${BUNDLES} × ${clusters.length}`)
say('renders (distinct contents)', `${first.renders} instead of ${BUNDLES * clusters.length}`)
say('objects stored, each once', first.distinct.size)
say('objects delivered', `${first.delivered} (${Math.round(first.delivered / first.distinct.size)} per stored one)`)
say('time', `${Math.round(first.ms)} ms, ${(first.ms / first.renders).toFixed(2)} ms a render`)
say('memory', `${Math.round(process.memoryUsage().rss / 1024 / 1024)} MiB resident`)

const changed = renderAll([7], () => 'two')
const fresh = [...changed.distinct].filter((digest) => !first.distinct.has(digest))
const resent = [...changed.perCluster.values()].reduce(
  (sum, digests) => sum + [...digests].filter((digest) => !first.distinct.has(digest)).length,
  0,
)
say('one line of one bundle: renders', `${changed.renders} of ${first.renders}`)
say('one line of one bundle: new objects', `${fresh.length} of ${first.distinct.size}`)
say('one line of one bundle: objects sent again', `${resent} of ${first.delivered} (one per cluster)`)
