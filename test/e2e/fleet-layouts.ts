/**
 * Every example layout from a git server to clusters: GitRepos on a hub, agents that follow it, and a look at what is
 * in the clusters.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runAgent } from '../../src/agent/run.ts'
import type { Client } from '../../src/client/client.ts'
import { createClient } from '../../src/client/create-client.ts'
import { readKubeconfig } from '../../src/client/kubeconfig.ts'
import { createUndiciTransport } from '../../src/client/undici-transport.ts'
import { silentLogger } from '../../src/core/log.ts'
import { systemClock } from '../../src/core/time/system-clock.ts'
import { systemIds } from '../../src/core/system-ids.ts'
import { ClusterGroup, GitRepo } from '../../src/dialects/fleet/kinds.ts'
import { inviteCluster } from '../../src/hub/join/invite-cluster.ts'
import { startHub } from '../../src/hub/run.ts'
import { Namespace } from '../../src/kinds/builtin/core.ts'
import type { ResourceType, UnknownObject } from '../../src/kinds/meta.ts'
import { createSite } from '../../src/sim/demo/site.ts'
import { build } from '../../src/testing/fixtures/builders.ts'
import { serveFiles, serveGit, startContentServer } from '../../src/testing/fixtures/content-server.ts'
import { CHART, FLEET_EXAMPLES } from '../../src/testing/fixtures/rancher-fleet/examples.ts'
import type { Tree } from '../../src/testing/fixtures/rancher-fleet/examples.ts'
import {
  EXAMPLE_CLUSTERS,
  expectedObjects,
  shownObjects,
} from '../../src/testing/fixtures/rancher-fleet/expected-objects.ts'
import { createTestRepository } from '../../src/testing/fixtures/git-repository.ts'
import { tarGz } from '../../src/testing/fixtures/tar.ts'
import { eventually, temporaryFolder } from './flotilla-process.ts'
import type { Cleanup } from './flotilla-process.ts'

const PORTS = { clock: systemClock, ids: systemIds, log: silentLogger }
const WORKSPACE = 'fleet-default'

/** A cluster with an agent that joins when it runs. */
export interface LayoutSite {
  readonly client: Client
  run(joinCode: string, signal: AbortSignal): Promise<void>
}

/** A cluster in this process, whose workloads live. */
export function embeddedSite(t: Cleanup, name: string): LayoutSite {
  let opened: Client | undefined
  const folder = temporaryFolder(t)
  return {
    get client() {
      if (!opened) throw new Error(`${name} has not been started`)
      return opened
    },
    run: async (joinCode, signal) => {
      const store = { name, region: 'north', ring: 'lab' } as const
      const { cluster, run } = await createSite({ ...PORTS, store, joinCode, folder })
      opened = cluster.client
      await run(signal)
      await cluster.close()
    },
  }
}

/** A cluster that this test does not run. */
export async function kubeconfigSite(t: Cleanup, kubeconfig: string): Promise<LayoutSite> {
  const { connection } = await readKubeconfig({
    text: readFileSync(kubeconfig, 'utf8'),
    file: kubeconfig,
    readFile: async (path) => readFileSync(path, 'utf8'),
  })
  const { transport, close } = createUndiciTransport(connection)
  t.after(() => close())
  return {
    client: createClient({ transport, clock: systemClock }),
    run: (joinCode, signal) =>
      runAgent({ joinCode, kubeconfig, dataDir: join(temporaryFolder(t), 'agent'), signal, writeLog: () => {} }),
  }
}

const environmentOf = (cluster: string): string | undefined => EXAMPLE_CLUSTERS[cluster]?.['env']
const hasEnvironment = (cluster: string): boolean => environmentOf(cluster) !== undefined

/** What GitRepos say besides where the repository is, and whom each means. */
const GIT_REPOS: Readonly<Record<string, { readonly spec: object; isFor(cluster: string): boolean }>> = {
  simple: {
    spec: { paths: ['cases/single/simple'], targets: [{ clusterName: 'prod-1' }], targetNamespace: 'single-simple' },
    isFor: (cluster) => cluster === 'prod-1',
  },
  single: {
    spec: { paths: ['cases/single/[^s]*'], targets: [{ clusterName: 'prod-1' }] },
    isFor: (cluster) => cluster === 'prod-1',
  },
  multi: {
    spec: {
      paths: ['cases/multi/[^r]*'],
      targets: [{ clusterGroupSelector: { matchLabels: { kind: 'environment' } } }],
    },
    isFor: hasEnvironment,
  },
  regions: { spec: { paths: ['cases/multi/regions'], targets: [{ clusterSelector: {} }] }, isFor: () => true },
  teams: {
    spec: {
      paths: ['cases/teams/platform/platform/*', 'cases/teams/platform/apps/*'],
      targets: ['dev', 'test', 'prod'].map((group) => ({ name: group, clusterGroup: group })),
    },
    isFor: hasEnvironment,
  },
}

function gitRepoOf(example: string): string {
  if (example === 'single/simple') return 'simple'
  return example === 'multi/regions' ? 'regions' : example.slice(0, example.indexOf('/'))
}

/** All have the same objects, so each has a namespace of its own; one that says where it is stays there. */
const OWN_SPACES: Readonly<Record<string, readonly string[]>> = {
  'multi/regions': ['till'],
  'teams/platform': ['gateway', 'metrics', 'shop'],
}

function spaceOf(example: string): string {
  return example.replace('/', '-')
}

function treeOf(example: string, files: Tree): [string, string][] {
  return Object.entries(files).map(([path, text]) => [
    `cases/${example}/${path}`,
    path.endsWith('fleet.yaml')
      ? text.replace(/^(defaultNamespace|namespace): counter$/m, `$1: ${spaceOf(example)}`)
      : text,
  ])
}

