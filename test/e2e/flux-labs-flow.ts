/**
 * The labs about Flux, typed with kubectl as their courses have them, by a user who may edit one namespace. The only
 * set-up besides the labs is a Placement and one annotation on the Namespace.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { serveGit, startContentServer } from '../../src/testing/fixtures/content-server.ts'
import { createTestRepository } from '../../src/testing/fixtures/git-repository.ts'
import { startFleetHub } from './fleet-flow.ts'
import type { Site } from './fleet-flow.ts'
import { runFlotilla, startFlotilla, temporaryFolder } from './flotilla-process.ts'
import type { Cleanup } from './flotilla-process.ts'
import { settles } from './pushed-sites.ts'

const LABS = resolve(import.meta.dirname, '../labs')
const NS = ['-n', 'flux-system']
const EDITOR = ['--as', 'jane', ...NS]

const configMap = (name: string): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: ${name}, namespace: default }\ndata: { from: ${name} }\n`

const FILES = {
  'baseline/cm.yaml': configMap('baseline'),
  'regions/emea/cm.yaml': configMap('emea'),
  'regions/apac/cm.yaml': configMap('apac'),
  'clusters/store-0142/kustomization.yaml': 'resources: [../../baseline, cm.yaml]\n',
  'clusters/store-0142/cm.yaml': configMap('store-0142'),
  'baseline/kustomization.yaml': 'resources: [cm.yaml]\n',
}

const PLACEMENT = `apiVersion: flotilla.dev/v1alpha1
kind: Placement
metadata: { name: stores, namespace: flux-system }
spec: { clusterSelector: { matchLabels: { tier: store } } }
`

/** What the dependency of the lab is: the course leaves it to its readers. Older files have an older version. */
const PREREQUISITES = `apiVersion: kustomize.toolkit.fluxcd.io/v1beta2
kind: Kustomization
metadata: { name: regional-prereqs, namespace: flux-system }
spec:
  interval: 30m
  prune: true
  sourceRef: { kind: GitRepository, name: edge-fleet }
  path: ./regions/emea
`

const EKS = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: clusters.eks.aws.upbound.io }
spec:
  group: eks.aws.upbound.io
  names: { kind: Cluster, plural: clusters, singular: cluster }
  scope: Cluster
  versions:
  - name: v1beta1
    served: true
    storage: true
    schema: { openAPIV3Schema: { type: object, x-kubernetes-preserve-unknown-fields: true } }
