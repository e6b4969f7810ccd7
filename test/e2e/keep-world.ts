/** A hub behind a relay and clusters that follow it: what is kept when hubs, lines and keys come and go. */
import assert from 'node:assert/strict'
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { AGENT_FILES } from '../../src/agent/storage/storage.ts'
import type { TransportIdentity } from '../../src/agent/link/identity.ts'
import { isApiError } from '../../src/core/errors.ts'
import { systemClock } from '../../src/core/time/system-clock.ts'
import { systemIds } from '../../src/core/system-ids.ts'
import { parseCertificate } from '../../src/core/crypto/x509.ts'
import { freePort } from '../../src/hub/http/free-port.ts'
import { ConfigMap } from '../../src/kinds/builtin/core.ts'
import { Cluster } from '../../src/kinds/native/cluster.ts'
import { startApiHome } from '../../src/testing/control-plane/embedded-api.ts'
import { startRelay } from '../../src/testing/agents/network-proxies.ts'
import { clientByKubeconfig } from '../../src/testing/control-plane/kubeconfig-client.ts'
import type { KubeconfigClient } from '../../src/testing/control-plane/kubeconfig-client.ts'
import { issueAgentCertificate, loadTrust } from '../../src/wire/trust/hub-keys.ts'
import { eventually as soon, runFlotilla, startFlotilla, temporaryFolder } from './flotilla-process.ts'
import type { Cleanup, FlotillaProcess } from './flotilla-process.ts'

const WITHIN_MS = 240_000
const YEAR_MS = 365 * 86_400_000
const TIER = { tier: 'store' }

/** Looks until it finds. */
export const eventually = <T>(what: string, look: () => Promise<T | undefined>): Promise<T> =>
  soon(what, look, WITHIN_MS)

/** A Placement and the bundle: one ConfigMap with a text, and as many letters besides as a test wants to send. */
export const contentOf = (text: string, filler: string) => `apiVersion: flotilla.dev/v1alpha1
kind: Placement
metadata: {name: stores}
spec: {clusterSelector: {matchLabels: ${JSON.stringify(TIER)}}}
---
apiVersion: flotilla.dev/v1alpha1
kind: Bundle
metadata: {name: note}
spec:
  placement: stores
  rollout: {concurrency: 10}
  manifests: |
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: note, namespace: default}
    data: {text: "${text}", filler: "${filler}"}
`

/** An embedded API server as a cluster: its kubeconfig, in a file. */
export async function startEmbeddedSite(t: Cleanup, folder: string, name: string): Promise<string> {
  const site = await startApiHome()
  t.after(() => site.close())
  const file = join(folder, `${name}.kubeconfig`)
  writeFileSync(file, site.kubeconfig, { mode: 0o600 })
  return file
}

/** The ConfigMap of the bundle as a cluster has it. */
interface Note {
  readonly text: string
  readonly uid: string | undefined
  readonly version: string | undefined
}

/** What a world is made of. */
export interface KeepOptions {
  /** Name → kubeconfig of each cluster. */
  readonly sites: Readonly<Record<string, string>>
  /** More flags of `hub run`, such as its home. */
  readonly hubFlags?: readonly string[]
  /** Variables of the agents' processes. */
  readonly agentEnv?: Readonly<Record<string, string>>
}

