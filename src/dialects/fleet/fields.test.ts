/**
 * Every field of the tables does what the table says: it changes what is made, it is warned about, or it is refused.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isObject } from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'
import { readFleetTree } from '../../testing/fixtures/rancher-fleet/repository.ts'
import { desiredOf, sourceOf } from './compile/desired-objects.ts'
import { isListOf } from '../field-table.ts'
import type { Field, Fields } from '../field-table.ts'
import { FLEET_YAML, GIT_REPO } from './fields.ts'
import type { GitRepo } from './kinds.ts'
import { readGitRepoSpec } from './compile/read-git-repo.ts'
import type { Finding } from '../read-fields.ts'

const CM = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\n'
const TREE = {
  'cm.yaml': CM,
  'b/cm.yaml': CM,
  'b/other.yaml': 'namespace: ns\n',
  'ch/Chart.yaml': 'apiVersion: v2\nname: ch\nversion: 1.0.0\n',
  'ch/templates/cm.yaml': CM,
  'f.yaml': 'from: f\n',
  'k/kustomization.yaml': 'resources: []\n',
  'overlays/o/cm_patch.yaml': 'data: {a: b}\n',
}
const groups = [{ name: 'g', labels: { tier: 'gold' }, selector: { matchLabels: { env: 'prod' } } }]
const clusters = Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`c${n}`, { env: n < 3 ? 'canary' : 'prod' }]))

const remote = { repo: 'https://charts.example.com', chart: 'c', version: '1.0.0' }
const patch = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  namespace: 'n',
  name: 'd',
  jsonPointers: ['/spec/replicas'],
  operations: [{ op: 'remove', path: '/spec/paused' }],
}
const partition = { name: 'canary', clusterSelector: { matchLabels: { env: 'canary' } }, maxUnavailable: 1 }

/** What a bundle says for all clusters or, in a customization, for some. */
const OPTIONS: JsonObject = {
  defaultNamespace: 'd',
  namespace: 'n',
  namespaceLabels: { a: 'b' },
  namespaceAnnotations: { a: 'b' },
  serviceAccount: 'sa',
  createNamespace: false,
  helm: {
    ...remote,
    releaseName: 'r',
    values: { a: 1 },
    valuesFiles: ['f.yaml'],
    valuesFrom: [{ secretKeyRef: { name: 's', namespace: 'n', key: 'k' } }],
    templateValues: { a: '${ .ClusterName }' },
    timeoutSeconds: 30,
    waitForJobs: true,
    atomic: true,
    force: true,
    takeOwnership: true,
    maxHistory: 3,
    disablePreProcess: true,
    disableDNS: true,
    skipSchemaValidation: true,
    disableDependencyUpdate: true,
  },
  kustomize: { dir: 'k' },
  yaml: { overlays: ['o'] },
  keepResources: true,
  deleteNamespace: true,
  deleteCRDResources: true,
  forceSyncGeneration: 2,
  correctDrift: { enabled: true, force: true, keepFailHistory: true },
  diff: { comparePatches: [patch] },
  ignore: { conditions: [{ type: 'Ready', status: 'False' }] },
  downstreamResources: [{ kind: 'Secret', name: 's' }],
}

const TARGET: JsonObject = {
  name: 'a',
  clusterName: 'c1',
  clusterSelector: { matchLabels: { env: 'prod' } },
  clusterGroup: 'g',
  clusterGroupSelector: { matchLabels: { tier: 'gold' } },
}

const YAML: JsonObject = {
  name: 'called',
  labels: { a: 'b' },
  annotations: { a: 'b' },
  finalizers: ['x/y'],
  ...OPTIONS,
  paused: true,
  dependsOn: [{ name: 'x', acceptedStates: ['Ready', 'Modified'] }],
  rolloutStrategy: {
    maxUnavailable: 2,
    maxUnavailablePartitions: 1,
    autoPartitionSize: 6,
    autoPartitionThreshold: 5,
    maxNew: 4,
    partitions: [partition],
  },
  targetCustomizations: [{ ...TARGET, namespace: 'n' }],
  targetCustomizationMode: 'AllMatches',
  targets: [{ ...TARGET, namespace: 'n' }],
  overrideTargets: [TARGET],
  imageScans: [
    { image: 'i', tagName: 't', policy: { a: {} }, interval: '5m', secretRef: { name: 's' }, suspend: true },
  ],
  contentsId: 'x',
  valuesHash: 'x',
  helmOpOptions: { a: 1 },
  targetRestrictions: [{ clusterName: 'c1' }],
  resources: [{ name: 'x' }],
}

