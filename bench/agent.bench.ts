// Memory, processor time and API requests of an agent's operating half on a real API server: idle, and with a thousand managed objects.
// node bench/agent.bench.ts [objects]
import { fork } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createFileBlobs } from '../src/blobs/file-blobs.ts'
import { systemClock } from '../src/core/system-clock.ts'
import { systemIds } from '../src/core/system-ids.ts'
import { clusterOf, createOperatingAgent } from '../src/testing/operating-agent.ts'
import type { UnknownObject } from '../src/kinds/meta.ts'

const REST_SECONDS = 60
const BUNDLE = 'default/bench'

// Its own, so that nothing of a hub is loaded into what is measured.
function configMap(name: string): UnknownObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' }, data: { v: '1' } }
}

async function child(kubeconfig: string, count: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'flotilla-agent-bench-'))
  const cluster = await clusterOf(kubeconfig)
  const requests = { reads: 0, watches: 0, writes: 0 }
  const agent = createOperatingAgent({
    transport: (request, signal) => {
      if (request.path.includes('watch=true')) requests.watches += 1
      else if (request.method === 'GET' || request.path.includes('dryRun=All')) requests.reads += 1
      else requests.writes += 1
      return cluster.transport(request, signal)
    },
    clock: systemClock,
    ids: systemIds,
    blobs: createFileBlobs({ folder, ids: systemIds }),
  })
  agent.start()
  const began = systemClock.monotonicMs()
  const objects = Array.from({ length: count }, (_, i) => configMap(`bench-${i}`))
  await agent.assign(count === 0 ? {} : { [BUNDLE]: { generation: 1, objects } })
  objects.length = 0
  const isReady = () => count === 0 || agent.row(BUNDLE)?.state === 'Ready'
  while (!isReady()) await sleep(50)
  const installed = systemClock.monotonicMs() - began
  await sleep(5000)
  const [before, cpu] = [{ ...requests }, process.cpuUsage()]
  await sleep(REST_SECONDS * 1000)
  const used = process.cpuUsage(cpu)
  globalThis.gc?.()
  const { rss, heapUsed } = process.memoryUsage()
  const perHour = (now: number, then: number) => ((now - then) * 3600) / REST_SECONDS
  const line = [
    `${count} objects`,
    `applied in ${(installed / 1000).toFixed(1)} s`,
    `rss ${(rss / 1e6).toFixed(0)} MB, heap ${(heapUsed / 1e6).toFixed(1)} MB`,
    `at rest: ${((used.user + used.system) / 1000 / REST_SECONDS).toFixed(2)} ms of processor time per second`,
    `per hour: ${perHour(requests.reads, before.reads)} reads, ${perHour(requests.writes, before.writes)} writes, ${perHour(requests.watches, before.watches)} watches renewed`,
  ]
  console.log(line.join('; '))
  await agent.stop()
  await cluster.close()
  await rm(folder, { recursive: true })
  process.exit(0)
}

if (process.argv[2] === 'child') await child(process.argv[3]!, Number(process.argv[4]))
else {
  const { startControlPlane } = await import('../src/testing/control-plane.ts')
  const plane = await startControlPlane()
  try {
    for (const count of [0, Number(process.argv[2] ?? 1000)]) {
      const run = fork(import.meta.filename, ['child', plane.kubeconfigPath, String(count)], {
        execArgv: ['--expose-gc'],
      })
      await new Promise((resolve) => run.once('exit', resolve))
    }
  } finally {
    await plane.stop()
  }
}
