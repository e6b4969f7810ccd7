/**
 * A hub as several processes on a real kube-apiserver with etcd and a real S3 server, and a fleet of real agents over
 * TLS, each with an embedded cluster. Everything that happens is noted on a time line.
 */
import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Client } from '../../src/client/client.ts'
import { createInformer } from '../../src/client/informer.ts'
import { clientOver } from '../../src/client/create-client.ts'
import { fromBase64, fromUtf8 } from '../../src/core/bytes.ts'
import { isApiError } from '../../src/core/errors.ts'
import { silentLogger } from '../../src/core/log.ts'
import { systemIds } from '../../src/core/system-ids.ts'
import { systemClock } from '../../src/core/time/system-clock.ts'
import { inviteCluster } from '../../src/hub/join/invite-cluster.ts'
import { Lease } from '../../src/kinds/builtin/coordination.ts'
import { ConfigMap } from '../../src/kinds/builtin/core.ts'
import { Assignment } from '../../src/kinds/native/assignment.ts'
import { Bundle } from '../../src/kinds/native/bundle.ts'
import { ClusterReport } from '../../src/kinds/native/cluster-report.ts'
import { Placement } from '../../src/kinds/native/placement.ts'
import { Release } from '../../src/kinds/native/release.ts'
import { Rollout } from '../../src/kinds/native/rollout.ts'
import { createSite } from '../../src/sim/demo/site.ts'
import type { Site } from '../../src/sim/demo/site.ts'
import { startControlPlane } from '../../src/testing/control-plane/control-plane.ts'
import type { ControlPlane } from '../../src/testing/control-plane/control-plane.ts'
import type { EtcdMember } from '../../src/testing/control-plane/etcd.ts'
import { freePort } from '../../src/testing/control-plane/server-processes.ts'
import { buildBundle, buildPlacement, configMapManifest } from '../../src/testing/fixtures/builders.ts'
import { S3_ACCOUNT, startS3Server } from '../../src/testing/s3/s3-server.ts'
import { readYamlDocument } from '../../src/yaml/read/read-yaml.ts'
import { eventually, lastFirst, runFlotilla, startFlotilla, temporaryFolder } from './flotilla-process.ts'
import type { Cleanup, FlotillaProcess } from './flotilla-process.ts'
import { restOf } from './hub-rest.ts'
import { grantHubRoles, HUB_USER } from './hub-user.ts'

/** A process of the hub. */
export interface HubProcess {
  readonly name: string
  readonly roles: string | undefined
  readonly metricsPort: number
  readonly gateway: string
  process: FlotillaProcess
}

const BUNDLE = 'default/shop'
const NAMESPACE = 'flotilla-system'
const EDIT_MS = 1_500
const AGAIN_MS = 500

