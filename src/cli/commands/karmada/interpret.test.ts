import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { CliError } from '../../errors/cli-error.ts'
import type { Terminal } from '../../print/terminal.ts'
import { karmadaInterpret } from './interpret.ts'
import type { InterpretFlags } from './interpret.ts'

const WEB = `
apiVersion: apps/v1
kind: Deployment
metadata: { name: web, namespace: default, generation: 2 }
spec:
  replicas: 3
  template:
    spec:
      serviceAccountName: web
      containers: [{ name: web, image: web, envFrom: [{ configMapRef: { name: settings } }] }]
`
const JOB = 'apiVersion: batch/v1\nkind: Job\nmetadata: { name: sum }\nspec: { completions: 2 }\n'

function scratch(t: TestContext, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'karmada-interpret-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'input.yaml')
  writeFileSync(file, text)
  return file
}

async function run(flags: InterpretFlags): Promise<string> {
  let out = ''
  const terminal = { data: (text: string) => void (out += text), say: () => {} } as unknown as Terminal
  await karmadaInterpret({ terminal, stdin: (async function* () {})(), flags })
  return out
}

const report = (what: RegExp) => (error: unknown) =>
  error instanceof CliError && what.test(`${error.report.what} ${error.report.todo ?? ''}`)

test('dependencies of a workload, and the workload with other replicas', async (t) => {
  const desiredFile = scratch(t, WEB)
  const dependencies = await run({ operation: 'InterpretDependency', desiredFile })
  assert.match(dependencies, /kind: ConfigMap\n +name: settings/)
  assert.match(dependencies, /kind: ServiceAccount\n +name: web/)
  const revised = await run({ operation: 'ReviseReplica', desiredFile, desiredReplica: '7', output: 'json' })
  assert.equal(JSON.parse(revised).object.spec.replicas, 7)
})

test('the status of clusters is added up', async (t) => {
  const statusFile = scratch(
    t,
    '- clusterName: m1\n  status: { active: 1, succeeded: 1 }\n- clusterName: m2\n  status: { failed: 2 }\n',
  )
  const out = await run({ operation: 'AggregateStatus', desiredFile: scratch(t, JOB), statusFile, output: 'json' })
  assert.deepEqual(JSON.parse(out).object.status, { active: 1, succeeded: 1, failed: 2 })
})

test('what is missing is said, with the operations that there are', async (t) => {
  const desiredFile = scratch(t, WEB)
  await assert.rejects(run({}), report(/--operation is required give one of InterpretReplica, /))
  await assert.rejects(run({ operation: 'Retein', desiredFile }), report(/"Retein" did you mean "Retain"/))
  await assert.rejects(run({ operation: 'Retain' }), report(/--desired-file is required/))
  await assert.rejects(run({ operation: 'Retain', desiredFile }), report(/needs --observed-file/))
  await assert.rejects(run({ operation: 'AggregateStatus', desiredFile }), report(/needs --status-file/))
  await assert.rejects(run({ operation: 'ReviseReplica', desiredFile, desiredReplica: '1e3' }), report(/whole number/))
  await assert.rejects(
    run({ operation: 'InterpretHealth', desiredFile: scratch(t, JOB) }),
    report(/InterpretHealth has no rule for Job of batch\/v1/),
  )
  const statusFile = scratch(t, '- status: {}\n')
  await assert.rejects(
    run({ operation: 'AggregateStatus', desiredFile, statusFile }),
    report(/item 1 has no clusterName/),
  )
  await assert.rejects(
    run({ operation: 'InterpretStatus', desiredFile: scratch(t, `${WEB}status: { replicas: 3 }\n`) }),
    report(/annotation resourcetemplate.karmada.io\/generation: "" is not a whole number/),
  )
})
