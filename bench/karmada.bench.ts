/**
 * Decisions of Karmada's scheduler per second of processor time: node bench/karmada.bench.ts. The workload is recorded:
 * 1,000 clusters and 2,000 bindings that are scheduled for the first time. Median of five rounds; clusters are prepared
 * before the rounds. Then clusters change, one at a time: the bindings that a change touches, and the processor time
 * until all of them are decided again.
 */
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { snapshotOf } from '../src/dialects/karmada/schedule/cluster-snapshot.ts'
import { isTouched } from '../src/dialects/karmada/served/touched-bindings.ts'
import type { ServedBinding } from '../src/dialects/karmada/served/kinds.ts'
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

const CHANGES = 40
/** All bindings as they are after their decision. */
const decided = Object.values(workload.bindings)
  .flat()
  .map((binding): ServedBinding => {
    const targets = scheduleBinding({ binding, clusters }).clusters
    const condition = {
      type: 'Scheduled',
      status: 'True',
      reason: 'Success',
      message: '',
      lastTransitionTime: '',
    } as const
    const { placement = {} } = binding.spec
    const annotations = { 'policy.karmada.io/applied-placement': JSON.stringify(placement) }
    return {
      ...(binding as unknown as ServedBinding),
      metadata: { ...binding.metadata, annotations },
      spec: { ...(binding as unknown as ServedBinding).spec, clusters: targets.map((one) => ({ ...one })) },
      status: { ...binding.status, conditions: [condition] },
    }
  })
const changed = workload.clusters.filter((_cluster, nth) => nth % Math.floor(workload.clusters.length / CHANGES) === 0)
let touched = 0
let most = 0
const started = process.cpuUsage()
for (const before of changed) {
  const { name } = before.metadata
  const taints = [...(before.spec?.taints ?? []), { key: 'cluster.karmada.io/unreachable', effect: 'NoSchedule' }]
  const after: KarmadaCluster = { ...before, spec: { ...before.spec, taints } }
  const fleet = clusters.map((one) => (one.name === name ? snapshotOf(after) : one))
  const mine = decided.filter((binding) => isTouched(binding, { name, before, after }))
  for (const binding of mine) scheduleBinding({ binding, clusters: fleet })
  touched += mine.length
  most = Math.max(most, mine.length)
}
const { user, system } = process.cpuUsage(started)
process.stdout.write(
  `one changed cluster touches ${Math.round(touched / changed.length)} of ${decided.length} bindings on average, at most ${most}; ` +
    `${((user + system) / 1000 / changed.length).toFixed(0)} ms of processor time for all of them\n`,
)
