/** The two homes of `api.bench.ts`: our API server and the real one with its etcd, and what each costs the machine. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HUB_HEAP } from '../scripts/bootstrap.mjs'
import { bundleOne } from '../scripts/bundle.ts'
import { createUndiciTransport } from '../src/client/undici-transport.ts'
import type { Transport } from '../src/core/http.ts'
import { Secret } from '../src/core/secret.ts'
import { createSqliteStore } from '../src/store/sqlite-store.ts'
import { startApiProcess } from '../src/testing/control-plane/embedded-api-process.ts'
import { servers } from '../src/testing/control-plane/server-processes.ts'
import { startControlPlane } from '../src/testing/control-plane/control-plane.ts'

/** A running home. */
export interface Home {
  readonly name: string
  readonly transport: Transport
  /** CPU-seconds of all threads of all its processes so far. */
  cpu(): number
  /** Megabytes that its processes have in memory. */
  residentMb(): number
  close(): Promise<void>
}

/** An object as a store keeps it, by its namespace-less name. */
export type Seed = Iterable<{ readonly name: string; readonly object: object }>

/** How a home is opened. */
export interface Opening {
  /** Sockets the client may open. */
  readonly connections: number
  /** ConfigMaps that are in the store before the server starts; they are written past the API. */
  readonly seed?: Seed
}

const TICKS_PER_SECOND = 100
const SEED_BATCH = 100

/** Ours: one process with the store inside, bundled as `npm run build` does it, with a hub's settings for memory. */
export async function openOurs({ connections, seed }: Opening): Promise<Home & { readonly startedMs: number }> {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-bench-'))
  const path = join(folder, 'hub.db')
  const { file: main } = await bundleOne('api', 'src/testing/control-plane/embedded-api-process-main.ts', folder)
  if (seed) await seedSqlite(path, seed)
  const before = performance.now()
  const server = await startApiProcess(path, { main, variables: HUB_HEAP })
  const { url, ca, admin } = server
  const { transport, close } = createUndiciTransport(
    { server: url, ca, cert: admin.certificate, key: new Secret(admin.privateKey) },
    { maxConnections: connections },
  )
  return {
    name: 'ours',
    transport,
    cpu: () => cpuSeconds([server.pid]),
    residentMb: () => residentMb([server.pid]),
    startedMs: performance.now() - before,
    close: async () => {
      await close()
      await server.kill()
      rmSync(folder, { recursive: true })
    },
  }
}

/**
 * The real one: kube-apiserver and an etcd that waits for its disk. What etcd used before the server started is not
 * counted.
 */
export async function openReal({ connections, seed }: Opening): Promise<Home & { readonly startedMs: number }> {
  let before = performance.now()
  let already = 0
  const plane = await startControlPlane({
    durable: true,
    async beforeStart(etcd, prefix) {
      if (seed) await seedEtcd(etcd, prefix, seed)
      before = performance.now()
      already = cpuSeconds(processesOf(servers().group))
    },
  })
  const { transport, close } = createUndiciTransport(
    { server: plane.url, ca: plane.ca, cert: plane.adminCert, key: new Secret(plane.adminKey) },
    { maxConnections: connections },
  )
  const pids = processesOf(servers().group)
  return {
    name: 'real',
    transport,
    cpu: () => cpuSeconds(pids) - already,
    residentMb: () => residentMb(pids),
    startedMs: performance.now() - before,
    close: async () => {
      await close()
      await plane.stop()
    },
  }
}

async function seedSqlite(path: string, seed: Seed): Promise<void> {
  const store = createSqliteStore({ path, defer: setImmediate })
  for (const batch of batches(seed, 10 * SEED_BATCH)) {
    await Promise.all(
      batch.map(({ name, object }) => {
        const stored = structuredClone(object) as { metadata: { resourceVersion?: string } }
        const value = (revision: number) => {
          stored.metadata.resourceVersion = String(revision)
          return JSON.stringify(stored)
        }
        return store.commit({ key: `/_/configmaps/default/${name}`, expect: 0, value })
      }),
    )
  }
  await store.close()
}

/** By etcd's JSON gateway; a kube-apiserver reads stored JSON as it reads its own protobuf. */
async function seedEtcd(etcd: string, prefix: string, seed: Seed): Promise<void> {
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  for (const batch of batches(seed, SEED_BATCH)) {
    const success = batch.map(({ name, object }) => ({
      requestPut: { key: base64(`${prefix}/configmaps/default/${name}`), value: base64(JSON.stringify(object)) },
    }))
    const answer = await fetch(`${etcd}/v3/kv/txn`, { method: 'POST', body: JSON.stringify({ success }) })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`etcd: ${text}`)
  }
}

function* batches<T>(items: Iterable<T>, size: number): Generator<T[]> {
  let batch: T[] = []
  for (const item of items) {
    batch.push(item)
    if (batch.length < size) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

/** The processes of a group, without its leader, who only supervises. */
function processesOf(group: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pid !== group && Number(statOf(pid)?.[2]) === group)
}

/** The fields of /proc/PID/stat after the command. */
function statOf(pid: number): string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')
  } catch {
    return undefined
  }
}

function cpuSeconds(pids: readonly number[]): number {
  const ticks = pids.map((pid) => statOf(pid) ?? []).map((stat) => Number(stat[11] ?? 0) + Number(stat[12] ?? 0))
  return ticks.reduce((sum, one) => sum + one, 0) / TICKS_PER_SECOND
}

function residentMb(pids: readonly number[]): number {
  return pids
    .map((pid) => Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * 4096)
    .reduce((sum, bytes) => sum + bytes / 1e6, 0)
}