/** The home, the S3 server, the keys of an operator, and processes of a hub. */
export async function startHaWorld(
  context: Cleanup & { diagnostic(text: string): void },
  members: readonly { readonly name: string; readonly roles?: string }[],
) {
  const t = lastFirst(context)
  const folder = temporaryFolder(t)
  const began = performance.now()
  const note = (text: string): void =>
    context.diagnostic(`${((performance.now() - began) / 1000).toFixed(1).padStart(6)} s  ${text}`)
  const auditLog = join(folder, 'audit.log')
  const home = await startControlPlane({ auditLog, members: 3 })
  t.after(() => home.stop())
  const s3 = await startS3Server()
  t.after(() => s3.kill())
  await grantHubRoles(home)
  note('kube-apiserver, three members of etcd, and versitygw run')

  const flotilla = async (...args: string[]): Promise<string> => {
    const ended = await runFlotilla(t, args)
    assert.equal(ended.code, 0, `flotilla ${args.join(' ')}: ${ended.stderr}`)
    return ended.stdout
  }
  const gateways = await Promise.all(members.map(async () => `https://127.0.0.1:${await freePort()}`))
  const trust = join(folder, 'trust')
  await flotilla('trust', 'init', ...gateways, '--data', trust)

  /** The files of the Secret as the kubelet mounts them: all of them change at once. */
  async function mountKeys(name: string): Promise<string> {
    const { value } = readYamlDocument(await flotilla('trust', 'secret', '--data', trust), { file: 'secret' })
    const { data } = value as { data: Record<string, string> }
    const mount = join(folder, `keys-${name}`)
    const version = `..${systemIds.suffix(8)}`
    mkdirSync(join(mount, version), { recursive: true })
    for (const [file, text] of Object.entries(data)) {
      writeFileSync(join(mount, version, file), fromUtf8(fromBase64(text)), { mode: 0o600 })
    }
    symlinkSync(version, join(mount, '..new'))
    renameSync(join(mount, '..new'), join(mount, '..data'))
    for (const file of Object.keys(data)) {
      try {
        symlinkSync(join('..data', file), join(mount, file))
      } catch (caught) {
        if ((caught as NodeJS.ErrnoException).code !== 'EEXIST') throw caught
      }
    }
    return mount
  }

  const credentials = join(folder, 's3')
  mkdirSync(credentials)
  writeFileSync(join(credentials, 'access-key-id'), S3_ACCOUNT.accessKeyId)
  writeFileSync(join(credentials, 'secret-access-key'), S3_ACCOUNT.secretAccessKey)
  const kubeconfig = home.writeKubeconfig(HUB_USER)

  function run({ name, roles, gateway, metricsPort }: Omit<HubProcess, 'process'>): FlotillaProcess {
    const own = ['--data', join(folder, name), '--name', name, ...(roles === undefined ? [] : ['--roles', roles])]
    const shared = ['--kubeconfig', kubeconfig, '--keys', join(folder, `keys-${name}`), '--drain', '5s']
    const blobs = ['--blobs', 's3://flotilla', '--s3-endpoint', s3.endpoint, '--s3-credentials', credentials]
    const port = new URL(gateway).port
    const addresses = ['--gateway-listen', `127.0.0.1:${port}`, '--gateway-url', gateway, '--listen', '127.0.0.1:0']
    const more = ['--console-listen', '127.0.0.1:0', '--metrics-listen', `127.0.0.1:${metricsPort}`]
    return startFlotilla(t, ['hub', 'run', ...own, ...shared, ...blobs, ...addresses, ...more])
  }

  const hubs: HubProcess[] = []
  for (const [at, { name, roles }] of members.entries()) {
    await mountKeys(name)
    const hub = { name, roles, gateway: gateways[at]!, metricsPort: await freePort() }
    hubs.push({ ...hub, process: run(hub) })
  }
  await Promise.all(hubs.map(async ({ process }) => await process.says(/^flotilla hub ready/)))
  note(`${hubs.map(({ name, roles }) => `${name} (${roles ?? 'all roles'})`).join(', ')} are ready`)

  const client = clientOver(await restOf(t, home.kubeconfigPath))
  // A watch needs a connection of its own.
  const watching = clientOver(await restOf(t, home.kubeconfigPath))
  const hubNamed = (name: string): HubProcess => hubs.find((hub) => hub.name === name)!

  async function kill(name: string): Promise<void> {
    note(`kill -9 ${name}`)
    await hubNamed(name).process.stop('SIGKILL')
  }

  /** Ends the leader of etcd, and resolves with a function that starts it again. */
  async function killEtcdLeader(): Promise<() => Promise<void>> {
    const leader = await leaderOfEtcd(home)
    note(`kill -9 ${leader.name} of etcd, the leader`)
    await leader.kill()
    return async () => {
      await leader.start()
      note(`${leader.name} of etcd runs again`)
    }
  }

  async function start(name: string): Promise<void> {
    const hub = hubNamed(name)
    hub.process = run(hub)
    await hub.process.says(/^flotilla hub ready/)
    note(`${name} is ready again`)
  }

  return {
    t,
    folder,
    note,
    auditLog,
    home,
    s3,
    flotilla,
    trust,
    mountKeys,
    hubs,
    hubNamed,
    client,
    watching,
    leaderOf: (lease: string) => leaderOf(client, lease),
    killEtcdLeader,
    kill,
    start,
  }
}

export type HaWorld = Awaited<ReturnType<typeof startHaWorld>>

