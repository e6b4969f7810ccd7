/**
 * Light agents (one process) over real mutual TLS against a real hub (another one: all its threads, SQLite on disk),
 * both on this machine: memory and CPU per agent on the hub, a one-line change to all of them, and the herd after the
 * hub was killed.
 *
 *   node bench/wire.bench.ts [--agents 5000] [--megabytes 1,10]
 *
 * Figures are of the hub's whole process. Agents that got the first version of a large bundle are taken to have it:
 * what is measured is the change. Fails when an agent got an answer that it should not get.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { startLightFleet } from './wire-bench-agents.ts'
import { startBenchHub } from './wire-bench-hub.ts'

const { values } = parseArgs({
  options: { agents: { type: 'string', default: '5000' }, megabytes: { type: 'string', default: '1,10' } },
})
const count = Number(values.agents)
const folder = mkdtempSync(join(tmpdir(), 'flotilla-bench-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
const show = (what: string, text: string): void => void process.stdout.write(`${what.padEnd(26)}${text}\n`)
const seconds = (since: number): string => `${((performance.now() - since) / 1000).toFixed(1)} s`

const hub = await startBenchHub(join(folder, 'hub'))
let begun = performance.now()
await hub.addClusters(count)
const fleet = await startLightFleet({ count, port: hub.port, ca: hub.trust.transportCa })
show('agents', `${count} (registered in ${seconds(begun)})`)

const empty = hub.usage()
begun = performance.now()
let following = fleet.allFollow()
fleet.start()
await following
const full = hub.usage()
const each = (before: { cpuMs: number }, after = hub.usage()): string =>
  `${((after.cpuMs - before.cpuMs) / count).toFixed(2)} ms CPU of the hub each`
show('all follow after', `${seconds(begun)}, ${each(empty, full)}`)

for (const megabytes of values.megabytes.split(',').map(Number)) {
  await issueToAll(`${megabytes} MB, first`, await hub.putBundle(megabytes, 0), false)
  await issueToAll(`${megabytes} MB, one line`, await hub.putBundle(megabytes, 1), true)
}

async function states(): Promise<string> {
  return [...(await hub.states())].map(([state, clusters]) => `${clusters} ${state}`).join(', ')
}

async function issueToAll(what: string, set: `sha256:${string}`, fetch: boolean): Promise<void> {
  await fleet.want({ set, fetch })
  const before = hub.usage()
  const acknowledged = fleet.allAcknowledge()
  const from = performance.now()
  await hub.issue(count, set)
  const issued = seconds(from)
  const { bytesEach } = await acknowledged
  if (!fetch) return
  show(
    what,
    `${bytesEach.toFixed(0)} bytes each; issued in ${issued}, last acknowledgement after ${seconds(from)}; ${each(before)}`,
  )
}

// All agents have two connections by now, and have been heard several times.
const settled = hub.usage()
const perAgent = (settled.residentBytes - empty.residentBytes) / count / 1024
show('memory of the hub', `${perAgent.toFixed(0)} KiB per agent (${(settled.residentBytes / 2 ** 20).toFixed(0)} MiB)`)

show('clusters', await states())
const counts = await fleet.counts()
begun = performance.now()
await hub.kill()
following = fleet.allFollow()
await hub.start()
const ready = seconds(begun)
const fresh = hub.usage()
begun = performance.now()
await following
const { handshakes, resumed, postponed, lost, failed } = await fleet.counts()
show(
  'herd after a kill',
  `hub ready after ${ready}; all back ${seconds(begun)} later, ${each(fresh)}; ${resumed - counts.resumed} of ${handshakes - counts.handshakes} handshakes resumed, ${postponed - counts.postponed} told to come back, ${lost - counts.lost} connections lost or refused`,
)
// Two summaries later the hub has decided availability: it was away, so no cluster is offline.
await sleep(25_000)
show('clusters', await states())
show('wrong answers', String(failed))
process.exitCode = failed === 0 ? 0 : 1
fleet.stop()
await hub.stop()
process.exit()
