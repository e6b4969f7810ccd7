/**
 * Decisions of Karmada's scheduler per second of processor time: node bench/karmada.bench.ts. The workload is recorded:
 * 1,000 clusters and 2,000 bindings that are scheduled for the first time. Median of five rounds; clusters are prepared
 * before the rounds.
 */
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { snapshotOf } from '../src/dialects/karmada/schedule/cluster-snapshot.ts'
import { scheduleBinding } from '../src/dialects/karmada/schedule/schedule-binding.ts'
import type { KarmadaBinding, KarmadaCluster } from '../src/dialects/karmada/types.ts'

const ROUNDS = 5
const file = new URL('../test/recorded/karmada/workload.json.gz', import.meta.url)
const workload = JSON.parse(gunzipSync(readFileSync(file)).toString()) as {
  readonly clusters: readonly KarmadaCluster[]
  readonly bindings: Readonly<Record<string, readonly KarmadaBinding[]>>
}
const clusters = workload.clusters.map(snapshotOf)

function secondsOf(bindings: readonly KarmadaBinding[]): number {
  const before = process.cpuUsage()
  for (const binding of bindings) scheduleBinding({ binding, clusters })
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1e6
}

const kinds = Object.entries(workload.bindings)
const rounds = Array.from({ length: ROUNDS }, () => kinds.map(([, bindings]) => secondsOf(bindings)))
const middle = (times: readonly number[]): number => times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)]!
for (const [at, [kind, bindings]] of kinds.entries()) {
  const rate = bindings.length / middle(rounds.map((times) => times[at]!))
  process.stdout.write(`${kind.padEnd(12)} ${bindings.length} bindings, ${rate.toFixed(0)} decisions per CPU-second\n`)
}
const all = kinds.reduce((sum, [, bindings]) => sum + bindings.length, 0)
const total = middle(rounds.map((times) => times.reduce((sum, time) => sum + time, 0)))
process.stdout.write(`${'all'.padEnd(12)} ${all} bindings, ${(all / total).toFixed(0)} decisions per CPU-second\n`)