/** The process that holds a Lease and renews it. */
export async function leaderOf(client: Client, lease: string): Promise<string | undefined> {
  const { spec } = await client.get(Lease, { namespace: NAMESPACE, name: lease })
  const renewedMs = Date.now() - Date.parse(spec?.renewTime ?? '')
  const holder = spec?.holderIdentity?.replace(/-[a-z0-9]{5}$/, '')
  return holder && renewedMs < 10_000 ? holder : undefined
}

/** The member of etcd that leads. */
export async function leaderOfEtcd({ members }: ControlPlane): Promise<EtcdMember> {
  const leads = await Promise.all(members.map((member) => member.leads()))
  const leader = members[leads.indexOf(true)]
  assert.ok(leader, 'a leader of etcd')
  return leader
}

/** Joins clusters with real agents. */
export async function joinSites(
  { t, client, folder, note }: Pick<HaWorld, 't' | 'client' | 'folder' | 'note'>,
  count: number,
): Promise<Site[]> {
  const life = new AbortController()
  const running: Promise<void>[] = []
  const sites: Site[] = []
  t.after(async () => {
    life.abort()
    await Promise.allSettled(running)
    for (const { cluster } of sites) await cluster.close()
  })
  const ports = { clock: systemClock, ids: systemIds, log: silentLogger }
  for (let n = 0; n < count; n++) {
    const name = `store-${n}`
    const terms = { labels: { tier: 'store' }, accept: 'Auto', ttlMs: 3_600_000 } as const
    const { code: joinCode } = await inviteCluster({ cluster: name, ...terms }, { client, ...ports })
    const store = { name, region: 'north', ring: 'rest' } as const
    const site = await createSite({ ...ports, store, joinCode, folder: join(folder, 'sites') })
    sites.push(site)
    running.push(site.run(life.signal))
  }
  note(`${count} agents start`)
  return sites
}

/**
 * What the fleet runs, version by version. Every version is acknowledged before the next is written: a write that fails,
 * for example while etcd elects a leader, is repeated.
 */
export function startLoad({ t, client }: Pick<HaWorld, 't' | 'client'>) {
  const ended = new AbortController()
  let acknowledged = 0
  let repeated = 0
  const write = async (version: number): Promise<void> => {
    const manifests = configMapManifest('shop', { version: String(version) })
    const bundle = buildBundle(BUNDLE, { manifests, placement: 'stores', rollout: { concurrency: 100 } })
    for (;;) {
      try {
        await client.apply(Bundle, bundle, { fieldManager: 'person', force: true })
        break
      } catch (caught) {
        // Refused is refused; everything else may be the end of a server.
        if (isApiError(caught, 'Invalid') || isApiError(caught, 'Forbidden')) throw caught
        repeated += 1
        await systemClock.sleep(AGAIN_MS)
      }
    }
    acknowledged = version
  }
  const loading = (async () => {
    await client.apply(Placement, buildPlacement('default/stores', { tier: 'store' }), { fieldManager: 'person' })
    for (let version = 1; !ended.signal.aborted; version++) {
      await write(version)
      await systemClock.sleep(EDIT_MS, ended.signal).catch(() => {}) // ended
    }
  })()
  loading.catch(() => {}) // awaited at the end
  const stop = async (): Promise<number> => {
    ended.abort()
    await loading
    return acknowledged
  }
  t.after(async () => void (await stop().catch(() => {})))
  return { acknowledged: () => acknowledged, repeated: () => repeated, stop }
}

/** The version that a cluster runs. */
export async function versionAt({ cluster }: Site): Promise<number> {
  try {
    const { data } = await cluster.client.get(ConfigMap, { namespace: 'default', name: 'shop' })
    return Number(data?.['version'])
  } catch (caught) {
    if (isApiError(caught, 'NotFound')) return 0
    throw caught
  }
}

/** Waits until every cluster runs at least this version. */
export async function untilAllRun(
  sites: readonly Site[],
  version: number,
  what: string,
  withinMs?: number,
): Promise<void> {
  await eventually(
    `${what}: version ${version} on all clusters`,
    async () => ((await Promise.all(sites.map(versionAt))).every((at) => at >= version) ? true : undefined),
    withinMs,
  )
}