/** Starts a hub, and agents that join it from these sites, each with the labels that the examples know it by. */
export async function startHubWithSites(
  t: Cleanup,
  sites: Readonly<Record<string, LayoutSite>>,
  dialects?: string,
): Promise<{ readonly client: Client; readonly kubeconfig: string }> {
  const data = join(temporaryFolder(t), 'hub')
  const hub = await startHub(
    {
      data,
      listen: '127.0.0.1:0',
      gatewayListen: '127.0.0.1:0',
      consoleListen: '127.0.0.1:0',
      logLevel: 'silent',
      ...(dialects === undefined ? {} : { dialects }),
    },
    PORTS,
  )
  const life = new AbortController()
  const running: Promise<void>[] = []
  t.after(async () => {
    life.abort()
    await Promise.allSettled(running)
    await hub.close()
  })
  const { client } = hub
  for (const [name, site] of Object.entries(sites)) {
    const labels = { ...EXAMPLE_CLUSTERS[name] }
    const invitation = { cluster: name, labels, accept: 'Auto', ttlMs: 3_600_000 } as const
    const { code } = await inviteCluster(invitation, { client, ...PORTS })
    running.push(site.run(code, life.signal))
  }
  return { client, kubeconfig: join(data, 'admin.kubeconfig') }
}

/** Starts a git server, a hub and agents, applies a GitRepo for each example, and looks into the clusters. */
export async function deliverLayouts(t: Cleanup, sites: Readonly<Record<string, LayoutSite>>): Promise<void> {
  const repository = createTestRepository()
  t.after(() => repository.remove())
  const archive = tarGz(Object.entries(CHART).map(([path, content]) => ({ name: `counter/${path}`, content })))
  const server = await startContentServer(
    [serveGit(repository.path), serveFiles(new Map([['/counter-1.0.0.tgz', archive]]))],
    { plain: true },
  )
  t.after(() => server.close())
  const examples: Record<string, Tree> = {
    ...FLEET_EXAMPLES,
    'multi/helm-external': {
      'fleet.yaml': FLEET_EXAMPLES['multi/helm']!['fleet.yaml']!.concat(
        `helm:\n  chart: ${server.url}/counter-1.0.0.tgz\n`,
      ),
    },
    'single/helm-other-repository': {
      'fleet.yaml': `namespace: counter\nhelm:\n  chart: git::${server.url}/repo.git//cases/multi/helm-kustomize/chart?ref=main\n`,
    },
  }
  const tree = Object.entries(examples).flatMap(([example, files]) => treeOf(example, files))
  const commit = repository.commit(Object.fromEntries(tree))
  const { client } = await startHubWithSites(t, sites, 'fleet')
  for (const env of ['dev', 'test', 'prod']) {
    const spec = { selector: { matchLabels: { env } } }
    const labels = { kind: 'environment' }
    await client.create(ClusterGroup, build(ClusterGroup, `${WORKSPACE}/${env}`, { spec }, { labels }))
  }
  for (const [name, { spec }] of Object.entries(GIT_REPOS)) {
    const repo = { repo: `${server.url}/repo.git`, branch: 'main', ...spec }
    await client.create(GitRepo, build(GitRepo, `${WORKSPACE}/${name}`, { spec: repo }))
  }
  const waiting = new Map(Object.keys(GIT_REPOS).map((name) => [name, '']))
  await eventually(
    `all GitRepos are ready`,
    async () => {
      for (const { metadata, status } of (await client.list(GitRepo, { namespace: WORKSPACE })).items) {
        const ready = status?.conditions?.find(({ type }) => type === 'Ready')
        if (ready?.status === 'True' && status?.commit === commit) waiting.delete(metadata.name)
        else waiting.set(metadata.name, ready?.message ?? '')
      }
      return waiting.size === 0 || undefined
    },
    300_000,
  ).catch((caught: unknown) => {
    throw new Error(JSON.stringify([...waiting]), { cause: caught })
  })
  for (const [cluster, site] of Object.entries(sites)) {
    const found = await objectsIn(site.client)
    for (const example of Object.keys(examples)) {
      const wanted = GIT_REPOS[gitRepoOf(example)]!.isFor(cluster) ? expectedObjects(example, cluster) : []
      const spaces = OWN_SPACES[example] ?? [spaceOf(example)]
      const there = found.filter(({ metadata }) => spaces.includes(metadata.namespace ?? ''))
      const lines = wanted.map((line) => line.replace(/ (counter|default)\//, ` ${spaceOf(example)}/`))
      assert.deepEqual(shownObjects(there), lines, `${example} on ${cluster}`)
    }
    if (hasEnvironment(cluster) && cluster !== 'test-1') {
      const { metadata } = await site.client.get(Namespace, { name: 'shop' })
      assert.equal(metadata.labels?.['team'], 'shop')
    }
  }
}

/** What is looked at in a cluster. */
const LOOKED_AT: readonly ResourceType[] = [
  { group: 'apps', version: 'v1', kind: 'Deployment', plural: 'deployments', scope: 'Namespaced' },
  { group: '', version: 'v1', kind: 'Service', plural: 'services', scope: 'Namespaced' },
  { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', scope: 'Namespaced' },
]

/** Deployments, Services and ConfigMaps of users. */
export async function objectsIn(client: Client): Promise<UnknownObject[]> {
  const lists = await Promise.all(
    LOOKED_AT.map(async (type) => (await client.list(type)).items.map((one) => ({ ...one, kind: type.kind }))),
  )
  // A real cluster puts this one into every namespace.
  return lists.flat().filter(({ metadata }) => metadata.name !== 'kube-root-ca.crt')
}
