/**
 * Flotilla on real nodes: images from a registry and charts by the real Helm, installed with the commands of the page
 * "Install a hub on Kubernetes" from a folder without a clone. A store joins by the printed line, commits go through two
 * rings, and one process after the other is killed under load.
 */
import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { clientOver } from '../../../src/client/create-client.ts'
import { Release } from '../../../src/kinds/native/release.ts'
import { Rollout } from '../../../src/kinds/native/rollout.ts'
import { addConnections, podProcesses, portsOf } from '../../../src/testing/node/pod-processes.ts'
import type { SeenConnections } from '../../../src/testing/node/pod-processes.ts'
import { eventually, lastFirst } from '../flotilla-process.ts'
import type { Cleanup } from '../flotilla-process.ts'
import {
  assertNothingDoubled,
  followDocuments,
  joinSites,
  leaderOf,
  leaderOfEtcd,
  startLoad,
  untilAllReported,
  untilAllRun,
} from '../ha-world.ts'
import { restOf } from '../hub-rest.ts'
import { GATEWAY_PORT, startNodeWorld } from './node-world.ts'
import type { NodeWorld, RealCluster } from './node-world.ts'

const PAGE = resolve(import.meta.dirname, '../../../docs/how-to/install-on-kubernetes.md')
const SIMULATED = 6
const WITHIN_MS = 300_000
const HUB_ACCOUNT = 'system:serviceaccount:flotilla-system:flotilla-hub'
const AGENT_ACCOUNT = 'system:serviceaccount:flotilla-agent:flotilla-agent'
/** The ports that pods of the hub may contact: the Service of the API, the S3 server and the git server. */
const EGRESS_PORTS = [443, 8080, 9000]

/** The blocks of the page in a language, in order. */
function blocksOf(language: string): string[] {
  const text = readFileSync(PAGE, 'utf8')
  return [...text.matchAll(new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``, 'g'))].map(([, block]) => block!)
}

/** The page's commands and settings, with the addresses of this world. */
async function install({ desk, run, registry, gateway, s3, note }: NodeWorld): Promise<void> {
  const here = (text: string): string =>
    text
      .replaceAll('registry.example.com', registry)
      .replaceAll('https://hub.example.com:7444', gateway)
      .replaceAll('https://s3.example.com', s3.endpoint)
  const settings = here(blocksOf('yaml')[0]!)
  const service = `gateway:\n  service: { type: NodePort, nodePort: ${GATEWAY_PORT} }\n`
  const more = `gateways: { replicas: 2 }\nnetworkPolicy: { egressPorts: [${EGRESS_PORTS.join(', ')}] }\n`
  writeFileSync(join(desk, 'hub.yaml'), `${settings.replace('gateway:\n', service)}${more}`)
  for (const command of blocksOf('sh')) await run(here(command))
  note('the commands of the page have run')
  for (const set of ['flotilla-hub', 'flotilla-hub-gateways']) {
    await run(`kubectl rollout status statefulset/${set} -n flotilla-system --timeout=${WITHIN_MS / 1000}s`)
  }
  note('3 pods of the hub and 2 gateways are ready')
}

/** Joins the store by the line that the page prints; its agent runs in a pod. */
async function joinStore({ run, store, note }: NodeWorld): Promise<void> {
  // The claim of the agent is bound to a folder of the node.
  const affinity = { key: 'kubernetes.io/hostname', operator: 'In', values: ['node-1'] }
  const folder = join(store.sandbox.dir, 'volume')
  mkdirSync(folder)
  const volume = {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: 'agent' },
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      local: { path: folder },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [affinity] }] } },
    },
  }
  const { status, text } = await store.plane.call('POST', '/api/v1/persistentvolumes', volume)
  assert.equal(status, 201, text)
  const line = /^ {4}(flotilla cluster add store-042) (-o manifest .*)$/m.exec(readFileSync(PAGE, 'utf8'))
  assert.ok(line, 'the page has the line that joins a cluster')
  await run(`${line[1]} --label tier=store --label ring=canary ${line[2]}`)
  await run(
    `kubectl --context store-042 rollout status deployment/flotilla-agent -n flotilla-agent --timeout=${WITHIN_MS / 1000}s`,
  )
  for (const what of ['create', 'condition=Available']) {
    await run(`kubectl wait clusters.flotilla.dev/store-042 --for=${what} --timeout=${WITHIN_MS / 1000}s`)
  }
  note('store-042 has joined; its agent runs in a pod')
}