const REPO: JsonObject = {
  repo: 'https://git.example.com/y',
  branch: 'main',
  revision: 'v1',
  paths: ['b'],
  bundles: [{ base: 'b', options: 'other.yaml' }],
  targets: [TARGET],
  targetNamespace: 'n',
  clientSecretName: 's',
  helmSecretName: 's',
  helmSecretNameForPaths: 's',
  helmRepoURLRegex: 'https://charts',
  caBundle: 'x',
  insecureSkipTLSVerify: true,
  paused: true,
  serviceAccount: 'sa',
  pollingInterval: '5m',
  disablePolling: true,
  forceSyncGeneration: 2,
  imageScanInterval: '5m',
  imageScanCommit: { authorName: 'a' },
  keepResources: true,
  deleteNamespace: true,
  correctDrift: { enabled: true, force: true, keepFailHistory: true },
  ociRegistrySecret: 's',
  webhookSecret: 's',
}

/** Fields without which their neighbours say nothing: what stands beside the one that is looked at. */
const BESIDE: Readonly<Record<string, JsonObject>> = {
  'helm.repo': { helm: { chart: 'c' } },
  'helm.version': { helm: { repo: remote.repo, chart: 'c' } },
  'helm.valuesFrom': { helm: remote },
  'correctDrift.force': { correctDrift: { enabled: true } },
  'rolloutStrategy.autoPartitionSize': { rolloutStrategy: { autoPartitionThreshold: 5 } },
  'rolloutStrategy.maxUnavailablePartitions': { rolloutStrategy: { maxUnavailable: 2 } },
  helmSecretName: { helmRepoURLRegex: 'https://charts' },
  helmRepoURLRegex: { helmSecretName: 's' },
}

/** Nothing changes, because it is always so; the table says why. */
const ALWAYS = new Set([
  'helm.waitForJobs',
  'helm.disableDNS',
  'helm.disableDependencyUpdate',
  // Fleet itself overwrites that of fleet.yaml with the GitRepo's.
  'forceSyncGeneration',
  'rolloutStrategy.maxUnavailablePartitions',
])

interface Made {
  readonly shown: string
  readonly findings: readonly string[]
  readonly bundles: number
}

function made(yaml: JsonObject, spec: JsonObject = {}): Made {
  const whole: JsonObject = { repo: 'https://git.example.com/x', targets: [{ clusterSelector: {} }], ...spec }
  const said: Finding[] = []
  const tree = { ...TREE, 'fleet.yaml': yaml }
  const read = readFleetTree(tree, { spec: readGitRepoSpec(whole, said), groups, clusters })
  const repo = { metadata: { name: 'repo', namespace: 'fleet-default', uid: 'u' }, spec: whole } as unknown as GitRepo
  const secret = typeof whole['clientSecretName'] === 'string' ? whole['clientSecretName'] : undefined
  const objects = said.some(({ level }) => level === 'error')
    ? []
    : [sourceOf(repo, secret), ...desiredOf(repo, read.bundles)]
  return {
    shown: JSON.stringify(objects.map(({ object }) => object)),
    findings: [...said.map(({ message }) => message), ...read.findings],
    bundles: objects.length === 0 ? 0 : read.bundles.length,
  }
}

/** Every field by its path that stands for itself: lists and blocks only where they have no fields of their own. */
function leaves(
  fields: Fields,
  at: readonly string[] = [],
): { readonly path: readonly string[]; readonly field: Field }[] {
  return Object.entries(fields).flatMap(([name, field]) => {
    const path = [...at, name]
    const { shape } = field
    const isBlock = typeof shape === 'object' && !isListOf(shape)
    return isBlock && field.verdict !== 'warned' && field.verdict !== 'refused'
      ? leaves(shape, path)
      : [{ path, field }]
  })
}

function pick(from: JsonObject, path: readonly string[]): JsonObject | undefined {
  const [name = '', ...rest] = path
  if (!Object.hasOwn(from, name)) return undefined
  const value = from[name]
  if (rest.length === 0) return { [name]: value }
  const below = isObject(value) ? pick(value, rest) : undefined
  return below && { [name]: below }
}