/** Starts the hub; clusters join when they are told. */
export async function startKeepWorld(t: Cleanup, options: KeepOptions) {
  const folder = temporaryFolder(t)
  const data = join(folder, 'hub')
  const door = await freePort('127.0.0.1')
  const relay = await startRelay(door)
  t.after(() => relay.close())
  const codes = new Map<string, string>()
  const agents = new Map<string, FlotillaProcess>()
  const clients = new Map<string, KubeconfigClient>()
  let hub: FlotillaProcess | undefined
  let api: KubeconfigClient | undefined

  async function runHub(from: string, port: number): Promise<FlotillaProcess> {
    const listen = [
      '--listen',
      '127.0.0.1:0',
      '--console-listen',
      '127.0.0.1:0',
      '--gateway-listen',
      `127.0.0.1:${port}`,
    ]
    const reached = ['--gateway-url', `https://127.0.0.1:${relay.port}`, '--log-level', 'debug']
    const started = startFlotilla(t, ['hub', 'run', '--data', from, ...listen, ...reached, ...(options.hubFlags ?? [])])
    await started.says(/^flotilla hub ready/m)
    return started
  }

  async function startHub(): Promise<void> {
    hub = await runHub(data, door)
    api = await clientByKubeconfig(join(data, 'admin.kubeconfig'))
  }

  async function stopHub(signal?: NodeJS.Signals) {
    await api?.close()
    return await hub!.stop(signal)
  }

  async function flotilla(...args: string[]): Promise<string> {
    const ended = await runFlotilla(t, [...args, '--kubeconfig', join(data, 'admin.kubeconfig')])
    assert.equal(ended.code, 0, `flotilla ${args.join(' ')}: ${ended.stderr}`)
    return ended.stdout
  }

  /** A command that the root key signs, which is kept elsewhere. */
  async function asRoot(...args: string[]): Promise<void> {
    const ended = await runFlotilla(t, [...args, '--data', data, '--root', join(folder, 'root.key'), '--yes'])
    assert.equal(ended.code, 0, `flotilla ${args.join(' ')}: ${ended.stderr}`)
  }

  async function apply(text: string, filler = ''): Promise<void> {
    const file = join(folder, 'content.yaml')
    writeFileSync(file, contentOf(text, filler))
    // A kube-apiserver that has just started does not find the kind of the policies' parameters at once, and refuses the
    // writes that the policies guard until then.
    await eventually('policies with their parameters', async () => {
      const dryRun = ['apply', '--dry-run', 'server', '-f', file, '--kubeconfig', join(data, 'admin.kubeconfig')]
      const { stderr } = await runFlotilla(t, dryRun)
      return stderr.includes('failed to configure policy') ? undefined : true
    })
    await flotilla('apply', '-f', file)
  }

  const cluster = async (name: string): Promise<Cluster> => await api!.client.get(Cluster, { name })
  const condition = async (name: string, type: string) =>
    (await cluster(name)).status?.conditions?.find((one) => one.type === type)

  function startAgent(name: string): void {
    const args = ['--join', codes.get(name)!, '--kubeconfig', options.sites[name]!, '--data', join(folder, name)]
    const env = options.agentEnv ?? {}
    agents.set(name, startFlotilla(t, ['agent', 'run', ...args], { env }))
  }

  async function siteOf(name: string): Promise<KubeconfigClient> {
    const site = clients.get(name) ?? (await clientByKubeconfig(options.sites[name]!))
    if (!clients.has(name)) t.after(() => site.close())
    clients.set(name, site)
    return site
  }

  const transportFile = (name: string) => join(folder, name, AGENT_FILES.transport)
  const transportOf = (name: string) => JSON.parse(readFileSync(transportFile(name), 'utf8')) as TransportIdentity

  /** The ConfigMap of the bundle in a cluster; its resourceVersion shows writes. */
  async function note(name: string): Promise<Note | undefined> {
    const site = await siteOf(name)
    try {
      const { metadata, data: said } = await site.client.get(ConfigMap, { namespace: 'default', name: 'note' })
      return { text: said?.['text'] ?? '', uid: metadata.uid, version: metadata.resourceVersion }
    } catch (caught) {
      if (isApiError(caught, 'NotFound')) return undefined
      throw caught
    }
  }

  const names = Object.keys(options.sites)
  return {
    folder,
    data,
    relay,
    door,
    names,
    runHub,
    startHub,
    stopHub,
    /** Kills the hub's process alone; the home's API stays available. */
    killHubOnly: async () => await hub!.stop('SIGKILL'),
    /**
     * Where the answers with content began that a cluster was given since this hub started, in their order: path and
     * first byte.
     */
    contentOf: (name: string): { readonly path: string; readonly from: number }[] =>
      hub!
        .logged()
        .split('\n')
        .filter((line) => line.includes('"msg":"content"') && line.includes(`"cluster":"${name}"`))
        .map((line) => JSON.parse(line) as { path: string; from: number }),
    flotilla,
    asRoot,
    apply,
    cluster,
    condition,
    startAgent,
    agentLogged: (name: string) => agents.get(name)!.logged(),
    stopAgent: async (name: string) => await agents.get(name)!.stop(),
    note,
    /** All notes, to check later that they were not written. */
    notes: async () => await Promise.all(names.map(note)),
    untilNote: (text: string, of: readonly string[] = names) =>
      eventually(`note ${text}`, async () => {
        const found = await Promise.all(of.map(note))
        return found.every((one) => one?.text === text) ? true : undefined
      }),
    /** Edits the bundle's object in the cluster. */
    async editNote(name: string, text: string): Promise<void> {
      const { client } = await siteOf(name)
      const body = { data: { text } }
      await client.patch(ConfigMap, { namespace: 'default', name: 'note' }, { type: 'merge', body })
    },
    /** Deletes the bundle's object in the cluster. */
    async deleteNote(name: string): Promise<void> {
      const { client } = await siteOf(name)
      await client.delete(ConfigMap, { namespace: 'default', name: 'note' })
    },
    /** How long the certificate on an agent's disk still holds; less than nothing when it has run out. */
    certificateHoldsMs: (name: string) => parseCertificate(transportOf(name).certificate).notAfter - systemClock.now(),
    /**
     * The stopped agent has been away for so long that the certificate it was issued, by the same CA for the same key,
     * has run out.
     */
    async expireCertificate(name: string): Promise<void> {
      const { privateKey, certificate } = transportOf(name)
      const keyFile = (file: string) => join(data, 'keys', file)
      const { transportCa } = loadTrust((file) =>
        existsSync(keyFile(file)) ? readFileSync(keyFile(file), 'utf8') : undefined,
      )
      const { publicKey, subject } = parseCertificate(certificate)
      const request = { clusterId: subject.commonName, publicKey, serial: systemIds.bytes(16) }
      const issued = issueAgentCertificate(transportCa, { ...request, now: systemClock.now() - YEAR_MS })
      const old: TransportIdentity = { certificate: issued.certificate, privateKey, renewAt: issued.notAfter }
      writeFileSync(transportFile(name), JSON.stringify(old), { mode: 0o600 })
    },
    /** The root key is kept elsewhere from now on, as the advice is. */
    moveRootAway(): void {
      cpSync(join(data, 'keys', 'root.key'), join(folder, 'root.key'))
      rmSync(join(data, 'keys', 'root.key'))
    },
    /** Makes a code for a cluster, by which it waits for a person. */
    async addCluster(name: string): Promise<void> {
      const label = Object.entries(TIER).map(([key, value]) => `${key}=${value}`)
      const out = await flotilla('cluster', 'add', name, '-l', label.join(), '--accept', 'manual', '-o', 'json')
      codes.set(name, (JSON.parse(out) as { code: string }).code)
    },
    /** Ends agents and hub, which must have nothing to complain about. */
    async end(): Promise<void> {
      for (const agent of agents.values()) assert.equal((await agent.stop()).code, 0)
      assert.equal((await stopHub()).code, 0)
    },
  }
}

/** A running world. */
export type KeepWorld = Awaited<ReturnType<typeof startKeepWorld>>
