/**
 * A real hub for wire.bench.ts and delivery.bench.ts: `flotilla hub run` as a process, with clusters that joined long ago and documents made
 * by hand.
 */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createFileBlobs } from '../src/blobs/file-blobs.ts'
import { utf8 } from '../src/core/bytes.ts'
import type { Client } from '../src/client/client.ts'
import type { Digest } from '../src/core/crypto/digest.ts'
import { inParallel } from '../src/core/async/in-parallel.ts'
import { canonicalJson } from '../src/core/json.ts'
import { systemClock } from '../src/core/time/system-clock.ts'
import { systemIds } from '../src/core/system-ids.ts'
import { formatTime } from '../src/core/time/time.ts'
import { freePort } from '../src/hub/http/free-port.ts'
import { readTrust } from '../src/hub/keys/trust-files.ts'
import { Assignment } from '../src/kinds/native/assignment.ts'
import { Cluster } from '../src/kinds/native/cluster.ts'
import { clientByKubeconfig } from '../src/testing/control-plane/kubeconfig-client.ts'
import type { HubTrust } from '../src/wire/trust/hub-keys.ts'
import { objectSetBytes, signDocument } from '../src/wire/document/signed-document.ts'

const MAIN = resolve(import.meta.dirname, '../src/cli/main.ts')
const AT_ONCE = 16
/** Ticks of /proc, the same on every Linux. */
const TICKS_PER_SECOND = 100

/** What a process has used. */
export interface Usage {
  readonly cpuMs: number
  readonly residentBytes: number
  /** CPU by the name of the thread; threads of the same name together. */
  readonly threads: ReadonlyMap<string, number>
}

/** A hub in a directory. */
export interface BenchHub {
  readonly port: number
  readonly trust: HubTrust
  /** The directory of the hub's data. */
  readonly data: string
  client(): Client
  usage(): Usage
  /** Killed without a word. */
  kill(): Promise<void>
  /** Started again on the same directory; resolves when it is ready. */
  start(): Promise<void>
  /** Accepted clusters `n-0` … with ids `c-0` … */
  addClusters(count: number): Promise<void>
  /** A bundle of ConfigMaps of 20 KB each; with another `line` one of them differs in one line. */
  putBundle(megabytes: number, line: number): Promise<Digest>
  /** The next document of every cluster names this set. */
  issue(count: number, set: Digest): Promise<void>
  /** The state every cluster is in, with how many. */
  states(): Promise<Map<string, number>>
  stop(): Promise<void>
}