function merged(a: JsonObject, b: JsonObject): JsonObject {
  const both = Object.keys(b).filter((key) => isObject(a[key]) && isObject(b[key]))
  const deep = both.map((key) => [key, merged(a[key] as JsonObject, b[key] as JsonObject)])
  return { ...a, ...b, ...(Object.fromEntries(deep) as JsonObject) }
}

type Read = (part: JsonObject) => Made

/** Looks at one field: what is made with it, and without. */
function check(
  { path, field }: { readonly path: readonly string[]; readonly field: Field },
  all: JsonObject,
  read: Read,
  always: ReadonlySet<string> = ALWAYS,
): void {
  const name = path.join('.')
  const own = pick(all, path)
  assert.ok(own, `${name} has no example here`)
  const beside = BESIDE[name] ?? {}
  const [without, withIt] = [read(beside), read(merged(beside, own))]
  const news = withIt.findings.filter((one) => !without.findings.includes(one))
  const last = path.at(-1)!
  switch (field.verdict) {
    case 'refused':
      assert.equal(withIt.bundles, 0, `${name} is refused`)
      assert.ok(
        news.some((one) => one.includes(last)),
        `${name}: ${news.join('; ')}`,
      )
      break
    case 'warned':
      assert.ok(
        news.some((one) => one.includes(last)),
        `${name} must be warned about: ${news.join('; ')}`,
      )
      assert.ok(withIt.bundles > 0, `${name} is only warned about`)
      break
    default:
      // One that is only nearly the same may say so.
      assert.deepEqual(
        news.filter((one) => field.verdict === 'exact' || !one.includes(last)),
        [],
        `${name} is taken without a word`,
      )
      assert.equal(withIt.shown !== without.shown, !always.has(name), `${name} changes what is made`)
  }
}

test('every field of fleet.yaml', () => {
  for (const leaf of leaves(FLEET_YAML)) check(leaf, YAML, (part) => made(part))
})

test('every field of a GitRepo', () => {
  const remoteYaml = { helm: remote }
  for (const leaf of leaves(GIT_REPO)) check(leaf, REPO, (part) => made(remoteYaml, part), new Set())
})

const itemsOf = (field: Field): Fields => {
  assert.ok(isListOf(field.shape))
  return field.shape.items
}

test('every field of a customization counts for its clusters', () => {
  const base = { name: 'v', clusterSelector: { matchLabels: { env: 'prod' } } }
  const options = Object.fromEntries(
    Object.entries(itemsOf(FLEET_YAML['targetCustomizations']!)).filter(
      ([name]) => name in OPTIONS || name === 'doNotDeploy',
    ),
  )
  for (const list of ['targetCustomizations', 'targets']) {
    for (const leaf of leaves(options)) {
      check(leaf, { ...OPTIONS, doNotDeploy: true }, (part) => made({ [list]: [{ ...base, ...part }] }))
    }
  }
})

test('every way to mean clusters: targets, customizations, overrides, partitions', () => {
  const fields = itemsOf(GIT_REPO['targets']!)
  for (const leaf of leaves(fields).filter(({ path }) => path[0] !== 'name')) {
    check(leaf, TARGET, (part) => made({}, { targets: [{ name: 'x', ...part }] }))
    check(leaf, TARGET, (part) => made({ overrideTargets: [{ name: 'x', ...part }] }))
    const meant = made({ targetCustomizations: [{ namespace: 'n', ...pick(TARGET, leaf.path) }] })
    assert.match(meant.shown, /"variants":\[\{"name":"target000"/, leaf.path.join())
    if (leaf.path[0] === 'clusterName') continue
    const rings = made({ rolloutStrategy: { partitions: [{ name: 'p', ...pick(TARGET, leaf.path) }] } })
    assert.match(rings.shown, /"name":"p"/, leaf.path.join())
  }
  const named = made({ rolloutStrategy: { partitions: [{ name: 'p', clusterName: 'c1' }] } })
  assert.match(named.findings.join(), /a ring cannot take a cluster by its name/)
})

test('every field of a compare patch', () => {
  const fields = Object.keys(itemsOf((FLEET_YAML['diff']!.shape as Fields)['comparePatches']!))
  assert.deepEqual(fields, Object.keys(patch))
  const whole = made({ diff: { comparePatches: [patch] } }).shown
  for (const name of fields) {
    const { [name as keyof typeof patch]: _left, ...rest } = patch
    assert.notEqual(made({ diff: { comparePatches: [rest] } }).shown, whole, name)
  }
})
