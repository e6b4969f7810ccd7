import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { CliError } from '../../errors/cli-error.ts'
import type { Terminal } from '../../print/terminal.ts'
import { karmadaSchedule } from './schedule.ts'
import type { ScheduleFlags } from './schedule.ts'

const cluster = (name: string, pods: number) => `
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: { name: ${name} }
status:
  apiEnablements: [{ groupVersion: apps/v1, resources: [{ name: deployments, kind: Deployment }] }]
  resourceSummary: { allocatable: { pods: '${pods}' } }
---`
const BINDING = `
apiVersion: work.karmada.io/v1alpha2
kind: ResourceBinding
metadata: { name: web-deployment, namespace: default }
spec:
  resource: { apiVersion: apps/v1, kind: Deployment, namespace: default, name: web }
  replicas: 6
  placement:
    replicaScheduling:
      replicaSchedulingType: Divided
      replicaDivisionPreference: Weighted
      weightPreference: { dynamicWeight: AvailableReplicas }
`
const FILE = `${cluster('m1', 8)}${cluster('m2', 4)}${BINDING}`

function scratch(t: TestContext, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'karmada-schedule-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'input')
  writeFileSync(file, text)
  return file
}

async function run(flags: ScheduleFlags, stdin: readonly string[] = []): Promise<{ out: string; said: string }> {
  let out = ''
  let said = ''
  const terminal = {
    data: (text: string) => void (out += text),
    say: (text: string) => void (said += text),
  } as unknown as Terminal
  const chunks = async function* () {
    for (const chunk of stdin) yield new TextEncoder().encode(chunk)
  }
  await karmadaSchedule({ terminal, stdin: chunks(), flags })
  return { out, said }
}

const report = (what: RegExp) => (error: unknown) => error instanceof CliError && what.test(error.report.what)

test('files: the replicas of each cluster', async (t) => {
  const filename = [scratch(t, FILE)]
  const { out, said } = await run({ filename })
  assert.match(out, /^m1 +4$/m)
  assert.match(out, /^m2 +2$/m)
  assert.equal(said, 'Success: Binding has been scheduled successfully.')
  const { clusters } = JSON.parse((await run({ filename, output: 'json' })).out) as { clusters: unknown }
  assert.deepEqual(clusters, [
    { name: 'm1', replicas: 4 },
    { name: 'm2', replicas: 2 },
  ])
})

test('files: a binding that fits nowhere says why', async (t) => {
  const wanted = FILE.replace('replicas: 6', 'replicas: 60')
  const { said } = await run({ filename: [scratch(t, wanted)] })
  assert.match(said, /^Unschedulable: .*Clusters available replicas 12 are not enough to schedule\.$/)
})

test('files: what cannot be decided is said', async (t) => {
  const of = (text: string) => ({ filename: [scratch(t, text)] })
  await assert.rejects(run({}), report(/exactly one of --filename and --batch/))
  await assert.rejects(run(of(cluster('m1', 1))), report(/no ResourceBinding or ClusterResourceBinding/))
  await assert.rejects(
    run(of(FILE.replace('replicas: 6', 'replicas: six'))),
    report(/^binding\.spec\.replicas: must be integer/),
  )
  await assert.rejects(run({ ...of(FILE), featureGates: ['x'] }), report(/invalid --feature-gates "x"/))
})

test('batch: an answer per line, and an error for a case that is none', async () => {
  const placement = { clusterAffinity: { clusterNames: ['m1'] } }
  const binding = {
    metadata: { name: 'a' },
    spec: { resource: { apiVersion: 'v1', kind: 'Secret', name: 'a' }, placement },
  }
  const lines = [JSON.stringify({ id: 'a', clusters: [], binding }), '{"id":"b"}'].join('\n')
  const { out } = await run({ batch: '-', output: 'jsonl' }, [lines.slice(0, 20), lines.slice(20)])
  const [first, second] = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { answer: Record<string, unknown> })
  assert.equal(first!.answer['message'], '0/0 clusters are available: no cluster exists.')
  assert.deepEqual(second!.answer, { error: 'binding: is required' })
  await assert.rejects(run({ batch: '-' }, ['{}']), report(/requires -o jsonl/))
})
