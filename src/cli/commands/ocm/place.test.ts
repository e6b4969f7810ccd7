import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { CliError } from '../../errors/cli-error.ts'
import type { Terminal } from '../../print/terminal.ts'
import { ocmPlace } from './place.ts'
import type { PlaceFlags } from './place.ts'

const FILE = `
apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata: { name: store-1, labels: { region: north } }
spec: { hubAcceptsClient: true }
---
apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata: { name: store-2, labels: { region: south } }
spec:
  hubAcceptsClient: true
  taints: [{ key: repair, effect: NoSelect, timeAdded: '2026-06-01T11:00:00Z' }]
---
apiVersion: cluster.open-cluster-management.io/v1beta2
kind: ManagedClusterSet
metadata: { name: global }
spec: { clusterSelector: { selectorType: LabelSelector, labelSelector: {} } }
---
apiVersion: cluster.open-cluster-management.io/v1beta2
kind: ManagedClusterSetBinding
metadata: { name: global, namespace: app }
spec: { clusterSet: global }
---
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata: { name: web, namespace: app }
spec:
  numberOfClusters: 2
  tolerations: [{ key: repair, operator: Exists, tolerationSeconds: 7200 }]
`

function scratch(t: TestContext, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'ocm-place-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'input')
  writeFileSync(file, text)
  return file
}

async function run(flags: PlaceFlags, stdin: readonly string[] = []): Promise<string> {
  let out = ''
  const terminal = { data: (text: string) => void (out += text) } as unknown as Terminal
  const chunks = async function* () {
    for (const chunk of stdin) yield new TextEncoder().encode(chunk)
  }
  await ocmPlace({ terminal, stdin: chunks(), flags, now: Date.parse('2026-06-01T12:00:00Z') })
  return out
}

const report = (what: RegExp) => (error: unknown) => error instanceof CliError && what.test(error.report.what)

test('files: the decisions of each Placement, at the given time', async (t) => {
  const filename = [scratch(t, FILE)]
  assert.match(await run({ filename }), /^app\/web +True +AllDecisionsScheduled +2 +store-1,store-2$/m)
  const later = await run({ filename, now: '2026-06-01T13:00:00Z' })
  assert.match(later, /^app\/web +False +NotAllDecisionsScheduled +1 +store-1$/m)
  const { items } = JSON.parse(await run({ filename, output: 'json' })) as { items: { selected: string[] }[] }
  assert.deepEqual(
    items.map(({ selected }) => selected),
    [['store-1', 'store-2']],
  )
})

test('files: what cannot be decided is said', async (t) => {
  const of = (text: string) => ({ filename: [scratch(t, text)] })
  await assert.rejects(run({}), report(/exactly one of --filename and --batch/))
  await assert.rejects(run({ ...of(FILE), now: 'noon' }), report(/invalid --now "noon"/))
  await assert.rejects(run(of('apiVersion: v1\nkind: Pod\nmetadata: { name: a }\n')), report(/no Placement/))
  const wrong = FILE.replace('numberOfClusters: 2', 'numberOfClusters: two')
  await assert.rejects(run(of(wrong)), report(/^Placement web: spec\.numberOfClusters: /))
  const misconfigured = FILE.replace('operator: Exists', 'operator: Exists, value: x')
  assert.match(await run(of(misconfigured)), /If the operator is Exists, the value should be empty/)
})

test('batch: an answer per line, across chunks, and an error for a case that has none', async () => {
  const line = JSON.stringify({ id: 'a', objects: [], steps: [{ placement: 'app/web', now: '2026-06-01T12:00:00Z' }] })
  const out = await run({ batch: '-', output: 'jsonl' }, [line.slice(0, 10), `${line.slice(10)}\n\n`, line])
  const answer = { id: 'a', answer: { error: 'steps: Placement "app/web" not found' } }
  assert.equal(out, `${JSON.stringify(answer)}\n`.repeat(2))
  await assert.rejects(run({ batch: '-', output: 'jsonl' }, ['{']), report(/the line is not JSON/))
  await assert.rejects(run({ batch: '-', output: 'jsonl' }, ['[]']), report(/want a JSON object with an id/))
  await assert.rejects(run({ batch: '-' }, ['{}']), report(/requires -o jsonl/))
  await assert.rejects(run({ batch: '/nonexistent/cases', output: 'jsonl' }), report(/cannot read the file/))
})