`

/** Where the labs run. */
interface LabWorld {
  /** Arguments of the hub. */
  readonly hub: readonly string[]
  readonly site: Site
  /** Roles of the user in the namespace. */
  readonly roles: readonly string[]
}

interface DiffScene extends Pick<LabWorld, 'roles'> {
  readonly folder: string
  readonly kubeconfig: string
  readonly repository: string
  kubectl(...args: string[]): Promise<string>
}

/** A program with the roles of the user compares a clone with what runs in the cluster. */
async function diffAsEditor(t: Cleanup, { folder, kubeconfig, kubectl, roles, repository }: DiffScene): Promise<void> {
  await kubectl('create', 'serviceaccount', 'ci', ...NS)
  const account = '--serviceaccount=flux-system:ci'
  for (const [at, role] of roles.entries())
    await kubectl('create', 'rolebinding', `ci-${at}`, ...NS, `--clusterrole=${role}`, account)
  const token = (await kubectl('create', 'token', 'ci', ...NS)).trim()
  const config = JSON.parse(
    await kubectl('config', 'view', '--raw', '--flatten', '-o', 'json', '--kubeconfig', kubeconfig),
  ) as { users: { user: object }[] }
  for (const one of config.users) one.user = { token }
  const own = join(folder, 'ci.kubeconfig')
  writeFileSync(own, JSON.stringify(config))
  const clone = join(folder, 'clone')
  execFileSync('git', ['clone', '--quiet', repository, clone])
  const directory = join(clone, 'clusters/store-0142')
  const words = ['flux', 'diff', 'kustomization', 'store-0142-baseline', '--path', directory, '--kubeconfig', own]
  const same = await runFlotilla(t, words)
  assert.deepEqual([same.code, same.stdout], [0, ''], same.stderr)
  writeFileSync(join(clone, 'clusters/store-0142/cm.yaml'), configMap('store-0142').replace('from: ', 'from: the-'))
  const changed = await runFlotilla(t, words)
  assert.deepEqual(
    [changed.code, changed.stdout],
    [
      1,
      '► ConfigMap/default/store-0142 drifted\n\ndata.from\n  ± value change\n    - store-0142\n    + the-store-0142\n\n',
    ],
    changed.stderr,
  )
}

/** Runs the labs with one cluster. */
export async function fluxLabs(t: Cleanup, { hub, site, roles }: LabWorld): Promise<void> {
  const folder = temporaryFolder(t)
  const repository = createTestRepository()
  t.after(() => repository.remove())
  const commit = repository.commit(FILES, { branch: 'main' })
  const git = await startContentServer([serveGit(repository.path)], { plain: true })
  t.after(() => git.close())
  const { kubectl, kubeconfig } = await startFleetHub(t, '--dialects', 'flux', ...hub)
  const mirrors = `- { from: "https://github.com/example/edge-fleet.git", to: "${git.url}/repo.git" }\n`
  const literal = `--from-literal=mirrors.yaml=${mirrors}`
  await kubectl('create', 'configmap', 'source-mirrors', '-n', 'flotilla-system', literal)
  const words = ['cluster', 'add', 'store-0142', '--label', 'tier=store', '-o', 'json', '--kubeconfig', kubeconfig]
  const added = await runFlotilla(t, words)
  const { code } = JSON.parse(added.stdout) as { code: string }
  const data = join(folder, 'agent')
  startFlotilla(t, ['agent', 'run', '--join', code, '--kubeconfig', site.kubeconfig, '--data', data])
  const apply = async (who: readonly string[], text: string): Promise<string> => {
    const file = join(folder, 'applied.yaml')
    writeFileSync(file, text)
    return await kubectl('apply', ...who, '-f', file)
  }
  const ready = async (object: string) =>
    await kubectl('get', ...EDITOR, object, '-o', 'jsonpath={.status.conditions[?(@.type=="Ready")]}').then(
      (text) => JSON.parse(text) as { status: string; reason: string; message: string },
    )

  for (const [at, role] of roles.entries())
    await kubectl('create', 'rolebinding', `editors-${at}`, ...NS, `--clusterrole=${role}`, '--user=jane')
  await apply(EDITOR, PLACEMENT)
  await kubectl('annotate', 'namespace', 'flux-system', 'flotilla.dev/placement=stores')

  // Flux at the edge: three paths, and a dependency that is not there at first.
  await kubectl('apply', ...EDITOR, '-f', join(LABS, '003-flux-edge-fleet.yaml'))
  await settles(async () => {
    const { status, reason, message } = await ready('gitrepositories/edge-fleet')
    assert.deepEqual(
      [status, reason, message],
      ['True', 'Succeeded', `stored artifact for revision 'main@sha1:${commit}'`],
    )
    const waiting = await ready('kustomizations/store-0142-baseline')
    assert.deepEqual([waiting.status, waiting.reason], ['False', 'DependencyNotReady'])
    assert.match(waiting.message, /^dependency 'flux-system\/regional-prereqs' not found/)
  })
  const fetched = JSON.parse(await kubectl('get', ...EDITOR, 'gitrepository/edge-fleet', '-o', 'json')) as {
    status: { observedSparseCheckout: string[]; artifact: { size: number } }
  }
  assert.deepEqual(fetched.status.observedSparseCheckout, ['baseline', 'regions/emea', 'clusters/store-0142'])
  const { 'regions/apac/cm.yaml': _apac, ...sparse } = FILES
  assert.equal(fetched.status.artifact.size, Buffer.byteLength(Object.values(sparse).join('')))

  await apply(EDITOR, PREREQUISITES)
  await settles(async () => {
    const { status, message } = await ready('kustomizations/store-0142-baseline')
    assert.deepEqual([status, message], ['True', `Applied revision: main@sha1:${commit}`])
  })
  const names = await site.kubectl('get', 'configmaps', '-n', 'default', '-o', 'jsonpath={.items[*].metadata.name}')
  assert.deepEqual(
    names.split(' ').filter((name) => name !== 'kube-root-ca.crt' && !name.startsWith('flotilla')),
    ['baseline', 'emea', 'store-0142'],
  )
  const table = await kubectl('get', ...EDITOR, 'kustomizations')
  assert.deepEqual(table.split('\n')[0]!.split(/ +/), ['NAME', 'AGE', 'READY', 'STATUS'])

  await diffAsEditor(t, { folder, kubeconfig, kubectl, roles, repository: repository.path })

  // Crossplane and Flux: the definition of the first object comes at run time.
  await apply([], EKS)
  await kubectl('wait', 'crd/clusters.eks.aws.upbound.io', '--for=condition=Established', '--timeout=60s')
  await kubectl('apply', '-f', join(LABS, '004-crossplane-flux.yaml'))
  await settles(async () => {
    const { status, reason, message } = await ready('kustomizations/apps-production')
    assert.deepEqual(
      [status, reason, message],
      ['False', 'ArtifactFailed', "Source 'GitRepository/fleet-repo' not found"],
    )
  })
}
