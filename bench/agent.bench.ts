/**
 * The agent as clusters run it (its bundled file, a process of its own) on a real API server, following a real hub:
 * memory, processor time and API requests at rest, idle and with managed objects.
 *
 *   node bench/agent.bench.ts [--objects 1000] [--minutes 10]
 *
 * Requests are what the API server's audit log has of the agent. What is read every ten minutes is in the figures only
 * when they are of ten minutes or more.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { bundle } from '../scripts/bundle.ts'
import { ClusterReport } from '../src/kinds/native/cluster-report.ts'
import { startControlPlane } from '../src/testing/control-plane/control-plane.ts'
import { clientByKubeconfig } from '../src/testing/control-plane/kubeconfig-client.ts'
import { eventually, FREE, runFlotilla, startFlotilla } from '../test/e2e/flotilla-process.ts'

const { values } = parseArgs({
  options: { objects: { type: 'string', default: '1000' }, minutes: { type: 'string', default: '10' } },
})
const minutes = Number(values.minutes)
const CLUSTER = 'bench-1'
const CLOCK_TICKS_MS = 10
const closers: (() => void | Promise<void>)[] = []
const t = { after: (close: () => void | Promise<void>): void => void closers.unshift(close) }
const folder = mkdtempSync(join(tmpdir(), 'flotilla-agent-bench-'))
t.after(() => rmSync(folder, { recursive: true, force: true }))

/** What a process used so far: processor time of all its threads, and memory that is its own. */
function usageOf(pid: number): { readonly cpuMs: number; readonly rssMb: number; readonly mostMb: number } {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const kb = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0)
  const ticks = Number(fields[11]) + Number(fields[12])
  return { cpuMs: ticks * CLOCK_TICKS_MS, rssMb: kb('VmRSS') / 1000, mostMb: kb('VmHWM') / 1000 }
}

interface Asked {
  readonly verb: string
  readonly requestURI: string
  readonly userAgent?: string
}

/** What the agent asked the API server for, one line each. */
function requestsIn(auditLog: string): string[] {
  const lines = readFileSync(auditLog, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
  return lines
    .map((line) => JSON.parse(line) as Asked)
    .filter(({ userAgent }) => userAgent?.startsWith('flotilla-agent/'))
    .map(({ verb, requestURI }) => `${verb} ${requestURI.split('?')[0]}`)
}

async function atRest(what: string, pid: number, auditLog: string): Promise<void> {
  await sleep(20_000)
  const [before, asked] = [usageOf(pid), requestsIn(auditLog).length]
  await sleep(minutes * 60_000)
  const after = usageOf(pid)
  const counts = new Map<string, number>()
  for (const request of requestsIn(auditLog).slice(asked)) counts.set(request, (counts.get(request) ?? 0) + 1)
  const perHour = (is: (verb: string) => boolean) => {
    const some = [...counts].filter(([request]) => is(request.split(' ')[0]!))
    return (some.reduce((sum, [, count]) => sum + count, 0) * 60) / minutes
  }
  const isWatch = (verb: string) => verb === 'watch'
  const isRead = (verb: string) => verb === 'get' || verb === 'list'
  const cpu = (after.cpuMs - before.cpuMs) / (minutes * 60)
  console.log(
    [
      `${what}: ${after.rssMb.toFixed(0)} MB (at most ${after.mostMb.toFixed(0)})`,
      `${cpu.toFixed(2)} ms of processor time per second`,
      `per hour ${perHour(isWatch)} watches renewed, ${perHour(isRead)} reads, ${perHour((verb) => !isWatch(verb) && !isRead(verb))} writes`,
    ].join('; '),
  )
  for (const [request, count] of counts) console.log(`  ${count} × ${request}`)
}

function manifests(count: number): string {
  const one = (index: number) =>
    `    ---\n    apiVersion: v1\n    kind: ConfigMap\n    metadata: {name: bench-${index}, namespace: default}\n    data: {v: "1"}\n`
  return Array.from({ length: count }, (_, index) => one(index)).join('')
}

try {
  const auditLog = join(folder, 'audit.log')
  const plane = await startControlPlane({ auditLog })
  t.after(() => plane.stop())
  await bundle(join(folder, 'bin'))
  const agentFile = join(folder, 'bin', 'agent.mjs')
  const data = join(folder, 'hub')
  const hub = startFlotilla(t, ['hub', 'run', '--data', data, ...FREE])
  await hub.says(/^flotilla hub ready/m)
  const kubeconfig = ['--kubeconfig', join(data, 'admin.kubeconfig')]
  const flotilla = async (...args: string[]) => {
    const ended = await runFlotilla(t, [...args, ...kubeconfig])
    if (ended.code !== 0) throw new Error(ended.stderr)
    return ended.stdout
  }
  const added = await flotilla('cluster', 'add', CLUSTER, '-l', 'tier=store', '-o', 'json')
  const { code } = JSON.parse(added) as { code: string }
  const args = ['--join', code, '--kubeconfig', plane.kubeconfigPath, '--data', join(folder, 'agent')]
  const agent = spawn(process.execPath, [agentFile, ...args], { stdio: 'ignore' })
  t.after(() => void agent.kill('SIGKILL'))
  const { client, close } = await clientByKubeconfig(join(data, 'admin.kubeconfig'))
  t.after(close)
  const report = async () => (await client.get(ClusterReport, { name: CLUSTER }).catch(() => undefined))?.spec
  await eventually('a report', report)
  await atRest('idle', agent.pid!, auditLog)
  const count = Number(values.objects)
  const began = performance.now()
  const content = `apiVersion: flotilla.dev/v1alpha1
kind: Placement
metadata: {name: stores}
spec: {clusterSelector: {matchLabels: {tier: store}}}
---
apiVersion: flotilla.dev/v1alpha1
kind: Bundle
metadata: {name: bench}
spec:
  placement: stores
  manifests: |
${manifests(count)}`
  writeFileSync(join(folder, 'content.yaml'), content)
  await flotilla('apply', '-f', join(folder, 'content.yaml'))
  await eventually(
    `${count} objects`,
    async () => (await report())?.bundles.find(({ state }) => state === 'Ready'),
    600_000,
  )
  console.log(`${count} objects from hub to Ready in ${((performance.now() - began) / 1000).toFixed(1)} s`)
  await atRest(`${count} objects`, agent.pid!, auditLog)
} finally {
  for (const close of closers) await close()
}
process.exit(0)