const CONTENT = `
apiVersion: flotilla.dev/v1alpha1
kind: Source
metadata: { name: fleet, namespace: default }
spec:
  git: { url: REPOSITORY, ref: { branch: main } }
  interval: 5s
---
apiVersion: flotilla.dev/v1alpha1
kind: Placement
metadata: { name: stores, namespace: default }
spec:
  clusterSelector: { matchLabels: { tier: store } }
---
apiVersion: flotilla.dev/v1alpha1
kind: RolloutPlan
metadata: { name: careful, namespace: default }
spec:
  rings:
    - { name: canary, selector: { matchLabels: { ring: canary } }, soak: 3s }
    - { name: rest, concurrency: 100 }
---
apiVersion: flotilla.dev/v1alpha1
kind: Bundle
metadata: { name: till, namespace: default }
spec:
  placement: stores
  source: { name: fleet, path: till }
  rollout: { plan: careful }
`

const workload = (image: string, version: number): string =>
  JSON.stringify({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'till', namespace: 'default' },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: 'till' } },
      template: {
        metadata: { labels: { app: 'till' }, annotations: { 'example.com/version': String(version) } },
        spec: { containers: [{ name: 'till', image }], terminationGracePeriodSeconds: 1 },
      },
    },
  })

type HubClient = ReturnType<typeof clientOver>

/** The Rollout of a commit, once it is completed. While etcd elects a leader, nothing is found. */
async function completedRollout(client: HubClient, commit: string): Promise<Rollout | undefined> {
  try {
    const releases = (await client.list(Release, { namespace: 'default' })).items
    const release = releases.find(({ spec }) => spec.bundles.some(({ revision }) => revision?.includes(commit)))
    if (!release) return undefined
    const rollouts = (await client.list(Rollout, { namespace: 'default' })).items
    return rollouts.find(({ spec, status }) => spec.release === release.metadata.name && status?.phase === 'Completed')
  } catch {
    return undefined
  }
}

/** Commits a version and waits until it went through both rings, the store with the real pods first. */
async function commitThroughRings(
  { git, registry, run, note }: NodeWorld,
  client: HubClient,
  version: number,
): Promise<void> {
  const image = `${registry}/pause:${1 + (version % 2)}`
  const commit = git.commit({ 'till/till.yaml': workload(image, version) }, `till: version ${version}`)
  const rollout = await eventually(
    `the Rollout of commit ${version}`,
    () => completedRollout(client, commit),
    WITHIN_MS,
  )
  const [canary, rest] = rollout.status!.rings!
  assert.deepEqual([canary!.name, rest!.name], ['canary', 'rest'])
  assert.ok(canary!.passedAt && rest!.passedAt, JSON.stringify(rollout.status))
  assert.ok(canary!.passedAt <= rest!.passedAt, 'the second ring passes after the first one')
  const running = await run(
    `kubectl --context store-042 get deployment till -o jsonpath='{.spec.template.metadata.annotations} {.status.availableReplicas}'`,
  )
  assert.equal(running, `{"example.com/version":"${version}"} 2`)
  note(`commit ${version} went through both rings; real pods of store-042 run it`)
}

/** The process of a pod of the hub. */
function processOf({ sandbox }: RealCluster, pod: string): number {
  const found = podProcesses(sandbox.name).find(
    ({ command, environment }) => command.includes('hub run') && environment.includes(`FLOTILLA_HUB_NAME=${pod} `),
  )
  assert.ok(found, `a process of ${pod}`)
  return found.pid
}

/** Collects the connections of pods while the test runs. */
function watchConnections(t: Cleanup, { home, store }: NodeWorld) {
  const seen: Record<'hub' | 'gateways' | 'agent', SeenConnections> = {
    hub: { listening: new Set(), pairs: new Set() },
    gateways: { listening: new Set(), pairs: new Set() },
    agent: { listening: new Set(), pairs: new Set() },
  }
  const timer = setInterval(() => {
    for (const { pid, environment } of podProcesses(home.sandbox.name)) {
      const [, pod] = /FLOTILLA_HUB_NAME=(\S+)/.exec(environment) ?? []
      if (pod !== undefined) addConnections(pod.includes('gateways') ? seen.gateways : seen.hub, pid)
    }
    for (const { pid, command } of podProcesses(store.sandbox.name)) {
      if (command.includes('agent.mjs')) addConnections(seen.agent, pid)
    }
  }, 500)
  t.after(() => clearInterval(timer))
  return () => ({ hub: portsOf(seen.hub), gateways: portsOf(seen.gateways), agent: portsOf(seen.agent) })
}