/** Starts it; with a folder for profiles, each of its threads writes one there when the hub stops. */
export async function startBenchHub(data: string, profiles?: string): Promise<BenchHub> {
  const port = await freePort('127.0.0.1')
  let child = run(data, port, profiles)
  await ready(child)
  const trust = await readTrust({ data })
  const blobs = createFileBlobs({ folder: join(data, 'blobs'), ids: systemIds })
  let api = await clientByKubeconfig(join(data, 'admin.kubeconfig'))
  let generation = 0
  const assignments = new Map<string, Assignment>()

  return {
    port,
    trust,
    data,
    client: () => api.client,
    usage: () => usageOf(child.pid!),
    async kill() {
      await api.close()
      child.kill('SIGKILL')
      await new Promise((gone) => child.once('close', gone))
    },
    async start() {
      child = run(data, port, profiles)
      await ready(child)
      api = await clientByKubeconfig(join(data, 'admin.kubeconfig'))
    },
    addClusters: (count) =>
      inParallel(indexes(count), AT_ONCE, async (index) => {
        await api.client.create(Cluster, clusterOf(index))
      }),
    async putBundle(megabytes, line) {
      const objects = []
      for (const object of configMaps(megabytes, line)) {
        const digest = await blobs.put(utf8(canonicalJson(object)))
        objects.push({ apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', name: object.metadata.name, digest })
      }
      return await blobs.put(objectSetBytes({ format: 'flotilla.dev/set/v1', objects }))
    },
    async issue(count, set) {
      generation += 1
      const entry = { bundle: 'default/bench', generation, set, rollout: 'default/bench' }
      await inParallel(indexes(count), AT_ONCE, async (index) => {
        const name = `n-${index}`
        const current = assignments.get(name)
        const previous = current?.spec.document
        const common = { clusterId: `c-${index}`, epoch: 1, revision: generation, ...(previous ? { previous } : {}) }
        const envelope = signDocument(trust.signer, {
          format: 'flotilla.dev/document/v1',
          ...common,
          issuedAt: formatTime(systemClock.now()),
          requires: ['sets/v1'],
          rules: { trustVersion: 1 },
          content: { entries: [entry], tombstones: [] },
        })
        const spec = { ...common, document: await blobs.put(envelope), trustVersion: 1, entries: [entry] }
        const next = { apiVersion: 'flotilla.dev/v1alpha1', kind: 'Assignment' as const, metadata: { name }, spec }
        const written = current
          ? await api.client.update(Assignment, { ...current, spec })
          : await api.client.create(Assignment, next)
        assignments.set(name, written)
      })
    },
    async states() {
      const counted = new Map<string, number>()
      let next: string | undefined
      do {
        const page = await api.client.list(Cluster, { limit: 500, ...(next === undefined ? {} : { continue: next }) })
        for (const { status } of page.items) {
          const state = status?.state ?? 'none'
          counted.set(state, (counted.get(state) ?? 0) + 1)
        }
        next = page.continue === '' ? undefined : page.continue
      } while (next !== undefined)
      return counted
    },
    async stop() {
      await api.close()
      child.kill('SIGTERM')
      await new Promise((gone) => child.once('close', gone))
    },
  }
}

function run(data: string, port: number, profiles: string | undefined): ChildProcess {
  const listen = ['--listen', '127.0.0.1:0', '--console-listen', '127.0.0.1:0', '--gateway-listen', `127.0.0.1:${port}`]
  const profiling = profiles === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profiles}`]
  const child = spawn(
    process.execPath,
    [...profiling, MAIN, 'hub', 'run', '--data', data, '--log-level', 'error', ...listen],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  process.once('exit', () => child.kill('SIGKILL'))
  return child
}

function ready(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.stdout!.on('data', (text: Buffer) => text.toString().includes('flotilla hub ready') && resolve())
    child.once('close', () => reject(new Error('the hub ended')))
  })
}

function usageOf(pid: number): Usage {
  const [, kib = '0'] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  const threads = new Map<string, number>()
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    const { name, cpuMs } = cpuOf(`/proc/${pid}/task/${task}/stat`)
    threads.set(name, (threads.get(name) ?? 0) + cpuMs)
  }
  return { cpuMs: cpuOf(`/proc/${pid}/stat`).cpuMs, residentBytes: Number(kib) * 1024, threads }
}

function cpuOf(file: string): { name: string; cpuMs: number } {
  const stat = readFileSync(file, 'utf8')
  const end = stat.lastIndexOf(')')
  const fields = stat.slice(end + 2).split(' ')
  const cpuMs = ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_PER_SECOND
  return { name: stat.slice(stat.indexOf('(') + 1, end), cpuMs }
}

function clusterOf(index: number): Cluster {
  return {
    apiVersion: 'flotilla.dev/v1alpha1',
    kind: 'Cluster',
    metadata: { name: `n-${index}`, labels: { tier: 'bench' } },
    spec: {
      id: `c-${index}`,
      accepted: true,
      identityKey: 'MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=',
      sealingKey: 'MCowBQYDK2VuAyEA3p7bfXt9wbTTW2HC7OQ1Nz+DQ8hbeGdNrfx+FG+IK08=',
      checkInSeconds: 30,
      offlineAfterSeconds: 120,
    },
  }
}

function* configMaps(megabytes: number, line: number) {
  for (let index = 0; index < megabytes * 50; index++) {
    const words = Array.from(
      { length: 400 },
      (_, word) => `key-${index}-${word}: ${(index * 7919 + word * 104_729) % 1_000_003}-value-of-some-length`,
    )
    if (index === 3 && line > 0) words[200] = `changed: ${line}`
    const metadata = { name: `m${megabytes}-${index}`, namespace: 'default' }
    yield { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { text: words.join('\n') } }
  }
}

const indexes = (count: number): number[] => Array.from({ length: count }, (_, index) => index)