/** Follows all documents: each revision of a cluster is one document, made once, after the one before. */
export function followDocuments({ t, watching: client }: Pick<HaWorld, 't' | 'watching'>) {
  const ended = new AbortController()
  const problems: string[] = []
  let count = 0
  const informer = createInformer({ client, type: Assignment, clock: systemClock, ids: systemIds, log: silentLogger })
  informer.onChange(({ key, before, after }) => {
    if (!after || after.spec.document === before?.spec.document) return
    count += 1
    if (!before) return
    if (after.spec.epoch !== before.spec.epoch) problems.push(`${key}: another epoch`)
    if (after.spec.revision <= before.spec.revision)
      problems.push(`${key}: revision ${after.spec.revision} after ${before.spec.revision}`)
    if (after.spec.revision === before.spec.revision + 1 && after.spec.previous !== before.spec.document)
      problems.push(`${key}: revision ${after.spec.revision} does not continue the one before`)
  })
  const running = informer.run(ended.signal)
  const stop = async (): Promise<void> => {
    ended.abort()
    await running
  }
  t.after(stop)
  return { problems, count: () => count }
}

/** Follows all reports: the documents that agents refuse, and why. */
export function followRefusals({ t, watching: client }: Pick<HaWorld, 't' | 'watching'>) {
  const ended = new AbortController()
  const seen: string[] = []
  const informer = createInformer({
    client,
    type: ClusterReport,
    clock: systemClock,
    ids: systemIds,
    log: silentLogger,
  })
  informer.onChange(({ key, after }) => {
    const refusal = after?.spec.refusal
    if (refusal) seen.push(`${key}: ${refusal.reason}: ${refusal.message}`)
  })
  const running = informer.run(ended.signal)
  t.after(async () => {
    ended.abort()
    await running
  })
  return { seen }
}

/** What the user of the hub wrote between two times: resources, by the audit log of the kube-apiserver. */
export function writesOfHub(auditLog: string, fromMs: number, toMs: number): string[] {
  const lines = readFileSync(auditLog, 'utf8').split('\n')
  return lines.flatMap((line) => {
    if (!line.includes(HUB_USER)) return []
    const event = JSON.parse(line) as {
      readonly verb: string
      readonly requestReceivedTimestamp: string
      readonly objectRef?: { readonly resource: string; readonly subresource?: string }
    }
    const atMs = Date.parse(event.requestReceivedTimestamp)
    if (['get', 'list', 'watch'].includes(event.verb) || atMs < fromMs || atMs > toMs) return []
    const { resource = '-', subresource } = event.objectRef ?? {}
    return [subresource === undefined ? resource : `${resource}/${subresource}`]
  })
}

/** Nothing twice: one Release for each generation of the Bundle, one Rollout for each Release. */
export async function assertNothingDoubled({ client, note }: Pick<HaWorld, 'client' | 'note'>): Promise<void> {
  const releases = (await client.list(Release, { namespace: 'default' })).items
  const generations = releases.flatMap(({ spec }) =>
    spec.bundles.map(({ name, generation }) => `${name} ${generation}`),
  )
  assert.equal(
    new Set(generations).size,
    generations.length,
    `two Releases of one generation: ${generations.join(', ')}`,
  )
  const rollouts = (await client.list(Rollout, { namespace: 'default' })).items.map(({ spec }) => spec.release)
  assert.equal(new Set(rollouts).size, rollouts.length, `two Rollouts of one Release: ${rollouts.join(', ')}`)
  note(`${releases.length} Releases and ${rollouts.length} Rollouts are kept, each once`)
}

/** Every agent follows the newest document of its cluster and reports it as Ready. */
export async function untilAllReported({ client }: Pick<HaWorld, 'client'>, sites: readonly Site[]): Promise<void> {
  await eventually('reports of the newest documents', async () => {
    for (const { store } of sites) {
      const key = { name: store.name }
      const { spec } = await client.get(Assignment, key)
      const report = await client.get(ClusterReport, key)
      assert.equal(report.spec.refusal, undefined, `${store.name} refuses: ${report.spec.refusal?.message}`)
      const isNewest = report.spec.revision === spec.revision && report.spec.document === spec.document
      if (!isNewest || report.spec.bundles.some(({ state }) => state !== 'Ready')) return undefined
    }
    return true
  })
}