/** Requests of an account that the API denied. */
function denied({ auditLog }: RealCluster, account: string): string[] {
  const lines = readFileSync(auditLog, 'utf8').split('\n')
  return lines.flatMap((line) => {
    if (!line.includes(account) || !line.includes('"code":403')) return []
    const { verb, user, requestURI } = JSON.parse(line) as {
      readonly verb: string
      readonly user: { readonly username: string }
      readonly requestURI: string
    }
    return user.username === account ? [`${verb} ${requestURI}`] : []
  })
}

test('a hub, its gateways, etcd and the S3 server die one at a time on real nodes, and nothing is lost', async (context) => {
  const t = lastFirst({ after: (end) => context.after(end) })
  const world = await startNodeWorld({ after: t.after, diagnostic: (text) => context.diagnostic(text) })
  const { note, home, s3, run, folder } = world
  await install(world)
  const connections = watchConnections(t, world)
  await joinStore(world)
  const client = clientOver(await restOf(t, home.plane.kubeconfigPath))
  const watching = clientOver(await restOf(t, home.plane.kubeconfigPath))
  writeFileSync(join(world.desk, 'content.yaml'), CONTENT.replace('REPOSITORY', world.git.url))
  const sites = await joinSites({ t, client, folder, note }, SIMULATED)
  const documents = followDocuments({ t, watching })
  await run('flotilla apply -f content.yaml')
  await commitThroughRings(world, client, 1)
  note('the first rollout is green')

  const load = startLoad({ t, client })
  await untilAllRun(sites, 1, 'the first version', WITHIN_MS)
  let version = 1
  const survive = async (what: string): Promise<void> => {
    const written = load.acknowledged()
    await untilAllRun(sites, written, what, WITHIN_MS)
    note(`${what}: all clusters run version ${written} of the load; ${load.repeated()} writes were repeated so far`)
    await commitThroughRings(world, client, ++version)
  }
  const leading = await eventually('a leader', () => leaderOf(client, 'flotilla-hub'))
  for (const pod of [leading, 'flotilla-hub-gateways-0']) {
    note(`kill -9 ${pod}${pod === leading ? ', the leader' : ''}`)
    process.kill(processOf(home, pod), 'SIGKILL')
    await survive(`after the end of ${pod}`)
  }
  const leader = await leaderOfEtcd(home.plane)
  note(`kill -9 ${leader.name} of etcd, the leader`)
  await leader.kill()
  await survive('without the leader of etcd')
  await leader.start()
  note('the S3 server ends for a minute')
  await s3.kill()
  await sleep(60_000)
  await s3.start()
  await survive('after the end of the S3 server')

  const last = await load.stop()
  await untilAllRun(sites, last, 'at the end', WITHIN_MS)
  await untilAllReported({ client }, sites)
  note(`all clusters run version ${last}, the last one, and have reported it; ${documents.count()} documents`)
  for (const set of ['flotilla-hub', 'flotilla-hub-gateways']) {
    await run(`kubectl rollout status statefulset/${set} -n flotilla-system --timeout=${WITHIN_MS / 1000}s`)
  }
  const checked = (await run('flotilla check || true')).split('\n').filter((line) => /^(‼|×)/.test(line))
  note(checked.join('; ') || 'flotilla check finds nothing')
  const table = connections()
  note(`connections: ${JSON.stringify(table)}`)
  await assertNothingDoubled({ client, note })
  assert.deepEqual(documents.problems, [])
  assert.deepEqual(denied(home, HUB_ACCOUNT), [])
  assert.deepEqual(denied(world.store, AGENT_ACCOUNT), [])
  assert.deepEqual(table, {
    // View by the kube-apiserver, metrics by the probes of the kubelet.
    hub: { incoming: [7443, 7481], outgoing: EGRESS_PORTS },
    gateways: { incoming: [7444, 7481], outgoing: [443, 9000] },
    agent: { incoming: [], outgoing: [443, GATEWAY_PORT] },
  })
})
